"""Firefox, driven by WebDriver BiDi, which it speaks itself."""

import base64
import json
from collections.abc import Mapping
from types import MappingProxyType

from engines.bidi import BiDi
from engines.engine import Engine, EngineFailure, NavigationAborted
from engines.processes import Processes
from engines.waiting import wait_for

# What would ask the network on its own account, or take http for https.
PREFERENCES: dict[str, object] = {
    "app.normandy.enabled": False,
    "app.update.enabled": False,
    "browser.aboutwelcome.enabled": False,
    "browser.chrome.site_icons": False,
    "browser.region.network.url": "",
    "browser.safebrowsing.update.enabled": False,
    "browser.search.update": False,
    "browser.startup.homepage_override.mstone": "ignore",
    "browser.startup.page": 0,
    "datareporting.policy.dataSubmissionEnabled": False,
    "dom.push.enabled": False,
    "dom.security.https_first": False,
    "dom.security.https_only_mode": False,
    "extensions.getAddons.cache.enabled": False,
    # One content process for all sites: a process for each new one takes longer than the case.
    "fission.autostart": False,
    "fission.webContentIsolationStrategy": 0,
    "network.captive-portal-service.enabled": False,
    "network.connectivity-service.enabled": False,
    "network.http.speculative-parallel-limit": 0,
    "network.predictor.enabled": False,
    "network.prefetch-next": False,
    "services.settings.server": "http://127.0.0.1:1/",
    "toolkit.telemetry.enabled": False,
}
ACCEPT_ALL, PARTITION_FOREIGN = 0, 5


class Firefox(Engine):
    """Firefox with third-party cookies partitioned, as it comes, or allowed."""

    name = "firefox"

    def __init__(self, processes: Processes, proxy_port: int | None, third_party_cookies: bool = True,
                 more_preferences: Mapping[str, object] = MappingProxyType({})):
        self._processes = processes
        #: The folder of what it keeps.
        self.profile = processes.folder / "firefox-profile"
        self.profile.mkdir(exist_ok=True)
        preferences = PREFERENCES | {
            "network.cookie.cookieBehavior": ACCEPT_ALL if third_party_cookies else PARTITION_FOREIGN,
            **_proxy(proxy_port), **more_preferences}
        (self.profile / "user.js").write_text("".join(
            f"user_pref({json.dumps(name)}, {json.dumps(value)});\n" for name, value in preferences.items()))
        # One of a run that was killed.
        (self.profile / "WebDriverBiDiServer.json").unlink(missing_ok=True)
        self._process = processes.start(
            ["/usr/bin/firefox-esr", "--headless", "--no-remote", "--profile", str(self.profile), "--remote-debugging-port",
             "0", "about:blank"], self.name, {"MOZ_HEADLESS": "1", "MOZ_CRASHREPORTER_DISABLE": "1"})
        port = wait_for(lambda: self._bidi_port(self.profile / "WebDriverBiDiServer.json"), "Firefox")
        self._session = BiDi(port, {"acceptInsecureCerts": True})
        self.version = f"Firefox {self._session.capabilities['browserVersion']}"
        contexts = self._session.call("browsingContext.getTree")["contexts"]
        self._context = contexts[0]["context"]

    def _bidi_port(self, file) -> int | None:
        if self._process.poll() is not None:
            raise EngineFailure("Firefox does not start")
        try:
            return json.loads(file.read_text())["ws_port"]
        except (OSError, ValueError):
            return None

    def navigate(self, url: str) -> None:
        try:
            self._session.call("browsingContext.navigate", context=self._context, url=url, wait="none")
        except EngineFailure as failure:
            if "NS_BINDING_ABORTED" in str(failure):
                raise NavigationAborted(str(failure)) from failure
            raise

    def evaluate(self, expression: str) -> object:
        answer = self._session.call(
            "script.evaluate", expression=expression, target={"context": self._context}, awaitPromise=True)
        if answer["type"] != "success":
            raise EngineFailure(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def add_document_script(self, script: str) -> None:
        self._session.call("script.addPreloadScript", functionDeclaration=f"() => {{\n{script}\n}}")

    def cookies(self) -> dict:
        """What BiDi's `storage.getCookies` answers for all that are kept."""
        return self._session.call("storage.getCookies")

    def page_cookies(self) -> list[dict]:
        """The cookies for the page that is shown, in the form of WebDriver."""
        host = str(self.evaluate("location.hostname"))
        found = self._session.call("storage.getCookies", partition={"type": "context", "context": self._context})
        return [{**cookie, "value": cookie["value"]["value"], "sameSite": cookie["sameSite"].capitalize()}
                for cookie in found["cookies"] if f".{host}".endswith("." + cookie["domain"].removeprefix("."))]

    def delete_cookies(self) -> None:
        """Deletes the cookies of all sites."""
        self._session.call("storage.deleteCookies")

    def close_other_windows(self) -> None:
        """Closes what pages have opened."""
        for context in self._session.call("browsingContext.getTree", maxDepth=0)["contexts"]:
            try:
                if context["context"] != self._context:
                    self._session.call("browsingContext.close", context=context["context"])
            except EngineFailure as failure:
                # It closes itself.
                if "no such frame" not in str(failure):
                    raise

    def stored(self) -> dict[str, str]:
        return {cookie["name"]: cookie["value"]["value"] for cookie in self.cookies()["cookies"]}

    def screenshot(self) -> bytes:
        picture = self._session.call("browsingContext.captureScreenshot", context=self._context)
        return base64.b64decode(picture["data"])

    def close(self) -> None:
        self._session.close()
        self._processes.stop(self._process)


def _proxy(port: int | None) -> dict[str, object]:
    """The preferences that send everything to a proxy, or nothing beyond the loopback."""
    if port is None:
        return {"network.proxy.type": 0, "network.dns.disabled": True}
    return {"network.proxy.type": 1, "network.proxy.allow_hijacking_localhost": True, "network.proxy.no_proxies_on": "",
            "network.proxy.http": "127.0.0.1", "network.proxy.http_port": port,
            "network.proxy.ssl": "127.0.0.1", "network.proxy.ssl_port": port}
