"""A web site that knows its users by a cookie or a token, and sends everyone else to a page to log in."""

import http.server
import threading

from processes import seen


class Site:
    def __init__(self, server, port):
        self.server, self.port, self.base = server, port, f"http://127.0.0.1:{port}"
        self.requests, self.status = [], 302
        self.leaks = set()
        # Tokens that are none any more, whatever their time says.
        self.refused = set()

    def start(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def answer(self, status, body, **fields):
                self.send_response(status)
                for name, value in fields.items():
                    self.send_header(name.replace("_", "-"), value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body.encode())

            def do_POST(self):
                self.do_GET()

            def do_GET(self):
                body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
                cookie, field = self.headers.get("Cookie") or "", self.headers.get("Authorization") or ""
                token = owner.server.access_token
                if token in owner.refused:
                    token = "none"
                tokens = owner.server.tokens()
                owner.leaks |= seen({tokens["access_token"], tokens["refresh_token"]})
                owner.requests.append((self.command, self.path, body, cookie))
                if self.path == "/cookie":
                    known = field == f"Bearer {token}"
                    fields = {"Set_Cookie": "session=exchanged; Path=/; HttpOnly"} if known else {}
                    # An endpoint of an application takes a token for bad that it does not know.
                    self.answer(200 if known else 401, "", **fields)
                elif self.path.startswith("/login"):
                    self.answer(200, "a page to log in\n")
                elif f"session={token}" in cookie or "session=exchanged" in cookie or field == f"Bearer {token}":
                    self.answer(200, f"signed in: {self.command} {body}\n")
                elif owner.status == 302:
                    self.answer(302, "not signed in\n", Location="/login?next=" + self.path)
                else:
                    self.answer(401, "not signed in\n", WWW_Authenticate='Bearer realm="site"')

        self.http = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
