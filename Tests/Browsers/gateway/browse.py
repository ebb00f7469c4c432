"""Lets `crumb browse` sign in, begin again with nothing but the jar, and end in every way that it can end."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from engines.display import start_display
from engines.processes import Processes, processes_naming
from engines.waiting import run_together, wait_for
from restart.login_server import HOME_URL, HOST, LOGIN_URL, SIGNED_IN, LoginServer
from server.certificate import make_tls_context
from server.messages import Request, Response
from server.proxy import ProxyServer

#: What makes each browser do without a screen, and end with the page.
HEADLESS = {"chromium": ["--headless=new", "--disable-gpu"], "firefox": ["--headless"], "webkit": []}
ONCE = {"chromium": ["--dump-dom"], "firefox": ["--screenshot", "page.png"], "webkit": ["--exit-after-load"]}
#: How a browser ends, and the exit status of the command. A closed window is the browser's own affair.
ENDS: dict[str, signal.Signals | None] = {
    "SIGINT": signal.SIGINT, "SIGTERM": signal.SIGTERM, "SIGHUP": signal.SIGHUP, "a crash": None}
NOTICE = Response(body=b"<!doctype html><title>open</title>")


def is_crumb(process: str) -> bool:
    """Whether a process is one of crumb itself, which cleans up after a command that was killed."""
    try:
        return Path(f"/proc/{process}/exe").readlink().name.startswith("crumb")
    except OSError:
        return True


class Browse:
    """Runs of `crumb browse` with one browser, one jar and one server."""

    def __init__(self, binary: Path, engine: str, folder: Path, display: str):
        self._binary, self._engine, self._folder = binary, engine, folder
        # Where the command puts the profile.
        self._scratch = folder / "scratch"
        self._scratch.mkdir(parents=True)
        self._environment = {
            **os.environ, "CRUMB_DATABASE": str(folder / "crumb.sqlite"), "XDG_RUNTIME_DIR": str(self._scratch),
            "CRUMB_KEY_FILE": str(folder / "crumb.key"), "HOME": str(folder), "NO_PROXY": "", "DISPLAY": display,
            "GDK_BACKEND": "x11", "NO_AT_BRIDGE": "1", "GSETTINGS_BACKEND": "memory", "GIO_USE_VFS": "local",
            "MOZ_CRASHREPORTER_DISABLE": "1"}
        self._server = LoginServer()
        self._opened = threading.Event()
        self.failures: list[str] = []

    def run(self) -> None:
        """All runs; what is not as it should be is in `failures`."""
        with ProxyServer(self._answer, make_tls_context(self._folder, [HOST])) as proxy:
            self._port = proxy.port
            for step, url in (("sign in", LOGIN_URL), ("begin again", HOME_URL), ("begin once more", HOME_URL)):
                self._sign_in(step, url)
            for how, number in ENDS.items():
                self._end(how, number)

    def _answer(self, request: Request) -> Response | None:
        if request.parts.path == "/open":
            self._opened.set()
            return NOTICE
        return self._server.answer(request)

    def _start(self, url: str, more: list[str]) -> subprocess.Popen[bytes]:
        root = ["--no-sandbox"] if self._engine == "chromium" and os.geteuid() == 0 else []
        return subprocess.Popen(
            [str(self._binary), "browse", "--engine", self._engine, "--log", "--proxy", f"http://127.0.0.1:{self._port}",
             "--ca-file", str(self._folder / "certificate.pem"), url, "--", *HEADLESS[self._engine], *root, *more],
            env=self._environment, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            start_new_session=True)

    def _finish(self, how: str, process: subprocess.Popen[bytes]) -> int | None:
        """Waits for the command; its status, with nothing left behind."""
        try:
            _, words = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            self.failures.append(f"{how}: the command does not end")
            return None
        left = [path.name for path in self._scratch.iterdir()]
        running = processes_naming(self._scratch)
        if left or running:
            self.failures.append(f"{how}: left behind: {left}, {len(running)} processes: "
                                 f"{words.decode(errors='replace')[-1000:]}")
        return process.returncode

    def _sign_in(self, step: str, url: str) -> None:
        status = self._finish(step, self._start(url, ONCE[self._engine]))
        state, _ = self._server.next_visit(5)
        if state != SIGNED_IN or status != 0:
            self.failures.append(f"{step}: {state.decode()}, status {status}")

    def _end(self, how: str, number: signal.Signals | None) -> None:
        """Ends a browser that shows a page, and the command with it."""
        self._opened.clear()
        process = self._start(f"https://{HOST}/open", [])
        if not self._opened.wait(60):
            process.kill()
            self.failures.append(f"{how}: the browser does not load the page")
            return
        if number is not None:
            process.send_signal(number)
        else:
            children = Path(f"/proc/{process.pid}/task")
            browser = wait_for(lambda: next((int(child) for task in children.iterdir()
                                             for child in (task / "children").read_text().split()
                                             if not is_crumb(child)), None), how)
            os.kill(browser, signal.SIGKILL)
        status = self._finish(how, process)
        if number is None and status not in (137, 1):
            self.failures.append(f"{how}: status {status}")


def run_browse(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether `crumb browse` keeps a session with every browser, and leaves nothing behind."""
    processes = Processes(folder / "display")
    processes.folder.mkdir()
    runs = {engine: Browse(binary, engine, folder / f"browse-{engine}", start_display(processes)) for engine in engines}
    try:
        run_together([run.run for run in runs.values()])
    finally:
        processes.stop_all()
    for engine, run in runs.items():
        verdict = "FAILURES" if run.failures else "signed in, and again; every end leaves nothing behind: ok"
        print(f"gateway: crumb browse with {engine}: {verdict}")
        for failure in run.failures:
            print(f"    {failure}", file=sys.stderr)
    return not any(run.failures for run in runs.values())
