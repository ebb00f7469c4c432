"""One login that many clients use through all services, at a server that takes each refresh token once and ends the login
where one comes twice: each round of requests must lead to exactly one refresh."""

import json
import signal
import threading
import time
import urllib.parse

from cluster import Node
from load import Connections, NotSent
from machines import NETWORK, ClusterFailure, wait_until
from servers.rotating import RotatingServer
from service import Closed

# A token is due in the second half of this.
LIFETIME = 8
LOGIN = "shared"


class RefreshCheck:
    """A login and its clients."""

    def __init__(self, nodes: list[Node], clients: int = 50):
        self.nodes, self.clients = nodes, clients
        self.server = RotatingServer(None, 9000, f"{NETWORK}.1")
        self.server.access_token_seconds = LIFETIME
        self.server.start()
        self.log_in()

    def log_in(self) -> None:
        """Stores the login, which begins at one service and ends at another."""
        connections, node = Connections(self.nodes), self.nodes[0]
        begun = connections.ask(node, "POST", "/v1/logins", {
            "name": LOGIN, "flow": "browser", "clientID": "app", "redirectURI": "https://app.test/back",
            "dangerouslyAllowPlainHTTP": True,
            "endpoints": {"authorization_endpoint": f"{self.server.base}/authorize",
                          "token_endpoint": f"{self.server.base}/token"},
        })
        document = json.loads(begun.body)
        if begun.status >= 300:
            raise ClusterFailure(f"no login begins: {begun.body.decode()}")
        state = urllib.parse.parse_qs(urllib.parse.urlsplit(document["authorizationURL"]).query)["state"][0]
        ended = connections.ask(self.nodes[1], "POST", f"/v1/logins/{document['id']}/redirect",
                                {"url": f"https://app.test/back?code=c&state={state}"})
        if ended.status >= 300:
            raise ClusterFailure(f"the login does not end: {ended.body.decode()}")
        self.issued = time.monotonic()

    def rounds(self, count: int) -> list[str]:
        """Rounds of requests at the same time; returns what is wrong."""
        failures = []
        for number in range(count):
            requests, begun = self.server.requests, self.due
            answers = self.ask_all()
            refreshes = self.server.requests - requests
            # On a machine so busy that the round outlasts it, the new token is due in the same round again.
            allowed = 1 + int((self.issued - begun) / (LIFETIME / 2))
            if len(answers) > allowed or any(not answer.startswith("200 ") for answer in answers):
                failures.append(f"round {number}: {answers}")
            if not 1 <= refreshes <= allowed:
                failures.append(f"round {number}: {refreshes} refreshes, {answers}")
            if not self.server.is_alive:
                return [*failures, f"round {number}: the login was revoked"]
        return failures

    def lose_holder(self, number: int) -> list[str]:
        """A signal to the service that refreshes, after the server has rotated and before it answers.

        The server forgives: the token that was taken last still gives its answer. The login must survive, at the services
        that are left.
        """
        self.server.has_grace = True
        holder: list[Node] = []
        done = threading.Event()

        def after() -> bool:
            if not holder:
                holder.append(next(node for node in self.nodes if node.machine.address == self.server.asker))
                holder[0].signal(number)
                done.set()
                return False
            return True

        self.server.after = after
        answers = self.ask_all(patience=60)
        self.server.after, self.server.has_grace = None, False
        if not done.is_set():
            return ["no service has refreshed"]
        if number == signal.SIGSTOP:
            holder[0].signal(signal.SIGCONT)
        else:
            holder[0].start()
        wait_until(holder[0].is_ready, "a service that was lost is ready")
        if not self.server.is_alive:
            return ["the login was revoked"]
        succeeded = sum(count for answer, count in answers.items() if answer.startswith("200"))
        others = self.clients * (len(self.nodes) - 1) // len(self.nodes)
        return [] if succeeded >= others else [f"{succeeded} of at least {others} clients have a token: {answers}"]

    @property
    def due(self) -> float:
        """When the token that was issued last is due for certain."""
        return self.issued + LIFETIME / 2 + 0.1

    def ask_all(self, patience: float = 30) -> dict[str, int]:
        """Has all clients ask for the access token as soon as it is due, and counts the answers."""
        time.sleep(max(0, self.due - time.monotonic()))
        answers: dict[str, int] = {}
        lock, barrier = threading.Lock(), threading.Barrier(self.clients)

        def ask(client: int) -> None:
            connections, node = Connections(self.nodes, patience), self.nodes[client % len(self.nodes)]
            barrier.wait()
            try:
                answer = connections.ask(node, "POST", f"/v1/tokens/{LOGIN}/access-token", {})
                token = json.loads(answer.body).get("accessToken", "") if answer.status == 200 else answer.code
                what = f"{answer.status} {token}"
            except (NotSent, OSError, Closed, ValueError) as error:
                what = type(error).__name__
            with lock:
                answers[what] = answers.get(what, 0) + 1

        threads = [threading.Thread(target=ask, args=(client,)) for client in range(self.clients)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.issued = time.monotonic()
        return answers
