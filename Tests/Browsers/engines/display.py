"""A screen for what cannot do without one."""

import os
import subprocess

from engines.engine import EngineFailure
from engines.processes import Processes


def start_display(processes: Processes) -> str:
    """Starts an X server without a screen, on a number that it chooses itself; answers what DISPLAY has to be."""
    reader, writer = os.pipe()
    processes.start(["/usr/bin/Xvfb", "-displayfd", str(writer), "-screen", "0", "1024x768x24", "-nolisten", "tcp",
                     "-noreset"], "display", pass_fds=(writer,), stderr=subprocess.DEVNULL)
    os.close(writer)
    with open(reader) as numbers:
        number = numbers.readline().strip()
    if not number:
        raise EngineFailure("Xvfb does not start")
    return f":{number}"
