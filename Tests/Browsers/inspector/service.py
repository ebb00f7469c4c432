"""A running service with a jar to look at, and a site that links to it."""

import http.client
import json
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

from crumb import Crumb
from engines.engine import EngineFailure
from engines.processes import Processes, free_ports
from engines.waiting import wait_for

LOGIN = b"""HTTP/1.1 200 OK\r
Set-Cookie: __Host-sid=a-secret-value; Secure; HttpOnly; Path=/; SameSite=Lax\r
Set-Cookie: theme=dark; Max-Age=2592000; Path=/; Secure\r
Set-Cookie: cart=%22two items%22; Path=/; Secure\r
Set-Cookie: <b>bold</b>=<i>markup</i>; Path=/; Secure\r
Set-Cookie: login=ok; Domain=shop.test; Path=/; Secure; HttpOnly\r
Set-Cookie: ad=1; Path=/; Secure; SameSite=None; Partitioned; Max-Age=600\r
\r
"""


class Service:
    """`crumb serve` on the loopback, with a database of its own."""

    def __init__(self, binary: Path, processes: Processes, folder: Path):
        self.crumb = Crumb(binary, folder)
        self.crumb.import_response("https://accounts.shop.test/", LOGIN)
        reply = {"access_token": "a-secret-token", "token_type": "Bearer", "expires_in": 3600}
        self.crumb.run("token", "import", "work", octets=json.dumps(reply).encode())
        self.port = free_ports(1)[0]
        database = Crumb.database(folder)
        self._binary, self.start = binary, datetime.now(UTC).isoformat()
        self._environment = {"CRUMB_DATABASE": str(database), "CRUMB_KEY_FILE": str(folder / "crumb.key")}
        self._process = processes.start(
            [str(binary), "serve", "--listen", f"127.0.0.1:{self.port}"], "serve", self._environment)
        wait_for(self._is_ready, "the service")
        self.token = database.with_name("crumb.sqlite.token").read_text().strip()

    def start_gateway(self) -> str:
        """Starts a gateway for programs; where it listens."""
        fields = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        body = json.dumps({"jar": "default", "client": "tool"})
        _, _, text = self.request("PUT", "/v1/gateways/shop", fields, body)
        return str(json.loads(text)["addresses"][0]["address"])

    def request_through(self, gateway: str, path: str) -> None:
        """Requests a path of the service through a gateway, as a program does."""
        connection = http.client.HTTPConnection(gateway, timeout=20)
        connection.request("GET", self.origin + path, headers={"Host": self.origin.removeprefix("http://")})
        connection.getresponse().read()
        connection.close()

    @contextmanager
    def login(self) -> Iterator[str]:
        """A login at the terminal that waits for its browser; the address that the browser comes back to."""
        endpoints = [f"--endpoint={name}_endpoint=http://127.0.0.1:1/{name}" for name in ("authorization", "token")]
        process = subprocess.Popen(
            [str(self._binary), "token", "login", "terminal", "--client-id", "app", *endpoints],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, stdin=subprocess.DEVNULL,
            env={**os.environ, **self._environment, "BROWSER": "/bin/true"})
        try:
            assert process.stdout
            seen = []
            for line in process.stdout:
                seen.append(line)
                if found := re.search(r"redirect_uri=([^&\s]+)", line):
                    address = urlsplit(unquote(found[1]))
                    yield f"{address.scheme}://{address.netloc}"
                    return
            raise EngineFailure(f"the login does not begin: {''.join(seen)}")
        finally:
            process.terminate()
            process.wait()

    @property
    def origin(self) -> str:
        """Where its pages are."""
        return f"http://127.0.0.1:{self.port}"

    def request(self, method: str, path: str, fields: dict[str, str], body: str | None = None
                ) -> tuple[int, dict[str, str], str]:
        """An answer to a request as no browser makes it."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.request(method, path, body, fields)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, {name.lower(): value for name, value in answer.getheaders()}, text

    def _is_ready(self) -> bool | None:
        if self._process.poll() is not None:
            raise EngineFailure("the service does not start")
        try:
            return self.request("GET", "/readyz", {})[0] == 200 or None
        except (OSError, subprocess.SubprocessError):
            return None


class LinkingSite:
    """A page on a port of its own with a link to `target`."""

    def __init__(self, host: str, target: str):
        page = f'<!doctype html><meta charset="utf-8"><title>Another site</title><a href="{target}">Jar</a>'.encode()

        class Handler(BaseHTTPRequestHandler):
            """Answers every request with the page."""

            def do_GET(self) -> None:  # noqa: N802
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Content-Length", str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer((host, 0), Handler)
        self.url = f"http://{host}:{self._server.server_port}/"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def __enter__(self) -> "LinkingSite":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
