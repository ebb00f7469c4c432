"""What must arrive where: Crumb's own header for each URL, of the cookies that the script says it sets."""

import base64
from dataclasses import dataclass

from crumb import Crumb
from matrix.cookies import Page
from matrix.playground import RESOURCES


@dataclass(frozen=True)
class Expectation:
    """The script of a page, and what a browser that runs it sends."""

    script: str
    #: By what is loaded: the Cookie field, as pairs.
    pairs: dict[str, list[bytes]]
    #: The names of what the jar has of the page's site.
    stored: set[bytes]
    #: The names of what the script says it does not carry, each with the reasons.
    omitted: dict[bytes, list[str]]
    #: The names of what the script says it sets and the page cannot see.
    unverifiable: set[bytes]


def expect(crumb: Crumb, page: Page) -> Expectation:
    """Fills the jar with the page's cookies and asks for the script."""
    for url, lines in page.responses():
        crumb.import_response(url, b"HTTP/1.1 200 OK\r\n" + b"".join(b"Set-Cookie: %s\r\n" % line for line in lines)
                              + b"\r\n")
    answer = crumb.documents("script", "--json", "--quiet", page.url)[0]
    carried = {_name(cookie) for cookie in answer["cookies"]}
    omitted = {_name(entry["cookie"]): [reason["id"] for reason in entry["reasons"]] for entry in answer["omitted"]}
    urls = {"page": page.url, "document.cookie": page.url} | {
        name: page.resource(path) for name, path in RESOURCES.items()}
    pairs = {what: [pair for pair in header_pairs(crumb, url) if pair_name(pair) in carried]
             for what, url in urls.items()}
    stored = {_name(cookie) for cookie in crumb.documents("list", "--json", page.site)}
    return Expectation(answer["script"], pairs, stored, omitted, {_name(cookie) for cookie in answer["unverifiable"]})


def header_pairs(crumb: Crumb, url: str) -> list[bytes]:
    """What Crumb itself would send."""
    answer = crumb.documents("header", "--json", "--quiet", url)[0]
    return base64.b64decode(answer["cookieBase64"]).split(b"; ")


def pair_name(pair: bytes) -> bytes:
    """The name within a pair of a Cookie field."""
    name, equals, _ = pair.partition(b"=")
    return name if equals else b""


def _name(cookie: dict) -> bytes:
    return base64.b64decode(cookie["nameBase64"]) if "nameBase64" in cookie else cookie["name"].encode()
