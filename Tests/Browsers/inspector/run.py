"""A person's way through the inspector, in each browser: signing in, asking, seeing a value, watching, signing out; and
the way there by a link on another site's page."""

import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import urlencode

from engines.chromium import Chromium
from engines.engine import Engine
from engines.firefox import Firefox
from engines.processes import Processes
from engines.waiting import wait_for
from engines.webkit import WebKit
from inspector.service import LinkingSite, Service
from inspector.story import CONTRAST, Story, sign_in, wait_for_title

ENGINES: dict[str, type[Chromium] | type[Firefox] | type[WebKit]] = {
    "chromium": Chromium, "firefox": Firefox, "webkit": WebKit}

# What a screen reader goes by: labels, headings, the scope of headers, names of buttons.
UNLABELLED = """[
  ...[...document.querySelectorAll("input:not([type=hidden])")].filter((input) => !input.labels.length),
  ...[...document.querySelectorAll("th:not([scope])")],
  ...[...document.querySelectorAll("button")].filter((button) => !(button.ariaLabel || button.textContent).trim()),
  ...[...document.querySelectorAll("[onclick], [style], script:not([src])")],
].map((element) => element.outerHTML)"""


def tell_of_links(engine: Engine, service: Service, story: Story) -> None:
    """Links to the inspector on pages of the same host's other port and of another host, before and after a sign-in."""
    def follow(site: LinkingSite) -> None:
        engine.navigate(site.url)
        wait_for_title(engine, "Another site")
        engine.evaluate("(document.querySelector('a').click(), true)")
        wait_for_title(engine, "A link from another site · Crumb")
        text = str(engine.evaluate("document.body.innerText"))
        story.check("the page for a link is one to read", "Open the page" in text and "{" not in text)
        story.check("the page for a link shows nothing of a jar", "theme" in text, False)
        story.check("the page for a link is laid out", engine.evaluate("document.styleSheets.length > 0"))
        story.check("labels of the page for a link", engine.evaluate(UNLABELLED), [])
        engine.evaluate("([...document.links].find((link) => link.textContent === 'Open the page').click(), true)")

    with LinkingSite("127.0.0.2", service.origin + "/jars/default?url=https://www.shop.test/") as site:
        follow(site)
        wait_for_title(engine, "Sign in · Crumb")
        sign_in(engine, service.token)
        wait_for_title(engine, "Jar default · Crumb")
        follow(site)
        wait_for_title(engine, "Jar default · Crumb")
        story.check("the query of a link is kept", engine.evaluate("location.search"), "?url=https://www.shop.test/")
    with LinkingSite("127.0.0.1", service.origin + "/") as site:
        follow(site)
        wait_for_title(engine, "Jars · Crumb")
    engine.evaluate("(document.querySelector('form[action=\"/sign-out\"]').requestSubmit(), true)")
    wait_for_title(engine, "Sign in · Crumb")


def tell_of_gateway(engine: Engine, service: Service, story: Story, picture: Callable[..., None]) -> None:
    """What passes through a gateway, as it happens."""
    gateway = service.start_gateway()
    service.request_through(gateway, "/healthz")
    engine.navigate(service.origin + "/gateways/shop")
    wait_for_title(engine, "Gateway shop · Crumb")
    story.check("labels of a gateway", engine.evaluate(UNLABELLED), [])
    story.check("what has passed before", engine.evaluate("document.querySelectorAll('tbody tr').length > 0"))
    wait_for(lambda: engine.evaluate("document.querySelector('.live-note').textContent.startsWith('Newer')") or None,
             "the stream of requests", 20)
    story.check("contrast of the page of a gateway", float(str(engine.evaluate(CONTRAST))) >= 4.5)
    service.request_through(gateway, "/readyz")
    fresh = "document.querySelector('tbody tr.new')"
    wait_for(lambda: engine.evaluate(f"!!{fresh}") or None, "a request that passes now", 20)
    story.check("the request", engine.evaluate(f"{fresh}.querySelector('th').textContent.includes('/readyz')"))
    story.check("its status", engine.evaluate(f"{fresh}.querySelector('.answer.sent').textContent"), "200")
    story.check("a row has as many cells as the head", engine.evaluate(f"{fresh}.cells.length"), 6)
    picture("gateway")


def tell(engine: Engine, service: Service, story: Story, picture: Callable[..., None]) -> None:
    """The way from the sign-in to the sign-out."""
    engine.navigate(service.origin + "/jars/default")
    wait_for_title(engine, "Sign in · Crumb")
    story.check("labels of the sign-in", engine.evaluate(UNLABELLED), [])
    sign_in(engine, "crumb_wrong")
    wait_for(lambda: engine.evaluate("!!document.querySelector('[role=alert]')") or None, "the refusal", 20)
    sign_in(engine, service.token)
    wait_for_title(engine, "Jar default · Crumb")

    picture("cookies", "#cookies")
    html = engine.evaluate("document.documentElement.outerHTML")
    story.check("no value is there unasked", "a-secret-value" in str(html), False)
    story.check("a name is text, whatever it looks like", engine.evaluate("document.querySelector('main b')"), None)
    story.check("a name that is markup", engine.evaluate(
        "[...document.querySelectorAll('tbody th')].some((cell) => cell.textContent === '<b>bold</b>')"))
    story.check("labels of a jar", engine.evaluate(UNLABELLED), [])
    story.check("lifetime bars", engine.evaluate("document.querySelectorAll('details meter').length"), 2)
    story.check("no script but the service's own runs", engine.evaluate(
        "(() => { const script = document.createElement('script'); script.textContent = 'window.ran = true'; "
        "document.head.append(script); return window.ran === undefined; })()"))

    engine.evaluate("(document.querySelector('form.reveal button').click(), true)")
    output = "document.querySelector('form.reveal output').value"
    wait_for(lambda: engine.evaluate(f"{output} !== ''") or None, "a value", 20)
    story.check("the value that was asked for", engine.evaluate(output), "a-secret-value")
    engine.evaluate("(document.querySelector('form.reveal button').click(), true)")
    story.check("the value is hidden again", engine.evaluate(output), "")

    wait_for(lambda: engine.evaluate("document.querySelector('.live-note').textContent.startsWith('Newer')") or None,
             "the stream of changes", 20)
    service.crumb.run("set", "https://accounts.shop.test/", octets=b"fresh=1; Path=/; Secure\n")
    fresh = "[...document.querySelectorAll('.changes li.new')].filter((line) => line.textContent.includes('fresh'))"
    wait_for(lambda: engine.evaluate(f"{fresh}.length") or None, "a change that another process made", 20)

    engine.navigate(service.origin + "/jars/default?url=https://www.shop.test/")
    wait_for(lambda: engine.evaluate("document.querySelector('.verdict')?.textContent") or None, "the answer", 20)
    story.check("the answer", engine.evaluate("document.querySelectorAll('.answer.sent').length"), 1)
    story.check("the reasons", engine.evaluate(
        "[...document.querySelectorAll('.reason code')].some((code) => code.textContent === 'host-only-mismatch')"))
    picture("jar")
    story.check("contrast of the light page", float(str(engine.evaluate(CONTRAST))) >= 4.5)
    engine.navigate(service.origin + "/")
    wait_for_title(engine, "Jars · Crumb")
    tell_of_gateway(engine, service, story, picture)
    engine.navigate(service.origin + "/")
    wait_for_title(engine, "Jars · Crumb")
    story.check("labels of the overview", engine.evaluate(UNLABELLED), [])
    story.check("a token's state", engine.evaluate("document.querySelector('.state.valid')?.textContent"), "valid")
    story.check("no token is shown", engine.evaluate("document.documentElement.outerHTML.includes('a-secret')"), False)
    picture("overview")
    engine.evaluate("(document.querySelector('form[action=\"/sign-out\"]').requestSubmit(), true)")
    wait_for_title(engine, "Sign in · Crumb")
    engine.navigate(service.origin + "/jars/default")
    wait_for(lambda: engine.evaluate("location.pathname") == "/sign-in" or None, "the sign-in after the end", 20)


def tell_without_scripts(service: Service, story: Story) -> None:
    """The same by forms and links alone, as a browser without JavaScript sends them; and what no page may do."""
    form = {"Content-Type": "application/x-www-form-urlencoded", "Origin": service.origin}
    status, fields, _ = service.request("POST", "/sign-in", form, urlencode({"token": service.token, "to": "//evil"}))
    story.check("sign-in by a form", (status, fields.get("location")), (303, "/"))
    cookie = fields["set-cookie"]
    story.check("the session's cookie", [part in cookie for part in ("HttpOnly", "SameSite=Strict")], [True, True])
    signed_in = {"Cookie": cookie.split(";")[0]}
    _, fields, page = service.request("GET", "/jars/default", signed_in)
    story.check("nothing from elsewhere is loaded", "default-src 'none'" in fields["content-security-policy"])
    key = page.split('name="cookie" value="')[1].split('"')[0]
    status, _, page = service.request("POST", "/jars/default/reveal", form | signed_in, urlencode({"cookie": key}))
    story.check("a value on a page of its own", (status, "a-secret-value" in page), (200, True))
    foreign = form | signed_in | {"Origin": "http://evil.test"}
    status, _, page = service.request("POST", "/jars/default/reveal", foreign, urlencode({"cookie": key}))
    story.check("a form of another site", (status, "a-secret-value" in page), (403, False))
    status, _, _ = service.request("GET", "/v1/jars", signed_in)
    story.check("the API is not for the pages' cookie", status, 401)
    status, _, _ = service.request("GET", "/", {"Host": "rebound.test"})
    story.check("a name that was bound to the loopback", status in (403, 421))


def run_inspector(binary: Path, engines: list[str], folder: Path, screenshots: Path | None) -> bool:
    """Tells the story in each browser; prints what is wrong."""
    processes = Processes(folder)
    failures: list[str] = []
    try:
        service = Service(binary, processes, folder)
        story = Story("no browser")
        tell_without_scripts(service, story)
        failures += story.failures
        for name in [name for name in engines if name in ENGINES]:
            story = Story(name)
            with ENGINES[name](processes, None) as engine:
                def picture(page: str, place: str | None = None) -> None:
                    if not isinstance(engine, Chromium):
                        return
                    if place:
                        engine.evaluate(f"(document.querySelector({json.dumps(place)}).scrollIntoView(), true)")
                    for scheme in ("light", "dark"):
                        octets = engine.screenshot(scheme)
                        if scheme == "dark":
                            story.check(f"contrast of the dark {page}",
                                        float(str(engine.evaluate(CONTRAST))) >= 4.5)
                        if screenshots:
                            (screenshots / f"inspector-{page}-{scheme}.png").write_bytes(octets)
                    engine.screenshot("light")
                # Firefox shows the pages' own scripts as the others do; what is its own is what it sends with a link.
                if not isinstance(engine, Firefox):
                    tell(engine, service, story, picture)
                tell_of_links(engine, service, story)
                print(f"inspector: {engine.version}: {'as it should be' if not story.failures else 'wrong'}")
            failures += story.failures
    finally:
        processes.stop_all()
    for failure in failures:
        print(f"inspector: {failure}")
    return not failures
