"""What Playwright writes of a Chromium that it drives."""

from collections.abc import Iterator

from capture import Capture, Workbench
from tools import PLAYWRIGHT_CLIENT


def playwright(bench: Workbench) -> Iterator[Capture]:
    """Its storageState, its list of cookies and its HAR."""
    bench.run(str(bench.python), str(PLAYWRIGHT_CLIENT), "save", bench.proxy, bench.url, "state.json", "cookies.json",
              "record.har")
    yield Capture("Playwright's storageState", ("state.json",), unsaid=("sameSite",))
    yield Capture("Playwright's context.cookies()", ("cookies.json",), unsaid=("sameSite",))
    yield Capture("Playwright's recordHar", ("record.har",))
