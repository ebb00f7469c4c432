"""Resources of pages through a scheme handler of the app: what of a page it reaches, and what stays as it is."""

import json
import struct
import sys
import zlib
from dataclasses import dataclass, field
from pathlib import Path

from engines import EngineFailure, Processes, WebKit
from engines.waiting import wait_for
from server.certificate import make_tls_context
from server.messages import Request, Response
from server.proxy import Disconnected, ProxyServer

PAGE, OTHER = "https://www.site-c.test", "https://www.site-d.test"
PREFIX = f"crumb-{'0123456789abcdef' * 2}-"
SCRIPT = Path(__file__).parents[3] / "Sources/RequestDecoration/Resources/ResourceScript.js"
CHECKS = Path(__file__).with_name("page.js")
MARKUP = b"""<!doctype html><title>page</title><link rel=stylesheet href=/markup/style.css>
<style>h1 { background: url(/style/element.png) }</style><body><h1>page</h1><script src=/markup/script.js></script>
<img src=/markup/image.png><img loading=lazy id=lazy src=/set/lazy.png><p style="background: url(/style/attribute.png)">p</p>
"""
# A frame tells what it sees of the script, and what it gets if it knows the scheme.
FRAME = b"""<!doctype html><title>frame</title><script>
const scheme = new URLSearchParams(location.search).get("scheme");
const isNative = item => Function.prototype.toString.call(item).includes("[native code]");
if (scheme) fetch(scheme + "https://www.site-c.test/stolen").then(() => "read", () => "refused").then(found => parent.postMessage(found, "*"));
else parent.postMessage([isNative(fetch), isNative(Element.prototype.setAttribute)], "*");
</script>"""


def chunk(kind: bytes, octets: bytes) -> bytes:
    """A chunk of a PNG file."""
    return struct.pack(">I", len(octets)) + kind + octets + struct.pack(">I", zlib.crc32(kind + octets))


PNG = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 2, 0, 0, 0))
       + chunk(b"IDAT", zlib.compress(bytes(4))) + chunk(b"IEND", b""))


@dataclass
class Site:
    """The servers of the page. `policy` is its Content-Security-Policy; without `is_reachable`, only the handler gets to them."""

    policy: bytes = b""
    is_reachable: bool = True
    requests: list[Request] = field(default_factory=list)

    def answer(self, request: Request) -> Response | None:
        """The page, and what it loads."""
        is_handler = bool(request.values(b"X-Through"))
        path = request.parts.path
        if not is_handler and not self.is_reachable and path != "/page":
            raise Disconnected
        self.requests.append(request)
        origin = request.values(b"Origin")
        shared = ((b"Access-Control-Allow-Origin", origin[0]),) if origin else ()
        cookie = (b"through=%s; Path=/" % (b"handler" if is_handler else b"engine"),)
        match path.rpartition(".")[2] if "." in path else path:
            case "/page":
                policy = ((b"Content-Security-Policy", self.policy),) if self.policy else ()
                return Response(body=MARKUP + b"<script>window.scheme = %s</script>" % json.dumps(PREFIX).encode(),
                                headers=policy)
            case "/frame":
                return Response(body=FRAME)
            case "/set/missing":
                return Response(status=404)
            case "png":
                return Response(body=PNG, content_type=b"image/png", headers=shared)
            case "css":
                return Response(body=b"body { background: url(/style/sheet.png) }", content_type=b"text/css")
            case "mjs":
                body = (b"import './part.mjs'; window.entry = (await import('./late.mjs')).default"
                        if path.endswith("entry.mjs") else b"export default 'module'")
                return Response(body=body, content_type=b"text/javascript", headers=shared)
            case "js":
                body = (b"fetch('/engine/of-worker').then(r => r.text()).then(postMessage)" if "worker" in path
                        else b"window.ran = (window.ran || '') + ' %s'" % path.encode())
                return Response(body=body, content_type=b"text/javascript")
            case _:
                return Response(body=request.body or path.encode(), content_type=b"text/plain", set_cookie=cookie,
                                headers=shared + ((b"X-One", b"1"),))

    def paths(self, by_handler: bool) -> set[str]:
        """The paths that were requested by the handler, or by the engine."""
        return {request.parts.path for request in self.requests if bool(request.values(b"X-Through")) == by_handler}


def script(kinds: list[str]) -> str:
    """The text of `ResourceScript` for the page."""
    chosen = ", ".join(f"{kind}: {json.dumps(kind in kinds)}" for kind in
                       ("images", "scripts", "styles", "requests", "modules"))
    places = {"//{parameters}": f"var prefix = {json.dumps(PREFIX)}, kinds = {{ {chosen} }};",
              "//{pages}": "function isPage(protocol, host) "
                           "{ return false || protocol === 'https:' && host === 'www.site-c.test'; }"}
    lines = SCRIPT.read_text().split("\n")
    return "\n".join(places.get(line.strip(), line) for line in lines)


STANDARD = ["images", "scripts", "styles", "requests"]
#: What a page finds, however its resources are loaded.
EXPECTED = {
    "image by its property": True, "image by its attribute": True, "image by srcset": True,
    "image of another site": True,
    "what the page reads of a rewritten image": [f"{PAGE}/set/read.png", "/set/read.png", f"{PAGE}/set/read.png"],
    "a canvas stays readable": True, "script": [True, " /markup/script.js /set/script.js"],
    "style sheet, and its rules": 1, "a lazy image of markup": 1, "an image by innerHTML": 1,
    "fetch": [200, f"{PAGE}/set/fetch?q=%20", "1", "/set/fetch"], "fetch of a missing resource": 404,
    "fetch, aborted": "AbortError", "fetch of another site": "/engine/cross", "a posted body": "posted",
    "XMLHttpRequest": [200, f"{PAGE}/set/xhr", "/set/xhr"], "import()": "module",
    "a module that a script inserts": [True, "module"], "a worker": "/engine/of-worker",
    "cookies of a response": False, "a frame of another origin": [True, True],
    "a frame that knows the scheme": "refused",
}
#: What differs from that where the handler gets nothing, or where the engine gets nothing.
BY_ENGINE: dict[str, object] = {"image of another site": False, "fetch of another site": "TypeError: Load failed",
                                "a frame of another origin": "timeout", "a frame that knows the scheme": "timeout"}
OFFLINE = {**BY_ENGINE, "image of another site": True, "a posted body": "TypeError: Load failed", "a worker": "timeout",
           "import()": "TypeError: Importing a module script failed.", "a module that a script inserts": [False, None]}
#: What scripts insert, and what styles name.
IMAGES = {"/set/property.png", "/set/attribute.png", "/set/a,b.png", "/set/other.png", "/set/read.png", "/set/canvas.png",
          "/set/lazy.png"}
INSERTED = IMAGES | {"/set/script.js", "/set/style.css", "/set/fetch", "/set/missing", "/set/xhr", "/style/element.png",
                     "/style/attribute.png", "/style/sheet.png"}
MODULES = {"/module/entry.mjs", "/module/part.mjs", "/module/late.mjs"}
MARKED_UP = {"/markup/style.css", "/markup/script.js", "/markup/image.png", "/markup/inner.png"}


@dataclass(frozen=True)
class Case:
    """One way to load the page."""

    name: str
    kinds: list[str] = field(default_factory=lambda: STANDARD)
    policy: bytes = b""
    is_reachable: bool = True
    is_secure: bool = True
    #: The paths that the handler is asked for.
    handled: set[str] = field(default_factory=set)
    #: What the page finds besides what it always finds.
    found: dict[str, object] = field(default_factory=dict)


CASES = [
    Case("registered as secure", handled=INSERTED),
    Case("with modules", kinds=[*STANDARD, "modules"], handled=INSERTED | MODULES),
    Case("not registered as secure", kinds=["images"], is_secure=False, handled=IMAGES),
    Case("only the handler reaches the server", is_reachable=False, handled=INSERTED | MARKED_UP, found=OFFLINE),
    Case("the page's policy names its own origin", policy=b"default-src 'self' 'unsafe-inline' 'unsafe-eval'",
         found=BY_ENGINE),
]


def run_case(case: Case, folder: Path) -> tuple[str, list[str]]:
    """The browser's version, and what is not as it should be."""
    folder.mkdir()
    site, processes = Site(case.policy, case.is_reachable), Processes(folder)
    failures: list[str] = []
    try:
        with ProxyServer(site.answer, make_tls_context(folder)) as proxy:
            view = WebKit(processes, proxy.port, scheme={"prefix": PREFIX, "page": PAGE, "secure": case.is_secure})
            view.add_document_script(script(case.kinds))
            view.navigate(f"{PAGE}/page")
            wait_for(lambda: view.evaluate("location.href !== 'about:blank' && document.readyState === 'complete'") or None,
                     "the page")
            view.evaluate(f"(function () {{ {CHECKS.read_text()} }})(), 1")
            text = wait_for(lambda: view.evaluate("window.found ? JSON.stringify(window.found) : null"), "the page's checks")
            found, expected = json.loads(str(text)), EXPECTED | case.found
            failures += [f"{name}: {found.get(name)!r}, expected {expected[name]!r}" for name in expected
                         if found.get(name) != expected[name]]
            asked = {request["url"] for request in view.scheme_requests() if not request["refused"]}
            if "through" in view.stored() and view.stored()["through"] == "handler":
                failures.append("the view's store has a cookie of the handler")
    finally:
        processes.stop_all()
    handled = site.paths(by_handler=True) - {"/set/slow"}
    if handled != case.handled:
        failures.append(f"the handler gets {sorted(handled - case.handled)} too, and not {sorted(case.handled - handled)}")
    if not any(url.startswith(PAGE) for url in asked) and case.handled:
        failures.append("the handler is not asked")
    for request in site.requests:
        if any(PREFIX.encode() in value for _, value in request.headers):
            failures.append(f"the server learns the scheme: {request.url}")
    return view.version, failures


def run_resources(folder: Path) -> bool:
    """Runs all cases and prints a line for each; whether everything was as it should be."""
    passed = True
    for number, case in enumerate(CASES):
        try:
            version, failures = run_case(case, folder / str(number))
        except EngineFailure as failure:
            version, failures = "webkit", [str(failure)]
        print(f"resources: {version}: {case.name}: {f'{len(failures)} FAILURES' if failures else 'ok'}")
        for failure in failures:
            print(f"    {failure}", file=sys.stderr)
        passed &= not failures
    return passed
