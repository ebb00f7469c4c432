"""How results with and without the gateway are held against each other."""

import re
import unittest

from web_platform.comparison import Difference, Expectation, compare, read_expectations
from web_platform.page import Outcome


def outcomes(*statuses: str) -> list[Outcome]:
    """Runs of a page with one subtest; `-` lacks it."""
    return [Outcome({} if status == "-" else {"one": status}) for status in statuses]


class Comparisons(unittest.TestCase):
    """Of the runs of a page."""

    def test_verdicts(self) -> None:
        for direct, through, verdict in (
                ("PASS PASS", "PASS PASS", "same"), ("FAIL FAIL", "FAIL FAIL", "same"),
                ("PASS PASS", "FAIL FAIL", "differs"), ("FAIL FAIL", "PASS PASS", "differs"),
                ("PASS PASS", "- -", "differs"), ("- -", "PASS PASS", "differs"),
                ("PASS PASS", "PASS FAIL", "differs"), ("PASS PASS PASS", "PASS PASS FAIL", "rare"),
                ("PASS FAIL", "FAIL FAIL", "unsteady"), ("PASS -", "PASS PASS", "unsteady")):
            found = compare("chromium", "/page", outcomes(*direct.split()), outcomes(*through.split()))
            figures = {"same": found.same, "unsteady": found.unsteady, "differs": len(found.differences),
                       "rare": len(found.rare)}
            self.assertEqual(figures, {name: int(name == verdict) for name in figures}, (direct, through))

    def test_passed_are_counted(self) -> None:
        for status, passed in (("PASS", 1), ("FAIL", 0)):
            self.assertEqual(compare("firefox", "/page", outcomes(status), outcomes(status)).passed, passed)


class Expectations(unittest.TestCase):
    """Of differences."""

    def test_expectation(self) -> None:
        expectation = Expectation("id", ("chromium",), re.compile("/a/.*"), re.compile("one.*"), "reason")
        for engine, path, subtest, is_explained in (
                ("chromium", "/a/page", "one", True), ("firefox", "/a/page", "one", False),
                ("chromium", "/b/page", "one", False), ("chromium", "/a/page", "the one", False)):
            difference = Difference(engine, path, subtest, "PASS", ("FAIL",), "")
            self.assertEqual(expectation.explains(difference), is_explained, (engine, path, subtest))

    def test_file(self) -> None:
        expectations = read_expectations()
        self.assertEqual(len({expectation.id for expectation in expectations}), len(expectations))
        for expectation in expectations:
            self.assertTrue(expectation.reason and expectation.engines, expectation.id)
