"""A gateway under load: cancelled and cut-off requests, long heads, and very many idle and half-open connections.

It prints memory and descriptors before and after each kind, and checks that both come back.
"""

import os
import resource
import signal
import socket
import socketserver
import ssl
import struct
import subprocess
import threading
import time
from dataclasses import dataclass

import h2.config
import h2.connection
import h2.events

from faults import resident

HEAD = 200 << 10
FIELDS = [(f"x-{number}", "v" * 4000) for number in range(HEAD // 4000)]


@dataclass
class Counts:
    """How many of each kind."""

    idle: int
    half_open: int
    resets: int
    cancelled: int
    heads: int


SMALL = Counts(idle=300, half_open=50, resets=300, cancelled=600, heads=5)
FULL = Counts(idle=10_000, half_open=1000, resets=20_000, cancelled=25_000, heads=200)


class Long(socketserver.StreamRequestHandler):
    """Tells how many long fields it got, and answers with as many."""

    def handle(self):
        while self.rfile.readline():
            count = 0
            while (line := self.rfile.readline()) not in (b"\r\n", b""):
                count += line.lower().startswith(b"x-")
            fields = "".join(f"{name}: {value}\r\n" for name, value in FIELDS)
            answer = str(count).encode()
            self.wfile.write(f"HTTP/1.1 200 OK\r\n{fields}Content-Length: {len(answer)}\r\n\r\n".encode() + answer)


class Server(socketserver.ThreadingTCPServer):
    allow_reuse_address = True
    daemon_threads = True
    request_queue_size = 1024

    def handle_error(self, *arguments):
        """Requests are cut off here."""


def descriptors(process):
    return len(os.listdir(f"/proc/{process.pid}/fd"))


def settled(process, limit):
    """Waits until no more descriptors are open than `limit`, at most for half a minute."""
    end = time.monotonic() + 30
    while descriptors(process) > limit and time.monotonic() < end:
        time.sleep(0.1)
    return descriptors(process)


def dead_listener():
    """A listener that accepts nothing, and whose queue is full: what connects to it waits."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(0)
    waiting = []
    for _ in range(4):
        client = socket.socket()
        client.setblocking(False)
        client.connect_ex(listener.getsockname())
        waiting.append(client)
    return listener, waiting


def tunnel(address, port, authority):
    """An HTTP/2 connection through the gateway to a port of localhost."""
    connection = socket.create_connection(address, timeout=60)
    connection.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n".encode())
    assert b" 200 " in connection.recv(4096)
    context = ssl.create_default_context(cafile=authority)
    context.set_alpn_protocols(["h2"])
    connection = context.wrap_socket(connection, server_hostname="localhost")
    client = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
    client.max_inbound_frame_size = 1 << 14
    client.initiate_connection()
    client.decoder.max_header_list_size = 1 << 20
    connection.sendall(client.data_to_send())
    return connection, client


def head(port, *fields):
    return [(":method", "GET"), (":scheme", "https"), (":authority", f"localhost:{port}"), (":path", "/"), *fields]


def cancelled(address, authority, count):
    """HEADERS and RST_STREAM, again and again, for a server that does not accept connections."""
    listener, waiting = dead_listener()
    port = listener.getsockname()[1]
    sent = 0
    while sent < count:
        connection, client = tunnel(address, port, authority)
        try:
            for _ in range(min(5000, count - sent)):
                stream = client.get_next_available_stream_id()
                client.send_headers(stream, head(port), end_stream=True)
                client.reset_stream(stream, error_code=8)
                connection.sendall(client.data_to_send())
                sent += 1
        except OSError:
            sent += 1
        connection.close()
    for client in waiting:
        client.close()
    listener.close()


def long_heads(address, authority, port, count):
    """Requests and responses with heads of 200 KiB over HTTP/2.

    Returns how many were whole both ways.
    """
    connection, client = tunnel(address, port, authority)
    whole = 0
    for _ in range(count):
        stream = client.get_next_available_stream_id()
        client.send_headers(stream, head(port, *FIELDS), end_stream=True)
        connection.sendall(client.data_to_send())
        fields, body, ended = [], b"", False
        while not ended and (octets := connection.recv(1 << 16)):
            for event in client.receive_data(octets):
                if isinstance(event, h2.events.ResponseReceived):
                    fields = [name for name, value in event.headers if name.startswith("x-") and len(value) == 4000]
                elif isinstance(event, h2.events.DataReceived):
                    body += event.data
                ended = ended or isinstance(event, (h2.events.StreamEnded, h2.events.StreamReset))
            connection.sendall(client.data_to_send())
        whole += len(fields) == len(FIELDS) and body == str(len(FIELDS)).encode()
    connection.close()
    return whole


def resets(address, origin, count):
    """Requests whose clients abort the connection."""
    host = origin.split("//")[1]
    for _ in range(count):
        with socket.create_connection(address, timeout=60) as client:
            client.sendall(f"GET {origin}/ HTTP/1.1\r\nHost: {host}\r\n\r\n".encode())
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def check_load(crumb, folder, environment, counts, check):
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    plain = Server(("127.0.0.1", 0), Long)
    secure = Server(("127.0.0.1", 0), Long)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/tls.pem", f"{folder}/tls.key")
    secure.socket = context.wrap_socket(secure.socket, server_side=True, do_handshake_on_connect=False)
    for server in (plain, secure):
        threading.Thread(target=server.serve_forever, daemon=True).start()
    origin = f"http://127.0.0.1:{plain.server_address[1]}"
    authority = f"{folder}/load-authority.pem"
    process = subprocess.Popen(
        [crumb, "gateway", "run", "--client", "tool", "--jar", "load", "--intercept", "localhost", "--temporary-authority", authority,
         "--ca-file", f"{folder}/tls.pem"], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    host, port = process.stdout.readline().strip().rsplit(":", 1)
    address = (host, int(port))
    # The first of each kind needs memory that stays.
    resets(address, origin, 50)
    long_heads(address, authority, secure.server_address[1], 1)
    whole = []

    def measure(kind, count, action, growth=48):
        before, opened = resident(process), descriptors(process)
        held = action(count) or []
        during = (resident(process), descriptors(process))
        for client in held:
            client.close()
        after = (settled(process, opened + 80), resident(process))
        print(f"      {count} {kind}: {before} kB and {opened} descriptors before, {during[0]} kB and {during[1]} with them, "
              f"{after[1]} kB and {after[0]} after", flush=True)
        check(f"{kind}: the descriptors come back", after[0] <= opened + 80, (opened, after[0]))
        check(f"{kind}: memory comes back", after[1] < before + growth * 1024, (before, after[1]))

    def opened(octets):
        def connect(count):
            clients = []
            for _ in range(count):
                client = socket.create_connection(address, timeout=60)
                client.sendall(octets)
                clients.append(client)
            return clients
        return connect

    try:
        measure("idle connections", counts.idle, opened(b""), growth=48 + counts.idle // 40)
        measure("half-open connections", counts.half_open, opened(b"GET http://a.exa"))
        measure("aborted requests", counts.resets, lambda count: resets(address, origin, count))
        measure("cancelled requests of HTTP/2", counts.cancelled, lambda count: cancelled(address, authority, count))
        measure("heads of 200 KiB", counts.heads, lambda count: whole.append(
            long_heads(address, authority, secure.server_address[1], count)))
        check("heads of 200 KiB: they pass both ways", whole == [counts.heads], whole)
        answer = subprocess.run(
            ["curl", "-sS", "--max-time", "30", "--proxy", f"http://{host}:{port}", origin], env=environment, capture_output=True)
        check("after the load, the gateway answers", answer.stdout == b"0", answer)
    finally:
        process.send_signal(signal.SIGTERM)
        check("after the load, the gateway ends with status 0", process.wait(timeout=60) == 0)
        plain.shutdown()
        secure.shutdown()
