"""A site where one logs in and gets cookies of every kind that servers set."""

import threading

from server.messages import Request, Response

HOST = "app.login.test"
LOGIN_URL = f"https://{HOST}/login"
HOME_URL = f"https://{HOST}/home/start"
SIGNED_IN, SIGNED_OUT = "signed in", "signed out"

# The first two are what the site knows its visitors by; the rest is what cookies can be.
COOKIES = [line.encode() for line in (
    "session=7c0ffee+/=; Path=/; Secure; HttpOnly; SameSite=Lax",
    "__Host-csrf=token; Path=/; Secure; HttpOnly; SameSite=Strict; Max-Age=86400",
    "__Secure-id=1; Path=/; Secure; Max-Age=86400",
    "theme=dark; Path=/; Max-Age=86400",
    "shared=1; Domain=login.test; Path=/; Max-Age=86400",
    "shared-session=1; Domain=login.test; Path=/; HttpOnly",
    "lax=1; Path=/; SameSite=Lax",
    "strict=1; Path=/; SameSite=Strict",
    "none=1; Path=/; SameSite=None; Secure",
    "partitioned=1; Path=/; SameSite=None; Secure; Partitioned; Max-Age=86400",
    "deep=1; Path=/home; Max-Age=86400",
    "elsewhere=1; Path=/elsewhere; Max-Age=86400",
    'quoted="a b,c"; Path=/',
    "quote=\"; Path=/",
    "backslash=a\\b\\\"c; Path=/",
    "equals=a=b==; Path=/",
    "empty=; Path=/; Max-Age=86400",
    "spaces=a  b c; Path=/",
    "percent=%3B%20%C3%A9; Path=/",
    "umlaut=Grüße; Path=/",
    "braces={\"a\":[1,2]}; Path=/",
    "hash#name=#value; Path=/",
    "dollar$=$Version=1; Path=/",
    "dated=1; Path=/; Expires=Wed, 01 Jan 2031 00:00:00 GMT",
    "Case=upper; Path=/",
    "case=lower; Path=/",
    "twice=first; Path=/",
    "twice=second; Path=/",
    f"long={'x' * 3900}; Path=/",
    "gone=1; Path=/",
    "gone=; Path=/; Max-Age=0",
)]
#: The cookie whose lifetime is longer than the 400 days that the rules give it: other tools keep it as it was said.
UNCAPPED = {"dated": "2031-01-01"}


class Site:
    """Answers the login, and says at `/home` who the visitor is by the cookies that came."""

    def __init__(self) -> None:
        self._visits: list[tuple[str, bytes]] = []
        self._changed = threading.Condition()

    @property
    def login_response(self) -> bytes:
        """The answer to the login, octet for octet."""
        return Response(body=b"<!doctype html>", set_cookie=tuple(COOKIES)).encoded()

    def answer(self, request: Request) -> Response | None:
        """Plays the server."""
        if request.parts.hostname != HOST:
            return None
        if request.parts.path == "/login":
            return Response(body=b"<!doctype html>", set_cookie=tuple(COOKIES))
        if request.parts.path == "/empty":
            return Response(body=b"<!doctype html>")
        if not request.parts.path.startswith("/home"):
            return None
        pairs = request.cookie.split(b"; ")
        known = b"session=7c0ffee+/=" in pairs and b"__Host-csrf=token" in pairs
        state = SIGNED_IN if known else SIGNED_OUT
        with self._changed:
            self._visits.append((state, request.cookie))
            self._changed.notify_all()
        return Response(body=b"<!doctype html><title>%s</title>" % state.encode())

    def next_visit(self, timeout: float = 30) -> tuple[str, bytes]:
        """What the site said at the next visit to `/home`, and the Cookie field that came."""
        with self._changed:
            if not self._changed.wait_for(lambda: self._visits, timeout):
                return "no visit", b""
            return self._visits.pop(0)
