"""A snapshot is downloaded in slices; one that is missing does not end the download."""

from __future__ import annotations

import random

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.message import Message
from tests.support.simulator.quorum import StartQuorum


def test_an_empty_slice_is_fetched_again(start_quorum: StartQuorum) -> None:
    """A leader that is busy with its files answers so; the slices before it are kept."""
    quorum = start_quorum(24, [1, 2])
    leader = quorum.led()
    behind = quorum.follower_behind_a_snapshot()
    positions: list[int] = []

    def empty_the_third(response: Message) -> None:
        if isinstance(response, FetchSnapshotResponse):
            partition = response.topics[0].partitions[0]
            positions.append(partition.position)
            if len(positions) == 3:
                partition.unaligned_records = b""

    behind.forge = empty_the_third
    behind.start()
    quorum.run_for(20_000)
    assert len(positions) > 4
    assert positions.count(0) == 1
    assert positions[2] == positions[3] > 0
    assert behind.raft.end_offset == leader.raft.end_offset


def test_a_download_that_takes_long_to_finish_is_no_silence_of_the_leader(start_quorum: StartQuorum) -> None:
    """It is forced to the disk for longer than the fetch timeout, and the leader is not asked meanwhile."""
    quorum = start_quorum(25, [1, 2, 3])
    leader = quorum.led()
    behind = quorum.followers()[0]
    quorum.crash(behind)
    for _ in range(5):
        quorum.append(leader, 400)
        quorum.run_for(100)
    quorum.take_snapshot(leader)
    since = len(quorum.trace)

    def slow_to_finish(_: random.Random) -> int:
        return 3_000_000 if quorum.lines(behind.node_id)[-1].startswith("finish ") else 100

    behind.start()
    behind.set_speed(slow_to_finish)
    quorum.run_for(20_000)
    lines = quorum.lines(behind.node_id, since)
    assert [line for line in lines if line.startswith("finish ")]
    assert not [line for line in lines if "Prospective" in line]
    assert behind.raft.end_offset == leader.raft.end_offset


@pytest.mark.parametrize("kind", ["grows", "shrinks", "is-exceeded", "is-nothing"])
def test_a_snapshot_has_the_size_that_was_announced(start_quorum: StartQuorum, kind: str) -> None:
    """What a leader says later does not make a download longer, until the disk is full."""
    quorum = start_quorum(26, [1, 2])
    leader = quorum.led()
    behind = quorum.follower_behind_a_snapshot()
    forged: list[int] = []

    def change_the_size(response: Message) -> None:
        if not isinstance(response, FetchSnapshotResponse) or len(forged) >= 4:
            return
        partition = response.topics[0].partitions[0]
        forged.append(partition.position)
        if kind == "grows" and partition.position > 0:
            partition.size = 1 << 62
        elif kind == "shrinks" and partition.position > 0:
            partition.size -= 1
        elif kind == "is-exceeded":
            partition.size = partition.position + 1
        elif kind == "is-nothing":
            partition.size = 0

    since = len(quorum.trace)
    behind.forge = change_the_size
    behind.start()
    quorum.run_for(20_000)
    lines = quorum.lines(behind.node_id, since)
    assert any("ERROR Expected " in line for line in lines)
    assert forged.count(0) > 1, "the download begins again"
    assert behind.raft.end_offset == leader.raft.end_offset


def test_what_a_leader_says_of_snapshots_makes_few_lines(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(27, [1, 2])
    quorum.led()
    behind = quorum.follower_behind_a_snapshot()
    answers: list[int] = []

    def name_another_each_time(response: Message) -> None:
        if isinstance(response, FetchSnapshotResponse):
            answers.append(1)
            response.topics[0].partitions[0].error_code = Errors.SNAPSHOT_NOT_FOUND if len(answers) % 2 else 0

    since = len(quorum.trace)
    behind.forge = name_another_each_time
    behind.start()
    quorum.run_for(9_000)
    lines = [line for line in quorum.lines(behind.node_id, since) if line.startswith(("INFO ", "ERROR "))]
    assert len([line for line in lines if "snapshot" in line.lower()]) <= 21
