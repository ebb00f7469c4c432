"""How the app of the stories about the cache is built."""

import unittest

from cache.app import CLICKED, UNSEEN, build, hashed_name


class Builds(unittest.TestCase):
    """Of the app."""

    def test_only_the_font_is_in_both(self) -> None:
        self.assertEqual(set(build(1).chunks) & set(build(2).chunks), {build(1).paths["mono.ttf"]})

    def test_every_name_is_filled_in(self) -> None:
        for file in [build(1).document, *build(1).chunks.values()]:
            if file.content_type.startswith(("text/", "image/svg")):
                for name in ("BUILD", "COLOR", "ROUTE", *build(1).paths):
                    self.assertNotIn("{" + name + "}", file.body.decode())

    def test_seen(self) -> None:
        unseen = set(build(1).chunks) - build(1).seen
        self.assertEqual(unseen, build(1).chunks_of(UNSEEN))
        self.assertEqual(len(unseen), 1)
        self.assertEqual(len(build(1).chunks_of(CLICKED)), 2)

    def test_names(self) -> None:
        self.assertRegex(hashed_name("a.js", b"x"), r"^a-[A-Za-z0-9_-]{8}\.js$")
        self.assertRegex(hashed_name("a.js", b"x", is_evident=False), r"^a-[A-Za-z]{8}\.js$")
        self.assertEqual(hashed_name("a.js", b"x"), hashed_name("a.js", b"x"))
        self.assertNotEqual(hashed_name("a.js", b"x"), hashed_name("a.js", b"y"))
