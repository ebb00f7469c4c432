"""The gateway's cache: hits beside nginx and Squid, misses beside a gateway without one, and the size of its index. All take
turns, and the ratios are those of medians."""

import collections
import itertools
import json
import os
import shutil
import statistics
import subprocess
import tempfile

from bench import GATEWAY, SQUID, Bench, free_port
from filled import FEW, ROOM, FilledCaches

SIZES = {"10 kB": ("/medium", 10_000), "1 MB": ("/large", 1_000_000)}
CACHING_SQUID = "cache_mem 256 MB\nmaximum_object_size_in_memory 8 MB\n"
# Each request is for a URL of its own, so each response is stored.
NEW_SCRIPT = """
wrk.headers["Host"] = "{host}"
local count = 0
request = function()
    count = count + 1
    return wrk.format("GET", "{target}" .. count)
end
"""
STARTS = 3


class CachedBench(Bench):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.runs = itertools.count()

    def environment(self, name):
        return os.environ | {
            "CRUMB_DATABASE": f"{self.folder}/{name}.sqlite", "CRUMB_KEY_FILE": f"{self.folder}/key", "CRUMB_PROXY": "",
            "XDG_CACHE_HOME": f"{self.folder}/caches/{name}"}

    def set_up(self):
        for path, size in SIZES.values():
            with open(self.folder + path, "wb") as file:
                file.write(os.urandom(size))
        os.chmod(self.folder, 0o755)
        # Responses under /new are not stored: what the cache costs them is what such a miss costs.
        self.nginx(
            "origin", self.origin, 1,
            location=f"root {self.folder}; add_header Cache-Control max-age=3600; "
            f"location /new/ {{ alias {self.folder}/; add_header Cache-Control no-store; }}")
        self.nginx(
            "nginx", free_port(), 0,
            f"proxy_cache_path {self.folder}/cache keys_zone=cache:10m; "
            f"upstream origin {{ server 127.0.0.1:{self.origin}; keepalive 64; }}",
            'location / { proxy_pass http://origin; proxy_http_version 1.1; proxy_set_header Connection ""; proxy_cache cache; }')
        if squid := shutil.which("squid", path=os.environ["PATH"] + ":/usr/sbin"):
            port = free_port()
            with open(f"{self.folder}/squid.conf", "w") as file:
                file.write(SQUID.format(folder=self.folder, port=port).replace("cache deny all\n", CACHING_SQUID))
            self.start([squid, "-N", "-f", f"{self.folder}/squid.conf"], port, 0, "squid", True, stdout=subprocess.DEVNULL)
        for name, options in {"crumb": ["--cache", "500M"], "storing": ["--cache", ROOM], "no cache": []}.items():
            gateway = self.start(
                [self.crumb, *GATEWAY, *options], None, 0, env=self.environment(name), stdout=subprocess.PIPE)
            port = int(json.loads(gateway.stdout.readline())["address"].rpartition(":")[2])
            self.proxies[name] = (port, True, gateway)

    def miss(self, name, kind, connections):
        """What ``load`` returns for misses: of responses that are not stored, or of new ones, which a cache stores."""
        if kind == "not stored":
            return self.load(name, "/new/medium", connections)
        return self.load(name, f"/medium?{next(self.runs)}-", connections, script=NEW_SCRIPT)

    def stored_count(self, name):
        words = [self.crumb, "cache", "stats", "--jar", "bench", "--json"]
        report = subprocess.run(words, env=self.environment(name), check=True, capture_output=True).stdout
        return json.loads(report)["responses"]


def measure(bench, filled, rounds):
    """The medians of all figures, by what was measured and where."""
    found = collections.defaultdict(list)
    peers = [name for name in bench.proxies if name not in ("storing", "no cache")]
    for name in peers:
        for path, _ in SIZES.values():
            bench.load(name, path, 1, 1)
    for _ in range(rounds):
        for name, (size, (path, _)) in itertools.product(peers, SIZES.items()):
            found[f"hits/s, {size}", name].append(bench.load(name, path, 16)[0])
        for kind, cache in {"not stored": "crumb", "stored": "storing"}.items():
            for name, place in {cache: "crumb", "no cache": "no cache"}.items():
                found[f"misses/s, {kind}", place].append(bench.miss(name, kind, 16)[0])
                found[f"median ms of a miss, {kind}", place].append(bench.miss(name, kind, 1)[1])
        for name in ("few", "many"):
            found["us for a lookup", name].append(filled.lookup(name, bench.seconds))
        for name in ["empty", "few", "many"] * STARTS:
            listening, answered = filled.start(name)
            found["ms to start", name].append(listening)
            if answered:
                found["ms to the first hit", name].append(answered)
    return peers, {key: statistics.median(values) for key, values in found.items()}


def show(peers, medians, entries):
    """Prints each figure of the gateway beside those that it is compared with."""
    names = {"empty": "0 stored", "few": f"{FEW} stored", "many": f"{entries} stored"}
    print(f"{'':36}{'crumb':>10}{'':>14}{'beside':>10}{'ratio':>8}")
    for figure in dict.fromkeys(figure for figure, _ in medians):
        own = "many" if (figure, "many") in medians else "crumb"
        label = figure if own == "crumb" else f"{figure}, {names[own]}"
        for other in [*peers, "no cache", "empty", "few"]:
            if other == own or (figure, other) not in medians:
                continue
            value, beside = medians[figure, own], medians[figure, other]
            digits = 0 if min(value, beside) >= 100 else 3
            print(f"{label:36}{value:10.{digits}f}{names.get(other, other):>14}{beside:10.{digits}f}{value / beside:8.2f}")


def run(crumb, worker, entries, seconds, rounds):
    folder = tempfile.mkdtemp()
    bench = CachedBench(os.path.abspath(crumb), folder, seconds)
    filled = FilledCaches(bench.crumb, os.path.abspath(worker), bench.environment)
    try:
        for name, count in {"empty": 0, "few": FEW, "many": entries}.items():
            filled.fill(name, count)
        # What the system has still to write would disturb the first round.
        os.sync()
        bench.set_up()
        show(*measure(bench, filled, rounds), entries)
        print(f"{bench.requests['storing']} new responses were received, {bench.stored_count('storing')} are stored")
    finally:
        bench.stop()
        shutil.rmtree(folder, ignore_errors=True)
