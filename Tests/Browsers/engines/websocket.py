"""A WebSocket client (RFC 6455) for text messages on the loopback."""

import base64
import os
import socket
import struct

from engines.engine import EngineFailure

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA
FINAL = 0x80


class WebSocket:
    """A connection that sends and receives whole messages."""

    def __init__(self, port: int, path: str, timeout: float = 60):
        self._stream = socket.create_connection(("127.0.0.1", port), timeout)
        key = base64.b64encode(os.urandom(16)).decode()
        self._stream.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n".encode())
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += self._octets(1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise EngineFailure(f"no WebSocket: {head[:200]!r}")

    def send(self, message: bytes, operation: int = TEXT) -> None:
        """Sends a message as one frame, masked as clients must."""
        mask = os.urandom(4)
        length = len(message)
        if length < 126:
            head = bytes([FINAL | operation, 0x80 | length])
        elif length < 1 << 16:
            head = bytes([FINAL | operation, 0x80 | 126]) + struct.pack(">H", length)
        else:
            head = bytes([FINAL | operation, 0x80 | 127]) + struct.pack(">Q", length)
        repeated = mask * (length // 4 + 1)
        masked = (int.from_bytes(message, "big") ^ int.from_bytes(repeated[:length], "big")).to_bytes(length, "big")
        self._stream.sendall(head + mask + masked)

    def receive(self) -> bytes:
        """The next message, put together from its frames."""
        message = b""
        while True:
            first, second = self._octets(2)
            length = second & 0x7F
            if length == 126:
                (length,) = struct.unpack(">H", self._octets(2))
            elif length == 127:
                (length,) = struct.unpack(">Q", self._octets(8))
            payload = self._octets(length)
            operation = first & 0x0F
            if operation == CLOSE:
                raise EngineFailure("the browser closes the WebSocket")
            if operation == PING:
                self.send(payload, PONG)
            elif operation != PONG:
                message += payload
                if first & FINAL:
                    return message

    def close(self) -> None:
        """Hangs up."""
        self._stream.close()

    def _octets(self, count: int) -> bytes:
        octets = b""
        while len(octets) < count:
            part = self._stream.recv(count - len(octets))
            if not part:
                raise EngineFailure("the browser hangs up")
            octets += part
        return octets
