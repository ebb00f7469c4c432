"""Cases, made at random from a seed: the same seed gives the same cases on every machine."""

from random import Random

from differential.case import Case, Kind, Reach, Step
from differential.lines import LineMaker, Surroundings
from differential.systematic import systematic_cases
from differential.vocabulary import REQUEST_PATHS

# Of a hundred cases.
SHARES = {
    Kind.NAVIGATION: 50, Kind.CROSS_SITE_NAVIGATION: 10, Kind.CROSS_SITE_SUBRESOURCE: 15,
    Kind.SAME_SITE_SUBRESOURCE: 10, Kind.SCRIPT: 15,
}
SUBRESOURCE_REACHES = [Reach.FETCH, Reach.FETCH, Reach.IMAGE, Reach.FRAME]


def generate(count: int, seed: int) -> list[Case]:
    """Cases 1 to `count`; a longer run begins with the cases of a shorter one.

    First come those that try each word alone, which are the same with every seed.
    """
    cases = systematic_cases(first=1)
    cases += [CaseMaker(number, Random(f"{seed}/{number}")).case() for number in range(len(cases) + 1, count + 1)]
    return cases[:count]


class CaseMaker:
    """Makes one case, on a registrable domain that has its number."""

    def __init__(self, number: int, random: Random):
        self._number = number
        self._random = random
        self._lines = LineMaker(random)
        draw = random.randrange(100)
        label = f"s{number:05}"
        # Of the kinds of public suffix: none that is listed, one of two labels, a wildcard.
        self._site, self._suffix = (
            (f"{label}.test", "test") if draw < 80 else
            (f"{label}.co.uk", "co.uk") if draw < 90 else
            (f"own.{label}.kawasaki.jp", f"{label}.kawasaki.jp"))
        self._address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    def case(self) -> Case:
        """A case of a kind that is drawn too."""
        kind = self._random.choices(list(SHARES), weights=list(SHARES.values()))[0]
        steps = {
            Kind.NAVIGATION: self._navigation, Kind.CROSS_SITE_NAVIGATION: self._cross_site_navigation,
            Kind.CROSS_SITE_SUBRESOURCE: self._cross_site_subresource,
            Kind.SAME_SITE_SUBRESOURCE: self._same_site_subresource, Kind.SCRIPT: self._script,
        }[kind]()
        return Case(self._number, kind, tuple(steps))

    def _navigation(self) -> list[Step]:
        is_address = self._random.randrange(100) < 4
        steps = [self._setting(self._url(is_address=is_address)) for _ in range(self._random.randint(1, 3))]
        if self._random.randrange(100) < 5:
            url = steps[0].url
            steps[0] = Step(Reach.NAVIGATE, url, tuple(self._lines.many(self._surroundings(url), 30)))
        steps += [Step(Reach.REDIRECT, self._url(is_address=is_address)) for _ in range(self._random.randint(2, 4))]
        return _begun(steps)

    def _cross_site_navigation(self) -> list[Step]:
        scheme = self._scheme()
        steps = [self._setting(self._url(scheme)) for _ in range(self._random.randint(1, 2))]
        steps += [Step(Reach.REDIRECT, f"{scheme}://elsewhere{self._number:05}.test/")]
        for _ in range(self._random.randint(2, 3)):
            reach = Reach.FORM if self._random.randrange(100) < 20 else Reach.LOCATION
            steps.append(Step(reach, self._url(scheme), self._some_lines(self._url(scheme), share=30)))
            # Back to where the next one starts from.
            steps.append(Step(Reach.REDIRECT, f"{scheme}://elsewhere{self._number:05}.test/"))
        return _begun(steps)

    def _cross_site_subresource(self) -> list[Step]:
        scheme = self._scheme()
        return self._page_with_subresources(f"{scheme}://elsewhere{self._number:05}.test/", scheme)

    def _same_site_subresource(self) -> list[Step]:
        scheme = self._scheme()
        return self._page_with_subresources(self._url(scheme), scheme)

    def _page_with_subresources(self, page: str, scheme: str) -> list[Step]:
        """A visit to the site itself, then the page, then what the page loads."""
        steps = [self._setting(self._url(scheme)) for _ in range(self._random.randint(0, 1))]
        steps.append(Step(Reach.REDIRECT, page))
        for _ in range(self._random.randint(1, 2)):
            url = self._url(scheme)
            steps.append(Step(self._random.choice(SUBRESOURCE_REACHES), url, self._some_lines(url, share=100)))
        for _ in range(self._random.randint(2, 3)):
            steps.append(Step(self._random.choice(SUBRESOURCE_REACHES), self._url(scheme)))
            if self._random.randrange(100) < 15:
                steps.append(Step(Reach.REDIRECT, self._url(scheme)))
        # And what a person gets who goes there after that.
        if self._random.randrange(100) < 50:
            steps.append(Step(Reach.LOCATION, self._url(scheme)))
        return _begun(steps)

    def _script(self) -> list[Step]:
        scheme = self._scheme()
        steps = [self._setting(self._url(scheme)) for _ in range(self._random.randint(0, 1))]
        for _ in range(self._random.randint(1, 2)):
            url = self._url(scheme)
            surroundings = self._surroundings(url)
            writes = tuple(self._lines.text(surroundings) for _ in range(self._random.randint(1, 4)))
            steps.append(Step(Reach.LOCATION if steps else Reach.NAVIGATE, url,
                              self._some_lines(url, share=30), writes))
        steps += [Step(Reach.LOCATION, self._url(scheme)) for _ in range(self._random.randint(1, 3))]
        return _begun(steps)

    def _setting(self, url: str) -> Step:
        return Step(Reach.REDIRECT, url, self._some_lines(url, share=100))

    def _some_lines(self, url: str, share: int) -> tuple[bytes, ...]:
        if self._random.randrange(100) >= share:
            return ()
        surroundings = self._surroundings(url)
        return tuple(self._lines.line(surroundings) for _ in range(self._random.randint(1, 4)))

    def _surroundings(self, url: str) -> Surroundings:
        host = url.split("/")[2].split(":")[0]
        return Surroundings(host if host == self._address else self._site, self._suffix, host)

    def _scheme(self) -> str:
        return "https" if self._random.randrange(100) < 65 else "http"

    def _url(self, scheme: str | None = None, is_address: bool = False) -> str:
        """Somewhere on the site: another host, port or path each time, and another scheme unless one is given."""
        scheme = scheme or self._scheme()
        host = self._address if is_address else self._random.choice(
            ["", "", "www.", "www.", "deep.www.", "sibling."]) + self._site
        port = "" if self._random.randrange(100) < 95 else ":8080" if scheme == "http" else ":8443"
        return f"{scheme}://{host}{port}{self._random.choice(REQUEST_PATHS)}"


def _begun(steps: list[Step]) -> list[Step]:
    """The steps with a person's navigation as the first."""
    first = steps[0]
    return [Step(Reach.NAVIGATE, first.url, first.set_cookie, first.writes), *steps[1:]]
