"""What the service is put through, a function each: a generator of what is not as it should be."""

import json
import os
import random
import signal
import socket
import ssl
import stat
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from load import Load
from service import Closed, Connection, Service, free_port, request, response

NOT_STARTED = 54


@contextmanager
def running(crumb: Path, folder: Path, settings: dict | None = None, arguments: tuple[str, ...] = ()):
    """A service with a jar, stopped in the end."""
    service = Service(crumb, folder, settings).make_jar().start(*arguments)
    try:
        yield service
    finally:
        service.stop()


def kill_under_load(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """SIGKILL: every write that was answered is there afterwards."""
    service = Service(crumb, folder).make_jar()
    for _ in range(20 if full else 3):
        # Of a service that was killed a socket is left, which must not keep the next one from starting.
        service.start()
        load = Load(service)
        while load.answers < 200 and not load.failures:
            time.sleep(0.01)
        if not load.acknowledged:
            yield f"nothing was acknowledged: {load.failures[:3]}"
        time.sleep(random.uniform(0, 0.3))
        service.kill()
        load.join()
        # A site keeps 180 cookies, and there is a site for each client: more would make room for each other.
        most = max(sum(name.startswith(f"c{client}-") for name in load.acknowledged) for client in range(16))
        if most > 180:
            yield f"{most} writes of one client are too many to tell"
        lost = load.acknowledged - service.cookies()
        if lost:
            yield f"{len(lost)} of {len(load.acknowledged)} acknowledged writes are gone: {sorted(lost)[:5]}"
        service.run("jars", "clear", "work")


def stop_under_load(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """SIGTERM: no request fails that was accepted."""
    service = Service(crumb, folder).make_jar()
    for _ in range(20 if full else 4):
        port = free_port()
        service.start("--listen", f"127.0.0.1:{port}")
        load = Load(service, port=port)
        while load.answers < 200 and not load.failures:
            time.sleep(0.01)
        status = service.stop()
        load.join()
        if status:
            yield f"it ended with the status {status}"
        if load.failures:
            yield f"{len(load.failures)} of {load.answers} requests failed: {load.failures[:3]}"
        if os.path.exists(service.socket):
            yield "the socket is still there"


def slow_requests(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """Heads and bodies that drip in: the service answers others meanwhile, and ends those."""
    settings = {"limits": {"headerSeconds": 2, "idleSeconds": 60, "bodyBytesPerSecond": 100}}
    with running(crumb, folder, settings) as service:
        heads = [service.connect() for _ in range(500 if full else 100)]
        bodies = [service.connect() for _ in range(10)]
        for connection in heads:
            connection.send(b"GET /healthz HTTP/1.1\r\nHost: x\r\n")
        for connection in bodies:
            connection.send(request("POST", Service.DECORATE, Content_Type="application/json", Content_Length="5000"))
        others = service.connect()
        for _ in range(5):
            for connection in heads + bodies:
                try:
                    connection.send(b"X: y\r\n" if connection in heads else b"{")
                except OSError:
                    pass
            if others.ask("GET", "/healthz").status != 200:
                yield "others are not answered meanwhile"
            time.sleep(0.6)
        codes = {connection.answer().code for connection in heads}
        if codes != {"request-late"}:
            yield f"dripping heads are answered {codes}"
        codes = {connection.answer().code for connection in bodies}
        if codes != {"request-late"}:
            yield f"dripping bodies are answered {codes}"
        if others.ask("GET", "/healthz").status != 200:
            yield "a connection that was there all along is not answered"


def oversized_requests(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """Heads and bodies beyond the limits are refused with a problem."""
    with running(crumb, folder, {"limits": {"bodyBytes": 1 << 20}}) as service:
        for what, head in [("one field", "X: " + "x" * 200_000), ("many fields", "\r\n".join(["X: y"] * 40_000)),
                           ("the target", None)]:
            connection = service.connect()
            target = "/healthz" + ("?" + "x" * 200_000 if head is None else "")
            try:
                connection.send(f"GET {target} HTTP/1.1\r\nHost: x\r\n{head or 'X: y'}\r\n\r\n".encode())
            except OSError:
                pass
            status = connection.answer().status
            if status not in (400, 414, 431):
                yield f"{what} too large: {status}"
        for chunked in (False, True):
            connection = service.connect()
            fields = {"Transfer_Encoding": "chunked"} if chunked else {"Content_Length": str(64 << 20)}
            connection.send(request("POST", Service.DECORATE, Content_Type="application/json", **fields))
            try:
                for _ in range(64):
                    piece = b" " * (1 << 20)
                    connection.send(b"100000\r\n" + piece + b"\r\n" if chunked else piece)
            except OSError:
                pass
            answer = connection.answer()
            if answer.status != 413 or not answer.code:
                yield f"a body too large, chunked: {chunked}: {answer.status} {answer.body[:200]}"
        if service.connect().ask("GET", "/readyz").status != 200:
            yield "afterwards it is not ready"


def malformed_requests(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """Bytes that are no request: answered 4xx, 501 for the method, or not at all, and the service goes on."""
    generator = random.Random(20261121)
    good = request("POST", Service.DECORATE, Service.URL)
    with running(crumb, folder) as service:
        for number in range(5000 if full else 400):
            data = bytearray(good)
            for _ in range(generator.randint(1, 8)):
                place = generator.randrange(len(data))
                match generator.randrange(3):
                    case 0: data[place] = generator.randrange(256)
                    case 1: del data[place]
                    case 2: data[place:place] = bytes(generator.randrange(256) for _ in range(3))
            connection = service.connect()
            connection.send(bytes(data))
            connection.socket.shutdown(socket.SHUT_WR)
            text = connection.rest()
            connection.close()
            statuses = {int(line.split(b" ")[1]) for line in text.split(b"\r\n") if line.startswith(b"HTTP/1.1 ")}
            if any(status >= 500 and status != 501 for status in statuses):
                yield f"request {number} is answered {statuses}: {bytes(data)!r}"
        if service.connect().ask("GET", "/readyz").status != 200:
            yield "afterwards it is not ready"


def pipelined_requests(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """Requests that do not wait for answers are answered in order."""
    with running(crumb, folder) as service:
        connection = service.connect()
        for batch in range(100 if full else 10):
            # No more than fits into the buffers between the two.
            numbers = range(batch * 50, batch * 50 + 50)
            connection.send(b"".join(
                request("POST", Service.RESPONSES, response("p", str(number)))
                + request("POST", Service.DECORATE, Service.URL) + request("GET", "/nowhere") for number in numbers))
            for number in numbers:
                answers = [connection.answer() for _ in range(3)]
                statuses = [answer.status for answer in answers]
                if statuses != [200, 200, 404] or f"p={number}\"" not in answers[1].body.decode():
                    yield f"request {number}: {statuses} {answers[1].body[:200]}"
                    return


def idle_connections(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """A thousand connections that say nothing are in nobody's way."""
    with running(crumb, folder) as service:
        idle = [service.connect() for _ in range(1000)]
        connection = service.connect()
        for _ in range(100):
            if connection.ask("GET", "/healthz").status != 200:
                yield "others are not answered"
        metrics = connection.ask("GET", "/metrics").body.decode()
        if "crumb_connections 1001\n" not in metrics:
            yield "the metrics do not count the connections"
        for number, quiet in enumerate(idle):
            if quiet.ask("GET", "/healthz").status != 200:
                yield f"connection {number} is not answered when it asks"
        for quiet in idle:
            quiet.close()


def too_many_connections(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """Connections beyond the limit are answered 503; when others end, there is room again."""
    with running(crumb, folder, {"limits": {"connections": 20}}) as service:
        first = [service.connect() for _ in range(20)]
        for connection in first:
            connection.ask("GET", "/healthz")
        answers = {service.connect().ask("GET", "/healthz").code for _ in range(10)}
        if answers != {"connections-exhausted"}:
            yield f"connections beyond the limit are answered {answers}"
        for connection in first:
            connection.close()
        end = time.monotonic() + 20
        while time.monotonic() < end:
            try:
                if service.connect().ask("GET", "/healthz").status == 200:
                    return
            except (OSError, Closed):
                pass
            time.sleep(0.05)
        yield "there is no room again"


def full_disk(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """A full disk: writes are answered with a problem, reads go on, and with room everything does; nothing is lost."""
    disk = folder / "disk"
    disk.mkdir()
    as_root = [] if os.geteuid() == 0 else ["sudo", "-n"]
    options = f"size=4m,mode=700,uid={os.geteuid()}"
    mounting = subprocess.run([*as_root, "mount", "-t", "tmpfs", "-o", options, "tmpfs", disk], capture_output=True)
    if mounting.returncode:
        yield "no file system can be mounted here: run this as root, or with sudo at hand"
        return
    try:
        with running(crumb, disk, arguments=("--audit-file", str(disk / "audit.jsonl"))) as service:
            connection = service.connect()
            acknowledged: list[str] = []

            def write(name: str) -> int:
                nonlocal connection
                answer = connection.ask("POST", Service.RESPONSES, response(name, "x" * 2000))
                if answer.status == 200:
                    acknowledged.append(name)
                elif answer.code != "disk-full":
                    raise ValueError(f"a write is answered {answer.status} {answer.code}")
                return answer.status

            write("before")
            filler = disk / "filler"
            with open(filler, "wb", buffering=0) as file:
                try:
                    while file.write(b"x" * 4096):
                        pass
                except OSError:
                    pass
            statuses = [write(f"full{number}") for number in range(100)]
            if 507 not in statuses:
                yield f"no write is refused on a full disk: {set(statuses)}"
            answer = connection.ask("POST", Service.DECORATE, Service.URL)
            if answer.status != 200 or b"before=" not in answer.body:
                yield f"reading fails on a full disk: {answer.status} {answer.code}"
            if connection.ask("GET", "/healthz").status != 200:
                yield "on a full disk it is not alive"
            filler.unlink()
            after = [write(f"after{number}") for number in range(5)]
            if after != [200] * 5:
                yield f"with room again writes are answered {after}"
            service.kill()
            lost = set(acknowledged) - service.cookies()
            if lost:
                yield f"acknowledged writes are gone: {sorted(lost)}"
            service.start()
    except ValueError as error:
        yield str(error)
    finally:
        subprocess.run([*as_root, "umount", "--lazy", disk], check=True)


def ways_in(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """The socket, its lock, and addresses that others can reach."""
    with running(crumb, folder) as service:
        if stat.S_IMODE(os.stat(service.socket).st_mode) != 0o600:
            yield "others can reach the socket"
        second = Service(crumb, folder).start(wait=False)
        if second.process.wait(30) != NOT_STARTED:
            yield "a second service takes the first one's socket"
        if service.connect().ask("GET", "/readyz").status != 200:
            yield "the first one suffers from the second"
    for address in ("0.0.0.0:0", "[::]:0"):
        open_service = Service(crumb, folder).start("--listen", address, wait=False)
        if open_service.process.wait(30) != NOT_STARTED:
            yield f"it listens on {address} without TLS"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-days", "2", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                    "-keyout", folder / "key.pem", "-out", folder / "certificate.pem"], check=True, capture_output=True)
    port = free_port()
    service = Service(crumb, folder).start(
        "--listen", f"0.0.0.0:{port}", "--certificate", str(folder / "certificate.pem"),
        "--private-key", str(folder / "key.pem"))
    try:
        context = ssl.create_default_context(cafile=folder / "certificate.pem")
        connection = Connection(("127.0.0.1", port), lambda plain: context.wrap_socket(plain, server_hostname="localhost"))
        owner = service.owner_fields(port)
        host = {"Host": owner["Host"]}
        if connection.ask("POST", Service.DECORATE, Service.URL, **host).status != 401:
            yield "with TLS no token is asked for"
        token_file = Path(str(service.database) + ".token")
        if stat.S_IMODE(token_file.stat().st_mode) != 0o600:
            yield "others can read the owner's token"
        if token_file.read_text().strip() in service.log.read_text():
            yield "the owner's token is in the log"
        answer = connection.ask("POST", Service.DECORATE, Service.URL, **owner)
        if answer.status != 200:
            yield f"over TLS the owner is answered {answer.status} {answer.code}"
        plain = Connection(("127.0.0.1", port))
        plain.send(request("GET", "/healthz", **host))
        if b"HTTP/1.1 200" in plain.rest():
            yield "it answers without TLS where there is to be some"
    finally:
        service.stop()


def under_systemd(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """A socket that systemd listens on, and what it is told."""
    notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    notifications.bind(str(folder / "notify"))
    notifications.settimeout(30)
    service = Service(crumb, folder).make_jar()
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    mask = os.umask(0o177)
    listener.bind(service.socket)
    os.umask(mask)
    listener.listen(64)
    # What connects before the service runs waits for it.
    early = service.connect()
    early.send(request("GET", "/readyz"))

    def hand_over() -> None:
        os.dup2(listener.fileno(), 3, inheritable=True)
        os.environ["LISTEN_PID"] = str(os.getpid())

    # The process's own number is known in the child alone: a shell puts it into the environment.
    wrapper = folder / "wrapper"
    wrapper.write_text(f'#!/bin/sh\nexport LISTEN_PID=$$\nexec "{crumb}" "$@"\n')
    wrapper.chmod(0o700)
    service.crumb = wrapper
    service.start(environment={"LISTEN_FDS": "1", "NOTIFY_SOCKET": str(folder / "notify")}, pass_fds=(3,),
                  preexec=hand_over, wait=False)
    try:
        if notifications.recv(100) != b"READY=1":
            yield "systemd is not told that it is ready"
        if early.answer().status not in (200, 503):
            yield "a request that came before it is not answered"
        if service.connect().ask("GET", "/readyz").status != 200:
            yield "it does not answer on systemd's socket"
        status = service.stop()
        if status or notifications.recv(100) != b"STOPPING=1":
            yield f"systemd is not told that it stops (status {status})"
        if not os.path.exists(service.socket):
            yield "systemd's socket is gone"
        os.chmod(service.socket, 0o666)
        service.start(environment={"LISTEN_FDS": "1"}, pass_fds=(3,), preexec=hand_over, wait=False)
        if service.process.wait(30) != NOT_STARTED:
            yield "it serves the owner's sessions on a socket that everybody can reach"
    finally:
        service.stop()
        listener.close()


def audit_log(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """Who took a secret is written down; SIGHUP goes on in a new file; the end writes what is left."""
    log = folder / "audit.jsonl"
    with running(crumb, folder, arguments=("--audit-file", str(log))) as service:
        connection = service.connect()
        connection.ask("POST", Service.RESPONSES, response("sid", "the-secret"))
        for _ in range(50):
            connection.ask("POST", Service.DECORATE, Service.URL)
        log.rename(folder / "audit.1")
        service.process.send_signal(signal.SIGHUP)
        end = time.monotonic() + 30
        while not log.exists() and time.monotonic() < end:
            time.sleep(0.02)
        connection.ask("POST", Service.DECORATE, Service.URL)
    lines = [json.loads(line) for name in ("audit.1", "audit.jsonl") for line in (folder / name).read_text().splitlines()]
    if sum(line.get("count", 1) for line in lines) != 51 or len(lines) != 2:
        yield f"51 requests are written down as {lines}"
    if any("the-secret" in (folder / name).read_text() for name in ("audit.1", "audit.jsonl", "log")):
        yield "a secret is in a log"


def unit_files(crumb: Path, folder: Path, full: bool) -> Iterator[str]:
    """systemd takes the unit files, and those with the files that extend them for a node over PostgreSQL."""
    source = Path(__file__).resolve().parents[2] / "docs/systemd"
    units = ["crumb.service", "crumb.socket"]
    for extensions in ([], ["crumb.service.d/cluster.conf", "crumb.socket.d/cluster.conf"]):
        for name in units + extensions:
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text((source / name).read_text().replace("/usr/bin/crumb", str(crumb)))
        result = subprocess.run(["systemd-analyze", "verify", "--man=no", *(folder / unit for unit in units)],
                                capture_output=True, text=True)
        if result.returncode or "crumb" in result.stderr:
            yield f"systemd-analyze: {result.stderr.strip()}"


CHECKS = [ways_in, under_systemd, unit_files, audit_log, kill_under_load, stop_under_load, slow_requests,
          oversized_requests, malformed_requests, pipelined_requests, idle_connections, too_many_connections, full_disk]
