"""A report for people, and for programs."""

from collections import Counter
from collections.abc import Mapping

from differential.comparison import Comparison
from differential.report import Report

# A cookie can be as long as a page.
LONGEST = 160


def summary(report: Report, versions: Mapping[str, str]) -> str:
    """A few lines: what was compared, and how it went."""
    lines = [f"{report.places} cookie fields, seen by {', '.join(versions.values())}",
             f"engines agree with one another in {report.unanimous}; of these Crumb agrees in {report.agreed}"]
    for figures in report.kinds:
        if figures.places:
            lines.append(f"  {figures.kind.value}: {figures.cases} cases, {figures.places} fields, "
                         f"{figures.unanimous} unanimous, Crumb agrees in {figures.agreed}")
    for (first, second), (count, alike) in report.pairs.items():
        lines.append(f"{first} and {second} agree in {count}; of these Crumb agrees in {alike}")
    lines.append("Crumb agrees with " + ", ".join(f"{engine} in {count}" for engine, count in report.alike.items()))
    sides = ", ".join(f"{' and '.join(side) or 'none'} {count}" for side, count in report.sides.most_common())
    lines.append(f"where engines differ among themselves, Crumb goes with: {sides or 'nothing to tell'}")
    reasons = Counter(reason.id for _, known in report.known for reason in known)
    lines.append(f"fields with a cookie that all engines have and Crumb has not, or the other way round: "
                 f"{len(report.known)} known ({', '.join(f'{name} {count}' for name, count in reasons.items())}), "
                 f"{len(report.unknown)} unknown")
    for engine, counts in report.explained.items():
        known = ", ".join(f"{name} {count}" for name, count in counts.most_common())
        lines.append(f"{engine} differs from Crumb, known: {known or 'nowhere'}; "
                     f"unexplained: {len(report.unexplained[engine])}")
    for engine, places in report.missed.items():
        if places:
            lines.append(f"{engine} did not get to {len(places)} places, in the cases "
                         + ", ".join(sorted({str(case.number) for case, _ in places}, key=int)))
    return "\n".join(lines)


def details(report: Report) -> str:
    """Every disagreement at length."""
    parts = ["Crumb alone, unknown", *map(describe, report.unknown),
             "Crumb alone, known"]
    for comparison, reasons in report.known:
        parts.append(f"{describe(comparison)}\n    known: {', '.join(reason.id for reason in reasons)}")
    for engine, comparisons in report.unexplained.items():
        parts += [f"{engine} differs from Crumb, unexplained",
                  *(describe(one) for one in comparisons if not one.contradicts_all)]
    parts += [f"not seen any more in {engine}: {deviation.id}" for engine, deviation in report.stale]
    return "\n\n".join(parts) + "\n"


def describe(comparison: Comparison) -> str:
    """The case up to the place, and what each has there."""
    case, place = comparison.case, comparison.place
    lines = [f"case {case.number} ({case.kind.value}), step {place.step}, {place.interface.value}"]
    for index, step in enumerate(case.steps[:place.step + 1]):
        lines.append(f"    {index} {step.reach.value} {step.url}")
        lines += [f"        Set-Cookie: {_short(line)}" for line in step.set_cookie]
        lines += [f"        document.cookie = {_short(text.encode())}" for text in step.writes]
    lines += [f"    {name + ':':10} {_short(cookies)}" for name, cookies in comparison.engines.items()]
    lines += [f"    crumb:     {_short(comparison.crumb)}", f"        {comparison.explanation}"]
    return "\n".join(lines)


def document(report: Report, versions: Mapping[str, str], cases: int, seed: int) -> dict[str, object]:
    """The report as JSON."""
    return {
        "cases": cases, "seed": seed, "engines": dict(versions),
        "fields": report.places, "unanimous": report.unanimous, "agreed": report.agreed,
        "kinds": [{"kind": figures.kind.value, "cases": figures.cases, "fields": figures.places,
                   "unanimous": figures.unanimous, "agreed": figures.agreed} for figures in report.kinds],
        "pairs": [{"engines": list(pair), "fields": count, "agreed": alike}
                  for pair, (count, alike) in report.pairs.items()],
        "alike": report.alike,
        "sides": [{"with": list(side), "fields": count} for side, count in report.sides.most_common()],
        "unknown": [_entry(comparison) for comparison in report.unknown],
        "known": [{**_entry(comparison), "deviations": [reason.id for reason in reasons]}
                  for comparison, reasons in report.known],
        "differences": [{"engine": engine, "explained": dict(counts),
                         "unexplained": [_entry(one) for one in report.unexplained[engine]]}
                        for engine, counts in report.explained.items()],
        "stale": [{"engine": engine, "deviation": deviation.id} for engine, deviation in report.stale],
        "missed": {engine: sorted({case.number for case, _ in places}) for engine, places in report.missed.items()},
    }


def _entry(comparison: Comparison) -> dict[str, object]:
    # Octets stand for the characters of their numbers.
    return {
        "case": comparison.case.number, "kind": comparison.kind.value, "step": comparison.place.step,
        "interface": comparison.place.interface.value,
        "engines": {name: cookies.decode("latin-1") for name, cookies in comparison.engines.items()},
        "crumb": comparison.crumb.decode("latin-1"), "explanation": comparison.explanation,
    }


def _short(octets: bytes) -> str:
    text = ascii(octets)[2:-1]
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(octets)} octets)"
