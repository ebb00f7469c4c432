"""Many connections that write and read at the same time, and remember what they were answered."""

import threading

from service import Closed, Service, response


class Load:
    """Clients, a thread each, until they are stopped or nobody listens any more."""

    def __init__(self, service: Service, clients: int = 16):
        self.service = service
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
            try:
                connection = self.service.connect()
            except OSError:
                return
            is_first = True
            while not self._stopping.is_set():
                name = f"c{client}-{number}"
                number += 1
                try:
                    if number % 2:
                        answer = connection.ask("POST", Service.RESPONSES, response(name))
                    else:
                        answer = connection.ask("POST", Service.DECORATE, Service.URL)
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
