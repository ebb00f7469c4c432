"""Chromium, driven by chromedriver."""

import base64
import os
import socket
from collections.abc import Sequence

from engines.engine import Engine, EngineFailure
from engines.processes import Processes, free_ports
from engines.waiting import wait_for
from engines.webdriver import WebDriver

# What would ask the network on its own account, take http for https, or keep a process for each page that was left.
DISABLED_FEATURES = [
    "BackForwardCache", "HttpsFirstBalancedMode", "HttpsFirstBalancedModeAutoEnable", "HttpsUpgrades",
    "LocalNetworkAccessChecks", "MediaRouter", "OptimizationHints", "Translate"]


class Chromium(Engine):
    """Chromium with third-party cookies blocked, as it comes, or allowed."""

    name = "chromium"

    def __init__(self, processes: Processes, proxy_port: int | None, third_party_cookies: bool = True,
                 more_arguments: Sequence[str] = ()):
        self._processes = processes
        port = free_ports(1)[0]
        #: The folder of what it keeps.
        self.profile = processes.folder / "chromium-profile"
        self._process = processes.start(["/usr/bin/chromedriver", f"--port={port}"], self.name)
        wait_for(lambda: self._accepts(port), "chromedriver")
        proxy = ["--no-proxy-server"] if proxy_port is None else [
            f"--proxy-server=http://127.0.0.1:{proxy_port}", "--proxy-bypass-list=<-loopback>"]
        arguments = [
            "--headless=new", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--password-store=basic",
            "--disable-background-networking", "--disable-component-update", "--disable-sync",
            "--disable-default-apps", "--ignore-certificate-errors", f"--user-data-dir={self.profile}",
            # One renderer for all sites: a process for each new one takes longer than the case.
            "--disable-site-isolation-trials", "--renderer-process-limit=1",
            "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.*",
            *proxy, f"--disable-features={','.join(DISABLED_FEATURES)}", *more_arguments]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        # 0 allows third-party cookies, 1 blocks them.
        preferences = {"profile.cookie_controls_mode": 0 if third_party_cookies else 1,
                       "profile.block_third_party_cookies": not third_party_cookies}
        self._driver = WebDriver(port, {
            "pageLoadStrategy": "none", "acceptInsecureCerts": True,
            "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": arguments, "prefs": preferences}})
        self.version = f"Chromium {self._driver.capabilities['browserVersion']}"

    def _accepts(self, port: int) -> bool | None:
        if self._process.poll() is not None:
            raise EngineFailure("chromedriver does not start")
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            return None

    def navigate(self, url: str) -> None:
        self._driver.call("POST", "/url", {"url": url})

    def evaluate(self, expression: str) -> object:
        return self._driver.call("POST", "/execute/sync", {"script": f"return {expression}", "args": []})

    def add_document_script(self, script: str) -> None:
        self.execute_protocol("Page.addScriptToEvaluateOnNewDocument", {"source": script})

    def navigate_with(self, url: str, fields: dict[str, str]) -> None:
        """Navigates with further header fields, which go on no later navigation."""
        self.execute_protocol("Network.enable", {})
        self.execute_protocol("Network.setExtraHTTPHeaders", {"headers": fields})
        try:
            self.navigate_and_wait(url)
        finally:
            self.execute_protocol("Network.setExtraHTTPHeaders", {"headers": {}})

    def navigate_and_wait(self, url: str) -> None:
        """Navigates, and waits until the page is there."""
        self.navigate(url)
        wait_for(lambda: self.evaluate("document.readyState === 'complete' && location.href") == url or None, url)

    def cookies(self) -> object:
        """What WebDriver's "Get All Cookies" answers for the page that is shown."""
        return self._driver.call("GET", "/cookie")

    def page_cookies(self) -> object:
        """The cookies for the page that is shown, in the form of WebDriver."""
        return self.cookies()

    def delete_cookies(self) -> None:
        """Deletes the cookies of all sites."""
        self.execute_protocol("Network.clearBrowserCookies", {})

    def close_other_windows(self) -> None:
        """Closes what pages have opened."""
        shown = self._driver.call("GET", "/window")
        handles = self._driver.call("GET", "/window/handles")
        assert isinstance(handles, list)
        for handle in handles:
            if handle == shown:
                continue
            try:
                self._driver.call("POST", "/window", {"handle": handle})
                self._driver.call("DELETE", "/window")
            except EngineFailure as failure:
                # It closes itself.
                if "no such window" not in str(failure):
                    raise
        if len(handles) > 1:
            self._driver.call("POST", "/window", {"handle": shown})

    def stored(self) -> dict[str, str]:
        answer = self.execute_protocol("Network.getAllCookies", {})
        assert isinstance(answer, dict)
        return {cookie["name"]: cookie["value"] for cookie in answer["cookies"]}

    def add_cookie(self, cookie: dict[str, object]) -> None:
        """WebDriver's "Add Cookie", on the page that is shown."""
        self._driver.call("POST", "/cookie", {"cookie": cookie})

    def execute_protocol(self, command: str, parameters: dict[str, object]) -> object:
        """A command of the browser's own protocol."""
        return self._driver.call("POST", "/goog/cdp/execute", {"cmd": command, "params": parameters})

    def emulate(self, scheme: str, width: int, height: int, is_phone: bool = False) -> None:
        """Shows pages in a light or dark colour scheme, on a screen of this size."""
        self.execute_protocol("Emulation.setEmulatedMedia", {
            "features": [{"name": "prefers-color-scheme", "value": scheme}]})
        self.execute_protocol("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": is_phone})

    def screenshot(self, scheme: str = "light", width: int = 1100, height: int = 900, is_phone: bool = False) -> bytes:
        """The page as a PNG, in a light or dark colour scheme."""
        self.emulate(scheme, width, height, is_phone)
        picture = self.execute_protocol("Page.captureScreenshot", {"format": "png"})
        assert isinstance(picture, dict)
        return base64.b64decode(picture["data"])

    def close(self) -> None:
        try:
            self._driver.call("DELETE", "")
        except EngineFailure:
            pass
        self._processes.stop(self._process)
