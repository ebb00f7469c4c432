"""What browsers write: their stores, also while they run, and their drivers' lists."""

import hashlib
import json
import os
import shutil
import sqlite3
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


def _unpacked(session: bytes) -> bytes:
    """What Firefox has packed: a block of LZ4 behind twelve bytes."""
    packed, text = iter(session[12:]), bytearray()

    def length(nibble: int) -> int:
        total, more = nibble, nibble == 15
        while more:
            total += (octet := next(packed))
            more = octet == 255
        return total

    for token in packed:
        text += bytes(next(packed) for _ in range(length(token >> 4)))
        if (low := next(packed, None)) is None:
            break
        distance = low | next(packed) << 8
        for _ in range(length(token & 15) + 4):
            text.append(text[-distance])
    return bytes(text)


def _check_encryption(database: Path, version: bytes) -> None:
    """Looks that Chromium has encrypted every value as it is thought to have."""
    copy = database.with_name("copy.sqlite")
    shutil.copyfile(database, copy)
    with sqlite3.connect(copy) as connection:
        versions = {row[0] for row in connection.execute("SELECT substr(encrypted_value, 1, 3) FROM cookies")}
    connection.close()
    copy.unlink()
    if versions != {version}:
        raise ToolFailure(f"Chromium's values are {versions}, and not {version!r}")


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
        _check_encryption(browser.profile / "Default" / "Cookies", b"v10")
        (bench.folder / ".config").mkdir()
        (bench.folder / ".config" / "chromium").symlink_to(browser.profile)
        yield Capture("Chromium's own place, while it runs", ("--browser", "chromium"), paths=_ALL,
                      variables={"HOME": str(bench.folder), "XDG_CONFIG_HOME": bench.path(".config")})
    yield Capture("Chromium: --log-net-log", (log,), paths=_ALL)


def firefox(bench: Workbench) -> Iterator[Capture]:
    """Firefox's list, its database with the log before it, and its session's file."""
    # So that what is open is written down every second, and not four times a minute.
    every_second = {"browser.sessionstore.interval": 1000}
    # Firefox makes the folder and the list of its profiles.
    bench.run("firefox-esr", "--headless", "-CreateProfile", f"work {bench.folder / 'firefox-profile'}")
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
        wait_for(lambda: session.exists() and b"shared-session" in _unpacked(session.read_bytes()) or None,
                 "a cookie of the session in Firefox's file")
        yield Capture("Firefox's session", (str(session),), PERSISTENT)
        home = {"HOME": str(bench.folder), "XDG_CONFIG_HOME": bench.path("config")}
        for title, arguments in (("own place", ()), ("profile by its name", ("--profile", "work"))):
            yield Capture(f"Firefox's {title}, with the session, while it runs", ("--browser", "firefox", *arguments),
                          paths=_ALL, variables=home)


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
    """Chromium with the desktop's keyring: values are v11, and crumb or the user looks the password up."""
    script = Path(__file__).with_name("keyring_session.sh")
    runtime = bench.folder / "runtime"
    runtime.mkdir(mode=0o700)
    desktop = {"XDG_RUNTIME_DIR": str(runtime), "XDG_DATA_HOME": bench.path("data")}
    bus = bench.folder / "bus"
    session = bench.processes.start(
        ["dbus-run-session", "--", "sh", str(script), bench.proxy, bench.path("profile"), bench.url,
         bench.path("password"), str(bus)], "keyring", desktop)

    def address() -> str | None:
        if session.poll() is not None:
            raise ToolFailure(f"the desktop's session has ended: {bench.processes.log('keyring').read_text()[-600:]}")
        return bus.exists() and bus.read_text().strip() or None

    desktop["DBUS_SESSION_BUS_ADDRESS"] = wait_for(address, "the desktop's session")
    _check_encryption(bench.folder / "profile" / "Default" / "Cookies", b"v11")
    arguments = ("--browser", "chromium", "--browser-profile", "profile")
    nowhere = {"DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent"}
    yield Capture("Chromium under a keyring, without the password", arguments, refusal="--keyring-password-file",
                  variables=nowhere)
    yield Capture("Chromium under a keyring, with its password in a file",
                  (*arguments, "--keyring-password-file", "password"), SESSION, variables=nowhere)
    yield Capture("Chromium under a keyring that crumb asks", arguments, SESSION, variables=desktop)
    bench.processes.stop(session)
