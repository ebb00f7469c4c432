"""Every page that Crumb serves, at a desk's and a phone's width, in light and dark; and the pictures of the docs."""

import json
from pathlib import Path

from engines.chromium import Chromium
from engines.processes import Processes, free_ports
from engines.waiting import wait_for
from inspector.service import LinkingSite, Service
from inspector.story import CONTRAST, Story, sign_in, wait_for_title

WIDTHS = (1200, 390)
SCHEMES = ("light", "dark")

# What all pages share, and what a reader trips over. A break is within a word if letters or digits are on both its
# sides; words of more than thirty have to break somewhere. A date may not break at all.
MEASURE = r"""(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const range = document.createRange();
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    for (const found of node.data.matchAll(/\d{4}-\d\d-\d\dT[\d:.]+Z|[\p{L}\p{N}]+/gu)) {
      if (found[0].length > 30) continue;
      range.setStart(node, found.index);
      range.setEnd(node, found.index + found[0].length);
      if (new Set([...range.getClientRects()].map((part) => Math.round(part.top))).size > 1) broken.push(found[0]);
    }
  }
  const root = getComputedStyle(document.documentElement);
  const title = getComputedStyle(document.querySelector("h1"));
  return {
    style: [root.backgroundColor, root.color, root.fontFamily, title.fontSize, title.marginTop,
      getComputedStyle(document.querySelector(".home") ?? document.body).color],
    ground: root.backgroundColor,
    width: innerWidth,
    overflow: Math.max(0, document.documentElement.scrollWidth - innerWidth),
    broken: [...new Set(broken)],
    tables: [...document.querySelectorAll("table")].filter((table) => [...table.rows].some((row) =>
      getComputedStyle(row).display !== "table-row" || row.cells.length !== table.rows[0].cells.length)).length,
    height: document.documentElement.scrollHeight,
  };
})()"""

# The same pictures on every day: dates are moved to one morning, and ports are those of the docs.
SETTLE = r"""(() => {
  const start = Date.parse(START), first = Date.parse("2026-03-02T09:30:00Z"), minute = 60000;
  for (const time of document.querySelectorAll("time")) {
    const moment = first + Math.round((Date.parse(time.dateTime) - start) / minute) * minute;
    time.textContent = new Date(moment).toISOString().replace(".000", "");
  }
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    node.data = node.data.replace(/127\.0\.0\.1:\d+/g, "127.0.0.1:8080").replace(/29 days/g, "30 days");
  for (const line of document.querySelectorAll("li.new, tr.new")) line.classList.remove("new");
  document.activeElement?.blur();
  return true;
})()"""


class Pages:
    """Looks at pages, one after another, in one browser."""

    def __init__(self, engine: Chromium, story: Story, screenshots: Path | None, styles: dict[str, set[str]]):
        self._engine, self._story, self._screenshots, self._styles = engine, story, screenshots, styles

    def look(self, name: str) -> None:
        """Looks at the page that is shown, once its style is there."""
        wait_for(lambda: self._engine.evaluate("document.readyState === 'complete'") or None, f"all of {name}", 20)
        for width in WIDTHS:
            for scheme in SCHEMES:
                self._engine.emulate(scheme, width, 900, width < 600)
                seen = self._engine.evaluate(MEASURE)
                assert isinstance(seen, dict)
                here = f"{name}, {width} px, {scheme}"
                self._styles.setdefault(scheme, set()).add(json.dumps(seen["style"]))
                self._story.check(f"{here}: the width that the page is laid out for", seen["width"], width)
                self._story.check(f"{here}: pixels that the page scrolls sideways", seen["overflow"], 0)
                self._story.check(f"{here}: words and dates that break", seen["broken"], [])
                self._story.check(f"{here}: tables that lose columns", seen["tables"], 0)
                self._story.check(f"{here}: contrast", float(str(self._engine.evaluate(CONTRAST))) >= 4.5)
                if self._screenshots:
                    picture = self._engine.screenshot(scheme, width, min(int(seen["height"]), 2400), width < 600)
                    (self._screenshots / f"page-{name}-{width}-{scheme}.png").write_bytes(picture)
        self._engine.emulate("light", 1200, 900)


def look_at_inspector(engine: Chromium, service: Service, pages: Pages) -> None:
    """The inspector's own pages, and the page at the end of a login."""
    def show(path: str, title: str) -> None:
        engine.navigate(service.origin + path)
        wait_for_title(engine, f"{title} · Crumb")

    with LinkingSite("127.0.0.2", service.origin + "/") as site:
        engine.navigate(site.url)
        wait_for_title(engine, "Another site")
        engine.evaluate("(document.querySelector('a').click(), true)")
        wait_for_title(engine, "A link from another site · Crumb")
        pages.look("foreign-link")
    show("/sign-in", "Sign in")
    pages.look("sign-in")
    sign_in(engine, "crumb_wrong")
    wait_for(lambda: engine.evaluate("!!document.querySelector('[role=alert]')") or None, "the refusal", 20)
    pages.look("sign-in-refused")
    sign_in(engine, service.token)
    wait_for_title(engine, "Jars · Crumb")
    pages.look("overview")
    show("/jars/default", "Jar default")
    engine.evaluate("(document.querySelector('form.reveal button').click(), true)")
    wait_for(lambda: engine.evaluate("document.querySelector('form.reveal output').value") or None, "a value", 20)
    pages.look("jar")
    show("/jars/default?url=https://www.shop.test/", "Jar default")
    pages.look("answer")
    engine.evaluate("(document.querySelector('form.reveal').submit(), true)")
    wait_for_title(engine, "The value of __Host-sid · Crumb")
    pages.look("value")
    show("/jars/none", "Not Found")
    pages.look("problem")
    show("/gateways/shop", "Gateway shop")
    pages.look("gateway")
    engine.navigate(service.origin + "/v1/logins/callback?code=a&state=b")
    wait_for_title(engine, "Not this login")
    pages.look("login-at-service")


def look_at_loopback(engine: Chromium, service: Service, pages: Pages) -> None:
    """The page that `crumb token login` shows to a browser that comes back."""
    with service.login() as address:
        engine.navigate(f"{address}/elsewhere")
        wait_for_title(engine, "Not found")
        pages.look("login-at-terminal")


def take_pictures(engine: Chromium, service: Service, folder: Path) -> None:
    """The pictures of docs/inspector.md."""
    def take(name: str, scheme: str, path: str, place: str, height: int) -> None:
        engine.navigate_and_wait(service.origin + path)
        engine.emulate(scheme, 1100, height)
        engine.evaluate(SETTLE.replace("START", json.dumps(service.start)))
        engine.evaluate(f"(document.querySelector({json.dumps(place)}).scrollIntoView(), true)")
        (folder / f"inspector-{name}-{scheme}.png").write_bytes(engine.screenshot(scheme, 1100, height))

    take("overview", "light", "/", "header", 560)
    take("jar", "light", "/jars/default?url=https://www.shop.test/", "header", 900)
    take("cookies", "dark", "/jars/default", "#cookies", 760)


def run_pages(binary: Path, engines: list[str], folder: Path, screenshots: Path | None, pictures: Path | None) -> bool:
    """Looks at all pages, or takes the pictures alone; prints what is wrong."""
    if "chromium" not in engines:
        return True
    processes = Processes(folder)
    story = Story("pages")
    styles: dict[str, set[str]] = {}
    try:
        service = Service(binary, processes, folder)
        gateway = service.start_gateway()
        for path in ("/healthz", "/jars/default/a-long-way/to-the/settings-of-the/account-that/nobody-has/index.html"):
            service.request_through(gateway, path)
        with Chromium(processes, None) as engine:
            if pictures:
                engine.navigate(service.origin + "/sign-in")
                wait_for_title(engine, "Sign in · Crumb")
                sign_in(engine, service.token)
                wait_for_title(engine, "Jars · Crumb")
                take_pictures(engine, service, pictures)
                print(f"inspector: pictures in {pictures}")
                return True
            pages = Pages(engine, story, screenshots, styles)
            look_at_inspector(engine, service, pages)
            look_at_loopback(engine, service, pages)
        with Chromium(processes, int(gateway.rpartition(":")[2])) as engine:
            engine.navigate(f"http://127.0.0.1:{free_ports(1)[0]}/a/path/that-leads/nowhere-at-all/since-no-server/listens")
            wait_for_title(engine, "502 Crumb gateway")
            Pages(engine, story, screenshots, styles).look("gateway-error")
    finally:
        processes.stop_all()
    for scheme in SCHEMES:
        story.check(f"styles of the {scheme} pages", len(styles[scheme]), 1)
    story.check("the dark style is another", styles["light"].isdisjoint(styles["dark"]))
    for failure in story.failures:
        print(f"inspector: {failure}")
    print(f"inspector: pages: {'wrong' if story.failures else 'as they should be'}")
    return not story.failures
