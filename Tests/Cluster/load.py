"""Clients that write and read through all services at the same time, and remember what they were answered.

Each client counts up in cookies of a site of its own, one in each jar: a register that only this client writes. Half of
the writes have an idempotency key; if such a write was not answered, the client sends it again to any service until it
is: it must be stored once. After a write of which it does not know whether it is stored, a client goes on in a new cookie.
So the values of a cookie never go down, and a read is stale if it is below what was acknowledged or read before it began.
"""

import itertools
import json
import random
import threading
import time
from collections import Counter
from dataclasses import dataclass, field

from cluster import Node
from service import Closed, Connection, response

# How long a client waits for an answer.
PATIENCE = 4.0
# Codes of answers that do not say whether the change is stored.
UNKNOWN_CODES = {"commit-unknown"}
# How long a client sends a write with an idempotency key again.
SETTLING = 40.0


@dataclass(slots=True)
class Write:
    """A write of one value."""

    register: tuple[int, int, int]  # jar, client, number of the cookie
    value: int
    start: float
    end: float
    outcome: str  # acknowledged, refused, unknown


@dataclass(slots=True)
class Read:
    """The cookies of one site in one jar."""

    jar: int
    client: int
    values: dict[int, int]
    start: float
    end: float
    node: str


@dataclass(slots=True)
class Follower:
    """The journal of a jar as a client reads it in pages, each from any service."""

    jar: int
    position: int = 0
    changes: list[dict] = field(default_factory=list)
    gaps: int = 0
    failure: str = ""  # why the last page could not be read


class Load:
    """Clients, a thread each, until they are stopped."""

    def __init__(self, nodes: list[Node], jars: int, clients: int, followers: int, seed: int, pause: float,
                 has_keys: bool = True):
        self.nodes, self.jars, self.clients = nodes, jars, clients
        self.writes: list[Write] = []
        self.reads: list[Read] = []
        self.answers: list[tuple[float, str]] = []
        self.settled: Counter = Counter()  # writes that were sent again: whether they had been stored
        self.followers = [Follower(jar) for jar in range(min(followers, jars))]
        self._seed, self._pause, self._has_keys = seed, pause, has_keys
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._client, args=(client,), daemon=True) for client in range(clients)]
        self._threads += [threading.Thread(target=self._follow, args=(follower,), daemon=True) for follower in self.followers]

    def start(self) -> None:
        """Makes the jars and starts all clients."""
        connections = Connections(self.nodes)
        for jar in range(self.jars):
            answer = connections.ask(self.nodes[jar % len(self.nodes)], "PUT", f"/v1/jars/{jar_name(jar)}")
            if answer.status != 201:
                raise OSError(f"cannot create a jar: {answer.body.decode()}")
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Has every client end after its present request, and waits for that."""
        self._stopping.set()
        for thread in self._threads:
            thread.join()

    def failures(self, start: float, end: float) -> Counter:
        """Answers other than the expected, by code."""
        return Counter(what for time, what in self.answers if start <= time < end)

    def _client(self, client: int) -> None:
        generator = random.Random(self._seed * 1000 + client)
        connections = Connections(self.nodes)
        cookies: dict[int, tuple[int, int]] = {}  # by jar: number of the cookie, last value
        while not self._stopping.is_set():
            time.sleep(generator.uniform(0, 2 * self._pause))
            node, jar = generator.choice(self.nodes), generator.randrange(self.jars)
            if generator.random() < 0.3:
                number, value = cookies.get(jar, (0, 0))
                key = f"{client}-{generator.getrandbits(64):x}" if self._has_keys and generator.random() < 0.5 else None
                outcome = self._write(connections, node, (jar, client, number), value + 1, key)
                cookies[jar] = (number + 1, 0) if outcome == "unknown" else (number, value + 1)
                is_failed = outcome != "acknowledged"
            else:
                is_failed = not self._read(connections, node, jar, generator.randrange(self.clients))
            if is_failed:
                time.sleep(0.05)

    def _write(
        self, connections: "Connections", node: Node, register: tuple[int, int, int], value: int, key: str | None
    ) -> str:
        start = time.monotonic()
        outcome, _ = self._send(connections, node, register, value, key)
        if key and outcome == "unknown":
            outcome = self._settle(connections, register, value, key)
        self.writes.append(Write(register, value, start, time.monotonic(), outcome))
        return outcome

    def _settle(self, connections: "Connections", register: tuple[int, int, int], value: int, key: str) -> str:
        """Sends a write again until it is answered; by a service that was not asked before, too."""
        end = time.monotonic() + SETTLING
        for node in itertools.cycle(self.nodes):
            if time.monotonic() > end:
                return "unknown"
            time.sleep(0.2)
            outcome, code = self._send(connections, node, register, value, key)
            if code == "idempotency-answer-lost":
                self.settled["stored before"] += 1
                return "acknowledged"
            if outcome == "acknowledged":
                self.settled["answered"] += 1
                return outcome
        return "unknown"

    def _send(
        self, connections: "Connections", node: Node, register: tuple[int, int, int], value: int, key: str | None
    ) -> tuple[str, str]:
        """Sends a write once; its outcome, and the code of the answer."""
        jar, client, number = register
        fields = {"Idempotency-Key": key} if key else {}
        try:
            answer = connections.ask(node, "POST", f"/v1/jars/{jar_name(jar)}/responses",
                                     response(f"r{number}", str(value), f"c{client}.test"), **fields)
            if answer.status == 200:
                return "acknowledged", ""
            self._note(f"{answer.status} {answer.code}")
            is_refused = answer.status == 503 and answer.code not in UNKNOWN_CODES
            return ("refused" if is_refused else "unknown"), answer.code
        except NotSent:
            self._note("not connected")
            return "refused", ""
        except (OSError, Closed, ValueError) as error:
            self._note(type(error).__name__)
            return "unknown", ""

    def _read(self, connections: "Connections", node: Node, jar: int, client: int) -> bool:
        start = time.monotonic()
        try:
            answer = connections.ask(node, "POST", f"/v1/jars/{jar_name(jar)}/decorate", {"url": f"https://c{client}.test/"})
            if answer.status != 200:
                self._note(f"{answer.status} {answer.code}")
                return False
            self.reads.append(Read(jar, client, values(answer.body), start, time.monotonic(), node.name))
            return True
        except (OSError, Closed, ValueError) as error:
            self._note("not connected" if isinstance(error, NotSent) else type(error).__name__)
            return False

    def _follow(self, follower: Follower) -> None:
        generator = random.Random(self._seed * 1000 + 500 + follower.jar)
        connections = Connections(self.nodes)
        while not self._stopping.is_set():
            time.sleep(0.1)
            follow(connections, generator.choice(self.nodes), follower)

    def _note(self, what: str) -> None:
        self.answers.append((time.monotonic(), what))


def follow(connections: "Connections", node: Node, follower: Follower) -> bool:
    """Reads a page of a journal; returns whether there are more."""
    try:
        answer = connections.ask(node, "GET", f"/v1/jars/{jar_name(follower.jar)}/changes?after={follower.position}")
        if answer.status != 200:
            follower.failure = f"{answer.status} {answer.body[:200]!r}"
            return True
        page = json.loads(answer.body)
    except (OSError, Closed, ValueError) as error:
        follower.failure = f"{type(error).__name__}: {error}"
        return True
    follower.changes += page["changes"]
    follower.position = page["position"]
    follower.gaps += page["hasGap"]
    return page["hasMore"]


class NotSent(OSError):
    """Nothing was sent."""


class Connections:
    """One connection of a client to each service."""

    def __init__(self, nodes: list[Node], patience: float = PATIENCE):
        self._patience = patience
        self._open: dict[str, Connection | None] = {node.name: None for node in nodes}

    def ask(self, node: Node, method: str, path: str, document: object = None, **fields: str):
        """Sends a request and reads its answer."""
        connection = self._open[node.name]
        if connection is None:
            try:
                connection = Connection(node.socket)
            except OSError as error:
                raise NotSent(str(error)) from error
            connection.socket.settimeout(self._patience)
        self._open[node.name] = None
        answer = connection.ask(method, path, document, **fields)
        if answer.is_last:
            connection.close()
        else:
            self._open[node.name] = connection
        return answer


def jar_name(jar: int) -> str:
    """The name of a jar of the load."""
    return f"jar-{jar}"


def values(body: bytes) -> dict[int, int]:
    """The values of a site's cookies, by the number of the cookie."""
    fields = {header["name"]: header.get("value", "") for header in json.loads(body)["fields"]}
    pairs = (pair.split("=", 1) for pair in fields.get("cookie", "").split("; ") if pair)
    return {int(name[1:]): int(value) for name, value in pairs}
