"""Of the comparison: that it can fail, and tells what is different."""

import re
import unittest

from differential.case import Case, Kind, Reach, Step
from differential.comparison import Comparison, compare, missed
from differential.deviations import Deviation, explain, read_deviations
from differential.observation import Observations, Place
from differential.report import make_report

CASE = Case(7, Kind.NAVIGATION, (
    Step(Reach.NAVIGATE, "https://a.test/", (b"a=1", b"b=2; Secure", b"c=3")), Step(Reach.REDIRECT, "https://a.test/")))
ENGINES = ["chromium", "firefox"]


def comparison(crumb: bytes, **engines: bytes) -> Comparison:
    """Of the second step."""
    return Comparison(CASE, Place(1), engines, crumb)


def deviation(line: str, engines: list[str], is_order: bool = False) -> Deviation:
    """One that needs no more than a line."""
    return Deviation(id="known", engines=frozenset(engines), versions=(), line=re.compile(line), is_order=is_order,
                     is_field=False, reaches=frozenset(), kinds=frozenset(), interface=None, first_over=None,
                     set_first_over=None, is_fewer=False, reason="", example="")


class Differences(unittest.TestCase):
    """Of one engine and Crumb."""

    def test_none(self) -> None:
        self.assertIsNone(comparison(b"a=1", chromium=b"a=1").difference("chromium"))

    def test_names_the_lines(self) -> None:
        difference = comparison(b"a=1; c=3", chromium=b"a=1; b=2; c=3").difference("chromium")
        self.assertEqual((difference.is_order, difference.lines), (False, ((b"b=2; Secure",),)))

    def test_order(self) -> None:
        self.assertTrue(comparison(b"a=1; c=3", chromium=b"c=3; a=1").difference("chromium").is_order)

    def test_repetition(self) -> None:
        self.assertFalse(comparison(b"a=1", chromium=b"a=1; a=1").difference("chromium").is_order)


class LoneDifferences(unittest.TestCase):
    """Of Crumb and all engines."""

    def test_agreement(self) -> None:
        self.assertIsNone(comparison(b"a=1", chromium=b"a=1", firefox=b"a=1").lone_difference)

    def test_engines_differ(self) -> None:
        self.assertIsNone(comparison(b"", chromium=b"a=1", firefox=b"a=2").lone_difference)

    def test_one_cookie_among_others(self) -> None:
        lone = comparison(b"a=1", chromium=b"a=1; c=3", firefox=b"c=3").lone_difference
        self.assertEqual(lone.lines, ((b"c=3",),))

    def test_order(self) -> None:
        self.assertTrue(comparison(b"a=1; c=3", chromium=b"c=3; a=1", firefox=b"c=3; a=1").lone_difference.is_order)


class Verdicts(unittest.TestCase):
    """Of a whole run."""

    def report(self, crumb: bytes, deviations: list[Deviation], firefox: bytes = b"a=1; b=2; c=3"):
        seen = {Place(0): b"", Place(1): b"a=1; b=2; c=3"}
        ours = {7: Observations({Place(0): b"", Place(1): crumb})}
        theirs = {"chromium": {7: Observations(seen)}, "firefox": {7: Observations({**seen, Place(1): firefox})}}
        return make_report(compare([CASE], theirs, ours), ENGINES, deviations,
                           {name: missed([CASE], seen, ours) for name, seen in theirs.items()})

    def test_planted_disagreement(self) -> None:
        report = self.report(b"a=1; c=3", [])
        self.assertEqual([(one.case.number, one.place.step) for one in report.unknown], [(7, 1)])
        self.assertEqual((report.places, report.unanimous, report.agreed), (2, 2, 1))

    def test_planted_disagreement_within_a_field_that_is_not_unanimous(self) -> None:
        self.assertEqual(len(self.report(b"a=1; c=3", [], firefox=b"a=1; b=2").unknown), 1)

    def test_agreement(self) -> None:
        report = self.report(b"a=1; b=2; c=3", [])
        self.assertEqual((report.unknown, report.known, report.agreed), ([], [], 2))

    def test_known(self) -> None:
        report = self.report(b"a=1; c=3", [deviation("Secure", ENGINES)])
        self.assertEqual((len(report.unknown), len(report.known), report.stale), (0, 1, []))

    def test_known_of_one_engine_only(self) -> None:
        self.assertEqual(len(self.report(b"a=1; c=3", [deviation("Secure", ["chromium"])]).unknown), 1)

    def test_known_of_other_lines(self) -> None:
        report = self.report(b"a=1; c=3", [deviation("^z", ENGINES)])
        self.assertEqual((len(report.unknown), len(report.stale)), (1, 2))

    def test_one_of_two_is_not_enough(self) -> None:
        self.assertEqual(len(self.report(b"a=1", [deviation("Secure", ENGINES)]).unknown), 1)

    def test_missed(self) -> None:
        ours = {7: Observations({Place(0): b"", Place(1): b""})}
        self.assertEqual(missed([CASE], {7: Observations({Place(0): b""})}, ours), [(CASE, Place(1))])
        self.assertEqual(compare([CASE], {"chromium": {7: Observations({Place(0): b""})}}, ours)[0].place, Place(0))


class DataFile(unittest.TestCase):
    """Of what is known."""

    def test_reads(self) -> None:
        deviations = read_deviations()
        self.assertEqual(len({one.id for one in deviations}), len(deviations))
        for one in deviations:
            self.assertEqual(len(one.versions), len(one.engines), one.id)
            self.assertTrue(one.reason and one.example, one.id)
            self.assertTrue(one.is_order or one.line, one.id)
            self.assertFalse(one.is_order and one.line, one.id)

    def test_ordinary_lines_are_not_excused(self) -> None:
        ordinary = Case(1, Kind.NAVIGATION, (
            Step(Reach.NAVIGATE, "https://a.test/", (b"a=1; Path=/; Expires=Wed, 09 Jun 2027 10:18:14 GMT; Secure; "
                                                     b"HttpOnly; SameSite=Lax",)),
            Step(Reach.REDIRECT, "https://a.test/")))
        one = Comparison(ordinary, Place(1), {"chromium": b"", "firefox": b"", "webkit": b""}, b"a=1")
        for engine in one.engines:
            self.assertIsNone(explain(one, [engine], one.difference(engine), read_deviations()), engine)
