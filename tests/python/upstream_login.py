"""An MCP server that wants a token, and the authorization server that gives it, at one address of this machine.

It prints its address and then serves until it is killed.
"""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlencode, urlsplit

META = {"ttlMs": 0, "cacheScope": "private"}
RESULTS = {
    "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {}}, **META},
    "tools/list": {"tools": [{"name": "work", "inputSchema": {"type": "object"}}], **META},
    "tools/call": {"content": [{"type": "text", "text": "done"}]},
}


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
            back = urlencode({"code": "abc", "state": wanted["state"], "iss": here})
            self.answer(302, location=f"{wanted['redirect_uri']}?{back}")
        else:
            self.answer(404)

    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/register":
            self.answer(201, {"client_id": "toolroom"})
        elif self.path == "/token":
            self.answer(200, {"access_token": "given", "token_type": "Bearer", "expires_in": 3600})
        elif self.headers["authorization"] != "Bearer given":
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
