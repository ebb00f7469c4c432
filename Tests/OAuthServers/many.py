"""Many processes that ask for a token at the moment it expires."""

import json
import os
import pathlib
import signal
import socket
import sqlite3
import threading
import time

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
        server.before = killer(crumb, killed)
        before = server.requests
        results = ask(crumb, count)
        failed = [result for result in results if result.status]
        expect(len(killed) == 1 and [result.status for result in failed] == [-signal.SIGKILL], "round", number,
               [(result.status, result.talk) for result in failed][:3])
        expect({result.output for result in results if not result.status} == {f"{server.access_token}\n"})
        expect(server.requests == before + 1 and server.is_alive, "round", number)
    server.before = None


def killer(crumb, killed):
    """Ends the holder of the lease, once; whether there was nothing to do."""
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

    return kill


def check_killed_with_grace(crumb, server, rounds, count):
    """The holder is killed after the server has rotated; a server that forgives a lost answer keeps the login."""
    given(crumb, server)
    server.has_grace = True
    for number in range(1, min(rounds, 5) + 1):
        crumb.expire("p")
        killed = []
        server.after = killer(crumb, killed)
        results = ask(crumb, count)
        failed = [result for result in results if result.status]
        expect([result.status for result in failed] == [-signal.SIGKILL], "round", number,
               [(result.status, result.talk) for result in failed][:3])
        expect({result.output for result in results if not result.status} == {f"{server.access_token}\n"})
        expect(server.is_alive, "round", number)
    server.after = None


def check_killed_without_grace(crumb, server, rounds, count):
    """The same with a server that forgives nothing: nobody can save that login, and everyone is told the same."""
    given(crumb, server)
    crumb.expire("p")
    killed = []
    server.after = killer(crumb, killed)
    results = ask(crumb, count)
    expect({result.status for result in results} == {-signal.SIGKILL, 43}, {result.status for result in results})
    expect(server.requests == 2, server.requests, "requests")
    told = {result.talk for result in results if result.status == 43}
    expect(len(told) == 1 and "crumb token login" in told.pop(), told)
    # A new login is all it takes.
    server.after, server.is_alive = None, True
    given(crumb, server)
    expect(crumb("token", "get", "p").output == f"{server.access_token}\n")


def check_helper_ends(crumb, server, rounds, count):
    """Who asks sends the request too: nothing is left that could still talk to the server."""
    given(crumb, server)
    crumb.expire("p")
    killed, helpers = [], []
    kill = killer(crumb, killed)

    def before():
        helpers.extend(children(crumb))
        return kill()

    server.before = before
    ask(crumb, 1)
    expect(helpers, "nobody has sent the request")
    for _ in range(200):
        if not any(os.path.exists(f"/proc/{helper}") for helper in helpers):
            break
        time.sleep(0.025)
    else:
        raise AssertionError("a helper runs on")
    server.before = None


def children(crumb):
    """The programs that send requests for this home."""
    found = []
    home = f"HOME={crumb.folder}".encode()
    for folder in pathlib.Path("/proc").iterdir():
        try:
            if folder.name.isdigit() and os.readlink(folder / "exe").endswith("/crumb-network"):
                if home in (folder / "environ").read_bytes().split(b"\0"):
                    found.append(int(folder.name))
        except OSError:
            continue
    return found


def check_stopped(crumb, server, rounds, count):
    """Who was stopped while the server answered, and has lost its lease, keeps what the server gave all the same."""
    given(crumb, server)
    crumb.expire("p")
    with socket.create_server(("127.0.0.1", 0)) as gatekeeper:
        # In the server's place, what answers when it is told to.
        with sqlite3.connect(crumb.database, timeout=30) as connection:
            connection.execute("UPDATE token_profile SET settings = replace(settings, ?, ?)",
                               (f":{server.port}/token", f":{gatekeeper.getsockname()[1]}/token"))
        connection.close()
        process = crumb.start("token", "get", "p")
        arrival, _ = gatekeeper.accept()
        arrival.settimeout(20)
        request = arrival.recv(1 << 16)
        while b"refresh_token=" not in request:
            part = arrival.recv(1 << 16)
            expect(part, "no request", request)
            request += part
        # The request is there, its answer is not: whoever was stopped now keeps what comes.
        process.send_signal(signal.SIGSTOP)
        with sqlite3.connect(crumb.database, timeout=30) as connection:
            connection.execute("UPDATE token_lease SET holder = 'another', expires_at = 1")
        connection.close()
        body = json.dumps({**server.tokens(), "access_token": "late-Gk4wP", "refresh_token": "late-Rm2cS"}).encode()
        arrival.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        process.send_signal(signal.SIGCONT)
        result = crumb.end(process)
        arrival.close()
    expect(result.status == 0 and result.output == "late-Gk4wP\n", result.status, result.talk)
    kept = crumb("token", "export", "--format", "json", "p").json
    expect(kept["refresh_token"] == "late-Rm2cS", "what the server gave was thrown away")


def check_resources(crumb, server, rounds, count):
    """Many processes want tokens for different resources at once: one refresh for each, and the login lives."""
    given(crumb, server)
    for number in range(1, min(rounds, 10) + 1):
        before = server.requests
        processes = [
            crumb.start("token", "get", "p", "--resource", f"https://r{number}-{index % 5}.example")
            for index in range(count)]
        results = [crumb.end(process) for process in processes]
        failed = [result.talk for result in results if result.status]
        expect(not failed, "round", number, failed[:3])
        tokens = [{result.output for result in results[index::5]} for index in range(5)]
        expect(all(len(found) == 1 for found in tokens) and len(set.union(*tokens)) == 5, "round", number, tokens)
        expect(server.requests == before + 5 and server.is_alive, "round", number, server.requests - before)
    # The login's own token is as it was.
    expect(crumb("token", "get", "p").output == "access-0-Vq3xT9\n")


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


CHECKS = [
    check_once, check_killed, check_killed_with_grace, check_killed_without_grace, check_helper_ends, check_stopped,
    check_resources, check_refused, check_unreachable,
]
