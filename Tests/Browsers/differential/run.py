"""The differential run, from cases to a verdict."""

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from crumb import Crumb
from differential.comparison import compare, missed
from differential.deviations import read_deviations
from differential.generator import generate
from differential.presentation import details, document, summary
from differential.report import Report, make_report
from differential.runner import play
from differential.scenario import ask_crumb


def run_differential(binary: Path, engines: Sequence[str], folder: Path, count: int, seed: int,
                     only: Sequence[int] = (), details_file: Path | None = None,
                     json_file: Path | None = None) -> bool:
    """Plays the cases and prints what came out; whether Crumb is where engines agree, or it is known why not.

    With `only`, these cases alone, at length.
    """
    cases = [case for case in generate(count, seed) if not only or case.number in only]
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    crumb = ask_crumb(Crumb(binary, folder), cases, now)
    runs = play(cases, engines, folder)
    observations = {name: run.observations for name, run in runs.items()}
    report = make_report(compare(cases, observations, crumb), engines, read_deviations(),
                         {name: missed(cases, seen, crumb) for name, seen in observations.items()})
    versions = {name: run.version or name for name, run in runs.items()}
    print(summary(report, versions))
    if only:
        print(details(report))
    if details_file:
        details_file.write_text(f"{summary(report, versions)}\n\n{details(report)}")
    if json_file:
        json_file.write_text(json.dumps(document(report, versions, len(cases), seed), indent=1) + "\n")
    problems = _problems(report, [run.failure for run in runs.values() if run.failure], len(cases))
    print("differential: " + ("ok" if not problems else "; ".join(problems)))
    return not problems


def _problems(report: Report, failures: Sequence[str], cases: int) -> list[str]:
    problems = list(failures)
    if report.unknown:
        problems.append(f"Crumb disagrees with all engines in {len(report.unknown)} fields that nothing explains")
        for comparison in report.unknown[:5]:
            print(f"    case {comparison.case.number}, step {comparison.place.step}: --only {comparison.case.number} "
                  "shows it", file=sys.stderr)
    # A shorter run need not meet everything.
    if cases >= 1000 and report.stale:
        problems.append("not seen any more: " + ", ".join(
            f"{deviation.id} in {engine}" for engine, deviation in report.stale))
    if report.places < cases:
        problems.append(f"no more than {report.places} fields were seen")
    return problems
