"""Runs web-platform-tests with and without the gateway: Scripts/web-platform-tests starts it; docs/browsers.md says more."""

import argparse
import json
import signal
import sys
import tempfile
from dataclasses import asdict
from pathlib import Path

from engines import EngineFailure, Processes
from web_platform.checkout import Checkout, Server
from web_platform.comparison import Expectation, read_expectations
from web_platform.run import EngineRun, Result
from web_platform.session import ENGINES

#: What has to do with cookies, and with requests that carry them.
FOLDERS = ("cookies", "cookiestore", "html/anonymous-iframe", "xhr", "fetch/api/cors", "fetch/api/credentials",
           "fetch/api/redirect")
DEFAULT_ROUNDS = 3


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(
        prog="Scripts/web-platform-tests", description="Runs the browsers' own tests with and without the gateway.")
    parser.add_argument("checkout", type=Path, help="the folder of a checkout of web-platform-tests")
    parser.add_argument("folders", nargs="*", metavar="FOLDER", default=list(FOLDERS),
                        help="folders or files of it (default: " + ", ".join(FOLDERS) + ")")
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command whose gateway runs")
    parser.add_argument("--engine", action="append", choices=ENGINES, metavar="ENGINE",
                        help="a browser to run, more than once for several (default: " + ", ".join(ENGINES) + ")")
    parser.add_argument("--rounds", type=int, default=DEFAULT_ROUNDS, metavar="N",
                        help="how often pages with differences run again (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write the comparison of every page")
    return parser.parse_args(arguments)


def print_result(result: Result, expectations: list[Expectation], is_whole: bool) -> bool:
    """Whether all differences are expected, after a summary and a line for each one that is not."""
    unexpected = [difference for difference in result.differences
                  if not any(expectation.explains(difference) for expectation in expectations)]
    compared = result.total("same") + len(result.differences) + len(result.rare)
    print(f"web platform: {result.version}: {len(result.comparisons)} pages, {compared} subtests, "
          f"{result.total('same')} the same ({result.total('passed')} pass), {len(result.differences)} differ "
          f"({len(result.differences) - len(unexpected)} as expected), {len(result.rare)} differ now and then, "
          f"{result.total('unsteady')} change directly, too: {'ok' if not unexpected else 'FAILURES'}")
    for difference in unexpected:
        print(f"    {difference}")
    for difference in result.rare:
        print(f"    now and then: {difference}")
    for expectation in expectations if is_whole else []:
        if result.engine in expectation.engines and not any(map(expectation.explains, result.differences)):
            print(f"    {result.engine}: '{expectation.id}' is expected, and does not happen any more")
    return not unexpected


def main() -> int:
    """Runs what is asked for; 0 if every difference is expected."""
    options = parse_arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    results, passed = [], True
    with tempfile.TemporaryDirectory(prefix="crumb-", dir="/tmp", ignore_cleanup_errors=True) as name:
        processes = Processes(Path(name))
        try:
            checkout = Checkout(options.checkout)
            tests = checkout.tests(options.folders)
            server = Server(checkout, processes)
            for engine in dict.fromkeys(options.engine or ENGINES):
                result = EngineRun(engine, Path(name) / engine, server, options.crumb.resolve(), options.rounds).run(tests)
                results.append(result)
                passed &= print_result(result, read_expectations(), options.folders == list(FOLDERS))
        except EngineFailure as failure:
            print(f"web platform: {failure}", file=sys.stderr)
            return 1
        finally:
            processes.stop_all()
    if options.json:
        options.json.write_text(json.dumps([asdict(result) for result in results], indent=1))
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
