"""A case: requests that a browser makes one after the other, with what each answer sets."""

from dataclasses import dataclass
from enum import Enum
from urllib.parse import urlsplit


class Reach(Enum):
    """How the browser comes to make a request."""

    #: A person types the URL.
    NAVIGATE = "navigate"
    #: The response before it leads there.
    REDIRECT = "redirect"
    #: The page goes there by script.
    LOCATION = "location"
    #: The page posts a form there.
    FORM = "form"
    #: The page fetches it without CORS, with credentials.
    FETCH = "fetch"
    #: The page shows it as an image.
    IMAGE = "image"
    #: The page shows it in a frame.
    FRAME = "frame"


#: What a page does without being left.
SUBRESOURCES = frozenset({Reach.FETCH, Reach.IMAGE, Reach.FRAME})


class Kind(Enum):
    """What a case is about."""

    #: Every word of the vocabulary alone.
    SYSTEMATIC = "systematic"
    #: One navigation through a chain of redirects.
    NAVIGATION = "navigation"
    #: Navigations that a page of another site sets off.
    CROSS_SITE_NAVIGATION = "cross-site navigation"
    #: Sub-resources of a page of another site.
    CROSS_SITE_SUBRESOURCE = "cross-site sub-resource"
    #: Sub-resources of a page of the same registrable domain.
    SAME_SITE_SUBRESOURCE = "same-site sub-resource"
    #: Cookies that a page sets and reads by script.
    SCRIPT = "script"


@dataclass(frozen=True)
class Step:
    """One request."""

    reach: Reach
    #: Without a query; the stage adds one that says which step it is.
    url: str
    #: The Set-Cookie field values of the answer.
    set_cookie: tuple[bytes, ...] = ()
    #: What the page there assigns to document.cookie.
    writes: tuple[str, ...] = ()

    @property
    def origin(self) -> str:
        """Scheme, host and port."""
        parts = urlsplit(self.url)
        return f"{parts.scheme}://{parts.netloc}"


@dataclass(frozen=True)
class Case:
    """Steps on hosts that no other case has."""

    number: int
    kind: Kind
    steps: tuple[Step, ...]

    def document(self, index: int) -> int | None:
        """The step whose page sets off step `index`, or a redirect to it; `None` where a person does."""
        while self.steps[index].reach is Reach.REDIRECT:
            index -= 1
        if self.steps[index].reach is Reach.NAVIGATE:
            return None
        index -= 1
        while not self.is_document(index):
            index -= 1
        return index

    def is_document(self, index: int) -> bool:
        """Whether the step's answer is a page of its own, neither a redirect nor part of a page."""
        if index + 1 < len(self.steps) and self.steps[index + 1].reach is Reach.REDIRECT:
            return False
        return self.request_reach(index) not in SUBRESOURCES

    def request_reach(self, index: int) -> Reach:
        """How the request began that was led to step `index`."""
        while self.steps[index].reach is Reach.REDIRECT:
            index -= 1
        return self.steps[index].reach

    def redirects(self, index: int) -> list[str]:
        """The URLs that led to step `index`, the first one first."""
        chain: list[str] = []
        while self.steps[index].reach is Reach.REDIRECT:
            index -= 1
            chain.insert(0, self.steps[index].url)
        return chain

    def is_first(self, index: int, scheme: str) -> bool:
        """Whether step `index` has a scheme, and no request before it to the same registrable domain has."""
        def with_scheme(url: str) -> bool:
            return urlsplit(url).scheme == scheme

        site = site_of(self.steps[index].url)
        return with_scheme(self.steps[index].url) and not any(
            with_scheme(step.url) and site_of(step.url) == site for step in self.steps[:index])


#: How many labels the registrable domains of cases have, by the last one.
SITE_LABELS = {"test": 2, "uk": 3, "jp": 4}


def site_of(url: str) -> str:
    """The registrable domain of a step's URL; an address is its own."""
    host = urlsplit(url).hostname or ""
    labels = host.split(".")
    return host if labels[-1].isdigit() else ".".join(labels[-SITE_LABELS[labels[-1]]:])
