"""A server on the loopback that serves builds of the app, counts what reaches it, and can be gone for a while."""

import socket
import ssl
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from cache.app import Build, File, answer_of_api, build, worker


@dataclass(frozen=True)
class Habits:
    """What servers do differently."""

    host: str
    scheme: str
    #: Cache-Control of documents and of chunks; empty for none.
    documents: str
    chunks: str
    #: Whether a path that leads nowhere is answered with the document, as many servers of such apps do, or with status 404.
    falls_back: bool = False


class Site:
    """One server."""

    def __init__(self, habits: Habits, tls: ssl.SSLContext):
        self.habits = habits
        self._tls = tls if habits.scheme == "https" else None
        self._lock = threading.Lock()
        self._requests: list[tuple[str, int]] = []
        self._connections: set[socket.socket] = set()
        self._server: ThreadingHTTPServer | None = None
        self._port = 0
        self._silence: list[socket.socket] = []
        self.deployed: Build = build(1)
        #: The version of the service worker.
        self.worker = 1
        self.start()

    @property
    def url(self) -> str:
        """The URL of the document."""
        return f"{self.habits.scheme}://{self.habits.host}:{self._port}/"

    def taken(self) -> dict[str, int]:
        """The requests that have come since the last call of `forget`: paths, and the statuses of their responses.

        A path that is requested again has a number.
        """
        with self._lock:
            requests = list(self._requests)
        found: dict[str, int] = {}
        for path, status in requests:
            times = sum(name.partition(" ")[0] == path for name in found)
            found[f"{path} {times + 1}" if times else path] = status
        return found

    def forget(self) -> None:
        """Forgets the requests that have come."""
        with self._lock:
            self._requests = []

    def start(self) -> None:
        """Listens, again at the same port."""
        for connection in self._silence:
            connection.close()
        self._silence = []
        server = ThreadingHTTPServer(("127.0.0.1", self._port), self._handler(), bind_and_activate=False)
        server.allow_reuse_address = True
        server.server_bind()
        server.server_activate()
        self._port = server.server_port
        if self._tls:
            # Each connection's thread shakes hands.
            server.socket = self._tls.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
        self._server = server
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()

    def stop(self) -> None:
        """Ends all connections. Further ones are refused."""
        if self._server is None:
            return
        self._server.shutdown()
        self._server.server_close()
        self._server = None
        with self._lock:
            for connection in self._connections:
                try:
                    connection.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def hang(self) -> None:
        """Lets no further connection be made, as if the network lost every packet: the queue for them is full."""
        self.stop()
        listener = socket.create_server(("127.0.0.1", self._port), backlog=0)
        self._silence = [listener, *(socket.socket() for _ in range(3))]
        for connection in self._silence[1:]:
            connection.setblocking(False)
            connection.connect_ex(("127.0.0.1", self._port))

    def _answer(self, path: str, condition: str | None) -> tuple[int, File | None, str]:
        """The status, the body and Cache-Control of a response."""
        if path.startswith("/api/"):
            status, file, control = 200, File("application/json", answer_of_api(path)), "no-cache"
            if path == "/api/live":
                return status, file, "no-store"
        elif path == "/worker.js":
            status, file, control = 200, worker(self.worker), ""
        elif path == "/" or (path not in self.deployed.chunks and self.habits.falls_back):
            status, file, control = 200, self.deployed.document, self.habits.documents
        elif path in self.deployed.chunks:
            status, file, control = 200, self.deployed.chunks[path], self.habits.chunks
        else:
            return 404, File("text/plain", b"gone"), ""
        return (304 if condition == file.tag else status), file, control

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        site = self

        class Handler(BaseHTTPRequestHandler):
            """Answers one connection."""

            protocol_version = "HTTP/1.1"

            def setup(self) -> None:
                super().setup()
                with site._lock:
                    site._connections.add(self.connection)

            def finish(self) -> None:
                with site._lock:
                    site._connections.discard(self.connection)
                super().finish()

            def handle(self) -> None:
                try:
                    super().handle()
                except OSError:
                    pass

            def do_GET(self) -> None:  # noqa: N802
                status, file, control = site._answer(self.path, self.headers.get("If-None-Match"))
                with site._lock:
                    site._requests.append((self.path, status))
                self.send_response(status)
                body = b"" if file is None or status == 304 else file.body
                if file is not None and status != 404 and control != "no-store":
                    self.send_header("ETag", file.tag)
                if control:
                    self.send_header("Cache-Control", control)
                if self.path == "/" and "session=" not in (self.headers.get("Cookie") or ""):
                    self.send_header("Set-Cookie", "session=1; Path=/; HttpOnly")
                if status != 304 and file is not None:
                    self.send_header("Vary", "Accept-Encoding")
                    self.send_header("Content-Type", file.content_type)
                    self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                pass

        return Handler
