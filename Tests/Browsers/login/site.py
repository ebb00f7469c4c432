"""A site whose page asks by script who is signed in, and the server that issues tokens for it."""

import http.server
import json
import threading
import urllib.parse

from server.messages import Request, Response

HOST = "app.token.test"
ORIGIN = f"https://{HOST}"
PAGE_URL = f"{ORIGIN}/page"
STATE_URL = f"{ORIGIN}/state"
SIGNED_IN, SIGNED_OUT = "signed in", "not signed in"
# What the site itself gives to whoever comes with a token.
OWN_SESSION = b"session=of-the-site"

PAGE = b"""<!doctype html><title>loading</title><script>
fetch("/state").then(answer => answer.text().then(text => document.title = answer.status + " " + text))
</script>"""


class TokenServer:
    """A token endpoint that takes each refresh token once."""

    def __init__(self) -> None:
        self.refreshes = 0
        self._lock = threading.Lock()
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                form = dict(urllib.parse.parse_qsl(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                status, answer = owner.refresh(form.get("refresh_token", ""))
                body = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self._http = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        threading.Thread(target=self._http.serve_forever, daemon=True).start()

    @property
    def access_token(self) -> str:
        """The token that the site takes."""
        return f"access-{self.refreshes}"

    def expired_tokens(self) -> dict[str, object]:
        """Tokens as another program has kept them, of which only the refresh token is still good."""
        return {"access_token": self.access_token, "refresh_token": "refresh-0", "token_type": "Bearer",
                "expires_at": 1_000_000_000}

    def refresh(self, refresh_token: str) -> tuple[int, dict[str, object]]:
        """A token for a token."""
        with self._lock:
            if refresh_token != f"refresh-{self.refreshes}":
                return 400, {"error": "invalid_grant"}
            self.refreshes += 1
            return 200, {"access_token": self.access_token, "refresh_token": f"refresh-{self.refreshes}",
                         "token_type": "Bearer", "expires_in": 3600}

    def close(self) -> None:
        """Takes no further requests."""
        self._http.shutdown()
        self._http.server_close()


class TokenSite:
    """Knows a visitor by a cookie with the token in it, or by the session that it gave for a token in a field."""

    def __init__(self, tokens: TokenServer) -> None:
        self._tokens = tokens
        self._lock = threading.Lock()
        #: The Cookie field and the answer of each question who is signed in.
        self.questions: list[tuple[bytes, int]] = []

    def answer(self, request: Request) -> Response | None:
        """The page, and who is signed in."""
        if request.parts.hostname != HOST:
            return None
        token = self._tokens.access_token.encode()
        if request.parts.path == "/page":
            is_known = request.values(b"Authorization") == [b"Bearer " + token]
            session = (OWN_SESSION + b"; Path=/; Secure; HttpOnly; SameSite=Lax",) if is_known else ()
            return Response(body=PAGE, set_cookie=session)
        if request.parts.path != "/state":
            return None
        cookies = request.cookie.split(b"; ")
        is_signed_in = b"session=" + token in cookies or OWN_SESSION in cookies
        status, text = (200, SIGNED_IN) if is_signed_in else (401, SIGNED_OUT)
        with self._lock:
            self.questions.append((request.cookie, status))
        challenge = () if is_signed_in else ((b"WWW-Authenticate", b'Bearer realm="site"'),)
        return Response(status=status, headers=challenge, body=text.encode(), content_type=b"text/plain")
