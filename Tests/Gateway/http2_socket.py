"""Opens a WebSocket in an HTTP/2 connection (RFC 8441) through the proxy of the environment, and prints its first message."""
import os
import socket
import ssl
import sys
from urllib.parse import urlsplit

import h2.config
import h2.connection
import h2.events
import h2.settings

origin = urlsplit(sys.argv[1])
proxy = urlsplit(os.environ["https_proxy"])
connection = socket.create_connection((proxy.hostname, proxy.port), timeout=30)
connection.sendall(f"CONNECT {origin.netloc} HTTP/1.1\r\nHost: {origin.netloc}\r\n\r\n".encode())
assert b" 200 " in connection.recv(4096)
context = ssl.create_default_context(cafile=os.environ["SSL_CERT_FILE"])
context.set_alpn_protocols(["h2"])
connection = context.wrap_socket(connection, server_hostname=origin.hostname)
client = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
client.initiate_connection()
connection.sendall(client.data_to_send())


def events():
    while octets := connection.recv(65536):
        yield from client.receive_data(octets)
        connection.sendall(client.data_to_send())


pending = events()
next(event for event in pending if isinstance(event, h2.events.RemoteSettingsChanged))
assert client.remote_settings.enable_connect_protocol == 1
client.send_headers(1, [
    (":method", "CONNECT"), (":protocol", "websocket"), (":scheme", "https"), (":authority", origin.netloc),
    (":path", "/socket"), ("sec-websocket-version", "13")])
connection.sendall(client.data_to_send())
data = b""
for event in pending:
    if isinstance(event, h2.events.ResponseReceived):
        print(dict(event.headers)[":status"])
    if isinstance(event, h2.events.DataReceived):
        data += event.data
        if len(data) > 1 and len(data) >= 2 + data[1]:
            break
print(data[2:].decode())
