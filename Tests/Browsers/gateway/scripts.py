"""What scripts see of cookies, responses and redirects, with and without the gateway: our own small web platform tests."""

import json
import sys
from functools import partial
from pathlib import Path
from urllib.parse import unquote_to_bytes

from engines import ENGINES, Processes
from engines.waiting import run_together, wait_for
from gateway.process import gateway
from server.certificate import make_tls_context
from server.messages import Request, Response, redirect
from server.proxy import ProxyServer

HOSTS = ("site-c.test", "site-d.test")
PAGE_URL = f"https://www.{HOSTS[0]}/page"
CHECKS = Path(__file__).with_name("scripts.js")
FIELDS = ((b"X-One", b"1"), (b"X-Two", b"a"), (b"x-two", b"b"), (b"X-Empty", b""), (b"X-Hidden", b"1"))
EXPOSED = b"X-One, X-Two, X-Empty"


def answer(request: Request) -> Response | None:
    """The page, its frames, and what their scripts ask for."""
    if not (request.parts.hostname or "").endswith(HOSTS):
        return None
    origin = request.values(b"Origin")
    shared = ((b"Access-Control-Allow-Origin", origin[0]), (b"Access-Control-Allow-Credentials", b"true"),
              (b"Access-Control-Allow-Methods", b"PUT"), (b"Access-Control-Allow-Headers", b"x-custom"),
              (b"Access-Control-Expose-Headers", EXPOSED)) if origin else ()
    match request.parts.path:
        case "/page":
            return Response(body=b"<!doctype html><title>page</title><body><script src=/checks.js></script>")
        case "/frame":
            return Response(body=b"<!doctype html><title>frame</title>")
        case "/checks.js":
            return Response(body=CHECKS.read_bytes(), content_type=b"text/javascript")
        case "/set":
            lines = [part.partition("=")[2] for part in request.parts.query.split("&") if part.startswith("c=")]
            return Response(headers=shared, set_cookie=tuple(unquote_to_bytes(line) for line in lines), body=b"set")
        case "/cookies":
            pairs = sorted(pair for pair in request.cookie.split(b"; ") if pair)
            return Response(headers=shared, body=b"; ".join(pairs), content_type=b"text/plain")
        case "/request":
            return Response(headers=shared, body=json.dumps([
                request.method, request.body.decode("latin-1"), [value.decode() for value in request.values(b"X-Custom")],
            ]).encode(), content_type=b"application/json")
        case "/fields":
            return Response(headers=shared + FIELDS, body=b"fields", content_type=b"text/plain")
        case "/plain":
            return Response(body=b"not shared")
        case "/to":
            target = redirect(request.parameters["to"])
            return Response(status=int(request.parameters["status"]), headers=shared + target.headers)
        case _:
            return None


def look(name: str, folder: Path, port: int) -> tuple[str, dict[str, str]]:
    """The browser's version, and what its page finds, as JSON by check."""
    processes = Processes(folder)
    folder.mkdir()
    try:
        engine = ENGINES[name](processes, port)
        engine.navigate(PAGE_URL)
        found = wait_for(lambda: engine.evaluate("window.found ? JSON.stringify(window.found) : null"), "the page's checks")
        return engine.version, json.loads(str(found))
    finally:
        processes.stop_all()


def run_scripts(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether scripts find the same with and without the gateway."""
    failures: dict[str, list[str]] = {}

    def run(name: str) -> None:
        place = folder / name
        place.mkdir()
        tls = make_tls_context(place, [label for host in HOSTS for label in (host, f"*.{host}")])
        with ProxyServer(answer, tls) as proxy:
            version, direct = look(name, place / "direct", proxy.port)
            with gateway(binary, place, proxy.port, place / "certificate.pem", HOSTS) as port:
                _, through = look(name, place / "through", port)
        failures[name] = [f"{name}: {check}: {direct.get(check)}, through the gateway {through.get(check)}"
                          for check in direct | through if direct.get(check) != through.get(check)]
        print(f"gateway: {version}: scripts of pages: {len(direct)} checks: {'FAILURES' if failures[name] else 'the same: ok'}")

    run_together([partial(run, name) for name in engines])
    for name in engines:
        for failure in failures[name]:
            print(f"    {failure}", file=sys.stderr)
    return not any(failures.values())
