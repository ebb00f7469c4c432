"""The story of a page that gets back in with a token, each step judged by what the page and the server say."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

from crumb import Crumb, CrumbFailure
from engines import Chromium, Engine, EngineFailure, Processes, WebKit
from engines.waiting import wait_for
from login.site import ORIGIN, PAGE_URL, SIGNED_IN, SIGNED_OUT, STATE_URL, TokenServer, TokenSite
from server.certificate import make_tls_context
from server.proxy import ProxyServer

ENGINES = {engine.name: engine for engine in (Chromium, WebKit)}
TEMPLATE = "session={access_token}; Path=/; Secure; SameSite=Lax"
# Text that ends a script element, a line, or no UTF-8 at all.
STORAGE = {"token": "</script>\u2028\\\"'`${1}\0", "": "\ud800 \U0001f36a", "\u4e2d": ""}
STATE = {"cookies": [], "origins": [
    {"origin": origin, "localStorage": [{"name": key, "value": value} for key, value in items.items()]}
    for origin, items in ((ORIGIN, STORAGE), (f"{ORIGIN}:8443", {"other": "origin"}))]}


class LoginStory:
    """A page says "not signed in"; the fallback gets a token; it goes back by script, and by a field."""

    def __init__(self, binary: Path, name: str, folder: Path):
        self._name, self._folder = name, folder
        self._crumb = Crumb(binary, folder)
        self._tls = make_tls_context(folder)
        self._running: list[Processes] = []
        self._tokens = TokenServer()
        self._site = TokenSite(self._tokens)
        self.version = ""
        self.failures: list[str] = []

    def run(self) -> None:
        """Runs it; what is not as it should be is in `failures`."""
        try:
            with ProxyServer(self._site.answer, self._tls) as proxy:
                self._port = proxy.port
                self._keep_login()
                self._begin("by script", self._get_back_by_script)
                self._begin("by a field", self._get_back_by_field)
        except (CrumbFailure, EngineFailure) as failure:
            self.failures.append(str(failure))
        finally:
            for processes in self._running:
                processes.stop_all()
            self._tokens.close()

    def _keep_login(self) -> None:
        """A login that another program has made, whose access token has ended, and what to do at the site."""
        self._crumb.run("token", "import", "login", "--issuer", self._tokens.url, "--client-id", "app", "--endpoint",
                        f"token_endpoint={self._tokens.url}/token",
                        octets=json.dumps(self._tokens.expired_tokens()).encode())
        self._crumb.run("token", "fallback", "set", "site", f"{ORIGIN}/", "--profile", "login", "--cookie", TEMPLATE)
        self._crumb.run("import", "-", octets=json.dumps(STATE).encode())

    def _begin(self, how: str, get_back: Callable[[str, Engine], None]) -> None:
        """A new browser with an empty profile, whose page is signed out until something is done."""
        processes = Processes(self._folder / how.replace(" ", "-"))
        processes.folder.mkdir()
        self._running.append(processes)
        with ENGINES[self._name](processes, self._port) as engine:
            self.version = engine.version
            engine.navigate(f"{PAGE_URL}?first")
            self._expect_page(f"{how}: before", engine, "first", f"401 {SIGNED_OUT}")
            get_back(how, engine)

    def _get_back_by_script(self, how: str, engine: Engine) -> None:
        # The request that the page's script made, made once more with the session and its fallback.
        answer = self._crumb.run("curl", "--", "--silent", "--show-error", "--insecure", "--proxy",
                                 f"http://127.0.0.1:{self._port}", STATE_URL)
        self._expect(f"{how}: the fallback's answer", answer.decode(), SIGNED_IN)
        self._expect(f"{how}: refreshes", self._tokens.refreshes, 1)
        self._expect(f"{how}: the statuses", [status for _, status in self._site.questions], [401, 401, 200])
        document = self._crumb.documents("script", "--json", "--quiet", PAGE_URL)[0]
        self._expect(f"{how}: cookies that the script leaves out", document["omitted"], [])
        engine.add_document_script(document["script"])
        engine.navigate(f"{PAGE_URL}?again")
        self._expect_page(how, engine, "again", f"200 {SIGNED_IN}")
        self._expect(f"{how}: localStorage", json.loads(str(engine.evaluate("JSON.stringify(localStorage)"))), STORAGE)
        self._expect(f"{how}: the page's cookie", self._site.questions[-1][0],
                     f"session={self._tokens.access_token}".encode())

    def _get_back_by_field(self, how: str, engine: Chromium | WebKit) -> None:
        field = self._crumb.documents("token", "header", "--json", "login")[0]
        engine.navigate_with(f"{PAGE_URL}?again", {field["name"]: field["value"]})
        self._expect_page(how, engine, "again", f"200 {SIGNED_IN}")
        # The site has given a session of its own, which no script sees and which does without the field.
        engine.navigate(f"{PAGE_URL}?once-more")
        self._expect_page(f"{how}: without the field", engine, "once-more", f"200 {SIGNED_IN}")
        self._expect(f"{how}: what scripts see", engine.evaluate("document.cookie"), "")
        self._expect(f"{how}: refreshes", self._tokens.refreshes, 1)

    def _expect_page(self, how: str, engine: Engine, query: str, title: str) -> None:
        """Waits for the page's script to be done: it puts what it was told into the title."""
        def shown() -> str | None:
            found = str(engine.evaluate("location.search + ' ' + document.title"))
            return found if found.startswith(f"?{query} ") and not found.endswith(" loading") else None

        self._expect(how, wait_for(shown, "the page").split(" ", 1)[1], title)

    def _expect(self, how: str, found: object, wanted: object) -> None:
        if found != wanted:
            self.failures.append(f"{how}: {found!r}, not {wanted!r}")


def tell_login_stories(binary: Path, engines: list[str], folder: Path) -> bool:
    """Runs it in each engine that can be told header fields, a line each; whether everything was as it should be."""
    passed = True
    for name in [name for name in engines if name in ENGINES]:
        place = folder / name
        place.mkdir()
        story = LoginStory(binary, name, place)
        story.run()
        verdict = (f"{len(story.failures)} FAILURES" if story.failures else
                   "signed out, and signed in again by script and by a field after one refresh: ok")
        print(f"login: {story.version or name}: {verdict}")
        for failure in story.failures:
            print(f"    {failure}", file=sys.stderr)
        passed &= not story.failures
    return passed
