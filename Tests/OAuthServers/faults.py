"""What a network and a broken server can do: a clear error each, no login lost, no secret shown."""

import json
import time

from checks import expect
from servers.faulty import FaultyServer, self_signed

TOKENS = {"access_token": "access-Vq3xT9wL", "refresh_token": "refresh-Zk7mR2bN", "token_type": "Bearer"}


def reply(body, status="200 OK", fields=""):
    body = body if isinstance(body, bytes) else body.encode()
    return f"HTTP/1.1 {status}\r\n{fields}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n".encode() + body


ECHO = json.dumps({"error": "invalid_request", "error_description": " ".join(TOKENS.values())})
FAULTS = {
    "nothing": (b"", 45),
    "no HTTP": (b"SSH-2.0-OpenSSH_9.2\r\n", 45),
    "head breaks off": (b"HTTP/1.1 200 OK\r\nContent-Le", 45),
    "body breaks off": (reply('{"access_token":"x"}')[:-4], 46),
    "empty": (reply(""), 46),
    "HTML": (reply("<!doctype html><title>Log in</title>", fields="Content-Type: text/html\r\n"), 46),
    "array": (reply("[]"), 46),
    "oversized": (reply(b'{"pad":"' + b"x" * (3 << 20) + b'"}'), 46),
    "endless": (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b" " * (8 << 20), 46),
    "500": (reply("stack trace", "500 Internal Server Error"), 45),
    "502 HTML": (reply("<html>", "502 Bad Gateway"), 45),
    "429": (reply('{"error":"invalid_grant"}', "429 Too Many Requests"), 45),
    "redirect": (reply("", "302 Found", "Location: http://127.0.0.1:1/steal\r\n"), 46),
    "307": (reply("", "307 Temporary Redirect", "Location: http://127.0.0.1:1/steal\r\n"), 46),
    "echo": (reply(ECHO, "400 Bad Request"), 44),
    "control characters": (reply('{"error":"x\\u001b[31m"}', "400 Bad Request"), 46),
}


def check_faults(crumb):
    server = FaultyServer()
    url = f"http://127.0.0.1:{server.port}"
    try:
        result = crumb(
            "token", "import", "p", "--issuer", url, "--client-id", "app", "--endpoint", f"token_endpoint={url}/t",
            "--client-secret-file", crumb.secret_file("client-secret-Hd8K"), text=json.dumps(TOKENS))
        expect(result.status == 0, result.talk)
        secrets = [*list(TOKENS.values())[:2], "client-secret-Hd8K", "Y2xpZW50"]
        for name, (octets, status) in {**FAULTS, "reset": (None, 45)}.items():
            server.octets, server.resets = octets, octets is None
            result = crumb("token", "refresh", "p")
            expect(result.status == status, name, result.status, result.talk)
            expect(result.talk.startswith("crumb: ") and result.talk.count("\n") == 1, name, result.talk)
            expect(not any(secret in result.talk for secret in secrets) and "\x1b" not in result.talk, name)
            kept = crumb("token", "export", "--format", "json", "p").json
            expect(kept["refresh_token"] == TOKENS["refresh_token"], name, "the login is lost")
            discovery = crumb("token", "login", "q", "--issuer", url, "--client-id", "app", "--client-credentials")
            expect(discovery.status in (44, 45, 46), name, discovery.status, discovery.talk)
        server.resets = False
        # The old refresh token is over when the new one comes, whatever becomes of the rest.
        server.octets = reply('{"refresh_token":"rotated-Kd93","access_token":"new-Rt5Q","expires_in":3600}')[:-20]
        result = crumb("token", "refresh", "p")
        expect(result.status == 46, "breaks off after the refresh token", result.status, result.talk)
        kept = crumb("token", "export", "--format", "json", "p").json
        expect(kept["refresh_token"] == "rotated-Kd93", "the new refresh token is lost")
        for expiry in ('"soon"', "-5", "1e308", "null", '"3600"'):
            server.octets = reply('{"access_token":"new-Rt5Q","expires_in":%s}' % expiry)
            expect(crumb("token", "refresh", "p").status == 0, expiry)
            kept = crumb("token", "status", "p", "--json").json
            expect(kept["token"]["hasRefreshToken"], expiry)
    finally:
        server.stop()


def check_untrusted(crumb):
    """A certificate that nobody vouches for ends the connection before anything secret is sent."""
    server = FaultyServer(self_signed(crumb.folder))
    try:
        server.octets = reply("{}")
        url = f"https://localhost:{server.port}"
        result = crumb(
            "token", "import", "p", "--issuer", url, "--client-id", "app", "--endpoint", f"token_endpoint={url}/t",
            text=json.dumps(TOKENS))
        expect(result.status == 0, result.talk)
        result = crumb("token", "refresh", "p")
        expect(result.status == 45 and not server.requests, result.status, result.talk, server.requests)
        plain = crumb(
            "token", "login", "q", "--client-id", "app", "--client-credentials", "--endpoint",
            "token_endpoint=http://id.example/t")
        expect(plain.status == 47 and "https" in plain.talk, plain.status, plain.talk)
    finally:
        server.stop()


def check_slow(crumb):
    """Servers that never answer, that begin and stop, and that are never done: an end, and nothing is lost."""
    def imported(name, server):
        url = f"http://127.0.0.1:{server.port}"
        result = crumb(
            "token", "import", name, "--issuer", url, "--client-id", "app", "--endpoint", f"token_endpoint={url}/t",
            text=json.dumps(TOKENS))
        expect(result.status == 0, result.talk)

    head = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"
    rotated = head + b'{"refresh_token":"rotated-Kd93","access_token":"'
    # What is answered, what trickles after it, what it comes to, and the refresh token that is kept.
    cases = {
        "silence": (None, b"", 45, TOKENS["refresh_token"]),
        "half a head": (head[:20], b"", 45, TOKENS["refresh_token"]),
        "a head that trickles": (b"HTTP/1.1 200 OK\r\nX-Pad: ", b"x", 45, TOKENS["refresh_token"]),
        "a body that trickles": (head + b'{"pad":"', b"x", 46, TOKENS["refresh_token"]),
        "a body that trickles after the refresh token": (rotated, b"x", 46, "rotated-Kd93"),
        "an answer after 25 seconds": (None, b"", 0, "rotated-Kd93"),
    }
    late = reply('{"refresh_token":"rotated-Kd93","access_token":"new-Rt5Q","expires_in":3600}')
    servers, processes = [], {}
    start = time.monotonic()
    try:
        for name, (octets, trickle, status, _) in cases.items():
            server = FaultyServer()
            servers.append(server)
            server.octets, server.trickle, server.holds = octets, trickle, octets is None
            if octets and not trickle:
                server.trickle, server.pause = b"x", 120
            imported(name, server)
            options = ("--refresh-timeout", "30")
            if status == 0:
                server.octets, server.holds, server.delay, options = late, False, 25, ()
            processes[name] = crumb.start("token", "refresh", name, *options)
        for name, (_, _, status, kept) in cases.items():
            result = crumb.end(processes[name])
            expect(result.status == status, name, result.status, result.talk)
            expect(result.talk.startswith("crumb: " if status else "refreshed ") and result.talk.count("\n") == 1, name, result.talk)
            expect(crumb("token", "export", "--format", "json", name).json["refresh_token"] == kept, name)
            expect(not crumb("token", "status", name, "--json").json.get("refreshingProcess"), name, "the lease is held")
        expect(time.monotonic() - start < 90, time.monotonic() - start, "seconds")
    finally:
        for server in servers:
            server.stop()


CHECKS = [check_faults, check_slow, check_untrusted]
