"""A service that runs by itself, and connections to it on which anything can be said."""

import json
import os
import signal
import socket
import subprocess
import time
from pathlib import Path

# Longer than anything takes that works at all.
PATIENCE = 30


class ServiceFailure(Exception):
    """The service does not do what every check needs."""


class Closed(Exception):
    """The other side has ended the connection."""


class Connection:
    """One connection, byte for byte."""

    def __init__(self, address: str | tuple[str, int], wrap=None):
        family = socket.AF_UNIX if isinstance(address, str) else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        # With a time limit it would not wait for room among those that are to be accepted.
        self.socket.connect(address)
        self.socket.settimeout(PATIENCE)
        if wrap:
            self.socket = wrap(self.socket)
        self._bytes = b""

    def send(self, data: bytes) -> None:
        """Sends bytes as they are."""
        self.socket.sendall(data)

    def ask(self, method: str, path: str, document: object = None, **fields: str) -> "Answer":
        """Sends a request and reads its answer."""
        self.send(request(method, path, document, **fields))
        return self.answer()

    def answer(self) -> "Answer":
        """The next answer."""
        while b"\r\n\r\n" not in self._bytes:
            self._receive()
        head, self._bytes = self._bytes.split(b"\r\n\r\n", 1)
        lines = head.decode("latin-1").split("\r\n")
        fields = {name.lower(): value.strip() for name, value in (line.split(":", 1) for line in lines[1:])}
        length = int(fields.get("content-length", "0"))
        while len(self._bytes) < length:
            self._receive()
        body, self._bytes = self._bytes[:length], self._bytes[length:]
        return Answer(int(lines[0].split(" ")[1]), fields, body)

    def rest(self) -> bytes:
        """Everything up to the end of the connection."""
        try:
            while True:
                self._receive()
        except (Closed, ConnectionError):
            return self._bytes

    def close(self) -> None:
        """Ends the connection."""
        self.socket.close()

    def _receive(self) -> None:
        data = self.socket.recv(65536)
        if not data:
            raise Closed()
        self._bytes += data


class Answer:
    """What a request was answered."""

    def __init__(self, status: int, fields: dict[str, str], body: bytes):
        self.status, self.fields, self.body = status, fields, body

    @property
    def code(self) -> str:
        """The code of a problem; empty where it is none."""
        if self.fields.get("content-type") != "application/problem+json":
            return ""
        return json.loads(self.body)["code"]

    @property
    def is_last(self) -> bool:
        """Whether the connection ends with it."""
        return self.fields.get("connection", "").lower() == "close"


def request(method: str, path: str, document: object = None, **fields: str) -> bytes:
    """A request, byte for byte."""
    lines = {"Host": "localhost"} | {name.replace("_", "-"): value for name, value in fields.items()}
    body = b""
    if document is not None:
        body = json.dumps(document).encode()
        lines |= {"Content-Type": "application/json", "Content-Length": str(len(body))}
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + body


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def response(name: str, value: str = "1", host: str = "site.test") -> dict:
    """A response that sets one cookie, as the service takes it."""
    line = f"{name}={value}; Path=/; Max-Age=864000"
    return {"url": f"https://{host}/", "headers": [{"name": "Set-Cookie", "value": line}]}


class Service:
    """`crumb serve` with a folder of its own."""

    # Every process that was started, so that none is left behind by a check that breaks off.
    processes: list[subprocess.Popen] = []
    RESPONSES = "/v1/jars/work/responses"
    DECORATE = "/v1/jars/work/decorate"
    URL = {"url": "https://site.test/"}

    def __init__(self, crumb: Path, folder: Path, settings: dict | None = None):
        self.crumb, self.folder = crumb, folder
        self.socket = str(folder / "s")
        self.database = folder / "crumb.sqlite"
        self.log = folder / "log"
        self.environment = os.environ | {"CRUMB_DATABASE": str(self.database), "CRUMB_KEY_FILE": str(folder / "key")}
        (folder / "config.json").write_text(json.dumps(settings or {}))
        self.process: subprocess.Popen | None = None

    def run(self, *arguments: str) -> str:
        """What the command prints that works on the same database."""
        result = subprocess.run([str(self.crumb), *arguments], env=self.environment, capture_output=True, text=True,
                                timeout=PATIENCE * 4)
        if result.returncode:
            raise ServiceFailure(f"crumb {arguments[0]}: {result.stderr.strip()}")
        return result.stdout

    def start(self, *arguments: str, environment: dict | None = None, pass_fds: tuple = (), preexec=None,
              wait: bool = True) -> "Service":
        """Runs the service; returns when it answers."""
        with open(self.log, "ab") as log:
            listen = [] if pass_fds or "--socket" in arguments else ["--socket", self.socket]
            self.process = subprocess.Popen(
                [str(self.crumb), "serve", *listen, "--config", str(self.folder / "config.json"), *arguments],
                env=self.environment | (environment or {}), stdout=log, stderr=log, pass_fds=pass_fds,
                preexec_fn=preexec)
        Service.processes.append(self.process)
        if wait:
            self.wait_until_ready()
        return self

    def wait_until_ready(self) -> None:
        """Returns when the service answers on its socket."""
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            if self.process.poll() is not None:
                raise ServiceFailure(f"the service does not start: {self.log.read_text()}")
            try:
                connection = Connection(self.socket)
                status = connection.ask("GET", "/readyz").status
                connection.close()
                if status == 200:
                    return
            except (OSError, Closed):
                pass
            time.sleep(0.02)
        raise ServiceFailure("the service does not answer")

    @classmethod
    def kill_all(cls) -> None:
        """Ends what a check has left running."""
        for process in cls.processes:
            if process.poll() is None:
                process.kill()
                process.wait()
        cls.processes.clear()

    def make_jar(self) -> "Service":
        """Makes the jar that the checks work on."""
        self.run("jars", "create", "work")
        return self

    def connect(self) -> Connection:
        """A new connection."""
        return Connection(self.socket)

    def owner_fields(self, port: int) -> dict[str, str]:
        """What the owner's requests need over TCP."""
        token = Path(str(self.database) + ".token").read_text().strip()
        return {"Host": f"localhost:{port}", "Authorization": f"Bearer {token}"}

    def kill(self) -> None:
        """Ends it as a power switch does."""
        self.process.kill()
        self.process.wait()

    def stop(self) -> int:
        """Tells it to stop, and gives its exit status."""
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE * 2) if self.process else 0
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise ServiceFailure("the service does not stop") from None

    def cookies(self) -> set[str]:
        """The names in the jar, as the command sees them."""
        return {json.loads(line)["name"] for line in self.run("list", "--jar", "work", "--json").splitlines()}
