"""What tools have made, and what they make it with."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from capture_site import FIRST, SECOND
from engines import Processes
from login_site import HOST


class ToolFailure(Exception):
    """A tool does not run, or does not do what it was told."""


@dataclass(frozen=True)
class Capture:
    """Files of a tool, with all that is known to be different in them from what the site set."""

    name: str
    #: The arguments of `crumb import`.
    arguments: tuple[str, ...]
    #: The cookies that it does not write down.
    unwritten: frozenset[str] = frozenset()
    #: The properties that it does not tell.
    unsaid: tuple[str, ...] = ()
    #: What it says of a cookie instead of what the site does, by name and property.
    otherwise: Mapping[str, Mapping[str, object]] = field(default_factory=dict)
    #: The cookies that it has for others than the site set.
    alien: frozenset[str] = frozenset()
    #: The paths of the site that were asked for.
    paths: tuple[str, ...] = (FIRST, SECOND)
    #: The site, as it was asked.
    origin: str = f"https://{HOST}"
    #: The environment that crumb runs in, where it matters.
    variables: Mapping[str, str] = field(default_factory=dict)
    #: What the refusal has to say, where the import must refuse every cookie.
    refusal: str | None = None


class Workbench:
    """A folder where one tool works, and the way to the site."""

    def __init__(self, folder: Path, proxy_port: int, python: Path):
        self.folder = folder
        self.proxy_port = proxy_port
        self.proxy = f"http://127.0.0.1:{proxy_port}"
        self.url = f"https://{HOST}{FIRST}"
        #: The interpreter that has the packages of PyPI.
        self.python = python
        self.processes = Processes(folder)

    def path(self, name: str) -> str:
        """A file of the folder."""
        return str(self.folder / name)

    def run(self, *words: str, out: str = os.devnull, err: str = os.devnull, **variables: str) -> None:
        """Runs a tool to its end; what it says goes into files of the folder."""
        environment = {name: value for name, value in os.environ.items() if not name.lower().endswith("_proxy")}
        environment |= {"HOME": str(self.folder), "XDG_CONFIG_HOME": self.path("config"), "LC_ALL": "C.UTF-8",
                        "https_proxy": self.proxy, **variables}
        with open(self.folder / out, "wb") as output, open(self.folder / err, "wb") as talk:
            completed = subprocess.run(words, stdout=output, stderr=talk, stdin=subprocess.DEVNULL, env=environment,
                                       timeout=120, check=False, cwd=self.folder)
        if completed.returncode != 0:
            raise ToolFailure(f"{words[0]} ended with status {completed.returncode}")
