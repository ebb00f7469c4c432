"""Cases that try every word of the vocabulary alone, so that a difference has one possible reason."""

from differential import vocabulary as words
from differential.case import Case, Kind, Reach, Step
from differential.lines import Surroundings, filled

# Of one response; well below what browsers keep of a site.
LINES_IN_A_CASE = 25

# At the root, where the default-path is what prefixes ask of a Path.
ROOT_ATTRIBUTES = [b"Secure", b"Secure; HttpOnly", b"Secure; HttpOnly; Path="]


def systematic_cases(first: int) -> list[Case]:
    """The cases, numbered from `first` on."""
    lines = _attribute_lines() + _pair_lines()
    groups = [lines[start:start + LINES_IN_A_CASE] for start in range(0, len(lines), LINES_IN_A_CASE)]
    cases: list[Case] = []
    for scheme in ("https", "http"):
        for group in groups:
            cases.append(_case(first + len(cases), group, f"{scheme}://www.{{site}}/a/b/c"))
    for attributes in ROOT_ATTRIBUTES:
        lines = [name + b"={v}; " + attributes for name in words.PREFIXED_NAMES]
        cases.append(_case(first + len(cases), lines, "https://www.{site}/"))
    cases.append(_foreign_case(first + len(cases)))
    for group in _script_groups():
        cases.append(_script_case(first + len(cases), group))
    return cases


def _attribute_lines() -> list[bytes]:
    """Each attribute behind a pair of its own."""
    dates = [b"Expires=" + date for date in words.PAST_DATES + words.FUTURE_DATES]
    attributes = dict.fromkeys(words.PATHS + words.DOMAINS + words.MAX_AGES + dates + words.SAME_SITES + words.FLAGS)
    return [b"w%03d={v}; " % number + attribute for number, attribute in enumerate(attributes)]


def _pair_lines() -> list[bytes]:
    """Each value behind a name of its own; each name, and each line that is no ordinary pair, as it is."""
    values = [b"u%03d=%s; Path=/" % (number, value) for number, value in enumerate(words.ODD_VALUES)]
    names = [name + b"={v}; Path=/; Secure; HttpOnly" for name in words.PREFIXED_NAMES]
    names += [name + b"={v}; Path=/" for name in words.ODD_NAMES + words.PREFIXED_NAMES]
    sizes = [b"z%d=%s" % (size, b"x" * (size - 5)) for size in words.SIZES]
    return values + names + sizes + [line for line in words.BARE_LINES if line]


def _script_groups() -> list[list[bytes]]:
    """What scripts set: values, names and lines."""
    lines = [line.encode() for line in words.SCRIPT_LINES] + _pair_lines()
    texts = [line.decode("utf-8", "replace").encode() for line in lines]
    return [texts[start:start + LINES_IN_A_CASE] for start in range(0, len(texts), LINES_IN_A_CASE)]


def _case(number: int, lines: list[bytes], url: str) -> Case:
    """Sets the lines at a host below the site, and looks there, elsewhere on the site, and at other paths."""
    site = f"s{number:05}.test"
    own = Surroundings(site, "test", f"www.{site}")
    steps = [Step(Reach.NAVIGATE, url.format(site=site),
                  tuple(filled(line, own, index) for index, line in enumerate(lines)))]
    for url in (f"https://www.{site}/a/b/c", f"https://www.{site}/", f"https://deep.www.{site}/a/b/c",
                f"https://{site}/a%20b", f"http://www.{site}/a", f"https://www.{site}/a//"):
        steps.append(Step(Reach.REDIRECT, url))
    # And as a sub-resource of another site.
    steps.append(Step(Reach.REDIRECT, f"https://elsewhere{number:05}.test/"))
    steps.append(Step(Reach.FETCH, f"https://www.{site}/a/b/c"))
    steps.append(Step(Reach.LOCATION, f"https://www.{site}/a/b/c"))
    return Case(number, Kind.SYSTEMATIC, tuple(steps))


def _foreign_case(number: int) -> Case:
    """What a page of another site has its sub-resources set, and what a person's visit shows of it."""
    site = f"s{number:05}.test"
    own = Surroundings(site, "test", f"www.{site}")
    attributes = dict.fromkeys([*words.SAME_SITES, *words.FLAGS, b"Path=/", b"Domain={site}"])
    lines = [b"f%03d={v}; " % index + attribute for index, attribute in enumerate(attributes)]
    steps = [Step(Reach.NAVIGATE, f"https://elsewhere{number:05}.test/")]
    for reach, share in ((Reach.FETCH, lines[0::3]), (Reach.IMAGE, lines[1::3]), (Reach.FRAME, lines[2::3])):
        steps.append(Step(reach, f"https://www.{site}/a/b/c",
                          tuple(filled(line, own, index) for index, line in enumerate(share))))
    steps += [Step(Reach.FETCH, f"https://www.{site}/a/b/c"), Step(Reach.LOCATION, f"https://www.{site}/a/b/c")]
    return Case(number, Kind.SYSTEMATIC, tuple(steps))


def _script_case(number: int, lines: list[bytes]) -> Case:
    site = f"s{number:05}.test"
    own = Surroundings(site, "test", f"www.{site}")
    writes = tuple(filled(line, own, index).decode() for index, line in enumerate(lines))
    steps = [Step(Reach.NAVIGATE, f"https://www.{site}/a/b/c", writes=writes)]
    for url in (f"https://www.{site}/a/b/c", f"https://www.{site}/"):
        steps.append(Step(Reach.LOCATION, url))
    return Case(number, Kind.SYSTEMATIC, tuple(steps))
