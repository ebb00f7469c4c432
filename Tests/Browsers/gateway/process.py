"""The gateway as a process of its own, between a browser and the laboratory's servers."""

import json
import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from crumb import Crumb
from engines import EngineFailure
from server.certificate import is_address


@contextmanager
def gateway(binary: Path, folder: Path, proxy: int | None, certificate: Path, sites: Sequence[str],
            *more: str, is_killed: bool = False,
            starting: Callable[[list[str]], list[str]] = lambda command: command) -> Iterator[int]:
    """The port of a gateway that reads all requests to `sites`, and reaches all servers through a proxy, or without one.

    The database and the log of requests (`gateway.log`) are in `folder`, and what it says of itself (`gateway.json`).
    `more` are further options, and `starting` gives the command that starts the gateway's. In the end it is asked to stop,
    or killed without a warning.
    """
    patterns = [pattern for site in sites for pattern in ((site,) if is_address(site) else (site, f"*.{site}"))]
    hosts = [argument for pattern in patterns for argument in ("--intercept", pattern)]
    environment = {**os.environ, "CRUMB_DATABASE": str(Crumb.database(folder)),
                   "CRUMB_KEY_FILE": str(folder / "crumb.key"), "HOME": str(folder), "NO_PROXY": "",
                   "XDG_CACHE_HOME": str(folder / "cache")}
    through = [] if proxy is None else ["--proxy", f"http://127.0.0.1:{proxy}"]
    process = subprocess.Popen(
        starting([str(binary), "gateway", "run", "--json", "--log", *through, "--ca-file", str(certificate),
                  "--temporary-authority", str(folder / "authority.pem"), *hosts, *more]),
        env=environment, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        if not line:
            raise EngineFailure("the gateway does not start")
        (folder / "gateway.json").write_bytes(line)
        # Nobody reads the log meanwhile; a full pipe must not hold the gateway up.
        with open(folder / "gateway.log", "ab") as log:
            reader = subprocess.Popen(["cat"], stdin=process.stdout, stdout=log)
        process.stdout.close()
        try:
            yield int(json.loads(line)["address"].rpartition(":")[2])
        finally:
            (process.kill if is_killed else process.terminate)()
            reader.wait(20)
    finally:
        process.kill()
        process.wait(20)


def resolving_command(folder: Path, names: Sequence[str], command: Sequence[str]) -> list[str]:
    """A command for which these names, and no others, have addresses: those of the loopback.

    It gets a hosts file of its own, in a mount namespace of its own: `hosts` in `folder`, which `write_hosts` changes. Signals
    reach the command itself.
    """
    order = folder / "nsswitch.conf"
    order.write_text("hosts: files\n")
    write_hosts(folder, names)
    rights = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    script = 'mount --bind "$1" /etc/hosts && mount --bind "$2" /etc/nsswitch.conf && shift 2 && exec "$@"'
    return ["unshare", *rights, "--mount", "sh", "-c", script, "sh", str(folder / "hosts"), str(order), *command]


def write_hosts(folder: Path, names: Sequence[str]) -> None:
    """Says which names have addresses from now on."""
    (folder / "hosts").write_text("".join(f"127.0.0.1 {name}\n" for name in names))
