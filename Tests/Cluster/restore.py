"""What a restore to an earlier point in time does to logins: those that are quarantined survive it."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
import urllib.parse
from pathlib import Path

for neighbour in ("OAuthServers", "ServiceFaults"):
    sys.path.insert(1, str(Path(__file__).resolve().parent.parent / neighbour))

from servers.rotating import RotatingServer  # noqa: E402
from service import Answer, Service, free_port  # noqa: E402

POSTGRESQL = Path("/usr/lib/postgresql/15/bin")
LOGIN = "shared"
# Seconds; a token is due in the second half of this.
LIFETIME = 4
POINT = "before"


class Server:
    """PostgreSQL that archives its log, so that it can be restored to any point in time."""

    def __init__(self, folder: Path):
        self.folder, self.port = folder, free_port()
        self.archive, self.base = folder / "archive", folder / "base"
        self.archive.mkdir()
        shutil.chown(self.archive, "postgres")
        self._run("initdb", "--pgdata", str(folder / "data"), "--username", "postgres", "--auth", "trust", "--encoding", "UTF8",
                  "--no-sync")
        self.start("data", "-c", "archive_mode=on", "-c", f"archive_command='cp %p {self.archive}/%f'")
        self.url = f"postgresql://postgres@127.0.0.1:{self.port}/postgres"

    def _run(self, program: str, *arguments: str) -> None:
        subprocess.run(["setpriv", "--reuid", "postgres", "--regid", "postgres", "--clear-groups", str(POSTGRESQL / program), *arguments],
                       check=True, stdout=subprocess.DEVNULL, cwd=self.folder)

    def start(self, data: str, *settings: str) -> None:
        """Runs a server on a folder of data."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={self.folder} -c fsync=off"
        self._run("pg_ctl", "--pgdata", str(self.folder / data), "--log", str(self.folder / f"{data}.log"), "--wait",
                  "--options", " ".join([options, *settings]), "start")

    def stop(self, data: str) -> None:
        """Ends the server on a folder of data."""
        self._run("pg_ctl", "--pgdata", str(self.folder / data), "--mode", "fast", "--wait", "stop")

    def ask(self, sql: str) -> None:
        """Runs a statement."""
        self._run("psql", "--quiet", "--host", "127.0.0.1", "--port", str(self.port), "--username", "postgres", "--command", sql)

    def back_up(self) -> None:
        """Copies the data as it is now."""
        self._run("pg_basebackup", "--pgdata", str(self.base), "--host", "127.0.0.1", "--port", str(self.port), "--username",
                  "postgres", "--checkpoint", "fast")

    def restore(self, data: str) -> None:
        """Runs a server on the backup, brought to the point in time."""
        shutil.copytree(self.base, self.folder / data)
        (self.folder / data / "recovery.signal").touch()
        for path in [self.folder / data, *(self.folder / data).rglob("*")]:
            shutil.chown(path, "postgres")
        self.start(data, "-c", f"restore_command='cp {self.archive}/%f %p'", "-c", f"recovery_target_name={POINT}",
                   "-c", "recovery_target_action=promote")
        for _ in range(300):
            if not (self.folder / data / "recovery.signal").exists():
                return
            time.sleep(0.1)
        raise SystemExit("the restored server does not begin to write")


def log_in(service: Service, server: RotatingServer) -> None:
    """Stores the login, as the user does."""
    connection = service.connect()
    begun = json.loads(connection.ask("POST", "/v1/logins", {
        "name": LOGIN, "flow": "browser", "clientID": "app", "redirectURI": "https://app.test/back",
        "dangerouslyAllowPlainHTTP": True,
        "endpoints": {"authorization_endpoint": f"{server.base}/authorize", "token_endpoint": f"{server.base}/token"},
    }).body)
    state = urllib.parse.parse_qs(urllib.parse.urlsplit(begun["authorizationURL"]).query)["state"][0]
    ended = connection.ask("POST", f"/v1/logins/{begun['id']}/redirect", {"url": f"https://app.test/back?code=c&state={state}"})
    if ended.status >= 300:
        raise SystemExit(f"the login does not end: {ended.body.decode()}")


def token(service: Service) -> Answer:
    """Asks for an access token when the last one has expired."""
    time.sleep(LIFETIME + 0.1)
    return service.connect().ask("POST", f"/v1/tokens/{LOGIN}/access-token", {})


def main() -> int:
    """Runs the check; 0 if all is as it should be."""
    parser = argparse.ArgumentParser(prog="Scripts/cluster-restore", description=__doc__)
    parser.add_argument("--crumb", type=Path, required=True, metavar="FILE", help="the command to run")
    parser.add_argument("--folder", type=Path, required=True, help="an empty folder for everything")
    options = parser.parse_args()
    folder = options.folder
    shutil.chown(folder, "postgres")
    os.environ |= {"CRUMB_HOUSEKEEPING_REFRESH_AHEAD_SECONDS": "0"}

    authorization = RotatingServer(None, free_port())
    authorization.access_token_seconds = LIFETIME
    authorization.start()
    database = Server(folder)
    service = Service(options.crumb, folder)
    service.run("jars", "create", "first")
    service.environment |= {"CRUMB_DATABASE": database.url}
    service.run("cluster", "create")
    service.start()
    log_in(service, authorization)
    database.back_up()
    database.ask(f"SELECT pg_create_restore_point('{POINT}')")
    # From here on, the server knows the refresh token of the backup as a former one.
    refreshed = token(service)
    database.ask("SELECT pg_switch_wal()")
    service.stop()
    database.stop("data")
    failures = [] if refreshed.status == 200 and authorization.requests == 1 else [f"no refresh: {refreshed.body.decode()}"]

    database.restore("restored")
    quarantined = json.loads(service.run("cluster", "quarantine", "--json"))["logins"]
    if quarantined != [LOGIN]:
        failures.append(f"quarantined: {quarantined}")
    service.start()
    expired = token(service)
    if expired.code != "login-required" or authorization.requests != 1:
        failures.append(f"a quarantined login: {expired.status} {expired.code}, {authorization.requests} requests")
    if not authorization.is_alive:
        failures.append("a quarantined login was revoked")
    log_in(service, authorization)
    renewed = token(service)
    if renewed.status != 200 or authorization.requests != 2 or not authorization.is_alive:
        failures.append(f"after a new login: {renewed.status}, {authorization.requests} requests")
    service.stop()
    database.stop("restored")

    # What the quarantine is for.
    database.restore("forgotten")
    service.start()
    token(service)
    if authorization.is_alive:
        failures.append("without a quarantine, the check sees no difference")
    service.stop()
    database.stop("forgotten")
    for failure in failures:
        print(failure)
    print(f"restored to a point in time: {'FAILURES' if failures else 'the login survives in quarantine, and is revoked without'}")
    return 1 if failures else 0


if __name__ == "__main__":
    try:
        status = main()
    finally:
        Service.kill_all()
    sys.exit(status)
