"""Loads a single-page app in each browser through the gateway's cache: again, without a server, and while it is deployed.

Each load is one of a browser with an empty profile, so what the server does not get, the gateway has answered.
"""

import itertools
import json
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType

from cache.app import CLICKED, NAMED, UNSEEN, build
from cache.packages import Packages
from cache.site import Habits, Site
from engines import ENGINES, Engine, EngineFailure, Processes
from engines.page import holds
from engines.waiting import run_together, wait_for
from gateway.process import gateway, resolving_command, write_hosts
from server.certificate import make_tls_context

SITES = (
    # As bundlers recommend it.
    Habits("www.immutable.test", "https", "", "public, max-age=31536000, immutable"),
    # Documents that no cache may use without a validation.
    Habits("www.strict.test", "https", "no-cache", "public, max-age=31536000"),
    # As web servers do it by themselves, over http.
    Habits("www.plain.test", "http", "", "", falls_back=True))
#: What a server is asked if the gateway has the app, and after a deploy.
ASKED = {"/": 304, "/api/stored": 304, "/api/live": 200}
ASKED_AFTER_DEPLOY = ASKED | {"/": 200}
NONE: Mapping[str, int] = MappingProxyType({})
#: What the two requests of the page's script get. The response to the first is stored, with `no-cache`; that to the second is
#: not.
ANSWERS = {"first": ('{"answer": "stored"}', '{"answer": "live"}'), "second": ('{"answer": "stored"}', '{"answer": "live"}'),
           "refused": ("status 502", "status 502"), "no-network": ('{"answer": "stored"}', "status 502"),
           "offline": ('{"answer": "stored"}', "status 504")}


class CacheStory:
    """One browser's loads of the app."""

    def __init__(self, binary: Path, name: str, folder: Path, pictures: Path | None):
        self._binary, self._name, self._folder, self._pictures = binary, name, folder, pictures
        self._numbers = itertools.count()
        (folder / "gateway").mkdir(parents=True)
        tls = make_tls_context(folder, [habits.host for habits in SITES])
        self._sites = [Site(habits, tls) for habits in SITES]
        self.version = name
        self.failures: list[str] = []
        #: How many requests have reached the servers, by load and site.
        self.figures: dict[str, list[int]] = {}
        #: For how long a page loads if its server does not answer, in seconds.
        self.seconds = 0.0

    def run(self) -> None:
        """Runs it; what is not as it should be is in `failures`."""
        try:
            with self._gateway() as port:
                for step in (self._load_twice, self._load_without_server, self._deploy):
                    step(port)
            with self._gateway("--offline") as port:
                self._load_all(port, "offline", 2, {})
            # A jar of its own, without a cache: what the server does not get, a package has answered.
            with self._gateway(place="packages", cache=()) as port:
                self._update_packages(port)
        finally:
            for site in self._sites:
                site.stop()

    def _load_twice(self, port: int) -> None:
        chunks = dict.fromkeys(build(1).seen, 200)
        self._load_all(port, "first", 1, {"/": 200, "/api/stored": 200, "/api/live": 200, **chunks})
        self._load_all(port, "second", 1, ASKED, {build(1).terms: 304})

    def _load_without_server(self, port: int) -> None:
        for site in self._sites:
            site.stop()
        self._load_all(port, "refused", 1, {})
        self._load_in_silence(port)
        write_hosts(self._folder / "gateway", [])
        self._load_all(port, "no-network", 1, {})
        write_hosts(self._folder / "gateway", [habits.host for habits in SITES])
        for site in self._sites:
            site.start()

    def _load_in_silence(self, port: int) -> None:
        """Over http, a network that answers nothing is soon noticed. What is not stored still waits, for half a minute."""
        with self._browser(port) as engine:
            for site in self._sites:
                if site.habits.scheme == "https":
                    continue
                site.hang()
                begin = time.monotonic()
                engine.navigate(site.url)
                wait_for(lambda: holds(engine, "['home', 'stored', 'font'].every("
                                               "(name) => name in (window.shop?.parts ?? {}))"),
                         f"{site.url}, which does not answer", 10)
                self.seconds = time.monotonic() - begin
                self._expect(site, "silent", self._show(engine, CLICKED), {
                    "photo": "there", "font": "there", CLICKED: "build 1 and 1 of 1", "stored": '{"answer": "stored"}'})

    def _deploy(self, port: int) -> None:
        """A new build takes the place of the old one, whose chunks are gone, while a page is open. Then it is taken back."""
        gone, = build(1).chunks_of(UNSEEN)
        new = dict.fromkeys(build(2).seen - set(build(1).chunks), 200)
        with self._browser(port) as engine:
            for site in self._sites:
                self._open(engine, site, 1)
                site.forget()
                site.deployed = build(2)
                self._expect(site, "deployed, open", self._show(engine, NAMED, CLICKED, UNSEEN),
                             {NAMED: "build 1 of 1", CLICKED: "build 1 and 1 of 1", UNSEEN: "does not load"})
                missing = 200 if site.habits.falls_back else 404
                self._take("deployed, open", site, {gone: missing}, {build(1).terms: missing})
                self._picture(engine, site, "deployed-open")
                self._reload(engine, 2)
                self._expect(site, "deployed, reloaded", self._show(engine, NAMED, CLICKED),
                             {NAMED: "build 2 of 2", CLICKED: "build 2 and 2 of 2"})
                self._take("deployed, reloaded", site, {**ASKED_AFTER_DEPLOY, **new})
                self._picture(engine, site, "deployed-reloaded")
                site.deployed = build(1)
                self._reload(engine, 1)
                self._expect(site, "rolled back", self._show(engine, NAMED, CLICKED, UNSEEN),
                             {NAMED: "build 1 of 1", CLICKED: "build 1 and 1 of 1", UNSEEN: "build 1 of 1"})
                # Over http, a page in place of a script is taken for that of a portal, so the script is still stored.
                self._take("rolled back", site, {**ASKED_AFTER_DEPLOY, gone: 200}, {build(1).terms: 304})
                site.deployed = build(2)
                self._reload(engine, 2)
                if site.habits.scheme == "https":
                    self._try_worker(engine, site)
                site.forget()

    def _try_worker(self, engine: Engine, site: Site) -> None:
        """The site's own service worker passes requests on. A new version of it arrives at the browser's first question."""
        def call(expression: str, name: str) -> object:
            engine.evaluate(f"(window.result = null, {expression}.then((value) => {{ window.result = String(value) }}, "
                            "(error) => { window.result = String(error) }), 1)")
            return wait_for(lambda: engine.evaluate("window.result"), name, 20)

        def wait_for_version(version: int) -> None:
            wait_for(lambda: call("fetch('/version').then((response) => response.text())", "the version") == str(version)
                     or None, f"version {version} of the service worker", 20)

        call("navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)", "the service worker")
        wait_for_version(1)
        site.forget()
        self._reload(engine, 2)
        self._take("service worker", site, ASKED, may_ask={"/worker.js": 304})
        site.worker = 2
        call("navigator.serviceWorker.getRegistration().then((registration) => registration.update())", "the update")
        wait_for_version(2)
        call("navigator.serviceWorker.getRegistration().then((registration) => registration.unregister())", "the end")
        site.worker = 1

    def _update_packages(self, port: int) -> None:
        """Offline packages of the app are updated, rolled back and removed while a page is open, which keeps its version."""
        every = (NAMED, CLICKED, UNSEEN)
        first = {NAMED: "build 1 of 1", CLICKED: "build 1 and 1 of 1", UNSEEN: "build 1 of 1"}
        second = {NAMED: "build 2 of 2", CLICKED: "build 2 and 2 of 2"}
        with self._browser(port) as engine:
            for site in self._sites:
                packages = Packages(self._binary, self._folder / "packages", site.url)
                site.deployed = build(2)
                site.forget()
                packages.add(build(1))
                self._open(engine, site, 1)
                self._take_from_scripts("package", site)
                packages.add(build(2))
                self._expect(site, "package updated, open", self._show(engine, *every), first)
                self._take("package updated, open", site, {})
                self._reload(engine, 2)
                self._expect(site, "package updated, reloaded", self._show(engine, NAMED, CLICKED), second)
                self._take_from_scripts("package updated, reloaded", site)
                packages.roll_back()
                self._expect(site, "package rolled back, open", self._show(engine, UNSEEN), {UNSEEN: "build 2 of 2"})
                self._take("package rolled back, open", site, {})
                self._reload(engine, 1)
                self._take_from_scripts("package rolled back, reloaded", site)
                packages.remove()
                self._expect(site, "package removed, open", self._show(engine, *every), first)
                self._take("package removed, open", site, {})
                self._reload(engine, 2)
                self._expect(site, "package removed, reloaded", self._show(engine, NAMED, CLICKED), second)
                # Now the server has the document, and everything that it names.
                wait_for(lambda: "/" in site.taken() and build(2).terms in site.taken(), "the requests of the page", 3)
                site.forget()

    def _take_from_scripts(self, step: str, site: Site) -> None:
        """That nothing but the two requests of the page's script has reached a server. Browsers may know the first response."""
        wanted = {"/api/stored", "/api/live"}
        try:
            wait_for(lambda: set(site.taken()) == wanted or None, step, 3)
        except EngineFailure:
            self.failures.append(f"{site.habits.host}: {step}: the server gets {sorted(site.taken())}")
        self.figures.setdefault(step, []).append(len(site.taken()))
        site.forget()

    # MARK: - Loads

    def _load_all(self, port: int, step: str, number: int, requests: Mapping[str, int],
                  without_lifetimes: Mapping[str, int] = NONE) -> None:
        """Loads the app of each site in a browser with an empty profile, and opens a route that is loaded by a click."""
        with self._browser(port) as engine:
            for site in self._sites:
                if step == "refused" and "no-cache" in site.habits.documents:
                    self._fail_to_open(engine, site)
                    continue
                if step == "offline" and site.habits.scheme == "http":
                    # The first page of a browser over http gets what the last new browser got.
                    self._open(engine, site, 1)
                    self._reload(engine, number)
                else:
                    self._open(engine, site, number)
                stored, live = ANSWERS[step]
                self._expect(site, step, self._show(engine, CLICKED), {
                    "photo": "there", "font": "there", "home": f"build {number} of {number}",
                    CLICKED: f"build {number} and {number} of {number}", "stored": stored, "live": live})
                self._take(step, site, requests, without_lifetimes)
                self._picture(engine, site, step)

    def _open(self, engine: Engine, site: Site, number: int) -> None:
        """Loads a page as if a person had typed its URL."""
        engine.navigate(site.url)
        self._wait_for_page(engine, f"location.href === {json.dumps(site.url)}", site.url, number)

    def _reload(self, engine: Engine, number: int) -> None:
        engine.evaluate("(window.left = 1, setTimeout(() => location.reload(), 0), 1)")
        self._wait_for_page(engine, "!window.left", "the reloaded page", number)

    def _wait_for_page(self, engine: Engine, condition: str, what: str, number: int) -> None:
        try:
            wait_for(lambda: holds(engine, f"{condition} && window.shop?.done && window.shop.build === {number}"), what, 20)
        except EngineFailure as failure:
            shown = engine.evaluate("document.body && document.body.innerText.slice(0, 500)")
            raise EngineFailure(f"{failure}; there is {shown!r}") from failure

    def _fail_to_open(self, engine: Engine, site: Site) -> None:
        """A page that must not be shown without a validation: the gateway says what is wrong."""
        engine.navigate(site.url)
        wait_for(lambda: holds(engine, f"location.href === {json.dumps(site.url)} && document.readyState === 'complete' "
                                       "&& !window.shop && document.body.innerText.includes('refused')"), site.url, 20)
        self._take("refused", site, {})
        self._picture(engine, site, "refused")

    def _show(self, engine: Engine, *routes: str) -> dict[str, str]:
        """Opens routes of the page that is shown; what is there then."""
        for route in routes:
            engine.evaluate(f"(window.shop.show('{route}'), 1)")
            wait_for(lambda: holds(engine, f"'{route}' in window.shop.parts"), route, 20)
        parts = json.loads(str(engine.evaluate("JSON.stringify(window.shop.parts)")))
        assert isinstance(parts, dict)
        return parts

    # MARK: - Results

    def _expect(self, site: Site, step: str, shown: dict[str, str], wanted: dict[str, str]) -> None:
        """That a page shows certain parts."""
        differences = {name: shown.get(name) for name in wanted if shown.get(name) != wanted[name]}
        if differences:
            self.failures.append(f"{site.habits.host}: {step}: the page shows {differences}, "
                                 f"not {({name: wanted[name] for name in differences})}")

    def _take(self, step: str, site: Site, wanted: Mapping[str, int], without_lifetimes: Mapping[str, int] = NONE,
              may_ask: Mapping[str, int] = NONE) -> None:
        """That certain requests have reached a server, and no others.

        `without_lifetimes` are further ones if the server gives chunks no lifetime. The gateway sends some of them when the
        page has its answer. `may_ask` are those that a browser sends at a time of its own.
        """
        if not site.habits.chunks:
            wanted = {**wanted, **without_lifetimes}

        def taken() -> dict[str, int]:
            return {path: status for path, status in site.taken().items() if may_ask.get(path) != status}

        try:
            wait_for(lambda: taken() == wanted or None, step, 3)
        except EngineFailure:
            found = taken()
            more = {path: status for path, status in found.items() if wanted.get(path) != status}
            less = {path: status for path, status in wanted.items() if found.get(path) != status}
            self.failures.append(f"{site.habits.host}: {step}: the server gets {more}, and does not get {less}")
        self.figures.setdefault(step, []).append(len(taken()))
        site.forget()

    def _picture(self, engine: Engine, site: Site, step: str) -> None:
        if self._pictures:
            name = site.habits.host.split(".")[1]
            (self._pictures / f"cache-{self._name}-{name}-{step}.png").write_bytes(engine.screenshot())

    # MARK: - Programs

    @contextmanager
    def _gateway(self, *more: str, place: str = "gateway", cache: tuple[str, ...] = ("--cache", "100M")) -> Iterator[int]:
        """A gateway that finds the sites by their names, and keeps what those before it in its folder have stored."""
        folder = self._folder / place
        folder.mkdir(exist_ok=True)
        hosts = [habits.host for habits in SITES]
        with gateway(self._binary, folder, None, self._folder / "certificate.pem", hosts, *cache, *more,
                     starting=lambda command: resolving_command(folder, hosts, command)) as port:
            yield port

    @contextmanager
    def _browser(self, port: int) -> Iterator[Engine]:
        """A browser with an empty profile."""
        processes = Processes(self._folder / f"browser-{next(self._numbers)}")
        processes.folder.mkdir()
        try:
            engine = ENGINES[self._name](processes, port)
            self.version = engine.version
            yield engine
        finally:
            processes.stop_all()


def run_cache(binary: Path, engines: list[str], folder: Path, pictures: Path | None) -> bool:
    """Whether every browser gets the app from the gateway's cache, complete and in one build."""
    passed = True

    def run(name: str) -> None:
        nonlocal passed
        story = CacheStory(binary, name, folder / name, pictures)
        try:
            story.run()
        except Exception as failure:
            story.failures.append(str(failure) or type(failure).__name__)
        figures = "; ".join(f"{step} {'+'.join(map(str, counts))}" for step, counts in story.figures.items())
        print(f"cache: {story.version}: requests that reach the three servers: {figures}; {story.seconds:.1f} s "
              f"in silence: {'FAILURES' if story.failures else 'ok'}")
        for failure in story.failures:
            print(f"    {story.version}: {failure}", file=sys.stderr)
        if story.failures:
            passed = False
            print((folder / name / "gateway" / "gateway.log").read_text()[-20000:], file=sys.stderr)

    run_together([partial(run, name) for name in engines])
    return passed
