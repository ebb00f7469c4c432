"""Fills a service with many jars, starts it anew, and prints what so many cost: start, memory, latency.

    service_jars.py --crumb FILE --folder FOLDER [--jars N] [--cookies N]
"""

import argparse
import http.client
import json
import os
import random
import re
import socket
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


class Service:
    """`crumb serve` on the loopback."""

    def __init__(self, crumb: Path, folder: Path):
        self.port = free_port()
        environment = {**os.environ, "CRUMB_DATABASE": str(folder / "crumb.sqlite"), "HOME": str(folder),
                       "CRUMB_KEY_FILE": str(folder / "key"), "XDG_RUNTIME_DIR": str(folder),
                       "CRUMB_DURABILITY": "normal"}
        start = time.perf_counter()
        self.process = subprocess.Popen([crumb, "serve", "--listen", f"127.0.0.1:{self.port}"], env=environment,
                                        stderr=subprocess.DEVNULL)
        while True:
            try:
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    break
            except OSError:
                time.sleep(0.002)
        self.seconds_to_ready = time.perf_counter() - start
        self.token = (folder / "crumb.sqlite.token").read_text().strip()

    def connection(self) -> http.client.HTTPConnection:
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)

    def ask(self, connection: http.client.HTTPConnection, method: str, path: str, body: bytes, kind: str) -> bytes:
        connection.request(method, path, body, {"Authorization": f"Bearer {self.token}", "Content-Type": kind})
        answer = connection.getresponse()
        octets = answer.read()
        assert answer.status < 300, (path, answer.status, octets)
        return octets

    def resident(self) -> float:
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) / 1024  # type: ignore[index]

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crumb", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--jars", type=int, default=10_000)
    parser.add_argument("--cookies", type=int, default=100)
    options = parser.parse_args()
    lines = [f"Set-Cookie: name{n}=value-{n}-{'x' * 20}; Path=/; Secure; Max-Age=864000" for n in range(options.cookies)]
    capture = ("HTTP/1.1 200 OK\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode()
    service = Service(options.crumb, options.folder)

    def fill(numbers: range) -> None:
        connection = service.connection()
        for number in numbers:
            service.ask(connection, "POST", "/v1/jars", json.dumps({"name": f"user-{number}"}).encode(),
                        "application/json")
            service.ask(connection, "POST", f"/v1/jars/user-{number}/captures?url=https://www.shop.test/",
                        capture, "application/octet-stream")

    start = time.perf_counter()
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(fill, [range(first, options.jars, 8) for first in range(8)]))
    seconds = time.perf_counter() - start
    print(f"{options.jars} jars of {options.cookies} cookies filled in {seconds:.0f} s; "
          f"{service.resident():.0f} MB in memory afterwards, "
          f"{(options.folder / 'crumb.sqlite').stat().st_size / 1e6:.0f} MB on disk")
    service.stop()
    service = Service(options.crumb, options.folder)
    empty = service.resident()
    body = json.dumps({"url": "https://www.shop.test/account"}).encode()
    connection = service.connection()
    chosen = random.Random(1).choices(range(options.jars), k=4000)
    print(f"started anew: ready after {service.seconds_to_ready * 1000:.0f} ms with {empty:.1f} MB")
    for name in ("first", "again"):
        times = []
        for number in chosen:
            begin = time.perf_counter()
            service.ask(connection, "POST", f"/v1/jars/user-{number}/decorate", body, "application/json")
            times.append(time.perf_counter() - begin)
        times.sort()
        print(f"decorate, {len(set(chosen))} jars at random, {name}: median {times[len(times) // 2] * 1e6:.0f} us, "
              f"99th percentile {times[len(times) * 99 // 100] * 1e6:.0f} us; {service.resident():.0f} MB")
    service.stop()


main()
