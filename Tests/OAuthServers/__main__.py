"""Runs the checks against each server; prints a line for each, and ends with 1 where one failed."""

import argparse
import pathlib
import socket
import sys
import tempfile
import time
import traceback

from checks import all_checks
from crumb import Crumb
from servers.django_toolkit import DjangoToolkit
from servers.glewlwyd import Glewlwyd

SERVERS = {server.name: server for server in (Glewlwyd, DjangoToolkit)}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def main():
    parser = argparse.ArgumentParser(prog="Scripts/oauth", description=__doc__)
    parser.add_argument("--crumb", required=True, help="the command to run")
    parser.add_argument("--server", action="append", choices=sorted(SERVERS), help="only this one")
    parser.add_argument("--check", help="only the checks whose name has this in it")
    parser.add_argument("--rounds", type=int, default=3, help="how often many processes ask at once")
    arguments = parser.parse_args()
    failures = 0
    with tempfile.TemporaryDirectory(prefix="crumb-oauth-") as folder:
        for name in arguments.server or SERVERS:
            server = SERVERS[name](folder, free_port())
            server.start()
            try:
                crumb = Crumb(str(pathlib.Path(arguments.crumb).resolve()), pathlib.Path(folder) / f"home-{name}")
                for check in all_checks(server, arguments.rounds):
                    if arguments.check and arguments.check not in check.__name__:
                        continue
                    start = time.monotonic()
                    try:
                        check(crumb, server)
                        verdict = "ok"
                    except Exception as error:
                        failures += 1
                        verdict = f"FAILED: {error}"
                        if not isinstance(error, AssertionError):
                            traceback.print_exc()
                    print(f"{name}: {check.__name__[6:]}: {verdict} ({time.monotonic() - start:.1f} s)", flush=True)
            finally:
                server.stop()
    sys.exit(1 if failures else 0)


main()
