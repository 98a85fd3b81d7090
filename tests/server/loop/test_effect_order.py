"""Effects are carried out in the order in which the node emits them: durable before visible."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.node.events import ClientRequest, LogRead, ReadLog
from kraftctl.raft import effects, events
from kraftctl.raft.election_state import ElectionState
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.recovery_point import RecoveryPoint, read_recovery_point
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.server.drivers import driver_of
from tests.server.stalling_disk import CONTEXT
from tests.storage.batches import batch
from tests.support.partitions import DIRECTORY_ID, open_partition


class Voter:
    """A node that grants every vote, and writes that before it answers."""

    next_deadline_ms = None
    may_stop = True

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        if not isinstance(event, ClientRequest):
            return []
        vote = ElectionState(epoch=5, voted_id=2)
        return [effects.WriteQuorumState(vote), effects.Respond(event.request_id, VoteResponse())]


@pytest.mark.prevents("tests-that-cannot-fail")
async def test_a_vote_is_on_disk_when_its_answer_leaves(tmp_path: Path) -> None:
    """ElectionSafety: otherwise a crash between the two lets this voter vote again."""
    partition = open_partition(tmp_path)
    node: Any = Voter()
    driver = driver_of(node, partition)
    on_disk: asyncio.Future[ElectionState | None] = asyncio.get_running_loop().create_future()
    driver.requests.submit(
        CONTEXT, VoteRequest(), lambda response: on_disk.set_result(partition.read_quorum_state())
    )
    async with asyncio.timeout(20):
        state = await on_disk
    await driver.stop()
    partition.close()
    assert state is not None
    assert (state.epoch, state.voted_id) == (5, 2)


class Recovered:
    """A node that notes the end of its recovery, then votes."""

    next_deadline_ms = None
    may_stop = True

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        if not isinstance(event, ClientRequest):
            return []
        return [effects.NoteRecovered(), effects.Respond(event.request_id, VoteResponse())]


async def test_the_end_of_a_recovery_is_on_disk_before_a_vote_leaves(tmp_path: Path) -> None:
    """Otherwise a restart recovers again, and the vote is forgotten."""
    partition = open_partition(tmp_path)
    partition.recovery_point.begin(RecoveryPoint(DIRECTORY_ID, quorum_epoch=5, recovering=True))
    node: Any = Recovered()
    driver = driver_of(node, partition)
    on_disk: asyncio.Future[RecoveryPoint | None] = asyncio.get_running_loop().create_future()
    driver.requests.submit(
        CONTEXT, VoteRequest(), lambda response: on_disk.set_result(read_recovery_point(tmp_path))
    )
    async with asyncio.timeout(20):
        point = await on_disk
    await driver.stop()
    partition.close()
    assert point is not None
    assert not point.recovering


class Loading:
    """A node that reads its log just before a snapshot replaces it."""

    next_deadline_ms = None
    may_stop = True

    def __init__(self) -> None:
        self.read: list[LogRead] = []

    def step(self, event: object, now_ms: int, wall_ms: int) -> list[object]:
        if isinstance(event, events.Started):
            return [ReadLog(0, 5, 1_000), effects.StartOver(OffsetAndEpoch(10, 1))]
        if isinstance(event, LogRead):
            self.read.append(event)
        return []


@pytest.mark.prevents("refused-without-reason")
async def test_a_log_is_not_read_while_it_is_cut(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start of the log may move between the check of an offset and the read."""
    may_cut, is_cut = threading.Event(), threading.Event()
    read_recent, start_over_at = MetadataLog.read_recent, MetadataPartition.start_over_at

    def start_over_late(partition: MetadataPartition, snapshot_id: OffsetAndEpoch) -> None:
        assert may_cut.wait(20)
        start_over_at(partition, snapshot_id)
        is_cut.set()

    def read_late(log: MetadataLog, offset: int, max_bytes: int, end_offset: int) -> bytes | None:
        may_cut.set()
        assert is_cut.wait(20)
        return read_recent(log, offset, max_bytes, end_offset)

    partition = open_partition(tmp_path)
    for offset in range(5):
        partition.log.append(batch(offset))
    content = SnapshotBatches(1, 0)
    partition.write_snapshot(OffsetAndEpoch(10, 1), [content.header(0), content.footer()])
    monkeypatch.setattr(MetadataPartition, "start_over_at", start_over_late)
    monkeypatch.setattr(MetadataLog, "read_recent", read_late)
    node: Any = Loading()
    driver = driver_of(node, partition)
    driver.start()
    for _ in range(5):
        await asyncio.sleep(0)
    may_cut.set()
    async with asyncio.timeout(20):
        while not node.read and not driver.failed.done():
            await asyncio.sleep(0)
    await driver.stop()
    partition.close()
    assert not driver.failed.done(), driver.failed.exception()
    assert [event.data for event in node.read] == [b""]
