"""A server on stdio that does what a file says: `upstream_scripted.py FILE [WORD …]`. Needs no packages.

FILE holds {"tools": […], "results": {tool: text of the result}, "resources": […], "prompts": […]}. It is read
again whenever it changes, and the client is told so. What it is sent, and what it finds around it, is noted in
FILE.log; it speaks 2025-11-25.
"""

import json
import os
import sys
import threading
import time

path = sys.argv[1]
lock = threading.Lock()
followed = set()


def note(kind, value):
    with open(path + ".log", "a") as file:
        file.write(json.dumps({kind: value}) + "\n")


def script():
    with open(path) as file:
        return json.load(file)


def write(text):
    with lock:
        sys.stdout.write(text + "\n")
        sys.stdout.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def watch():
    seen = os.stat(path).st_mtime_ns
    while True:
        time.sleep(0.05)
        now = os.stat(path).st_mtime_ns
        if now != seen:
            seen = now
            for kind in ["tools", "resources", "prompts"]:
                send(method=f"notifications/{kind}/list_changed")
            for uri in list(followed):
                send(method="notifications/resources/updated", params={"uri": uri})


def capabilities():
    said = {kind: {"listChanged": True} for kind in ["tools", "resources", "prompts"]}
    said["resources"]["subscribe"] = True
    return said


def answer(id, method, params):
    if method == "initialize":
        info = {"name": "scripted", "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": capabilities(), "serverInfo": info}
    if method == "ping":
        return {}
    if method == "resources/templates/list":
        return {"resourceTemplates": script().get("templates", [])}
    kind = method.split("/")[0]
    if method.endswith("/list") and kind in ["tools", "resources", "prompts"]:
        return {kind: script().get(kind, [])}
    if method == "resources/subscribe":
        followed.add(params["uri"])
        return {}
    if method == "resources/read":
        return {"contents": [{"uri": params["uri"], "text": "read " + params["uri"], "vendor": 1}]}
    if method == "prompts/get":
        content = {"type": "text", "text": params["name"] + " " + json.dumps(params.get("arguments"))}
        return {"messages": [{"role": "user", "content": content}]}
    return None


note("pid", os.getpid())
note("arguments", sys.argv[1:])
note("environment", dict(os.environ))
threading.Thread(target=watch, daemon=True).start()
for line in sys.stdin:
    message = json.loads(line)
    note("received", message)
    id = message.get("id")
    if id is None:
        continue
    method, params = message["method"], message.get("params", {})
    if method == "tools/call":
        # As text, so that nothing of it is written anew.
        result = script().get("results", {}).get(params["name"], '{"content": []}')
        write('{"jsonrpc":"2.0","id":%s,"result":%s}' % (json.dumps(id), result))
        continue
    result = answer(id, method, params)
    if result is None:
        send(id=id, error={"code": -32601, "message": "no such method"})
    else:
        send(id=id, result=result)
