"""The tools whose files are read and written, each with the options that lead it to the site."""

import json
import os
import subprocess
from abc import ABC, abstractmethod
from pathlib import Path

from engines.chromium import Chromium
from engines.processes import Processes
from login_site import HOST

#: Runs under the interpreter that has Playwright.
PLAYWRIGHT_CLIENT = Path(__file__).with_name("playwright_client.py")
#: The same with Selenium.
SELENIUM_CLIENT = Path(__file__).with_name("selenium_client.py")


class ToolFailure(Exception):
    """A tool does not run, or does not do what it was told."""


class Tool(ABC):
    """A program that keeps cookies in a file of its own format, or takes them from one."""

    #: The name that options and reports use.
    name: str
    #: The formats that it is signed in with, by `crumb export --format`.
    formats: tuple[str, ...]
    #: The cookies that it does not write down, and why.
    unwritten: dict[str, str] = {}
    #: The cookies that it does not send from a file as they are, by format, and why.
    unsent: dict[str, dict[str, str]] = {}
    #: The format of its own file, by `crumb convert --from`.
    own_format = "netscape"
    #: What its file does not tell of the cookies that it writes down.
    unsaid: tuple[str, ...] = ()

    def __init__(self, proxy_port: int, folder: Path, python: Path):
        self.proxy = f"http://127.0.0.1:{proxy_port}"
        self.folder = folder
        #: The interpreter that has the packages of PyPI.
        self.python = str(python)

    @abstractmethod
    def open(self, url: str, file: Path, form: str) -> None:
        """Opens `url` with the cookies of an export."""

    def save(self, url: str) -> Path | None:
        """Opens `url` and keeps the cookies; the file, or None for a tool that has none."""
        return None

    def _run(self, *command: str, expected_status: int = 0) -> None:
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        environment |= {"HOME": str(self.folder), "https_proxy": self.proxy}
        completed = subprocess.run(command, capture_output=True, check=False, env=environment, timeout=60)
        if completed.returncode != expected_status:
            raise ToolFailure(f"{command[0]}: status {completed.returncode}: {completed.stderr.decode()[-300:]}")


class Curl(Tool):
    """curl, with a cookie file and with a configuration file."""

    name = "curl"
    formats = ("netscape", "curl")
    unwritten = {"Case": "it takes names that differ in case only for the same"}
    unsent = {"netscape": unwritten}
    unsaid = ("sameSite", "partitionKey")

    def save(self, url: str) -> Path:
        file = self.folder / "curl.txt"
        self._curl("--cookie-jar", str(file), url)
        return file

    def open(self, url: str, file: Path, form: str) -> None:
        self._curl("--cookie" if form == "netscape" else "--config", str(file), url)

    def _curl(self, *arguments: str) -> None:
        self._run("curl", "--disable", "--silent", "--show-error", "--insecure", "--output", "/dev/null", *arguments)


class Wget(Tool):
    """GNU Wget."""

    name = "wget"
    formats = ("netscape",)
    unwritten = {"deep": "it takes no Path that the request is not below",
                 "elsewhere": "it takes no Path that the request is not below",
                 "quote": "it takes a quote for the beginning of a value that another one ends"}
    unsaid = ("sameSite", "partitionKey", "httpOnly")

    def save(self, url: str) -> Path:
        file = self.folder / "wget.txt"
        self._wget("--keep-session-cookies", f"--save-cookies={file}", url)
        return file

    def open(self, url: str, file: Path, form: str) -> None:
        self._wget(f"--load-cookies={file}", url)

    def _wget(self, *arguments: str) -> None:
        self._run("wget", "--no-config", "--quiet", "--no-check-certificate", "--no-hsts", "--output-document=/dev/null",
                  *arguments)


class YtDlp(Tool):
    """yt-dlp, and with it the cookie jar of Python, which its own is made of."""

    name = "yt-dlp"
    formats = ("netscape",)
    unsent = {"netscape": {"umlaut": "it reads UTF-8 and sends Latin-1"}}

    def open(self, url: str, file: Path, form: str) -> None:
        # It writes the file anew when it ends, and ends with 1, since there is no video on the page.
        copy = self.folder / "copy.txt"
        copy.write_bytes(file.read_bytes())
        self._run("yt-dlp", "--ignore-config", "--no-cache-dir", "--simulate", "--no-check-certificates", "--retries=0",
                  f"--proxy={self.proxy}", f"--cookies={copy}", url, expected_status=1)


class HTTPie(Tool):
    """HTTPie, with a session file."""

    name = "httpie"
    formats = ("httpie-session",)
    own_format = "httpie-session"
    unsaid = ("sameSite", "partitionKey", "httpOnly", "hostOnly")

    def save(self, url: str) -> Path:
        file = self.folder / "httpie.json"
        self._http(f"--session={file}", url)
        return file

    def open(self, url: str, file: Path, form: str) -> None:
        self._http(f"--session-read-only={file}", url)

    def _http(self, *arguments: str) -> None:
        self._run("http", "--ignore-stdin", "--verify=no", f"--proxy=https:{self.proxy}", *arguments)


class Browser(Tool):
    """Chromium, with WebDriver's "Add Cookie", and with the protocol call by which Playwright loads a storageState."""

    name = "chromium"
    formats = ("webdriver", "storage-state")

    def open(self, url: str, file: Path, form: str) -> None:
        cookies = json.loads(file.read_bytes())
        # A short name, since browsers put sockets into it.
        folder = self.folder / form
        folder.mkdir()
        processes = Processes(folder)
        try:
            with Chromium(processes, int(self.proxy.rpartition(":")[2])) as browser:
                if form == "webdriver":
                    browser.navigate_and_wait(f"https://{HOST}/empty")
                    for cookie in cookies:
                        browser.add_cookie(cookie)
                else:
                    browser.execute_protocol("Storage.setCookies", {"cookies": list(map(_parameter, cookies["cookies"]))})
                browser.navigate_and_wait(url)
        finally:
            processes.stop_all()


def _parameter(cookie: dict[str, object]) -> dict[str, object]:
    """A cookie of a storageState as Playwright gives it to the browser."""
    cookie = dict(cookie)
    ancestor = cookie.pop("_crHasCrossSiteAncestor", False)
    if "partitionKey" in cookie:
        cookie["partitionKey"] = {"topLevelSite": cookie["partitionKey"], "hasCrossSiteAncestor": ancestor}
    return cookie


class Playwright(Tool):
    """Playwright, with its storageState, driving Chromium."""

    name = "playwright"
    formats = ("storage-state",)
    own_format = "storage-state"
    # It says Lax where nothing is said.
    unsaid = ("sameSite",)

    def save(self, url: str) -> Path:
        file = self.folder / "state.json"
        self._run(self.python, str(PLAYWRIGHT_CLIENT), "save", self.proxy, url, str(file),
                  str(self.folder / "cookies.json"), str(self.folder / "record.har"))
        return file

    def open(self, url: str, file: Path, form: str) -> None:
        self._run(self.python, str(PLAYWRIGHT_CLIENT), "open", self.proxy, url, str(file))


class Selenium(Tool):
    """Selenium, with its list of cookies, driving Chromium. WebDriver tells the cookies of one page only."""

    name = "selenium"
    formats = ("webdriver",)
    own_format = "webdriver"
    unwritten = {"deep": "another page's", "elsewhere": "another page's"}
    unsaid = ("sameSite", "partitionKey")

    def save(self, url: str) -> Path:
        file = self.folder / "selenium.json"
        self._run(self.python, str(SELENIUM_CLIENT), "save", self.proxy, url, str(file))
        return file

    def open(self, url: str, file: Path, form: str) -> None:
        self._run(self.python, str(SELENIUM_CLIENT), "open", self.proxy, url, str(file), f"https://{HOST}/empty")


TOOLS: dict[str, type[Tool]] = {
    tool.name: tool for tool in (Curl, Wget, YtDlp, HTTPie, Browser, Playwright, Selenium)}
