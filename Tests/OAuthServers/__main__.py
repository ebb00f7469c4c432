"""Runs the checks against each server; prints a line for each, and ends with 1 where one failed."""

import argparse
import pathlib
import socket
import sys
import tempfile
import time
import traceback

import agent
import faults
import grants
import kubernetes_clients
import leaks
import many
import story
from orders import check_gateway
from checks import all_checks
from crumb import Crumb
from servers.authlib_grants import AuthlibGrants
from servers.django_toolkit import DjangoToolkit
from servers.glewlwyd import Glewlwyd
from servers.oidc_mock import OIDCProviderMock
from servers.rotating import RotatingServer

SERVERS = {server.name: server for server in (Glewlwyd, DjangoToolkit, OIDCProviderMock, AuthlibGrants, RotatingServer)}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


class Run:
    def __init__(self, arguments, folder):
        self.arguments, self.folder, self.failures = arguments, folder, 0

    def home(self, name):
        return Crumb(str(pathlib.Path(self.arguments.crumb).resolve()), pathlib.Path(self.folder) / f"home-{name}")

    def check(self, server, check, *values):
        name = check.__name__.removeprefix("check_")
        if self.arguments.check and self.arguments.check not in name:
            return
        start = time.monotonic()
        verdict = "ok"
        try:
            check(*values)
        except Exception as error:
            self.failures += 1
            verdict = f"FAILED: {error}"
            if not isinstance(error, AssertionError):
                traceback.print_exc()
        print(f"{server}: {name}: {verdict} ({time.monotonic() - start:.1f} s)", flush=True)

    def real(self, name):
        server = SERVERS[name](self.folder, free_port())
        server.start()
        try:
            crumb = self.home(name)
            checks = grants.CHECKS
            if server.name != "authlib":
                checks = [*all_checks(server, min(self.arguments.rounds, 3)), check_gateway]
            for check in checks:
                self.check(name, check, crumb, server)
        finally:
            server.stop()

    def rotating(self):
        for check in many.CHECKS:
            server = RotatingServer(self.folder, free_port())
            server.start()
            self.check(
                server.name, check, self.home(check.__name__), server, self.arguments.rounds,
                self.arguments.processes)
            server.stop()
        for check in faults.CHECKS:
            self.check("faulty", check, self.home(check.__name__))
        for check in story.CHECKS + leaks.CHECKS + kubernetes_clients.CHECKS + agent.CHECKS:
            server = RotatingServer(self.folder, free_port())
            server.start()
            self.check(server.name, check, self.home(check.__name__), server, free_port)
            server.stop()


def main():
    parser = argparse.ArgumentParser(prog="Scripts/oauth", description=__doc__)
    parser.add_argument("--crumb", required=True, help="the command to run")
    parser.add_argument("--server", action="append", choices=sorted(SERVERS), help="only this one")
    parser.add_argument("--check", help="only the checks whose name has this in it")
    parser.add_argument(
        "--rounds", type=int, default=100,
        help="how often many processes ask at once where the server only counts (default: 100); at real ones, 3 times")
    parser.add_argument("--processes", type=int, default=50, help="how many processes ask at once")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="crumb-oauth-") as folder:
        run = Run(arguments, folder)
        for name in arguments.server or SERVERS:
            if SERVERS[name] is RotatingServer:
                run.rotating()
            else:
                run.real(name)
    sys.exit(1 if run.failures else 0)


main()
