"""Set-Cookie lines, put together at random."""

import re
from dataclasses import dataclass
from random import Random

from differential import vocabulary as words

# Of a hundred lines.
BARE_SHARE = 12
LARGE_SHARE = 3
SCRIPT_LINE_SHARE = 15


@dataclass(frozen=True)
class Surroundings:
    """What lines say of the place that they come from."""

    site: str
    suffix: str
    host: str


class LineMaker:
    """Makes the lines of one case. Each has a value of its own, so that what comes back can be told apart."""

    def __init__(self, random: Random):
        self._random = random
        self._count = 0

    def line(self, surroundings: Surroundings) -> bytes:
        """A line that a response can hold."""
        draw = self._random.randrange(100)
        if draw < BARE_SHARE:
            line = self._random.choice(words.BARE_LINES)
        elif draw < BARE_SHARE + LARGE_SHARE:
            line = self._large_pair() + self._attributes()
        else:
            line = self._name() + self._random.choice([b"="] * 9 + [b" = "]) + self._value() + self._attributes()
        return self._filled(line, surroundings)

    def text(self, surroundings: Surroundings) -> str:
        """What a script can write: the same lines as far as they are text, and some that no response can hold."""
        if self._random.randrange(100) < SCRIPT_LINE_SHARE:
            line = self._random.choice(words.SCRIPT_LINES).encode()
            return self._filled(line, surroundings).decode()
        return self.line(surroundings).decode("utf-8", "replace")

    def many(self, surroundings: Surroundings, count: int) -> list[bytes]:
        """A response that sets many ordinary cookies, to be sorted."""
        paths = [b"", b"; Path=/", b"; Path=/a", b"; Path=/a/b"]
        return [self._filled(b"m%d={v}" % self._random.randrange(count) + self._random.choice(paths), surroundings)
                for _ in range(count)]

    def _name(self) -> bytes:
        draw = self._random.randrange(100)
        if draw < 75:
            return self._random.choice(words.PLAIN_NAMES)
        return self._random.choice(words.PREFIXED_NAMES if draw < 88 else words.ODD_NAMES)

    def _value(self) -> bytes:
        return self._random.choice(words.PLAIN_VALUES if self._random.randrange(100) < 75 else words.ODD_VALUES)

    def _large_pair(self) -> bytes:
        """A pair about as large as a pair may be, on either side of its equals sign."""
        size = self._random.choice(words.SIZES)
        left = self._random.choice([1, 1, 1, size // 2, size - 6])
        return b"a" * left + b"={v}" + b"x" * (size - left - len(self._marker()))

    def _attributes(self) -> bytes:
        """Mostly one of each kind or none; sometimes several of one kind."""
        parts: list[bytes] = []
        for choices, share in ((words.PATHS, 45), (words.DOMAINS, 40), (words.MAX_AGES, 15), (None, 20),
                               (words.SAME_SITES, 25), (words.FLAGS, 45), (words.FLAGS, 15)):
            while self._random.randrange(100) < share:
                parts.append(self._expires() if choices is None else self._random.choice(choices))
                share = 12
        self._random.shuffle(parts)
        separator = self._random.choice([b"; "] * 8 + [b";", b" ; "])
        return b"".join(separator + part for part in parts)

    def _expires(self) -> bytes:
        dates = words.PAST_DATES if self._random.randrange(100) < 70 else words.FUTURE_DATES
        return self._random.choice([b"Expires="] * 8 + [b"expires=", b"Expires = "]) + self._random.choice(dates)

    def _marker(self) -> bytes:
        return marker(self._count)

    def _filled(self, line: bytes, surroundings: Surroundings) -> bytes:
        self._count += 1
        return filled(line, surroundings, self._count - 1)


def marker(number: int) -> bytes:
    """What tells a line's value from others."""
    return b"v%02d" % number


def filled(line: bytes, surroundings: Surroundings, number: int) -> bytes:
    """A line of the vocabulary with what depends on the case put in."""
    site, host, suffix = surroundings.site.encode(), surroundings.host.encode(), surroundings.suffix.encode()
    values = {b"{v}": marker(number), b"{site}": site, b"{SITE}": site.upper(), b"{host}": host, b"{suffix}": suffix,
              b"{long}": b"n" * 200}
    for name, value in values.items():
        line = line.replace(name, value)
    return re.sub(rb"\{x(\d+)\}", lambda match: b"x" * int(match[1]), line)
