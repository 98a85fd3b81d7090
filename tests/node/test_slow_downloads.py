"""KIP-630: a snapshot is there as long as a replica fetches it, however many newer ones appear."""

from __future__ import annotations

from kraftctl.raft.events import DeadlineReached
from kraftctl.server.loop.snapshot_reads import READING_MS
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.fetch_snapshot_request import (
    FetchSnapshotRequest,
    PartitionSnapshot,
    SnapshotId,
    TopicSnapshot,
)
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.simulator.cluster.lone_node import LoneNode

PAUSE_MS = READING_MS // 2


class Observer:
    """Fetches one snapshot, a few bytes with each request."""

    def __init__(self, node: LoneNode, snapshot_id: OffsetAndEpoch) -> None:
        self._node = node
        self._id = snapshot_id
        self.data = b""

    def fetch(self, max_bytes: int) -> Errors:
        wanted = PartitionSnapshot(
            partition=0,
            current_leader_epoch=self._node.raft.epoch,
            snapshot_id=SnapshotId(end_offset=self._id.offset, epoch=self._id.epoch),
            position=len(self.data),
        )
        request = FetchSnapshotRequest(
            cluster_id=None,
            replica_id=-1,
            max_bytes=max_bytes,
            topics=[TopicSnapshot(name=METADATA_TOPIC, partitions=[wanted])],
        )
        answer = self._node.ask(request, FetchSnapshotResponse).topics[0].partitions[0]
        self.data += answer.unaligned_records or b""
        return Errors(answer.error_code)


def write_snapshot(node: LoneNode) -> OffsetAndEpoch:
    """Change something, and wait until there is a snapshot of it."""
    before = node.snapshot_ids()
    node.write(ConfigRecord(resource_type=4, resource_name="", name="k", value=str(node.raft.end_offset)))
    node.settle()
    node.process.make_snapshot_due()
    node.offer(DeadlineReached())
    node.run_for(0)
    (written,) = set(node.snapshot_ids()) - set(before)
    return written


def small_retention() -> LoneNode:
    node = LoneNode(metadata_max_retention_bytes="1")
    node.settle()
    return node


def test_a_slow_download_is_completed_while_newer_snapshots_appear() -> None:
    node = small_retention()
    first = write_snapshot(node)
    observer = Observer(node, first)
    assert observer.fetch(100) == Errors.NONE
    for _ in range(3):
        node.pass_time(PAUSE_MS)
        newest = write_snapshot(node)
        assert node.snapshot_ids() == [first, newest]
        assert node.raft.log_start_offset <= first.offset
        assert observer.fetch(10) == Errors.NONE
    assert node.raft.log_start_offset == first.offset
    assert observer.fetch(1 << 20) == Errors.NONE
    with node.attached():
        path = node.process.partition.snapshots.path(first)
        assert observer.data == node.process.disk.content(path)


def test_when_it_is_no_longer_fetched_it_is_deleted() -> None:
    node = small_retention()
    first = write_snapshot(node)
    observer = Observer(node, first)
    assert observer.fetch(100) == Errors.NONE
    second = write_snapshot(node)
    assert node.snapshot_ids() == [first, second]
    node.pass_time(2 * READING_MS + 1)
    assert node.snapshot_ids() == [second]
    assert node.raft.log_start_offset == second.offset
    assert observer.fetch(100) == Errors.SNAPSHOT_NOT_FOUND


def test_a_snapshot_between_the_fetched_and_the_newest_one_is_not_served_any_more() -> None:
    node = small_retention()
    first = write_snapshot(node)
    assert Observer(node, first).fetch(100) == Errors.NONE
    second = write_snapshot(node)
    between = Observer(node, second)
    assert between.fetch(100) == Errors.NONE
    third = write_snapshot(node)
    assert node.snapshot_ids() == [first, third]
    assert between.fetch(100) == Errors.SNAPSHOT_NOT_FOUND
    assert node.raft.latest_snapshot_id == third


def test_without_a_download_only_the_newest_is_kept() -> None:
    node = small_retention()
    for _ in range(3):
        newest = write_snapshot(node)
        assert node.snapshot_ids() == [newest]
    assert node.raft.log_start_offset == newest.offset
