"""Of the generator: what every case must be for its answers to mean anything."""

import unittest
from urllib.parse import urlsplit

from differential.case import SUBRESOURCES, Case, Kind, Reach, Step
from differential.generator import generate

COUNT = 400


class GeneratedCases(unittest.TestCase):
    """Every case of a run."""

    cases = generate(COUNT, seed=1)

    def test_same_seed_same_cases(self) -> None:
        self.assertEqual(self.cases, generate(COUNT, seed=1))
        self.assertNotEqual(self.cases, generate(COUNT, seed=2))

    def test_longer_run_begins_with_shorter(self) -> None:
        self.assertEqual(self.cases[:100], generate(100, seed=1))

    def test_every_kind(self) -> None:
        self.assertEqual({case.kind for case in self.cases}, set(Kind))

    def test_no_two_cases_share_a_host(self) -> None:
        owners: dict[str, int] = {}
        for case in self.cases:
            for step in case.steps:
                host = urlsplit(step.url).hostname or ""
                self.assertEqual(owners.setdefault(host, case.number), case.number, host)

    def test_lines_can_be_sent(self) -> None:
        for case in self.cases:
            for step in case.steps:
                for line in step.set_cookie:
                    self.assertNotRegex(line, rb"[\x00\r\n]")

    def test_begins_with_a_person(self) -> None:
        for case in self.cases:
            self.assertEqual([step.reach for step in case.steps].index(Reach.NAVIGATE), 0)
            self.assertNotIn(Reach.NAVIGATE, [step.reach for step in case.steps[1:]])

    def test_ends_without_setting(self) -> None:
        # What a last answer sets, nobody would see.
        for case in self.cases:
            self.assertEqual(case.steps[-1].set_cookie, (), case)


class Documents(unittest.TestCase):
    """Who sets off what."""

    CASE = Case(1, Kind.CROSS_SITE_SUBRESOURCE, (
        Step(Reach.NAVIGATE, "https://a.test/"), Step(Reach.REDIRECT, "https://page.test/"),
        Step(Reach.FETCH, "https://a.test/1"), Step(Reach.REDIRECT, "https://a.test/2"),
        Step(Reach.LOCATION, "https://a.test/3"), Step(Reach.REDIRECT, "https://a.test/4"),
        Step(Reach.FRAME, "https://a.test/5")))

    def test_document(self) -> None:
        self.assertEqual([self.CASE.document(index) for index in range(7)], [None, None, 1, 1, 1, 1, 5])

    def test_redirects(self) -> None:
        self.assertEqual(self.CASE.redirects(3), ["https://a.test/1"])
        self.assertEqual(self.CASE.redirects(2), [])
        self.assertEqual(self.CASE.redirects(5), ["https://a.test/3"])

    def test_request_reach(self) -> None:
        self.assertIn(self.CASE.request_reach(3), SUBRESOURCES)
        self.assertIs(self.CASE.request_reach(5), Reach.LOCATION)
