"""Programs that people use, through `crumb run`: what they get is what the site gives to the jar's session."""

import http.server
import os
import re
import ssl
import subprocess
import sys
import threading
import zipfile


class Site(http.server.BaseHTTPRequestHandler):
    """A package index, a video and a page, for those who have the session."""

    protocol_version = "HTTP/1.1"
    wheel = b""

    def do_GET(self):
        isSignedIn = "sid=p31d4" in (self.headers.get("cookie") or "")
        kind, body = "text/html", b"<title>page</title><p id=x>signed in"
        if self.path.startswith("/simple/"):
            body = b'<a href="/files/crumb_sample-1.0-py3-none-any.whl">crumb_sample-1.0-py3-none-any.whl</a>'
        elif self.path.startswith("/files/"):
            kind, body = "application/zip", self.wheel
        elif self.path == "/video.mp4":
            kind, body = "video/mp4", bytes(100_000)
        self.send_response_only(200 if isSignedIn else 403)
        for name, value in [("Content-Type", kind), ("Content-Length", str(len(body))), ("Set-Cookie", "seen=1; HttpOnly; Secure")]:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_GET

    def log_message(self, *arguments):
        pass


def make_wheel(folder):
    path = f"{folder}/crumb_sample-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("crumb_sample.py", "")
        file.writestr("crumb_sample-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: crumb-sample\nVersion: 1.0\n")
        file.writestr("crumb_sample-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nGenerator: x\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr("crumb_sample-1.0.dist-info/RECORD", "")
    return open(path, "rb").read()


def check_programs(crumb, folder, environment, check):
    Site.wheel = make_wheel(folder)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Site)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/tls.pem", f"{folder}/tls.key")
    # Each connection shakes hands in its own thread.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"https://localhost:{server.server_address[1]}"
    subprocess.run([crumb, "set", "--jar", "programs", origin], env=environment, input=b"sid=p31d4; Secure; HttpOnly\n",
        capture_output=True, check=True)
    command = [crumb, "run", "--quiet", "--jar", "programs", "--ca-file", f"{folder}/tls.pem", "--"]
    run = lambda *words: subprocess.run([*command, *words], env=environment, capture_output=True, timeout=120)

    answer = run("yt-dlp", "--compat-options", "no-certifi", "--no-cache-dir", "-q", "-o", f"{folder}/video.%(ext)s", f"{origin}/video.mp4")
    check("crumb run: yt-dlp", os.path.exists(f"{folder}/video.mp4") and os.path.getsize(f"{folder}/video.mp4") == 100_000, answer)
    answer = run(
        sys.executable, "-m", "pip", "download", "--no-cache-dir", "--disable-pip-version-check", "--index-url", f"{origin}/simple",
        "-d", f"{folder}/wheels", "crumb-sample")
    check("crumb run: pip", os.path.exists(f"{folder}/wheels/crumb_sample-1.0-py3-none-any.whl"), answer)
    node = subprocess.run(["node", "--version"], capture_output=True, text=True).stdout.strip()
    if int(re.sub(r"\D.*", "", node.lstrip("v")) or 0) >= 24:
        answer = run("node", "-e", f"fetch('{origin}/').then(r => r.text()).then(console.log)")
        check("crumb run: Node's fetch", b"signed in" in answer.stdout and b"403" not in answer.stdout, answer)
    else:
        print(f"left out: Node's fetch uses no proxy before version 24, and this is {node or 'none'}", flush=True)
    server_side(crumb, folder, environment, origin, check)
    server.shutdown()


def server_side(crumb, folder, environment, origin, check):
    """Clients that get the proxy and the authority as arguments."""
    authority = f"{folder}/programs.pem"
    words = ["--jar", "programs", "--intercept", "localhost", "--temporary-authority", authority, "--ca-file", f"{folder}/tls.pem"]
    start = lambda *more: subprocess.Popen([crumb, "gateway", "run", *words, *more], env=environment, stdout=subprocess.PIPE, text=True)

    gateway = start("--client", "browser")
    address = gateway.stdout.readline().strip()
    from playwright.sync_api import sync_playwright
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", proxy={"server": f"http://{address}", "bypass": "<-loopback>"},
            args=["--no-sandbox"] if os.getuid() == 0 else [])
        # The authority is trusted by this context alone, as far as Playwright can be told.
        page = browser.new_context(ignore_https_errors=True).new_page()
        status = page.goto(f"{origin}/").status
        # The first navigation shows that the browser has no witnesses yet; the session is a Lax one by default.
        again = page.goto(f"{origin}/").status
        text = page.inner_text("#x")
        cookies = page.evaluate("document.cookie")
        recorder = browser.new_context(ignore_https_errors=True, record_har_path=f"{folder}/playwright.har", record_har_content="embed")
        recorder.new_page().goto(f"{origin}/")
        recorder.close()
        browser.close()
    check("Playwright over Chromium", again == 200 and text == "signed in", (status, again, text))
    check("Playwright over Chromium: no HttpOnly cookie for scripts", "sid" not in cookies and "seen" not in cookies, cookies)
    gateway.terminate()
    gateway.wait(timeout=30)

    gateway = start("--client", "tool", "--replay", f"{folder}/playwright.har", "--offline")
    address = gateway.stdout.readline().strip()
    answer = subprocess.run(
        ["curl", "-sS", "--max-time", "30", "--proxy", f"http://{address}", "--cacert", authority, f"{origin}/"], capture_output=True)
    check("--replay of a HAR by Playwright", b"<p id=x>signed in" in answer.stdout, answer)
    gateway.terminate()
    gateway.wait(timeout=30)

    gateway = subprocess.Popen(
        [crumb, "gateway", "run", "--client", "tool", "--jar", "programs", "--ca-file", f"{folder}/tls.pem", "--upstream", origin],
        env=environment, stdout=subprocess.PIPE, text=True)
    url = gateway.stdout.readline().split()[0]
    answer = subprocess.run(["h2load", "--h1", "-n", "2000", "-c", "8", f"{url}/"], env=environment, capture_output=True, timeout=120).stdout
    check("h2load: two thousand requests", b"2000 succeeded, 0 failed, 0 errored" in answer and b"2000 2xx" in answer, answer)
    gateway.terminate()
    gateway.wait(timeout=30)
