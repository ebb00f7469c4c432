"""What was seen of a case."""

from dataclasses import dataclass, field
from enum import Enum


class Interface(Enum):
    """Who gets to see cookies."""

    HTTP = "http"
    SCRIPT = "script"


@dataclass(frozen=True)
class Place:
    """Where within a case cookies are seen."""

    step: int
    interface: Interface = Interface.HTTP


@dataclass
class Observations:
    """The cookies of one case, by place, as one browser or Crumb has them.

    A place that is missing was not reached. What scripts see is text: octets that are not UTF-8 show as U+FFFD.
    """

    cookies: dict[Place, bytes] = field(default_factory=dict)
    #: Crumb's decisions and exclusions, for people to read.
    explanations: dict[Place, str] = field(default_factory=dict)
