"""An MCP server that wants a token, and the authorization server that gives it, at one address of this machine.

Refresh tokens are used once: one that comes a second time ends the login, as authorization servers do. The argument is
the life of an access token in seconds. It prints its address and then serves until it is killed; GET /report tells how
often tokens were renewed, how many logins were ended, and how many codes came to be redeemed.
"""

import base64
import hashlib
import json
import secrets
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

LIFE = float(sys.argv[1]) if len(sys.argv) > 1 else 3600
META = {"ttlMs": 0, "cacheScope": "private"}
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **META},
    "tools/list": {"tools": [{"name": "work", "inputSchema": {"type": "object"}}], **META},
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
}


class Logins:
    """Codes, logins and their tokens."""

    def __init__(self):
        self.lock = threading.Lock()
        self.codes = {}  # code: the challenge that its verifier must fit
        self.access = {}  # token: (login, until)
        self.refresh = {}  # token: [login, whether it was used]
        self.ended = set()
        self.logins = self.renewed = self.came = 0

    def code(self, challenge):
        code = secrets.token_urlsafe(8)
        self.codes[code] = challenge
        return code

    def redeem(self, form):
        with self.lock:
            if form["grant_type"] == "authorization_code":
                self.came += 1
                digest = hashlib.sha256(form["code_verifier"].encode()).digest()
                fits = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
                if self.codes.pop(form["code"], None) != fits:
                    return None
                self.logins += 1
                return self.give(self.logins)
            known = self.refresh.get(form["refresh_token"])
            if known is None or known[0] in self.ended:
                return None
            if known[1]:
                self.ended.add(known[0])
                return None
            known[1] = True
            self.renewed += 1
            return self.give(known[0])

    def give(self, login):
        access, refresh = f"given-{secrets.token_urlsafe(16)}", f"more-{secrets.token_urlsafe(16)}"
        self.access[access] = (login, time.monotonic() + LIFE)
        self.refresh[refresh] = [login, False]
        return {"access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": int(LIFE)}

    def takes(self, header):
        login, until = self.access.get((header or "").removeprefix("Bearer "), (None, 0))
        return until > time.monotonic() and login not in self.ended


LOGINS = Logins()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def here(self):
        return f"http://{self.headers['host']}"

    def answer(self, status, body=None, **headers):
        text = json.dumps(body).encode() if body is not None else b""
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(text)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(text)

    def do_GET(self):
        here, asked = self.here(), urlsplit(self.path)
        if asked.path == "/.well-known/oauth-protected-resource/mcp":
            self.answer(200, {"resource": f"{here}/mcp", "authorization_servers": [here]})
        elif asked.path == "/.well-known/oauth-authorization-server":
            self.answer(200, {
                "issuer": here, "authorization_endpoint": f"{here}/authorize", "token_endpoint": f"{here}/token",
                "registration_endpoint": f"{here}/register", "code_challenge_methods_supported": ["S256"],
                "token_endpoint_auth_methods_supported": ["none"],
                "authorization_response_iss_parameter_supported": True,
            })
        elif asked.path == "/authorize":
            wanted = {name: values[0] for name, values in parse_qs(asked.query).items()}
            code = LOGINS.code(wanted["code_challenge"])
            back = urlencode({"code": code, "state": wanted["state"], "iss": here})
            self.answer(302, location=f"{wanted['redirect_uri']}?{back}")
        elif asked.path == "/report":
            self.answer(200, {"renewed": LOGINS.renewed, "ended": len(LOGINS.ended), "came": LOGINS.came})
        else:
            self.answer(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/register":
            self.answer(201, {"client_id": "toolroom"})
        elif self.path == "/token":
            form = {name: values[0] for name, values in parse_qs(body.decode()).items()}
            given = LOGINS.redeem(form)
            self.answer(200, given) if given else self.answer(400, {"error": "invalid_grant"})
        elif not LOGINS.takes(self.headers["authorization"]):
            place = f'Bearer resource_metadata="{self.here()}/.well-known/oauth-protected-resource/mcp"'
            self.answer(401, www_authenticate=place)
        else:
            message = json.loads(body)
            result = {"resultType": "complete", **RESULTS.get(message["method"], {})}
            self.answer(200, {"jsonrpc": "2.0", "id": message.get("id"), "result": result})

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_port}", flush=True)
server.serve_forever()
