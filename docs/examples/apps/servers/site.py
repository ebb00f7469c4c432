"""A site and an identity provider for the programs: two loopback ports, which it prints as a line of JSON.

Logins, tokens and files are in memory, so each program gets servers of its own. The site is also reachable as `localhost`,
which is another host to a cookie jar."""

import base64
import collections
import hashlib
import hmac
import http.server
import json
import secrets
import sys
import threading
import time
import urllib.parse

sessions, logins, files = {}, collections.Counter(), {}
# The identity provider: codes, then grants with their access and refresh tokens.
codes, grants, used, counts = {}, {}, {}, collections.Counter()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def handle(self):
        try:
            super().handle()
        except ConnectionError:
            # The client has closed a connection that it kept.
            pass

    def answer(self, status=200, text="", fields=(), media="text/plain"):
        octets = text if isinstance(text, bytes) else text.encode()
        self.send_response(status)
        for name, value in fields:
            self.send_header(name, value)
        self.send_header("Content-Type", media)
        self.send_header("Content-Length", str(len(octets)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(octets)

    def document(self, document, status=200):
        self.answer(status, json.dumps(document), [("Cache-Control", "no-store")], "application/json")

    def redirect(self, target, status=302, fields=()):
        self.answer(status, "", [("Location", target), *fields])

    @property
    def cookies(self):
        pairs = (pair.strip().partition("=") for pair in self.headers.get("Cookie", "").split(";"))
        return {name: value for name, _, value in pairs if name}

    def handle_request(self):
        length = int(self.headers.get("Content-Length") or 0)
        if self.headers.get("Transfer-Encoding", "").lower() == "chunked":
            self.body = b""
            while size := int(self.rfile.readline().split(b";")[0], 16):
                self.body += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            self.body = self.rfile.read(length)
        self.url = urllib.parse.urlsplit(self.path)
        self.query = dict(urllib.parse.parse_qsl(self.url.query))
        self.form = dict(urllib.parse.parse_qsl(self.body.decode("latin-1"))) if len(self.body) < 10000 else {}
        self.route()

    do_GET = do_HEAD = do_POST = do_PUT = handle_request


class Site(Handler):
    def route(self):
        path = self.url.path
        user = sessions.get(self.cookies.get("sid"))
        if path == "/login":
            sid = secrets.token_hex(8)
            sessions[sid] = self.form.get("user", "ada")
            logins[sessions[sid]] += 1
            # 'sid' and 'tab' end with the session, 'theme' does not.
            lines = [f"sid={sid}; Path=/; HttpOnly; SameSite=Lax", "theme=dark; Path=/; Max-Age=86400", "tab=1; Path=/"]
            self.redirect("/account", fields=[("Set-Cookie", line) for line in lines])
        elif path == "/cookies":
            # The names of the cookies that came.
            self.answer(text=" ".join(sorted(self.cookies)))
        elif path == "/elsewhere":
            # Another host, with a cookie for the first one that it may not set.
            self.redirect(f"http://localhost:{self.server.server_port}/foreign")
        elif path == "/foreign":
            fields = [("Set-Cookie", "evil=1; Domain=127.0.0.1"), ("Set-Cookie", "own=1; Path=/")]
            self.answer(text=" ".join(sorted(self.cookies)), fields=fields)
        elif path.startswith("/app/") or path == "/api/me":
            self.route_app(path)
        elif user is None:
            self.answer(401, "not signed in")
        elif path == "/account":
            self.answer(text=f"{user}, {logins[user]} login" + ("s" if logins[user] > 1 else ""))
        elif path == "/upload":
            self.redirect("/file", 307)
        elif path == "/download":
            self.redirect("/file", 302, [("Set-Cookie", "downloaded=1; Path=/")])
        elif path == "/file" and self.command in ("POST", "PUT"):
            files[user] = self.body
            self.answer(201)
        elif path == "/file":
            self.answer(text=files.get(user, b""), media="application/octet-stream")
        else:
            self.answer(404)

    def route_app(self, path):
        """The part of the site that signs users in with the identity provider."""
        scheme, _, bearer = self.headers.get("Authorization", "").partition(" ")
        if path == "/api/me":
            if scheme == "Bearer" and (name := user_of(bearer)):
                self.answer(text=f"{name} by token")
            else:
                self.answer(401, fields=[("WWW-Authenticate", 'Bearer error="invalid_token"' if bearer else "Bearer")])
        elif path == "/app/login":
            self.answer(text="log in here")
        elif name := user_of(self.cookies.get("app", "")):
            self.answer(text=f"{name} by cookie")
        else:
            self.redirect("/app/login")


def user_of(token):
    """The user of a valid access token."""
    for grant in grants.values():
        if hmac.compare_digest(grant["access"], token) and grant["expiry"] > time.time():
            return grant["user"]


class IdentityProvider(Handler):
    """Authorization code with PKCE, and refresh tokens that rotate: reuse ends the login."""

    @property
    def issuer(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def route(self):
        path = self.url.path
        if path == "/.well-known/openid-configuration":
            self.document({
                "issuer": self.issuer, "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token", "revocation_endpoint": f"{self.issuer}/revoke",
                "jwks_uri": f"{self.issuer}/keys", "response_types_supported": ["code"],
                "subject_types_supported": ["public"], "code_challenge_methods_supported": ["S256"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "token_endpoint_auth_methods_supported": ["none"]})
        elif path == "/authorize":
            # The user is signed in here, and agrees.
            code = secrets.token_hex(16)
            codes[code] = self.query
            target = urllib.parse.urlencode({"code": code, "state": self.query.get("state", "")})
            self.redirect(f"{self.query['redirect_uri']}?{target}")
        elif path == "/token":
            self.route_token()
        elif path == "/revoke":
            counts["revoked"] += self.end(lambda grant: self.form.get("token") in (grant["refresh"], grant["access"]))
            self.answer()
        elif path == "/forget":
            # An administrator ends every login.
            self.end(lambda _: True)
            self.answer()
        elif path == "/counts":
            self.answer(text=f"{counts['login']} {counts['refresh']} {counts['reuse']} {counts['revoked']}")
        else:
            self.answer(404)

    def end(self, test):
        gone = [name for name, grant in grants.items() if test(grant)]
        for name in gone:
            del grants[name]
        return len(gone)

    def route_token(self):
        form = self.form
        if form.get("grant_type") == "authorization_code" and (query := codes.pop(form.get("code"), None)):
            digest = hashlib.sha256(form["code_verifier"].encode()).digest()
            if base64.urlsafe_b64encode(digest).decode().rstrip("=") != query["code_challenge"]:
                return self.document({"error": "invalid_grant"}, 400)
            counts["login"] += 1
            return self.issue(secrets.token_hex(8), query)
        if form.get("grant_type") == "refresh_token":
            token = form.get("refresh_token")
            if grant := used.get(token):
                counts["reuse"] += 1
                grants.pop(grant, None)
            for name, grant in list(grants.items()):
                if grant["refresh"] == token:
                    counts["refresh"] += 1
                    used[token] = name
                    # Callers at the same moment meet.
                    time.sleep(0.1)
                    return self.issue(name, grant["query"])
        self.document({"error": "invalid_grant"}, 400)

    def issue(self, name, query):
        access, refresh = secrets.token_urlsafe(24), secrets.token_urlsafe(24)
        grants[name] = {
            "access": access, "refresh": refresh, "user": "ada", "expiry": time.time() + 3600, "query": query}
        now = int(time.time())
        claims = {"iss": self.issuer, "sub": "ada", "aud": query["client_id"], "iat": now, "exp": now + 3600}
        if "nonce" in query:
            claims["nonce"] = query["nonce"]
        # The programs trust their connection to this server, and check no signature.
        parts = [json.dumps(part).encode() for part in ({"alg": "RS256", "typ": "JWT"}, claims)] + [b"not a signature"]
        id_token = ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)
        self.document({
            "access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": refresh,
            "scope": query.get("scope", ""), "id_token": id_token})


servers = [http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) for handler in (Site, IdentityProvider)]
for server in servers:
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
site, issuer = (server.server_port for server in servers)
print(json.dumps({"site": f"http://127.0.0.1:{site}", "issuer": f"http://127.0.0.1:{issuer}"}), flush=True)
# Until the caller ends.
sys.stdin.read()
