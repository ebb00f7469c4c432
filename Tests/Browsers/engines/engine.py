"""What every browser of the laboratory can do."""

from abc import ABC, abstractmethod


class EngineFailure(Exception):
    """A browser or its driver does not start, or does not do what it was told."""


class NavigationAborted(EngineFailure):
    """A browser says that it did not set off, or not on its own account; it may be on its way all the same."""


class Engine(ABC):
    """A browser with an empty profile, whose every request goes to one proxy."""

    #: The name that options and reports use.
    name: str
    #: What the browser says it is, once it runs.
    version: str

    @abstractmethod
    def navigate(self, url: str) -> None:
        """Sets off as if a person had typed the URL; does not wait for the page."""

    @abstractmethod
    def evaluate(self, expression: str) -> object:
        """The value of an expression in the page that is shown."""

    @abstractmethod
    def add_document_script(self, script: str) -> None:
        """Has `script` run at the start of every later document, in all frames."""

    @abstractmethod
    def stored(self) -> dict[str, str]:
        """The values of all cookies that the browser keeps, `HttpOnly` ones too, by their names."""

    @abstractmethod
    def screenshot(self) -> bytes:
        """The page that is shown, as a PNG."""

    @abstractmethod
    def close(self) -> None:
        """Ends the browser."""

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
