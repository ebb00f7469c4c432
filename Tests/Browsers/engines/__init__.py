"""Real browsers, each behind the same few calls."""

from engines.chromium import Chromium
from engines.engine import Engine, EngineFailure, NavigationAborted
from engines.firefox import Firefox
from engines.processes import Processes
from engines.webkit import WebKit

#: Every browser that the laboratory knows, by name.
ENGINES: dict[str, type[Chromium] | type[Firefox] | type[WebKit]] = {
    engine.name: engine for engine in (Chromium, Firefox, WebKit)}

__all__ = ["ENGINES", "Chromium", "Engine", "EngineFailure", "Firefox", "NavigationAborted", "Processes", "WebKit"]
