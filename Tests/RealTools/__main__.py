"""The laboratory of captures: what real tools and browsers write, read. Scripts/captures runs it."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

# The command, the server and the browsers are those of the browser laboratory, the site that of the formats'.
for neighbour in ("Browsers", "Formats"):
    sys.path.insert(1, str(Path(__file__).resolve().parent.parent / neighbour))

from laboratory import TOOLS, Laboratory  # noqa: E402


def main() -> int:
    """Runs what is asked for; 0 where all of it is as it should be."""
    parser = argparse.ArgumentParser(prog="Scripts/captures", description="Holds Crumb against what real tools write.")
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to hold against them")
    parser.add_argument("--python", type=Path, required=True, metavar="FILE", help="a Python with mitmproxy and Playwright")
    parser.add_argument("tool", nargs="*", metavar="TOOL", help="what to run (default: " + ", ".join(TOOLS) + ")")
    options = parser.parse_args()
    if unknown := set(options.tool) - TOOLS.keys():
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    # So that what is to be cleaned up is.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    with tempfile.TemporaryDirectory(prefix="crumb-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        laboratory = Laboratory(options.crumb.resolve(), Path(folder), options.python)
        print(f"the site sets {laboratory.cookie_count} cookies")
        return 0 if laboratory.run(list(dict.fromkeys(options.tool or TOOLS))) else 1


if __name__ == "__main__":
    sys.exit(main())
