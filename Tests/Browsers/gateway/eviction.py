"""Fills a site with cookies beyond what browsers keep of one, and looks at what is left of the gateway's verdicts."""

from pathlib import Path

from engines import ENGINES, Processes
from engines.page import fetch, load
from gateway.process import gateway
from server.certificate import make_tls_context
from server.messages import Request, Response
from server.proxy import ProxyServer

SITE = "full.test"
PAGE_URL = f"https://www.{SITE}/page"
#: More than twice of what any of the browsers keeps.
COUNT = 400
CLASSES = (b"none", b"lax", b"strict")


class FullSite:
    """Sets a cookie of each class, all of them HttpOnly, and notes how many cookies come with each request."""

    def __init__(self) -> None:
        #: By the label of a request: the classes that came, and how many cookies of scripts.
        self.seen: dict[str, tuple[set[bytes], int]] = {}

    def answer(self, request: Request) -> Response | None:
        """Notes the request and answers it."""
        if request.parts.hostname != f"www.{SITE}":
            return None
        names = {pair.split(b"=")[0] for pair in request.cookie.split(b"; ")}
        self.seen[request.parameters.get("l", "other")] = (
            names.intersection(CLASSES), sum(name.startswith(b"s") and name[1:].isdigit() for name in names))
        lines = tuple(b"%s=1; Path=/; Secure; HttpOnly; SameSite=%s" % (name, name) for name in CLASSES)
        return Response(body=b"<!doctype html><title>full</title>", set_cookie=lines)


def measure_eviction(binary: Path, name: str, folder: Path) -> list[str]:
    """What is not as it should be, after a line with what was found."""
    site = FullSite()
    processes = Processes(folder / "browser")
    processes.folder.mkdir()
    tls = make_tls_context(folder, [SITE, f"*.{SITE}"])
    with (ProxyServer(site.answer, tls) as proxy,
          gateway(binary, folder, proxy.port, folder / "certificate.pem", [SITE]) as port):
        try:
            engine = ENGINES[name](processes, port)
            load(engine, f"{PAGE_URL}?l=first")
            fetch(engine, "/page?l=before")
            engine.evaluate(f"(() => {{ for (let i = 0; i < {COUNT}; i++) "
                            "document.cookie = `s${i}=1; path=/; secure`; return 1 })()")
            fetch(engine, "/page?l=full")
            load(engine, f"{PAGE_URL}?l=page")
            fetch(engine, "/page?l=after-the-page")
            load(engine, f"{PAGE_URL}?l=next-page")
            fetch(engine, "/page?l=at-last")
            version = engine.version
        finally:
            processes.stop_all()
    order = ("before", "full", "page", "after-the-page", "next-page", "at-last")
    found = ", ".join(f"{label} {'+'.join(sorted(c.decode() for c in site.seen[label][0])) or 'nothing'} "
                      f"({site.seen[label][1]} others)" for label in order)
    print(f"gateway: {version}: of {COUNT} cookies of scripts: {found}")
    failures = []
    if site.seen["before"][0] != set(CLASSES):
        failures.append("eviction: a request of the site's own page does not carry all classes")
    # Whatever is sent less is stricter; what must come back comes with the pages of the site.
    if site.seen["at-last"][0] != set(CLASSES):
        failures.append("eviction: the verdicts do not recover with the next pages")
    return failures
