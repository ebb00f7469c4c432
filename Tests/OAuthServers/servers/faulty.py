"""A server that answers with the octets it is told to, and one with a certificate that nobody trusts."""

import socket
import ssl
import struct
import subprocess
import threading
import time


class FaultyServer:
    def __init__(self, certificate=None):
        self.octets, self.resets, self.requests = b"", False, []
        # What follows the octets, one by one, so many seconds apart, for as long as somebody listens.
        self.trickle, self.pause = b"", 1
        # How many seconds an answer takes.
        self.delay = 0
        # Whether nothing at all is answered.
        self.holds = False
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.context = None
        if certificate:
            self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            self.context.load_cert_chain(certificate)
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(connection,), daemon=True).start()

    def _answer(self, connection):
        try:
            if self.context:
                connection = self.context.wrap_socket(connection, server_side=True)
            connection.settimeout(5)
            request = b""
            while b"\r\n\r\n" not in request:
                request += connection.recv(65536) or b"\r\n\r\n"
            self.requests.append(request)
            if self.resets:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            elif self.holds:
                connection.settimeout(120)
                connection.recv(65536)
            else:
                time.sleep(self.delay)
                connection.sendall(self.octets)
                while self.trickle:
                    time.sleep(self.pause)
                    connection.sendall(self.trickle)
                # To close over what was not read would take back what was sent.
                connection.shutdown(socket.SHUT_WR)
                while connection.recv(65536):
                    pass
        except OSError:
            pass
        finally:
            connection.close()

    def stop(self):
        self.listener.close()


def self_signed(folder):
    path = folder / "self-signed.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", path, "-out", folder / "certificate",
         "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-days", "2"],
        check=True, capture_output=True)
    path.write_bytes(path.read_bytes() + (folder / "certificate").read_bytes())
    return path
