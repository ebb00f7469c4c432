"""The service as an agent: locked, and forwarded over SSH by OpenSSH's own sshd, on loopback."""

import os
import pathlib
import pwd
import subprocess
import tempfile
import time

from checks import expect
from many import given


class Service:
    """`crumb serve` on a socket in the home."""

    def __init__(self, crumb):
        self.crumb, self.socket = crumb, crumb.folder / "agent.sock"

    def __enter__(self):
        self.process = self.crumb.start("serve", "--socket", str(self.socket), "--log-level", "error")
        wait(self.socket.exists, "the service does not start")
        return self

    def __exit__(self, *error):
        self.process.terminate()
        self.process.communicate(timeout=60)


class SSH:
    """An sshd of its own, and a connection that forwards a socket; the sshd is no one's who may do anything here."""

    def __init__(self, folder, port, socket):
        self.folder, self.port, self.socket = pathlib.Path(folder), port, socket
        self.forwarded = self.folder / "forwarded.sock"

    def __enter__(self):
        root = pathlib.Path(os.environ["OAUTH_SERVERS_SSHD"])
        for name in ("host", "user"):
            subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.folder / name], check=True)
        is_root = os.getuid() == 0
        if is_root:
            for path in [self.folder, *self.folder.iterdir()]:
                os.chown(path, 65534, 65534)
        options = {
            "Port": self.port, "ListenAddress": "127.0.0.1", "HostKey": self.folder / "host", "PidFile": "none",
            "AuthorizedKeysFile": self.folder / "user.pub", "StrictModes": "no", "UsePAM": "yes",
            "StreamLocalBindUnlink": "yes"}
        words = [root / "usr/sbin/sshd", "-D", "-e", "-f", "/dev/null"]
        words += [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        libraries = [str(path) for path in (root / "usr/lib").glob("*-linux-gnu")]
        if is_root:
            words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *words]
        self.log = (self.folder / "log").open("w+")
        self.server = subprocess.Popen(
            words, env={**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}, stderr=self.log,
            stdin=subprocess.DEVNULL)
        user = pwd.getpwuid(65534 if is_root else os.getuid()).pw_name
        # ssh takes no key that another user owns.
        key = self.folder / "key"
        key.touch(0o600)
        key.write_bytes((self.folder / "user").read_bytes())
        self.client = subprocess.Popen(
            ["ssh", "-N", "-F", "/dev/null", "-p", str(self.port), "-i", key, "-o", "IdentitiesOnly=yes",
             "-o", "StrictHostKeyChecking=no", "-o", "UserKnownHostsFile=/dev/null", "-o", "BatchMode=yes",
             "-o", "ExitOnForwardFailure=yes", "-o", "ConnectionAttempts=40", "-o", "LogLevel=ERROR",
             "-R", f"{self.forwarded}:{self.socket}", f"{user}@127.0.0.1"],
            stdin=subprocess.DEVNULL, stderr=self.log)
        try:
            wait(self.forwarded.exists, lambda: (self.folder / "log").read_text())
        except AssertionError:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error):
        for process in (self.client, self.server):
            process.terminate()
            process.wait(timeout=60)
        self.log.close()


def wait(condition, complaint):
    for _ in range(800):
        if condition():
            return
        time.sleep(0.025)
    raise AssertionError(complaint() if callable(complaint) else complaint)


def check_agent(crumb, server, port):
    """A token comes over SSH, renewed at home; a locked service gives none, and the far side cannot unlock it."""
    given(crumb, server)
    passphrase = crumb.folder / "passphrase"
    passphrase.touch(0o600)
    passphrase.write_text("correct horse\n")
    with Service(crumb) as service, tempfile.TemporaryDirectory(prefix="crumb-ssh-") as folder:
        with SSH(folder, port(), service.socket) as ssh:
            far = {"CRUMB_SERVICE": f"unix:{ssh.forwarded}", "CRUMB_DATABASE": "", "CRUMB_KEY_FILE": "/nonexistent"}
            here = {"CRUMB_SERVICE": f"unix:{service.socket}", "CRUMB_DATABASE": ""}
            result = crumb("token", "get", "p", variables=far)
            expect(result.output == f"{server.access_token}\n", result.status, result.talk)
            crumb.expire("p")
            result = crumb("token", "exec", "p", "--", "sh", "-c", "echo $ACCESS_TOKEN", variables=far)
            expect(result.output == f"{server.access_token}\n" and server.requests == 1, result.talk)
            locked = crumb("token", "agent", "lock", "--passphrase-file", str(passphrase), variables=here)
            expect(locked.status == 0, locked.talk)
            refused = crumb("token", "get", "p", variables=far)
            expect(refused.status == 63 and refused.output == "", refused.status, refused.talk)
            unlocked = crumb("token", "agent", "unlock", "--passphrase-file", str(passphrase), variables=here)
            expect(unlocked.status == 0, unlocked.talk)
            expect(crumb("token", "get", "p", variables=far).status == 0)


CHECKS = [check_agent]
