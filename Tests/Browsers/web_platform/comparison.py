"""What differs between a browser's results with and without the gateway."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from web_platform.page import Outcome

DATA = Path(__file__).with_name("expectations.json")
MISSING = "MISSING"
#: More would be a list of faults, not of exceptions.
MOST_EXPECTATIONS = 10


@dataclass(frozen=True)
class Expectation:
    """A difference that is known, with its reason. Tests and subtests are regular expressions."""

    id: str
    engines: tuple[str, ...]
    test: re.Pattern[str]
    subtest: re.Pattern[str]
    reason: str

    def explains(self, difference: "Difference") -> bool:
        """Whether it is this difference."""
        return (difference.engine in self.engines and self.test.fullmatch(difference.path) is not None
                and self.subtest.fullmatch(difference.subtest) is not None)


@dataclass(frozen=True)
class Difference:
    """A subtest with another result through the gateway than directly."""

    engine: str
    path: str
    subtest: str
    direct: str
    #: All results through the gateway, in order.
    through: tuple[str, ...]
    message: str

    def __str__(self) -> str:
        return (f"{self.engine} {self.path}: {self.subtest}: {self.direct}, through the gateway "
                f"{', '.join(self.through)}: {self.message}")


@dataclass
class Comparison:
    """The subtests of one page."""

    same: int = 0
    passed: int = 0
    #: Subtests whose result changes without the gateway, too.
    unsteady: int = 0
    differences: tuple[Difference, ...] = ()
    #: Differences in fewer than half of the runs.
    rare: tuple[Difference, ...] = ()


def compare(engine: str, path: str, direct: Sequence[Outcome], through: Sequence[Outcome]) -> Comparison:
    """Compares the runs of a page. Only what is the same in all direct runs can differ."""
    result = Comparison()
    differences, rare = [], []
    names = dict.fromkeys(name for outcome in (*direct, *through) for name in outcome.statuses)
    for name in names:
        expected = {outcome.statuses.get(name, MISSING) for outcome in direct}
        found = tuple(outcome.statuses.get(name, MISSING) for outcome in through)
        if len(expected) > 1:
            result.unsteady += 1
            continue
        status = expected.pop()
        others = [index for index, other in enumerate(found) if other != status]
        if others:
            message = through[others[0]].messages.get(name, "")
            (differences if len(others) * 2 >= len(found) else rare).append(
                Difference(engine, path, name, status, found, message))
        else:
            result.same += 1
            result.passed += status == "PASS"
    result.differences, result.rare = tuple(differences), tuple(rare)
    return result


def read_expectations(file: Path = DATA) -> list[Expectation]:
    """The differences that are known."""
    expectations = [
        Expectation(entry["id"], tuple(entry["engines"]), re.compile(entry["test"]), re.compile(entry["subtest"], re.DOTALL),
                    entry["reason"]) for entry in json.loads(file.read_text())]
    assert len(expectations) <= MOST_EXPECTATIONS
    return expectations
