"""What a gateway owes its client when it is killed, when the disk of its database is full, and after many requests."""

import json
import os
import signal
import socket
import socketserver
import subprocess
import threading
import time


class Counting(socketserver.StreamRequestHandler):
    """Sets the cookie that the path names to a number that grows: `/name` gives `Set-Cookie: name=1`, then 2."""

    numbers = {}

    def handle(self):
        while line := self.rfile.readline():
            name = line.split(b" ")[1].rsplit(b"/", 1)[1]
            while self.rfile.readline() not in (b"\r\n", b""):
                pass
            number = self.numbers[name] = self.numbers.get(name, 0) + 1
            cookie = b"Set-Cookie: %s=%d; Max-Age=9999\r\n" % (name, number) if name else b""
            self.wfile.write(b"HTTP/1.1 200 OK\r\n%sX-Number: %d\r\nContent-Length: 2\r\n\r\nok" % (cookie, number))


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *arguments):
        """Gateways are killed here."""


def start(crumb, environment, *words):
    process = subprocess.Popen(
        [crumb, "gateway", "run", "--client", "tool", *words], env=environment, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    host, port = process.stdout.readline().strip().rsplit(":", 1)
    return process, (host, int(port))


def cookies(crumb, environment, jar):
    """The values of a jar's cookies by their names."""
    lines = subprocess.run([crumb, "list", "--jar", jar, "--json", "--values"], env=environment, capture_output=True).stdout
    return {cookie["name"]: cookie["value"] for cookie in map(json.loads, lines.splitlines())}


def requests(address, origin, name, seen):
    """Sends requests until the gateway has gone, and notes the number of each response whose head is there."""
    host = origin.split("//")[1]
    message = f"GET {origin}/{name} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    try:
        with socket.create_connection(address, timeout=30) as client:
            file = client.makefile("rb")
            while True:
                client.sendall(message)
                number = None
                while (line := file.readline()) != b"\r\n":
                    if not line:
                        return
                    if line.startswith(b"X-Number: "):
                        number = int(line[10:])
                seen[name] = number
                file.read(2)
    except OSError:
        pass


def check_faults(crumb, folder, environment, count, check):
    server = Server(("127.0.0.1", 0), Counting)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    killed(crumb, environment, origin, check)
    full_disk(crumb, folder, environment, origin, check)
    growth(crumb, environment, origin, count, check)
    server.shutdown()


def killed(crumb, environment, origin, check):
    """SIGKILL while cookies are stored: the jar has what each client has seen the head of."""
    for attempt in range(5):
        process, address = start(crumb, environment, "--jar", f"killed{attempt}")
        seen = {f"k{number}a{attempt}": 0 for number in range(8)}
        threads = [threading.Thread(target=requests, args=(address, origin, name, seen)) for name in seen]
        for thread in threads:
            thread.start()
        while sum(seen.values()) < 100 + 37 * attempt:
            time.sleep(0.001)
        process.kill()
        process.communicate()
        for thread in threads:
            thread.join()
        stored = cookies(crumb, environment, f"killed{attempt}")
        lost = {name: (number, stored.get(name)) for name, number in seen.items() if int(stored.get(name, 0)) < number}
        check(f"SIGKILL after {sum(seen.values())} responses: the jar has what the clients have seen", not lost, lost)


def full_disk(crumb, folder, environment, origin, check):
    """A jar that cannot store a cookie: the client gets an error with its reason, and no response that pretends."""
    if os.getuid() != 0:
        return print("left out: a full disk needs root", flush=True)
    disk = f"{folder}/database-disk"
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m", "tmpfs", disk], check=True)
    own = environment | {"CRUMB_DATABASE": f"{disk}/crumb.sqlite"}
    process, (host, port) = start(crumb, own, "--jar", "full")
    try:
        curl = lambda path: subprocess.run(
            ["curl", "-sSi", "--max-time", "30", "--proxy", f"http://{host}:{port}", origin + path], capture_output=True).stdout
        before = curl("/before")
        fill(f"{disk}/filler")
        answers = {name: curl(f"/{name}") for name in ["c" * 1000 + str(number) for number in range(8)]}
        check("a full disk: a request without a cookie passes", curl("/").startswith(b"HTTP/1.1 200 "))
        failed = [answer for answer in answers.values() if not answer.startswith(b"HTTP/1.1 200 ")]
        check("a full disk: the client is told, and gets no part of the response", failed and all(
            answer.startswith(b"HTTP/1.1 500 ") and b"cannot be stored" in answer and b"error=proxy_internal_error" in answer
            and b"Set-Cookie" not in answer and b"X-Number" not in answer for answer in failed), answers)
        os.unlink(f"{disk}/filler")
        after = curl("/after")
        passed = {name for name, answer in answers.items() if answer.startswith(b"HTTP/1.1 200 ")} | {"before", "after"}
        check("a full disk: with room, cookies are stored again", before[:13] == after[:13] == b"HTTP/1.1 200 ", (before, after))
        found = set(cookies(crumb, own, "full"))
        check("a full disk: the jar has the cookies of the responses that passed, and no others", found == passed, (passed, found))
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)
        subprocess.run(["umount", disk])


def fill(path):
    """Leaves no room on a disk."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    for length in [65_536, 4096, 1]:
        try:
            while True:
                os.write(file, bytes(length))
        except OSError:
            pass
    os.close(file)


def resident(process):
    """The memory of a process, in kilobytes."""
    with open(f"/proc/{process.pid}/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))


def growth(crumb, environment, origin, count, check):
    """Many requests, of which one in eight stores a cookie: memory does not grow with their number."""
    process, address = start(crumb, environment, "--jar", "many")

    def send(number):
        threads = [
            threading.Thread(target=exactly, args=(address, origin, "" if worker else "stored", number // 8)) for worker in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    send(4000)
    first = resident(process)
    begin = time.monotonic()
    send(count)
    last = resident(process)
    seconds = time.monotonic() - begin
    print(f"      {count} requests in {seconds:.1f} s: {first} kB resident before, {last} kB after", flush=True)
    check("memory does not grow with the number of requests", last < first + 16_384, (first, last))
    process.send_signal(signal.SIGTERM)
    check("the gateway ends with status 0", process.wait(timeout=30) == 0)


def exactly(address, origin, name, count):
    """Sends so many requests on one connection."""
    host = origin.split("//")[1]
    message = f"GET {origin}/{name} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode()
    with socket.create_connection(address, timeout=60) as client:
        file = client.makefile("rb")
        for _ in range(count):
            client.sendall(message)
            while file.readline() not in (b"\r\n", b""):
                pass
            file.read(2)
