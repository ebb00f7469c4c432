"""Caches with any number of stored responses: lookups in their indexes, and the start of gateways that answer from them."""

import glob
import json
import os
import socket
import subprocess
import sys
import time

from bench import GATEWAY

FEW = 1_000
# The size of a cache in which no response has to make room for another.
ROOM = "64G"


class FilledCaches:
    """Databases with caches that `cache-worker` fills. Processes that use them run on one processor."""

    def __init__(self, crumb, worker, environment):
        """`environment` makes the variables of a database with a name."""
        self.crumb, self.worker, self.environment = crumb, worker, environment
        self.counts, self.urls = {}, {}

    def fill(self, name, count):
        print(f"filling a cache with {count} responses", file=sys.stderr, flush=True)
        report = self.work(name, "fill", count)
        self.counts[name], self.urls[name] = count, report["url"]
        if count:
            each, size = report["seconds"] / count * 1e6, report["octets"] / 1e9
            print(f"{each:.0f} us each, {size:.3f} GB", file=sys.stderr, flush=True)

    def work(self, name, mode, *numbers):
        # As in a gateway, glibc keeps freed memory: giving it back takes a fifth of the time of storing a response.
        environment = self.environment(name) | {"MALLOC_TRIM_THRESHOLD_": str(4 << 20)}
        words = ["taskset", "-c", "0", self.worker, mode, environment["CRUMB_DATABASE"], *map(str, numbers)]
        return json.loads(subprocess.run(words, env=environment, check=True, stdout=subprocess.PIPE).stdout)

    def lookup(self, name, seconds):
        """Microseconds for a lookup of one of the responses, chosen at random, in an index that the system has in memory."""
        for path in glob.glob(f"{self.environment(name)['XDG_CACHE_HOME']}/crumb/*/*/index.sqlite*"):
            with open(path, "rb") as file:
                while file.read(1 << 20):
                    pass
        return self.work(name, "lookups", self.counts[name], seconds)["nanoseconds"] / 1000

    def start(self, name):
        """Milliseconds from the start of a gateway to its first line of JSON, and to its first response from the cache.

        The second one counts, too: the gateway opens its cache with the first request. It is `None` if nothing is stored.
        """
        words = ["taskset", "-c", "0", self.crumb, *GATEWAY, "--cache", ROOM]
        environment = self.environment(name)
        begin = time.monotonic()
        gateway = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        try:
            line = gateway.stdout.readline()
            listening, answered = time.monotonic() - begin, None
            port = int(json.loads(line)["address"].rpartition(":")[2])
            if self.counts[name]:
                ask(port, self.urls[name])
                answered = time.monotonic() - begin
        finally:
            gateway.terminate()
            gateway.wait(10)
        return listening * 1000, answered and answered * 1000


def ask(port, url):
    """Sends a request through a gateway, which has to answer it from its cache."""
    host = url.removeprefix("http://").partition("/")[0]
    with socket.create_connection(("127.0.0.1", port), 10) as client:
        client.sendall(f"GET {url} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n".encode())
        response = b""
        while piece := client.recv(65536):
            response += piece
    head = response.partition(b"\r\n\r\n")[0].decode()
    if "cache-status: crumb; hit" not in head.lower():
        raise SystemExit(f"no response from the cache for {url}: {head}")
