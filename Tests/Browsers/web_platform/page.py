"""Runs one page of tests in a browser: what testharness.js reports, and what testdriver.js asks for."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from engines import Chromium, EngineFailure, Firefox

#: What testharness.js waits, in seconds, twice as long as by default, and what the page may need beside it.
TIMEOUT, LONG_TIMEOUT, GRACE = 20, 120, 20
STATUSES = ("PASS", "FAIL", "TIMEOUT", "NOTRUN", "PRECONDITION_FAILED")
HARNESS_STATUSES = ("OK", "ERROR", "TIMEOUT", "PRECONDITION_FAILED")
#: The name under which the page itself is listed.
HARNESS = "(the page)"

_LEAVE = "window.isLeft = true"
_POLL = ("JSON.stringify(window.isLeft ? {}"
         " : {results: window.laboratoryResults, request: window.laboratoryRequests?.next()})")


@dataclass(frozen=True)
class Outcome:
    """What a page reports."""

    #: The status of each subtest by its name, and of the page as `HARNESS`.
    statuses: dict[str, str] = field(default_factory=dict)
    #: Why a subtest has not passed.
    messages: dict[str, str] = field(default_factory=dict)


#: A page that reports nothing.
SILENT = Outcome({HARNESS: "SILENT"})
#: A browser that has ended, or answers no more.
LOST = Outcome({HARNESS: "LOST"})


def run_page(engine: Chromium | Firefox, url: str, is_long: bool, empty_jar: Callable[[], None]) -> Outcome:
    """Shows a page until it reports; `empty_jar` is called when the page has all cookies deleted."""
    try:
        engine.evaluate(_LEAVE)
    except EngineFailure:
        # A page that cannot be asked reports nothing either.
        pass
    try:
        engine.navigate(url)
    except EngineFailure:
        # It may be on its way all the same.
        pass
    deadline = time.monotonic() + (LONG_TIMEOUT if is_long else TIMEOUT) + GRACE
    while time.monotonic() < deadline:
        state = _state(engine)
        if request := state.get("request"):
            _answer(engine, request, empty_jar)
        elif results := state.get("results"):
            return _outcome(results)
        else:
            time.sleep(0.03)
    return SILENT


def _state(engine: Chromium | Firefox) -> dict:
    try:
        return json.loads(str(engine.evaluate(_POLL)))
    except (EngineFailure, ValueError):
        # The page is being left, or shows a message box.
        time.sleep(0.1)
        return {}


def _answer(engine: Chromium | Firefox, request: dict, empty_jar: Callable[[], None]) -> None:
    """Does what testdriver.js asks for."""
    value: object = None
    if request["command"] == "delete":
        engine.delete_cookies()
        empty_jar()
    else:
        value = engine.page_cookies()
    engine.evaluate(f"window.laboratoryRequests.answer({request['id']}, {json.dumps(value)})")


def _outcome(results: dict) -> Outcome:
    outcome = Outcome({HARNESS: HARNESS_STATUSES[results["status"]]}, {HARNESS: results["message"] or ""})
    for test in results["tests"]:
        name, number = test["name"], 1
        while name in outcome.statuses:
            number += 1
            name = f"{test['name']} #{number}"
        outcome.statuses[name] = STATUSES[test["status"]]
        outcome.messages[name] = test["message"] or ""
    return outcome
