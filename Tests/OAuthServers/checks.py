"""What must hold at every server, and at those that have more."""

import functools
import http.server
import json
import re
import subprocess
import threading
import time
import urllib.request

import qr_code
import terminal
from servers.user import User


def expect(condition, *shown):
    if not condition:
        raise AssertionError(" ".join(str(item) for item in shown))


def opened(crumb, process, keeps=False):
    """The page that the browser was sent to; with `keeps`, the address that was opened stays in its file."""
    url = told_to_open(crumb, lambda: process.poll() is not None, keeps)
    if url is None:
        raise AssertionError(crumb.end(process).talk)
    expect(url.startswith("http://127.0.0.1:"), "not a page of this machine:", url)
    status, location, _ = User().request(url)
    expect(status == 302, status, url)
    return location


def told_to_open(crumb, is_over, keeps=False):
    """What the browser was told to open within a minute; nothing if it was told nothing before `is_over`."""
    path = crumb.folder / "opened"
    for _ in range(2400):
        if path.exists():
            url = path.read_text()
            if not keeps:
                path.unlink()
            # What a program is told to open is in its arguments, where everyone may read it.
            expect("?" not in url, "shown to all:", url)
            return url
        if is_over():
            return None
        time.sleep(0.025)
    return None


def fetch(url):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(url, timeout=20) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.read().decode()


def log_in(crumb, server, name, *options, client=None):
    process = crumb.start(
        "token", "login", name, "--issuer", server.issuer, "--client-id", client or server.public_client,
        "--scope", server.scope, "--redirect-uri", server.redirect, *options, *identified(crumb, server, client))
    url = opened(crumb, process)
    end = server.log_in(url)
    # A redirect that is no answer to this login ends nothing.
    base = end.split("?")[0]
    expect(fetch(f"{base}?code=stolen&state=wrong")[0] == 400, "a wrong state was taken")
    expect(fetch(base.rsplit("/", 1)[0] + "/favicon.ico")[0] == 404)
    status, page = fetch(end)
    result = crumb.end(process)
    expect(result.status == 0, result.talk, page)
    expect(status == 200 and "You are logged in" in page, page)
    return url


def identified(crumb, server, client):
    """The options with which a public client is taken for one, where the server knows none without a secret."""
    if client or "no_public_client" not in server.features:
        return ()
    return ("--client-secret-file", crumb.secret_file(server.secret_client[1]))


def check_browser(crumb, server):
    url = log_in(crumb, server, "browser")
    expect("code_challenge_method=S256" in url and "state=" in url and "response_type=code" in url, url)
    token = crumb("token", "get", "browser")
    expect(token.status == 0 and token.talk == "" and re.fullmatch(r"\S+\n", token.output), token.talk)
    status = crumb("token", "status", "browser", "--json").json
    expect(status["token"]["state"] == "valid" and status["token"]["hasRefreshToken"], status)
    expect(status["hasIDToken"] and status["token"]["account"], status)
    expect(crumb("token", "header", "browser").output == f"Authorization: Bearer {token.output}")


def check_pasted(crumb, server):
    process = crumb.start(
        "token", "login", "pasted", "--issuer", server.issuer, "--client-id", server.public_client, "--scope",
        server.scope, "--redirect-uri", server.redirect, "--no-browser", "--account", "pasted",
        *identified(crumb, server, None))
    url = ""
    while not url.startswith("http"):
        line = process.stderr.readline()
        expect(line, "no URL")
        url = line.strip()
    result = crumb.end(process, server.log_in(url) + "\n")
    expect(result.status == 0, result.talk)
    expect(crumb("token", "get", "pasted").status == 0)


def check_secret_client(crumb, server):
    client, secret = server.secret_client
    for method in ("client_secret_basic", "client_secret_post"):
        log_in(
            crumb, server, method, "--client-secret-file", crumb.secret_file(secret), "--auth-method", method,
            "--account", method, client=client)
        refreshed = crumb("token", "refresh", method)
        expect(refreshed.status == 0, refreshed.talk)
    answer = crumb("token", "introspect", "client_secret_basic", "--json")
    expect(answer.status == 0 and answer.json["isActive"] is True, answer.talk, answer.output)


def check_wrong_secret(crumb, server):
    client, _ = server.machine_client
    result = crumb(
        "token", "login", "wrong", "--issuer", server.issuer, "--client-id", client, "--client-credentials",
        "--scope", server.machine_scope, variables={"CRUMB_CLIENT_SECRET": "not-the-secret"})
    expect(result.status in (44, 46) and "not-the-secret" not in result.talk, result.status, result.talk)
    expect(crumb("token", "get", "wrong").status == 40)


def check_rotation(crumb, server):
    log_in(crumb, server, "rotation", "--account", "rotation")
    seen = set()
    for _ in range(3):
        crumb.expire("rotation")
        token = crumb("token", "get", "rotation")
        expect(token.status == 0, token.talk)
        seen.add(token.output)
        seen.add(crumb("token", "export", "--format", "json", "rotation").json["refresh_token"])
    expect(len(seen) == 6, "the tokens were not rotated")


def check_unrotated(crumb, server):
    """A reply without a refresh token keeps the old one, as often as it is used."""
    log_in(crumb, server, "unrotated", "--account", "unrotated")
    seen, kept = set(), crumb("token", "export", "--format", "json", "unrotated").json["refresh_token"]
    for _ in range(3):
        crumb.expire("unrotated")
        token = crumb("token", "get", "unrotated")
        expect(token.status == 0, token.talk)
        seen.add(token.output)
    expect(len(seen) == 3, "the access token was not renewed")
    expect(crumb("token", "export", "--format", "json", "unrotated").json["refresh_token"] == kept)


def check_parallel(crumb, server, rounds, count=24):
    log_in(crumb, server, "parallel", "--account", "parallel")
    for number in range(1, rounds + 1):
        crumb.expire("parallel")
        processes = [crumb.start("token", "get", "parallel") for _ in range(count)]
        results = [crumb.end(process) for process in processes]
        expect(all(result.status == 0 for result in results), [result.talk for result in results if result.status])
        expect(len({result.output for result in results}) == 1, "not everyone got the same token")
        expect(crumb.refreshes("parallel") == number, crumb.refreshes("parallel"), "refreshes in", number, "rounds")
    expect(crumb("token", "refresh", "parallel").status == 0, "the session is dead")


def check_device(crumb, server):
    options = [word for pair in getattr(server, "endpoints", []) for word in ("--endpoint", pair)]
    process = crumb.start(
        "token", "login", "device", "--device", "--issuer", server.issuer, "--client-id", server.device_client,
        "--scope", server.scope, "--account", "device", *options)
    line = process.stderr.readline()
    match = re.search(r"Open (\S+) and enter the code (\S+)", line)
    expect(match, line, "" if match else crumb.end(process).talk)
    # The server is asked at least once before it is told.
    time.sleep(1.5)
    server.confirm_device(match.group(1), match.group(2))
    result = crumb.end(process)
    expect(result.status == 0, result.talk)
    expect(crumb("token", "get", "device").status == 0)
    refreshed = crumb("token", "refresh", "device")
    expect(refreshed.status == 0, refreshed.talk)


def check_machine(crumb, server):
    client, secret = server.machine_client
    result = crumb(
        "token", "login", "machine", "--issuer", server.issuer, "--client-id", client, "--client-credentials",
        "--scope", server.machine_scope, variables={"CRUMB_CLIENT_SECRET": secret})
    expect(result.status == 0, result.talk)
    first = crumb("token", "get", "machine").output
    crumb.expire("machine")
    second = crumb("token", "get", "machine")
    expect(second.status == 0 and second.output != first, second.talk)


def check_revocation(crumb, server):
    client, secret = server.secret_client
    options = ("--client-secret-file", crumb.secret_file(secret), "--account", "revoked")
    log_in(crumb, server, "revoked", *options, client=client)
    before = crumb("token", "export", "--format", "json", "revoked").json
    revoked = crumb("token", "revoke", "revoked", "--json")
    expect(revoked.status == 0 and revoked.json["revoked"][0] == "refresh_token", revoked.talk)
    expect(crumb("token", "get", "revoked").status == 43)
    # The tokens as they were, put back by hand: the server takes none of them.
    imported = crumb(
        "token", "import", "put-back", "--issuer", server.issuer, "--client-id", client, "--account", "x",
        "--discover", "--client-secret-file", crumb.secret_file(secret), text=json.dumps(before))
    # The secret comes by a file, the tokens by standard input.
    expect(imported.status == 0, imported.talk)
    answer = crumb("token", "introspect", "put-back", "--json")
    expect(answer.status == 0 and answer.json["isActive"] is False, answer.talk, answer.output)
    refreshed = crumb("token", "refresh", "put-back")
    expect(refreshed.status in (43, 44, 46), refreshed.status, refreshed.talk)
    # What was known of the login stays.
    process = crumb.start("token", "login", "revoked", "--account", "revoked")
    fetch(server.log_in(opened(crumb, process)))
    result = crumb.end(process)
    expect(result.status == 0, result.talk)
    logout = crumb("token", "logout", "revoked")
    expect(logout.status == 0 and crumb("token", "get", "revoked").status == 40, logout.talk)


def check_public_revocation(crumb, server):
    """A public client ends its tokens; where the server does not let it, that is said, and nothing is forgotten."""
    log_in(crumb, server, "public", "--account", "public")
    revoked = crumb("token", "revoke", "public", "--json")
    if "no_public_revocation" not in server.features:
        expect(revoked.status == 0 and revoked.json["revoked"][0] == "refresh_token", revoked.talk)
        return
    expect(revoked.status in (44, 46) and "status 401" in revoked.talk, revoked.status, revoked.talk)
    logout = crumb("token", "logout", "public")
    expect(logout.status in (44, 46) and crumb("token", "get", "public").status == 0, logout.status, logout.talk)
    forced = crumb("token", "logout", "--force", "public")
    expect(forced.status == 0 and "did not revoke" in forced.talk, forced.status, forced.talk)
    expect(crumb("token", "get", "public").status == 40)


def check_lost(crumb, server):
    """A refresh token that is none any more, in the server's own words: a clear error, nothing deleted, and a fallback
    that goes on to the page to log in on."""
    log_in(crumb, server, "lost", "--account", "lost")
    kept = crumb("token", "export", "--format", "json", "lost").json
    # The refresh token is used behind crumb's back, and once more: so it is dead.
    for _ in range(2):
        behind = crumb("token", "refresh", "lost")
        again = crumb(
            "token", "import", "lost", "--issuer", server.issuer, "--client-id", server.public_client, "--account",
            "lost", "--discover", "--force", *identified(crumb, server, None), text=json.dumps(kept))
        expect(again.status == 0, again.talk)
    expect(behind.status in (43, 44, 46), behind.status, behind.talk)
    crumb.expire("lost")
    with LoginPage() as site:
        rule = crumb("token", "fallback", "set", "lost", site, "--profile", "lost", "--authorization",
                     "--when-redirect", "/login")
        expect(rule.status == 0, rule.talk)
        result = crumb("curl", "--", "-sS", f"{site}account")
        expect(result.status == 43 and f"{site}login" in result.talk, result.status, result.talk)
        crumb("token", "fallback", "remove", "lost")
    status = crumb("token", "status", "lost", "--json").json
    expect(status["token"]["hasRefreshToken"], "the grant was deleted", status)


class LoginPage:
    """A site that sends everyone to a page to log in on."""

    def __enter__(self):
        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                self.send_response(302)
                self.send_header("Location", "/login?next=x")
                self.send_header("Content-Length", "0")
                self.end_headers()

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __exit__(self, *error):
        self.server.shutdown()


def check_mixed_up(crumb, server):
    result = crumb(
        "token", "login", "mixed", "--issuer", server.issuer + "/", "--client-id", "x", "--client-credentials")
    expect(result.status in (45, 46), result.status, result.talk)


def check_pushed(crumb, server):
    client, secret = server.secret_client
    url = log_in(
        crumb, server, "pushed", "--push", "--client-secret-file", crumb.secret_file(secret), "--account", "pushed",
        client=client)
    expect("request_uri=" in url and "code_challenge" not in url, url)


def check_bound(crumb, server):
    log_in(crumb, server, "bound", "--dpop", "--account", "bound")
    status = crumb("token", "status", "bound", "--json").json
    expect(status["tokenType"].lower() == "dpop" and status["isBoundToKey"], status)
    for _ in range(2):
        refreshed = crumb("token", "refresh", "bound")
        expect(refreshed.status == 0, refreshed.talk)
    # Each request takes a proof of its own, so that it has to be named.
    refused = crumb("token", "header", "bound")
    expect(refused.status == 47 and "--url" in refused.talk and refused.output == "", refused.talk)
    resource = f"{server.issuer}/userinfo"
    status, _, answer = present(crumb, "bound", resource)
    expect(status == 200 and json.loads(answer)["sub"], status, answer)
    # A proof is for one URL and one method.
    expect(present(crumb, "bound", resource, "--url", resource + "/x")[0] == 401, "a proof for another URL was taken")
    expect(present(crumb, "bound", resource, "--method", "POST")[0] == 401, "a proof for another method was taken")


def present(crumb, name, url, *options):
    """What a resource answers to the fields of `crumb token header`; status, its nonce, and body."""
    fields = crumb("token", "header", name, *(() if "--url" in options else ("--url", url)), *options)
    expect(fields.status == 0, fields.talk)
    headers = dict(line.split(": ", 1) for line in fields.output.splitlines())
    expect(list(headers) == ["Authorization", "DPoP"], list(headers))
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(urllib.request.Request(url, headers=headers), timeout=20) as answer:
            return answer.status, answer.headers.get("DPoP-Nonce"), answer.read().decode()
    except urllib.error.HTTPError as answer:
        return answer.code, answer.headers.get("DPoP-Nonce"), answer.read().decode()


def check_nonce(crumb, server):
    issuer = server.issuer
    server.issuer = f"{server.base}/api/oidcn"
    try:
        log_in(crumb, server, "nonce", "--dpop", "--account", "nonce")
        refreshed = crumb("token", "refresh", "nonce")
        expect(refreshed.status == 0, refreshed.talk)
        resource = f"{server.issuer}/userinfo"
        status, nonce, _ = present(crumb, "nonce", resource)
        expect(status == 401 and nonce, status, "no nonce")
        status, _, answer = present(crumb, "nonce", resource, "--nonce", nonce)
        expect(status == 200 and json.loads(answer)["sub"], status, answer)
        # curl does it by itself: with the token, and with the nonce.
        kept = crumb("token", "fallback", "set", "api", resource, "--profile", "nonce", "--authorization")
        expect(kept.status == 0, kept.talk)
        result = crumb("curl", "--json", "--", "-sS", resource)
        hops = [json.loads(line)["statuses"][-1] for line in result.talk.splitlines()]
        expect(result.status == 0 and json.loads(result.output)["sub"], result.talk, result.output)
        expect(hops == [401, 200], hops)
        # A body goes again with the proof that has the nonce.
        result = crumb("curl", "--", "-sS", "-d", "a=b", resource)
        expect(result.status == 0 and json.loads(result.output)["sub"], result.talk, result.output)
    finally:
        server.issuer = issuer


def check_key_client(crumb, server):
    """The client authenticates with a signature: login, refresh, and its own tokens."""
    path = crumb.folder / "client-key.pem"
    path.touch(0o600)
    path.write_text(server.client_keys["ES256"])
    # The server knows itself by its token endpoint only.
    options = ("--client-key-file", str(path), "--key-id", "k1", "--key-audience", "token_endpoint")
    log_in(crumb, server, "key", *options, "--account", "key", client=server.key_client)
    status = crumb("token", "status", "key", "--json").json
    expect(status["authenticationMethod"] == "private_key_jwt", status)
    refreshed = crumb("token", "refresh", "key")
    expect(refreshed.status == 0, refreshed.talk)
    machine = crumb(
        "token", "login", "key-machine", "--issuer", server.issuer, "--client-id", server.key_client,
        "--client-credentials", "--scope", server.machine_scope, *options)
    expect(machine.status == 0, machine.talk)
    crumb.expire("key-machine")
    expect(crumb("token", "get", "key-machine").status == 0)
    # The other kinds of keys, each with a client of its own.
    for algorithm, key in server.client_keys.items():
        if algorithm == "ES256":
            continue
        path.write_text(key)
        chosen = ("--key-algorithm", algorithm) if algorithm == "PS256" else ()
        signed = crumb(
            "token", "login", f"key-{algorithm}", "--issuer", server.issuer, "--client-id", f"key-{algorithm}",
            "--client-credentials", "--scope", server.machine_scope, "--account", algorithm, *options, *chosen)
        expect(signed.status == 0, algorithm, signed.status, signed.talk)
        crumb.expire(f"key-{algorithm}")
        expect(crumb("token", "get", f"key-{algorithm}").status == 0, algorithm)
    # Another key is none of this client's.
    other = subprocess.run(
        ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], capture_output=True,
        text=True, check=True).stdout
    path.write_text(other)
    wrong = crumb(
        "token", "login", "key-wrong", "--issuer", server.issuer, "--client-id", server.key_client,
        "--client-credentials", "--scope", server.machine_scope, "--account", "other", *options)
    expect(wrong.status in (44, 46), wrong.status, wrong.talk)
    path.unlink()


def check_qr_code(crumb, server):
    """On a terminal, the device login opens its page and shows its address as a QR code if that is wanted."""
    options = [word for pair in getattr(server, "endpoints", []) for word in ("--endpoint", pair)]
    words = ["token", "login", "qr", "--device", "--issuer", server.issuer, "--client-id", server.device_client,
             "--scope", server.scope, "--account", "qr", *options]
    has_opened = (crumb.folder / "opened").exists
    for variables in ({}, {"NO_COLOR": "1"}):
        talk = terminal.talk(crumb, words, variables, b"\xe2\x96\x80", has_opened)
        match = re.search(r"Open (\S+) and enter the code \S+\s+(?:or open (\S+))?", talk)
        expect(match, talk)
        found = qr_code.read(talk, isColored=not variables)
        expect(found == (match.group(2) or match.group(1)), found, talk)
        page = told_to_open(crumb, lambda: True)
        expect(page == match.group(1), "another page was opened:", page, talk)
    plain = terminal.talk(crumb, [*words, "--no-qr-code"], {}, b"enter the code", has_opened)
    expect("\u2580" not in plain, "a code that was not wanted:", plain)
    told_to_open(crumb, lambda: True)


def check_secrets(crumb, server):
    """Nothing secret in the files or in what was said."""
    secrets = {server.secret_client[1], server.machine_client[1]}
    for entry in crumb("token", "list", "--json").output.splitlines():
        exported = crumb("token", "export", "--format", "json", json.loads(entry)["name"])
        if exported.status == 0:
            secrets |= {exported.json[name] for name in ("access_token", "refresh_token", "id_token")
                        if name in exported.json}
    (crumb.folder / "client-secret").unlink(missing_ok=True)
    said = "".join(crumb.said)
    files = {path: path.read_bytes() for path in crumb.folder.rglob("*") if path.is_file()}
    for secret in secrets:
        expect(secret not in said, "a secret was printed on standard error")
        for path, content in files.items():
            expect(secret.encode() not in content, f"a secret lies in {path.name}")


def all_checks(server, rounds):
    if "unrotated" in server.features:
        return [check_browser, check_pasted, check_unrotated, check_mixed_up, parallel(rounds), check_secrets]
    checks = [
        check_browser, check_pasted, check_secret_client, check_wrong_secret, check_rotation, check_device,
        check_machine, check_revocation, check_public_revocation, check_lost, check_mixed_up,
    ]
    if "par" in server.features:
        checks.append(check_pushed)
    if "dpop" in server.features:
        checks += [check_bound, check_nonce]
    if "private_key_jwt" in server.features:
        checks.append(check_key_client)
    checks.append(check_qr_code)
    return checks + [parallel(rounds), check_secrets]


def parallel(rounds):
    """`check_parallel` with so many rounds."""
    check = functools.partial(check_parallel, rounds=rounds)
    check.__name__ = check_parallel.__name__
    return check
