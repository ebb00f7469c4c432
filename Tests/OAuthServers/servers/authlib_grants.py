"""Authlib's grants that need no user, in a server of their own."""

import json
import os
import pathlib
import subprocess
import sys
import time

from .user import User


class AuthlibGrants:
    name = "authlib"

    def __init__(self, folder, port):
        self.folder, self.port = pathlib.Path(folder) / "authlib", port
        self.base = self.issuer = f"http://127.0.0.1:{port}"

    def start(self):
        self.folder.mkdir(parents=True)
        self.key = self.folder / "robot.pem"
        self.key.touch(0o600)
        self.key.write_text(subprocess.run(
            ["openssl", "genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256"], capture_output=True,
            text=True, check=True).stdout)
        site = pathlib.Path(__file__).with_name("authlib_site.py")
        output = open(self.folder / "out", "w")
        self.process = subprocess.Popen(
            [sys.executable, site, str(self.port), self.folder], stdin=subprocess.DEVNULL, stdout=output, stderr=output,
            env={**os.environ, "AUTHLIB_INSECURE_TRANSPORT": "1"})
        for _ in range(1800):
            try:
                if User().request(f"{self.base}/tokens")[0] == 200:
                    return
            except OSError:
                pass
            time.sleep(0.05)
        raise SystemExit("Authlib does not start:\n" + (self.folder / "out").read_text())

    def tokens(self):
        """What the server knows of the tokens that it has issued."""
        return json.loads(User().request(f"{self.base}/tokens")[2])

    def stop(self):
        self.process.terminate()
        self.process.wait()
