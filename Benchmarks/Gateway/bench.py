"""The gateway beside other proxies, in turns, as ratios of medians."""

import argparse
import collections
import contextlib
import json
import os
import re
import shutil
import signal
import socket
import statistics
import subprocess
import tempfile
import time

from secured import Secured

GATEWAY = ["gateway", "run", "--client", "tool", "--jar", "bench", "--json"]
SMALL, LARGE = 506, 1 << 20
COOKIES = 10

NGINX = """
daemon off; worker_processes 1; error_log {folder}/{name}.log; pid {folder}/{name}.pid;
events {{ worker_connections 4096; }}
http {{
    access_log off; sendfile on; keepalive_requests 1000000000;
    client_body_temp_path {folder}/{name}-body; proxy_temp_path {folder}/{name}-proxy;
    fastcgi_temp_path {folder}/{name}-f; uwsgi_temp_path {folder}/{name}-u; scgi_temp_path {folder}/{name}-s;
    {upstream}
    server {{ listen 127.0.0.1:{port} backlog=4096; {location} }}
    {more}
}}
"""
SQUID = """
http_port 127.0.0.1:{port}
http_access allow all
cache deny all
access_log none
cache_log {folder}/squid.log
pid_filename {folder}/squid.pid
coredump_dir {folder}
shutdown_lifetime 1 seconds
workers 1
"""
SCRIPT = """
wrk.headers["Host"] = "{host}"
request = function() return wrk.format("GET", "{target}") end
"""


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def wait(port):
    for _ in range(200):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


def memory(process):
    pids = [process.pid] + [int(pid) for pid in subprocess.run(
        ["pgrep", "-P", str(process.pid)], capture_output=True, text=True).stdout.split()]
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/status") as status:
            total += int(re.search(r"VmRSS:\s+(\d+)", status.read()).group(1))
    return total


class Bench:
    def __init__(self, crumb, folder, seconds):
        self.crumb, self.folder, self.seconds = crumb, folder, seconds
        self.processes, self.proxies = [], {}
        self.requests = collections.Counter()
        self.origin = free_port()
        self.url = f"http://127.0.0.1:{self.origin}"
        self.secured = Secured(folder, free_port(), free_port())

    def start(self, words, port, cpu, name=None, forward=False, **more):
        process = subprocess.Popen(["taskset", "-c", str(cpu), *words], stderr=subprocess.DEVNULL, **more)
        self.processes.append(process)
        if port:
            wait(port)
        if name:
            self.proxies[name] = (port, forward, process)
        return process

    def nginx(self, name, port, cpu, upstream="", location="", more=""):
        path = f"{self.folder}/{name}.conf"
        with open(path, "w") as file:
            file.write(NGINX.format(folder=self.folder, name=name, port=port, upstream=upstream, location=location, more=more))
        self.start(["nginx", "-c", path, "-e", f"{self.folder}/{name}.err"], port, cpu, None if name == "origin" else name)

    def set_up(self):
        for name, size in [("small", SMALL), ("large", LARGE)]:
            with open(f"{self.folder}/{name}", "wb") as file:
                file.write(os.urandom(size))
        os.chmod(self.folder, 0o755)
        cookies = "".join(f"add_header Set-Cookie cookie{number}=value-of-some-length-{number};" for number in range(COOKIES))
        self.nginx(
            "origin", self.origin, 1, location=f"root {self.folder}; location = /cookies {{ {cookies} return 204; }}",
            more=self.secured.origin)
        self.proxies["direct"] = (self.origin, False, self.processes[-1])
        self.nginx(
            "nginx", free_port(), 0, f"upstream origin {{ server 127.0.0.1:{self.origin}; keepalive 64; }}",
            'location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_buffering on; }',
            more=self.secured.proxy)
        if squid := shutil.which("squid", path=os.environ["PATH"] + ":/usr/sbin"):
            port = free_port()
            with open(f"{self.folder}/squid.conf", "w") as file:
                file.write(SQUID.format(folder=self.folder, port=port))
            self.start([squid, "-N", "-f", f"{self.folder}/squid.conf"], port, 0, "squid", True, stdout=subprocess.DEVNULL)
        if mitmdump := os.environ.get("MITMDUMP"):
            port = free_port()
            self.start(
                [mitmdump, "--quiet", "--listen-host", "127.0.0.1", "--listen-port", str(port), "--set", f"confdir={self.folder}/mitmproxy",
                 "--set", "stickycookie=~all"], port, 0, "mitmdump", True, stdout=subprocess.DEVNULL)
            subprocess.run(
                ["curl", "--silent", "--fail", "--proxy", f"127.0.0.1:{port}", "--output", "/dev/null", f"{self.url}/cookies"],
                check=True)
        environment = os.environ | {
            "CRUMB_DATABASE": f"{self.folder}/crumb.sqlite", "CRUMB_KEY_FILE": f"{self.folder}/key", "CRUMB_PROXY": ""}
        lines = "".join(f"cookie{number}=value-of-some-length-{number}\n" for number in range(COOKIES))
        for url in [self.url, self.secured.url]:
            subprocess.run([self.crumb, "set", "--jar", "bench", url], input=lines.encode(), env=environment, check=True)
        gateway = self.start(
            [self.crumb, *GATEWAY, *self.secured.options], None, 0, env=environment, stdout=subprocess.PIPE)
        port = int(json.loads(gateway.stdout.readline())["address"].rpartition(":")[2])
        self.proxies["crumb"] = (port, True, gateway)

    def load(self, name, path, connections, seconds=None, script=SCRIPT):
        """Requests per second, and the median latency in milliseconds."""
        port, forward, _ = self.proxies[name]
        script_path = f"{self.folder}/{name}.lua"
        with open(script_path, "w") as file:
            host = f"127.0.0.1:{self.origin}"
            file.write(script.format(host=host, target=(self.url if forward else "") + path))
        output = subprocess.run(
            ["taskset", "-c", "1", "wrk", "-t1", f"-c{connections}", f"-d{seconds or self.seconds}s", "--latency", "-s", script_path,
             f"http://127.0.0.1:{port}/"], capture_output=True, text=True, check=True).stdout
        if "Non-2xx" in output:
            raise SystemExit(f"{name}: {output}")
        self.requests[name] += int(re.search(r"(\d+) requests in", output).group(1))
        rate = float(re.search(r"Requests/sec:\s+([\d.]+)", output).group(1))
        value, unit = re.search(r"50%\s+([\d.]+)(us|ms|s)", output).groups()
        return rate, float(value) * {"us": 0.001, "ms": 1, "s": 1000}[unit]

    def idle(self, name, count):
        """How many kB a process grows by for idle connections, each of which has had a request."""
        port, forward, process = self.proxies[name]
        before = memory(process)
        request = f"GET {self.url if forward else ''}/small HTTP/1.1\r\nHost: 127.0.0.1:{self.origin}\r\n\r\n".encode()
        sockets = []
        for _ in range(count):
            client = socket.create_connection(("127.0.0.1", port))
            client.sendall(request)
            client.recv(4096)
            sockets.append(client)
        time.sleep(1)
        grown = memory(process) - before
        for client in sockets:
            client.close()
        return grown

    def growth(self, rate, count):
        """How many kB the gateway grows by over `count` requests, after the first tenth of them."""
        process = self.proxies["crumb"][2]
        self.load("crumb", "/small", 16, int(count / 10 / rate) + 1)
        before = memory(process)
        self.load("crumb", "/small", 16, int(count / rate) + 1)
        return memory(process) - before

    def stop(self):
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
        for process in self.processes:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(10)
            process.kill()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--crumb", required=True)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--requests", type=int, default=1_000_000, help="after which the gateway's memory is compared")
    parser.add_argument("--cache", action="store_true", help="compare the caches")
    parser.add_argument("--worker", help="with --cache: the program that fills caches")
    parser.add_argument("--entries", type=int, default=1_000_000, help="with --cache: how many responses the large cache has")
    options = parser.parse_args()
    if options.cache:
        if not options.worker:
            parser.error("--cache needs --worker")
        from cached import run
        return run(options.crumb, options.worker, options.entries, options.seconds, options.rounds)
    folder = tempfile.mkdtemp()
    bench = Bench(os.path.abspath(options.crumb), folder, options.seconds)
    try:
        bench.set_up()
        names = list(bench.proxies)
        found = {name: {"small": [], "latency": [], "large": [], "tls": []} for name in names}
        ports = {name: bench.proxies[name][0] for name in names}
        for _ in range(options.rounds):
            for name in names:
                found[name]["small"].append(bench.load(name, "/small", 16)[0])
                found[name]["latency"].append(bench.load(name, "/small", 1)[1])
                found[name]["large"].append(bench.load(name, "/large", 16)[0] * LARGE / 1e9)
                found[name]["tls"].append(bench.secured.load(name, ports[name], LARGE))
        medians = {name: {kind: statistics.median(values) for kind, values in found[name].items()} for name in names}
        print(
            f"{'':10}{'requests/s':>12}{'crumb':>8}{'median ms':>12}{'added':>8}{'GB/s':>8}{'crumb':>8}{'TLS GB/s':>10}{'crumb':>8}"
            f"{'kB idle':>10}{'TLS':>8}")
        for name in names:
            row, crumb = medians[name], medians["crumb"]
            idle = bench.idle(name, 1000) if name != "direct" else 0
            process = bench.proxies[name][2]
            secured = bench.secured.idle(name, ports[name], 1000, lambda: memory(process)) if name != "direct" else 0
            print(
                f"{name:10}{row['small']:12.0f}{crumb['small'] / row['small']:8.2f}{row['latency']:12.3f}"
                f"{row['latency'] - medians['direct']['latency']:8.3f}{row['large']:8.2f}{crumb['large'] / row['large']:8.2f}"
                f"{row['tls']:10.2f}{crumb['tls'] / row['tls'] if row['tls'] else 0:8.2f}{idle:10}{secured:8}", flush=True)
        growth = bench.growth(medians["crumb"]["small"], options.requests)
        print(f"{options.requests} further requests: the gateway grows by {growth} kB")
    finally:
        bench.stop()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
