"""A server on stdio that does what it should not: `upstream_hostile.py MANNER [FILE]`. Needs no packages.

It speaks 2025-11-25. In FILE it notes its process, how many seconds it took to start, and each call of a tool before
anything else is done with it.
"""

import json
import os
import sys
import time

manner = sys.argv[1]
notes = sys.argv[2] if len(sys.argv) > 2 else os.devnull
TOOLS = ["fast", "slow", "work", "read"]


def write(text):
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


def send(**message):
    write(json.dumps({"jsonrpc": "2.0", **message}))


def answer(id, result):
    send(id=id, result=result)


def text(value):
    return {"content": [{"type": "text", "text": value}]}


def tools(cursor):
    if manner == "endless-pages":
        return {"tools": [{"name": f"t{cursor}", "inputSchema": {"type": "object"}}], "nextCursor": str(int(cursor or 0) + 1)}
    if manner == "circling-pages":
        return {"tools": [{"name": "same", "inputSchema": {"type": "object"}}], "nextCursor": "again"}
    if manner == "many-tools":
        return {"tools": [{"name": f"t{n}", "inputSchema": {"type": "object"}} for n in range(100_000)]}
    hints = {"read": {"readOnlyHint": True}}
    return {"tools": [{"name": name, "inputSchema": {"type": "object"}, "annotations": hints.get(name, {})} for name in TOOLS]}


def flood(line, total):
    block = (line + "\n") * 1000
    for _ in range(total // 1000):
        sys.stdout.write(block)
    sys.stdout.flush()


def note(what, value):
    with open(notes, "a") as file:
        file.write(f"{what} {value}\n")


def startup():
    with open("/proc/self/stat") as file:
        started = int(file.read().rsplit(")", 1)[1].split()[19]) / os.sysconf("SC_CLK_TCK")
    return time.clock_gettime(time.CLOCK_BOOTTIME) - started


def called(id, name, token):
    note(name, time.time())
    if name == "fast":
        return answer(id, text("fast"))
    if manner == "dies-in-calls":
        os._exit(3)
    if manner in ["silent", "waits"]:
        return None
    if manner == "garbage":
        write("hello")
        write("{\"jsonrpc\": \"2.0\", \"id\":")
        write("[1, 2, {\"a\": 1}]")
        write("\x00\x01\x02")
        sys.stdout.buffer.write(b"\xff\xfe\n")
        send(id=id + 1000, result=text("not yours"))
        send(id=str(id), result=text("not yours either"))
        send(id=None, error={"code": -32700, "message": "what?"})
        send(method="notifications/unheard/of", params={"a": 1})
        send(method="notifications/progress", params={"progressToken": "no number"})
        answer(id, text("the answer"))
        return answer(id, text("a second answer"))
    if manner == "notifications":
        progress = {"progressToken": token, "progress": 1}
        flood(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}), 500_000)
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        flood(json.dumps(changed), 500_000)
        return answer(id, text("after the flood"))
    if manner == "questions":
        for number in range(10_000):
            send(id=f"q{number}", method="sampling/createMessage", params={})
        return answer(id, text("after the questions"))
    if manner == "long-line":
        head = "{\"jsonrpc\": \"2.0\", \"id\": %d, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"" % id
        sys.stdout.write(head)
        for _ in range(40):
            sys.stdout.write("x" * (1 << 20))
        return write("\"}]}}")
    if manner == "endless-line":
        while True:
            sys.stdout.write("x" * (1 << 20))
    return answer(id, text("done"))


note("pid", os.getpid())
for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        if manner == "exits-at-once":
            sys.exit("cannot go on")
        note("startup", startup())
        answer(id, {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "hostile", "version": "0"}})
    elif method == "server/discover":
        if manner == "dies-when-probed":
            os._exit(1)
        send(id=id, error={"code": -32601, "message": "no such method"})
    elif method == "tools/list":
        answer(id, tools(params.get("cursor")))
    elif method == "tools/call":
        called(id, params["name"], (params.get("_meta") or {}).get("progressToken"))
    elif method == "ping":
        if manner != "silent":
            answer(id, {})
