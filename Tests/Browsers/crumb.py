"""The command that is held against the browsers."""

import json
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType


class CrumbFailure(Exception):
    """The command does not run, or refuses what the laboratory gives it."""


class Crumb:
    """The command `crumb`, with a database and a key of its own in `folder`."""

    def __init__(self, binary: Path, folder: Path, working_folder: Path | None = None,
                 variables: Mapping[str, str] = MappingProxyType({})):
        self._binary = binary
        self._working_folder = working_folder
        # The default database: until something is stored, commands treat it as empty.
        self._environment = {**os.environ, "XDG_DATA_HOME": str(folder),
                             "CRUMB_KEY_FILE": str(folder / "crumb.key"), "HOME": str(folder), **variables}
        for name in ("CRUMB_DATABASE", "CRUMB_KEY"):
            self._environment.pop(name, None)

    @staticmethod
    def database(folder: Path) -> Path:
        """The database of a folder, where commands find it by default."""
        return folder / "crumb" / "crumb.sqlite"

    def run(self, *arguments: str, octets: bytes = b"") -> bytes:
        """What `crumb ARGUMENTS` prints; `octets` are its standard input."""
        completed = subprocess.run([str(self._binary), *arguments], input=octets, capture_output=True, check=False,
                                   env=self._environment, cwd=self._working_folder)
        if completed.returncode != 0:
            words = completed.stderr.decode(errors="replace")[:600] or completed.stdout.decode(errors="replace")[-600:]
            raise CrumbFailure(f"crumb {' '.join(arguments)}: status {completed.returncode}: {words}")
        return completed.stdout

    def documents(self, *arguments: str, octets: bytes = b"") -> list[dict]:
        """The JSON lines of `crumb ARGUMENTS`."""
        return [json.loads(line) for line in self.run(*arguments, octets=octets).splitlines()]

    def import_response(self, url: str, response: bytes) -> dict:
        """Takes the cookies of a raw response; answers the report."""
        return self.documents("import", "--json", "--url", url, "-", octets=response)[0]
