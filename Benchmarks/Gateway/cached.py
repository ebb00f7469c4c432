"""The gateway's cache beside those of nginx and Squid, in turns, as ratios of medians."""

import json
import os
import shutil
import statistics
import subprocess
import tempfile

from bench import SQUID, Bench, free_port

SIZES = {"10 kB": ("/medium", 10_000), "1 MB": ("/large", 1_000_000)}
CACHING_SQUID = "cache_mem 256 MB\nmaximum_object_size_in_memory 8 MB\n"


class CachedBench(Bench):
    def set_up(self):
        for path, size in SIZES.values():
            with open(self.folder + path, "wb") as file:
                file.write(os.urandom(size))
        os.chmod(self.folder, 0o755)
        # Responses under /new are not stored: what the cache costs them is what a miss costs.
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
        environment = os.environ | {
            "CRUMB_DATABASE": f"{self.folder}/crumb.sqlite", "CRUMB_KEY_FILE": f"{self.folder}/key", "CRUMB_PROXY": "",
            "XDG_CACHE_HOME": f"{self.folder}/caches"}
        for name, options in {"crumb": ["--cache", "500M"], "no cache": []}.items():
            gateway = self.start(
                [self.crumb, "gateway", "run", "--client", "tool", "--jar", "bench", "--json", *options], None, 0,
                env=environment, stdout=subprocess.PIPE)
            port = int(json.loads(gateway.stdout.readline())["address"].rpartition(":")[2])
            self.proxies[name] = (port, True, gateway)


def run(crumb, seconds, rounds):
    folder = tempfile.mkdtemp()
    bench = CachedBench(os.path.abspath(crumb), folder, seconds)
    try:
        bench.set_up()
        peers = [name for name in bench.proxies if name != "no cache"]
        paths = {kind: path for kind, (path, _) in SIZES.items()}
        found = {(name, kind): [] for name in peers for kind in paths}
        misses = {name: [] for name in ("crumb", "no cache")}
        for name in peers:
            for path in paths.values():
                bench.load(name, path, 1, 1)
        for _ in range(rounds):
            for name, kind in found:
                found[name, kind].append(bench.load(name, paths[kind], 16)[0])
            for name, rates in misses.items():
                rates.append(bench.load(name, "/new/medium", 16)[0])
        medians = {key: statistics.median(rates) for key, rates in found.items()}
        print(f"{'hits/s':10}" + "".join(f"{kind:>12}{'crumb':>8}" for kind in paths))
        for name in peers:
            print(f"{name:10}" + "".join(
                f"{medians[name, kind]:12.0f}{medians['crumb', kind] / medians[name, kind]:8.2f}" for kind in paths))
        with_cache, without = (statistics.median(misses[name]) for name in ("crumb", "no cache"))
        print(f"misses/s: {with_cache:.0f} with a cache, {without:.0f} without: {with_cache / without:.2f}")
    finally:
        bench.stop()
        shutil.rmtree(folder, ignore_errors=True)
