"""Waiting for what a program has not got ready yet."""

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeVar

from engines.engine import EngineFailure

Value = TypeVar("Value")


def wait_for(attempt: Callable[[], Value | None], what: str, timeout: float = 60) -> Value:
    """The first answer of `attempt` that is not `None`."""
    deadline = time.monotonic() + timeout
    while True:
        value = attempt()
        if value is not None:
            return value
        if time.monotonic() > deadline:
            raise EngineFailure(f"{what} takes longer than {timeout:.0f} s")
        time.sleep(0.02)


def run_together(tasks: Sequence[Callable[[], None]]) -> None:
    """Runs tasks at the same time, and waits for all of them.

    Raises what one of them has raised.
    """
    failures: list[BaseException] = []

    def run(task: Callable[[], None]) -> None:
        try:
            task()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(task,)) for task in tasks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
