"""Runs the script matrix: a script at document start, then what pages see and servers get."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext

from crumb import Crumb
from engines import ENGINES, EngineFailure, Processes
from matrix.cookies import OMISSIONS, PAGES, UNVERIFIABLE, Page
from matrix.expectation import Expectation, expect
from matrix.facts import Fact, matches, read_facts
from matrix.playground import Playground
from server.certificate import make_tls_context
from server.proxy import ProxyServer


@dataclass
class MatrixResult:
    """What came out of one engine."""

    version: str = ""
    #: Cookies that arrived where they should.
    arrived: int = 0
    #: How often something was otherwise, by the fact that says why.
    explained: dict[str, int] = field(default_factory=dict)
    failures: list[str] = field(default_factory=list)


def run_matrix(binary: Path, engines: Sequence[str], folder: Path) -> dict[str, MatrixResult]:
    """The results by engine."""
    crumb = Crumb(binary, folder)
    expectations = {page.url: expect(crumb, page) for page in PAGES}
    unsaid = [failure for page in PAGES for failure in unsaid_omissions(page, expectations[page.url])]
    facts = read_facts()
    tls = make_tls_context(folder)
    results = {}
    for name in engines:
        processes = Processes(folder / name)
        processes.folder.mkdir()
        try:
            results[name] = _run_engine(name, processes, tls, expectations, facts)
        except EngineFailure as failure:
            results[name] = MatrixResult(failures=[str(failure)])
        finally:
            processes.stop_all()
        results[name].failures[:0] = unsaid
    return results


def unsaid_omissions(page: Page, expectation: Expectation) -> list[str]:
    """What the script leaves out or sets unseen and does not say so, or not why."""
    return [f"{page.url}: the script does not say that it leaves out {name.decode()}: {reason}"
            for name, reason in OMISSIONS.items()
            if name in expectation.stored and reason not in expectation.omitted.get(name, [])
            ] + [f"{page.url}: the script does not say that the page cannot see {name.decode()}"
                 for name in sorted(UNVERIFIABLE & expectation.stored - expectation.unverifiable)]


def _run_engine(name: str, processes: Processes, tls: SSLContext, expectations: dict[str, Expectation],
                facts: Sequence[Fact]) -> MatrixResult:
    result = MatrixResult()
    playground = Playground()
    with ProxyServer(playground.answer, tls) as proxy, ENGINES[name](processes, proxy.port) as engine:
        result.version = engine.version
        for expectation in expectations.values():
            engine.add_document_script(expectation.script)
        for page in PAGES:
            expectation = expectations[page.url]
            for load in ("first", "second"):
                key = f"{page.scheme}-{page.site}-{load}"
                playground.begin(key)
                engine.navigate(f"{page.url}?load={key}&what=page")
                seen = playground.finish()
                expected = dict(expectation.pairs)
                if load == "first":
                    # No script can be there before the page that it runs in.
                    expected["page"] = []
                    judge(result, facts, name, page, seen, expected)
                else:
                    judge(result, facts, name, page, {"page": seen.get("page", b"")}, {"page": expected["page"]})
    _report_stale(result, facts, name)
    return result


def judge(result: MatrixResult, facts: Sequence[Fact], engine: str, page: Page, seen: dict[str, bytes],
          expected: dict[str, list[bytes]]) -> None:
    """Counts what arrived and what a fact explains; all else becomes a failure."""
    for load, pairs in expected.items():
        where = f"{page.url}, {load}"
        if load not in seen:
            result.failures.append(f"{where}: never asked for")
            continue
        known = [fact for fact in facts if fact.applies(engine, page.site, load)]
        found = seen[load].split(b"; ") if seen[load] else []
        arrived = [pair for pair in found if pair in pairs]
        result.arrived += len(arrived)
        for pair in pairs:
            if pair not in found:
                fact = next((fact for fact in known if matches(fact.missing, pair)), None)
                _note(result, fact, f"{where}: {ascii(pair[:80])} is missing")
        for pair in found:
            if pair not in pairs:
                fact = next((fact for fact in known if matches(fact.unexpected, pair)), None)
                _note(result, fact, f"{where}: {ascii(pair[:80])} is not expected")
        if arrived != [pair for pair in pairs if pair in found]:
            fact = next((fact for fact in known if fact.is_order), None)
            _note(result, fact, f"{where}: another order, {ascii(seen[load][:400])}")


def _note(result: MatrixResult, fact: Fact | None, failure: str) -> None:
    if fact:
        result.explained[fact.id] = result.explained.get(fact.id, 0) + 1
    else:
        result.failures.append(failure)


def _report_stale(result: MatrixResult, facts: Sequence[Fact], engine: str) -> None:
    for fact in facts:
        if engine in fact.engines and not fact.is_race and fact.id not in result.explained:
            result.failures.append(f"the fact {fact.id} does not hold any more: take {engine} out of it")


def print_matrix(results: dict[str, MatrixResult]) -> bool:
    """Prints a line for each engine, and what failed; whether nothing has."""
    for name, result in results.items():
        explained = "".join(f", {count} {fact}" for fact, count in sorted(result.explained.items()))
        verdict = "ok" if not result.failures else f"{len(result.failures)} FAILURES"
        print(f"matrix: {result.version or name}: {result.arrived} cookies arrived{explained}: {verdict}")
        for failure in result.failures:
            print(f"    {failure}", file=sys.stderr)
    return not any(result.failures for result in results.values())
