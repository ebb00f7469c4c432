"""glewlwyd, as Debian packages it, with a throw-away database."""

import base64
import gzip
import json
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse

from .user import User


# How clients sign, and what openssl makes keys for it with.
KEYS = {
    "ES256": ["EC", "-pkeyopt", "ec_paramgen_curve:P-256"], "EdDSA": ["ED25519"],
    "RS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"], "PS256": ["RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
}


def private_key(algorithm):
    return subprocess.run(
        ["openssl", "genpkey", "-algorithm", *KEYS[algorithm]], capture_output=True, text=True, check=True).stdout


def public_jwk(key, name, algorithm):
    """The public half of a key in PEM, as a JSON Web Key."""
    def encoded(octets):
        return base64.urlsafe_b64encode(octets).rstrip(b"=").decode()

    der = subprocess.run(
        ["openssl", "pkey", "-pubout", "-outform", "DER"], input=key.encode(), capture_output=True, check=True).stdout
    if algorithm == "ES256":
        members = {"kty": "EC", "crv": "P-256", "x": encoded(der[-64:-32]), "y": encoded(der[-32:])}
    elif algorithm == "EdDSA":
        members = {"kty": "OKP", "crv": "Ed25519", "x": encoded(der[-32:])}
    else:
        text = subprocess.run(
            ["openssl", "rsa", "-noout", "-modulus"], input=key, capture_output=True, text=True, check=True).stdout
        members = {"kty": "RSA", "n": encoded(bytes.fromhex(text.strip().split("=")[1])), "e": "AQAB"}
    return {**members, "kid": name, "use": "sig", "alg": algorithm}


REDIRECT = "http://127.0.0.1:8765/cb"


class Glewlwyd:
    name = "glewlwyd"
    public_client = "pub1"
    device_client = "pub1"
    secret_client = ("conf1", "conf1secret")
    machine_client = ("conf1", "conf1secret")
    scope = "openid api"
    machine_scope = "api"
    redirect = REDIRECT
    key_client = "key1"
    features = {"par", "dpop", "slow_down", "private_key_jwt", "no_public_revocation"}

    def __init__(self, folder, port):
        self.folder, self.port = pathlib.Path(folder) / "glewlwyd", port
        self.base = f"http://127.0.0.1:{port}"
        self.issuer = f"{self.base}/api/oidc"

    def start(self):
        folder = self.folder
        folder.mkdir(parents=True)
        # The package's web application is links, some of them to nowhere; the server follows none.
        shutil.copytree("/usr/share/glewlwyd/webapp", folder / "webapp", ignore_dangling_symlinks=True)
        shutil.rmtree(folder / "webapp/config.json", ignore_errors=True)
        shutil.copy("/etc/glewlwyd/config-2.7.json/config.json", folder / "webapp/")
        with gzip.open("/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz") as schema:
            subprocess.run(["sqlite3", folder / "g.db"], input=schema.read(), check=True)
        text = pathlib.Path("/etc/glewlwyd/glewlwyd.conf").read_text()
        for pattern, line in [
            (r"^port=.*", f"port={self.port}"),
            (r"^#bind_address=.*", 'bind_address="127.0.0.1"'),
            (r"^external_url=.*", f'external_url="{self.base}"'),
            (r"^# static_files_path=.*", f'static_files_path="{folder}/webapp/"'),
            (r"^log_mode=.*", 'log_mode="file"'),
            (r"^log_file=.*", f'log_file="{folder}/g.log"'),
            (r"^@include .*", f'database = {{ type = "sqlite3"; path = "{folder}/g.db" }};'),
        ]:
            text = re.sub(pattern, line, text, flags=re.M)
        (folder / "g.conf").write_text(text)
        output = open(folder / "out", "w")
        self.process = subprocess.Popen(
            ["glewlwyd", "-c", folder / "g.conf"], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self._wait()
        self._configure()

    def _wait(self):
        for _ in range(1800):
            try:
                if User().request(f"{self.base}/config")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise SystemExit("glewlwyd does not start:\n" + (self.folder / "out").read_text())

    def _call(self, user, method, path, body):
        status, _, text = user.request(
            self.base + path, json.dumps(body).encode(), method, {"Content-Type": "application/json"})
        if status not in (200, 302):
            raise SystemExit(f"{method} {path}: {status} {text}")

    def _configure(self):
        admin = User()
        self._call(admin, "POST", "/api/auth/", {"username": "admin", "password": "password"})
        key = subprocess.run(
            ["openssl", "genpkey", "-quiet", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048"],
            capture_output=True, text=True).stdout
        if not key:
            key = subprocess.run(
                ["openssl", "genpkey", "-algorithm", "RSA"], capture_output=True, text=True, check=True).stdout
        public = subprocess.run(
            ["openssl", "pkey", "-pubout"], input=key, capture_output=True, text=True, check=True).stdout
        for name, nonce in [("oidc", False), ("oidcn", True)]:
            self._call(admin, "POST", "/api/mod/plugin/", {
                "module": "oidc", "name": name, "display_name": name, "order_rank": 0, "readonly": False,
                "parameters": {
                    "iss": f"{self.base}/api/{name}", "jwt-type": "rsa", "jwt-key-size": "256", "key": key,
                    "cert": public, "access-token-duration": 60, "refresh-token-duration": 3600, "code-duration": 60,
                    "refresh-token-rolling": False, "refresh-token-one-use": "always",
                    "auth-type-code-revoke-replayed": True, "allow-non-oidc": True, "auth-type-code-enabled": True,
                    "auth-type-token-enabled": True, "auth-type-implicit-enabled": True,
                    "auth-type-password-enabled": True, "auth-type-client-enabled": True,
                    "auth-type-refresh-enabled": True, "auth-type-device-enabled": True,
                    "device-authorization-expiration": 60, "device-authorization-interval": 1, "pkce-allowed": True,
                    "pkce-required-public-client": True, "pkce-method-plain-allowed": False,
                    "introspection-revocation-allowed": True, "introspection-revocation-allow-target-client": True,
                    "jwks-show": True, "jwks-x5c": [], "oauth-as-iss-id": True, "session-management-allowed": False,
                    "oauth-par-allowed": True, "oauth-par-required": False,
                    "oauth-par-request_uri-prefix": "urn:ietf:params:oauth:request_uri:", "oauth-par-duration": 60,
                    "oauth-dpop-allowed": True, "oauth-dpop-iat-duration": 60, "oauth-dpop-nonce-mandatory": nonce,
                    "oauth-dpop-nonce-counter": 1, "request-parameter-allow": True,
                    "request-parameter-allow-encrypted": False, "client-jwks-parameter": "jwks", "register-client-allowed": False,
                    "allowed-scope": ["openid", "api"]}})
        self._call(admin, "POST", "/api/scope/", {
            "name": "api", "display_name": "api", "password_required": True, "scheme": {}})
        self._call(admin, "POST", "/api/user/", {
            "username": "alice", "password": "alicepw", "name": "Alice", "email": "alice@example.test",
            "enabled": True, "scope": ["openid", "api", "g_profile"]})
        grants = ["code", "refresh_token", "device_authorization", "delete_token"]
        self._call(admin, "POST", "/api/client/", {
            "client_id": "conf1", "name": "conf1", "client_secret": "conf1secret", "confidential": True,
            "enabled": True, "authorization_type": grants + ["client_credentials"], "redirect_uri": [REDIRECT],
            "token_endpoint_auth_method": ["client_secret_basic", "client_secret_post"], "scope": ["api"]})
        self._call(admin, "POST", "/api/client/", {
            "client_id": "pub1", "name": "pub1", "confidential": False, "enabled": True, "authorization_type": grants,
            "redirect_uri": [REDIRECT], "token_endpoint_auth_method": ["none"], "scope": []})

        # The name of its key is there, too; without one, the server tries none.
        self.client_keys = {algorithm: private_key(algorithm) for algorithm in KEYS}
        for algorithm, key in self.client_keys.items():
            name = self.key_client if algorithm == "ES256" else f"key-{algorithm}"
            self._call(admin, "POST", "/api/client/", {
                "client_id": name, "name": name, "confidential": True, "enabled": True,
                "authorization_type": grants + ["client_credentials"], "redirect_uri": [REDIRECT],
                "token_endpoint_auth_method": ["private_key_jwt"], "scope": ["api"],
                "jwks": {"keys": [public_jwk(key, "k1", algorithm)]}})

    def stop(self):
        self.process.terminate()
        self.process.wait()

    # The user

    def _alice(self):
        alice = User()
        self._call(alice, "POST", "/api/auth/", {"username": "alice", "password": "alicepw"})
        for client in ("pub1", "conf1", self.key_client):
            self._call(alice, "PUT", f"/api/auth/grant/{client}", {"scope": self.scope})
        return alice

    def log_in(self, url):
        """Does what the login page would: where the browser is sent in the end."""
        status, location, page = self._alice().request(url + "&g_continue")
        if not location:
            raise AssertionError(f"no redirect: {status} {page[:300]}")
        return location

    def confirm_device(self, uri, code):
        query = urllib.parse.urlencode({"code": code})
        status, location, _ = self._alice().request(f"{self.issuer}/device?{query}&g_continue")
        assert location and "deviceComplete" in location, (status, location)
