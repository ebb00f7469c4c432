"""The differential run, from cases to a verdict."""

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from crumb import Crumb
from differential.comparison import compare, missed
from differential.deviations import read_deviations
from differential.generator import generate
from differential.presentation import describe, details, document, summary
from differential.report import Report, make_report
from differential.runner import EngineRun, play
from differential.scenario import ask_crumb

DEFAULT_CASES, DEFAULT_SEED = 1000, 1
# Of all places; a machine can be busy, but not all the time.
MOST_MISSED = 0.01


def run_differential(binary: Path, engines: Sequence[str], folder: Path, count: int, seed: int,
                     only: Sequence[int] = (), details_file: Path | None = None,
                     json_file: Path | None = None, played: dict[str, EngineRun] | None = None) -> bool:
    """Plays the cases and prints what came out; whether Crumb is where engines agree, or it is known why not.

    With `only`, these cases alone, and all that was seen of them. What the browsers did is added to `played`.
    """
    cases = [case for case in generate(count, seed) if not only or case.number in only]
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    crumb = ask_crumb(Crumb(binary, folder), cases, now)
    runs = play(cases, engines, folder)
    if played is not None:
        played |= runs
    observations = {name: run.observations for name, run in runs.items()}
    comparisons = compare(cases, observations, crumb)
    report = make_report(comparisons, engines, read_deviations(),
                         {name: missed(cases, seen, crumb) for name, seen in observations.items()})
    if only or count < DEFAULT_CASES or seed != DEFAULT_SEED:
        # A shorter run, or another, need not meet everything.
        report.stale = []
    versions = {name: run.version or name for name, run in runs.items()}
    print(summary(report, versions))
    if only:
        print("\n\n".join(map(describe, comparisons)))
    if details_file:
        details_file.write_text(f"{summary(report, versions)}\n\n{details(report)}")
    if json_file:
        json_file.write_text(json.dumps(document(report, versions, len(cases), seed), indent=1) + "\n")
    problems = _problems(report, runs)
    print("differential: " + ("ok" if not problems else "; ".join(problems)))
    return not problems


def _problems(report: Report, runs: Mapping[str, EngineRun]) -> list[str]:
    problems = [run.failure for run in runs.values() if run.failure]
    if problems:
        return problems
    if report.unknown:
        problems.append(f"Crumb is alone in {len(report.unknown)} fields, and nothing explains it")
        for comparison in report.unknown[:10]:
            place = comparison.place
            print(f"    --only {comparison.case.number}: step {place.step}, {place.interface.value}", file=sys.stderr)
    if report.stale:
        problems.append("known, and not seen any more: " + ", ".join(
            f"{deviation.id} in {engine}" for engine, deviation in report.stale))
    for engine, places in report.missed.items():
        if len(places) > MOST_MISSED * report.places:
            problems.append(f"{engine} did not get to {len(places)} places")
    return problems
