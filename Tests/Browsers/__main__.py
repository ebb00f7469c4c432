"""The browser laboratory: holds Crumb against real browsers. Scripts/browsers runs it; docs/browsers.md says more."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crumb import CrumbFailure
from differential.run import DEFAULT_CASES, DEFAULT_SEED, run_differential
from engines import ENGINES, EngineFailure
from gateway.browse import run_browse
from gateway.run import run_gateway
from inspector.run import run_inspector
from login.run import tell_login_stories
from matrix.run import print_matrix, run_matrix
from restart.run import tell_restart_story


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="Scripts/browsers", description="Holds Crumb against real browsers.")
    parser.add_argument("part", nargs="?",
                        choices=["all", "differential", "matrix", "restart", "login", "inspector", "gateway"], default="all",
                        help="what to run (default: all of it)")
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to hold against them")
    parser.add_argument("--engine", action="append", choices=list(ENGINES), metavar="ENGINE",
                        help="a browser to run, more than once for several (default: " + ", ".join(ENGINES) + ")")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER", help="where to write pictures of the inspector")
    differential = parser.add_argument_group("differential")
    differential.add_argument("--cases", type=int, default=DEFAULT_CASES, metavar="N",
                              help="how many cases (default: %(default)s)")
    differential.add_argument("--seed", type=int, default=DEFAULT_SEED, metavar="S",
                              help="what they are made from (default: %(default)s)")
    differential.add_argument("--only", type=int, action="append", default=[], metavar="CASE",
                              help="run this case alone, and show what everybody says")
    differential.add_argument("--report", type=Path, metavar="FILE", help="where to write every disagreement at length")
    differential.add_argument("--json", type=Path, metavar="FILE", help="where to write the report as JSON")
    return parser.parse_args(arguments)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder that is gone afterwards; with a short name, since browsers put sockets into it."""
    with tempfile.TemporaryDirectory(prefix="crumb-", dir="/tmp", ignore_cleanup_errors=True) as name:
        yield Path(name)


def main() -> int:
    """Runs what is asked for; 0 where all of it is as it should be."""
    options = parse_arguments(sys.argv[1:])
    engines = list(dict.fromkeys(options.engine or ENGINES))
    # So that what is to be cleaned up is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    binary = options.crumb.resolve()
    passed = True
    try:
        if options.part in ("all", "differential"):
            with scratch_folder() as folder:
                passed &= run_differential(binary, engines, folder, options.cases, options.seed, options.only,
                                           options.report, options.json)
        if options.part in ("all", "matrix"):
            with scratch_folder() as folder:
                passed &= print_matrix(run_matrix(binary, engines, folder))
        if options.part == "restart" or (options.part == "all" and "webkit" in engines):
            with scratch_folder() as folder:
                passed &= tell_restart_story(binary, folder)
        if options.part in ("all", "login"):
            with scratch_folder() as folder:
                passed &= tell_login_stories(binary, engines, folder)
        if options.part in ("all", "gateway"):
            with scratch_folder() as folder:
                passed &= run_gateway(binary, engines, folder)
                passed &= run_browse(binary, engines, folder)
        if options.part in ("all", "inspector"):
            with scratch_folder() as folder:
                passed &= run_inspector(binary, engines, folder, options.screenshots)
    except (CrumbFailure, EngineFailure) as failure:
        print(f"browsers: {failure}", file=sys.stderr)
        return 1
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
