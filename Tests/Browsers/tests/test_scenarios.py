"""Of the scenarios: that Crumb is asked for what the browser does."""

import base64
import unittest

from differential.case import Case, Kind, Reach, Step
from differential.observation import Interface, Place
from differential.scenario import scenario

CASE = Case(3, Kind.SCRIPT, (
    Step(Reach.NAVIGATE, "https://a.test/x", (b"a=\xff",), ("b=\u00e9",)), Step(Reach.FORM, "https://b.test/"),
    Step(Reach.REDIRECT, "https://a.test/"), Step(Reach.FETCH, "https://b.test/y")))


class Scenarios(unittest.TestCase):
    """Of one case."""

    def setUp(self) -> None:
        document, self.places = scenario(CASE, "2026-11-21T00:00:00Z")
        self.steps = document["steps"]

    def test_order(self) -> None:
        self.assertEqual([next(iter(step)) for step in self.steps],
                         ["send", "receive", "receive", "send", "send", "send", "send"])
        self.assertEqual(self.places, [Place(0), None, None, Place(0, Interface.SCRIPT), Place(1), Place(2), Place(3)])

    def test_octets(self) -> None:
        self.assertEqual(base64.b64decode(self.steps[1]["receive"]["setCookieBase64"][0]), b"a=\xff")
        self.assertEqual(base64.b64decode(self.steps[2]["receive"]["setCookieBase64"][0]), b"b=\xc3\xa9")

    def test_person(self) -> None:
        context = self.steps[0]["send"]["context"]
        self.assertEqual((context["initiator"], context["navigation"]), (None, True))

    def test_form(self) -> None:
        sent = self.steps[4]["send"]
        self.assertEqual((sent["method"], sent["context"]["initiator"]), ("POST", "https://a.test"))

    def test_redirect_after_form(self) -> None:
        sent = self.steps[5]["send"]
        self.assertEqual((sent["method"], sent["context"]["initiator"], sent["context"]["redirects"]),
                         ("GET", "https://a.test", ["https://b.test/"]))

    def test_fetch(self) -> None:
        context = self.steps[6]["send"]["context"]
        self.assertEqual((context["initiator"], context["navigation"]), ("https://a.test", False))
        self.assertTrue(context["topLevel"].startswith("https://a.test/?"))
