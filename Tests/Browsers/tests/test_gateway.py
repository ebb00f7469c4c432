"""How the run of the cases through the gateway judges differences."""

import unittest
from dataclasses import replace

from differential.case import Case, Kind, Reach, Step
from differential.comparison import Comparison
from differential.observation import Place
from gateway.differential import DATA, certificate_names, figures_of, sites_of
from differential.deviations import read_deviations
from tests.test_comparison import deviation

CASE = Case(1, Kind.NAVIGATION, (
    Step(Reach.NAVIGATE, "https://www.s00001.test/", (b"a=1; HttpOnly",)),
    Step(Reach.REDIRECT, "http://www.s00001.test/"), Step(Reach.REDIRECT, "http://s00001.test/")))


def seen(step: int, direct: bytes, through: bytes) -> Comparison:
    """What a server gets with and without the gateway."""
    return Comparison(CASE, Place(step), {"chromium": direct}, through)


class Judgements(unittest.TestCase):
    """Of fields that differ."""

    def test_fewer_is_not_more(self) -> None:
        known = [replace(deviation("^a=", ["chromium"]), is_fewer=True)]
        for direct, through, unexplained in ((b"a=1", b"", 0), (b"", b"a=1", 1), (b"a=1", b"a=2", 1)):
            figures = figures_of("chromium", [seen(1, direct, through)], known)
            self.assertEqual(len(figures.unexplained), unexplained, (direct, through))

    def test_first_over_http(self) -> None:
        known = read_deviations(DATA)
        for step, unexplained in ((0, 1), (1, 0), (2, 1)):
            figures = figures_of("chromium", [seen(step, b"a=1", b"")], known)
            self.assertEqual(len(figures.unexplained), unexplained, step)

    def test_set_first_over_http(self) -> None:
        known = read_deviations(DATA)
        for url, unexplained in (("http://s00001.test/", 0), ("https://s00001.test/", 1)):
            case = Case(1, Kind.NAVIGATION, (
                Step(Reach.NAVIGATE, "https://s00001.test/"), Step(Reach.REDIRECT, url, (b"a=1; HttpOnly",)),
                Step(Reach.REDIRECT, "https://s00001.test/")))
            figures = figures_of("webkit", [Comparison(case, Place(2), {"webkit": b"a=1"}, b"")], known)
            self.assertEqual(len(figures.unexplained), unexplained, url)

    def test_same(self) -> None:
        self.assertEqual(figures_of("chromium", [seen(1, b"a=1", b"a=1")], []).same, 1)


class Sites(unittest.TestCase):
    """Of the hosts of cases."""

    def test_sites(self) -> None:
        urls = ("https://www.s00001.test:8443/a", "http://deep.www.s00002.co.uk/", "https://own.s00003.kawasaki.jp/")
        case = Case(1, Kind.NAVIGATION, tuple(Step(Reach.NAVIGATE, url) for url in urls))
        self.assertEqual(sites_of([case]), ["s00001.test", "s00002.co.uk", "own.s00003.kawasaki.jp"])

    def test_certificate(self) -> None:
        self.assertEqual(certificate_names(["s1.test", "10.0.0.1"]), ["s1.test", "*.s1.test", "*.www.s1.test", "10.0.0.1"])
