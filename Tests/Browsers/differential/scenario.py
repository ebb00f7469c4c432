"""Cases as scenarios of `crumb simulate`, and its answers as observations."""

import base64
import json
from collections.abc import Sequence

from crumb import Crumb, CrumbFailure
from differential.case import SUBRESOURCES, Case, Reach
from differential.observation import Interface, Observations, Place
from differential.stage import step_url


# Browsers send young cookies without SameSite with cross-site posts too; it takes a parameter to have that of Crumb.
LAX_ALLOWING_UNSAFE_AGE = 120


def scenario(case: Case, now: str) -> tuple[dict[str, object], list[Place | None]]:
    """The scenario of a case, and for each of its steps the place where cookies are seen, if it is one."""
    steps: list[dict[str, object]] = []
    places: list[Place | None] = []

    def add(action: str, place: Place | None, fields: dict[str, object]) -> None:
        steps.append({action: fields})
        places.append(place)

    for index, step in enumerate(case.steps):
        url = step_url(case, index)
        context = request_context(case, index)
        # A form that is posted goes on as GET where it is led elsewhere.
        method = "POST" if step.reach is Reach.FORM else "GET"
        add("send", Place(index), {"url": url, "method": method, "context": context})
        if step.set_cookie:
            add("receive", None, {"url": url, "context": context, "setCookieBase64": _encoded(step.set_cookie)})
        if step.writes:
            for text in step.writes:
                add("receive", None, {"url": url, "via": "script", "setCookieBase64": _encoded([text.encode()])})
            add("send", Place(index, Interface.SCRIPT), {"url": url, "via": "script"})
    document = {"id": case.number, "now": now, "profile": "browser", "laxAllowingUnsafe": LAX_ALLOWING_UNSAFE_AGE,
                "steps": steps}
    return document, places


def request_context(case: Case, index: int) -> dict[str, object]:
    """Who asks for step `index`, as docs/simulate.md describes it."""
    document = case.document(index)
    is_navigation = case.request_reach(index) not in SUBRESOURCES
    origin = None if document is None else case.steps[document].origin
    page = index if is_navigation or document is None else document
    return {"topLevel": step_url(case, page), "initiator": origin, "navigation": is_navigation,
            "redirects": case.redirects(index)}


def ask_crumb(crumb: Crumb, cases: Sequence[Case], now: str) -> dict[int, Observations]:
    """Crumb's observations of all cases, by number."""
    scenarios = [scenario(case, now) for case in cases]
    lines = "".join(json.dumps(document) + "\n" for document, _ in scenarios)
    answers = crumb.documents("simulate", octets=lines.encode())
    if len(answers) != len(cases):
        raise CrumbFailure(f"crumb simulate answers {len(answers)} of {len(cases)} scenarios")
    return {case.number: _observations(places, answer["results"])
            for case, (_, places), answer in zip(cases, scenarios, answers, strict=True)}


def _observations(places: Sequence[Place | None], results: Sequence[dict | None]) -> Observations:
    observations = Observations()
    history: list[str] = []
    for place, result in zip(places, results, strict=True):
        assert result is not None
        if place is None:
            history += [_decision(decision) for decision in result["decisions"]]
            continue
        octets = base64.b64decode(result["cookieBase64"])
        if place.interface is Interface.SCRIPT:
            octets = octets.decode("utf-8", "replace").encode()
        observations.cookies[place] = octets
        excluded = [f"{_name(entry)}: {', '.join(entry['reasons'])}" for entry in result["excluded"]]
        observations.explanations[place] = "; ".join(history + [f"stays behind {entry}" for entry in excluded])
    return observations


def _decision(decision: dict) -> str:
    reasons = f" ({', '.join(decision['reasons'])})" if decision.get("reasons") else ""
    cookie = decision.get("cookie")
    return f"{decision['outcome']}{' ' + _name(cookie) if cookie else ''}{reasons}"


def _name(entry: dict) -> str:
    return ascii(entry.get("name") or entry.get("nameBase64") or "")


def _encoded(lines: Sequence[bytes]) -> list[str]:
    return [base64.b64encode(line).decode() for line in lines]
