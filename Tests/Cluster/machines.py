"""Machines: network namespaces on one bridge, whose processes can be killed and frozen, and which can be cut off."""

import os
import signal
import subprocess
import time
from pathlib import Path

NETWORK = "10.99.0"


class ClusterFailure(Exception):
    """The cluster does not do what every fault needs."""


def run(*arguments: str) -> str:
    """What a command prints that must succeed."""
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    if result.returncode:
        raise ClusterFailure(f"{' '.join(arguments)}: {result.stderr.strip() or result.stdout.strip()}")
    return result.stdout


def make_bridge() -> None:
    """The network that all machines share. It ends with the namespace of this process."""
    run("ip", "link", "set", "lo", "up")
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "address", "add", f"{NETWORK}.1/24", "dev", "bridge")
    run("ip", "link", "set", "bridge", "up")


class Machine:
    """A machine with an address of its own."""

    def __init__(self, name: str, number: int, folder: Path):
        self.name, self.address, self.folder = name, f"{NETWORK}.{number}", folder
        self.processes: dict[str, subprocess.Popen] = {}
        folder.mkdir()
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "eth0", "netns", name)
        run("ip", "link", "set", f"to-{name}", "master", "bridge", "up")
        run("ip", "-n", name, "address", "add", f"{self.address}/24", "dev", "eth0")
        run("ip", "-n", name, "link", "set", "eth0", "up")
        run("ip", "-n", name, "link", "set", "lo", "up")

    def start(self, role: str, *command: str, user: str | None = None, environment: dict | None = None) -> None:
        """Runs a program on this machine."""
        as_user = ["setpriv", "--reuid", user, "--regid", user, "--clear-groups"] if user else []
        with open(self.folder / f"{role}.log", "ab") as log:
            self.processes[role] = subprocess.Popen(
                ["nsenter", f"--net=/run/netns/{self.name}", "--", *as_user, *command],
                env=os.environ | (environment or {}), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def signal(self, role: str, number: int) -> None:
        """Sends a signal to a program and everything that it started."""
        process = self.processes[role]
        for pid in [process.pid, *descendants(process.pid)]:
            send(pid, number)
        if number == signal.SIGKILL:
            process.wait()

    def cut_off(self) -> None:
        """No packet leaves or reaches this machine."""
        run("ip", "link", "set", f"to-{self.name}", "down")

    def join(self) -> None:
        """Ends ``cut_off``."""
        run("ip", "link", "set", f"to-{self.name}", "up")

    def forget_way_to(self, others: list["Machine"]) -> None:
        """This machine and some others no longer hear each other; everyone else hears all."""
        for other in others:
            run("ip", "-n", self.name, "route", "add", "blackhole", other.address)

    def find_way_to(self, others: list["Machine"]) -> None:
        """Ends ``forget_way_to``."""
        for other in others:
            run("ip", "-n", self.name, "route", "del", "blackhole", other.address)


def send(pid: int, number: int) -> None:
    """Sends a signal to a process that may have ended."""
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def descendants(ancestor: int) -> list[int]:
    """The processes that a process has started, and those have started."""
    children: dict[int, list[int]] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = status.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        children.setdefault(int(fields[1]), []).append(int(status.parent.name))
    found, next_ones = [], [ancestor]
    while next_ones:
        next_ones = [child for parent in next_ones for child in children.get(parent, [])]
        found += next_ones
    return found


def wait_until(condition, what: str, seconds: float = 60) -> float:
    """Returns how long it took until a condition holds."""
    start = time.monotonic()
    while time.monotonic() - start < seconds:
        if condition():
            return time.monotonic() - start
        time.sleep(0.2)
    raise ClusterFailure(f"{what}: not within {seconds:.0f} s")
