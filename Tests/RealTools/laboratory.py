"""Has tools make captures, imports each, and holds the cookies that come back against those that the site set."""

import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import MappingProxyType

from browser_captures import chromium, firefox, keyring, webkitgtk
from capture import Capture, ToolFailure, Workbench
from capture_site import ANSWERS, answer
from command_line_captures import curl, httpie, mitmproxy, wget
from comparison import Identity, differences
from crumb import Crumb, CrumbFailure
from engines import EngineFailure
from login_site import UNCAPPED
from packet_captures import tshark
from playwright_captures import playwright
from server.certificate import make_tls_context
from server.proxy import ProxyServer

#: The makers of captures, by the name that the command line knows them by; those that wait longest come first.
TOOLS: dict[str, Callable[[Workbench], Iterator[Capture]]] = {
    tool.__name__: tool for tool in (
        chromium, firefox, webkitgtk, playwright, keyring, mitmproxy, tshark, curl, wget, httpie)}
#: Most of the time they wait.
_SIDE_BY_SIDE = 3
_FEWEST = 20


class Laboratory:
    """A site, and a jar for each capture of it."""

    def __init__(self, binary: Path, folder: Path, python: Path):
        self._binary = binary
        self._folder = folder
        self._python = python
        self._numbers = iter(range(1 << 20))
        self._lock = threading.Lock()
        self._tls = make_tls_context(folder)
        (folder / "site").mkdir()
        #: How many cookies the site sets.
        self.cookie_count = len(self._expected(Capture("the site", ()), folder / "site"))
        if self.cookie_count < _FEWEST:
            raise CrumbFailure(f"the site sets {self.cookie_count} cookies, fewer than {_FEWEST}")

    def run(self, names: list[str]) -> bool:
        """Runs the tools named and prints a line for each capture; whether all is as it was set."""
        with ProxyServer(answer, self._tls) as proxy, ThreadPoolExecutor(_SIDE_BY_SIDE) as pool:
            return all(list(pool.map(lambda name: self._run_tool(name, proxy.port), names)))

    def _run_tool(self, name: str, port: int) -> bool:
        folder = self._folder / name
        folder.mkdir()
        bench = Workbench(folder, port, self._python)
        passed = True
        try:
            for capture in TOOLS[name](bench):
                found = list(self._faults(capture, folder))
                expectation = "refused" if capture.refusal else "as it was set"
                self._say(f"{capture.name}: {'NOT ' if found else ''}{expectation}", found)
                passed &= not found
        except (CrumbFailure, EngineFailure, ToolFailure, OSError, subprocess.TimeoutExpired) as failure:
            self._say(f"{name}: FAILED", [str(failure)])
            passed = False
        finally:
            bench.processes.stop_all()
        return passed

    def _faults(self, capture: Capture, folder: Path) -> Iterator[str]:
        crumb = self._new_crumb(folder, capture.variables)
        if capture.refusal:
            try:
                crumb.run("import", *capture.arguments)
                yield "it is not refused"
            except CrumbFailure as failure:
                if capture.refusal not in str(failure):
                    yield str(failure)
            return
        report = crumb.documents("import", "--json", *capture.arguments)[0]
        if report["refused"] or report["failures"] or report["unreadable"]:
            yield f"the report says {report}"
        expected = self._expected(capture, folder)
        for identity, cookie in expected.items():
            cookie.update(capture.otherwise.get(identity[0], {}))
        found = {identity: cookie for identity, cookie in _listed(crumb).items()
                 if identity in expected or identity[0] not in capture.alien}
        yield from differences(expected, found, capture.unwritten, capture.unsaid, UNCAPPED)

    def _expected(self, capture: Capture, folder: Path) -> dict[Identity, dict]:
        """The cookies of a jar that has the site's answers themselves."""
        crumb = self._new_crumb(folder)
        for path in capture.paths:
            crumb.import_response(f"{capture.origin}{path}", ANSWERS[path].encoded())
        return _listed(crumb)

    def _new_crumb(self, folder: Path, variables: Mapping[str, str] = MappingProxyType({})) -> Crumb:
        with self._lock:
            private = self._folder / f"crumb-{next(self._numbers)}"
        private.mkdir()
        return Crumb(self._binary, private, working_folder=folder, variables=variables)

    def _say(self, line: str, faults: list[str]) -> None:
        with self._lock:
            print("\n    ".join([line, *faults[:12]]), flush=True)


def _listed(crumb: Crumb) -> dict[Identity, dict]:
    listed = crumb.documents("list", "--json", "--values")
    return {(cookie["name"], cookie["domain"], cookie["path"]): cookie for cookie in listed}

