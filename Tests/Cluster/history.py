"""What the history of a load must be: nothing acknowledged is lost, no read is stale, the journal is complete.

No solver is needed: one client writes each cookie, and its values only rise.
"""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from itertools import accumulate

from load import Follower, Read, Write


@dataclass
class Phase:
    """A fault, from its injection until everything works again."""

    name: str
    start: float
    end: float
    recovery: float


@dataclass
class Verdict:
    """What a history shows."""

    lost: list[str] = field(default_factory=list)
    ghosts: list[str] = field(default_factory=list)
    stale: list[Read] = field(default_factory=list)
    invented: list[Read] = field(default_factory=list)
    journal: list[str] = field(default_factory=list)
    landed: dict[tuple[int, int, int], int] = field(default_factory=dict)


def check(writes: list[Write], reads: list[Read], followers: list[Follower], journals: dict[int, Follower]) -> Verdict:
    """Checks the history of a load that has ended, given the whole journal of every jar."""
    verdict = Verdict()
    check_reads(writes, reads, verdict)
    check_journals(writes, journals, verdict)
    for follower in followers:
        check_follower(follower, journals[follower.jar], verdict)
    return verdict


def check_reads(writes: list[Write], reads: list[Read], verdict: Verdict) -> None:
    """Compares each read with what was acknowledged or read before it began, and with what was tried before it ended."""
    known: dict[tuple[int, int, int], list[tuple[float, int]]] = defaultdict(list)
    tried: dict[tuple[int, int, int], list[Write]] = defaultdict(list)
    for write in writes:
        if write.outcome != "refused":
            tried[write.register].append(write)
        if write.outcome == "acknowledged":
            known[write.register].append((write.end, write.value))
    for read in reads:
        for number, value in read.values.items():
            known[read.jar, read.client, number].append((read.end, value))
    ends: dict[tuple[int, int, int], list[float]] = {}
    highest: dict[tuple[int, int, int], list[int]] = {}
    numbers: dict[tuple[int, int], list[int]] = defaultdict(list)
    for register, moments in known.items():
        moments.sort()
        ends[register] = [end for end, _ in moments]
        highest[register] = list(accumulate((value for _, value in moments), max))
        numbers[register[:2]].append(register[2])
    starts = {register: [write.start for write in writes] for register, writes in tried.items()}
    for read in reads:
        for number in numbers[read.jar, read.client]:
            register = read.jar, read.client, number
            value = read.values.get(number, 0)
            before = bisect_left(ends[register], read.start)
            if before and value < highest[register][before - 1]:
                verdict.stale.append(read)
                break
            begun = bisect_right(starts.get(register, []), read.end)
            if value and value not in {write.value for write in tried[register][:begun]}:
                verdict.invented.append(read)
                break


def check_journals(writes: list[Write], journals: dict[int, Follower], verdict: Verdict) -> None:
    """The journal has an entry for each acknowledged write, and at most one for each unknown one."""
    stored: Counter = Counter()
    for jar, journal in journals.items():
        for change in journal.changes:
            if change["cause"] in ("stored", "replaced"):
                stored[jar, int(change["domain"][1:].split(".")[0]), int(change["name"][1:])] += 1
    outcomes: dict[tuple[int, int, int], Counter] = defaultdict(Counter)
    for write in writes:
        outcomes[write.register][write.outcome] += 1
    for register, counts in outcomes.items():
        surplus = stored[register] - counts["acknowledged"]
        if surplus < 0:
            verdict.lost.append(f"{-surplus} of jar {register[0]}, client {register[1]}, cookie {register[2]}")
        elif surplus > counts["unknown"]:
            verdict.ghosts.append(f"jar {register[0]}, client {register[1]}, cookie {register[2]}")
        verdict.landed[register] = max(0, min(surplus, counts["unknown"]))


def check_follower(follower: Follower, whole: Follower, verdict: Verdict) -> None:
    """A client that followed the journal has seen every entry once, in order."""
    seen = [change["position"] for change in follower.changes]
    expected = [change["position"] for change in whole.changes if change["position"] <= follower.position]
    if seen != expected:
        missing, repeated = set(expected) - set(seen), len(seen) - len(set(seen))
        verdict.journal.append(f"jar {follower.jar}: {len(missing)} entries skipped, {repeated} repeated, "
                               f"{len(set(seen) - set(expected))} that are gone")
    if follower.gaps:
        verdict.journal.append(f"jar {follower.jar}: the journal has gaps")


def longest_gap(writes: list[Write], start: float, end: float) -> float:
    """The longest time without an acknowledged write."""
    moments = sorted(write.end for write in writes if write.outcome == "acknowledged" and start <= write.end < end)
    return max((later - earlier for earlier, later in zip([start, *moments], [*moments, end])), default=0)
