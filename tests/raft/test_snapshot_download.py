"""A snapshot is downloaded in slices; one that is missing does not end the download."""

from __future__ import annotations

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
