"""One browser, directly or through the gateway."""

from contextlib import ExitStack
from pathlib import Path

from crumb import Crumb, CrumbFailure
from engines import Chromium, EngineFailure, Firefox, Processes
from engines.processes import free_ports
from gateway.process import gateway, resolving_command
from web_platform.checkout import HOSTS, NAMES, Server, Test
from web_platform.page import LOST, Outcome, run_page

ENGINES = ("chromium", "firefox")
#: So many lost browsers end a session: something is wrong with the machine.
MOST_LOST = 3

#: The hosts of the tests, and none below `nonexistent`.
_CHROMIUM = ("--host-resolver-rules=MAP nonexistent.* ~NOTFOUND, "
             + ", ".join(f"MAP *.{host} 127.0.0.1, MAP {host} 127.0.0.1" for host in HOSTS)
             + ", MAP * ~NOTFOUND, EXCLUDE 127.0.0.*, EXCLUDE localhost",)
_FIREFOX = {"dom.disable_open_during_load": False, "network.dns.localDomains": ",".join(name for name in NAMES if name != "localhost"), "network.dns.disabled": False,
            # Names beyond those have no addresses, whatever resolver the machine has.
            "network.trr.mode": 5, "network.dns.forceResolve": ""}


class Session:
    """Runs pages one after another, each without cookies of those before it.

    `binary` is the command of the gateway, or `None` without one. All pages have the browser's profile in common. A gateway
    goes on until its jar has something: the next page has a new one, with an empty jar.
    """

    def __init__(self, engine: str, folder: Path, server: Server, binary: Path | None):
        folder.mkdir(parents=True)
        self._name, self._folder, self._server, self._binary = engine, folder, server, binary
        self._processes = Processes(folder)
        self._engine: Chromium | Firefox | None = None
        self._gateways = self._lost = 0
        self._stack = ExitStack()
        self._jar: Path | None = None
        #: The state of the database as the gateway began, and as the jar was emptied.
        self._begun: tuple[int, int] | None = None
        self._emptied: tuple[int, int] | None = None
        self._port = None if binary is None else free_ports(1)[0]
        #: What the browser says it is.
        self.version = ""

    def __enter__(self) -> "Session":
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.stop_all()
        self._stack.close()

    def run(self, test: Test) -> Outcome:
        """What a page reports; a browser that is lost is started again."""
        try:
            if self._binary is not None:
                self._renew_gateway(self._binary)
            engine = self._engine or self._start()
            outcome = run_page(engine, self._server.url(test), test.is_long, self._empty_jar)
            engine.close_other_windows()
            engine.navigate("about:blank")
            engine.delete_cookies()
            return outcome
        except (EngineFailure, OSError) as failure:
            self._lost += 1
            if self._lost == MOST_LOST:
                raise EngineFailure(f"{self._name} was lost {MOST_LOST} times: {failure}") from failure
            # The gateway too.
            self._processes.stop_all()
            self._engine = self._jar = None
            return Outcome(LOST.statuses, {name: str(failure) for name in LOST.statuses})

    def _renew_gateway(self, binary: Path) -> None:
        """Ends a gateway whose jar has something, and starts one if none runs."""
        if self._jar is not None and _written(self._jar) == self._begun:
            return
        self._stack.close()
        self._gateways += 1
        place = self._folder / f"gateway-{self._gateways}"
        place.mkdir()
        self._stack.enter_context(gateway(
            binary, place, None, self._server.certificate, HOSTS, "--listen", f"127.0.0.1:{self._port}", is_killed=True,
            starting=lambda command: resolving_command(place, NAMES, command)))
        self._jar = Crumb.database(place)
        self._begun = self._emptied = _written(self._jar)

    def _start(self) -> Chromium | Firefox:
        """Each browser as it comes: Firefox keeps the cookies of third parties apart, Chromium does not block them."""
        if self._name == "chromium":
            self._engine = Chromium(self._processes, self._port, more_arguments=_CHROMIUM)
        else:
            self._engine = Firefox(self._processes, self._port, third_party_cookies=False, more_preferences=_FIREFOX)
        self.version = self._engine.version
        return self._engine

    def _empty_jar(self) -> None:
        """A page had all cookies deleted; those that scripts never see are in the jar alone."""
        if self._binary is None or self._jar is None or _written(self._jar) == self._emptied:
            return
        try:
            Crumb(self._binary, self._jar.parent.parent).run("jars", "clear", "default")
        except CrumbFailure as failure:
            raise EngineFailure(str(failure)) from failure
        self._emptied = _written(self._jar)


def _written(database: Path) -> tuple[int, int] | None:
    """What changes when something is written to a database."""
    try:
        state = database.with_name(database.name + "-wal").stat()
        return state.st_mtime_ns, state.st_size
    except OSError:
        return None
