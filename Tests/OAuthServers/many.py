"""Many processes that ask for a token at the moment it expires."""

import json
import os
import signal
import sqlite3
import threading

from checks import expect


def given(crumb, server):
    result = crumb(
        "token", "import", "p", "--issuer", server.base, "--client-id", "app", "--endpoint",
        f"token_endpoint={server.base}/token", text=json.dumps(server.tokens()))
    expect(result.status == 0, result.talk)


def ask(crumb, count):
    processes = [crumb.start("token", "get", "p") for _ in range(count)]
    return [crumb.end(process) for process in processes]


def check_once(crumb, server, rounds, count):
    """One refresh a round, and everyone has its token."""
    given(crumb, server)
    for number in range(1, rounds + 1):
        crumb.expire("p")
        results = ask(crumb, count)
        failed = [result.talk for result in results if result.status]
        expect(not failed, "round", number, failed[:3])
        expect({result.output for result in results} == {f"{server.access_token}\n"}, "round", number)
        expect(server.requests == number and server.is_alive, "round", number, server.requests, "refreshes")


def check_killed(crumb, server, rounds, count):
    """The holder of the lease is killed while the server has its request: one more refresh, and the login lives."""
    given(crumb, server)
    for number in range(1, rounds + 1):
        crumb.expire("p")
        killed = []
        first = threading.Lock()

        def kill():
            with first:
                if killed:
                    return True
                connection = sqlite3.connect(crumb.database, timeout=30)
                holder = connection.execute("SELECT holder FROM token_lease").fetchone()[0]
                connection.close()
                killed.append(int(holder.split("-")[0]))
                os.kill(killed[0], signal.SIGKILL)
                return False

        server.before = kill
        before = server.requests
        results = ask(crumb, count)
        failed = [result for result in results if result.status]
        expect(len(killed) == 1 and [result.status for result in failed] == [-signal.SIGKILL], "round", number,
               [(result.status, result.talk) for result in failed][:3])
        expect({result.output for result in results if not result.status} == {f"{server.access_token}\n"})
        expect(server.requests == before + 1 and server.is_alive, "round", number)
    server.before = None


def check_refused(crumb, server, rounds, count):
    """Where the login is lost, one asks and all are told."""
    given(crumb, server)
    crumb.expire("p")
    server.is_alive, before = False, server.requests
    results = ask(crumb, count)
    expect({result.status for result in results} == {43}, {result.status for result in results})
    expect(server.requests == before + 1, server.requests - before, "requests")


def check_unreachable(crumb, server, rounds, count):
    """A server that is away costs nothing but time."""
    given(crumb, server)
    crumb.expire("p")
    server.before = lambda: False
    results = ask(crumb, 5)
    expect({result.status for result in results} == {45}, {result.status for result in results})
    server.before = None
    expect(crumb("token", "get", "p").status == 0 and server.is_alive)


CHECKS = [check_once, check_killed, check_refused, check_unreachable]
