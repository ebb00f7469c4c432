"""A server made of Authlib's grants: client_secret_jwt, JWT bearer, and token exchange, which Authlib has no grant for.

Usage: authlib_site.py PORT FOLDER
"""

import json
import os
import pathlib
import secrets
import sys
import time

from authlib.integrations.flask_oauth2 import AuthorizationServer
from authlib.oauth2.rfc6749 import BaseGrant, ClientCredentialsGrant, ClientMixin, InvalidGrantError, TokenEndpointMixin
from authlib.oauth2.rfc6749.errors import InvalidRequestError, OAuth2Error
from authlib.oauth2.rfc7523 import JWTBearerClientAssertion, JWTBearerGrant
from authlib.oauth2.rfc7591 import ClientRegistrationEndpoint
from flask import Flask, jsonify, request
from joserfc import jwk

PORT, FOLDER = int(sys.argv[1]), pathlib.Path(sys.argv[2])
ISSUER = f"http://127.0.0.1:{PORT}"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"
TOKENS = {}
SEEN = set()


class InvalidTargetError(OAuth2Error):
    error = "invalid_target"


class Client(ClientMixin):
    def __init__(self, identifier, secret=None, methods=("client_secret_basic",), key=None):
        self.client_id, self.secret, self.methods, self.key = identifier, secret, methods, key

    def get_client_id(self):
        return self.client_id

    def get_allowed_scope(self, scope):
        return scope or "api"

    def check_client_secret(self, client_secret):
        return self.secret is not None and secrets.compare_digest(self.secret, client_secret)

    def check_endpoint_auth_method(self, method, endpoint):
        return method in self.methods

    def check_grant_type(self, grant_type):
        return True


CLIENTS = {client.client_id: client for client in (
    Client("jwt", "secret-that-signs-Jw7-and-is-long-enough", ("client_assertion_jwt",)),
    Client("machine", "machine-secret-Mx2", ("client_secret_basic", "client_secret_post")),
    Client("robot", key=(FOLDER / "robot.pem").read_bytes()),
)}


class SecretAssertion(JWTBearerClientAssertion):
    def get_audiences(self):
        return [ISSUER]

    def validate_jti(self, claims, jti):
        is_new = jti not in SEEN
        SEEN.add(jti)
        return is_new

    def resolve_client_public_key(self, client):
        return jwk.OctKey.import_key(client.secret)


class Bearer(JWTBearerGrant):
    def get_audiences(self):
        return [ISSUER]

    def resolve_issuer_client(self, issuer):
        return CLIENTS.get(issuer)

    def resolve_client_public_key(self, client):
        return jwk.ECKey.import_key(client.key)

    def authenticate_user(self, subject):
        return subject if subject == "alice" else None

    def has_granted_permission(self, client, user):
        return True


class Exchange(BaseGrant, TokenEndpointMixin):
    GRANT_TYPE = EXCHANGE
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]

    def validate_token_request(self):
        self.request.client = self.authenticate_token_endpoint_client()
        form = self.request.form
        if form.get("subject_token_type") != ACCESS_TOKEN:
            raise InvalidRequestError("the subject token is no access token")
        self.subject = TOKENS.get(form.get("subject_token"))
        if not self.subject or self.subject["end"] < time.time():
            raise InvalidRequestError("the subject token is not valid")
        if "actor_token" in form and form["actor_token"] not in TOKENS:
            raise InvalidGrantError("the actor token is not valid")
        if form.get("audience") == "forbidden":
            raise InvalidTargetError()

    def create_token_response(self):
        token = self.generate_token(scope=self.request.form.get("scope"), include_refresh_token=False)
        token["issued_token_type"] = ACCESS_TOKEN
        TOKENS[token["access_token"]] |= {
            "audience": self.request.form.get("audience"), "actor": self.request.form.get("actor_token")}
        return 200, token, self.TOKEN_RESPONSE_HEADER


class Registration(ClientRegistrationEndpoint):
    def authenticate_token(self, request):
        return request.headers.get("Authorization") == "Bearer initial-Rg4"

    def get_server_metadata(self):
        return {}

    def generate_client_registration_info(self, client, request):
        return {"registration_access_token": "manage-Yt6", "registration_client_uri": f"{ISSUER}/register/1"}

    def save_client(self, client_info, client_metadata, request):
        client = Client(client_info["client_id"], client_info["client_secret"],
                        (client_metadata.get("token_endpoint_auth_method"),))
        CLIENTS[client.client_id] = client
        return client


class Machine(ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post", "client_assertion_jwt"]


def generate(grant_type, client, user=None, scope=None, expires_in=None, include_refresh_token=True):
    token = secrets.token_urlsafe(24)
    TOKENS[token] = {"client": client.client_id, "user": user, "scope": scope, "end": time.time() + 600}
    return {"access_token": token, "token_type": "Bearer", "expires_in": 600, "scope": scope or "api"}


os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
app = Flask("authlib-grants")
server = AuthorizationServer(app, query_client=CLIENTS.get, save_token=lambda token, request: None)
server.register_token_generator("default", generate)
server.register_client_auth_method("client_assertion_jwt", SecretAssertion())
for grant in (Machine, Bearer, Exchange):
    server.register_grant(grant)
server.register_endpoint(Registration)


@app.get("/.well-known/oauth-authorization-server")
def metadata():
    return jsonify(
        issuer=ISSUER, token_endpoint=f"{ISSUER}/token", registration_endpoint=f"{ISSUER}/register",
        token_endpoint_auth_methods_supported=["client_secret_basic", "client_secret_post", "client_secret_jwt"])


@app.post("/token")
def token():
    return server.create_token_response()


@app.post("/register")
def register():
    # A refusal reads no body, and a connection that is closed with one unread is reset.
    request.get_data()
    return server.create_endpoint_response("client_registration")


@app.get("/tokens")
def tokens():
    """What the server has issued, for the checks."""
    return json.dumps(TOKENS)


app.run("127.0.0.1", PORT)
