"""What the service must survive, from outside: kills, hostile clients, a full disk. Scripts/service-faults runs it."""

import argparse
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from checks import CHECKS
from service import Closed, Service, ServiceFailure


def main() -> int:
    """Runs what is asked for; 0 where all of it is as it should be."""
    names = [check.__name__.replace("_", "-") for check in CHECKS]
    parser = argparse.ArgumentParser(prog="Scripts/service-faults", description="Puts the service through what can happen to it.")
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to run")
    parser.add_argument("--full", action="store_true", help="more of everything")
    parser.add_argument("--check", action="append", choices=names, metavar="CHECK",
                        help="a check to run, more than once for several (default: " + ", ".join(names) + ")")
    options = parser.parse_args()
    # So that what is to be cleaned up is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(limit, 8192), limit))
    has_failed = False
    for check, name in zip(CHECKS, names):
        if options.check and name not in options.check:
            continue
        start = time.monotonic()
        # Short, so that a socket in it has a path that a socket can have.
        with tempfile.TemporaryDirectory(prefix="crumb-", dir="/tmp", ignore_cleanup_errors=True) as folder:
            failures: list[str] = []
            try:
                failures.extend(check(options.crumb.resolve(), Path(folder), options.full))
            except (OSError, Closed, ServiceFailure, subprocess.SubprocessError) as error:
                failures.append(f"{type(error).__name__}: {error}")
            finally:
                Service.kill_all()
        print(f"{name}: {'failed' if failures else 'ok'} ({time.monotonic() - start:.1f} s)", flush=True)
        for failure in failures:
            has_failed = True
            print(f"    {failure}", file=sys.stderr)
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
