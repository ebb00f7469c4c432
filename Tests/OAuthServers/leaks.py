"""What others on the machine can see: the arguments and the environment of every process, at any moment of a command."""

import base64
import os
import pathlib
import shutil
import sys
import threading
import urllib.parse

from checks import expect, fetch, opened
from processes import seen
from servers.site import Site

RECORDER = """#!{python} -SE
# Notes what a program is started with, then becomes it.
import os, sys
with open({path!r}, "ab") as file:
    file.write(b"\\0".join(map(os.fsencode, sys.argv)) + b"\\0" + open("/proc/self/environ", "rb").read() + b"\\n")
os.execv({program!r}, [{program!r}, *sys.argv[1:]])
"""


class Watch:
    """Looks at all processes again and again, and whenever it is told that now is the moment."""

    def __init__(self, secrets):
        self.secrets, self.own, self.found, self.looks = set(secrets), set(), set(), 0
        self.lock, self._ends = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def look(self):
        with self.lock:
            self.found |= seen(self.secrets, besides=self.own)
            self.looks += 1
        return True

    def _run(self):
        while not self._ends.wait(0.005):
            self.look()

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *error):
        self._ends.set()
        self._thread.join()


def check_shown_to_others(crumb, server, port):
    """No secret is in the arguments or the environment of a program that crumb starts, nor in its own arguments."""
    folder = crumb.folder / "copy"
    folder.mkdir()
    started = crumb.folder / "started"
    real = pathlib.Path(crumb.program)

    def record(path, program):
        path.write_text(RECORDER.format(python=sys.executable, path=str(started), program=str(program)))
        path.chmod(0o755)

    # crumb looks beside itself for the program that takes its place.
    shutil.copy(real, folder / "crumb")
    record(folder / "crumb-network", real.parent / "crumb-network")
    record(crumb.folder / "programs" / "curl", shutil.which("curl"))
    opener = crumb.folder / "programs" / "xdg-open"
    opener.rename(folder / "xdg-open")
    record(opener, folder / "xdg-open")
    crumb.program = str(folder / "crumb")

    key = base64.b64encode(os.urandom(32)).decode()
    variables = {
        "CRUMB_KEY": key, "CRUMB_CLIENT_SECRET": "client-secret-Hd8K", "CRUMB_BROWSER_PASSWORD": "password-Tz5J",
        "CRUMB_FIELD_VALUE": "field-Rb6W"}
    numbered = [f"{kind}-{number}-{tail}" for number in range(40) for kind, tail in
                (("access", "Vq3xT9"), ("refresh", "Zk7mR2"))]
    secrets = {*variables.values(), *numbered, "code-Wm3Q",
               base64.b64encode(b"app:client-secret-Hd8K").decode()}

    site = Site(server, port())
    site.start()
    with Watch(secrets) as watch:
        def start(*words):
            with watch.lock:
                process = crumb.start(*words, variables=variables)
                # Its environment is the caller's doing.
                watch.own.add(process.pid)
            return process

        def run(*words, text=""):
            result = crumb.end(start(*words), text)
            expect(result.status == 0, words, result.status, result.talk)
            return result

        # While a request is under way everything that belongs to it runs.
        server.before = watch.look
        try:
            process = start(
                "token", "login", "p", "--client-id", "app", "--scope", "a", "--parameter", "login_hint=hint-of-alice",
                "--endpoint", f"authorization_endpoint={server.base}/authorize",
                "--endpoint", f"token_endpoint={server.base}/token")
            query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(opened(crumb, process)).query))
            secrets |= {query["state"], query["code_challenge"]}
            watch.secrets |= secrets
            end = urllib.parse.urlencode({"code": "code-Wm3Q", "state": query["state"]})
            fetch(f"{query['redirect_uri']}?{end}")
            result = crumb.end(process)
            expect(result.status == 0, result.talk)
            run("token", "get", "p")
            crumb.expire("p")
            run("token", "get", "p")
            run("token", "refresh", "p")
            run("token", "header", "p")
            for words in (["--cookie", "session={access_token}; Path=/"], ["--authorization"],
                          ["--exchange", f"{site.base}/cookie"]):
                run("token", "fallback", "set", "site", site.base + "/", "--profile", "p", *words)
                run("set", f"{site.base}/", text="session=dead; Path=/; Max-Age=1000\n")
                crumb.expire("p")
                result = run("curl", "--", "-sS", f"{site.base}/account")
                expect("signed in" in result.output, words, result.output)
        finally:
            site.stop()
            server.before = None
        expect(watch.looks > 20, watch.looks)
        expect(not watch.found, "shown to others:", watch.found)
    noted = started.read_bytes()
    for name in (b"curl", b"crumb-network", b"xdg-open"):
        expect(name in noted, name, "was not started")
    for secret in secrets:
        expect(secret.encode() not in noted, secret, "was given to a program",
               [line[:400] for line in noted.split(b"\n") if secret.encode() in line][:1])
    # The user's own words are among crumb's arguments, which the program that takes its place has too, and no other.
    own = str(folder / "crumb-network").encode()
    for line in noted.split(b"\n"):
        expect(b"hint-of-alice" not in line or line.startswith(own), "was given to a program", line[:400])
    for shown in ("CRUMB_KEY=", "CRUMB_CLIENT_SECRET", "CRUMB_BROWSER_PASSWORD", "CRUMB_FIELD_VALUE"):
        expect(shown.encode() not in noted, shown)


def check_opened_twice(crumb, server, port):
    """An opener may fail after it has opened a browser: the page to log in on opens as often as it is asked for."""
    process = crumb.start(
        "token", "login", "p", "--client-id", "app", "--endpoint", f"authorization_endpoint={server.base}/authorize",
        "--endpoint", f"token_endpoint={server.base}/token")
    first, second = opened(crumb, process, keeps=True), opened(crumb, process)
    expect(first == second, first, second)
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(first).query))
    end = urllib.parse.urlencode({"code": "code-Wm3Q", "state": query["state"]})
    fetch(f"{query['redirect_uri']}?{end}")
    result = crumb.end(process)
    expect(result.status == 0, result.status, result.talk)


CHECKS = [check_shown_to_others, check_opened_twice]
