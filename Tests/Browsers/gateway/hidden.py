"""Lets servers delete and hide cookies that a browser has, and scripts set cookies beside hidden ones: what servers get of
them then, and what scripts see, with and without the gateway. The cases are played side by side, each with a cookie of its
own: one page sets the lines of all."""

import itertools
import json
import sys
import threading
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from urllib.parse import quote, unquote_to_bytes

from engines import ENGINES, Engine, Processes
from engines.page import fetch, holds, load
from engines.waiting import run_together, wait_for
from gateway.process import gateway
from server.certificate import make_tls_context
from server.messages import Request, Response, redirect
from server.proxy import ProxyServer

HOSTS = ("hidden.test", "plain-hidden.test", "other-hidden.test")
SECURE, PLAIN, OTHER = f"https://www.{HOSTS[0]}", f"http://www.{HOSTS[1]}", f"https://www.{HOSTS[2]}"
#: What servers get, and what scripts see, by the values of a case's cookies.
Outcome = tuple[tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True)
class Case:
    """Steps with one cookie, whose name is `{n}` in them."""

    name: str
    #: What happens: `load`, `fetch`, `redirect` and `image` (in a page of another site) set lines, `script` sets a cookie.
    steps: tuple[tuple[str, ...], ...]
    origin: str = SECURE
    #: What is different through the gateway on purpose; otherwise it is the same as without it.
    through: Outcome | None = None


def cases() -> list[Case]:
    """All cases."""
    deletion = "{n}=; Path=/; Max-Age=0; HttpOnly"
    shadowed: Outcome = (("1",), ())
    return [
        Case("deleted", (("load", "{n}=1; Path=/"), ("load", deletion))),
        Case("replaced", (("load", "{n}=1"), ("load", "{n}=2; HttpOnly"))),
        Case("of the domain", (("load", "{n}=1; Domain=hidden.test; Path=/"),
                               ("load", "{n}=; Domain=.hidden.test; Path=/; HttpOnly; Expires=Thu, 01 Jan 1970 00:00:00 GMT"))),
        Case("with a prefix", (("load", "__Host-{n}=1; Secure; Path=/"), ("load", "__Host-{n}=2; Secure; Path=/; HttpOnly"))),
        Case("strict, in a redirect", (("load", "{n}=1; Path=/; SameSite=Strict; Secure"), ("redirect", deletion))),
        Case("by a script's request", (("load", "{n}=1; Path=/"), ("fetch", "{n}=2; Path=/; HttpOnly"))),
        Case("by an image in another site's page", (
            ("load", "{n}=1; Path=/; Secure; SameSite=None"),
            ("image", "{n}=; Path=/; Secure; SameSite=None; HttpOnly; Max-Age=0"))),
        Case("refused from another site's page", (
            ("load", "{n}=1; Path=/; SameSite=Strict"), ("image", "{n}=; Path=/; SameSite=Strict; HttpOnly; Max-Age=0"))),
        Case("of a partition", (("load", "{n}=1; Path=/; Secure; SameSite=None; Partitioned"),
                                ("load", "{n}=; Path=/; Secure; SameSite=None; Partitioned; HttpOnly; Max-Age=0"))),
        Case("set by a script", (("script", "{n}=1; path=/"), ("load", "{n}=2; Path=/; HttpOnly"))),
        Case("set by a script and sent", (("script", "{n}=1; path=/"), ("load",), ("load", "{n}=2; Path=/; HttpOnly"))),
        Case("set by a script for the domain", (
            ("script", "{n}=1; path=/; domain=hidden.test"), ("load",),
            ("load", "{n}=; Domain=hidden.test; Path=/; Max-Age=0; HttpOnly"))),
        Case("set by a script again", (("load", "{n}=1; Path=/"), ("load", deletion), ("script", "{n}=1; path=/"))),
        Case("visible again", (("load", "{n}=1; HttpOnly"), ("load", "{n}=2"))),
        Case("twice in one response", (("load", "{n}=1; Path=/", "{n}=2; Path=/; HttpOnly"),)),
        Case("first hidden", (("load", "{n}=1; Path=/; HttpOnly", "{n}=2; Path=/"),)),
        Case("over http", (("load", "{n}=1; Path=/"), ("load", deletion)), PLAIN),
        Case("replaced over http", (("load", "{n}=1; Path=/"), ("load", "{n}=2; Path=/; HttpOnly")), PLAIN),
        Case("beside a hidden one, for a path",
             (("load", "{n}=1; Path=/; HttpOnly"), ("script", "{n}=x; path=/app")), through=shadowed),
        Case("beside a hidden one, for the page",
             (("load", "{n}=1; Path=/; HttpOnly"), ("script", "{n}=x; path=/app/page; secure; samesite=strict")),
             through=shadowed),
        Case("beside a hidden one, for the domain",
             (("load", "{n}=1; Path=/; HttpOnly"), ("script", "{n}=x; path=/; domain=hidden.test")), through=shadowed),
        Case("beside a hidden one, over http",
             (("load", "{n}=1; Path=/; HttpOnly"), ("script", "{n}=x; path=/app/")), PLAIN, through=shadowed),
    ]


class Server:
    """Sets the lines that a URL names, and notes the cookies of each page."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: The Cookie field by the label of the request.
        self.seen: dict[str, bytes] = {}

    def answer(self, request: Request) -> Response | None:
        """Answers a request."""
        if not (request.parts.hostname or "").endswith(HOSTS):
            return None
        parts = request.parts.query.split("&")
        lines = tuple(unquote_to_bytes(part[2:]) for part in parts if part.startswith("c="))
        with self._lock:
            self.seen[request.parameters.get("l", "")] = request.cookie
        if request.parts.path == "/app/to":
            return redirect(f"/app/page?l={request.parameters['l']}", lines)
        return Response(body=b"<!doctype html><title>page</title><body>page", set_cookie=lines)


class Player:
    """One browser that plays the cases."""

    def __init__(self, engine: Engine, server: Server):
        self._engine, self._server = engine, server
        self._labels = itertools.count()

    def play(self, cases: list[Case]) -> list[Outcome]:
        """What comes of each case."""
        named = {f"k{number}": case for number, case in enumerate(cases, 10)}
        outcomes: dict[str, Outcome] = {}
        for origin in (SECURE, PLAIN):
            chosen = {name: case for name, case in named.items() if case.origin == origin}
            outcomes |= self._play(origin, chosen)
        return [outcomes[name] for name in named]

    def _play(self, origin: str, cases: dict[str, Case]) -> dict[str, Outcome]:
        """What comes of the cases of one site, by the names of their cookies."""
        self._load(origin)
        for index in range(max(len(case.steps) for case in cases.values())):
            for kind in ("load", "redirect", "fetch", "script", "image"):
                steps = [(name, case.steps[index][1:]) for name, case in cases.items()
                         if len(case.steps) > index and case.steps[index][0] == kind]
                if steps:
                    self._take(kind, origin, [line.replace("{n}", name) for name, lines in steps for line in lines])
        # The first shows what is to be deleted, the second what has been.
        self._load(origin)
        label = self._load(origin)
        pairs = self._server.seen[label].decode("latin-1").split("; ")
        shown = str(self._engine.evaluate("document.cookie")).split("; ")
        return {name: (values(pairs, name), values(shown, name)) for name in cases}

    def _take(self, kind: str, origin: str, lines: list[str]) -> None:
        """Takes one step of several cases."""
        match kind:
            case "load":
                self._load(origin, lines)
            case "redirect":
                self._load(origin, lines, "to")
            case "script":
                for line in lines:
                    self._engine.evaluate(f"(document.cookie = {json.dumps(line)}, 1)")
            case "fetch":
                fetch(self._engine, self._url(origin, "page", lines)[1])
            case "image":
                self._load(OTHER)
                label, url = self._url(origin, "page", lines)
                self._engine.evaluate("(window.got = 0, Object.assign(new Image(), "
                                      f"{{onerror: () => {{ window.got = 1 }}, src: {json.dumps(url)}}}), 1)")
                wait_for(lambda: holds(self._engine, "window.got === 1"), label)
                self._load(origin)

    def _load(self, origin: str, lines: list[str] | None = None, path: str = "page") -> str:
        label, url = self._url(origin, path, lines or [])
        load(self._engine, url, shown=f"{origin}/app/page?l={label}" if path == "to" else None)
        return label

    def _url(self, origin: str, path: str, lines: list[str]) -> tuple[str, str]:
        label = f"p{next(self._labels)}"
        return label, f"{origin}/app/{path}?l={label}{''.join(f'&c={quote(line)}' for line in lines)}"


def values(pairs: list[str], name: str) -> tuple[str, ...]:
    """The values of the cookies that are named after a case."""
    return tuple(sorted(pair.partition("=")[2] for pair in pairs if pair.partition("=")[0].endswith(name)))


def play_all(name: str, folder: Path, port: int, server: Server) -> tuple[str, list[Outcome]]:
    """The browser's version, and the outcomes of all cases."""
    folder.mkdir(parents=True)
    processes = Processes(folder)
    try:
        engine = ENGINES[name](processes, port)
        return engine.version, Player(engine, server).play(cases())
    finally:
        processes.stop_all()


def run_hidden(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether servers and scripts get the same with and without the gateway, but for what is different on purpose."""
    failures: dict[str, list[str]] = {}

    def run(name: str) -> None:
        place = folder / name
        place.mkdir()
        tls = make_tls_context(place, [label for host in HOSTS for label in (host, f"*.{host}")])
        servers = Server(), Server()
        with ProxyServer(servers[0].answer, tls) as proxy:
            version, direct = play_all(name, place / "direct", proxy.port, servers[0])
        with ProxyServer(servers[1].answer, tls) as proxy, \
                gateway(binary, place, proxy.port, place / "certificate.pem", HOSTS) as port:
            _, through = play_all(name, place / "through", port, servers[1])
        failures[name] = [
            f"{name}: {case.name}: servers and scripts get {found}, without the gateway {without}"
            for case, without, found in zip(cases(), direct, through) if found != (case.through or without)]
        print(f"gateway: {version}: deleted and hidden cookies: {len(direct)} cases, "
              f"{sum(case.through is not None for case in cases())} different on purpose: "
              f"{'FAILURES' if failures[name] else 'the others the same: ok'}")

    run_together([partial(run, name) for name in engines])
    for name in engines:
        for failure in failures.get(name, [f"{name}: does not run"]):
            print(f"    {failure}", file=sys.stderr)
    return all(failures.get(name) == [] for name in engines)
