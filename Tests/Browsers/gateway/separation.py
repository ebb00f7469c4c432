"""Looks for cookies that a gateway sends where the browser itself would not: in frames with a store of their own, after a
server whose requests pass unread has changed cookies, and with what scripts have set for https or for the site alone."""

import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from engines import ENGINES, Engine, Processes
from engines.page import load
from engines.waiting import run_together, wait_for
from gateway.process import gateway
from server.certificate import make_tls_context
from server.messages import Request, Response
from server.proxy import ProxyServer

SHOP, OTHER, PLAIN = "https://www.site-a.test", "https://www.site-b.test", "http://www.plain.test"
UNREAD = "evil.site-a.test"
HOSTS = ("site-a.test", "site-b.test", "plain.test")
#: The engines whose frames can have a temporary store. The gateway gives the others witnesses in any frame.
WITH_TEMPORARY_STORES = ("chromium",)
CLASSES = {b"none": b"SameSite=None", b"lax": b"SameSite=Lax", b"strict": b"SameSite=Strict", b"default": b"Priority=Medium"}
#: What a page's script sets, by name.
SCRIPTED = {"secure": "secure", "strict": "samesite=strict", "lax": "samesite=lax", "none": "samesite=none; secure",
            "plain": "max-age=3600"}
SILENCE = 1.5

FRAMES = """<iframe credentialless src="/frame?l=own-store"></iframe><iframe src="/frame?l=frame"></iframe>
<iframe credentialless src="{OTHER}/frame?l=own-store-cross"></iframe><iframe src="{OTHER}/frame?l=frame-cross"></iframe>
""".replace("{OTHER}", OTHER)
FRAME = """<!doctype html><title>frame</title><img src="/r?l={L}.image"><script>
fetch("/r?l={L}.fetch").then(() => fetch("/r?l={L}.again")).then(() => fetch("/r?l={L}.post", {method: "POST"}));
</script>"""


class Servers:
    """All servers: they set an HttpOnly cookie of each class whose value names the first request that got it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last = time.monotonic()
        #: The cookies of each request, by its label.
        self.seen: dict[str, set[bytes]] = defaultdict(set)
        #: The names of cookies that a server got and that none has set.
        self.strange: set[bytes] = set()
        #: What the server that passes unread sets again, with other attributes.
        self.stolen: dict[bytes, bytes] = {}

    def answer(self, request: Request) -> Response | None:
        """Notes the request and answers it."""
        host = request.parts.hostname or ""
        if not host.endswith(HOSTS) or request.parts.path == "/favicon.ico":
            return None
        label = request.parameters.get("l", request.parts.path)
        pairs = {pair.partition(b"=")[0]: pair for pair in request.cookie.split(b"; ") if pair}
        known = {*CLASSES, *(f"s-{name}".encode() for name in SCRIPTED)}
        with self._lock:
            self._last = time.monotonic()
            self.seen[label] |= {pair for name, pair in pairs.items() if name in known}
            if host != UNREAD or not self.stolen:
                self.strange |= pairs.keys() - known
        if host == UNREAD:
            return Response(body=b"<!doctype html><title>unread</title>", set_cookie=self._changed(pairs))
        lines: tuple[bytes, ...] = ()
        if request.parameters.get("set") != "no":
            secure = b"; Secure" if request.parts.scheme == "https" else b""
            lines = tuple(b"%s=%s; Path=/; HttpOnly; %s%s" % (name, label.partition(".")[0].encode(), attribute, secure)
                          for name, attribute in CLASSES.items() if name not in pairs and (secure or name != b"none"))
        if request.parts.path == "/r":
            return Response(200, (), b"x", b"text/plain", lines)
        bodies = {"/frame": FRAME.replace("{L}", label), "/frames": f"<!doctype html><title>frames</title>{FRAMES}"}
        return Response(body=bodies.get(request.parts.path, "<!doctype html><title>page</title><body>").encode(),
                        set_cookie=lines)

    def _changed(self, pairs: dict[bytes, bytes]) -> tuple[bytes, ...]:
        """Every way in which a server can set the cookies of another one of its site."""
        lines: list[bytes] = []
        for name, value in {**{name: pair.partition(b"=")[2] for name, pair in pairs.items()}, **self.stolen}.items():
            for other in {name, name.removeprefix(b"__Host-")}:
                for place in (b"Domain=site-a.test; Path=/", b"Domain=site-a.test; Path=/page"):
                    lines += [b"%s=%s; %s; Secure; SameSite=None" % (other, value, place),
                              b"=%s=%s; %s; Secure; SameSite=None" % (other, value, place)]
        return tuple(lines)

    def wait_for_silence(self) -> None:
        """Waits until no request has come for a while."""
        while (rest := self._last + SILENCE - time.monotonic()) > 0:
            time.sleep(rest)


class Visit:
    """A browser with an empty profile."""

    def __init__(self, engine: Engine, servers: Servers):
        self.engine, self.servers = engine, servers

    def load(self, url: str) -> None:
        """Loads a page as if a person had typed its URL."""
        load(self.engine, url)
        self.servers.wait_for_silence()

    def lead(self, script: str, label: str) -> None:
        """Has a page of the other site set off a request, and waits for it."""
        self.load(f"{OTHER}/page?l=before-{label}")
        self.engine.evaluate(f"(setTimeout(() => {{ {script} }}, 0), 1)")
        wait_for(lambda: label in self.servers.seen or None, label)
        self.servers.wait_for_silence()

    def link(self, url: str, label: str) -> None:
        """Follows a link of the other site."""
        self.lead(f"location.href = '{url}/page?set=no&l={label}'", label)

    def post(self, url: str, label: str) -> None:
        """Has the other site send a form."""
        self.lead("const form = document.createElement('form'); form.method = 'post'; "
                  f"form.action = '{url}/page?set=no&l={label}'; document.body.append(form); form.submit()", label)

    def image(self, url: str, label: str) -> None:
        """Shows an image in a page of the other site."""
        self.lead(f"new Image().src = '{url}/r?set=no&l={label}'", label)


def visit_frames(visit: Visit, _: bool) -> None:
    """Frames with a store of their own, beside others."""
    for origin in (OTHER, SHOP):
        visit.load(f"{origin}/page?l=typed")
    visit.load(f"{SHOP}/frames?l=typed")
    visit.load(f"{SHOP}/frames?l=typed-again")
    # The labels of a page over http are others.
    visit.servers.seen |= {f"https {label}": pairs for label, pairs in visit.servers.seen.items()}
    for label in [label for label in visit.servers.seen if not label.startswith("https ")]:
        del visit.servers.seen[label]
    visit.load(f"{PLAIN}/page?l=typed")
    visit.load(f"{PLAIN}/frames?l=typed")
    visit.servers.seen["has temporary stores"] = {
        str(visit.engine.evaluate("'credentialless' in HTMLIFrameElement.prototype")).lower().encode()}


def visit_unread(visit: Visit, is_through: bool) -> None:
    """A server of the site whose requests pass unread."""
    visit.load(f"{SHOP}/page?l=typed")
    visit.load(f"{SHOP}/page?l=typed-again")
    for number in ("first", "second"):
        visit.load(f"https://{UNREAD}/page?l=unread-{number}")
    cross_site(visit, "before")
    visit.load(f"{SHOP}/page?l=typed-at-last")
    if is_through:
        # If it had them in some other way.
        visit.servers.stolen = {name.encode(): value.encode() for name, value in visit.engine.stored().items()
                                if name.encode() not in CLASSES}
    visit.load(f"https://{UNREAD}/page?l=unread-third")
    cross_site(visit, "after")


def cross_site(visit: Visit, when: str) -> None:
    """Requests of another site's page."""
    visit.post(SHOP, f"post-{when}")
    visit.link(SHOP, f"link-{when}")
    visit.image(SHOP, f"image-{when}")


def visit_scripted(visit: Visit, _: bool) -> None:
    """A page's script sets cookies; another site's pages lead to the site, over https and http."""
    visit.load(f"{SHOP}/page?set=no&l=typed")
    for name, attributes in SCRIPTED.items():
        visit.engine.evaluate(f"(document.cookie = 's-{name}=1; path=/; {attributes}', 1)")
    # With no page of the site between, so that nothing is known of its requests over http.
    visit.load(f"{SHOP}/page?set=no&l=set")
    scripted_links(visit)


def scripted_links(visit: Visit) -> None:
    """Two links to http, one to https, then the page itself."""
    plain = SHOP.replace("https", "http")
    visit.link(plain, "http-first")
    visit.link(plain, "http-second")
    visit.link(SHOP, "link")
    visit.post(SHOP, "post")
    visit.image(SHOP, "image")
    visit.load(f"{SHOP}/page?set=no&l=typed-at-last")


@contextmanager
def browser(name: str, folder: Path, port: int) -> Iterator[Engine]:
    """A browser with an empty profile in a folder."""
    folder.mkdir()
    processes = Processes(folder)
    try:
        yield ENGINES[name](processes, port)
    finally:
        processes.stop_all()


def play(binary: Path, name: str, folder: Path, story: Callable[[Visit, bool], None],
         *more: str) -> tuple[str, Servers, Servers]:
    """The browser's version, and what the servers get without and with the gateway."""
    results: dict[str, tuple[str, Servers]] = {}

    def run(how: str) -> None:
        place, servers = folder / how, Servers()
        place.mkdir(parents=True)
        tls = make_tls_context(place, [label for host in HOSTS for label in (host, f"*.{host}")])
        with ProxyServer(servers.answer, tls) as proxy:
            if how == "direct":
                with browser(name, place / "browser", proxy.port) as engine:
                    story(Visit(engine, servers), False)
                    results[how] = engine.version, servers
                return
            with gateway(binary, place, proxy.port, place / "certificate.pem", HOSTS, *more) as port, \
                    browser(name, place / "browser", port) as engine:
                story(Visit(engine, servers), True)
                results[how] = engine.version, servers
            if story is visit_scripted:
                # With the same jar, and nothing else.
                later = Servers()
                results["later"] = name, later
                proxy_later(binary, name, place, later)

    run_together([partial(run, how) for how in ("direct", "through")])
    version, direct = results["direct"]
    through = results["through"][1]
    if "later" in results:
        # What a browser with the same cookies would send is what the first one has sent.
        later = results["later"][1]
        through.seen |= {f"later {label}": pairs for label, pairs in later.seen.items()}
        direct.seen |= {f"later {label}": pairs for label, pairs in list(direct.seen.items())
                        if label not in ("typed", "set")}
        through.strange |= later.strange
    return version, direct, through


def proxy_later(binary: Path, name: str, place: Path, servers: Servers) -> None:
    """The story of another browser, at another gateway of the same jar."""
    tls = make_tls_context(place, [label for host in HOSTS for label in (host, f"*.{host}")])
    with ProxyServer(servers.answer, tls) as proxy, \
            gateway(binary, place, proxy.port, place / "certificate.pem", HOSTS) as port, \
            browser(name, place / "later", port) as engine:
        scripted_links(Visit(engine, servers))


def compare(direct: Servers, through: Servers, expected: dict[str, set[bytes]]) -> list[str]:
    """What servers get too much of, and what must be there, so that nothing passes by sending nothing."""
    failures = [f"{label}: the gateway sends {sorted(more)} too much"
                for label, pairs in sorted(through.seen.items())
                if (more := pairs - direct.seen.get(label, set())) and "before-" not in label]
    failures += [f"{label}: {sorted(pairs - through.seen.get(label, set()))} are missing"
                 for label, pairs in expected.items() if pairs - through.seen.get(label, set())]
    if through.strange:
        failures.append(f"servers get cookies that none has set: {sorted(through.strange)}")
    if missing := direct.seen.keys() - through.seen.keys():
        failures.append(f"requests that do not get through: {sorted(missing)}")
    return failures


def test_separation(binary: Path, name: str, folder: Path) -> list[str]:
    """What is not as it should be, after a line with what was found."""
    session = {b"strict=typed", b"lax=typed", b"default=typed"}
    stores = {label: session for label in ("https frame.fetch", "https frame.post", "frame.fetch", "frame.post")}
    has_stores = name in WITH_TEMPORARY_STORES
    if not has_stores:
        stores |= {"https own-store.again": session, "own-store.again": session}
    stores["has temporary stores"] = {str(has_stores).lower().encode()}
    scripted = {f"s-{script}=1".encode() for script in SCRIPTED}
    stories: list[tuple[Callable[[Visit, bool], None], list[str], dict[str, set[bytes]]]] = [
        (visit_frames, [], stores),
        (visit_unread, ["--bypass", UNREAD], {"typed-again": session, "link-before": {b"lax=typed"}}),
        (visit_scripted, [], {"typed-at-last": scripted, "later typed-at-last": scripted})]
    failures: list[str] = []
    for number, (story, more, expected) in enumerate(stories):
        # Browsers put sockets there, whose paths are limited.
        version, direct, through = play(binary, name, folder / f"{name}-{number}", story, *more)
        found = [f"{name}, {story.__name__}: {failure}" for failure in compare(direct, through, expected)]
        print(f"gateway: {version}, {(story.__doc__ or '').rstrip('.')}: {len(through.seen)} kinds of requests: "
              f"{'FAILURES' if found else 'ok'}")
        failures += found
    return failures


def run_separation(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether no browser's cookies get where it would not send them itself."""
    failures: list[str] = []
    for name in engines:
        failures += test_separation(binary, name, folder)
    for failure in failures:
        print(f"    {failure}", file=sys.stderr)
    return not failures
