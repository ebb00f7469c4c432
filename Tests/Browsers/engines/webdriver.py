"""A WebDriver client, as far as the laboratory needs one."""

import http.client
import json

from engines.engine import EngineFailure


class WebDriver:
    """One session with a driver on the loopback."""

    def __init__(self, port: int, capabilities: dict[str, object]):
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=90)
        session = self._call("POST", "/session", {"capabilities": {"alwaysMatch": capabilities}})
        assert isinstance(session, dict)
        self._path = f"/session/{session['sessionId']}"
        self.capabilities: dict[str, object] = session["capabilities"]

    def call(self, method: str, path: str, body: dict[str, object] | None = None) -> object:
        """A command of the session; `path` begins below it."""
        return self._call(method, self._path + path, body)

    def _call(self, method: str, path: str, body: dict[str, object] | None) -> object:
        try:
            self._connection.request(method, path, None if body is None else json.dumps(body))
            value = json.loads(self._connection.getresponse().read())["value"]
        except (OSError, http.client.HTTPException) as error:
            raise EngineFailure(f"the driver does not answer: {error}") from error
        if isinstance(value, dict) and "error" in value:
            raise EngineFailure(f"{method} {path}: {value['error']}: {value['message'][:400]}")
        return value
