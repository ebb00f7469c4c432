"""Many connections that write and read at the same time, and remember what they were answered."""

import threading

from service import Closed, Connection, Service, response


class Load:
    """Clients, a thread each, until they are stopped or nobody listens any more."""

    def __init__(self, service: Service, clients: int = 16, port: int | None = None):
        """Half of the clients come over TCP where a port is given."""
        self.service = service
        self._port = port
        self._fields = service.owner_fields(port) if port else {}
        # Names of cookies whose storing was acknowledged, and what went wrong on a connection that was open.
        self.acknowledged: set[str] = set()
        self.failures: list[str] = []
        self.answers = 0
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._threads = [threading.Thread(target=self._client, args=(number,)) for number in range(clients)]
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Has every client end after its present request, and waits for that."""
        self._stopping.set()
        self.join()

    def join(self) -> None:
        """Waits until all have ended."""
        for thread in self._threads:
            thread.join()

    def _client(self, client: int) -> None:
        number = 0
        while not self._stopping.is_set():
            is_remote = self._port is not None and client % 2 == 1
            fields = self._fields if is_remote else {}
            try:
                connection = Connection(("127.0.0.1", self._port)) if is_remote else self.service.connect()
            except OSError:
                return
            is_first = True
            while not self._stopping.is_set():
                name = f"c{client}-{number}"
                number += 1
                try:
                    if number % 2:
                        answer = connection.ask("POST", Service.RESPONSES, response(name, host=f"c{client}.test"), **fields)
                    else:
                        answer = connection.ask("POST", Service.DECORATE, Service.URL, **fields)
                except (OSError, Closed, ValueError) as error:
                    with self._lock:
                        self.failures.append(f"{type(error).__name__} {'at once' if is_first else 'on a used connection'}")
                    connection.close()
                    return
                is_first = False
                with self._lock:
                    self.answers += 1
                    if answer.status != 200:
                        self.failures.append(f"status {answer.status} {answer.code}")
                    elif number % 2:
                        self.acknowledged.add(name)
                if answer.is_last:
                    break
            connection.close()
