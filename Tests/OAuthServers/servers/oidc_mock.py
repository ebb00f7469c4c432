"""oidc-provider-mock, which is built on Authlib: it rotates nothing, and has no endpoints but the most needed."""

import pathlib
import subprocess
import sys
import time
import urllib.parse

from .user import User


class OIDCProviderMock:
    name = "oidc-provider-mock"
    public_client = "app"
    secret_client = machine_client = ("app", "any-secret-of-Bq4")
    scope = "openid"
    redirect = "http://127.0.0.1/cb"
    features = {"unrotated", "no_public_client"}

    def __init__(self, folder, port):
        self.folder, self.port = pathlib.Path(folder) / "oidc-mock", port
        self.base = self.issuer = f"http://127.0.0.1:{port}"

    def start(self):
        self.folder.mkdir(parents=True)
        output = open(self.folder / "out", "w")
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(self.port)],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        for _ in range(1800):
            try:
                if User().request(f"{self.base}/.well-known/openid-configuration")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise SystemExit("oidc-provider-mock does not start:\n" + (self.folder / "out").read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait()

    def log_in(self, url):
        status, location, page = User().request(url, urllib.parse.urlencode({"sub": "alice"}).encode())
        assert location and "code=" in location, (status, page[:500])
        return location
