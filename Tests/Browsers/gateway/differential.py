"""The generated cases with and without the gateway: whether servers get from each browser what it sends without one."""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from crumb import Crumb
from differential.case import Case, site_of
from differential.comparison import Comparison, compare, missed, pairs
from differential.deviations import Deviation, explain, read_deviations
from differential.generator import generate
from differential.presentation import describe
from differential.runner import EngineRun, play
from engines import EngineFailure
from gateway.process import gateway
from server.certificate import is_address, make_tls_context

DEFAULT_CASES, DEFAULT_SEED = 200, 1
#: Of one gateway: browsers limit the size of a certificate, which names all hosts.
LARGEST_BATCH = 200
#: Of all places; a machine can be busy, but not all the time.
MOST_MISSED = 0.01
DATA = Path(__file__).with_name("deviations.json")


@dataclass
class Figures:
    """What one browser's requests come to."""

    fields: int = 0
    #: Fields that are the same, octet for octet.
    same: int = 0
    #: Explained differences by their reason: with fewer cookies, with more or others, in another order.
    fewer: Counter[str] = field(default_factory=Counter)
    more: Counter[str] = field(default_factory=Counter)
    order: Counter[str] = field(default_factory=Counter)
    explained: list[tuple[Comparison, str]] = field(default_factory=list)
    unexplained: list[Comparison] = field(default_factory=list)


def sites_of(cases: Sequence[Case]) -> list[str]:
    """The sites that cases request."""
    return list(dict.fromkeys(site_of(step.url) for case in cases for step in case.steps))


def certificate_names(sites: Sequence[str]) -> list[str]:
    """The names that a certificate for all hosts of the sites has."""
    return [name for site in sites
            for name in ((site,) if is_address(site) else (site, f"*.{site}", f"*.www.{site}"))]


def play_through(binary: Path, cases: Sequence[Case], engines: Sequence[str], folder: Path) -> dict[str, EngineRun]:
    """The runs of the cases by engine, all requests through gateways with empty jars."""
    runs = {name: EngineRun() for name in engines}
    for start in range(0, len(cases), LARGEST_BATCH):
        batch = cases[start:start + LARGEST_BATCH]
        sites = sites_of(batch)
        place = folder / f"batch-{start}"
        place.mkdir()
        tls = make_tls_context(place, certificate_names(sites))

        @contextmanager
        def route(name: str, port: int) -> Iterator[int]:
            own = place / f"{name}-gateway"
            own.mkdir()
            Crumb(binary, own).run("jars", "create", "lab", "--profile", "browser")
            with gateway(binary, own, port, place / "certificate.pem", sites, "--jar", "lab") as through:
                yield through

        for name, run in play(batch, engines, place, tls, route).items():
            runs[name].version = run.version
            runs[name].failure = runs[name].failure or run.failure
            runs[name].observations |= run.observations
            runs[name].unfinished += run.unfinished
    return runs


def figures_of(name: str, comparisons: Sequence[Comparison], deviations: Sequence[Deviation]) -> Figures:
    """Counts, and looks for a reason for every difference."""
    figures = Figures(fields=len(comparisons))
    for comparison in comparisons:
        difference = comparison.difference(name)
        if difference is None:
            figures.same += 1
            continue
        direct, through = Counter(pairs(comparison.engines[name])), Counter(pairs(comparison.crumb))
        is_more = bool(through - direct)
        allowed = [one for one in deviations if not (one.is_fewer and (is_more or difference.is_order))]
        reasons = explain(comparison, [name], difference, allowed)
        if reasons is None:
            figures.unexplained.append(comparison)
            continue
        kind, counts = (("another order", figures.order) if difference.is_order else
                        ("others", figures.more) if is_more else ("fewer", figures.fewer))
        counts.update(reason.id for reason in reasons)
        figures.explained.append((comparison, f"{kind}: {', '.join(reason.id for reason in reasons)}"))
    return figures


def run_gateway_differential(binary: Path, engines: Sequence[str], folder: Path, count: int = DEFAULT_CASES,
                             seed: int = DEFAULT_SEED, only: Sequence[int] = (),
                             details_file: Path | None = None, played: Mapping[str, EngineRun] | None = None) -> bool:
    """Whether every difference that the gateway makes is known, and none gives a server more than the browser would.

    `played` has what the browsers do without the gateway, if they have played the cases already.
    """
    cases = [case for case in generate(count, seed) if not only or case.number in only]
    (folder / "direct").mkdir()
    direct = played or play(cases, engines, folder / "direct")
    through = play_through(binary, cases, engines, folder)
    deviations = read_deviations(DATA) + read_deviations()
    passed = True
    details: list[str] = []
    for name in engines:
        failure = direct[name].failure or through[name].failure
        if failure:
            raise EngineFailure(failure)
        passed &= _report(name, cases, direct[name], through[name], deviations, bool(only), details)
    if details_file:
        details_file.write_text("\n\n".join(details) + "\n")
    return passed


def _report(name: str, cases: Sequence[Case], direct: EngineRun, through: EngineRun,
            deviations: Sequence[Deviation], is_detailed: bool, details: list[str]) -> bool:
    comparisons = compare(cases, {name: direct.observations}, through.observations)
    figures = figures_of(name, comparisons, deviations)
    lost = missed(cases, through.observations, direct.observations)
    passed = not figures.unexplained and len(lost) <= MOST_MISSED * figures.fields
    print(f"gateway: {direct.version}: {len(cases)} cases, {figures.fields} fields, the same in {figures.same}; "
          f"{_listed('fewer cookies', figures.fewer)}; {_listed('others', figures.more)}; "
          f"{_listed('another order', figures.order)}; unexplained in {len(figures.unexplained)}; "
          f"not reached: {len(lost)}: {'ok' if passed else 'FAILURES'}")
    shown = comparisons if is_detailed else figures.unexplained[:10]
    for comparison in shown:
        print(_described(comparison), file=sys.stderr)
    details += [f"{_described(comparison)}\n    unexplained" for comparison in figures.unexplained]
    details += [f"{_described(comparison)}\n    {reasons}" for comparison, reasons in figures.explained]
    details += [f"{name} does not reach case {case.number}, step {place.step}" for case, place in lost]
    return passed


def _described(comparison: Comparison) -> str:
    return describe(comparison).replace("crumb:   ", "through: ")


def _listed(what: str, counts: Mapping[str, int]) -> str:
    reasons = ", ".join(f"{reason} {number}" for reason, number in sorted(counts.items()))
    return f"{what}: {reasons or 'none'}"
