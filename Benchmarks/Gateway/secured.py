"""Loads over TLS: through the gateway, which decrypts them, and through nginx with a certificate of its own."""

import contextlib
import socket
import ssl
import subprocess
import time

HOST = "localhost"
SERVER = """
    server {{ listen 127.0.0.1:{port} ssl backlog=4096; ssl_certificate {folder}/server.pem; ssl_certificate_key {folder}/server.key;
        {location} }}
"""


class Secured:
    """An origin with TLS, and nginx as a proxy before it, at ports of their own."""

    def __init__(self, folder, origin, proxy):
        self.folder, self.port, self.nginx = folder, origin, proxy
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-keyout",
             f"{folder}/server.key", "-out", f"{folder}/server.pem", "-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"],
            check=True, stderr=subprocess.DEVNULL)
        self.url = f"https://{HOST}:{origin}"
        self.origin = SERVER.format(port=origin, folder=folder, location=f"root {folder};")
        self.proxy = f"upstream secured {{ server 127.0.0.1:{origin}; keepalive 64; }}" + SERVER.format(
            port=proxy, folder=folder,
            location="location / { proxy_pass https://secured; proxy_http_version 1.1; proxy_set_header Connection \"\"; "
            "proxy_ssl_verify on; proxy_ssl_name localhost; proxy_ssl_trusted_certificate " + f"{folder}/server.pem; }}")
        self.options = ["--intercept", HOST, "--ca-file", f"{folder}/server.pem", "--temporary-authority", f"{folder}/authority.pem"]

    def _way(self, name, port):
        """The URL of the origin by way of a proxy, and the port of the proxy to ask for a tunnel; `None` without TLS."""
        ways = {"direct": (self.url, None), "nginx": (f"https://{HOST}:{self.nginx}", None), "crumb": (self.url, port)}
        return ways.get(name)

    def load(self, name, port, size, count=800):
        """GB per second of large bodies over 16 connections; 0 for proxies that are not measured."""
        if not (way := self._way(name, port)):
            return 0
        url, tunnel = way
        proxy = ["--proxy", f"http://127.0.0.1:{tunnel}"] if tunnel else ["--noproxy", "*"]
        words = ["curl", "--silent", "--fail", "--insecure", "--http1.1", "--ipv4", "--parallel", "--parallel-max", "16", *proxy]
        begin = time.monotonic()
        subprocess.run(
            ["taskset", "-c", "1", *words, "--output", "/dev/null", f"{url}/large?[1-{count}]"], check=True, stderr=subprocess.DEVNULL)
        return count * size / (time.monotonic() - begin) / 1e9

    def idle(self, name, port, count, memory):
        """How many kB a process grows by for idle connections with TLS, each of which has had a request."""
        if not (way := self._way(name, port)):
            return 0
        url, tunnel = way
        authority = url.removeprefix("https://")
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        before, clients = memory(), []
        with contextlib.ExitStack() as stack:
            for _ in range(count):
                client = socket.create_connection(("127.0.0.1", tunnel or self.nginx))
                if tunnel:
                    client.sendall(f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
                    client.recv(4096)
                client = stack.enter_context(context.wrap_socket(client, server_hostname=HOST))
                client.sendall(f"GET /small HTTP/1.1\r\nHost: {authority}\r\n\r\n".encode())
                client.recv(4096)
                clients.append(client)
            time.sleep(1)
            return memory() - before
