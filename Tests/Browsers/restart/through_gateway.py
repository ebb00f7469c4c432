"""The same story through the gateway, in every browser: nothing is left but the jar."""

import sys
from pathlib import Path

from engines import ENGINES, Engine, EngineFailure, Processes, WebKit
from engines.waiting import wait_for
from gateway.process import gateway
from restart.login_server import HOME_URL, HOST, LOGIN_URL, SESSION, SIGNED_IN, LoginServer
from server.certificate import make_tls_context
from server.proxy import ProxyServer

SITE = HOST.partition(".")[2]
NAME, _, VALUE = SESSION.partition(b";")[0].partition(b"=")


class GatewayRestartStory:
    """Logs in, kills browser and gateway, and begins again: with the browser's own store, and with none."""

    def __init__(self, binary: Path, name: str, folder: Path):
        self._binary, self._name, self._folder = binary, name, folder
        self._tls = make_tls_context(folder, [HOST])
        self._server = LoginServer()
        self.version = name
        self.failures: list[str] = []

    def run(self) -> None:
        """Runs it; what is not as it should be is in `failures`."""
        try:
            with ProxyServer(self._server.answer, self._tls) as proxy:
                self._visit("the login", proxy.port, "first", LOGIN_URL)
                self._visit("after the end of the view", proxy.port, "first", HOME_URL)
                self._visit("with an empty profile", proxy.port, "second", HOME_URL)
        except EngineFailure as failure:
            self.failures.append(str(failure))

    def _visit(self, how: str, server: int, profile: str, url: str) -> None:
        """One run of a gateway and a browser with a profile, up to the first page; then the browser is killed."""
        processes = Processes(self._folder / profile)
        processes.folder.mkdir(exist_ok=True)
        certificate = self._folder / "certificate.pem"
        with gateway(self._binary, self._folder, server, certificate, [SITE], is_killed=True) as port:
            try:
                engine = self._start(processes, port)
                self.version = engine.version
                engine.navigate(url)
                state, _ = self._server.next_visit()
                if state != SIGNED_IN:
                    self.failures.append(f"{how}: the server says {state.decode()!r} on the first load")
                self._expect_hidden(how, engine)
            finally:
                processes.kill_all()
        # Whatever the browser writes: a database, a session to be restored, a cache.
        for file in processes.folder.rglob("*"):
            if file.is_file() and VALUE in file.read_bytes():
                self.failures.append(f"{how}: {file.relative_to(processes.folder)} holds the session")

    def _start(self, processes: Processes, port: int) -> Engine:
        if self._name == "webkit":
            return WebKit(processes, port, data_folder=processes.folder / "store")
        return ENGINES[self._name](processes, port)

    def _expect_hidden(self, how: str, engine: Engine) -> None:
        """That neither scripts nor the browser itself have the session, and both have the other cookie."""
        def visible() -> str | None:
            cookies = str(engine.evaluate("document.cookie"))
            return cookies if "theme=dark" in cookies else None

        if NAME.decode() in wait_for(visible, f"{how}: the page's own cookies"):
            self.failures.append(f"{how}: a script can see the session")
        stored = engine.stored()
        if "theme" not in stored or NAME.decode() in stored or VALUE.decode() in stored.values():
            self.failures.append(f"{how}: the browser's store has {sorted(stored)}")


def tell_gateway_restart_story(binary: Path, name: str, folder: Path) -> bool:
    """Runs it and prints a line; whether everything was as it should be."""
    story = GatewayRestartStory(binary, name, folder)
    story.run()
    verdict = f"{len(story.failures)} FAILURES" if story.failures else "signed in on the first load with the jar alone: ok"
    print(f"restart: {story.version} through the gateway: {verdict}")
    for failure in story.failures:
        print(f"    {failure}", file=sys.stderr)
    return not story.failures
