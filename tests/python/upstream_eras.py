"""A server of any era and transport that does what a file says: `upstream_eras.py MODE FILE [PORT]`. No packages.

MODE is stateless-stdio, stateless-http, session-http, bare-http (a session server that gives no session and has no
stream) or sse. FILE holds {"tools": […], "ttlMs": N, "listChanged": true, "dieIn": TOOL, "then": {…},
"dieWhenAsked": true}. It is read for
every request, and nobody is told when it changes. A call of `dieIn` puts `then` in the place of the file and ends the
process. Each start and each request is noted in FILE.log.
"""

import json
import os
import queue
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

mode, path = sys.argv[1], sys.argv[2]
STATELESS = mode.startswith("stateless")
SESSION = f"session-{os.getpid()}"
lock = threading.Lock()
streams = {}


def note(kind, value):
    with lock, open(path + ".log", "a") as file:
        file.write(json.dumps({kind: value}) + "\n")


def script():
    with open(path) as file:
        return json.load(file)


def die(then):
    with open(path + ".aside", "w") as file:
        json.dump(then, file)
    os.rename(path + ".aside", path)
    os._exit(3)


def answer(message):
    """The result of a request; an error as a number."""
    method, params, said = message["method"], message.get("params") or {}, script()
    capabilities = {"tools": {"listChanged": bool(said.get("listChanged"))}, "resources": {}}
    if method == "server/discover" and STATELESS:
        info = {"io.modelcontextprotocol/serverInfo": {"name": "eras", "version": "1"}}
        return complete({"supportedVersions": ["2026-07-28"], "capabilities": capabilities, "ttlMs": 0, "_meta": info})
    if method == "initialize" and not STATELESS:
        info = {"name": "eras", "version": "1"}
        return {"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": info}
    if method == "ping":
        return {}
    if method == "tools/list":
        ttl = {"ttlMs": said["ttlMs"], "cacheScope": "private"} if "ttlMs" in said else {}
        return complete({"tools": said["tools"], **ttl})
    if method == "resources/list":
        return complete({"resources": said.get("resources", [])})
    if method == "tools/call":
        if said.get("dieIn") == params["name"]:
            die(said["then"])
        return complete({"content": [{"type": "text", "text": "ran"}]})
    return -32601


def complete(result):
    return {"resultType": "complete", **result} if STATELESS else result


def reply(message):
    result = answer(message)
    if isinstance(result, int):
        return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": result, "message": "no such method"}}
    return {"jsonrpc": "2.0", "id": message["id"], "result": result}


def acknowledgement(message):
    params = {"notifications": message["params"]["notifications"]}
    params["_meta"] = {"io.modelcontextprotocol/subscriptionId": message["id"]}
    return {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def give(self, status, body=None, headers=()):
        text = b"" if body is None else json.dumps(body).encode()
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def stream(self, first, events):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        self.wfile.write(first.encode())
        while True:
            self.wfile.flush()
            event = events.get()
            self.wfile.write(f"event: message\ndata: {json.dumps(event)}\n\n".encode())

    def do_GET(self):
        if mode == "sse":
            events = streams.setdefault(SESSION, queue.Queue())
            return self.stream(f"event: endpoint\ndata: /messages?session={SESSION}\n\n", events)
        if mode == "session-http" and script().get("listChanged"):
            return self.stream(": open\n\n", queue.Queue())
        return self.give(405)

    def do_DELETE(self):
        self.give(200)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        # What comes with a session of a process before this one is not looked at.
        if mode == "session-http" and message["method"] != "initialize" and self.headers["Mcp-Session-Id"] != SESSION:
            return self.give(404 if message["method"] != "server/discover" else 400)
        note("received", message)
        if mode == "sse":
            if SESSION not in self.path:
                return self.give(404)
            self.give(202)
            if "id" in message:
                streams[SESSION].put(reply(message))
            return None
        if "id" not in message:
            return self.give(202)
        if message["method"] == "subscriptions/listen" and STATELESS:
            return self.stream(f"data: {json.dumps(acknowledgement(message))}\n\n", queue.Queue())
        headers = [("Mcp-Session-Id", SESSION)] if mode == "session-http" else []
        answered = reply(message)
        status = 404 if answered.get("error") and STATELESS else 200
        return self.give(status, answered, headers)


note("pid", os.getpid())
if mode.endswith("stdio"):
    for line in sys.stdin:
        received = json.loads(line)
        if script().get("dieWhenAsked"):
            os._exit(4)
        note("received", received)
        if "id" not in received:
            continue
        listens = received["method"] == "subscriptions/listen"
        print(json.dumps(acknowledgement(received) if listens else reply(received)), flush=True)
else:
    ThreadingHTTPServer.allow_reuse_address = True
    ThreadingHTTPServer.daemon_threads = True
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[3])), Handler).serve_forever()
