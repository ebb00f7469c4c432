"""Posted forms of a dead session through a gateway: one refresh for all of them, the same bodies, one effect each."""

import hashlib
import http.server
import os
import threading

from checks import expect, log_in
from processes import seen

FORMS = 50


class Orders:
    """A site that takes orders of who is signed in with a token other than the old one."""

    def __init__(self, old):
        self.old, self.orders, self.refusals, self.tokens, self.leaks = old, [], 0, set(), set()
        self.lock = threading.Lock()

    def __enter__(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                cookie = self.headers.get("Cookie") or ""
                token = next((part[8:] for part in cookie.split("; ") if part.startswith("session=")), "")
                with owner.lock:
                    if token in ("", "dead", owner.old):
                        owner.refusals += 1
                    else:
                        owner.tokens.add(token)
                        owner.orders.append(hashlib.sha256(body).hexdigest())
                        owner.leaks |= seen({token})
                    status, answer = (200, b"taken\n") if token in owner.tokens else (401, b"not signed in\n")
                self.send_response(status)
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

        class Server(http.server.ThreadingHTTPServer):
            request_queue_size = 2 * FORMS

        self.http = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.http.serve_forever, daemon=True).start()
        self.base = f"http://127.0.0.1:{self.http.server_address[1]}"
        return self

    def __exit__(self, *error):
        self.http.shutdown()


def check_gateway(crumb, server):
    log_in(crumb, server, "orders", "--account", "orders")
    old = crumb("token", "get", "orders").output.strip()
    with Orders(old) as site:
        rule = crumb(
            "token", "fallback", "set", "orders", f"{site.base}/", "--profile", "orders", "--cookie",
            "session={access_token}; Path=/; HttpOnly; SameSite=Lax")
        expect(rule.status == 0, rule.talk)
        crumb.expire("orders")
        expect(crumb("set", f"{site.base}/", text="session=dead; Path=/; Max-Age=1000\n").status == 0)
        before = crumb.refreshes("orders")
        bodies = [os.urandom(3 << 20 if number == 0 else 1000) for number in range(FORMS)]
        words = ["-sS", "-Z", "--parallel-immediate", "--parallel-max", str(FORMS)]
        for number, body in enumerate(bodies):
            path = crumb.folder / f"order-{number}"
            path.write_bytes(body)
            words += [*(["--next", "-sS"] if number else []), "--data-binary", f"@{path}", f"{site.base}/order"]
        result = crumb("run", "--quiet", "--", "curl", *words)
        expect(result.status == 0 and result.output == "taken\n" * FORMS, result.status, result.output, result.talk)
        expect(sorted(site.orders) == sorted(hashlib.sha256(body).hexdigest() for body in bodies), "other effects")
        expect(crumb.refreshes("orders") == before + 1, crumb.refreshes("orders") - before, "refreshes")
        expect(site.refusals >= 1 and len(site.tokens) == 1, site.refusals, len(site.tokens))
        expect(not site.leaks, "a token is in a process list")
        crumb("token", "fallback", "remove", "orders")
