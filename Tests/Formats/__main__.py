"""The laboratory of formats: the files of real tools read, and exports used by them. Scripts/formats runs it."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

# The command, the server and the browsers are those of the browser laboratory.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Browsers"))

from crumb import CrumbFailure  # noqa: E402
from laboratory import Laboratory  # noqa: E402
from tools import TOOLS  # noqa: E402


def main() -> int:
    """Runs what is asked for; 0 where all of it is as it should be."""
    parser = argparse.ArgumentParser(prog="Scripts/formats", description="Holds Crumb against the tools it works with.")
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to hold against them")
    parser.add_argument("--python", type=Path, required=True, metavar="FILE",
                        help="a Python with haralyzer, mitmproxy, Playwright and Selenium")
    parser.add_argument("--tool", action="append", choices=list(TOOLS), metavar="TOOL",
                        help="a tool to run, more than once for several (default: " + ", ".join(TOOLS) + ")")
    options = parser.parse_args()
    # So that what is to be cleaned up is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="crumb-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        try:
            laboratory = Laboratory(options.crumb.resolve(), Path(folder), options.python)
        except CrumbFailure as failure:
            print(f"formats: {failure}", file=sys.stderr)
            return 1
        print(f"the site sets {laboratory.cookie_count} cookies")
        for line in laboratory.run(list(dict.fromkeys(options.tool or TOOLS))):
            print(line, flush=True)
        for failure in laboratory.failures:
            print(f"    {failure}", file=sys.stderr)
        return 1 if laboratory.failures else 0


if __name__ == "__main__":
    sys.exit(main())
