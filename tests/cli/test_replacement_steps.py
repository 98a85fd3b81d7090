"""KIP-853: which step follows from what is there, as a table; above all, when a voter is not removed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kraftctl.cli.quorum.majority_left import CAUGHT_UP_WITHIN_MS
from kraftctl.cli.quorum.quorum_info import QuorumInfo, QuorumReplica
from kraftctl.cli.quorum.replacement_steps import (
    SILENT_MS,
    AddVoter,
    Await,
    Done,
    FormatDirectory,
    LeaderTime,
    Refuse,
    RemoveVoter,
    Situation,
    Step,
    next_step,
)
from tests.cli.quorum_cases import LEADER_TIME_MS, directory_id

NODE = 3
OLD, NEW = directory_id(30), directory_id(31)
COMMITTED = 100


def replica(
    node_id: int, end_offset: int = COMMITTED, silent_ms: int | None = 0, directory: bytes | None = None
) -> QuorumReplica:
    """It was never caught up if its end offset is less than what was committed."""
    fetched = None if silent_ms is None else LEADER_TIME_MS - silent_ms
    caught_up = fetched if end_offset >= COMMITTED else None
    return QuorumReplica(node_id, directory or directory_id(node_id), end_offset, fetched, caught_up)


LEADER = replica(1, COMMITTED + 5)
LOST = replica(NODE, 40, SILENT_MS, OLD)
NEVER_SEEN = replica(NODE, -1, None, OLD)


def quorum(*voters: QuorumReplica, observers: tuple[QuorumReplica, ...] = ()) -> QuorumInfo:
    return QuorumInfo(1, 7, COMMITTED + 5, voters, observers, {})


def at(described: QuorumInfo, directory: bytes | None = NEW) -> Situation:
    return Situation(described, NODE, directory, COMMITTED, SILENT_MS)


@pytest.mark.parametrize(
    ("now", "step"),
    [
        pytest.param(at(quorum(LEADER, replica(2), LOST), None), FormatDirectory(), id="not-formatted"),
        pytest.param(at(quorum(LEADER, replica(2)), None), FormatDirectory(), id="removed-not-formatted"),
        pytest.param(at(quorum(LEADER, replica(2), LOST)), RemoveVoter(OLD), id="lost"),
        pytest.param(at(quorum(LEADER, replica(2), NEVER_SEEN)), RemoveVoter(OLD), id="never-seen"),
        pytest.param(at(quorum(LEADER, LOST)), RemoveVoter(OLD), id="one-of-two"),
        pytest.param(
            at(quorum(LEADER, replica(2, COMMITTED, CAUGHT_UP_WITHIN_MS - 1), LOST)),
            RemoveVoter(OLD),
            id="the-other-was-caught-up-a-moment-ago",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2), replica(4, 7, SILENT_MS), LOST)),
            RemoveVoter(OLD),
            id="two-of-the-three-others",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2), observers=(replica(NODE, COMMITTED, 0, NEW),))),
            AddVoter(NEW),
            id="caught-up",
        ),
        pytest.param(at(quorum(LEADER, replica(2), replica(NODE, COMMITTED, 0, NEW))), Done(NEW), id="done"),
        pytest.param(
            at(replace(quorum(LEADER, replica(NODE, 9, 0, NEW)), leader_id=NODE)), Done(NEW), id="leads"
        ),
    ],
)
def test_steps(now: Situation, step: Step) -> None:
    assert next_step(now) == step


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        pytest.param(
            at(quorum(LEADER, replica(2), replica(NODE, 40, SILENT_MS - 1, OLD))),
            "Controller 3 still fetches with directory id",
            id="the-old-directory-is-in-use",
        ),
        pytest.param(
            replace(at(quorum(LEADER, replica(2), NEVER_SEEN)), leader_seen_ms=SILENT_MS - 1),
            "Controller 3 has not fetched from the leader 1 yet",
            id="the-leader-was-just-elected",
        ),
        pytest.param(
            at(replace(quorum(LEADER, replica(2), LOST), leader_id=NODE)),
            "Controller 3 leads with directory id",
            id="the-old-directory-leads",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2, COMMITTED - 1), LOST)),
            "leaves the voters 1, 2, of which 2 are needed, but only 1 fetch",
            id="another-is-behind",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2, COMMITTED, CAUGHT_UP_WITHIN_MS), LOST)),
            "leaves the voters 1, 2, of which 2 are needed, but only 1 fetch",
            id="another-is-down",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2, -1, None), replica(4), replica(5, 1), LOST)),
            "leaves the voters 1, 2, 4, 5, of which 3 are needed, but only 1, 4 fetch",
            id="two-of-five-are-behind",
        ),
        pytest.param(at(quorum(LEADER, replica(2))), "until controller 3 fetches", id="not-started"),
        pytest.param(
            at(quorum(LEADER, replica(2), observers=(replica(NODE, COMMITTED, 0, OLD),))),
            "until controller 3 fetches",
            id="another-directory-fetches",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2), observers=(replica(NODE, COMMITTED, SILENT_MS, NEW),))),
            "until controller 3 fetches",
            id="stopped-again",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2), observers=(replica(NODE, COMMITTED - 1, 0, NEW),))),
            "has fetched up to offset 99 of 105",
            id="behind",
        ),
        pytest.param(
            at(quorum(LEADER, replica(2), replica(NODE, 0, 0, NEW))),
            "has fetched up to offset 0 of 105",
            id="a-voter-that-is-behind",
        ),
    ],
)
def test_waiting(now: Situation, reason: str) -> None:
    step = next_step(now)
    assert isinstance(step, Await)
    assert reason in step.reason


@pytest.mark.parametrize(
    ("now", "reason"),
    [
        pytest.param(
            at(quorum(LEADER, replica(NODE, 9, SILENT_MS, bytes(16)))), "The quorum is static", id="static"
        ),
        pytest.param(
            at(replace(quorum(LOST), leader_id=NODE)), "Controller 3 is the only voter", id="the-only-voter"
        ),
        pytest.param(
            at(replace(quorum(LOST), leader_id=NODE), None),
            "the only voter",
            id="the-only-voter-not-formatted",
        ),
    ],
)
def test_refusals(now: Situation, reason: str) -> None:
    step = next_step(now)
    assert isinstance(step, Refuse)
    assert reason in step.reason


def test_another_epoch_is_another_leader() -> None:
    time = LeaderTime()
    seventh = quorum(LEADER)
    eighth = replace(seventh, leader_epoch=8)
    times = [(seventh, 100), (seventh, 9_000), (eighth, 9_500), (eighth, 9_501)]
    assert [time.seen_ms(described, now_ms) for described, now_ms in times] == [0, 8_900, 0, 1]


def test_what_counts_as_progress() -> None:
    """The offset of a replica, not the high watermark, which rises in any case."""
    behind = next_step(at(quorum(LEADER, observers=(replica(NODE, 7, 0, NEW),))))
    later = next_step(
        replace(at(quorum(LEADER, observers=(replica(NODE, 7, 0, NEW),))), committed_offset=COMMITTED + 1)
    )
    assert isinstance(behind, Await)
    assert isinstance(later, Await)
    assert behind.mark() == later.mark() == 7
    assert Await("a").mark() != Await("b").mark()
