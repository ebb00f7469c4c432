"""The whole story: a dead cookie, a site that wants a login, and `crumb curl` answers signed in after one fallback."""

from checks import expect
from many import given
from servers.site import Site


def rule(crumb, site, *delivery):
    result = crumb(
        "token", "fallback", "set", "site", site.base + "/", "--profile", "p", "--when-redirect", "/login",
        "--when-status", "401", *delivery)
    expect(result.status == 0, result.talk)


def given_dead_cookie(crumb, site):
    result = crumb("set", f"{site.base}/", text="session=dead; Path=/; Max-Age=1000\n")
    expect(result.status == 0, result.talk)


DELIVERIES = {
    "cookie": ["--cookie", "session={access_token}; Path=/; HttpOnly; SameSite=Lax"],
    "authorization": ["--authorization"],
}


def is_repeatable(method, status):
    """Whether a request is safe, or the site refused it without acting on it."""
    return method == "GET" or status == 401


def expect_not_repeated(result, case):
    """The site's own answer was printed, with a warning that the session is renewed; the request was not repeated."""
    expect(result.status == 0 and result.output == "not signed in\n", case, result.status, result.output)
    expect("was not repeated" in result.talk and "The session is renewed" in result.talk, case, result.talk)


def check_story(crumb, server, port):
    site = Site(server, port())
    site.start()
    try:
        given(crumb, server)
        for delivery, words in {**DELIVERIES, "exchange": ["--exchange", f"{site.base}/cookie"]}.items():
            rule(crumb, site, *words)
            for site.status in (302, 401):
                for options in ([], ["-L"], ["-d", "a=b"], ["-L", "-w", "%{http_code}\\n"], ["-i", "-f"]):
                    crumb.expire("p")
                    given_dead_cookie(crumb, site)
                    site.requests.clear()
                    before = server.requests
                    case = (delivery, site.status, options)
                    result = crumb("curl", "--", "--no-progress-meter", *options, f"{site.base}/account")
                    method, body = ("POST", "a=b") if "-d" in options else ("GET", "")
                    expect(result.status == 0, case, result.status, result.talk)
                    # A token for the Authorization field goes along from the first request on, renewed.
                    is_there = delivery == "authorization"
                    is_repeated = not is_there and is_repeatable(method, site.status)
                    if is_there or is_repeated:
                        expect(f"signed in: {method} {body}" in result.output, case, result.output)
                        expect("not signed in" not in result.output, case, result.output)
                        expect(("logged in again" in result.talk) == is_repeated, case, result.talk)
                    else:
                        expect_not_repeated(result, case)
                    if "-w" in options:
                        expect(result.output.endswith("200\n") and "302" not in result.output, result.output)
                    if "-i" in options:
                        expect(result.output.startswith("HTTP/1.1 200"), case, result.output)
                    accounts = [request for request in site.requests if request[1] == "/account"]
                    expect([request[0] for request in accounts] == [method] * (2 if is_repeated else 1), case, accounts)
                    expect(server.requests == before + 1, case, server.requests - before, "refreshes")
                    # With the cookie in the jar the next request needs nothing more.
                    if delivery != "authorization":
                        again = crumb("curl", "--", "-sS", f"{site.base}/account")
                        expect("signed in: GET" in again.output and "logged in" not in again.talk, case, again.talk)
        expect(not site.leaks, "a token is in a process list", site.leaks)
    finally:
        site.stop()


def check_revoked(crumb, server, port):
    """A token whose time is not over and that the site does not take is renewed once, whichever way it goes back."""
    site = Site(server, port())
    site.start()
    try:
        given(crumb, server)
        deliveries = {**DELIVERIES, "exchange": ["--exchange", f"{site.base}/cookie"]}
        for delivery, words in deliveries.items():
            rule(crumb, site, *words)
            for site.status in (302, 401):
                given_dead_cookie(crumb, site)
                site.refused = {server.access_token}
                site.requests.clear()
                before = server.requests
                result = crumb("curl", "--", "-sS", "-d", "a=b", f"{site.base}/account")
                case = (delivery, site.status)
                if is_repeatable("POST", site.status):
                    expect(result.status == 0, case, result.status, result.talk)
                    expect(result.output == "signed in: POST a=b\n", case, result.output, result.talk)
                else:
                    expect_not_repeated(result, case)
                    posts = [request for request in site.requests if request[:2] == ("POST", "/account")]
                    expect(len(posts) == 1, case, site.requests)
                    # A token that this request did not carry was delivered untried: the next request finds out.
                    again = crumb("curl", "--", "-sS", f"{site.base}/account")
                    expect(again.status == 0 and again.output == "signed in: GET \n", case, again.output, again.talk)
                expect(server.requests == before + 1, case, server.requests - before, "refreshes")
        # A site that takes none at all is given the token that is there, a renewed one, and then its way: a login.
        rule(crumb, site, *DELIVERIES["authorization"])
        site.refused = {f"access-{number}-Vq3xT9" for number in range(100)}
        before, site.status = server.requests, 401
        given_dead_cookie(crumb, site)
        site.requests.clear()
        result = crumb("curl", "--", "-sS", f"{site.base}/account")
        expect(result.status == 43 and result.output == "not signed in\n", result.output, result.talk)
        expect("crumb token login" in result.talk, result.talk)
        expect(len(site.requests) == 2 and server.requests == before + 1, site.requests, server.requests - before)
    finally:
        site.stop()


def check_refused_in_other_words(crumb, server, port):
    """A token endpoint that refuses without a word is reported as that, and the page to open is named."""
    site = Site(server, port())
    site.start()
    try:
        given(crumb, server)
        rule(crumb, site, *DELIVERIES["cookie"])
        for server.refusal in ((400, None), (403, None), (401, None), (400, {"error": "invalid_request"})):
            crumb.expire("p")
            server.is_alive = False
            result = crumb("curl", "--", "-sS", f"{site.base}/account")
            expect(result.status == 43 and "/login" in result.talk, server.refusal, result.status, result.talk)
            expect(f"status {server.refusal[0]}" in result.talk, server.refusal, result.talk)
            kept = crumb("token", "export", "--format", "json", "p", "--skew", "0")
            server.is_alive = True
            # Nothing was deleted: had it been a mistake, all would be well now.
            expect(crumb("token", "get", "p").status == 0, "the grant was deleted", kept.talk)
    finally:
        site.stop()


def check_no_loop(crumb, server, port):
    """A site that never has enough is asked twice, its answer shown, and the command says that it takes a login."""
    site = Site(server, port())
    site.start()
    try:
        given(crumb, server)
        rule(crumb, site, "--cookie", "other={access_token}; Path=/")
        for site.status in (302, 401):
            crumb.expire("p")
            site.requests.clear()
            result = crumb("curl", "--", "-sS", f"{site.base}/account")
            expect(result.status == 43 and result.output == "not signed in\n", result.output, result.talk)
            expect(len(site.requests) == 2, site.requests)
        # Who signs in himself is left alone.
        site.requests.clear()
        result = crumb("curl", "--", "-sS", "-H", "Authorization: Bearer mine", f"{site.base}/account")
        expect(result.output == "not signed in\n" and len(site.requests) == 1, site.requests)
    finally:
        site.stop()


def check_lost(crumb, server, port):
    """If the login is lost, the command prints what the site says, fails and says what to do."""
    site = Site(server, port())
    site.start()
    try:
        given(crumb, server)
        rule(crumb, site, *DELIVERIES["cookie"])
        crumb.expire("p")
        server.is_alive = False
        result = crumb("curl", "--", "-sS", f"{site.base}/account")
        expect(result.status == 43 and "crumb token login" in result.talk, result.status, result.talk)
        expect("/login" in result.talk and result.output == "not signed in\n", result.talk, result.output)
    finally:
        site.stop()


CHECKS = [check_story, check_revoked, check_refused_in_other_words, check_no_loop, check_lost]
