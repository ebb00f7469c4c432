"""Starts the service on a port of its own, fills it, and lets schemathesis send it everything its document allows."""

import argparse
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).parent
RESPONSE = "\n".join(
    ["sid=1; Path=/; Secure; HttpOnly", "lax=2; Path=/; Max-Age=86400; SameSite=Lax", "deep=3; Path=/deep"]
)
TOKEN = json.dumps({"access_token": "a-token", "refresh_token": "a-refresh-token", "expires_in": 86400})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crumb", required=True)
    parser.add_argument("--schemathesis", required=True)
    parser.add_argument("--examples", type=int, default=12, help="how many requests to make up for each operation")
    options = parser.parse_args()
    crumb = str(pathlib.Path(options.crumb).resolve())
    with tempfile.TemporaryDirectory() as home:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": home,
            "CRUMB_DATABASE": f"{home}/crumb.sqlite",
            "CRUMB_LIMITS_REQUESTS_PER_SECOND": "0",
        }

        def run(*arguments: str, text: str = "") -> None:
            subprocess.run(
                [crumb, *arguments], env=environment, input=text, text=True, check=True, stdout=subprocess.DEVNULL
            )

        for jar in ["default", "other", "doomed"]:
            run("set", "--quiet", "--jar", jar, "https://www.example.com/", text=RESPONSE)
            run("session", "save", "--quiet", "--jar", jar, "monday")
        run("token", "import", "--quiet", "work", text=TOKEN)
        port = free_port()
        address = f"http://127.0.0.1:{port}"
        token_file = f"{home}/owner.token"
        with open(f"{home}/log", "w+") as log:
            service = subprocess.Popen(
                [crumb, "serve", "--listen", f"127.0.0.1:{port}", "--token-file", token_file],
                env=environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
            try:
                wait(address, service)
                status = check(options, address, pathlib.Path(token_file).read_text().strip(), home)
                wait(address, service)
            except Exception:
                log.seek(0)
                sys.stderr.write(log.read()[-4000:])
                raise
            finally:
                service.terminate()
                service.wait(timeout=30)
            if status:
                log.seek(0)
                sys.stderr.write(log.read()[-4000:])
    return status


def check(options: argparse.Namespace, address: str, token: str, home: str) -> int:
    environment = dict(os.environ, CRUMB_TOKEN=token, HOME=home, SCHEMATHESIS_HOOKS="hooks", PYTHONPATH=str(HERE))
    document = subprocess.run(
        [
            options.schemathesis,
            "--config-file",
            str(HERE / "schemathesis.toml"),
            "run",
            f"{address}/v1/openapi.json",
            "--max-examples",
            str(options.examples),
        ],
        env=environment,
        cwd=home,
    )
    return document.returncode


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def wait(address: str, service: subprocess.Popen) -> None:
    """Waits until the service is ready."""
    deadline = time.monotonic() + 30
    while True:
        try:
            with urllib.request.urlopen(f"{address}/readyz", timeout=5):
                return
        except OSError:
            if service.poll() is not None or time.monotonic() > deadline:
                raise
            time.sleep(0.05)


sys.exit(main())
