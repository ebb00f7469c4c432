"""What a run comes to: figures, disagreements, and whether it passes."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from differential.case import Case, Kind
from differential.comparison import Comparison
from differential.deviations import Deviation, explain
from differential.observation import Place


@dataclass(frozen=True)
class KindFigures:
    """The figures of one kind of cases."""

    kind: Kind
    cases: int
    #: Places where cookies were seen by all engines and by Crumb.
    places: int
    #: Those where the engines agree with one another.
    unanimous: int
    #: Of these, those where Crumb agrees too.
    agreed: int


@dataclass
class Report:
    """The comparison of all cases."""

    kinds: list[KindFigures]
    #: By engine: the fields that Crumb has as it does.
    alike: dict[str, int]
    #: By two engines: the fields that they agree in, and of these the ones that Crumb agrees in too.
    pairs: dict[tuple[str, str], tuple[int, int]]
    #: Of the places where engines differ among themselves, how often Crumb goes with which.
    sides: Counter[tuple[str, ...]]
    #: Where Crumb is alone, with a whole field or a single cookie: what is known, and what is not.
    known: list[tuple[Comparison, list[Deviation]]] = field(default_factory=list)
    unknown: list[Comparison] = field(default_factory=list)
    #: By engine: how many differences from Crumb each deviation explains.
    explained: dict[str, Counter[str]] = field(default_factory=dict)
    #: By engine: differences that nothing explains.
    unexplained: dict[str, list[Comparison]] = field(default_factory=dict)
    #: Deviations, and the engine, that no difference shows any more.
    stale: list[tuple[str, Deviation]] = field(default_factory=list)
    #: Places that an engine did not get to.
    missed: dict[str, list[tuple[Case, Place]]] = field(default_factory=dict)

    @property
    def places(self) -> int:
        return sum(figures.places for figures in self.kinds)

    @property
    def unanimous(self) -> int:
        return sum(figures.unanimous for figures in self.kinds)

    @property
    def agreed(self) -> int:
        return sum(figures.agreed for figures in self.kinds)


def make_report(comparisons: Sequence[Comparison], engines: Sequence[str], deviations: Sequence[Deviation],
                missed: Mapping[str, list[tuple[Case, Place]]]) -> Report:
    """Counts, and looks for a reason for every difference."""
    pairs: dict[tuple[str, str], tuple[int, int]] = {}
    for first, second in combinations(engines, 2):
        agreeing = [one for one in comparisons if one.engines[first] == one.engines[second]]
        pairs[first, second] = (len(agreeing), sum(first in one.agreeing for one in agreeing))
    report = Report(
        kinds=[_figures(kind, [one for one in comparisons if one.kind is kind]) for kind in Kind],
        alike={engine: sum(engine in one.agreeing for one in comparisons) for engine in engines}, pairs=pairs,
        sides=Counter(one.agreeing for one in comparisons if not one.is_unanimous), missed=dict(missed))
    shown: set[tuple[str, str]] = set()
    for engine in engines:
        counts: Counter[str] = Counter()
        report.explained[engine], report.unexplained[engine] = counts, []
        for comparison in comparisons:
            difference = comparison.difference(engine)
            if difference is None:
                continue
            reasons = explain(comparison, [engine], difference, deviations)
            if reasons is None:
                report.unexplained[engine].append(comparison)
            else:
                counts.update(reason.id for reason in reasons)
        shown |= {(engine, name) for name in counts}
    for comparison in comparisons:
        lone = comparison.lone_difference
        if lone:
            reasons = explain(comparison, engines, lone, deviations)
            if reasons is None:
                report.unknown.append(comparison)
            else:
                report.known.append((comparison, reasons))
                shown |= {(engine, reason.id) for engine in engines for reason in reasons}
    report.stale = [(engine, deviation) for deviation in deviations for engine in engines
                    if engine in deviation.engines and (engine, deviation.id) not in shown]
    return report


def _figures(kind: Kind, comparisons: Sequence[Comparison]) -> KindFigures:
    unanimous = [one for one in comparisons if one.is_unanimous]
    return KindFigures(kind, cases=len({one.case.number for one in comparisons}), places=len(comparisons),
                       unanimous=len(unanimous), agreed=sum(not one.contradicts_all for one in unanimous))
