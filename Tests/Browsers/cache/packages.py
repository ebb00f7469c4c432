"""Offline packages of the app, which a person builds, adds and rolls back while a gateway runs."""

from pathlib import Path
from urllib.parse import urlsplit

from cache.app import Build
from crumb import Crumb


class Packages:
    """The package of one site, in the default jar of the gateway in `folder`."""

    def __init__(self, binary: Path, folder: Path, url: str):
        self._crumb = Crumb(binary, folder)
        self._folder = folder
        self._url = url
        self._name = (urlsplit(url).hostname or "").split(".")[1]

    def add(self, build: Build) -> None:
        """Adds a build of the app: its document and all chunks."""
        place = self._folder / f"{self._name}-{build.number}"
        for path, file in {"/index.html": build.document, **build.chunks}.items():
            target = place / path[1:]
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(file.body)
        archive = self._folder / f"{place.name}.zip"
        self._crumb.run("gateway", "package", "build", str(place), "--base", self._url, "--name", self._name,
                        "--version", f"{build.number}.0.0", "--output", str(archive))
        self._crumb.run("gateway", "package", "add", str(archive))

    def roll_back(self) -> None:
        """Brings the version before back."""
        self._crumb.run("gateway", "package", "rollback", self._name)

    def remove(self) -> None:
        """Removes the package."""
        self._crumb.run("gateway", "package", "remove", self._name)
