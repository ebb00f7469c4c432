"""What is different between the cookies that a server set and those that a reader says it did."""

import datetime
from collections.abc import Collection, Iterator, Mapping

# What `crumb list --json` says of a cookie and every reader has to bring back.
PROPERTIES = ("value", "hostOnly", "secure", "httpOnly", "sameSite", "partitionKey")
# Lifetimes that are counted from the response begin whenever a tool asked for it.
TOLERANCE = datetime.timedelta(minutes=10)
Identity = tuple[str, str, str]


def differences(expected: Mapping[Identity, dict], found: Mapping[Identity, dict], unwritten: Collection[str] = (),
                unsaid: Collection[str] = (), ends: Mapping[str, str] | None = None,
                tolerance: datetime.timedelta = TOLERANCE) -> Iterator[str]:
    """A line for each difference.

    `unwritten` are the names of cookies that may be missing, `unsaid` the properties that nothing is known of. `ends`
    says by a cookie's name how its `expires` may begin instead of being about the expected one.
    """
    for identity in sorted(expected.keys() | found.keys()):
        if identity not in found:
            if identity[0] not in unwritten:
                yield f"{identity} is missing"
        elif identity not in expected:
            yield f"{identity} is not from the server"
        else:
            for name in PROPERTIES:
                if name not in unsaid and found[identity].get(name) != expected[identity].get(name):
                    yield f"{name} of {identity} is {ascii(found[identity].get(name))[:80]}"
            end = found[identity].get("expires")
            if "expires" not in unsaid and not _same_end(end, expected[identity].get("expires"), tolerance):
                if not (ends and identity[0] in ends and str(end).startswith(ends[identity[0]])):
                    yield f"the end of {identity} is {end}"


def _same_end(found: str | None, expected: str | None, tolerance: datetime.timedelta) -> bool:
    if found is None or expected is None:
        return found == expected
    moments = [datetime.datetime.fromisoformat(text) for text in (found, expected)]
    return abs(moments[0] - moments[1]) <= tolerance
