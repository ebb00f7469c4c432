"""What every story does with the page that a browser shows."""

import json

from engines.engine import Engine, EngineFailure
from engines.waiting import wait_for


def holds(engine: Engine, expression: str) -> bool | None:
    """Whether an expression is true in the page that is shown; `None` if not yet."""
    try:
        return bool(engine.evaluate(expression)) or None
    except EngineFailure:
        # The page before it is being left.
        return None


def load(engine: Engine, url: str, shown: str | None = None, ready: str = "document.readyState === 'complete'") -> None:
    """Loads a page as if a person had typed its URL. `shown` is the URL of the page that a redirect leads to.

    The page before it must have another URL.
    """
    engine.navigate(url)
    wait_for(lambda: holds(engine, f"location.href === {json.dumps(shown or url)} && {ready}"), url)


def fetch(engine: Engine, url: str) -> None:
    """Has the page's script send a request, and waits for the response."""
    engine.evaluate(f"(window.got = 0, fetch({json.dumps(url)}).then(() => {{ window.got = 1 }}), 1)")
    wait_for(lambda: holds(engine, "window.got === 1"), url)
