"""Waiting for what a program has not got ready yet."""

import time
from collections.abc import Callable
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
