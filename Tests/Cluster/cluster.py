"""Three machines with etcd, Patroni and PostgreSQL, and the services on machines of their own."""

import json
import os
import shutil
import signal
import socket
import subprocess
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from machines import ClusterFailure, Machine, descendants, make_bridge, run, send, wait_until
from service import Closed, Connection

POSTGRESQL = Path("/usr/lib/postgresql/15/bin")


class Database:
    """PostgreSQL on three machines: quorum-synchronous, kept by Patroni, agreed on in three etcd."""

    def __init__(self, folder: Path, tools: Path):
        self.folder, self._tools = folder, tools
        make_bridge()
        self.machines = [Machine(name, 11 + index, folder / name) for index, name in enumerate("abc")]
        addresses = [machine.address for machine in self.machines]
        self.certificate, self._key = folder / "server.crt", folder / "server.key"
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
            "-subj", "/CN=cluster", "-addext", "subjectAltName=" + ",".join(f"IP:{address}" for address in addresses),
            "-keyout", str(self._key), "-out", str(self.certificate))
        shutil.chown(self._key, "postgres")
        self._peers = ",".join(f"{machine.name}=http://{machine.address}:2380" for machine in self.machines)
        self._clients = ",".join(f"{address}:2379" for address in addresses)
        self.url = f"postgresql://postgres@{','.join(addresses)}/postgres?sslrootcert={self.certificate}&connect_timeout=2"

    def start(self) -> None:
        """Returns when a standby confirms commits."""
        for machine in self.machines:
            shutil.chown(machine.folder, "postgres")
            (machine.folder / "patroni.json").write_text(json.dumps(self._configuration(machine)))
            self.start_etcd(machine)
        for machine in self.machines:
            self.start_agent(machine)
        wait_until(self.is_whole, "a primary and two standbys", 60)

    def start_etcd(self, machine: Machine) -> None:
        """Starts the member of etcd on a machine."""
        peer, client = f"http://{machine.address}:2380", f"http://{machine.address}:2379"
        machine.start("etcd", "etcd", "--name", machine.name, "--data-dir", str(machine.folder / "etcd"), "--unsafe-no-fsync",
                      "--listen-client-urls", client, "--advertise-client-urls", client, "--listen-peer-urls", peer,
                      "--initial-advertise-peer-urls", peer, "--initial-cluster", self._peers, user="postgres")

    def start_agent(self, machine: Machine) -> None:
        """Starts Patroni on a machine, which starts PostgreSQL."""
        machine.start("patroni", str(self._tools / "bin/python"), str(self._tools / "bin/patroni"),
                      str(machine.folder / "patroni.json"), user="postgres", environment={"HOME": str(machine.folder)})

    def _configuration(self, machine: Machine) -> dict:
        hosts = "hostssl all all 10.99.0.0/24 trust", "hostssl replication all 10.99.0.0/24 trust", "local all all trust"
        parameters = {"max_connections": 120, "wal_log_hints": "on", "shared_buffers": "64MB", "wal_keep_size": "256MB"}
        user = {"password": "none", "sslmode": "verify-full", "sslrootcert": str(self.certificate)}
        return {
            "scope": "crumb", "name": machine.name,
            "restapi": {"listen": f"{machine.address}:8008", "connect_address": f"{machine.address}:8008"},
            "etcd3": {"hosts": self._clients},
            "bootstrap": {
                "dcs": {
                    "ttl": 20, "loop_wait": 2, "retry_timeout": 3, "primary_start_timeout": 0,
                    "synchronous_mode": "quorum", "synchronous_mode_strict": True,
                    "postgresql": {"use_pg_rewind": True, "parameters": parameters},
                },
                "initdb": [{"encoding": "UTF8"}, {"auth": "trust"}, "no-sync"],
            },
            "postgresql": {
                "listen": f"{machine.address}:5432", "connect_address": f"{machine.address}:5432",
                "data_dir": str(machine.folder / "data"), "bin_dir": str(POSTGRESQL), "pgpass": str(machine.folder / "pgpass"),
                "pg_hba": list(hosts),
                "authentication": {
                    "superuser": {"username": "postgres"} | user, "replication": {"username": "replicator"} | user,
                    "rewind": {"username": "rewinder"} | user,
                },
                "parameters": {
                    "unix_socket_directories": str(machine.folder), "ssl": "on", "ssl_cert_file": str(self.certificate),
                    "ssl_key_file": str(self._key),
                },
            },
        }

    def views(self) -> Iterator[list[dict]]:
        """The members as each agent that answers reports them. One that was cut off repeats for a while what it knew before."""
        for machine in self.machines:
            try:
                with urllib.request.urlopen(f"http://{machine.address}:8008/cluster", timeout=1) as answer:
                    yield json.load(answer)["members"]
            except OSError:
                continue

    def primary(self) -> Machine:
        """The machine that leads, by the first agent that answers."""
        names = [member["name"] for member in next(self.views(), []) if member["role"] == "leader"]
        found = [machine for machine in self.machines if machine.name in names]
        if not found:
            raise ClusterFailure("there is no primary")
        return found[0]

    def is_whole(self) -> bool:
        """Whether all agents report the same primary, and two standbys that follow it, of which commits wait for one."""
        views = [sorted((member["name"], member["role"], member["state"], member.get("timeline")) for member in view)
                 for view in self.views()]
        if len(views) < len(self.machines) or any(view != views[0] for view in views):
            return False
        states = sorted(f"{role} {state}" for _, role, state, _ in views[0])
        return len({timeline for *_, timeline in views[0]}) == 1 and states == ["leader running"] + ["quorum_standby streaming"] * 2

    def postgres(self, machine: Machine) -> list[int]:
        """The processes of PostgreSQL on a machine."""
        first = int((machine.folder / "data" / "postmaster.pid").read_text().split("\n", 1)[0])
        return [first, *descendants(first)]

    def signal_all(self, processes: list[int], number: int) -> None:
        """Sends a signal to processes that may have ended."""
        for pid in processes:
            send(pid, number)


class Node:
    """A machine that runs a service."""

    def __init__(self, name: str, number: int, folder: Path, crumb: Path, database: Database):
        self.machine = Machine(name, number, folder / name)
        self.crumb, self.name = crumb, name
        self.socket = str(folder / name / "s")
        # Tokens are refreshed when a client asks, and at no other time; a lease is short.
        self.environment = {"CRUMB_DATABASE": database.url, "CRUMB_KEY_FILE": str(folder / "key"),
                            "CRUMB_HOUSEKEEPING_REFRESH_AHEAD_SECONDS": "0", "CRUMB_REFRESH_TIMEOUT_SECONDS": "10"}

    def start(self, *prefix: str, environment: dict | None = None) -> None:
        """Runs the service."""
        self.machine.start("crumb", *prefix, str(self.crumb), "serve", "--socket", self.socket,
                           environment=self.environment | (environment or {}))

    def is_ready(self) -> bool:
        """Whether `/readyz` answers 200."""
        return self.readiness()[0] == 200

    def readiness(self, patience: float = 3) -> tuple[int, str]:
        """What `/readyz` answers; 0 where it does not."""
        try:
            connection = Connection(self.socket)
            connection.socket.settimeout(patience)
            answer = connection.ask("GET", "/readyz")
            connection.close()
            return answer.status, answer.body.decode(errors="replace")
        except (OSError, Closed, socket.timeout, ValueError):
            return 0, ""

    def has_ended(self) -> bool:
        """Whether the service has ended."""
        return self.machine.processes["crumb"].poll() is not None

    def signal(self, number: int) -> None:
        """Sends a signal to the service."""
        self.machine.signal("crumb", number)

    def restart(self, *prefix: str, environment: dict | None = None) -> None:
        """Starts the service again, after it was killed if it still runs."""
        self.signal(signal.SIGKILL)
        self.start(*prefix, environment=environment)


def create_schema(crumb: Path, database: Database, folder: Path) -> None:
    """Makes the key and the schema that all services use."""
    run_crumb(crumb, database, "jars", "create", "first", CRUMB_DATABASE=str(folder / "first.sqlite"))
    run_crumb(crumb, database, "cluster", "create")


def run_crumb(crumb: Path, database: Database, *arguments: str, **variables: str) -> None:
    """Runs a command on the database."""
    environment = os.environ | {"CRUMB_KEY_FILE": str(database.folder / "key"), "CRUMB_DATABASE": database.url} | variables
    result = subprocess.run([str(crumb), *arguments], env=environment, capture_output=True, text=True, timeout=60)
    if result.returncode:
        raise ClusterFailure(f"crumb {' '.join(arguments)}: {result.stderr.strip()}")
