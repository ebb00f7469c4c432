"""Runs the pages of one browser directly and through the gateway, and holds the results against each other."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from engines.waiting import run_together
from web_platform.checkout import Server, Test
from web_platform.comparison import Comparison, Difference, compare
from web_platform.page import Outcome
from web_platform.session import Session

#: After so many pages the browser begins with an empty profile.
PAGES_OF_A_SESSION = 50


@dataclass
class Result:
    """The comparison of one browser, by page."""

    engine: str
    version: str = ""
    comparisons: dict[str, Comparison] = field(default_factory=dict)

    @property
    def differences(self) -> list[Difference]:
        """All differences."""
        return [difference for comparison in self.comparisons.values() for difference in comparison.differences]

    @property
    def rare(self) -> list[Difference]:
        """All that are seen in fewer than half of the runs."""
        return [difference for comparison in self.comparisons.values() for difference in comparison.rare]

    def total(self, figure: str) -> int:
        """The sum of a figure of the comparisons."""
        return sum(getattr(comparison, figure) for comparison in self.comparisons.values())


class EngineRun:
    """The pages in one browser: all of them once, and then those with differences, each in profiles of its own.

    A page that is shown after others may find storage and caches of theirs, and a busy machine makes pages slow. So the
    first run says which pages to look at, and only the later ones count for these.
    """

    def __init__(self, engine: str, folder: Path, server: Server, binary: Path, rounds: int,
                 report: Callable[[str], None] = partial(print, flush=True)):
        self._engine, self._folder, self._server, self._binary = engine, folder, server, binary
        self._rounds, self._report = rounds, report
        self._sessions = 0
        self._lock = threading.Lock()
        self._version = ""

    def run(self, tests: Sequence[Test]) -> Result:
        """The comparisons of all tests."""
        result = Result(self._engine)
        for start in range(0, len(tests), PAGES_OF_A_SESSION):
            self._compare(tests[start:start + PAGES_OF_A_SESSION], result)
            self._report(f"{self._engine}: {len(result.comparisons)} of {len(tests)} pages, {result.total('same')} subtests "
                         f"the same, {len(result.differences)} differ")
        result.version = self._version
        return result

    def _compare(self, tests: Sequence[Test], result: Result) -> None:
        """Compares some of the tests."""
        direct, through = self._both(tests)
        suspects = []
        for test in tests:
            comparison = compare(self._engine, test.path, [direct[test.path]], [through[test.path]])
            result.comparisons[test.path] = comparison
            if comparison.differences:
                suspects.append(test)
        for test in suspects:
            rounds = [self._both([test]) for _ in range(self._rounds)]
            result.comparisons[test.path] = compare(
                self._engine, test.path, [outcomes[test.path] for outcomes, _ in rounds],
                [outcomes[test.path] for _, outcomes in rounds])

    def _both(self, tests: Sequence[Test]) -> tuple[dict[str, Outcome], dict[str, Outcome]]:
        """The outcomes with and without the gateway; both run at the same time, in profiles of their own."""
        direct: dict[str, Outcome] = {}
        through: dict[str, Outcome] = {}
        run_together([lambda: self._all(tests, None, direct), lambda: self._all(tests, self._binary, through)])
        return direct, through

    def _all(self, tests: Sequence[Test], binary: Path | None, outcomes: dict[str, Outcome]) -> None:
        with self._lock:
            self._sessions += 1
            folder = self._folder / f"{self._sessions}"
        with Session(self._engine, folder, self._server, binary) as session:
            for test in tests:
                outcomes[test.path] = session.run(test)
            self._version = session.version
