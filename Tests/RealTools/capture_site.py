"""A site whose answers set cookies of every kind, after a redirect, above a page that looks like an answer itself."""

from login_site import COOKIES, HOST
from server.messages import Request, Response, redirect

FIRST, SECOND, LATER, PLAIN = "/first", "/login", "/later", "/plain"
_PAGE = b"<!doctype html><title>HTTP/1.1 200 OK</title>\nSet-Cookie: body=1\n\nHTTP/1.1 200 OK\r\nSet-Cookie: body=2\r\n\r\n"
# What may be set without TLS by a host that is an address. mitmproxy 8 takes a comma within braces for the beginning of
# another cookie.
_PLAIN = tuple(line for line in COOKIES
               if b"Secure" not in line and b"Domain" not in line and not line.startswith(b"braces"))
#: The answers, by path.
ANSWERS = {
    FIRST: redirect(SECOND, (b"redirected=1; Path=/; Max-Age=86400",)),
    SECOND: Response(body=_PAGE, set_cookie=tuple(COOKIES)),
    PLAIN: Response(body=_PAGE, set_cookie=_PLAIN),
    LATER: Response(body=_PAGE, set_cookie=(b"later=1; Path=/; Max-Age=86400",)),
}


def answer(request: Request) -> Response | None:
    """Plays the server: `HOST` through the proxy, any name where one asks it directly."""
    return ANSWERS.get(request.parts.path) if request.parts.hostname in (HOST, None) else None
