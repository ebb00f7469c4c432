"""Has real tools and browsers make captures of one small site, imports each, and holds the cookies that come back
against what the site set.

Usage: captures.py CRUMB [NAME...]   all captures, or those whose names begin so. A tool that is not there is said.
"""

import http.server
import os
import shutil
import subprocess
import sys
import tempfile
import threading

SET_COOKIE = [
    "sess=s1; Path=/", "pers=p1; Path=/; Max-Age=86400", "hto=h1; Path=/; HttpOnly; Max-Age=86400",
    "lax=l1; Path=/; SameSite=Lax; Max-Age=86400", "strict=t1; Path=/; SameSite=Strict; Max-Age=86400",
    "dup=first; Path=/; Max-Age=86400", "dup=second; Path=/; Max-Age=86400", "gone=; Path=/; Max-Age=0",
    'quoted="a b,c"; Path=/sub; Max-Age=86400', "eq=a=b==; Path=/; Max-Age=86400",
    f"long={'0123456789' * 30}; Path=/; Max-Age=86400",
]
EXPECTED = {
    "redir": "r1", "sess": "s1", "pers": "p1", "hto": "h1", "lax": "l1", "strict": "t1", "dup": "second",
    "quoted": '"a b,c"', "eq": "a=b==", "long": "0123456789" * 30,
}
SESSION = {"redir", "sess"}


class Site(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        if self.path == "/first":
            return self.answer(302, ["redir=r1; Path=/"], [("Location", "/set")])
        return self.answer(200, SET_COOKIE if self.path == "/set" else [], [("Content-Type", "text/html")])

    def answer(self, status, cookies, fields):
        body = b"<title>HTTP/1.1 200 OK</title>\nSet-Cookie: body=1\n" if status == 200 else b""
        self.send_response(status)
        for name, value in fields + [("Set-Cookie", cookie) for cookie in cookies]:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Maker:
    """Runs tools in a scratch folder."""

    def __init__(self, url):
        self.url = url
        self.folder = tempfile.mkdtemp(prefix="crumb-captures-")

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *words, out=None, err=None, seconds=60, statuses=(0,), **variables):
        environment = dict(os.environ, HOME=self.folder, XDG_CONFIG_HOME=self.path("config"), LC_ALL="C", **variables)
        with open(self.path(out) if out else os.devnull, "wb") as output, \
                open(self.path(err) if err else os.devnull, "wb") as talk:
            status = subprocess.run(
                words, stdout=output, stderr=talk, stdin=subprocess.DEVNULL, env=environment, timeout=seconds,
                check=False).returncode
        if status not in statuses:
            raise RuntimeError(f"{words[0]} ended with status {status}")

    def curl(self, *words, **streams):
        self.run("curl", "-sL", *words, self.url, **streams)

    def chromium(self, *words):
        self.run(
            "chromium", "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-background-networking", "--password-store=basic", "--no-proxy-server",
            f"--user-data-dir={self.path('chromium')}", "--virtual-time-budget=2000", *words, "--dump-dom", self.url,
            statuses=range(256))

    def firefox(self):
        os.makedirs(self.path("firefox"))
        self.run(
            "firefox", "--headless", "--no-remote", "--profile", self.path("firefox"), "--screenshot",
            self.path("shot.png"), self.url, statuses=range(256))


def makers(site):
    """Name, program, how the capture is made, the arguments that import it, and the cookies that it may lack."""
    own = site.path
    yield "curl -i", "curl", lambda: site.curl("-i", out="i"), [own("i")], set()
    yield "curl --dump-header", "curl", lambda: site.curl("-D", own("d")), [own("d")], set()
    yield "curl -v", "curl", lambda: site.curl("-v", err="v"), [own("v")], set()
    yield "curl --trace-ascii", "curl", lambda: site.curl("--trace-ascii", own("ta"), "--trace-time"), [own("ta")], set()
    yield "curl --trace", "curl", lambda: site.curl("--trace", own("t")), [own("t")], set()
    yield ("curl header_json", "curl", lambda: site.curl("-o", own("body"), "-w", "%{header_json}", out="hj"), [own("hj")],
           {"redir"})
    yield "curl -c", "curl", lambda: site.curl("-c", own("jar")), [own("jar")], set()
    yield "wget -S", "wget", lambda: site.run("wget", "-S", "-O", own("b"), "-o", own("ws"), site.url), [own("ws")], set()
    yield ("wget --save-cookies", "wget",
           lambda: site.run("wget", "--keep-session-cookies", "--save-cookies", own("wc"), "-qO", own("b"), site.url),
           [own("wc")], {"quoted"})
    yield ("wget --warc-file", "wget",
           lambda: site.run("wget", "--no-warc-compression", "--warc-file", own("w"), "-qO", own("b"), site.url),
           [own("w.warc")], set())
    yield ("httpie --headers", "http", lambda: site.run("http", "--ignore-stdin", "--follow", "--all", "--headers",
                                                       site.url, out="hh"), [own("hh")], set())
    yield ("httpie session", "http",
           lambda: site.run("http", "--ignore-stdin", "--follow", f"--session={own('session.json')}", site.url),
           [own("session.json")], set())
    yield ("chromium net-log", "chromium",
           lambda: site.chromium(f"--log-net-log={own('net.json')}", "--net-log-capture-mode=IncludeSensitive"),
           [own("net.json")], set())
    yield ("chromium database", "chromium", lambda: site.chromium(),
           ["--browser", "chromium", "--browser-profile", own("chromium")], SESSION)
    yield ("firefox database", "firefox", site.firefox, ["--browser", "firefox", "--browser-profile", own("firefox")],
           SESSION)


def cookies(crumb, site, arguments, url):
    """The cookies that a new jar has of the import."""
    database = site.path("jar.sqlite")
    for name in ("jar.sqlite", "jar.sqlite-wal", "jar.sqlite-shm"):
        if os.path.exists(site.path(name)):
            os.remove(site.path(name))
    environment = {
        "PATH": os.environ["PATH"], "HOME": site.folder, "CRUMB_DATABASE": database, "CRUMB_KEY_FILE": site.path("key")}
    imported = subprocess.run(
        [crumb, "import", "--url", url, *arguments], env=environment, capture_output=True, text=True, check=False)
    header = subprocess.run(
        [crumb, "header", url.replace("/first", "/sub/page")], env=environment, capture_output=True, text=True,
        check=False)
    pairs = header.stdout.strip().removeprefix("Cookie: ").split("; ") if header.stdout.strip() else []
    return dict(pair.split("=", 1) for pair in pairs), imported


def main():
    crumb, names = os.path.abspath(sys.argv[1]), sys.argv[2:]
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    url = f"http://localhost:{server.server_port}/first"
    site = Maker(url)
    failures = 0
    try:
        for name, program, make, arguments, absent in makers(site):
            if names and not any(name.startswith(wanted) for wanted in names):
                continue
            if not shutil.which(program):
                print(f"{name}: {program} is not there")
                continue
            make()
            found, imported = cookies(crumb, site, arguments, url)
            expected = {key: value for key, value in EXPECTED.items() if key not in absent or key in found}
            isGood = found == expected and imported.returncode == 0
            print(f"{name}: {'as it was set' if isGood else 'NOT as it was set'}")
            if not isGood:
                failures += 1
                missing, more = expected.keys() - found.keys(), found.keys() - expected.keys()
                print(f"    missing {sorted(missing)}, more {sorted(more)}, status {imported.returncode}")
                print("    " + (imported.stdout + imported.stderr).replace(site.folder, "FOLDER").strip()[:600])
    finally:
        shutil.rmtree(site.folder, ignore_errors=True)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
