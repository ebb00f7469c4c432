"""Real clients through a gateway: what the server gets, what the client gets, and what the jar has."""

import argparse
import base64
import hashlib
import json
import os
import re
import shutil
import signal
import socketserver
import ssl
import subprocess
import sys
import tempfile
import threading

import httpx
import requests
import websocket

from faults import check_faults
from load import FULL, SMALL, check_load
from programs import check_programs
from recording import check_recordings
from smuggling import check_smuggling

BODY = os.urandom(3 << 20)


class Origin(socketserver.StreamRequestHandler):
    """Answers with what it got, and sets one cookie of each kind."""

    def handle(self):
        while True:
            line = self.rfile.readline()
            if not line:
                return
            method, target, _ = line.decode("latin-1").split(" ")
            fields = []
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                name, _, value = line.decode("latin-1").rstrip("\r\n").partition(": ")
                fields.append((name.lower(), value))
            values = dict(fields)
            body = self.body(values)
            self.server.seen.append({"method": method, "target": target, "fields": fields, "body": body})
            if values.get("upgrade", "").lower() == "websocket":
                self.websocket(values)
                return
            if target == "/large":
                head = "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(BODY)
                self.wfile.write(head.encode() + BODY)
                continue
            if target == "/redirect":
                head = "HTTP/1.1 302 Found\r\nLocation: /after\r\nSet-Cookie: hop=1; HttpOnly\r\nContent-Length: 0\r\n\r\n"
                self.wfile.write(head.encode())
                continue
            shown = isinstance(self.request, ssl.SSLSocket) and self.request.getpeercert() is not None
            answer = {"cookie": values.get("cookie"), "body": hashlib.sha256(body).hexdigest(), "certificate": shown}
            answer = json.dumps(answer).encode()
            head = "HTTP/1.1 200 OK\r\nSet-Cookie: seen=1\r\nSet-Cookie: hidden=2; HttpOnly\r\nContent-Length: %d\r\n\r\n"
            self.wfile.write((head % len(answer)).encode() + answer)

    def body(self, values):
        if values.get("expect") == "100-continue":
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        if values.get("transfer-encoding") == "chunked":
            body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return body
        return self.rfile.read(int(values.get("content-length", 0)))

    def websocket(self, values):
        key = values["sec-websocket-key"] + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
        accept = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
        head = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: %s\r\n\r\n"
        self.wfile.write((head % accept).encode())
        text = (values.get("cookie") or "none").encode()
        self.wfile.write(bytes([0x81, len(text)]) + text)
        self.rfile.read(1)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    seen = []


def check(name, condition, detail=""):
    print(("ok    " if condition else "WRONG ") + name + ("" if condition else f": {detail}"), flush=True)
    if not condition:
        check.failed = True


check.failed = False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--crumb", required=True)
    parser.add_argument("--requests", type=int, default=20_000, help="how many to send where memory must not grow")
    parser.add_argument("--full-load", action="store_true", help="load with the counts for a release")
    options = parser.parse_args()
    crumb = os.path.abspath(options.crumb)
    folder = tempfile.mkdtemp()
    server = Server(("127.0.0.1", 0), Origin)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{server.server_address[1]}"
    environment = {key: value for key, value in os.environ.items() if "proxy" not in key.lower()}
    environment |= {"CRUMB_DATABASE": f"{folder}/crumb.sqlite", "CRUMB_KEY_FILE": f"{folder}/key"}
    run = lambda *words, **more: subprocess.run(words, env=environment, capture_output=True, timeout=60, **more)
    run(crumb, "set", "--jar", "work", origin, input=b"sid=31d4; HttpOnly\n", check=True)
    gateway = subprocess.Popen(
        [crumb, "gateway", "run", "--client", "tool", "--jar", "work", "--log", "--json"], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        address = json.loads(gateway.stdout.readline())["address"]
        clients(address, origin, server, environment, run)
    finally:
        gateway.send_signal(signal.SIGTERM)
        log = [json.loads(line) for line in gateway.stdout]
        status = gateway.wait(timeout=30)
    check("the gateway ends with status 0", status == 0, status)
    check("the log names no value", "31d4" not in json.dumps(log))
    requests_logged = [entry for entry in log if entry["decorated"]]
    check("the log has each request", len(requests_logged) == len(server.seen), f"{len(requests_logged)} of {len(server.seen)}")
    encrypted(crumb, folder, environment)
    check_programs(crumb, folder, environment, check)
    check_recordings(crumb, folder, environment, check)
    check_faults(crumb, folder, environment, options.requests, check)
    check_load(crumb, folder, environment, FULL if options.full_load else SMALL, check)
    gateway = subprocess.Popen(
        [crumb, "gateway", "run", "--client", "tool", "--jar", "work"], env=environment, stdout=subprocess.PIPE, text=True)
    check_smuggling(gateway.stdout.readline().strip(), folder, check)
    gateway.send_signal(signal.SIGTERM)
    gateway.wait(timeout=30)
    names = run(crumb, "list", "--jar", "work", "--json").stdout.decode()
    for name in ["sid", "seen", "hidden", "hop"]:
        check(f"the jar has {name}", re.search(f'"name":"{name}"', names), names)
    shutil.rmtree(folder)
    sys.exit(1 if check.failed else 0)


def reverse(crumb, folder, environment, origin):
    """A site offered at an address: a client without a proxy and without TLS gets it with the session."""
    gateway = subprocess.Popen(
        [crumb, "gateway", "run", "--client", "tool", "--jar", "safe", "--ca-file", f"{folder}/tls.pem", "--json",
         "--upstream", origin], env=environment, stdout=subprocess.PIPE, text=True)
    try:
        listening = json.loads(gateway.stdout.readline())
        check("--upstream: the site is named", listening["upstream"] == origin, listening)
        url = f"http://{listening['address']}/%7Ex"
        run = lambda *words: subprocess.run(["curl", "-sSi", *words, url], env=environment, capture_output=True, timeout=60)
        answer = run("-H", "Cookie: other=1").stdout
        check("--upstream: the jar's cookies, and no other", b"sid=55c1" in answer and b"other=1" not in answer, answer)
        check("--upstream: no cookie passes on", b"set-cookie" not in answer.lower(), answer)
        answer = run("-H", "Origin: https://evil.example").stdout
        check("--upstream: not for pages of other sites", answer.startswith(b"HTTP/1.1 403 "), answer)
        answer = run("-H", "Host: evil.example").stdout
        check("--upstream: not under another name", answer.startswith(b"HTTP/1.1 421 "), answer)
    finally:
        gateway.send_signal(signal.SIGTERM)
        gateway.wait(timeout=30)


def encrypted(crumb, folder, environment):
    """`crumb run`: a command whose https requests are decrypted, with a server whose authority only the gateway trusts."""
    run = lambda *words, **more: subprocess.run(words, env=environment, capture_output=True, timeout=60, **more)
    run(
        "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
        "-keyout", f"{folder}/tls.key", "-out", f"{folder}/tls.pem", "-subj", "/CN=localhost",
        "-addext", "subjectAltName=DNS:localhost", check=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/tls.pem", f"{folder}/tls.key")
    context.verify_mode = ssl.CERT_OPTIONAL
    context.load_verify_locations(f"{folder}/tls.pem")
    server = Server(("127.0.0.1", 0), Origin)
    server.seen = []
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"https://localhost:{server.server_address[1]}"
    run(crumb, "set", "--jar", "safe", origin, input=b"sid=55c1; Secure; HttpOnly\n", check=True)
    command = [crumb, "run", "--quiet", "--jar", "safe", "--ca-file", f"{folder}/tls.pem", "--"]
    python = lambda code: run(*command, sys.executable, "-c", code).stdout

    answer = run(*command, "curl", "-sS", f"{origin}/%7Ex", "--next", "-sS", f"{origin}/2")
    check("crumb run: curl, several URLs", answer.stdout.count(b"sid=55c1") == 2, answer)
    check("crumb run: the target is unchanged", server.seen[0]["target"] == "/%7Ex", server.seen[0])
    http2(command, origin, folder, server, run)
    answer = run(*command, "wget", "-q", "-O", "-", f"{origin}/")
    check("crumb run: wget", b"sid=55c1" in answer.stdout, answer)
    check("crumb run: urllib", b"sid=55c1" in python(
        f"import urllib.request as u; print(u.urlopen('{origin}/').read().decode())"))
    check("crumb run: requests", b"sid=55c1" in python(f"import requests; print(requests.get('{origin}/').text)"))
    check("crumb run: httpx", b"sid=55c1" in python(f"import httpx; print(httpx.get('{origin}/').text)"))
    answer = run(*command, "git", "ls-remote", f"{origin}/repository.git")
    check("crumb run: git", "/repository.git" in server.seen[-1]["target"] and any(
        name == "cookie" and "sid=55c1" in value for name, value in server.seen[-1]["fields"]), server.seen[-1])
    answer = run(crumb, "run", "--jar", "empty", "sh", "-c", f"curl -sS {origin}/")
    check("crumb run: a host that is not named passes unread", answer.returncode == 60, answer)
    check("crumb run: a note names it", b"add --intercept localhost" in answer.stderr, answer)
    answer = run(
        crumb, "run", "--quiet", "--jar", "empty", "--intercept", "localhost", "--ca-file", f"{folder}/tls.pem", "sh", "-c",
        f"curl -sS {origin}/")
    check("crumb run: --intercept", b'"cookie": null' in answer.stdout, answer)
    answer = run(
        crumb, "run", "--jar", "fresh", "--ca-file", f"{folder}/tls.pem", sys.executable, "-c",
        "import sys, urllib.request as u; u.urlopen(sys.argv[1]).read()", f"{origin}/")
    names = run(crumb, "list", "--jar", "fresh", "--json").stdout
    check("crumb run: a login with an empty jar is in the jar", b'"name":"hidden"' in names, answer)
    names = run(crumb, "list", "--jar", "empty", "--json").stdout
    check("crumb run: the cookies of the response are in the jar", b'"name":"hidden"' in names, names)
    answer = run(*command[:-1], "--bypass", "localhost", "--", "curl", "-sS", f"{origin}/")
    check("crumb run: --bypass, and the server is trusted", b'"cookie": null' in answer.stdout, answer)
    run(crumb, "token", "import", "p", input=b"access-5f2e", check=True)
    run(
        crumb, "token", "fallback", "set", "--jar", "ruled", "rule", f"{origin}/", "--profile", "p", "--when-status", "401",
        "--authorization", check=True)
    run(crumb, "run", "--quiet", "--jar", "ruled", "--ca-file", f"{folder}/tls.pem", "--", "curl", "-sS", f"{origin}/")
    names = run(crumb, "list", "--jar", "ruled", "--json").stdout
    check("crumb run: the site of a login rule is decrypted", b'"name":"hidden"' in names, names)
    check("crumb run: no certificate for a server that was not named", b'"certificate": false' in run(
        *command, "curl", "-sS", f"{origin}/").stdout)
    with open(f"{folder}/own.pem", "wb") as file:
        os.chmod(file.name, 0o600)
        file.write(open(f"{folder}/tls.pem", "rb").read() + open(f"{folder}/tls.key", "rb").read())
    words = [*command[:-1], "--client-certificate-file", f"localhost={file.name}", "--", "curl", "-sS", f"{origin}/"]
    answer = run(*words)
    check("crumb run: --client-certificate-file", b'"certificate": true' in answer.stdout, answer)
    os.chmod(file.name, 0o644)
    answer = run(*words)
    check("crumb run: a key that others can read", answer.returncode != 0 and b"chmod 600" in answer.stderr, answer)
    answer = run(*command, sys.executable, f"{os.path.dirname(__file__)}/http2_socket.py", origin)
    check("crumb run: a WebSocket in HTTP/2", answer.stdout.startswith(b"200\nsid=55c1"), answer)
    reverse(crumb, folder, environment, origin)
    check("crumb run: exit status", run(*command, "sh", "-c", "exit 7").returncode == 7)
    check("crumb run: a signal", run(*command, "sh", "-c", "kill -TERM $$").returncode == 143)
    check("crumb run: no such command", run(*command, "no-such-command").returncode == 127)
    answer = run(*command, "sh", "-c", 'grep -l "PRIVATE KEY" "$SSL_CERT_FILE"; ls -la "$(dirname "$SSL_CERT_FILE")"')
    check("crumb run: no key on the disk", b"authorities.pem\n" in answer.stdout and answer.stdout.startswith(b"total"), answer)


def http2(command, origin, folder, server, run):
    """A client that speaks HTTP/2 with the gateway, which speaks HTTP/1.1 with the server."""
    curl = lambda *words, **more: run(*command, "curl", "-sS", "-w", " %{http_version} ", *words, **more)
    answer = curl("-b", "a=1; b=2", f"{origin}/%zz?a|b[c]^", "-g")
    check("HTTP/2: the cookies", b'"a=1; b=2; sid=55c1' in answer.stdout and b" 2 " in answer.stdout, answer)
    check("HTTP/2: the target is unchanged", server.seen[-1]["target"] == "/%zz?a|b[c]^", server.seen[-1])
    with open(f"{folder}/body", "wb") as file:
        file.write(BODY)
    digest = hashlib.sha256(BODY).hexdigest().encode()
    answer = curl("-T", f"{folder}/body", f"{origin}/put")
    check("HTTP/2: a body with its length", digest in answer.stdout and b" 2 " in answer.stdout, answer)
    answer = curl("-T", "-", f"{origin}/put", input=BODY)
    check("HTTP/2: a body without", digest in answer.stdout and b" 2 " in answer.stdout, answer)
    answer = run(*command, "curl", "-sS", f"{origin}/large")
    check("HTTP/2: a large response", answer.stdout == BODY, answer.stderr)
    answer = run(*command, "curl", "-sS", "-I", f"{origin}/")
    check("HTTP/2: HEAD", answer.stdout.count(b"HTTP/2 200") == 1 and answer.returncode == 0, answer)
    answer = curl("-Z", "--parallel-max", "80", *[f"{origin}/{number}" for number in range(80)])
    check("HTTP/2: eighty requests side by side", answer.stdout.count(b" 2 ") == 80, answer)
    answer = curl("-H", b"X-Name: caf\xe9".decode("utf-8", "surrogateescape"), f"{origin}/")
    fields = dict(server.seen[-1]["fields"])
    check("HTTP/2: a value that is not UTF-8 comes over HTTP/1.1, unchanged",
          b" 1.1 " in answer.stdout and fields.get("x-name") == "caf\xe9", (answer, fields))


def clients(address, origin, server, environment, run):
    proxy = f"http://{address}"
    proxies = environment | {"http_proxy": proxy, "no_proxy": ""}
    sent = lambda: server.seen[-1]

    answer = run("curl", "-sS", "-g", "-i", "--proxy", proxy, f"{origin}/%zz?a|b[c]^")
    check("curl: the jar's cookie goes with the request", b'"cookie": "sid=31d4"' in answer.stdout, answer)
    check("curl: the target is unchanged", sent()["target"] == "/%zz?a|b[c]^", sent()["target"])
    check("curl: an HttpOnly cookie does not pass", b"seen=1" in answer.stdout and b"hidden=2" not in answer.stdout)

    answer = run("curl", "-sS", "-L", "--proxy", proxy, f"{origin}/redirect")
    check("curl: a cookie of a redirect goes with the next hop", b"hop=1" in answer.stdout, answer.stdout)

    with tempfile.NamedTemporaryFile() as file:
        file.write(BODY)
        file.flush()
        for name, words in {
            "with its length": ["-T", file.name], "in chunks": ["-T", file.name, "-H", "Transfer-Encoding: chunked"],
            "after 100 Continue": ["-T", file.name, "-H", "Expect: 100-continue"],
        }.items():
            answer = run("curl", "-sS", "--proxy", proxy, *words, f"{origin}/put")
            check(f"curl: a body {name}", hashlib.sha256(BODY).hexdigest().encode() in answer.stdout, answer)

    answer = run("curl", "-sS", "-Z", "--proxy", proxy, *[f"{origin}/{n}" for n in range(20)])
    check("curl: twenty requests side by side", answer.stdout.count(b"sid=31d4") == 20, answer)
    answer = run("curl", "-sS", "--proxy", proxy, f"{origin}/1", "--next", "--proxy", proxy, "-d", "x", f"{origin}/2")
    check("curl: two commands with --next", answer.stdout.count(b"sid=31d4") == 2, answer)
    for scheme in ["socks5", "socks5h"]:
        answer = run("curl", "-sS", "--proxy", f"{scheme}://{address}", f"{origin}/")
        check(f"curl: {scheme}", b"sid=31d4" in answer.stdout, answer)
    answer = run("curl", "-sS", "--proxytunnel", "--proxy", proxy, f"{origin}/")
    check("curl: through CONNECT", b"sid=31d4" in answer.stdout, answer)

    if os.getuid() == 0:
        answer = run("setpriv", "--reuid", "65534", "--clear-groups", "curl", "-sS", "-i", "--proxy", proxy, f"{origin}/other")
        check("another user of the machine is refused", answer.stdout.startswith(b"HTTP/1.1 403 "), answer)
        check("no octet of the other user's request reaches the server", sent()["target"] != "/other")

    answer = subprocess.run(["wget", "-q", "-O", "-", f"{origin}/large"], env=proxies, capture_output=True, timeout=60)
    check("wget: a large body", answer.stdout == BODY, len(answer.stdout))
    answer = requests.get(f"{origin}/", proxies={"http": proxy})
    check("requests", "sid=31d4" in answer.json()["cookie"], answer.text)
    check("requests: no HttpOnly cookie", "hidden" not in answer.cookies and "seen" in answer.cookies)
    with requests.Session() as session:
        session.proxies = {"http": proxy}
        for _ in range(3):
            answer = session.post(f"{origin}/", data=BODY)
        check("requests: a session that posts", answer.json()["body"] == hashlib.sha256(BODY).hexdigest())
    with httpx.Client(proxy=proxy) as client:
        check("httpx", "sid=31d4" in client.get(f"{origin}/").json()["cookie"])
    with httpx.Client(proxy=f"socks5://{address}") as client:
        check("httpx over SOCKS", "sid=31d4" in client.get(f"{origin}/").json()["cookie"])

    host, port = address.split(":")
    for kind in ["http", "socks5"]:
        socket = websocket.create_connection(
            origin.replace("http:", "ws:") + "/ws", http_proxy_host=host, http_proxy_port=int(port), proxy_type=kind,
            suppress_origin=True, timeout=20)
        check(f"websocket-client through {kind}", "sid=31d4" in socket.recv())
        socket.close()


main()
