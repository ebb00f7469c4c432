"""Has a page of another host of a site fill the browser's store, until the browser removes cookies to make room, and looks at
what the jar keeps. What a script deletes after that has to be deleted in the jar."""

import itertools
import json
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from engines import ENGINES, Engine, Processes
from engines.page import fetch, load
from engines.waiting import run_together
from gateway.process import gateway
from server.certificate import make_tls_context
from server.messages import Request, Response
from server.proxy import ProxyServer

#: What the site sets before the flood, by name.
LINES = {"plain": "Path=/", "locked": "Path=/; Secure", "lasting": "Path=/; Max-Age=86400"}
#: The engines that have a limit for the cookies of a site.
LIMITED = ("chromium", "firefox")


@dataclass(frozen=True)
class Flood:
    """Cookies that another host of a site sets."""

    label: str
    count: int
    attributes: str = ""

    @property
    def site(self) -> str:
        return f"flood-{self.label}.test"

    @property
    def names(self) -> dict[str, str]:
        """The names of the site's own cookies, which no other site has."""
        return {f"{name}-{self.label}": name for name in LINES}

    def __str__(self) -> str:
        return f"{self.count} cookies{self.attributes.replace('; ', ' with ')}"


#: A few more than a store holds, and so many that even `Secure` cookies and all witnesses go.
FLOODS = (Flood("a", 185), Flood("b", 400, "; Secure"))


def answer(request: Request) -> Response | None:
    """A page, which sets cookies once."""
    flood = next((flood for flood in FLOODS if (request.parts.hostname or "").endswith(flood.site)), None)
    if flood is None:
        return None
    lines = {"/set": [f"{name}=1; {LINES[kind]}" for name, kind in flood.names.items()], "/later": ["later=1; Path=/"]}
    return Response(body=b"<!doctype html><title>page</title>",
                    set_cookie=tuple(line.encode() for line in lines.get(request.parts.path, [])))


def deleted(folder: Path, site: str) -> list[str]:
    """The names of the cookies of a site that the gateway has deleted in the jar."""
    lines = [json.loads(line) for line in (folder / "gateway.log").read_text().splitlines()]
    return [name for line in lines if f".{site}/" in line.get("url", "") for name in line.get("cookiesDeleted", [])]


def run_one(engine: Engine, flood: Flood) -> set[str]:
    """What of the site's own cookies a flood leaves in the browser. Then a script deletes one that was set later."""
    www, other = f"https://www.{flood.site}", f"https://user-pages.{flood.site}"
    numbers = itertools.count()

    def request(times: int) -> None:
        for _ in range(times):
            fetch(engine, f"/page?{next(numbers)}")

    load(engine, f"{www}/set")
    request(2)
    load(engine, f"{other}/page")
    # Chromium sets cookies later, unless a script reads them.
    engine.evaluate(f"(() => {{ for (let i = 0; i < {flood.count}; i++) "
                    f"document.cookie = `f${{i}}=1; Path=/flood; Domain={flood.site}{flood.attributes}`; "
                    "return document.cookie.length })()")
    left = {flood.names[name] for name in engine.stored() if name in flood.names}
    load(engine, f"{www}/page")
    load(engine, f"{www}/later")
    request(2)
    engine.evaluate("(document.cookie = 'later=; Path=/; Max-Age=0', 1)")
    request(1)
    return left


def run_flood(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether no evicted cookie is deleted in the jar, and what a script deletes is."""
    failures: dict[str, list[str]] = {}

    def run(name: str) -> None:
        place = folder / name
        (place / "browser").mkdir(parents=True)
        sites = [flood.site for flood in FLOODS]
        tls = make_tls_context(place, [label for site in sites for label in (site, f"*.{site}")])
        processes = Processes(place / "browser")
        with ProxyServer(answer, tls) as proxy, \
                gateway(binary, place, proxy.port, place / "certificate.pem", sites) as port:
            try:
                engine = ENGINES[name](processes, port)
                left = {flood: run_one(engine, flood) for flood in FLOODS}
            finally:
                processes.stop_all()
        failures[name] = [
            f"{name}: {flood}: the gateway deletes {names} in the jar, not later alone"
            for flood in FLOODS if (names := deleted(place, flood.site)) != ["later"]]
        failures[name] += [f"{name}: {flood}: the browser has removed none"
                           for flood in FLOODS if name in LIMITED and left[flood] == LINES.keys()]
        found = ", ".join(f"{flood}: {'+'.join(sorted(left[flood])) or 'none'} left" for flood in FLOODS)
        print(f"gateway: {engine.version}: a flood of another host: {found}: "
              f"{'FAILURES' if failures[name] else 'the jar keeps all: ok'}")

    run_together([partial(run, name) for name in engines])
    for failure in (failure for name in engines for failure in failures.get(name, [f"{name}: does not run"])):
        print(f"    {failure}", file=sys.stderr)
    return all(failures.get(name) == [] for name in engines)
