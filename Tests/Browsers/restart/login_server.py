"""A site where one logs in, and gets a cookie that a web view does not keep."""

import email.utils
import threading
import time

from server.messages import Request, Response, redirect

HOST = "app.login.test"
LOGIN_URL = f"https://{HOST}/login"
HOME_URL = f"https://{HOST}/home"
# HttpOnly, so that no script can carry it; without a lifetime, so that no browser keeps it.
SESSION = b"session=7c0ffee; Path=/; Secure; HttpOnly; SameSite=Lax"
# Kept by the web view: shows that its store is the one of before. A date, since view and jar are told a moment apart, and
# a lifetime would end for each at another second.
THEME = f"theme=dark; Path=/; Expires={email.utils.formatdate(time.time() + 86_400, usegmt=True)}".encode()
SIGNED_IN, SIGNED_OUT = b"signed in", b"signed out"


class LoginServer:
    """Knows who is signed in by the session cookie alone."""

    def __init__(self) -> None:
        self._visits: list[tuple[bytes, bytes]] = []
        self._changed = threading.Condition()
        #: The answer to the login, octet for octet.
        self.login_response = b""

    def answer(self, request: Request) -> Response | None:
        """Logs in at `/login`, and says at `/home` whether the visitor is signed in."""
        if request.parts.hostname != HOST:
            return None
        if request.parts.path == "/login":
            response = redirect(HOME_URL, (SESSION, THEME))
            self.login_response = response.encoded()
            return response
        if request.parts.path != "/home":
            return None
        state = SIGNED_IN if b"session=7c0ffee" in request.cookie.split(b"; ") else SIGNED_OUT
        with self._changed:
            self._visits.append((state, request.cookie))
            self._changed.notify_all()
        return Response(body=b"<!doctype html><title>%s</title>" % state)

    def next_visit(self, timeout: float = 30) -> tuple[bytes, bytes]:
        """What the server says at the next visit to `/home`, and the Cookie field that came."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._visits, timeout):
                return b"no visit", b""
            return self._visits.pop(0)
