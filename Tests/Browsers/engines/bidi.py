"""A WebDriver BiDi client, as far as the laboratory needs one."""

import json

from engines.engine import EngineFailure
from engines.websocket import WebSocket


class BiDi:
    """One session with a browser that speaks BiDi itself."""

    def __init__(self, port: int, capabilities: dict[str, object]):
        self._socket = WebSocket(port, "/session")
        self._last = 0
        session = self.call("session.new", capabilities={"alwaysMatch": capabilities})
        self.capabilities: dict[str, object] = session["capabilities"]

    def call(self, method: str, **parameters: object) -> dict:
        """The result of a command; events in between are passed over."""
        self._last += 1
        self._socket.send(json.dumps({"id": self._last, "method": method, "params": parameters}).encode())
        while True:
            message = json.loads(self._socket.receive())
            if message.get("id") != self._last:
                continue
            if message["type"] == "error":
                raise EngineFailure(f"{method}: {message['error']}: {message['message'][:400]}")
            return message["result"]

    def close(self) -> None:
        """Hangs up; the browser goes on."""
        self._socket.close()
