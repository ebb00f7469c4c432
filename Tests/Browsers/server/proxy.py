"""One loopback socket that is every web server: an HTTP proxy which never connects anywhere.

A browser that sends everything through it reaches any host and default ports, without DNS, a hosts file or rights;
and whatever the browser asks for on its own account ends here too.
"""

import socket
import ssl
import threading
from collections.abc import Callable

from server.messages import NOT_FOUND, Request, Response

LARGEST_HEAD = 4 << 20
TLS_HANDSHAKE = 0x16


class Disconnected(Exception):
    """The browser has hung up, or sends what is no HTTP."""


class ProxyServer:
    """Answers `GET http://host/path` and, within `CONNECT host:port`, TLS or plain HTTP.

    `answer` is called on a thread of the connection; `None` from it means 404.
    """

    def __init__(self, answer: Callable[[Request], Response | None], tls: ssl.SSLContext):
        self._answer = answer
        self._tls = tls
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port: int = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Takes no further connections."""
        self._listener.close()

    def __enter__(self) -> "ProxyServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            _Connection(connection, self._answer, self._tls).run()
        except (Disconnected, OSError, ValueError):
            pass
        finally:
            connection.close()


class _Connection:
    """One connection, which may become a tunnel."""

    def __init__(self, stream: socket.socket, answer: Callable[[Request], Response | None], tls: ssl.SSLContext):
        self._stream = stream
        self._answer = answer
        self._tls = tls
        self._buffer = b""
        # What a request line without scheme and host means within a tunnel.
        self._origin: str | None = None

    def run(self) -> None:
        while True:
            method, target, headers = self._head()
            if method == "CONNECT":
                self._enter_tunnel(target)
                continue
            length = next((int(value) for name, value in headers if name.lower() == b"content-length"), 0)
            body = self._octets(length)
            url = target if self._origin is None else self._origin + target
            response = self._answer(Request(method, url, tuple(headers), body)) or NOT_FOUND
            self._stream.sendall(response.encoded())

    def _enter_tunnel(self, authority: str) -> None:
        self._stream.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        first = self._stream.recv(1, socket.MSG_PEEK)
        if not first:
            raise Disconnected
        is_tls = first[0] == TLS_HANDSHAKE
        if is_tls:
            self._stream = self._tls.wrap_socket(self._stream, server_side=True)
        scheme, default = ("https", ":443") if is_tls else ("http", ":80")
        self._origin = f"{scheme}://{authority.removesuffix(default)}"

    def _head(self) -> tuple[str, str, list[tuple[bytes, bytes]]]:
        while (end := self._buffer.find(b"\r\n\r\n")) < 0:
            if len(self._buffer) > LARGEST_HEAD:
                raise Disconnected
            self._receive()
        lines = self._buffer[:end].split(b"\r\n")
        self._buffer = self._buffer[end + 4:]
        method, target, _ = lines[0].decode("latin-1").split(" ", 2)
        fields = (line.partition(b":") for line in lines[1:])
        return method, target, [(name, value.strip(b" \t")) for name, _, value in fields]

    def _octets(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._receive()
        octets, self._buffer = self._buffer[:count], self._buffer[count:]
        return octets

    def _receive(self) -> None:
        octets = self._stream.recv(65536)
        if not octets:
            raise Disconnected
        self._buffer += octets
