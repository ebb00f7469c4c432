"""Plays cases in browsers, all browsers at the same time."""

import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from ssl import SSLContext

from differential.case import Case
from differential.observation import Observations
from differential.stage import Stage
from engines import ENGINES, Engine, NavigationAborted, Processes
from server.certificate import make_tls_context
from server.proxy import ProxyServer

#: What a browser's proxy is, for the name of the browser and the port of the server.
Route = Callable[[str, int], AbstractContextManager[int]]

# A page that does not get there in this time has been refused by the browser.
CASE_TIMEOUT = 8.0


@dataclass
class EngineRun:
    """What one browser did with all cases."""

    version: str = ""
    observations: dict[int, Observations] = field(default_factory=dict)
    #: Cases that the browser did not see to their end.
    unfinished: list[int] = field(default_factory=list)
    failure: str | None = None


def play(cases: Sequence[Case], engines: Sequence[str], folder: Path, tls: SSLContext | None = None,
         route: Route = lambda _, port: nullcontext(port)) -> dict[str, EngineRun]:
    """The runs by engine. An engine that fails has its `failure` set.

    `route` leads the browser's requests to the server, by default directly.
    """
    runs = {name: EngineRun() for name in engines}
    tls = tls or make_tls_context(folder)
    processes = {name: Processes(folder / name) for name in engines}
    threads = []
    # Without one of them there is nothing to compare.
    has_failed = threading.Event()
    for name in engines:
        (folder / name).mkdir()
        threads.append(threading.Thread(target=_play_in, args=(name, cases, processes[name], tls, route, runs[name],
                                                               has_failed)))
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        for started in processes.values():
            started.stop_all()
    return runs


def _play_in(name: str, cases: Sequence[Case], processes: Processes, tls: SSLContext, route: Route, run: EngineRun,
             has_failed: threading.Event) -> None:
    stage = Stage()
    try:
        with (ProxyServer(stage.answer, tls) as proxy, route(name, proxy.port) as port,
              ENGINES[name](processes, port) as engine):
            run.version = engine.version
            for case in cases:
                if has_failed.is_set():
                    return
                complete = _play_case(engine, stage, case, run)
                # Cut off by what the page before was still about. Nothing was set, so it can begin anew.
                if not run.observations[case.number].cookies:
                    complete = _play_case(engine, stage, case, run)
                if not complete:
                    run.unfinished.append(case.number)
    except Exception as failure:
        # Whatever it is, the run must not pass without this engine.
        run.failure = f"{name}: {failure or type(failure).__name__}"
        has_failed.set()


def _play_case(engine: Engine, stage: Stage, case: Case, run: EngineRun) -> bool:
    """Plays one case; whether the browser saw it to its end."""
    url = stage.begin(case)
    try:
        engine.navigate(url)
        timeout = CASE_TIMEOUT
    except NavigationAborted:
        timeout = 1
    run.observations[case.number], complete = stage.finish(timeout)
    return complete
