"""Clients of Kubernetes that run crumb for their credentials: Debian's kubectl, and PyPI's kubernetes."""

import http.server
import json
import os
import pathlib
import pty
import ssl
import subprocess
import sys
import threading
import urllib.parse

from checks import expect, fetch, opened
from many import given
from servers.faulty import self_signed

# One call of PyPI's client, which prints what the API server says.
CALL = """
import sys
from kubernetes import client, config
config.load_kube_config(config_file=sys.argv[1])
print(client.CoreV1Api().list_namespace().items[0].metadata.name)
"""


class APIServer:
    """Answers every request with one namespace, and remembers what it was asked with."""

    def __init__(self, folder, port):
        self.folder, self.port, self.fields = pathlib.Path(folder), port, []

    def __enter__(self):
        owner = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def log_message(self, *arguments):
                pass

            def do_GET(self):
                owner.fields.append(self.headers.get("Authorization"))
                body = json.dumps({
                    "kind": "NamespaceList", "apiVersion": "v1", "metadata": {},
                    "items": [{"metadata": {"name": "default"}}]}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self_signed(self.folder))
        self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()

    def configuration(self, crumb, version, *options):
        """A kubeconfig that runs crumb."""
        exec_entry = {
            "apiVersion": f"client.authentication.k8s.io/{version}", "command": crumb.program,
            "args": ["token", "export", "--format", "kubernetes", *options, "p"], "interactiveMode": "IfAvailable"}
        path = self.folder / f"kubeconfig-{version}-{len(options)}"
        path.write_text(json.dumps({
            "apiVersion": "v1", "kind": "Config", "current-context": "c",
            "clusters": [{"name": "c", "cluster": {
                "server": f"https://localhost:{self.port}", "certificate-authority": str(self.folder / "certificate")}}],
            "users": [{"name": "c", "user": {"exec": exec_entry}}],
            "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}]}))
        return path


def kubectl(crumb, configuration):
    return subprocess.run(
        [os.environ["OAUTH_SERVERS_KUBECTL"], "--kubeconfig", configuration, "get", "--raw", "/api/v1/namespaces"],
        env=crumb.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)


def python_client(crumb, configuration, **streams):
    return subprocess.Popen(
        [sys.executable, "-c", CALL, configuration], env=crumb.environment, **streams)


def check_kubectl(crumb, server, port):
    """kubectl gets the ID token, a renewed one when that is due, and the access token by an option."""
    server.id_token_seconds = 3600
    given(crumb, server)
    with APIServer(crumb.folder, port()) as api:
        configuration = api.configuration(crumb, "v1beta1")
        result = kubectl(crumb, configuration)
        expect(result.returncode == 0 and "NamespaceList" in result.stdout, result.stderr)
        expect(set(api.fields) == {f"Bearer {server.id_token}"} and server.requests == 0, api.fields)
        api.fields.clear()
        result = kubectl(crumb, api.configuration(crumb, "v1beta1", "--use-access-token"))
        expect(result.returncode == 0 and set(api.fields) == {f"Bearer {server.access_token}"}, result.stderr)
        # The ID token has ended, and the access token has not.
        server.id_token_seconds = -10
        given(crumb, server)
        server.id_token_seconds = 3600
        api.fields.clear()
        result = kubectl(crumb, configuration)
        expect(result.returncode == 0 and server.requests == 1, result.stderr, server.requests)
        expect(set(api.fields) == {f"Bearer {server.id_token}"}, "not the renewed token")
        # The login has ended, and there is no terminal to ask for another one at.
        server.id_token_seconds = -1000
        given(crumb, server)
        server.is_alive = False
        result = kubectl(crumb, configuration)
        expect(result.returncode != 0 and "crumb token login" in result.stderr, result.stderr)
        expect(not (crumb.folder / "opened").exists(), "a browser was opened")


def check_python_client(crumb, server, port):
    """v1: the version is answered that was asked for; on a terminal, a login that has ended is made again."""
    server.id_token_seconds = 3600
    process = crumb.start(
        "token", "login", "p", "--client-id", "app", "--scope", "offline_access", "--account", "me", "--endpoint",
        f"authorization_endpoint={server.base}/authorize", "--endpoint", f"token_endpoint={server.base}/token")
    come_back(opened(crumb, process))
    result = crumb.end(process)
    expect(result.status == 0, result.talk)
    with APIServer(crumb.folder, port()) as api:
        configuration = api.configuration(crumb, "v1")
        process = python_client(crumb, configuration, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        output, talk = process.communicate(timeout=120)
        expect(process.returncode == 0 and output == "default\n", talk)
        expect(set(api.fields) == {f"Bearer {server.id_token}"}, api.fields)
        # Ended, but within what clocks may differ.
        server.id_token_seconds = -60
        expect(crumb("token", "refresh", "p").status == 0)
        server.is_alive, server.id_token_seconds = False, 3600
        process = python_client(crumb, configuration, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        _, talk = process.communicate(timeout=120)
        # This client says so and goes on without a token.
        expect("crumb token login" in talk and api.fields[-1] is None, talk, api.fields)
        master, slave = pty.openpty()
        process = python_client(crumb, configuration, stdin=slave, stdout=slave, stderr=slave)
        os.close(slave)
        come_back(opened(crumb, process))
        said = b""
        while True:
            try:
                said += os.read(master, 1 << 16)
            except OSError:
                break
        os.close(master)
        expect(process.wait(timeout=120) == 0 and b"default" in said, said.decode())
        expect(api.fields[-1] == f"Bearer {server.id_token}", "not the token of the new login")


def come_back(url):
    """What the server's page does when the user has logged in."""
    query = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(url).query))
    status, page = fetch(f"{query['redirect_uri']}?code=c&state={urllib.parse.quote(query['state'])}")
    expect(status == 200, status, page)


CHECKS = [check_kubectl, check_python_client]
