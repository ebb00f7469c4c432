"""Tries the configurations of docs/reverse-proxy.md: a service behind nginx and Caddy, with the prefix kept and removed.

    python3 Tests/ReverseProxy --crumb FILE [--proxy nginx|caddy]...
"""

import argparse
import json
import os
import re
import socket
import ssl
import subprocess
import tempfile
import time
import urllib.parse
import urllib.request
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs/reverse-proxy.md"
# Longer than anything takes here: it ends what would never come.
PATIENCE = 60


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


def wait(what: str, is_done) -> None:
    end = time.monotonic() + PATIENCE
    while not is_done():
        assert time.monotonic() < end, f"{what} does not come"
        time.sleep(0.05)


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
        return True
    except OSError:
        return False


def block(language: str) -> str:
    """The configuration as the page shows it."""
    return re.search(rf"```{language}\n(.*?)```", PAGE.read_text(), re.S)[1]


def replaced(text: str, *changes: tuple[str, str]) -> str:
    for old, new in changes:
        assert old in text, f"{PAGE.name} has no '{old}'"
        text = text.replace(old, new)
    return text


def certificates(folder: Path) -> None:
    (folder / "names").write_text("subjectAltName=DNS:localhost\n")
    for command in (
        "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=authority -keyout ca.key -out ca.pem",
        "req -newkey rsa:2048 -nodes -subj /CN=localhost -keyout host.key -out host.csr",
        "x509 -req -in host.csr -CA ca.pem -CAkey ca.key -CAcreateserial -days 2 -extfile names -out host.pem",
    ):
        subprocess.run(["openssl", *command.split()], cwd=folder, check=True, stderr=subprocess.DEVNULL)


def nginx(folder: Path, port: int, service: int, is_removed: bool) -> list[str]:
    server = replaced(
        block("nginx"), ("listen 443 ssl", f"listen 127.0.0.1:{port} ssl"), ("www.example.com;", "localhost;"),
        ("/etc/ssl/www.example.com.pem", f"{folder}/host.pem"), ("/etc/ssl/www.example.com.key", f"{folder}/host.key"),
        ("127.0.0.1:8722;", f"127.0.0.1:{service}{'/' if is_removed else ''};"))
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n"
                        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    # Another user could not read the certificate's key.
    user = "user root;\n" if os.geteuid() == 0 else ""
    (folder / "nginx.conf").write_text(
        f"{user}pid {folder}/nginx.pid;\ndaemon off;\nerror_log {folder}/nginx.log;\nevents {{}}\n"
        f"http {{\naccess_log off;\n{temporary}{server}}}\n")
    return ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf"), "-e", str(folder / "nginx.log")]


def caddy(folder: Path, port: int, service: int, is_removed: bool) -> list[str]:
    site = replaced(
        block("caddyfile"),
        ("www.example.com {", f"https://localhost:{port} {{\n\ttls {folder}/host.pem {folder}/host.key"),
        ("127.0.0.1:8722", f"127.0.0.1:{service}"))
    if is_removed:
        site = replaced(site, ("handle @crumb", "handle_path /crumb*"))
    options = f"{{\n\tadmin off\n\tauto_https disable_redirects\n\tstorage file_system {folder}/caddy\n\tgrace_period 5s\n}}\n"
    (folder / "Caddyfile").write_text(options + site)
    return ["caddy", "run", "--adapter", "caddyfile", "--config", str(folder / "Caddyfile")]


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


class Attempt:
    """A service behind one proxy."""

    def __init__(self, crumb: Path, folder: Path, name: str, is_removed: bool):
        self.crumb, self.folder, self.processes = crumb, folder, []
        certificates(folder)
        self.port, service = free_port(), free_port()
        self.url = f"https://localhost:{self.port}/crumb"
        self.environment = {
            "PATH": os.environ["PATH"], "HOME": str(folder), "CRUMB_KEY_FILE": str(folder / "key"),
            "XDG_DATA_HOME": str(folder / "data"), "XDG_CONFIG_HOME": str(folder / "configuration")}
        self.start([str(crumb), "serve", "--listen", f"127.0.0.1:{service}", "--public-url", self.url, "--database",
                    str(folder / "crumb.sqlite"), "--audit-file", str(folder / "audit.jsonl")], "service.log")
        self.start((nginx if name == "nginx" else caddy)(folder, self.port, service, is_removed), "proxy.log")
        self.token_file = folder / "crumb.sqlite.token"
        # Another program may have taken the port meanwhile.
        wait("the service", lambda: self.token_file.exists() and listens(service))
        wait(name, lambda: listens(self.port))
        self.token = self.token_file.read_text().strip()
        self.opener = urllib.request.build_opener(
            NoRedirect, urllib.request.HTTPSHandler(context=ssl.create_default_context(cafile=folder / "ca.pem")))

    def start(self, command: list[str], log: str, **streams) -> subprocess.Popen:
        with open(self.folder / log, "ab") as file:
            process = subprocess.Popen(command, env=self.environment, **{"stdout": file, "stderr": file, **streams})
        self.processes.append(process)
        return process

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.terminate()
            process.wait(PATIENCE)

    def asking(self, *words: str) -> list[str]:
        return [str(self.crumb), *words, "--service", self.url, "--service-token-file", str(self.token_file),
                "--service-ca", str(self.folder / "ca.pem")]

    def ask(self, *words: str, **streams) -> str:
        result = subprocess.run(self.asking(*words), env=self.environment, capture_output=True, text=True,
                                timeout=PATIENCE, **streams)
        assert result.returncode == 0, (words, result.returncode, result.stderr)
        return result.stdout

    def get(self, path: str, fields: dict[str, str] = {}, body: bytes | None = None):
        request = urllib.request.Request(f"https://localhost:{self.port}{path}", body, fields)
        try:
            return self.opener.open(request, timeout=PATIENCE)
        except urllib.error.HTTPError as answer:
            return answer

    # The checks

    def check_command(self) -> None:
        self.ask("jars", "create", "made")
        self.ask("set", "https://www.example.com/", "--jar", "made", input="sid=1; Path=/\n")
        header = self.ask("header", "https://www.example.com/", "--jar", "made")
        assert header == "Cookie: sid=1\n", header

    def check_names(self) -> None:
        """A jar whose name is no plain segment: the proxy must not decode the path."""
        self.ask("jars", "create", "a/b c")
        assert '"name":"a/b c"' in self.ask("jars", "settings", "a/b c", "--json")

    def check_capture(self) -> None:
        """A body larger than what proxies let pass by default, and than what they keep in memory."""
        capture = self.folder / "cookies.txt"
        with open(capture, "w") as file:
            file.write("# Netscape HTTP Cookie File\n")
            for number in range(500):
                file.write(f"site-{number}.test\tFALSE\t/\tFALSE\t0\tname\t{'v' * 3900}\n")
        self.ask("import", str(capture), "--format", "netscape", "--jar", "made")

    def check_events(self) -> None:
        """A change comes through while the stream stays open."""
        self.ask("jars", "create", "live")
        follower = self.start(self.asking("changes", "--follow", "--json", "--jar", "live"), "follower.log",
                              stdout=subprocess.PIPE)
        for number in range(2):
            self.ask("set", "https://www.example.com/", "--jar", "live", input=f"c{number}=1; Path=/\n")
            assert json.loads(follower.stdout.readline())["name"] == f"c{number}"

    def check_inspector(self) -> None:
        start = self.get("/crumb/jars/made")
        assert (start.status, start.headers["Location"]) == (303, "/crumb/sign-in?to=%2Fjars%2Fmade"), start.headers
        origin = f"https://localhost:{self.port}"
        form = urllib.parse.urlencode({"token": self.token, "to": "/jars/made"}).encode()
        fields = {"Origin": origin, "Content-Type": "application/x-www-form-urlencoded"}
        signed_in = self.get("/crumb/sign-in", fields, form)
        assert signed_in.headers["Location"] == "/crumb/jars/made", (signed_in.status, signed_in.headers)
        cookie = signed_in.headers["Set-Cookie"]
        assert "; Path=/crumb;" in cookie and cookie.endswith("; Secure"), cookie
        page = self.get("/crumb/", {"Cookie": cookie.split(";")[0]})
        text = page.read().decode()
        assert page.status == 200, page.status
        links = [link for link in re.findall(r'(?:href|src|action)="([^"#]*)"', text)]
        assert "/crumb/jars/made" in links and all(link.startswith("/crumb/") for link in links), links
        for link in links:
            if "sign-out" not in link:
                assert self.get(link, {"Cookie": cookie.split(";")[0]}).status == 200, link
        foreign = self.get("/crumb/sign-in", {**fields, "Origin": "https://evil.test"}, form)
        assert foreign.status == 403, foreign.status

    def check_address(self) -> None:
        """The audit log names the client, who cannot choose its name."""
        subprocess.run(
            ["curl", "-sS", "--fail", "--cacert", str(self.folder / "ca.pem"), "--interface", "127.0.0.2", "-o",
             "/dev/null", "--resolve", f"localhost:{self.port}:127.0.0.1", "-H", "X-Forwarded-For: 203.0.113.9", "-H",
             f"@{self.fields()}", f"{self.url}/v1/jars/made/cookies?values=true&name=sid"], check=True, timeout=PATIENCE)
        audit = self.folder / "audit.jsonl"
        wait("the line in the audit log", lambda: '"127.0.0.2"' in audit.read_text())
        assert "203.0.113.9" not in audit.read_text()

    def fields(self) -> Path:
        file = self.folder / "fields"
        file.write_text(f"Authorization: Bearer {self.token}\n")
        return file


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--crumb", type=Path, required=True)
    parser.add_argument("--proxy", action="append", choices=["nginx", "caddy"])
    options = parser.parse_args()
    for name in options.proxy or ["nginx", "caddy"]:
        for is_removed in (False, True):
            with tempfile.TemporaryDirectory(prefix="crumb-proxy-") as folder:
                attempt = None
                try:
                    attempt = Attempt(options.crumb.resolve(), Path(folder), name, is_removed)
                    checks = [attempt.check_command, attempt.check_capture, attempt.check_events,
                              attempt.check_inspector, attempt.check_address]
                    # A proxy that removes the prefix may decode the path.
                    if not is_removed:
                        checks.append(attempt.check_names)
                    for check in checks:
                        check()
                except BaseException:
                    for log in sorted(Path(folder).glob("*.log")):
                        print(f"--- {log.name}\n{log.read_text(errors='replace')[-3000:]}")
                    raise
                finally:
                    if attempt:
                        attempt.stop()
            print(f"{name}, prefix {'removed' if is_removed else 'kept'}: {len(checks)} checks passed")


main()
