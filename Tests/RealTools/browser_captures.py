"""What browsers write: their stores, also while they run, and their drivers' lists."""

import hashlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from capture import Capture, ToolFailure, Workbench
from capture_site import FIRST, LATER, SECOND
from engines import Chromium, Firefox, WebKit
from engines.waiting import wait_for
from login_site import COOKIES, HOST

_NAMES = {line.partition(b"=")[0].decode(): line for line in COOKIES}
#: The cookies that end with the session.
SESSION = frozenset(name for name, line in _NAMES.items() if b"Max-Age" not in line and b"Expires" not in line)
PERSISTENT = frozenset(_NAMES) - SESSION | {"redirected"}
_ALL = (FIRST, SECOND, LATER)


class Store:
    """The files that a browser keeps its cookies in."""

    def __init__(self, folder: Path, pattern: str):
        self._folder = folder
        self._pattern = pattern

    def wait_for(self, name: bytes) -> None:
        """Waits until the files have a cookie of this name, and rest."""
        def has_come() -> bool | None:
            return any(name in content for _, _, content in self._files()) or None

        wait_for(has_come, f"the cookie {name.decode()} in the store", timeout=90)
        last, since = self.state(), time.monotonic()
        while time.monotonic() - since < 1.5:
            time.sleep(0.1)
            if (state := self.state()) != last:
                last, since = state, time.monotonic()

    def state(self) -> dict[str, tuple[int, int, int, str]]:
        """What is seen of a file that somebody has written: its number, size, time and content."""
        return {name: (status.st_ino, status.st_size, status.st_mtime_ns, hashlib.sha256(content).hexdigest())
                for name, status, content in self._files()}

    def undisturbed(self, capture: Capture) -> Iterator[Capture]:
        """Gives the capture out, and looks whether taking it has left a trace."""
        before = self.state()
        yield capture
        if (after := self.state()) != before:
            raise ToolFailure(f"{capture.name}: the import has changed {before} to {after}")

    def _files(self) -> Iterator[tuple[str, os.stat_result, bytes]]:
        """Each file's name, state and content. A journal may go while it is looked at."""
        for file in sorted(self._folder.glob(self._pattern)):
            try:
                yield file.name, file.stat(), file.read_bytes()
            except FileNotFoundError:
                pass


def _while_it_runs(name: str, store: Store, capture: Callable[..., Capture], navigate: Callable[[str], None],
                   later: Callable[[], None] = lambda: None) -> Iterator[Capture]:
    """Imports under the browser's eyes, and again after it has written once more."""
    store.wait_for(b"theme")
    yield from store.undisturbed(capture(f"{name}, while it runs"))
    navigate(f"https://{HOST}{LATER}")
    later()
    store.wait_for(b"later")
    yield from store.undisturbed(capture(f"{name}, when it has gone on", paths=_ALL))


def _write(bench: Workbench, name: str, document: object) -> str:
    bench.folder.joinpath(name).write_text(json.dumps(document))
    return name


def chromium(bench: Workbench) -> Iterator[Capture]:
    """Chromium's lists, its network's log, and its database, which it writes every half minute."""
    log = bench.path("net.json")
    with Chromium(bench.processes, bench.proxy_port, more_arguments=(
            f"--log-net-log={log}", "--net-log-capture-mode=IncludeSensitive")) as browser:
        browser.navigate(bench.url)
        wait_for(lambda: browser.evaluate("location.pathname") == SECOND or None, "the page")
        cookies = _write(bench, "devtools.json", browser.execute_protocol("Storage.getCookies", {}))
        yield Capture("Chromium: DevTools' Storage.getCookies", (cookies,))
        cookies = _write(bench, "network.json", browser.execute_protocol("Network.getCookies", {"urls": [
            f"https://{HOST}/home", f"https://{HOST}/elsewhere"]}))
        yield Capture("Chromium: DevTools' Network.getCookies", (cookies,))
        cookies = _write(bench, "webdriver.json", browser.cookies())
        yield Capture("Chromium: WebDriver", (cookies,), frozenset({"deep", "elsewhere"}), ("sameSite", "partitionKey"))
        (bench.folder / "document.txt").write_text(str(browser.evaluate("document.cookie")))
        # Host-only, since nothing says more.
        hidden = {"shared", "session", "__Host-csrf", "shared-session", "deep", "elsewhere"}
        yield Capture("Chromium: document.cookie",
                      ("--format", "document-cookie", "--url", f"https://{HOST}/", "document.txt"), frozenset(hidden),
                      ("sameSite", "partitionKey", "expires", "secure"), alien=frozenset({"shared"}))

        def capture(name: str, paths: tuple[str, ...] = (FIRST, SECOND)) -> Capture:
            return Capture(name, ("--browser", "chromium", "--browser-profile", str(browser.profile)), paths=paths)

        store = Store(browser.profile / "Default", "Cookies*")
        yield from _while_it_runs("Chromium's database", store, capture, browser.navigate_and_wait)
    yield Capture("Chromium: --log-net-log", (log,), paths=_ALL)


def firefox(bench: Workbench) -> Iterator[Capture]:
    """Firefox's list, its database with the log before it, and its session's file."""
    # So that what is open is written down every second, and not four times a minute.
    every_second = {"browser.sessionstore.interval": 1000}
    with Firefox(bench.processes, bench.proxy_port, more_preferences=every_second) as browser:
        browser.navigate(bench.url)
        wait_for(lambda: browser.evaluate("location.pathname") == SECOND or None, "the page")
        yield Capture("Firefox: BiDi's storage.getCookies", (_write(bench, "bidi.json", browser.cookies()),),
                      unsaid=("sameSite", "partitionKey"))

        def capture(name: str, paths: tuple[str, ...] = (FIRST, SECOND)) -> Capture:
            arguments = ("--browser", "firefox", "--browser-profile", str(browser.profile))
            return Capture(name, arguments, SESSION, paths=paths)

        def navigate(url: str) -> None:
            browser.navigate(url)
            wait_for(lambda: browser.evaluate("location.pathname") == LATER or None, "the page")

        yield from _while_it_runs("Firefox's database", Store(browser.profile, "cookies.sqlite*"), capture, navigate)
        session = browser.profile / "sessionstore-backups" / "recovery.jsonlz4"
        wait_for(lambda: session.exists() or None, "the session's file")
        yield Capture("Firefox's session", (str(session),), PERSISTENT)


def webkitgtk(bench: Workbench) -> Iterator[Capture]:
    """Both of WebKitGTK's stores. It has no partitions and one word for SameSite=None and for nothing."""
    for name, is_text in (("cookies.sqlite", False), ("cookies.txt", True)):
        folder = bench.folder / name.partition(".")[2]
        with WebKit(bench.processes, bench.proxy_port, data_folder=folder, has_text_storage=is_text) as browser:
            def capture(title: str, paths: tuple[str, ...] = (FIRST, SECOND)) -> Capture:
                arguments = ("--browser", "webkitgtk", "--browser-profile", str(folder))
                return Capture(title, arguments, SESSION, paths=paths,
                               otherwise={"partitioned": {"partitionKey": None, "sameSite": None}})

            browser.navigate(bench.url)
            yield from _while_it_runs(f"WebKitGTK's {name}", Store(folder, f"{name}*"), capture, browser.navigate)


def keyring(bench: Workbench) -> Iterator[Capture]:
    """Chromium with the desktop's keyring: values are v11, and the user looks the password up."""
    script = Path(__file__).with_name("keyring_session.sh")
    runtime = bench.folder / "runtime"
    runtime.mkdir(mode=0o700)
    bench.run("dbus-run-session", "--", "sh", str(script), bench.proxy, bench.path("profile"), bench.url, "password",
              XDG_RUNTIME_DIR=str(runtime), XDG_DATA_HOME=bench.path("data"), out="talk", err="errors")
    arguments = ("--browser", "chromium", "--browser-profile", "profile")
    yield Capture("Chromium under a keyring, without the password", arguments, refusal="--keyring-password-file")
    yield Capture("Chromium under a keyring", (*arguments, "--browser-password-file", "password"), SESSION)
