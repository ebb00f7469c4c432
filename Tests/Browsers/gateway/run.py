"""Lets each browser visit the same pages with and without the gateway, and compares what the servers get."""

import itertools
import sys
from functools import partial
from pathlib import Path

from engines import ENGINES, Engine, Processes
from engines.page import holds, load
from engines.waiting import run_together, wait_for
from gateway.constraints import test_constraints
from gateway.eviction import measure_eviction
from gateway.process import gateway
from gateway.site import API, HOSTS, OTHER, PLAIN, SHOP, Site
from server.certificate import make_tls_context
from server.proxy import ProxyServer

#: The first contact with a site: what is not known yet is not sent.
COLD = ("seed", "first")


def visit(name: str, folder: Path, port: int, site: Site, allows_third_parties: bool = True) -> str:
    """Lets a browser visit the pages; its version."""
    processes = Processes(folder)
    try:
        engine = ENGINES[name](processes, port, allows_third_parties)
        _Visit(engine, site).run()
        return engine.version
    finally:
        processes.stop_all()


class _Visit:
    """One browser's way through the pages."""

    def __init__(self, engine: Engine, site: Site):
        self._engine, self._site = engine, site
        self._loads = itertools.count()

    def run(self) -> None:
        for origin in (SHOP, API, OTHER, PLAIN):
            self._load(f"{origin}/seed?l=typed")
        for number in ("first", "second"):
            self._site.round = number
            self._load(f"{SHOP}/page?l=typed", "window.done === 1")
            # What the page has set off without waiting for it, in its frames too.
            self._site.wait_for_silence()
            self._load(f"{OTHER}/seed?l=typed-away")
        self._site.round = "navigation"
        self._go(f"location.href = '{OTHER}/seed?l=script-cross'", "script-cross")
        self._go("const form = document.createElement('form'); form.method = 'post';"
                 f"form.action = '{OTHER}/seed?l=post-cross'; document.body.append(form); form.submit()", "post-cross")
        self._go(f"location.href = '/to?l=redirect&to={OTHER}/to?l=redirect-cross&to={SHOP}/seed?l=redirected-back'",
                 "redirected-back")
        self._site.round = "reload"
        self._load(f"{SHOP}/seed?l=reloaded")
        self._site.round = "reload again"
        self._engine.evaluate("(setTimeout(() => location.reload(), 0), 1)")
        self._site.wait_for("reloaded")
        self._site.round = "script cookies"
        self._load(f"{SHOP}/seed?l=start")
        self._engine.evaluate("document.cookie = 'script=1; path=/'")
        self._load(f"{SHOP}/seed?l=script-set")
        self._engine.evaluate("document.cookie = 'script=; path=/; max-age=0'")
        self._load(f"{SHOP}/seed?l=script-deleted")
        self._site.round = "http"
        self._load(f"{PLAIN}/seed?l=typed")
        self._load(f"{PLAIN}/seed?l=typed-again")

    def _load(self, url: str, ready: str = "document.readyState === 'complete'") -> None:
        # Each load has a URL of its own, so that the page before it is not taken for it.
        url = f"{url}&load={next(self._loads)}"
        load(self._engine, url, ready=ready)

    def _go(self, script: str, label: str) -> None:
        """Has a page of the shop set off, until the page that it leads to is there."""
        self._load(f"{SHOP}/seed?l=start")
        self._engine.evaluate(f"(setTimeout(() => {{ {script} }}, 0), 1)")
        self._site.wait_for(label)
        ready = f"location.search.includes('l={label}') && document.readyState === 'complete'"
        wait_for(lambda: holds(self._engine, ready), label)


def is_known(engine: str, key: tuple[str, str, str, str], less: set[bytes], is_apart: bool) -> bool:
    """Whether cookies are missing that are expected to be missing."""
    # WebKit sends a site all its cookies also for frames of other sites in its pages; to the draft, these are cross-site.
    label = key[3]
    if engine.startswith("WebKit") and label.startswith("frame-") and label.endswith("-top"):
        return less == {b"lax=own", b"strict=own"}
    # What a browser keeps for one site's page alone: the jar has no such cookies, but for those with Partitioned.
    if is_apart and all(pair in (b"none=other", b"default=other") for pair in less):
        return True
    # WebKit stores SameSite=None cookies without Secure; the draft does not.
    return key[0] == "http" and less == {b"none=own"}


def compare(name: str, direct: Site, through: Site, is_apart: bool = False) -> list[str]:
    """What the servers got too much or too little."""
    failures = []
    cold = 0
    for key in sorted(set(direct.seen) & set(through.seen)):
        if "favicon" in key[3]:
            continue
        more, less = through.seen[key] - direct.seen[key], direct.seen[key] - through.seen[key]
        if key[0] in COLD:
            # The requests of a page race for the first cookie of a partition.
            more = {pair for pair in more if not pair.startswith(b"part=")}
        if more:
            failures.append(f"{' '.join(key)}: the gateway sends {sorted(more)} too much")
        if less and key[0] in COLD:
            cold += 1
        elif less and not is_known(name, key, less, is_apart):
            failures.append(f"{' '.join(key)}: the gateway does not send {sorted(less)}")
    if through.strange:
        failures.append(f"servers get cookies that none has set: {sorted(through.strange)}")
    missing = {key for key in set(direct.seen) - set(through.seen) if "favicon" not in key[3]}
    if missing:
        failures.append(f"requests that do not get through: {sorted(missing)}")
    print(f"gateway: {name}{', which keeps sites apart' if is_apart else ''}: "
          f"{len(set(direct.seen) & set(through.seen))} kinds of requests, "
          f"{cold} with fewer cookies before the browser is known: {'ok' if not failures else 'FAILURES'}")
    return failures


def run_gateway(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether every browser's requests have the same cookies through the gateway as without it."""
    failures: dict[str, list[str]] = {name: [] for name in engines}

    def run(name: str) -> None:
        try:
            failures[name] += _run_engine(binary, name, folder / name)
        except Exception as failure:
            failures[name].append(f"{name}: {failure or type(failure).__name__}")

    run_together([partial(run, name) for name in engines])
    for failure in itertools.chain.from_iterable(failures.values()):
        print(f"    {failure}", file=sys.stderr)
    return not any(failures.values())


def _run_engine(binary: Path, name: str, folder: Path) -> list[str]:
    failures = _compare_visits(binary, name, folder, is_apart=False)
    if name == "firefox":
        failures += _compare_visits(binary, name, folder / "apart", is_apart=True)
    (folder / "eviction").mkdir()
    return (failures + measure_eviction(binary, name, folder / "eviction")
            + test_constraints(name, folder / "constraints"))


def _compare_visits(binary: Path, name: str, folder: Path, is_apart: bool) -> list[str]:
    """What is different between a visit with the gateway and one without it.

    `is_apart` has the browser keep cookies of third parties apart, as Firefox does where nobody changes that.
    """
    sites = {"direct": Site(), "through": Site()}
    versions: dict[str, str] = {}

    def run(how: str) -> None:
        place = folder / how
        (place / "browser").mkdir(parents=True)
        tls = make_tls_context(place, [label for host in HOSTS for label in (host, f"*.{host}")])
        with ProxyServer(sites[how].answer, tls) as proxy:
            if how == "direct":
                versions[how] = visit(name, place / "browser", proxy.port, sites[how], not is_apart)
            else:
                with gateway(binary, place, proxy.port, place / "certificate.pem", HOSTS) as port:
                    versions[how] = visit(name, place / "browser", port, sites[how], not is_apart)

    run_together([partial(run, how) for how in sites])
    failures = compare(versions["direct"], sites["direct"], sites["through"], is_apart)
    if failures:
        # It says which requests the browser has sent, and whether a server failed.
        print((folder / "through" / "gateway.log").read_text(), file=sys.stderr)
    return failures
