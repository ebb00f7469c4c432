"""Compares a service over PostgreSQL with what PostgreSQL does at most, and with the same service over SQLite.

    cluster.py --crumb FILE --folder FOLDER [--seconds N] [--rounds N] [--jars N]

One server on loopback, with fsync, and one service. The clients, the service and the server share the machine. Round trips
are counted by a relay between the service and the server.
"""

import argparse
import json
import os
import re
import socket
import subprocess
import threading
import time
import urllib.request
from pathlib import Path

from service import free_port, load, wait_until_it_listens

POSTGRESQL = Path("/usr/lib/postgresql/15/bin")
CONNECTIONS = 64
COOKIES = 10


def as_server() -> list[str]:
    """What makes a command run as a user that PostgreSQL accepts."""
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups"] if os.getuid() == 0 else []


class Server:
    """A PostgreSQL server."""

    def __init__(self, folder: Path):
        self.data, self.port = folder / "data", free_port()
        self._run("initdb", "--pgdata", str(self.data), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8")
        self._run("pg_ctl", "--pgdata", str(self.data), "--log", str(folder / "postgresql.log"), "--wait", "--options",
                  f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c max_connections=200 "
                  "-c shared_buffers=512MB -c max_wal_size=4GB", "start")
        (folder / "select.sql").write_text("SELECT 1;\n")
        (folder / "update.sql").write_text("\\set id random(1, 100000)\nUPDATE head SET version = version + 1 WHERE id = :id;\n")
        self._sql("CREATE TABLE head (id bigint PRIMARY KEY, version bigint NOT NULL) WITH (fillfactor = 50)")
        self._sql("INSERT INTO head SELECT n, 0 FROM generate_series(1, 100000) n")
        self._sql("VACUUM ANALYZE head")
        self.folder = folder

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run([*as_server(), str(POSTGRESQL / program), *arguments], check=True, stdout=subprocess.DEVNULL)

    def _sql(self, statement: str) -> None:
        self._run("psql", "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-q", "-c", statement)

    def numbers(self, statement: str, database: str = "postgres") -> list[float]:
        """The first row of a statement's result."""
        output = subprocess.run(
            [str(POSTGRESQL / "psql"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-d", database, "-A", "-t",
             "-F", " ", "-c", statement], capture_output=True, text=True, check=True).stdout
        return [float(word) for word in output.split()]

    def rate(self, script: str, seconds: float) -> float:
        """Transactions a second of a script for pgbench."""
        result = subprocess.run(
            [str(POSTGRESQL / "pgbench"), "-h", "127.0.0.1", "-p", str(self.port), "-U", "postgres", "-n", "-M", "prepared",
             "-c", str(CONNECTIONS), "-j", "2", "-T", str(max(1, round(seconds))), "-f", str(self.folder / f"{script}.sql"), "postgres"],
            capture_output=True, text=True)
        rate = re.search(r"tps = ([\d.]+)", result.stdout)
        if not rate:
            raise SystemExit(result.stderr)
        return float(rate[1])

    def stop(self) -> None:
        """Ends the server."""
        self._run("pg_ctl", "--pgdata", str(self.data), "--mode", "immediate", "--wait", "stop")


class Relay:
    """Passes connections on to a server, and counts how often a client sends after the server has answered."""

    def __init__(self, port: int):
        self.round_trips = 0
        self._target = port
        self._lock = threading.Lock()
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            client, _ = self._listener.accept()
            server = socket.create_connection(("127.0.0.1", self._target))
            state = {"is_answered": True}
            for source, sink, is_client in ((client, server, True), (server, client, False)):
                source.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                threading.Thread(target=self._pass, args=(source, sink, is_client, state), daemon=True).start()

    def _pass(self, source: socket.socket, sink: socket.socket, is_client: bool, state: dict) -> None:
        try:
            while data := source.recv(1 << 16):
                with self._lock:
                    if is_client and state["is_answered"]:
                        self.round_trips += 1
                    state["is_answered"] = not is_client
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


class Service:
    """A service and its jars."""

    def __init__(self, crumb: Path, folder: Path, database: str, jars: int):
        self.port, self._folder = free_port(), folder
        environment = os.environ | {"CRUMB_DATABASE": database, "CRUMB_KEY_FILE": str(folder / "key"), "HOME": str(folder)}
        if database.startswith("postgresql:"):
            subprocess.run([crumb, "cluster", "create"], env=environment, check=True, stdout=subprocess.DEVNULL)
        token = subprocess.run([crumb, "serve", "token", "create", "bench", "--read", "--write", "--secrets"], env=environment,
                               check=True, capture_output=True, text=True).stdout.strip()
        log_file = folder / f"{self.port}.log"
        with open(log_file, "wb") as log:
            self.process = subprocess.Popen([crumb, "serve", "--listen", f"127.0.0.1:{self.port}"],
                                            env=environment, stderr=log)
        try:
            wait_until_it_listens(self.port)
        except SystemExit:
            raise SystemExit(f"the service does not start: {log_file.read_text()}") from None
        self.fields = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        for jar in range(jars):
            self.ask("PUT", f"/v1/jars/jar-{jar}")
        lines = [{"name": "Set-Cookie", "value": f"name{n}=value-{n}-{'x' * 20}; Path=/; Secure; Max-Age=86400"}
                 for n in range(COOKIES)]
        self.ask("POST", "/v1/jars/jar-0/responses", {"url": "https://www.shop.test/", "headers": lines})

    def ask(self, method: str, path: str, document: object = None) -> bytes:
        """Sends a request and returns the body of its answer."""
        body = None if document is None else json.dumps(document).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", body, self.fields, method=method)
        return urllib.request.urlopen(request).read()

    def rate(self, route: str, document: dict, jars: int, seconds: float) -> float:
        """Requests a second; `%d` in the document is a running number, and the jars take turns."""
        script = self._folder / f"{self.port}-{route}-{jars}.lua"
        fields = "\n".join(f'wrk.headers["{name}"] = "{value}"' for name, value in self.fields.items())
        script.write_text(f"""
wrk.method = "POST"
{fields}
local body = {json.dumps(json.dumps(document))}
local numbered = body:find("%%d") ~= nil
local count = 0
function request()
  count = count + 1
  return wrk.format(nil, "/v1/jars/jar-" .. (count * 7919 % {jars}) .. "/{route}", nil,
    numbered and (body:gsub("%%d", tostring(count % 50))) or body)
end
function done(summary, latency, requests)
  io.write(string.format("RESULT %.1f %.3f %d\\n", summary.requests / summary.duration * 1e6,
    latency:percentile(99) / 1000, summary.errors.status + summary.errors.connect + summary.errors.read
    + summary.errors.write + summary.errors.timeout))
end
""")
        rate, _, failures = load(script, f"http://127.0.0.1:{self.port}/", CONNECTIONS, seconds)
        if failures:
            raise SystemExit(f"{failures} requests fail")
        return rate

    def stop(self) -> None:
        """Ends the service."""
        self.process.kill()
        self.process.wait()


DECORATE = {"url": "https://www.shop.test/account"}
RESPONSE = {"url": "https://www.shop.test/", "headers": [{"name": "Set-Cookie", "value": "sid=%d; Path=/; Max-Age=86400"}]}


def round_trips(service: Service, relay: Relay) -> dict[str, float]:
    """Round trips of one request, of many one after the other."""
    def count(action, times: int = 50) -> float:
        before = relay.round_trips
        for _ in range(times):
            action()
        return (relay.round_trips - before) / times

    def decorate() -> None:
        service.ask("POST", "/v1/jars/jar-0/decorate", DECORATE)

    def respond() -> None:
        service.ask("POST", "/v1/jars/jar-0/responses", RESPONSE)

    decorate()
    respond()
    decorate()
    warm, write = count(decorate), count(respond)
    return {"decorate, nothing has changed": warm, "responses": write,
            "decorate after a change of the jar": count(lambda: (respond(), decorate())) - write}


def storage(service: Service, server: Server, jars: int = 200, cookies: int = 30) -> dict[str, float]:
    """Bytes that rows take with their indexes, and that the log takes, after each cookie came in a response of its own."""
    position = "SELECT pg_current_wal_insert_lsn() - '0/0'"
    before = server.numbers(position, "counted")[0]
    for jar in range(jars):
        service.ask("PUT", f"/v1/jars/user-{jar}")
        for number in range(cookies):
            line = {"name": "Set-Cookie", "value": f"cookie{number}={'x' * 200}; Path=/; Secure; HttpOnly; Max-Age=864000"}
            service.ask("POST", f"/v1/jars/user-{jar}/responses",
                        {"url": f"https://www.site{number % 10}.test/account", "headers": [line]})
    count = jars * cookies
    log = (server.numbers(position, "counted")[0] - before) / count
    heap, index, journal = server.numbers(
        "SELECT pg_relation_size('crumb.cookie'), pg_indexes_size('crumb.cookie'), "
        "pg_total_relation_size('crumb.cookie_change')", "counted")
    return {"cookie of 200 bytes": heap / count, "its key in the index": index / count,
            "entry of the journal": journal / count, "write-ahead log for a response": log}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--crumb", type=Path, required=True)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jars", type=int, default=1000)
    options = parser.parse_args()
    folder = options.folder
    subprocess.run([options.crumb, "jars", "create", "default"], check=True, stdout=subprocess.DEVNULL,
                   env=os.environ | {"CRUMB_DATABASE": str(folder / "sqlite"), "CRUMB_KEY_FILE": str(folder / "key")})
    server = Server(folder)
    services: list[Service] = []
    try:
        relay = Relay(server.port)
        subprocess.run([*as_server(), str(POSTGRESQL / "createdb"), "-h", "127.0.0.1", "-p", str(server.port), "-U", "postgres",
                        "counted"], check=True)
        counted = Service(options.crumb, folder, f"postgresql://postgres@127.0.0.1:{relay.port}/counted?sslmode=disable", 1)
        services.append(counted)
        print("| request | round trips |\n| --- | --- |")
        for name, count in round_trips(counted, relay).items():
            print(f"| {name} | {count:.2f} |", flush=True)
        print("\n| storage | bytes |\n| --- | --- |")
        for name, size in storage(counted, server).items():
            print(f"| {name} | {size:.0f} |", flush=True)
        counted.stop()
        url = f"postgresql://postgres@127.0.0.1:{server.port}/postgres?sslmode=disable"
        on_server = Service(options.crumb, folder, url, options.jars)
        on_file = Service(options.crumb, folder, str(folder / "sqlite"), options.jars)
        services += [on_server, on_file]
        measures = {
            "`pgbench`: `SELECT 1`": lambda: server.rate("select", options.seconds),
            "`decorate`, PostgreSQL": lambda: on_server.rate("decorate", DECORATE, 1, options.seconds),
            "`decorate`, SQLite": lambda: on_file.rate("decorate", DECORATE, 1, options.seconds),
            "`pgbench`: `UPDATE` of one row of 100,000": lambda: server.rate("update", options.seconds),
            f"`responses`, {options.jars} jars, PostgreSQL":
                lambda: on_server.rate("responses", RESPONSE, options.jars, options.seconds),
            "`responses`, one jar, PostgreSQL": lambda: on_server.rate("responses", RESPONSE, 1, options.seconds),
            f"`responses`, {options.jars} jars, SQLite":
                lambda: on_file.rate("responses", RESPONSE, options.jars, options.seconds),
            "`responses`, one jar, SQLite": lambda: on_file.rate("responses", RESPONSE, 1, options.seconds),
        }
        best = dict.fromkeys(measures, 0.0)
        for _ in range(options.rounds):
            for name, measure in measures.items():
                best[name] = max(best[name], measure())
        report(best, options.rounds, options.seconds)
    finally:
        for service in services:
            service.stop()
        server.stop()


def report(best: dict[str, float], rounds: int, seconds: float) -> None:
    """Prints the rates and their ratios."""
    names = list(best)
    ratios = {1: [0, 2], 4: [3, 6], 5: [3, 7]}
    print(f"\n{CONNECTIONS} connections, best of {rounds} rounds of {seconds:.0f} s\n\n| what | per second | ratio |\n| --- | --- | --- |")
    for index, name in enumerate(names):
        against = ", ".join(f"{best[name] / best[names[other]]:.2f} of {names[other]}" for other in ratios.get(index, []))
        print(f"| {name} | {best[name]:,.0f} | {against} |")


if __name__ == "__main__":
    main()
