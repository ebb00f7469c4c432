"""Holds what browsers and Crumb see against one another."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from differential.case import Case, Kind
from differential.observation import Interface, Observations, Place


@dataclass(frozen=True)
class Comparison:
    """One place of one case: the cookies there, as each of them has it."""

    case: Case
    place: Place
    #: By engine; those that did not get there are missing.
    engines: Mapping[str, bytes]
    crumb: bytes
    explanation: str = ""

    @property
    def kind(self) -> Kind:
        return self.case.kind

    @property
    def is_unanimous(self) -> bool:
        """Whether the engines, all of them, see the same."""
        return len(set(self.engines.values())) == 1

    @property
    def agreeing(self) -> tuple[str, ...]:
        """The engines that see what Crumb sees."""
        return tuple(name for name, cookies in self.engines.items() if cookies == self.crumb)

    @property
    def contradicts_all(self) -> bool:
        """Whether the engines agree in the whole field, and Crumb has something else."""
        return self.is_unanimous and not self.agreeing

    def difference(self, engine: str) -> "Difference | None":
        """What is different between an engine and Crumb; `None` where nothing is."""
        cookies = self.engines.get(engine)
        if cookies is None or cookies == self.crumb:
            return None
        theirs, ours = pairs(cookies), pairs(self.crumb)
        if sorted(theirs) == sorted(ours):
            return Difference(is_order=True, lines=(tuple(self.lines),))
        names = {_name(pair) for pair in set(theirs) ^ set(ours)}
        return self._difference_in(names or {_name(pair) for pair in theirs + ours})

    @property
    def lone_difference(self) -> "Difference | None":
        """Where Crumb is alone: the cookies that all engines have alike and Crumb has not."""
        if self.contradicts_all:
            return self.difference(next(iter(self.engines)))
        fields = [pairs(cookies) for cookies in self.engines.values()]
        ours = pairs(self.crumb)
        names = {_name(pair) for one in [*fields, ours] for pair in one}
        lone = {name for name in names if _alike([_called(name, one) for one in fields])
                and _called(name, fields[0]) != _called(name, ours)}
        return self._difference_in(lone) if lone else None

    def _difference_in(self, names: set[bytes]) -> "Difference":
        lines = self.lines
        # What nobody can tell by its name, since an engine has changed it, may come from any line.
        return Difference(is_order=False, lines=tuple(
            tuple(line for line in lines if name in _names(line)) or tuple(lines) for name in sorted(names)))

    @property
    def lines(self) -> list[bytes]:
        """All lines that are set up to the place."""
        lines: list[bytes] = []
        for index, step in enumerate(self.case.steps[:self.place.step + 1]):
            if index < self.place.step or self.place.interface is Interface.SCRIPT:
                lines += [*step.set_cookie, *(text.encode() for text in step.writes)]
        return lines


@dataclass(frozen=True)
class Difference:
    """How an engine differs from Crumb."""

    #: The same cookies, sorted otherwise.
    is_order: bool
    #: For each name of a cookie that is different, the lines that set cookies of the name.
    lines: tuple[tuple[bytes, ...], ...]


def compare(cases: Sequence[Case], engines: Mapping[str, Mapping[int, Observations]],
            crumb: Mapping[int, Observations]) -> list[Comparison]:
    """All places that every one of the engines has seen."""
    comparisons = []
    for case in cases:
        ours = crumb[case.number]
        for place, cookies in ours.cookies.items():
            seen = {name: observations[case.number].cookies[place] for name, observations in engines.items()
                    if case.number in observations and place in observations[case.number].cookies}
            if len(seen) == len(engines):
                comparisons.append(Comparison(case, place, seen, cookies, ours.explanations.get(place, "")))
    return comparisons


def missed(cases: Sequence[Case], observations: Mapping[int, Observations],
           crumb: Mapping[int, Observations]) -> list[tuple[Case, Place]]:
    """The places that an engine did not get to."""
    return [(case, place) for case in cases for place in crumb[case.number].cookies
            if case.number not in observations or place not in observations[case.number].cookies]


def pairs(cookies: bytes) -> list[bytes]:
    """The cookies of a field."""
    return cookies.split(b"; ") if cookies else []


def _called(name: bytes, among: list[bytes]) -> list[bytes]:
    """The pairs of a name, without regard to order."""
    return sorted(pair for pair in among if _name(pair) == name)


def _alike(values: list[list[bytes]]) -> bool:
    return all(value == values[0] for value in values)


def _name(pair: bytes) -> bytes:
    name, equals, _ = pair.partition(b"=")
    return name.strip(b" \t").lower() if equals else b""


def _names(line: bytes) -> set[bytes]:
    """What a line's cookie could be called, given what engines make of control octets and of missing names."""
    pair = re.split(rb"[;\r\n\x00]", line, maxsplit=1)[0]
    name = _name(pair)
    names = {name}
    if cut := re.search(rb"[^\x20-\x7e]|,", name):
        # What is cut off before its equals sign is a value.
        names |= {name[:cut.start()], b""}
    return names if b"=" in pair else names | {pair.strip(b" \t").lower()}
