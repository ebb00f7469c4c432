"""What services that share a database must survive. Scripts/cluster-faults runs it, in namespaces of its own."""

import argparse
import random
import signal
import sys
import time
from pathlib import Path

for neighbour in ("OAuthServers", "ServiceFaults"):
    sys.path.insert(1, str(Path(__file__).resolve().parent.parent / neighbour))

import faults  # noqa: E402
from bad_histories import check_checker  # noqa: E402
from cluster import Database, Node, create_schema  # noqa: E402
from history import Phase, Verdict, check, longest_gap  # noqa: E402
from load import Connections, Follower, Load, follow  # noqa: E402
from machines import ClusterFailure, wait_until  # noqa: E402
from refresh import RefreshCheck  # noqa: E402


# The failures of a client whose service has ended.
CLOSED = {"not connected", "Closed", "ConnectionResetError", "BrokenPipeError"}


def main() -> int:
    """Runs what is asked for; 0 where all of it is as it should be."""
    names = [faults.name(fault) for fault in faults.ALL]
    parser = argparse.ArgumentParser(prog="Scripts/cluster-faults", description=__doc__.split(" Scripts/")[0])
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to run")
    parser.add_argument("--previous", type=Path, metavar="FILE",
                        help="the command of an earlier version: its services are replaced one by one, instead of the faults")
    parser.add_argument("--tools", type=Path, required=True, metavar="FOLDER", help="the Python environment with Patroni")
    parser.add_argument("--folder", type=Path, required=True, help="an empty folder for everything")
    parser.add_argument("--short", action="store_true", help="some of the faults, within five minutes")
    parser.add_argument("--fault", action="append", choices=[*names, "none"], metavar="FAULT",
                        help="a fault to inject, more than once for several (default: " + ", ".join(names) + ")")
    parser.add_argument("--refresh", type=int, metavar="ROUNDS",
                        help="how many times many clients need a new token at once (default: 100, 10 with --short)")
    parser.add_argument("--seed", type=int, default=random.randrange(1_000_000), help="repeats the choices of a run")
    parser.add_argument("--clients", type=int, default=32, help="how many clients write and read (default: 32)")
    parser.add_argument("--jars", type=int, default=40, help="how many jars they use (default: 40)")
    parser.add_argument("--pause", type=float, default=0.05, help="seconds between requests of a client (default: 0.05)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    print(f"seed {options.seed}", flush=True)
    check_checker()

    start = time.monotonic()
    database = Database(options.folder, options.tools)
    try:
        database.start()
    except ClusterFailure:
        show_logs(options.folder)
        raise
    first = options.previous or options.crumb
    create_schema(first, database, options.folder)
    nodes = [Node(name, 21 + index, options.folder, first, database) for index, name in enumerate("xyz")]
    for node in nodes:
        node.start()
    wait_until(lambda: all(node.is_ready() for node in nodes), "three services are ready")
    print(f"3 databases and 3 services are ready after {time.monotonic() - start:.0f} s", flush=True)

    # Versions that differ may not share idempotency keys.
    load = Load(nodes, options.jars, options.clients, 4, options.seed, options.pause, has_keys=not options.previous)
    load.start()
    chosen = faults.SHORT if options.short and not options.fault else faults.ALL
    if options.previous:
        chosen = [faults.upgrade_to(options.crumb)]
    phases, failures = [], []
    time.sleep(3)
    for fault in chosen:
        if options.fault and faults.name(fault) not in options.fault:
            continue
        phase = Phase(faults.name(fault), time.monotonic(), 0, 0)
        try:
            fault(database, nodes)
            is_whole = lambda: all(node.is_ready() for node in nodes) and database.is_whole()
            phase.recovery = wait_until(is_whole, "everything works again", 90)
            time.sleep(2)
            # A primary that comes back may be demoted a moment later.
            wait_until(is_whole, "everything still works", 90)
        except ClusterFailure as error:
            failures.append(f"{phase.name}: {error}")
        phase.end = time.monotonic()
        phases.append(phase)
        print(f"{phase.name}: whole again {phase.recovery:.1f} s after it ended", flush=True)
    load.stop()

    journals = {jar: whole_journal(nodes, jar) for jar in range(options.jars)}
    verdict = check(load.writes, load.reads, load.followers, journals)
    for phase in phases:
        report(phase, load, verdict)
    failures += problems(verdict)
    if options.previous:
        failures += [f"not to be tried again: {what}" for what in load.failures(start, time.monotonic())
                     if not what.startswith("503 ") and what not in CLOSED]
    failures += check_refresh(nodes, options)
    print(f"{len(load.writes)} writes, {len(load.reads)} reads, {sum(len(follower.changes) for follower in load.followers)} "
          f"entries followed; sent again: {dict(load.settled)}; {time.monotonic() - start:.0f} s", flush=True)
    for failure in failures:
        print(f"    {failure}", file=sys.stderr)
    return 1 if failures else 0


def check_refresh(nodes: list[Node], options: argparse.Namespace) -> list[str]:
    """Checks that a login is refreshed once, whichever services are asked."""
    rounds = (10 if options.short else 100) if options.refresh is None else options.refresh
    if not rounds:
        return []
    check = RefreshCheck(nodes)
    failures = check.rounds(rounds)
    print(f"refresh: {rounds} rounds of {check.clients} clients, {check.server.requests} refreshes", flush=True)
    if not options.short:
        failures += [f"holder killed: {failure}" for failure in check.lose_holder(signal.SIGKILL)]
        failures += [f"holder stopped: {failure}" for failure in check.lose_holder(signal.SIGSTOP)]
        print("refresh: the service that refreshes was killed, then stopped", flush=True)
    return [f"refresh: {failure}" for failure in failures]


def show_logs(folder: Path) -> None:
    """Prints the ends of all logs."""
    for log in sorted(folder.glob("*/*.log")):
        lines = log.read_text(errors="replace").splitlines()[-8:]
        print(f"{log.parent.name} {log.stem}:", *lines, sep="\n    ", file=sys.stderr)


def whole_journal(nodes: list[Node], jar: int) -> Follower:
    """The journal of a jar from its beginning."""
    journal, connections = Follower(jar), Connections(nodes)
    end = time.monotonic() + 60
    while follow(connections, nodes[jar % len(nodes)], journal):
        if time.monotonic() > end:
            raise ClusterFailure(f"the journal of jar {jar} cannot be read: {journal.failure}")
    return journal


def report(phase: Phase, load: Load, verdict: Verdict) -> None:
    """Prints what happened during a fault."""
    writes = [write for write in load.writes if phase.start <= write.start < phase.end]
    acknowledged = sum(write.outcome == "acknowledged" for write in writes)
    unknown = [write for write in writes if write.outcome == "unknown"]
    landed = sum(verdict.landed[write.register] for write in unknown)
    reads = sum(phase.start <= read.start < phase.end for read in load.reads)
    stale = sum(phase.start <= read.start < phase.end for read in verdict.stale)
    print(f"{phase.name}: {acknowledged} writes acknowledged, {len(unknown)} unknown ({landed} stored), "
          f"{len(writes) - acknowledged - len(unknown)} refused; {reads} reads, {stale} stale; longest gap "
          f"{longest_gap(load.writes, phase.start, phase.end):.1f} s; "
          + (", ".join(f"{what} x{count}" for what, count in load.failures(phase.start, phase.end).most_common(6)) or "no failure"),
          flush=True)


def problems(verdict: Verdict) -> list[str]:
    """What must not be."""
    found = [f"acknowledged writes are lost: {lost}" for lost in verdict.lost]
    found += [f"a refused write is stored: {ghost}" for ghost in verdict.ghosts]
    found += [f"the journal is not complete: {problem}" for problem in verdict.journal]
    found += [f"a read shows what nobody wrote: jar {read.jar}, client {read.client}" for read in verdict.invented]
    if verdict.stale:
        found.append(f"{len(verdict.stale)} reads are stale, the first on {verdict.stale[0].node}")
    return found


if __name__ == "__main__":
    try:
        sys.exit(main())
    except ClusterFailure as error:
        sys.exit(f"    {error}")
