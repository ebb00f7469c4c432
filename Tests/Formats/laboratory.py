"""Holds the command against one tool after the other, on one site."""

import datetime
import json
import os
import subprocess
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from comparison import Identity, differences
from crumb import Crumb, CrumbFailure
from engines import EngineFailure
from login_site import HOME_URL, LOGIN_URL, SIGNED_IN, UNCAPPED, Site
from server.certificate import make_tls_context
from server.proxy import ProxyServer
from tools import TOOLS, Curl, Playwright, Tool, ToolFailure

FOREIGN_READER = Path(__file__).with_name("foreign_reader.py")
#: Other readers of the formats: the format, the cookies that the reader does not take, the properties that it or the
#: format does not tell.
READERS: dict[str, tuple[str, Collection[str], Collection[str]]] = {
    "python": ("netscape", (), ("sameSite", "partitionKey")),
    "curl": ("netscape", Curl.unwritten, Curl.unsaid),
    "haralyzer": ("har", (), ()),
    "mitmproxy": ("har", (), ()),
    "playwright": ("storage-state", (), Playwright.unsaid),
}


class Laboratory:
    """One site, one jar that has its cookies as the server set them, and a jar for each file that comes back."""

    def __init__(self, binary: Path, folder: Path, python: Path):
        self._binary = binary
        self._python = python
        self._folder = folder
        self._tls = make_tls_context(folder)
        self._site = Site()
        #: What is not as it should be.
        self.failures: list[str] = []
        self._truth = self._new_crumb("truth")
        report = self._truth.import_response(LOGIN_URL, self._site.login_response)
        self._cookies = self._listed(self._truth)
        if len(self._cookies) < 20 or report["refused"]:
            raise CrumbFailure(f"the jar has {len(self._cookies)} cookies, and {report['refused']} were refused")

    @property
    def cookie_count(self) -> int:
        """How many cookies the site sets."""
        return len(self._cookies)

    def run(self, names: list[str]) -> Iterator[str]:
        """Runs all steps of the tools named; yields a line for each."""
        with ProxyServer(self._site.answer, self._tls) as proxy:
            for name in names:
                folder = self._folder / name
                folder.mkdir()
                tool = TOOLS[name](proxy.port, folder, self._python)
                yield from self._step(f"{name} writes, crumb reads", lambda: self._read_back(tool))
                for form in tool.formats:
                    yield from self._step(f"crumb writes {form}, {name} reads", lambda: self._sign_in(tool, form))
        for reader, (form, unwritten, unsaid) in READERS.items():
            yield from self._step(f"crumb writes {form}, {reader} reads",
                                  lambda: self._read_elsewhere(reader, form, unwritten, unsaid))
        yield from self._step("crumb writes json, crumb reads", lambda: self._same_jar("json"))
        yield from self._step("crumb writes har, crumb reads", lambda: self._same_jar("har"))
        yield from self._step("crumb writes set-cookie, crumb sets", self._set_again)

    def _step(self, title: str, body: Callable[[], str | None]) -> Iterator[str]:
        count = len(self.failures)
        try:
            remark = body()
        except (CrumbFailure, EngineFailure, ToolFailure) as failure:
            self.failures.append(f"{title}: {failure}")
            remark = None
        if len(self.failures) > count:
            yield f"{title}: FAILED"
        elif remark is not None:
            yield f"{title}: {remark}"

    def _read_back(self, tool: Tool) -> str | None:
        """The tool's own file has the cookies that the server set, as far as the tool writes them down."""
        file = tool.save(LOGIN_URL)
        if file is None:
            return None
        readable = self._truth.run("convert", "--help").decode().partition("format of the captures:")[2]
        if tool.own_format not in readable.partition("Default:")[0]:
            return f"there is no reader of {tool.own_format}"
        crumb = self._new_crumb(f"{tool.name}-import")
        crumb.run("import", str(file))
        found = self._listed(crumb)
        self.failures += [f"{tool.name}: {difference}" for difference in differences(
            self._cookies, found, tool.unwritten, tool.unsaid, UNCAPPED)]
        return f"{len(found)} cookies, as the server set them"

    def _sign_in(self, tool: Tool, form: str) -> str:
        """With an export the page opens signed in, and every cookie of the request is there."""
        file = tool.folder / f"{form}.export"
        one_url = ("--url", HOME_URL) if form in ("curl", "webdriver") else ()
        self._truth.run("export", "--quiet", "--format", form, "--output", str(file), *one_url)
        if file.stat().st_mode & 0o777 != 0o600:
            self.failures.append(f"{form}: others may read the export")
        tool.open(HOME_URL, file, form)
        state, field = self._site.next_visit()
        if state != SIGNED_IN:
            self.failures.append(f"{tool.name} with {form}: the site says {state!r}")
        unsent = tool.unsent.get(form, {})
        expected = self._truth.run("header", HOME_URL).removeprefix(b"Cookie: ").rstrip(b"\n").split(b"; ")
        sent, kept = (sorted(pair for pair in pairs if pair.partition(b"=")[0].decode() not in unsent)
                      for pairs in (field.split(b"; "), expected))
        self._compare(f"{tool.name} with {form}", sent, kept)
        return f"{state}, with {len(field.split(b'; '))} cookies"

    def _read_elsewhere(self, reader: str, form: str, unwritten: Collection[str], unsaid: Collection[str]) -> str:
        """Another reader than our own finds in an export what the jar has."""
        file = self._folder / f"{reader}.export"
        self._truth.run("export", "--quiet", "--format", form, "--output", str(file))
        completed = subprocess.run([str(self._python), str(FOREIGN_READER), reader, str(file)], capture_output=True,
                                   check=False, timeout=120, env={**os.environ, "LC_ALL": "C.UTF-8"})
        if completed.returncode != 0:
            raise ToolFailure(f"{reader}: {completed.stderr.decode()[-300:]}")
        found = {(cookie["name"], cookie["domain"], cookie["path"]): cookie for cookie in json.loads(completed.stdout)}
        self.failures += [f"{reader} reads {form}: {difference}" for difference in differences(
            self._cookies, found, unwritten, unsaid, tolerance=datetime.timedelta(seconds=1))]
        return f"{len(found)} cookies, the same"

    def _same_jar(self, form: str) -> str:
        """A jar that was filled from an export is the jar that the export was made of."""
        file = self._folder / f"jar.{form}"
        self._truth.run("export", "--quiet", "--format", form, "--output", str(file))
        crumb = self._new_crumb(f"{form}-again")
        crumb.run("import", str(file))
        expected, found = self._listed(self._truth), self._listed(crumb)
        if form != "json":
            for cookie in [*expected.values(), *found.values()]:
                del cookie["created"]
                cookie["expires"] = cookie.get("expires", "")[:19]
        self._compare(form, list(found.values()), list(expected.values()))
        converted = self._truth.run("convert", "--quiet", "--to", form, str(file))
        if form == "json" and converted != file.read_bytes():
            self.failures.append("json: convert does not write what it has read")
        return f"{len(found)} cookies, the same"

    def _set_again(self) -> str:
        lines = self._truth.run("export", "--quiet", "--format", "set-cookie", "--url", LOGIN_URL)
        crumb = self._new_crumb("set-cookie-again")
        crumb.run("set", "--quiet", LOGIN_URL, octets=lines)
        self._compare("set-cookie", sorted(self._listed(crumb)), sorted(self._cookies))
        return f"{lines.count(b'Set-Cookie: ')} cookies, the same"

    def _compare(self, title: str, found: list, expected: list) -> None:
        if found != expected:
            extra = [entry for entry in found if entry not in expected]
            missing = [entry for entry in expected if entry not in found]
            self.failures.append(f"{title}: too many {ascii(extra)[:600]}; missing {ascii(missing)[:600]}")

    def _listed(self, crumb: Crumb) -> dict[Identity, dict]:
        listed = crumb.documents("list", "--json", "--values")
        return {(cookie["name"], cookie["domain"], cookie["path"]): cookie for cookie in listed}

    def _new_crumb(self, name: str) -> Crumb:
        folder = self._folder / f"crumb-{name}"
        folder.mkdir()
        return Crumb(self._binary, folder)
