"""Logins that need no user, at Authlib: by a secret that signs, by a key, and by another login's token."""

from checks import expect


def issued(crumb, server, name):
    """A login's access token, and what the server knows of it."""
    result = crumb("token", "get", name)
    expect(result.status == 0, result.talk)
    token = result.output.strip()
    return token, server.tokens()[token]


def check_client_secret_jwt(crumb, server):
    secret = crumb.secret_file("secret-that-signs-Jw7-and-is-long-enough")
    options = ("--issuer", server.issuer, "--client-id", "jwt", "--client-credentials", "--client-secret-file", secret)
    # The server takes secrets as well, so that the client has to say that its own signs.
    refused = crumb("token", "login", "jwt", *options)
    expect(refused.status in (44, 46), refused.status, refused.talk)
    result = crumb("token", "login", "jwt", *options, "--auth-method", "client_secret_jwt")
    expect(result.status == 0, result.talk)
    expect(crumb("token", "status", "jwt", "--json").json["authenticationMethod"] == "client_secret_jwt")
    first, known = issued(crumb, server, "jwt")
    expect(known["client"] == "jwt", known)
    # Each assertion is taken once.
    crumb.expire("jwt")
    expect(issued(crumb, server, "jwt")[0] != first)
    (crumb.folder / "client-secret").write_text("another-secret-that-is-long-enough-as-well")
    wrong = crumb("token", "login", "other", *options, "--auth-method", "client_secret_jwt", "--account", "other")
    expect(wrong.status in (44, 46), wrong.status, wrong.talk)


def check_jwt_bearer(crumb, server):
    options = (
        "--issuer", server.issuer, "--jwt-bearer", "--assertion-key-file", str(server.key), "--assertion-issuer",
        "robot", "--scope", "api")
    result = crumb("token", "login", "robot", *options, "--assertion-subject", "alice")
    expect(result.status == 0, result.talk)
    first, known = issued(crumb, server, "robot")
    expect(known["user"] == "alice" and known["client"] == "robot" and known["scope"] == "api", known)
    # The file is needed once.
    hidden = server.key.rename(server.key.with_suffix(".hidden"))
    crumb.expire("robot")
    expect(issued(crumb, server, "robot")[0] != first)
    hidden.rename(server.key)
    for wrong in (("--assertion-subject", "mallory"), ("--assertion-subject", "alice", "--assertion-audience", "x")):
        refused = crumb("token", "login", "wrong", *options, *wrong, "--account", "wrong")
        expect(refused.status == 44, refused.status, refused.talk)


def check_token_exchange(crumb, server):
    for name in ("work", "helper"):
        result = crumb(
            "token", "login", name, "--issuer", server.issuer, "--client-id", "machine", "--client-credentials",
            "--account", name, variables={"CRUMB_CLIENT_SECRET": "machine-secret-Mx2"})
        expect(result.status == 0, result.talk)
    result = crumb("token", "login", "api", "--exchange", "work", "--audience", "billing", "--actor", "helper")
    expect(result.status == 0, result.talk)
    first, known = issued(crumb, server, "api")
    expect(known["audience"] == "billing" and known["actor"] == issued(crumb, server, "helper")[0], known)
    # Both are due: the login that is exchanged is renewed first.
    work = issued(crumb, server, "work")[0]
    crumb.expire("work")
    crumb.expire("api")
    expect(issued(crumb, server, "api")[0] != first and issued(crumb, server, "work")[0] != work)
    refused = crumb("token", "login", "no", "--exchange", "work", "--audience", "forbidden")
    expect(refused.status == 44 and "invalid_target" in refused.talk, refused.status, refused.talk)
    expect(crumb("token", "get", "no").status == 40)


def check_registration(crumb, server):
    words = ("token", "login", "new", "--issuer", server.issuer, "--client-credentials", "--register")
    # Authlib answers access_denied.
    refused = crumb(*words)
    expect(refused.status == 48 and "/register" in refused.talk, refused.status, refused.talk)
    result = crumb(*words, "--registration-token-file", "-", text="initial-Rg4\n")
    expect(result.status == 0, result.talk)
    first, known = issued(crumb, server, "new")
    expect(crumb("token", "status", "new", "--json").json["token"]["clientID"] == known["client"], known)
    crumb.expire("new")
    expect(issued(crumb, server, "new")[0] != first)
    for secret in (b"initial-Rg4", b"manage-Yt6"):
        expect(secret not in crumb.database.read_bytes(), "a secret lies in the database")


CHECKS = [check_client_secret_jwt, check_jwt_bearer, check_token_exchange, check_registration]
