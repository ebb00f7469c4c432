"""Histories with one defect each, which the checker must find: a checker that finds nothing proves nothing."""

from copy import deepcopy

from history import Verdict, check
from load import Follower, Read, Write
from machines import ClusterFailure

REGISTER = (0, 1, 2)


def change(position: int) -> dict:
    """An entry of the journal for the register."""
    return {"position": position, "cause": "stored", "domain": "c1.example", "name": "k2"}


def history() -> tuple[list[Write], list[Read], Follower]:
    """Two acknowledged writes, an unknown one, a refused one, a read after each acknowledged one, and the whole journal."""
    writes = [Write(REGISTER, 1, 0, 1, "acknowledged"), Write(REGISTER, 2, 2, 3, "acknowledged"),
              Write(REGISTER, 3, 6, 7, "unknown"), Write(REGISTER, 4, 8, 9, "refused")]
    reads = [Read(0, 1, {2: 1}, 1.2, 1.5, "x"), Read(0, 1, {2: 2}, 4, 5, "y")]
    return writes, reads, Follower(0, 2, [change(1), change(2)])


def verdict(writes: list[Write], reads: list[Read], journal: Follower, follower: Follower | None = None) -> Verdict:
    """What the checker finds; the follower has seen the whole journal unless another one is given."""
    return check(writes, reads, [follower or deepcopy(journal)], {0: journal})


def require(what: str, is_so: bool) -> None:
    """Fails unless the checker did what it must."""
    if not is_so:
        raise ClusterFailure(f"the checker of histories is wrong: {what}")


def check_checker() -> None:
    """Gives the checker a good history, and then each defect alone."""
    writes, reads, journal = history()
    good = verdict(writes, reads, journal)
    require("it blames a good history", good.landed == {REGISTER: 0}
            and not (good.lost or good.ghosts or good.stale or good.invented or good.journal))

    stored = Follower(0, 3, [change(1), change(2), change(3)])
    unknown = verdict(writes, reads, stored)
    require("an unknown write may be stored", unknown.landed == {REGISTER: 1} and not unknown.ghosts)

    require("a lost write", bool(verdict(writes, reads, Follower(0, 1, [change(1)])).lost))
    four = Follower(0, 4, [change(position) for position in range(1, 5)])
    require("a refused write that is stored", bool(verdict(writes, reads, four).ghosts))
    for name, values, start in [("a stale read", {2: 1}, 3.5), ("a read without an acknowledged cookie", {}, 3.5),
                                ("a read older than an earlier read", {2: 1}, 5.5)]:
        stale = Read(0, 1, values, start, start + 0.2, "z")
        require(name, verdict(writes, [*reads, stale], journal).stale == [stale])
    for name, value in [("a value that nobody wrote", 9), ("a value before it was written", 3), ("a refused value", 4)]:
        invented = Read(0, 1, {2: value}, 4, 5.5 if value == 3 else 20, "z")
        require(name, invented in verdict(writes, [*reads, invented], journal).invented)
    for name, positions in [("a skipped entry", [2]), ("a repeated entry", [1, 2, 2]), ("a wrong order", [2, 1]),
                            ("an entry that is gone", [1, 2, 7])]:
        follower = Follower(0, 9, [change(position) for position in positions])
        require(name, bool(verdict(writes, reads, journal, follower).journal))
    require("gaps", bool(verdict(writes, reads, journal, Follower(0, 2, [change(1), change(2)], 1)).journal))
