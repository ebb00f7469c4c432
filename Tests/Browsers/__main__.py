"""The browser laboratory: holds Crumb against real browsers. Scripts/browsers runs it; docs/browsers.md says more."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from crumb import CrumbFailure
from differential.run import run_differential
from engines import ENGINES, EngineFailure
from matrix.run import print_matrix, run_matrix
from restart.run import tell_restart_story


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="Scripts/browsers", description="Holds Crumb against real browsers.")
    parser.add_argument("part", nargs="?", choices=["all", "differential", "matrix", "restart"], default="all",
                        help="what to run (default: all of it)")
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to hold against them")
    parser.add_argument("--engine", action="append", choices=list(ENGINES), metavar="ENGINE",
                        help="a browser to run, more than once for several (default: " + ", ".join(ENGINES) + ")")
    differential = parser.add_argument_group("differential")
    differential.add_argument("--cases", type=int, default=1000, metavar="N", help="how many cases (default: 1000)")
    differential.add_argument("--seed", type=int, default=1, metavar="S", help="what they are made from (default: 1)")
    differential.add_argument("--only", type=int, action="append", default=[], metavar="CASE",
                              help="run this case alone, and show what everybody says")
    differential.add_argument("--report", type=Path, metavar="FILE", help="where to write every disagreement at length")
    differential.add_argument("--json", type=Path, metavar="FILE", help="where to write the report as JSON")
    return parser.parse_args(arguments)


def main() -> int:
    """Runs what is asked for; 0 where all of it is as it should be."""
    options = parse_arguments(sys.argv[1:])
    engines = list(dict.fromkeys(options.engine or ENGINES))
    # So that what is to be cleaned up is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    binary = options.crumb.resolve()
    passed = True
    with tempfile.TemporaryDirectory(prefix="crumb-browsers-", ignore_cleanup_errors=True) as name:
        def folder(part: str) -> Path:
            path = Path(name) / part
            path.mkdir()
            return path

        try:
            if options.part in ("all", "differential"):
                passed &= run_differential(binary, engines, folder("differential"), options.cases, options.seed,
                                           options.only, options.report, options.json)
            if options.part in ("all", "matrix"):
                passed &= print_matrix(run_matrix(binary, engines, folder("matrix")))
            if options.part == "restart" or (options.part == "all" and "webkit" in engines):
                passed &= tell_restart_story(binary, folder("restart"))
        except (CrumbFailure, EngineFailure) as failure:
            print(f"browsers: {failure}", file=sys.stderr)
            return 1
    return 0 if passed else 1


if __name__ == "__main__":
    sys.exit(main())
