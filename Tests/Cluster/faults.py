"""The faults. Each takes some seconds for its worst, and then puts right what does not recover by itself."""

import signal
import time
from collections.abc import Callable
from pathlib import Path

from cluster import Database, Node, run_crumb
from machines import ClusterFailure, wait_until

# Longer than the lease of the primary (20 s), so that another one has taken over.
LONG = 30.0


def kill_primary(database: Database, nodes: list[Node]) -> None:
    """SIGKILL to PostgreSQL of the primary; its agent goes on."""
    database.signal_all(database.postgres(database.primary()), signal.SIGKILL)


def freeze_primary(database: Database, nodes: list[Node]) -> None:
    """SIGSTOP to everything on the primary's machine."""
    machine = database.primary()
    processes = database.postgres(machine)
    for number in (signal.SIGSTOP, signal.SIGCONT):
        for role in ("patroni", "etcd"):
            machine.signal(role, number)
        database.signal_all(processes, number)
        if number == signal.SIGSTOP:
            time.sleep(LONG)


def freeze_agent(database: Database, nodes: list[Node]) -> None:
    """SIGSTOP to the primary's agent: PostgreSQL goes on when another machine has become the primary."""
    machine = database.primary()
    processes = [machine.processes["patroni"].pid]
    database.signal_all(processes, signal.SIGSTOP)
    time.sleep(LONG)
    database.signal_all(processes, signal.SIGCONT)


def cut_off_primary(database: Database, nodes: list[Node]) -> None:
    """The primary's machine hears nobody."""
    machine = database.primary()
    machine.cut_off()
    time.sleep(LONG)
    machine.join()


def split_primary(database: Database, nodes: list[Node]) -> None:
    """The primary's machine hears the services, but not the other two machines."""
    machine = database.primary()
    others = [other for other in database.machines if other is not machine]
    machine.forget_way_to(others)
    time.sleep(LONG)
    machine.find_way_to(others)


def lose_machine(database: Database, nodes: list[Node]) -> None:
    """SIGKILL to everything on the primary's machine, which comes back later."""
    machine = database.primary()
    processes = database.postgres(machine)
    for role in ("patroni", "etcd"):
        machine.signal(role, signal.SIGKILL)
    database.signal_all(processes, signal.SIGKILL)
    time.sleep(LONG)
    database.start_etcd(machine)
    database.start_agent(machine)


def kill_etcd(database: Database, nodes: list[Node]) -> None:
    """SIGKILL to the member of etcd next to the primary."""
    machine = database.primary()
    machine.signal("etcd", signal.SIGKILL)
    time.sleep(5)
    database.start_etcd(machine)


def kill_node(database: Database, nodes: list[Node]) -> None:
    """SIGKILL to a service."""
    nodes[0].signal(signal.SIGKILL)
    time.sleep(2)
    nodes[0].start()


def freeze_node(database: Database, nodes: list[Node]) -> None:
    """SIGSTOP to a service, longer than the database waits for it."""
    nodes[1].signal(signal.SIGSTOP)
    time.sleep(12)
    nodes[1].signal(signal.SIGCONT)


def cut_off_node(database: Database, nodes: list[Node]) -> None:
    """A service does not reach the database: it must say that it is not ready."""
    nodes[2].machine.cut_off()
    try:
        wait_until(lambda: nodes[2].readiness()[0] == 503, "a service without a database is not ready", 60)
    finally:
        nodes[2].machine.join()


def set_clock_ahead(database: Database, nodes: list[Node]) -> None:
    """A service whose clock is ten seconds ahead: it must say that it is not ready."""
    nodes[0].restart("faketime", "-f", "+10s", environment={"DONT_FAKE_MONOTONIC": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"})
    try:
        wait_until(lambda: nodes[0].readiness()[0] != 0, "a service with a wrong clock answers", 20)
        time.sleep(3)
        status, body = nodes[0].readiness()
        if status != 503:
            raise ClusterFailure(f"a service with a wrong clock answers {status} {body}")
    finally:
        nodes[0].restart()


Fault = Callable[[Database, list[Node]], None]


def upgrade_to(crumb: Path) -> Fault:
    """The schema is upgraded, and each service replaced by one of another version."""

    def upgrade(database: Database, nodes: list[Node]) -> None:
        run_crumb(crumb, database, "cluster", "upgrade")
        for node in nodes:
            node.signal(signal.SIGTERM)
            wait_until(lambda: node.has_ended(), "the service stops", 30)
            node.crumb = crumb
            node.start()
            wait_until(node.is_ready, "the new service is ready", 30)

    return upgrade

SHORT: list[Fault] = [kill_primary, kill_node, kill_etcd, freeze_agent, split_primary]
ALL: list[Fault] = [*SHORT, freeze_node, cut_off_node, set_clock_ahead, freeze_primary, cut_off_primary, lose_machine]


def name(fault: Fault) -> str:
    """The name of a fault, as options and reports have it."""
    return fault.__name__.replace("_", "-")
