"""The browser laboratory: holds Crumb against real browsers. Scripts/browsers runs it; docs/browsers.md says more."""

import argparse
import signal
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from cache.run import run_cache
from crumb import CrumbFailure
from differential.run import DEFAULT_CASES, DEFAULT_SEED, run_differential
from differential.runner import EngineRun
from engines import ENGINES, EngineFailure
from gateway.browse import run_browse
from gateway.differential import DEFAULT_CASES as DEFAULT_GATEWAY_CASES
from gateway.differential import run_gateway_differential
from gateway.events import run_events, run_view_example
from gateway.flood import run_flood
from gateway.hidden import run_hidden
from gateway.run import run_gateway
from gateway.scripts import run_scripts
from gateway.separation import run_separation
from inspector.pages import run_pages
from inspector.run import run_inspector
from login.run import tell_login_stories
from matrix.run import print_matrix, run_matrix
from resources.run import run_resources
from restart.run import tell_restart_story
from restart.through_gateway import tell_gateway_restart_story

#: How many stories run at the same time, each with up to three browsers.
STORIES_AT_A_TIME = 3


def parse_arguments(arguments: list[str]) -> argparse.Namespace:
    """What the command line says."""
    parser = argparse.ArgumentParser(prog="Scripts/browsers", description="Holds Crumb against real browsers.")
    parser.add_argument("part", nargs="?",
                        choices=["all", "differential", "matrix", "restart", "login", "inspector", "gateway", "cache",
                                 "resources"], default="all",
                        help="what to run (default: all of it)")
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to hold against them")
    parser.add_argument("--engine", action="append", choices=list(ENGINES), metavar="ENGINE",
                        help="a browser to run, more than once for several (default: " + ", ".join(ENGINES) + ")")
    parser.add_argument("--screenshots", type=Path, metavar="FOLDER",
                        help="where to write pictures of the inspector, and of the pages of cache")
    parser.add_argument("--pictures", type=Path, metavar="FOLDER",
                        help="with inspector: only make the pictures of docs/inspector.md, in this folder")
    differential = parser.add_argument_group("differential, and gateway with --cases, --seed and --only")
    differential.add_argument("--cases", type=int, metavar="N",
                              help=f"how many cases (default: {DEFAULT_CASES}, and {DEFAULT_GATEWAY_CASES} "
                              "through the gateway)")
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


def run_differentials(binary: Path, engines: list[str], options: argparse.Namespace) -> bool:
    """The generated cases: what browsers and Crumb do with them, and what the gateway changes."""
    passed = True
    direct: dict[str, EngineRun] = {}
    if options.part in ("all", "differential"):
        with scratch_folder() as folder:
            passed &= run_differential(binary, engines, folder, options.cases or DEFAULT_CASES, options.seed, options.only,
                                       options.report, options.json, direct)
    if options.part in ("all", "gateway"):
        with scratch_folder() as folder:
            passed &= run_gateway_differential(
                binary, engines, folder, options.cases or DEFAULT_GATEWAY_CASES, options.seed, options.only,
                None if direct else options.report, direct)
    return passed


def stories(binary: Path, engines: list[str], options: argparse.Namespace) -> list[Callable[[Path], bool]]:
    """What else is to run, each in a folder of its own, in any order or at the same time."""
    part, chosen = options.part, []
    if part == "all" or (part == "gateway" and not options.cases and not options.only):
        chosen += [partial(run_browse, binary, engines), partial(run_gateway, binary, engines),
                   partial(run_events, binary, engines), partial(run_scripts, binary, engines),
                   partial(run_separation, binary, engines), partial(run_hidden, binary, engines),
                   partial(run_flood, binary, engines)]
        chosen += [partial(run_view_example, binary)] if "webkit" in engines else []
    if part in ("all", "cache"):
        chosen.append(lambda folder: run_cache(binary, engines, folder, options.screenshots))
    if part in ("all", "matrix"):
        chosen.append(lambda folder: print_matrix(run_matrix(binary, engines, folder)))
    if part in ("all", "restart"):
        chosen += [partial(tell_restart_story, binary)] if "webkit" in engines else []
        chosen += [partial(tell_gateway_restart_story, binary, name) for name in engines]
    if part in ("all", "login"):
        chosen.append(partial(tell_login_stories, binary, engines))
    if part in ("all", "resources") and "webkit" in engines:
        chosen.append(run_resources)
    if part in ("all", "inspector") and not options.pictures:
        chosen.append(lambda folder: run_inspector(binary, engines, folder, options.screenshots))
    if part in ("all", "inspector"):
        chosen.append(lambda folder: run_pages(binary, engines, folder, options.screenshots, options.pictures))
    return chosen


def run_in_folder(story: Callable[[Path], bool]) -> bool:
    """Runs a story in a scratch folder."""
    with scratch_folder() as folder:
        return story(folder)


def main() -> int:
    """Runs what is asked for; 0 where all of it is as it should be."""
    options = parse_arguments(sys.argv[1:])
    engines = list(dict.fromkeys(options.engine or ENGINES))
    # So that what is to be cleaned up is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    binary = options.crumb.resolve()
    try:
        passed = run_differentials(binary, engines, options)
        # They wait most of the time.
        with ThreadPoolExecutor(STORIES_AT_A_TIME) as pool:
            results = list(pool.map(run_in_folder, stories(binary, engines, options)))
    except (CrumbFailure, EngineFailure) as failure:
        print(f"browsers: {failure}", file=sys.stderr)
        return 1
    return 0 if passed and all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
