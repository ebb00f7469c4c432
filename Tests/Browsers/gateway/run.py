"""Lets each browser visit the same pages with and without the gateway, and compares what the servers get."""

import itertools
import json
import os
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engines import ENGINES, EngineFailure, Processes
from engines.waiting import wait_for
from gateway.site import API, HOSTS, OTHER, PLAIN, SHOP, Site
from server.certificate import make_tls_context
from server.proxy import ProxyServer

#: The first contact with a site: what is not known yet is not sent.
COLD = ("seed", "first")


@contextmanager
def gateway(binary: Path, folder: Path, proxy: int, certificate: Path) -> Iterator[int]:
    """The port of a gateway whose servers are all behind a proxy."""
    hosts = [argument for host in HOSTS for argument in ("--intercept", host, "--intercept", f"*.{host}")]
    environment = {**os.environ, "CRUMB_DATABASE": str(folder / "crumb.sqlite"),
                   "CRUMB_KEY_FILE": str(folder / "crumb.key"), "HOME": str(folder), "NO_PROXY": ""}
    process = subprocess.Popen(
        [str(binary), "gateway", "run", "--json", "--log", "--proxy", f"http://127.0.0.1:{proxy}", "--ca-file",
         str(certificate), "--authority-file", str(folder / "authority.pem"), *hosts], env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise EngineFailure("the gateway does not start")
        # Nobody reads the log; a full pipe must not hold it up.
        with open(folder / "gateway.log", "w", encoding="utf-8") as log:
            reader = subprocess.Popen(["cat"], stdin=process.stdout, stdout=log)
            yield int(json.loads(line)["address"].rpartition(":")[2])
    finally:
        process.terminate()
        process.wait(20)
        reader.wait(20)


def visit(name: str, folder: Path, port: int, site: Site) -> tuple[str, str]:
    """Lets a browser visit the pages; its version, and the cookies that scripts of the last page see."""
    processes = Processes(folder)
    engine = ENGINES[name](processes, port)
    loads = itertools.count()
    try:
        def load(url: str, ready: str = "document.readyState === 'complete'") -> None:
            # Each load has a URL of its own, so that the page before it is not taken for it.
            url = f"{url}&load={next(loads)}"
            engine.navigate(url)
            wait_for(lambda: engine.evaluate(f"location.href === '{url}' && {ready}") or None, url)

        def go(script: str) -> None:
            engine.evaluate(f"(setTimeout(() => {{ {script} }}, 0), 1)")
            time.sleep(1.5)

        for origin in (SHOP, API, OTHER, PLAIN):
            load(f"{origin}/seed?l=typed")
        for number in ("first", "second"):
            site.round = number
            load(f"{SHOP}/page?l=typed", "window.done === 1")
            load(f"{OTHER}/seed?l=typed-away")
        site.round = "navigation"
        load(f"{SHOP}/seed?l=start")
        go(f"location.href = '{OTHER}/seed?l=script-cross'")
        load(f"{SHOP}/seed?l=start")
        go("const form = document.createElement('form'); form.method = 'post';"
           f"form.action = '{OTHER}/seed?l=post-cross'; document.body.append(form); form.submit()")
        load(f"{SHOP}/seed?l=start")
        go(f"location.href = '/to?l=redirect&to={OTHER}/to?l=redirect-cross&to={SHOP}/seed?l=redirected-back'")
        site.round = "script cookies"
        load(f"{SHOP}/seed?l=start")
        engine.evaluate("document.cookie = 'script=1; path=/'")
        load(f"{SHOP}/seed?l=script-set")
        engine.evaluate("document.cookie = 'script=; path=/; max-age=0'")
        load(f"{SHOP}/seed?l=script-deleted")
        site.round = "http"
        load(f"{PLAIN}/seed?l=typed")
        load(f"{PLAIN}/seed?l=typed-again")
        return engine.version, str(engine.evaluate("document.cookie"))
    finally:
        engine.close()
        processes.stop_all()


def is_known(key: tuple[str, str, str, str], less: set[bytes]) -> bool:
    """Whether cookies are missing that are expected to be missing."""
    # WebKit stores SameSite=None cookies without Secure; the draft does not.
    return key[0] == "http" and less == {b"none"}


def compare(name: str, direct: Site, through: Site) -> list[str]:
    """What the servers got too much or too little."""
    failures = []
    cold = 0
    for key in sorted(set(direct.seen) & set(through.seen)):
        if "favicon" in key[3]:
            continue
        more, less = through.seen[key] - direct.seen[key], direct.seen[key] - through.seen[key]
        if key[0] in COLD:
            # The requests of a page race for the first cookie of a partition.
            more -= {b"part"}
        if more:
            failures.append(f"{' '.join(key)}: the gateway sends {sorted(more)} too much")
        if less and key[0] in COLD:
            cold += 1
        elif less and not is_known(key, less):
            failures.append(f"{' '.join(key)}: the gateway does not send {sorted(less)}")
    if through.strange:
        failures.append(f"servers get cookies that none has set: {sorted(through.strange)}")
    missing = {key for key in set(direct.seen) - set(through.seen) if "favicon" not in key[3]}
    if missing:
        failures.append(f"requests that do not get through: {sorted(missing)}")
    print(f"gateway: {name}: {len(set(direct.seen) & set(through.seen))} kinds of requests, "
          f"{cold} with fewer cookies before the browser is known: {'ok' if not failures else 'FAILURES'}")
    return failures


def run_gateway(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether every browser's requests have the same cookies through the gateway as without it."""
    passed = True
    for name in engines:
        sites = []
        for how in ("direct", "through"):
            place = folder / f"{name}-{how}"
            (place / "browser").mkdir(parents=True)
            site = Site()
            names = [label for host in HOSTS for label in (host, f"*.{host}")]
            tls: ssl.SSLContext = make_tls_context(place, names)
            with ProxyServer(site.answer, tls) as proxy:
                if how == "direct":
                    version, _ = visit(name, place / "browser", proxy.port, site)
                else:
                    with gateway(binary, place, proxy.port, place / "certificate.pem") as port:
                        visit(name, place / "browser", port, site)
            sites.append(site)
        failures = compare(version, *sites)
        for failure in failures:
            print(f"    {failure}", file=sys.stderr)
        passed &= not failures
    return passed
