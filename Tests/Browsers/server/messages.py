"""Requests and responses as octets: nothing is decoded, folded or checked on the way."""

from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qs, urlsplit

REASONS = {200: b"OK", 204: b"No Content", 302: b"Found", 404: b"Not Found"}


@dataclass(frozen=True)
class Request:
    """What a browser asked for, with the URL put together from the tunnel and the request line."""

    method: str
    url: str
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes = b""

    @property
    def parts(self) -> SplitResult:
        """The URL, taken apart."""
        return urlsplit(self.url)

    @property
    def parameters(self) -> dict[str, str]:
        """The fields of the query, the first of each name."""
        return {name: values[0] for name, values in parse_qs(self.parts.query, keep_blank_values=True).items()}

    def values(self, name: bytes) -> list[bytes]:
        """The values of all header lines of a name, as they came."""
        return [value for key, value in self.headers if key.lower() == name.lower()]

    @property
    def cookie(self) -> bytes:
        """The octets of the Cookie field; several fields are joined as HTTP/2 does, none is empty."""
        return b"; ".join(self.values(b"Cookie"))


@dataclass(frozen=True)
class Response:
    """An answer; header values go out octet for octet."""

    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    body: bytes = b""
    content_type: bytes = b"text/html; charset=utf-8"
    set_cookie: tuple[bytes, ...] = field(default=())

    def encoded(self) -> bytes:
        """The whole message."""
        lines = [b"HTTP/1.1 %d %s" % (self.status, REASONS.get(self.status, b"Other"))]
        lines += [b"Set-Cookie: " + line for line in self.set_cookie]
        lines += [name + b": " + value for name, value in self.headers]
        lines += [b"Content-Type: " + self.content_type, b"Content-Length: %d" % len(self.body),
                  b"Cache-Control: no-store", b"Connection: keep-alive", b"", b""]
        return b"\r\n".join(lines) + self.body


def redirect(url: str, set_cookie: tuple[bytes, ...] = ()) -> Response:
    """A response that leads on."""
    return Response(status=302, headers=((b"Location", url.encode("ascii")),), set_cookie=set_cookie)


NOT_FOUND = Response(status=404)
