"""What is known of engines and cannot be helped by a script: everything else that differs is a failure."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

DATA = Path(__file__).with_name("facts.json")


@dataclass(frozen=True)
class Fact:
    """Cookies that an engine does not take from a script, not in time, or not as they are."""

    id: str
    engines: frozenset[str]
    #: The engines' versions that it was seen in.
    versions: tuple[str, ...]
    #: What is loaded without them; empty for everything.
    loads: frozenset[str]
    #: Sites of pages; empty for all.
    sites: frozenset[str]
    #: Matches the pairs that do not arrive.
    missing: re.Pattern[str] | None
    #: Matches the pairs that arrive in their place.
    unexpected: re.Pattern[str] | None
    #: Whether the cookies come in another order.
    is_order: bool
    #: Whether it depends on who is faster, so that it need not show every time.
    is_race: bool
    reason: str

    def applies(self, engine: str, site: str, load: str) -> bool:
        """Whether it says anything about a load."""
        return (engine in self.engines and (not self.loads or load in self.loads)
                and (not self.sites or site in self.sites))


def matches(pattern: re.Pattern[str] | None, pair: bytes) -> bool:
    """Whether a pattern of a fact is about a pair; octets stand for the characters of their numbers."""
    return pattern is not None and pattern.fullmatch(pair.decode("latin-1")) is not None


def read_facts() -> list[Fact]:
    """The facts of the data file."""
    def pattern(entry: dict, name: str) -> re.Pattern[str] | None:
        return re.compile(entry[name], re.DOTALL) if name in entry else None

    return [Fact(id=entry["id"], engines=frozenset(entry["engines"]), versions=tuple(entry["versions"]),
                 loads=frozenset(entry.get("loads", ())), sites=frozenset(entry.get("sites", ())),
                 missing=pattern(entry, "missing"), unexpected=pattern(entry, "unexpected"),
                 is_order=entry.get("order", False), is_race=entry.get("isRace", False), reason=entry["reason"])
            for entry in json.loads(DATA.read_text())]
