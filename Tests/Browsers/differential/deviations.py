"""What is known of engines: where they do something else than Crumb, and why that is so."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from differential.comparison import Comparison, Difference

DATA = Path(__file__).with_name("deviations.json")


@dataclass(frozen=True)
class Deviation:
    """A way in which engines differ from Crumb.

    Where all engines of a run do, it is a known disagreement of Crumb with browsers.
    """

    id: str
    engines: frozenset[str]
    #: The engines' versions that it was seen in.
    versions: tuple[str, ...]
    #: Found in a line of each cookie that is different; octets stand for the characters of their numbers.
    line: re.Pattern[str] | None
    #: Whether it is about the order of cookies alone.
    is_order: bool
    #: Whether a line makes the whole field different, not just its own cookie.
    is_field: bool
    #: How requests begin that it is about, such as `fetch`; empty for all.
    reaches: frozenset[str]
    #: The kinds of cases that it is about; empty for all.
    kinds: frozenset[str]
    #: Where it is about one interface alone.
    interface: str | None
    #: Where it is about the first request to a host with one scheme alone.
    first_over: str | None
    #: Where it is about cookies alone that the first response of a host with one scheme sets.
    set_first_over: str | None
    #: Whether it is about cookies that are missing alone, where the requests of a browser go through the gateway.
    is_fewer: bool
    reason: str
    #: A line that shows it.
    example: str

    def explains(self, comparison: Comparison, engine: str, difference: Difference,
                 lines: Iterable[bytes]) -> bool:
        """Whether it may be the reason of a difference in the cookies that `lines` set."""
        case, place = comparison.case, comparison.place
        if engine not in self.engines or (self.is_order and not difference.is_order):
            return False
        if self.reaches and case.request_reach(place.step).value not in self.reaches:
            return False
        if self.kinds and case.kind.value not in self.kinds:
            return False
        if self.interface and place.interface.value != self.interface:
            return False
        if self.first_over and not case.is_first(place.step, self.first_over):
            return False
        if self.set_first_over:
            first = {line for index, step in enumerate(case.steps[:place.step])
                     if case.is_first(index, self.set_first_over) for line in step.set_cookie}
            lines = [line for line in lines if line in first]
        found = comparison.lines if self.is_field else lines
        return self.line is None or any(self.line.search(line.decode("latin-1")) for line in found)


def read_deviations(file: Path = DATA) -> list[Deviation]:
    """The entries of a data file."""
    return [Deviation(
        id=entry["id"], engines=frozenset(entry["engines"]), versions=tuple(entry["versions"]),
        line=_pattern(entry), is_order=entry.get("order", False), is_field=entry.get("field", False),
        reaches=frozenset(entry.get("reaches", ())), kinds=frozenset(entry.get("kinds", ())),
        interface=entry.get("interface"), first_over=entry.get("firstOver"),
        set_first_over=entry.get("setFirstOver"),
        is_fewer=entry.get("fewer", False), reason=entry["reason"], example=entry["example"])
        for entry in json.loads(file.read_text())]


def _pattern(entry: dict) -> re.Pattern[str] | None:
    flags = re.DOTALL if entry.get("caseSensitive") else re.DOTALL | re.IGNORECASE
    return re.compile(entry["line"], flags) if "line" in entry else None


def explain(comparison: Comparison, engines: Sequence[str], difference: Difference,
            deviations: Sequence[Deviation]) -> list[Deviation] | None:
    """The reasons why all of `engines` differ from Crumb: for each cookie that is different, one that they have in
    common, or one for each of them.

    What deletes or refuses a cookie can be the reason of another order too: the cookie after it is a new one then.
    `None` where a cookie is left that nothing explains.
    """
    candidates = sorted(deviations, key=lambda deviation: deviation.is_order != difference.is_order)
    found: list[Deviation] = []
    for lines in difference.lines:
        reasons = [[deviation for deviation in candidates if deviation.explains(comparison, engine, difference, lines)]
                   for engine in engines]
        if not all(reasons):
            return None
        common = [deviation for deviation in reasons[0] if all(deviation in others for others in reasons)]
        found += common[:1] or [of_engine[0] for of_engine in reasons]
    return list(dict.fromkeys(found))
