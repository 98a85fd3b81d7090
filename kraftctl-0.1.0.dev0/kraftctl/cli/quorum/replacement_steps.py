"""KIP-853: a voter whose directory is lost becomes a new voter; each step follows from what is there.

| # | what is there | step |
|---|---|---|
| 1 | voters without directory ids: a static quorum | refuse |
| 2 | the directory of the node is a voter's | wait until it has caught up: done |
| 3 | the node is the only voter | refuse: no other has the data |
| 4 | the directory is not formatted | format it, with a new directory id |
| 5 | the old directory of the node is a voter, and leads or still fetches | wait: it is not lost |
| | it has never fetched from this leader, who may just have been elected | wait: the same |
| 6 | the other voters have no majority that is caught up | wait: the removal could stop the quorum |
| 7 | the old directory of the node is a voter | remove it |
| 8 | the new directory does not fetch, or is behind | wait |
| 9 | otherwise | add it |

Nothing is remembered between two runs, so an interrupted replacement continues where it was. Formatting comes
before the removal: a directory that cannot be written, or the wrong properties file, costs no voter.
"""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl.cli.quorum.majority_left import why_no_majority
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl_protocol.uuids import ZERO_UUID, uuid_to_string

SILENT_MS = 10_000
"""The time is five times the default of controller.quorum.fetch.timeout.ms, within which followers fetch."""

LOST_DISK_PAGE = "docs/operations/lost-disk.md"


@dataclass(frozen=True)
class Situation:
    """The state that a step follows from; `directory_id` is None while the directory is not formatted.

    `committed_offset` is a high watermark of some time ago: a healthy replica has reached it.
    `leader_seen_ms`: for how long this leader has been seen to lead.
    """

    quorum: QuorumInfo
    node_id: int
    directory_id: bytes | None
    committed_offset: int
    leader_seen_ms: int


class LeaderTime:
    """Measures for how long the same leader has been seen."""

    def __init__(self) -> None:
        self._epoch = -1
        self._since_ms = 0

    def seen_ms(self, quorum: QuorumInfo, now_ms: int) -> int:
        """Returns 0 for the first `quorum` of its epoch. `now_ms` is monotonic."""
        if quorum.leader_epoch != self._epoch:
            self._epoch, self._since_ms = quorum.leader_epoch, now_ms
        return now_ms - self._since_ms


@dataclass(frozen=True)
class Refuse:
    reason: str


@dataclass(frozen=True)
class FormatDirectory:
    pass


@dataclass(frozen=True)
class Await:
    """Check again later. `progress` changes with any advance; None if only `reason` does."""

    reason: str
    progress: int | None = None

    def mark(self) -> int | str:
        """Returns a value that changes with any progress."""
        return self.reason if self.progress is None else self.progress


@dataclass(frozen=True)
class RemoveVoter:
    directory_id: bytes


@dataclass(frozen=True)
class AddVoter:
    directory_id: bytes


@dataclass(frozen=True)
class Done:
    directory_id: bytes


Step = Refuse | FormatDirectory | Await | RemoveVoter | AddVoter | Done


def next_step(now: Situation) -> Step:
    """Returns the first row of the table above that applies. Raises AdminError while the leader is not a
    voter.
    """
    voters, new = now.quorum.voters, now.directory_id
    old = next((voter for voter in voters if voter.replica_id == now.node_id), None)
    if any(voter.directory_id == ZERO_UUID for voter in voters):
        return Refuse(
            "The quorum is static: its voters are known by their node ids alone, so none can be replaced by"
            f" another directory. Next step: {LOST_DISK_PAGE} says what to do with a static quorum."
        )
    if old is not None and old.directory_id == new:
        return _follow(now, old) or Done(new)
    if old is not None and len(voters) == 1:
        return Refuse(
            f"Controller {now.node_id} is the only voter, so no other has its data. Next step: restore its"
            f" directory from a backup ({LOST_DISK_PAGE})."
        )
    if new is None:
        return FormatDirectory()
    if old is not None:
        return _why_not_lost(now, old) or _why_no_majority(now) or RemoveVoter(old.directory_id)
    observer = next(
        (
            observer
            for observer in now.quorum.observers
            if (observer.replica_id, observer.directory_id) == (now.node_id, new)
        ),
        None,
    )
    return _follow(now, observer) or AddVoter(new)


def _why_not_lost(now: Situation, old: QuorumReplica) -> Await | None:
    does = "leads" if old.replica_id == now.quorum.leader_id else "still fetches"
    if does == "leads" or not _is_silent(now.quorum, old):
        return Await(
            f"Controller {old.replica_id} {does} with directory id {uuid_to_string(old.directory_id)}, which"
            " is not that of the directory here: waiting until that process has stopped"
        )
    if old.last_fetch_ms is None and now.leader_seen_ms < SILENT_MS:
        return Await(
            f"Controller {old.replica_id} has not fetched from the leader {now.quorum.leader_id} yet: waiting"
            f" until it has been silent for {SILENT_MS} ms"
        )
    return None


def _why_no_majority(now: Situation) -> Await | None:
    reason = why_no_majority(now.quorum, now.node_id)
    return None if reason is None else Await(f"{reason}: waiting for more of them")


def _follow(now: Situation, replica: QuorumReplica | None) -> Await | None:
    """Returns why the new directory is not caught up; None when it is."""
    if replica is None or _is_silent(now.quorum, replica):
        return Await(
            f"Waiting until controller {now.node_id} fetches with the id of this directory: it has to be"
            " running"
        )
    if not _is_caught_up(now, replica):
        return Await(
            f"Controller {now.node_id} has fetched up to offset {replica.log_end_offset} of"
            f" {now.quorum.high_watermark}",
            progress=replica.log_end_offset,
        )
    return None


def _is_caught_up(now: Situation, replica: QuorumReplica) -> bool:
    """Returns whether it fetches, and has what had been committed some time ago. The leader has it by
    definition.
    """
    if replica.replica_id == now.quorum.leader_id:
        return True
    return not _is_silent(now.quorum, replica) and replica.log_end_offset >= now.committed_offset


def _is_silent(quorum: QuorumInfo, replica: QuorumReplica) -> bool:
    """Returns whether it is silent by the leader's clock: the leader reports its own last fetch as now."""
    leader = quorum.leader()
    if replica is leader:
        return False
    if replica.last_fetch_ms is None or leader.last_fetch_ms is None:
        return True
    return leader.last_fetch_ms - replica.last_fetch_ms >= SILENT_MS
