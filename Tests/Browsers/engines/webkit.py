"""WebKitGTK, in a view of our own."""

import base64
import json
import signal
import subprocess
import threading
from pathlib import Path

from engines.display import start_display
from engines.engine import Engine, EngineFailure
from engines.processes import Processes

PROGRAM = Path(__file__).with_name("webkit_view.py")
# The bindings are Debian's, and so must the interpreter be.
PYTHON = "/usr/bin/python3"


class WebKit(Engine):
    """A WebKitGTK view: `data_folder` for a native store that outlives it, else nothing is kept.

    The store is a database, or with `has_text_storage` a cookie file. `scheme` registers a handler of schemes.
    """

    name = "webkit"

    def __init__(self, processes: Processes, proxy_port: int | None, third_party_cookies: bool = True,
                 data_folder: Path | None = None, has_text_storage: bool = False,
                 scheme: dict[str, object] | None = None):
        self._processes = processes
        settings: dict[str, object] = {"proxyPort": proxy_port, "thirdPartyCookies": third_party_cookies,
                                       "textStorage": has_text_storage}
        if scheme:
            settings["scheme"] = scheme
        if data_folder:
            settings["dataFolder"] = str(data_folder)
        environment = {"DISPLAY": start_display(processes), "GDK_BACKEND": "x11", "GTK_A11Y": "none",
                       "NO_AT_BRIDGE": "1", "WEBKIT_DISABLE_COMPOSITING_MODE": "1", "GIO_USE_VFS": "local",
                       "GSETTINGS_BACKEND": "memory"}
        self._process = processes.start(
            [PYTHON, str(PROGRAM), json.dumps(settings)], self.name, environment,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._last = 0
        self._lock = threading.Lock()
        self.version = f"WebKitGTK {self._call('version')}"

    def navigate(self, url: str, cookie: str | None = None) -> None:
        """Loads a page; `cookie` is its request's Cookie field, where that is not left to the native store."""
        self.navigate_with(url, {} if cookie is None else {"Cookie": cookie})

    def navigate_with(self, url: str, fields: dict[str, str]) -> None:
        """Loads a page whose request has further header fields."""
        self._call("navigate", url=url, fields=fields)

    def evaluate(self, expression: str) -> object:
        return self._call("evaluate", expression=expression)

    def add_document_script(self, script: str) -> None:
        self._call("addDocumentScript", script=script)

    def add_cookie(self, cookie: dict[str, object]) -> None:
        """Puts a cookie into the native store, as an app does before the first load."""
        if not self._call("addCookie", cookie=cookie):
            raise EngineFailure(f"WebKitGTK does not take the cookie {cookie['name']}")

    def cookies(self) -> list[dict]:
        """All that the native store holds, `HttpOnly` ones too."""
        cookies = self._call("cookies")
        assert isinstance(cookies, list)
        return cookies

    def stored(self) -> dict[str, str]:
        return {cookie["name"]: cookie["value"] for cookie in self.cookies()}

    def screenshot(self) -> bytes:
        return base64.b64decode(str(self._call("screenshot")))

    def scheme_requests(self) -> list[dict]:
        """What the handler of the view's own schemes was asked for."""
        requests = self._call("schemeRequests")
        assert isinstance(requests, list)
        return requests

    def kill(self) -> None:
        """Ends the view's process without a warning."""
        self._process.send_signal(signal.SIGKILL)
        self._process.wait()

    def close(self) -> None:
        self._processes.stop(self._process)

    def _call(self, command: str, **parameters: object) -> object:
        with self._lock:
            self._last += 1
            line = json.dumps({"id": self._last, "do": command, **parameters})
            assert self._process.stdin and self._process.stdout
            try:
                self._process.stdin.write(line.encode() + b"\n")
                self._process.stdin.flush()
                reply = self._process.stdout.readline()
            except OSError as error:
                raise EngineFailure(f"WebKitGTK does not answer: {error}") from error
            if not reply:
                raise EngineFailure("WebKitGTK has ended")
            answer = json.loads(reply)
            if "error" in answer:
                raise EngineFailure(f"WebKitGTK: {command}: {answer['error']}")
            return answer["value"]
