"""Recordings of the gateway: what they hold, what an import makes of them, and what they answer."""

import email.utils
import http.server
import json
import os
import random
import re
import signal
import ssl
import subprocess
import threading
import time

PAGE = "<p>grün\u20ac</p>".encode()
# The same in each run: other octets may have a secret in their Base64 by chance.
IMAGE = random.Random(1).randbytes(300_000)
EXPIRES = email.utils.formatdate(time.time() + 30 * 86_400, usegmt=True)
SECRETS = [b"31d4", b"s3cr3t", b"tok3n", b"v4lue"]


class Site(http.server.BaseHTTPRequestHandler):
    """Pages, an image, forms and cookies of each kind."""

    protocol_version = "HTTP/1.1"
    count = 0

    def answer(self, status, body, *fields):
        self.send_response_only(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def do_GET(self):
        type(self).count += 1
        if self.path == "/image":
            self.answer(200, IMAGE, ("Content-Type", "image/png"))
        elif self.path == "/redirect":
            self.answer(302, b"", ("Location", "/page"), ("Set-Cookie", "hop=v4lue"))
        elif self.path == "/set":
            self.answer(
                200, PAGE, ("Content-Type", "text/html; charset=utf-8"), ("Set-Cookie", "sid=31d4; Path=/; Secure; HttpOnly"),
                ("Set-Cookie", f"lang=v4lue; Expires={EXPIRES}; SameSite=Lax"),
                ("Set-Cookie", 'quoted="v4lue, x"; Path=/p; SameSite=Strict'))
        else:
            self.answer(200, PAGE, ("Content-Type", "text/html; charset=utf-8"))

    do_HEAD = do_GET

    def do_POST(self):
        type(self).count += 1
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        self.answer(200, b"<" + body + b">", ("Content-Type", "text/plain"))

    def log_message(self, *arguments):
        pass


class Gateway:
    """A gateway that runs until the end of a `with` block."""

    def __init__(self, crumb, environment, *words):
        command = [crumb, "gateway", "run", "--client", "tool", *words]
        self.process = subprocess.Popen(
            command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        self.messages = ""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        self.messages = self.process.communicate(timeout=60)[1]

    def curl(self, *words):
        return subprocess.run(
            ["curl", "-sS", "--max-time", "30", "--proxy", f"http://{self.address}", *words], capture_output=True, timeout=60)


def check_recordings(crumb, folder, environment, check):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/tls.pem", f"{folder}/tls.key")
    # Each connection shakes hands in its own thread.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"https://localhost:{server.server_address[1]}"
    authority = f"{folder}/recording-authority.pem"
    intercepts = ["--intercept", "localhost", "--temporary-authority", authority, "--ca-file", f"{folder}/tls.pem"]
    run = lambda *words: subprocess.run(words, env=environment, capture_output=True, timeout=60)

    def cookies(jar):
        found = [json.loads(line) for line in run(crumb, "list", "--jar", jar, "--json", "--values").stdout.splitlines()]
        return sorted(json.dumps({name: cookie[name] for name in cookie if name != "created"}, sort_keys=True) for cookie in found)

    def browse(gateway):
        trusting = ["--cacert", authority]
        return [
            gateway.curl(*trusting, f"{origin}/set").stdout, gateway.curl(*trusting, f"{origin}/image").stdout,
            gateway.curl(*trusting, "-L", f"{origin}/redirect").stdout,
            gateway.curl(*trusting, "-d", "name=x&password=s3cr3t", f"{origin}/form").stdout,
            gateway.curl(*trusting, "-H", "Authorization: Bearer tok3n", f"{origin}/page?access_token=tok3n").stdout,
            gateway.curl(*trusting, "-I", f"{origin}/page").stdout[:15],
        ]

    whole, plain = f"{folder}/whole.har", f"{folder}/plain.har"
    with Gateway(crumb, environment, "--jar", "recorded", *intercepts, "--record", whole, "--record-secrets") as gateway:
        answers = browse(gateway)
    check("--record: the traffic passes", answers[0] == PAGE and answers[1] == IMAGE, answers[:1])
    entries = json.load(open(whole))["log"]["entries"]
    check("--record: an entry for each request", len(entries) == 7, len(entries))
    check("--record: for the owner only", os.stat(whole).st_mode & 0o777 == 0o600, oct(os.stat(whole).st_mode))
    answer = run(crumb, "import", "--jar", "imported", whole)
    check("--record: the recording can be imported", answer.returncode == 0, answer)
    check("--record: an import gives the same cookies", len(cookies("recorded")) == 4 and cookies("recorded") == cookies("imported"),
          (cookies("recorded"), cookies("imported")))
    with Gateway(crumb, environment, "--jar", "plain", *intercepts, "--record", plain) as gateway:
        browse(gateway)
    text = open(plain, "rb").read()
    check("--record: no secret", not [secret for secret in SECRETS if secret in text.replace(b"<name=x&password=s3cr3t>", b"")],
          [secret for secret in SECRETS if secret in text])
    check("--record: names of cookies", b'"name":"sid","value":""' in text, text[:2000])
    with Gateway(crumb, environment, "--record", plain) as gateway:
        pass
    check("--record: a file that exists is left alone", gateway.process.returncode == 77 and open(plain, "rb").read() == text,
          gateway.messages)

    seen = Site.count
    for name in [whole, plain]:
        jar = os.path.basename(name)
        with Gateway(crumb, environment, "--jar", jar, *intercepts, "--replay", name, "--offline") as gateway:
            replayed = browse(gateway)
            refused = gateway.curl("--cacert", authority, "-i", f"{origin}/other")
            blind = gateway.curl("-i", "https://127.0.0.1:1/")
        check(f"--replay {jar}: the same answers", replayed == answers, [a[:60] for a in replayed])
        check(f"--replay {jar}: 504 for others", re.match(rb"HTTP/[\d.]+ 504", refused.stdout.split(b"\r\n\r\n")[-2]) and
              b"proxy-status: crumb" in refused.stdout.lower(), refused)
        check(f"--replay {jar}: no blind tunnel", b"504" in blind.stderr, blind)
    check("--offline: no request reaches the server", Site.count == seen, Site.count - seen)
    check("--replay: cookies are stored as from the server", cookies("whole.har") == cookies("recorded"), cookies("whole.har"))
    check("--replay: redacted cookies are not stored", cookies("plain.har") == [], cookies("plain.har"))
    killed(crumb, folder, environment, check)
    full_disk(crumb, folder, environment, check)
    server.shutdown()


def plain_server():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server, f"http://127.0.0.1:{server.server_address[1]}"


def killed(crumb, folder, environment, check):
    """SIGKILL in the middle of the traffic: the recording has each response that was followed by another on its connection."""
    server, origin = plain_server()
    for number in range(3):
        path = f"{folder}/killed-{number}.har"
        gateway = Gateway(crumb, environment, "--jar", "killed", "--record", path)
        urls = [word for n in range(40) for word in (f"{origin}/image", "-o", "/dev/null", "-w", "x")]
        client = subprocess.Popen(
            ["curl", "-sS", "--proxy", f"http://{gateway.address}", *urls], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        client.stdout.read(12 + number)
        gateway.process.kill()
        complete = 12 + number + len(client.communicate()[0]) - 1
        gateway.process.communicate()
        replay = Gateway(crumb, environment, "--jar", "killed", "--replay", path, "--offline")
        with replay:
            same = replay.curl(f"{origin}/image").stdout == IMAGE
        check(f"SIGKILL: the recording is read up to its last entry ({number})", same, replay.messages)
        answer = subprocess.run([crumb, "import", "--json", "--jar", "killed", path], env=environment, capture_output=True)
        found = open(path, "rb").read().count(b'{"startedDateTime"')
        check(f"SIGKILL: no complete exchange is lost ({number})", found >= complete, (found, complete, answer))
    server.shutdown()


def full_disk(crumb, folder, environment, check):
    """A disk that becomes full ends the recording, with a message, and never the traffic."""
    if os.getuid() != 0:
        return print("left out: a full disk needs root", flush=True)
    disk = f"{folder}/disk"
    os.mkdir(disk)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1200k", "tmpfs", disk], check=True)
    server, origin = plain_server()
    try:
        with Gateway(crumb, environment, "--jar", "full", "--record", f"{disk}/full.har") as gateway:
            bodies = [gateway.curl(f"{origin}/image").stdout for _ in range(2)]
            # Entries that wait for each other when the disk becomes full.
            many = gateway.curl("-Z", "--parallel-max", "20", *[f"{origin}/image"] * 20).stdout
        entries = json.load(open(f"{disk}/full.har"))["log"]["entries"]
        check("a full disk: the traffic passes", all(body == IMAGE for body in bodies) and len(many) == 20 * len(IMAGE), len(many))
        check("a full disk: the recording is complete up to there", 0 < len(entries) < 6, len(entries))
        check("a full disk: the gateway ends", gateway.process.returncode == 0, gateway.process.returncode)
        check("a full disk: one message", gateway.messages.count("No space left") == 1, gateway.messages)
    finally:
        subprocess.run(["umount", disk])
        server.shutdown()
