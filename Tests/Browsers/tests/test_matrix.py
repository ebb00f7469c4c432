"""Of the script matrix: that what is missing fails unless a fact says so."""

import unittest

from matrix.cookies import OMISSIONS, PAGES, UNVERIFIABLE
from matrix.expectation import Expectation
from matrix.facts import read_facts
from matrix.run import MatrixResult, judge, unsaid_omissions


def failures(engine: str, seen: bytes, expected: list[bytes], load: str = "fetch") -> list[str]:
    """Those of one load of the https page."""
    result = MatrixResult()
    judge(result, read_facts(), engine, PAGES[0], {load: seen}, {load: expected})
    return result.failures


class Judging(unittest.TestCase):
    """Of one load."""

    def test_enough_cookies(self) -> None:
        self.assertGreaterEqual(len({row.line for page in PAGES for row in page.rows}), 60)

    def test_all_there(self) -> None:
        self.assertEqual(failures("firefox", b"a=1; b=2", [b"a=1", b"b=2"]), [])

    def test_missing(self) -> None:
        self.assertEqual(len(failures("firefox", b"a=1", [b"a=1", b"b=2"])), 1)

    def test_too_many(self) -> None:
        self.assertEqual(len(failures("firefox", b"a=1; hidden=secret1", [b"a=1"])), 1)

    def test_order(self) -> None:
        self.assertEqual(len(failures("firefox", b"b=2; a=1", [b"a=1", b"b=2"])), 1)

    def test_known(self) -> None:
        self.assertEqual(failures("chromium", b"", [b"a=1"], load="image"), [])
        self.assertEqual(len(failures("chromium", b"", [b"a=1"], load="fetch")), 1)

    def test_never_asked_for(self) -> None:
        result = MatrixResult()
        judge(result, [], "firefox", PAGES[0], {}, {"image": []})
        self.assertEqual(len(result.failures), 1)

    def test_unsaid_omission(self) -> None:
        said = {name: [reason] for name, reason in OMISSIONS.items()}
        complete = Expectation("", {}, set(OMISSIONS), said, set())
        self.assertEqual(unsaid_omissions(PAGES[0], complete), [])
        self.assertEqual(len(unsaid_omissions(PAGES[0], Expectation("", {}, set(OMISSIONS), {}, set()))), len(OMISSIONS))

    def test_unsaid_unverifiable(self) -> None:
        said = Expectation("", {}, UNVERIFIABLE | {b"plain"}, {}, UNVERIFIABLE)
        self.assertEqual(unsaid_omissions(PAGES[0], said), [])
        self.assertEqual(len(unsaid_omissions(PAGES[0], Expectation("", {}, {b"api"}, {}, set()))), 1)
