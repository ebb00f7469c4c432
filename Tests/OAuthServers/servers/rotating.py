"""A token endpoint that takes each refresh token once, and ends the login where one comes twice.

With a grace, the last one that was taken still gives what came for it, as some servers forgive an answer that was lost.
"""

import base64
import http.server
import json
import threading
import time
import urllib.parse


class RotatingServer:
    name = "rotating"

    def __init__(self, folder, port, host="127.0.0.1"):
        self.host, self.port, self.base = host, port, f"http://{host}:{port}"
        self.lock = threading.Lock()
        self.number, self.requests, self.is_alive = 0, 0, True
        self.access_token_seconds = 3600
        # The address of whoever asked last.
        self.asker = None
        # Called with a refresh before anything is done for it; what it returns says whether to go on.
        self.before = None
        # Called with a refresh that is done; what it returns says whether to answer.
        self.after = None
        self.has_grace = False
        # How long ID tokens live; none come without it.
        self.id_token_seconds, self.id_token = None, None
        # How a grant is refused: a status, and an object or nothing.
        self.refusal = 400, {"error": "invalid_grant"}

    def start(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                length = int(self.headers.get("Content-Length", 0))
                form = dict(urllib.parse.parse_qsl(self.rfile.read(length).decode()))
                owner.asker = self.client_address[0]
                if owner.before and not owner.before():
                    self.close_connection = True
                    return
                status, answer = owner.refresh(form)
                if owner.after and not owner.after():
                    self.close_connection = True
                    return
                body = json.dumps(answer).encode() if answer is not None else b""
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 256

        self.server = Server((self.host, self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def tokens(self):
        tokens = {"access_token": self.access_token, "refresh_token": self.refresh_token,
                  "token_type": "Bearer", "expires_in": self.access_token_seconds}
        if self.id_token_seconds is not None:
            now = int(time.time())
            claims = {"iss": self.base, "sub": "me", "aud": "app", "jti": str(self.number), "iat": now - 3600,
                      "exp": now + self.id_token_seconds}
            parts = [json.dumps(part).encode() for part in ({"alg": "RS256"}, claims)] + [b"signature"]
            self.id_token = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
            tokens["id_token"] = self.id_token
        return tokens

    @property
    def access_token(self):
        return f"access-{self.number}-Vq3xT9"

    @property
    def refresh_token(self):
        return f"refresh-{self.number}-Zk7mR2"

    def refresh(self, form):
        with self.lock:
            if form.get("grant_type") == "authorization_code":
                return 200, self.tokens()
            self.requests += 1
            if self.has_grace and self.number and form.get("refresh_token") == self.last_refresh_token:
                return 200, self.tokens()
            if form.get("refresh_token") != self.refresh_token:
                self.is_alive = False
            if not self.is_alive:
                return self.refusal
            self.last_refresh_token = self.refresh_token
            self.number += 1
            return 200, self.tokens()

    def stop(self):
        self.server.shutdown()
