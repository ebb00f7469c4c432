"""django-oauth-toolkit on Django's own server."""

import os
import pathlib
import subprocess
import sys
import time

from .user import User


class DjangoToolkit:
    name = "django-oauth-toolkit"
    public_client = "pub1"
    device_client = "dev1"
    secret_client = ("conf1", "conf1secret")
    machine_client = ("cc1", "cc1secret")
    scope = "openid api"
    machine_scope = "api"
    # Any port of a loopback address will do (RFC 8252, section 7.3).
    redirect = "http://127.0.0.1/cb"
    features = {"rfc8414"}

    def __init__(self, folder, port):
        self.folder, self.port = pathlib.Path(folder) / "django", port
        self.base = self.issuer = f"http://127.0.0.1:{port}"
        # Of the metadata, neither document has it.
        self.endpoints = [f"device_authorization_endpoint={self.base}/device-authorization/"]

    def start(self):
        self.folder.mkdir(parents=True)
        site = pathlib.Path(__file__).with_name("django_site.py")
        output = open(self.folder / "out", "w")
        self.process = subprocess.Popen(
            [sys.executable, site, str(self.port), self.folder], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, "PYTHONWARNINGS": "ignore"})
        for _ in range(1800):
            try:
                if User().request(f"{self.base}/accounts/login/")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise SystemExit("Django does not start:\n" + (self.folder / "out").read_text())

    def stop(self):
        self.process.terminate()
        self.process.wait()

    # The user

    def log_in(self, url):
        answers = {"username": "alice", "password": "alicepw", "allow": "Authorize"}
        end = User().browse(url, lambda location: "/cb?" in location, answers)
        assert end.startswith("http"), end[:1500]
        return end

    def confirm_device(self, uri, code):
        answers = {"username": "alice", "password": "alicepw", "user_code": code, "action": "accept"}
        User().browse(uri, lambda location: "status" in location, answers)
