"""Lets pages send events through the gateway: the site's own, and those of another site, which know the path too. And
runs the example of a WebKitGTK view in the documentation."""

import json
import os
import subprocess
import sys
from pathlib import Path

from engines import ENGINES, Processes
from engines.display import start_display
from engines.waiting import wait_for
from engines.webkit import PYTHON
from gateway.process import gateway
from gateway.site import HOSTS, OTHER, SHOP
from server.certificate import make_tls_context
from server.messages import NOT_FOUND, Request, Response
from server.proxy import ProxyServer

#: Sends an event to the URL in the query, with the body in the query, and says so in the title.
SENDER = b"""<!doctype html><title>sending</title><body><script>
const query = new URLSearchParams(location.search);
fetch(query.get("to"), {method: "POST", body: query.get("event"), mode: "no-cors", credentials: "include"})
  .catch(() => {}).then(() => { document.title = "sent"; parent.postMessage("sent", "*"); });
</script>"""

#: The page around two frames of another site.
PAGE = """<!doctype html><title>waiting</title><body><script>
let left = 2;
addEventListener("message", () => { left -= 1; if (left === 0) document.title = "framed"; });
for (const [name, to] of [["frame-to-site", "{SHOP}{PATH}"], ["frame-to-own-host", "{OTHER}{PATH}"]]) {
  const frame = document.createElement("iframe");
  frame.src = `{OTHER}/send?event=${name}&to=${encodeURIComponent(to)}`;
  document.body.append(frame);
}
</script>""".replace("{SHOP}", SHOP).replace("{OTHER}", OTHER)


class EventSite:
    """The pages of both sites, and what servers get that is none of theirs."""

    def __init__(self) -> None:
        self.leaked: list[str] = []

    def answer(self, request: Request) -> Response | None:
        """Answers a request."""
        if not request.parts.netloc.endswith(HOSTS):
            return None
        if "crumb" in request.parts.path:
            self.leaked.append(request.url)
        match request.parts.path:
            case "/send":
                return Response(body=SENDER)
            case "/page":
                return Response(body=PAGE.replace("{PATH}", request.parameters["path"]).encode())
            case "/seed":
                return Response(body=b"<!doctype html><title>seed</title><body>seed")
        return NOT_FOUND


def run_events(binary: Path, engines: list[str], folder: Path) -> bool:
    """Whether the events of a site's own pages arrive in each browser, and no others."""
    passed = True
    for name in engines:
        place = folder / f"{name}-events"
        (place / "browser").mkdir(parents=True)
        site = EventSite()
        tls = make_tls_context(place, [label for host in HOSTS for label in (host, f"*.{host}")])
        processes = Processes(place / "browser")
        try:
            with ProxyServer(site.answer, tls) as proxy, \
                    gateway(binary, place, proxy.port, place / "certificate.pem", HOSTS) as port:
                path = json.loads((place / "gateway.json").read_text())["eventsPath"]
                engine = ENGINES[name](processes, port)

                def load(url: str, title: str) -> None:
                    engine.navigate(url)
                    wait_for(lambda: engine.evaluate(f"location.href === {json.dumps(url)} && document.title") == title
                             or None, url, 20)

                for origin in (SHOP, OTHER):
                    load(f"{origin}/seed?first", "seed")
                load(f"{SHOP}/send?event=own&to={SHOP}{path}", "sent")
                load(f"{SHOP}/page?path={path}", "framed")
                load(f"{OTHER}/send?event=other-site&to={SHOP}{path}", "sent")
                load(f"{OTHER}/seed?last", "seed")
                # A link of another site's page.
                engine.evaluate(f"(setTimeout(() => {{ location.href = '{SHOP}{path}?linked'; }}, 0), 1)")
                wait_for(lambda: engine.evaluate("document.body?.innerText.includes('page of the site itself')")
                         or None, "the refusal of a link", 20)
                version = engine.version
                engine.close()
        finally:
            processes.stop_all()
        lines = [json.loads(line) for line in (place / "gateway.log").read_text().splitlines()]
        events = [line["pageEvent"] for line in lines if "pageEvent" in line]
        refused = [line for line in lines if line.get("status") == 403 and line["url"].endswith("/.well-known/crumb")]
        failures = []
        if [(event["origin"], event.get("data")) for event in events] != [(SHOP, "own")]:
            failures.append(f"the events are {events}")
        if len(refused) < 4:
            failures.append(f"{len(refused)} requests are refused, not 4")
        if site.leaked:
            failures.append(f"servers get {site.leaked}")
        print(f"gateway events: {version}: {len(events)} taken, {len(refused)} refused: "
              f"{'ok' if not failures else 'FAILURES'}")
        for failure in failures:
            print(f"    {failure}", file=sys.stderr)
        passed &= not failures
    return passed


#: The example of a view that uses a gateway.
EXAMPLE = Path(__file__).parents[3] / "docs/examples/gateway/webkitgtk.py"


def run_view_example(binary: Path, folder: Path) -> bool:
    """Whether the example shows a page through the gateway, and none if its authority is another one."""
    place = folder / "example"
    place.mkdir()
    tls = make_tls_context(place, [label for host in HOSTS for label in (host, f"*.{host}")])
    processes = Processes(place)
    try:
        with ProxyServer(EventSite().answer, tls) as proxy, \
                gateway(binary, place, proxy.port, place / "certificate.pem", HOSTS) as port:
            environment = {**os.environ, "DISPLAY": start_display(processes), "GDK_BACKEND": "x11",
                           "WEBKIT_DISABLE_COMPOSITING_MODE": "1", "GSETTINGS_BACKEND": "memory"}
            results = []
            for authority in ("authority.pem", "certificate.pem"):
                words = [PYTHON, str(EXAMPLE), f"127.0.0.1:{port}", str(place / authority), f"{SHOP}/seed"]
                results.append(subprocess.run(words, env=environment, capture_output=True, text=True, timeout=60,
                                              check=False))
    finally:
        processes.stop_all()
    passed = [(result.returncode, result.stdout) for result in results] == [(0, "seed\n"), (1, "")]
    print(f"gateway example of WebKitGTK: {'ok' if passed else [result.stderr for result in results]}")
    return passed
