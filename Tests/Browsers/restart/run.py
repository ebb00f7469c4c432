"""The story of a login that outlives the web view, each step judged by what the server answers."""

import datetime
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path

from crumb import Crumb
from engines import EngineFailure, Processes, WebKit
from engines.waiting import wait_for
from restart.login_server import HOME_URL, LOGIN_URL, SIGNED_IN, SIGNED_OUT, LoginServer
from server.certificate import make_tls_context
from server.proxy import ProxyServer

STEPS = ["put-into-store", "install-script", "load", "verify"]


def document(cookie: dict) -> dict:
    """What `crumb plan` reads, out of what the view's store says."""
    fields = {"name": cookie["name"], "value": cookie["value"], "domain": cookie["domain"].removeprefix("."),
              "hostOnly": not cookie["domain"].startswith("."), "path": cookie["path"], "secure": cookie["isSecure"],
              "httpOnly": cookie["isHTTPOnly"]}
    if "sameSite" in cookie:
        fields["sameSite"] = cookie["sameSite"]
    if "expires" in cookie:
        moment = datetime.datetime.fromtimestamp(cookie["expires"], datetime.timezone.utc)
        fields["expires"] = moment.strftime("%Y-%m-%dT%H:%M:%SZ")
    return fields


def native_fields(cookie: dict) -> dict:
    """What the view's store takes, out of what `crumb plan` says."""
    age = -1
    if "expires" in cookie:
        age = int(datetime.datetime.fromisoformat(cookie["expires"]).timestamp() - time.time())
    return {"name": cookie["name"], "value": cookie["value"], "path": cookie["path"], "maxAge": age,
            "domain": cookie["domain"] if cookie["hostOnly"] else f".{cookie['domain']}",
            "isSecure": cookie["secure"], "isHTTPOnly": cookie["httpOnly"], "sameSite": cookie.get("sameSite", "")}


class RestartStory:
    """Logs in, kills the view, and begins again: without help, with the script, by the plan for the web view."""

    def __init__(self, binary: Path, folder: Path):
        self._crumb = Crumb(binary, folder)
        self._tls = make_tls_context(folder)
        self._processes = Processes(folder / "webkit")
        self._processes.folder.mkdir()
        self._data = self._processes.folder / "store"
        self._server = LoginServer()
        self.version = ""
        self.failures: list[str] = []

    def run(self) -> None:
        """Runs it; what is not as it should be is in `failures`."""
        try:
            with ProxyServer(self._server.answer, self._tls) as proxy:
                self._port = proxy.port
                self._log_in()
                self._crumb.import_response(LOGIN_URL, self._server.login_response)
                self._begin_again("without help", SIGNED_OUT, lambda view: None)
                self._begin_again("with the script", SIGNED_OUT, self._add_script, loads=2)
                self._begin_by_plan("by the plan", {"session"})
                self._begin_by_plan("by the plan once more", {"session"})
                self._begin_again("without help once more", SIGNED_OUT, lambda view: None)
        except EngineFailure as failure:
            self.failures.append(str(failure))
        finally:
            self._processes.stop_all()

    def _log_in(self) -> None:
        view = self._start()
        self.version = view.version
        view.navigate(LOGIN_URL)
        self._expect("after the login", SIGNED_IN)
        self._expect_hidden("after the login", view)
        view.kill()

    def _begin_again(self, how: str, state: bytes, prepare: Callable[[WebKit], None], loads: int = 1) -> None:
        """A new process on the same store, prepared before its first load, and killed after the last."""
        view = self._start()
        prepare(view)
        for load in range(loads):
            view.navigate(f"{HOME_URL}?load={load}")
            cookies = self._expect(how, state)
            if b"theme=dark" not in cookies.split(b"; "):
                self.failures.append(f"{how}: the view's store is not the one of before: {ascii(cookies)}")
        self._expect_hidden(how, view)
        view.kill()

    def _add_script(self, view: WebKit) -> None:
        answer = self._crumb.documents("script", "--json", "--quiet", HOME_URL)[0]
        if [entry["cookie"]["name"] for entry in answer["omitted"]] != ["session"]:
            self.failures.append("the script does not say that it leaves out the session")
        view.add_document_script(answer["script"])

    def _begin_by_plan(self, how: str, put: set[str]) -> None:
        """A new process on the same store, which does what the plan says and nothing else."""
        view = self._start()
        # Right after its start the view may not have read its store yet.
        cookies = wait_for(lambda: view.cookies() or None, "the view's store")
        held = "".join(json.dumps(document(cookie)) + "\n" for cookie in cookies)
        plan = self._crumb.documents("plan", "--native", "-", HOME_URL, octets=held.encode())[0]
        found = set()
        for step in plan["steps"]:
            match step["step"]:
                case "put-into-store":
                    found = {cookie["name"] for cookie in step["cookies"]}
                    for cookie in step["cookies"]:
                        view.add_cookie(native_fields(cookie))
                case "install-script":
                    view.add_document_script(step["script"])
                case "load":
                    view.navigate(step["url"], step.get("cookie"))
                    self._expect(how, SIGNED_IN)
                    self._expect_hidden(how, view)
                case "verify":
                    now = {(cookie["name"], cookie["value"], cookie["isHTTPOnly"]) for cookie in view.cookies()}
                    for cookie in step["cookies"]:
                        if (cookie["name"], cookie["value"], cookie["httpOnly"]) not in now:
                            self.failures.append(f"{how}: the store does not have {cookie['name']} afterwards")
        if found != put:
            self.failures.append(f"{how}: the plan puts {sorted(found)} into the store, not {sorted(put)}")
        steps = [step["step"] for step in plan["steps"]]
        if steps != [step for step in STEPS if step in steps] or steps[-2:] != ["load", "verify"]:
            self.failures.append(f"{how}: the steps are {steps}")
        view.kill()

    def _expect(self, how: str, state: bytes) -> bytes:
        found, cookies = self._server.next_visit()
        if found != state:
            self.failures.append(f"{how}: the server says {found.decode()!r}, not {state.decode()!r}")
        return cookies

    def _expect_hidden(self, how: str, view: WebKit) -> None:
        """That scripts see the cookies of the page, and not the session."""
        def visible() -> str | None:
            cookies = str(view.evaluate("document.cookie"))
            return cookies if "theme" in cookies else None

        if "session" in wait_for(visible, "the page"):
            self.failures.append(f"{how}: a script can see the session")

    def _start(self) -> WebKit:
        return WebKit(self._processes, self._port, data_folder=self._data)


def tell_restart_story(binary: Path, folder: Path) -> bool:
    """Runs it and prints a line; whether everything was as it should be."""
    story = RestartStory(binary, folder)
    story.run()
    verdict = (f"{len(story.failures)} FAILURES" if story.failures else
               "signed in again by the plan, signed out without help and by the script alone: ok")
    print(f"restart: {story.version or 'webkit'}: {verdict}")
    for failure in story.failures:
        print(f"    {failure}", file=sys.stderr)
    return not story.failures
