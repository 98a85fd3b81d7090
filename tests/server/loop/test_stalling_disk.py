"""While a disk stalls, the loop serves all connections, and no effect overtakes what is being stored.

Only one call of the operating system is made to wait; driver, storage and sockets are real.
"""

from __future__ import annotations

import asyncio
import errno
import os
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.node.events import END_OF_SNAPSHOT, LogRead, ReadLog, ReadSnapshot, SnapshotRead, WriteSnapshot
from kraftctl.raft import effects, events
from kraftctl.raft.election_state import ElectionState
from kraftctl.server.loop.turn_probe import SLOW_NS
from kraftctl.storage import recent_batches
from kraftctl.storage.errors import CorruptLogError, StorageError
from kraftctl.storage.metadata_log import MetadataLog
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.fetch_response import FetchableTopicResponse, FetchResponse, PartitionData
from kraftctl_protocol.generated.fetch_snapshot_response import (
    FetchSnapshotResponse,
    PartitionSnapshot,
    TopicSnapshot,
)
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches
from tests.server.stalling_disk import Stage, stage
from tests.storage.batches import batch
from tests.support.partitions import open_partition

SNAPSHOT_ID = OffsetAndEpoch(40, 1)


def content(records: int = 3) -> list[bytes]:
    batches = SnapshotBatches(1, 6_000)
    items = [RecordAndVersion(NoOpRecord(), 0)] * records
    return [batches.header(5_000), *batches.records(items), batches.footer()]


def append(offset: int, epoch: int = 1) -> effects.AppendBatch:
    return effects.AppendBatch(offset, offset, epoch, batch(offset, epoch), False)


def filled(tmp_path: Path, count: int, segment_bytes: int = 1 << 30) -> MetadataPartition:
    """A partition with `count` batches on disk, none of them in memory."""
    partition = open_partition(tmp_path, segment_bytes=segment_bytes)
    for offset in range(count):
        partition.log.append(batch(offset))
    partition.close()
    return open_partition(tmp_path, segment_bytes=segment_bytes)


def log_content(tmp_path: Path) -> list[bytes]:
    """What the next start finds."""
    log = MetadataLog.open(tmp_path / PARTITION_DIRECTORY)
    found = [log.read(offset, 1) for offset in range(log.start_offset, log.end_offset)]
    assert log.recovery.warnings() == []
    log.close()
    return found


def respond(request_id: int) -> effects.Respond:
    return effects.Respond(request_id, ApiVersionsResponse())


def fetch(request_id: int, read_offset: int, end_offset: int, max_bytes: int = 1) -> effects.RespondFetch:
    answer = FetchResponse(responses=[FetchableTopicResponse(partitions=[PartitionData()])])
    return effects.RespondFetch([request_id], answer, read_offset, end_offset, max_bytes)


async def paused(scene: Stage) -> None:
    """The effects and events that follow wait until the disk continues."""
    scene.play(1)
    await scene.expect_a_free_loop()
    assert "answered" not in scene.node.journal
    assert scene.node.journal.count("ResignRequested") == 1
    scene.disk.release()
    await scene.node.until("ResignRequested", 2)
    assert scene.node.journal.index("answered") < len(scene.node.journal) - 1
    assert not scene.driver.failed.done()


@pytest.mark.prevents("disk-on-the-loop")
@pytest.mark.parametrize("call", ["write", "fsync", "replace"])
async def test_a_vote_is_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    async def life() -> None:
        partition = open_partition(tmp_path)
        state = ElectionState(epoch=5, voted_id=2, data_version=1)
        async with stage(partition, monkeypatch) as scene:
            request_id = scene.request("answered")
            scene.script[0] = [effects.WriteQuorumState(state), respond(request_id)]
            scene.disk.stall(call, "quorum-state")
            scene.play(0)
            await paused(scene)
            assert scene.driver.probe.longest_wait_ns["WriteQuorumState"] > 0
        stored = partition.read_quorum_state()
        assert stored is not None
        assert (stored.epoch, stored.voted_id) == (5, 2)
        partition.close()

    await life()


@pytest.mark.prevents("disk-on-the-loop")
@pytest.mark.parametrize(
    ("call", "part_of_path"),
    [("replace", ".log"), ("unlink", ".log"), ("ftruncate", ".log"), ("fsync", ".log")],
)
async def test_the_log_is_truncated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, part_of_path: str
) -> None:
    async def life() -> None:
        partition = filled(tmp_path, 12, segment_bytes=300)
        async with stage(partition, monkeypatch) as scene:
            request_id = scene.request("answered")
            scene.script[0] = [effects.TruncateLog(2), append(2, 7), effects.FlushLog(3), respond(request_id)]
            scene.disk.stall(call, part_of_path)
            scene.play(0)
            await paused(scene)
            await scene.node.until("LogFlushed")
            assert scene.node.seen[-1].end_offset == 3
        partition.close()
        assert log_content(tmp_path) == [batch(0), batch(1), batch(2, 7)]

    await life()


async def test_the_log_is_truncated_during_a_flush(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The truncation waits for the flush; the loop waits for neither."""

    async def life() -> None:
        partition = open_partition(tmp_path)
        async with stage(partition, monkeypatch) as scene:
            request_id = scene.request("answered")
            scene.script[2] = [append(0), append(1), effects.FlushLog(2)]
            scene.script[0] = [effects.TruncateLog(1), append(1, 7), effects.FlushLog(2), respond(request_id)]
            scene.disk.stall("fsync", ".log")
            scene.play(2)
            while not scene.disk.begun.is_set():
                await asyncio.sleep(0.001)
            scene.node.journal.clear()
            scene.play(0)
            await paused(scene)
            await scene.node.until("LogFlushed", 2)
        partition.close()
        assert log_content(tmp_path) == [batch(0), batch(1, 7)]

    await life()


@pytest.mark.prevents("disk-on-the-loop")
@pytest.mark.parametrize("call", ["pwrite", "fsync", "ftruncate"])
async def test_records_are_appended_and_segments_roll(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """Nothing waits for the flush: later appends share the next one."""

    async def life() -> None:
        partition = open_partition(tmp_path, segment_bytes=300)
        async with stage(partition, monkeypatch) as scene:
            request_id = scene.request("answered")
            scene.script[0] = [*map(append, range(10)), effects.FlushLog(10), fetch(request_id, 3, 10)]
            scene.script[1] = [append(10)]
            scene.disk.stall(call, PARTITION_DIRECTORY)
            scene.play(0)
            scene.play(1)
            await scene.expect_a_free_loop()
            assert "answered" in scene.node.journal
            assert "LogFlushed" not in scene.node.journal
            scene.disk.release()
            await scene.node.until("LogFlushed")
            assert 10 <= scene.node.seen[-1].end_offset <= 11
        partition.close()
        assert log_content(tmp_path) == [batch(offset) for offset in range(11)]
        assert len(list((tmp_path / PARTITION_DIRECTORY).glob("*.log"))) == 3

    await life()


@pytest.mark.prevents("disk-on-the-loop")
@pytest.mark.parametrize("call", ["write", "pread", "fsync", "replace"])
async def test_a_download_is_saved_verified_and_takes_the_place_of_the_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    """`SnapshotDownloaded` is the very next event, before others that have arrived."""

    async def life() -> None:
        partition = filled(tmp_path, 5)
        data = b"".join(content())
        async with stage(partition, monkeypatch) as scene:
            request_id = scene.request("answered")
            scene.script[0] = [
                effects.SaveSnapshotSlice(SNAPSHOT_ID, 0, data[:50], len(data)),
                effects.SaveSnapshotSlice(SNAPSHOT_ID, 50, data[50:], len(data)),
                effects.FinishSnapshot(SNAPSHOT_ID),
                respond(request_id),
            ]
            scene.disk.stall(call, ".checkpoint.part")
            scene.play(0)
            await paused(scene)
            journal = scene.node.journal
            assert journal[journal.index("answered") + 1] == "SnapshotDownloaded"
            seen = scene.node.seen
            downloaded = next(event for event in seen if isinstance(event, events.SnapshotDownloaded))
            assert (downloaded.snapshot_id, downloaded.size_bytes) == (SNAPSHOT_ID, len(data))
        partition.close()
        assert open_partition(tmp_path).snapshots.ids() == [SNAPSHOT_ID]

    await life()


@pytest.mark.parametrize("call", ["replace", "unlink", "fsync"])
async def test_the_log_starts_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    async def life() -> None:
        partition = filled(tmp_path, 5)
        partition.write_snapshot(SNAPSHOT_ID, content())
        async with stage(partition, monkeypatch) as scene:
            request_id = scene.request("answered")
            scene.script[0] = [effects.StartOver(SNAPSHOT_ID), append(40), respond(request_id)]
            scene.disk.stall(call, PARTITION_DIRECTORY)
            scene.play(0)
            await paused(scene)
        partition.close()
        assert log_content(tmp_path) == [batch(40)]

    await life()


@pytest.mark.prevents("disk-on-the-loop")
@pytest.mark.parametrize(
    ("call", "part_of_path"),
    [("replace", ".log"), ("unlink", ".log"), ("replace", ".checkpoint"), ("unlink", ".checkpoint.deleted")],
)
async def test_retention(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, part_of_path: str
) -> None:
    """`LogStartChanged` is the very next event: before it, followers could be sent to deleted records."""

    async def life() -> None:
        partition = filled(tmp_path, 12, segment_bytes=300)
        partition.write_snapshot(OffsetAndEpoch(4, 1), content())
        written = OffsetAndEpoch(8, 1)
        async with stage(partition, monkeypatch, retention_bytes=1) as scene:
            scene.script[0] = [WriteSnapshot(written, content())]
            scene.play(0)
            scene.disk.stall(call, f"{4:020d}" if part_of_path.startswith(".check") else part_of_path)
            await scene.node.until("SnapshotCreated")
            scene.play(1)
            await scene.expect_a_free_loop()
            scene.play(1)
            assert scene.node.journal[-1] == "SnapshotCreated"
            scene.disk.release()
            await scene.node.until("ResignRequested", 3)
            assert scene.node.journal[2:] == ["LogStartChanged", "ResignRequested", "ResignRequested"]
            assert partition.log.start_offset == 8
            assert partition.snapshots.ids() == [written]
        partition.close()

    await life()


async def test_records_that_are_not_in_memory_are_read_off_the_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing waits for a replica that is far behind, and it gets its records."""

    async def life() -> None:
        partition = filled(tmp_path, 20)
        async with stage(partition, monkeypatch) as scene:
            far, near = scene.request("far"), scene.request("near")
            answer = fetch(far, 3, 6, max_bytes=10_000)
            scene.script[0] = [answer, append(20), fetch(near, 20, 21)]
            scene.disk.stall("pread", ".log")
            scene.play(0)
            await scene.expect_a_free_loop()
            scene.play(1)
            assert scene.node.journal == ["ResignRequested", "near", "ResignRequested"]
            scene.disk.release()
            await scene.node.until("far")
            records = answer.response.responses[0].partitions[0].records
            assert records == batch(3) + batch(4) + batch(5)
        partition.close()

    await life()


async def test_records_requested_before_a_truncation_are_read_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A replica that is far behind is answered from the log as it was when the response was decided."""

    async def life() -> None:
        partition = filled(tmp_path, 20)
        partition.write_snapshot(SNAPSHOT_ID, content())
        async with stage(partition, monkeypatch) as scene:
            answer = fetch(scene.request("far"), 3, 20)
            slice_ = FetchSnapshotResponse(topics=[TopicSnapshot(partitions=[PartitionSnapshot()])])
            scene.script[0] = [
                answer,
                effects.RespondFetchSnapshot(scene.request("slice"), slice_, SNAPSHOT_ID, 7, 9),
                ReadLog(2, 6, 10_000),
                ReadSnapshot(SNAPSHOT_ID, 0, 10_000),
                effects.TruncateLog(3),
                append(3, 8),
                respond(scene.request("answered")),
            ]
            scene.disk.stall("pread", ".log")
            scene.play(0)
            await paused(scene)
            await scene.node.until("LogRead")
            await scene.node.until("SnapshotRead")
            assert answer.response.responses[0].partitions[0].records == batch(3)
            assert slice_.topics[0].partitions[0].unaligned_records == b"".join(content())[7:16]
            read = next(event for event in scene.node.seen if isinstance(event, SnapshotRead))
            assert read.data == b"".join(content())
            assert read.next_position == END_OF_SNAPSHOT
        partition.close()
        assert log_content(tmp_path) == [batch(0), batch(1), batch(2), batch(3, 8)]

    await life()


async def test_a_log_is_read_up_to_where_it_was_committed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Later records may have been replaced when the response arrives."""

    async def life() -> None:
        for recent_bytes_max in (0, 1 << 20):
            monkeypatch.setattr(recent_batches, "RECENT_BYTES_MAX", recent_bytes_max)
            partition = open_partition(tmp_path / str(recent_bytes_max))
            async with stage(partition, monkeypatch) as scene:
                scene.script[0] = [*map(append, range(9)), effects.FlushLog(9)]
                scene.script[1] = [ReadLog(2, 6, 10_000)]
                scene.play(0)
                await scene.node.until("LogFlushed")
                scene.play(1)
                await scene.node.until("LogRead")
                read = scene.node.seen[-1]
                assert isinstance(read, LogRead)
                assert [one.header.base_offset for one in read_batches(read.data)] == [2, 3, 4, 5]
            partition.close()

    await life()


async def test_no_effect_follows_one_that_was_not_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def life() -> None:
        partition = open_partition(tmp_path)
        async with stage(partition, monkeypatch) as scene:
            state = effects.WriteQuorumState(ElectionState(epoch=5, data_version=1))
            scene.script[0] = [state, append(0), respond(scene.request("answered"))]

            def fail(*_: object) -> None:
                raise OSError(errno.EIO, "Input/output error")

            with monkeypatch.context() as patch:
                patch.setattr(os, "fsync", fail)
                scene.play(0)
                scene.play(1)
                with pytest.raises((OSError, StorageError), match="Input/output"):
                    await scene.driver.failed
            assert scene.node.journal == ["ResignRequested"]
            assert partition.log.end_offset == 0
        partition.close()

    await life()


async def test_a_flush_that_fails_while_something_is_stored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The effects after the stored one are not carried out any more."""

    async def life() -> None:
        partition = open_partition(tmp_path)
        async with stage(partition, monkeypatch) as scene:
            state = effects.WriteQuorumState(ElectionState(epoch=5, data_version=1))
            scene.script[0] = [append(0), effects.FlushLog(1), state, respond(scene.request("answered"))]
            scene.disk.stall("fsync", "quorum-state")
            fdatasync = os.fdatasync

            def fail(descriptor: int) -> None:
                if os.readlink(f"/proc/self/fd/{descriptor}").endswith(".log"):
                    raise OSError(errno.EIO, "Input/output error")
                fdatasync(descriptor)

            monkeypatch.setattr(os, "fdatasync", fail)
            scene.play(0)
            with pytest.raises(StorageError, match="Input/output"):
                await scene.driver.failed
            scene.disk.release()
        assert scene.node.journal == ["ResignRequested"]
        partition.close()

    await life()


async def test_stopping_waits_for_what_is_being_stored_and_begins_nothing_new(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A vote that was not stored is never answered, not even while the controller stops."""

    async def life() -> None:
        partition = open_partition(tmp_path)
        async with stage(partition, monkeypatch) as scene:
            votes = [effects.WriteQuorumState(ElectionState(epoch=at, data_version=1)) for at in (5, 6)]
            scene.script[0] = [
                votes[0],
                respond(scene.request("first")),
                votes[1],
                respond(scene.request("second")),
            ]
            scene.disk.stall("fsync", "quorum-state")
            monkeypatch.setattr("kraftctl.server.driver.RESIGNATION_SECONDS_MAX", 0.01)
            scene.play(0)
            stopping = asyncio.ensure_future(scene.driver.stop())
            await scene.expect_a_free_loop()
            assert not stopping.done()
            scene.disk.release()
            await stopping
            assert [what for what in scene.node.journal if what in ("first", "second")] == ["first"]
            assert not scene.driver.failed.done()
        stored = partition.read_quorum_state()
        assert stored is not None
        assert stored.epoch == 5
        partition.close()

    await life()


@pytest.mark.prevents("endless-requests")
@pytest.mark.parametrize("damage", ["flipped", "unreadable"])
async def test_a_node_that_cannot_read_its_own_log_resigns_and_then_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: str
) -> None:
    async def life() -> None:
        partition = filled(tmp_path, 20)
        path = tmp_path / PARTITION_DIRECTORY / f"{0:020d}.log"
        async with stage(partition, monkeypatch) as scene:
            scene.script[0] = [fetch(scene.request("answered"), 3, 20)]
            if damage == "flipped":
                data = bytearray(path.read_bytes())
                data[len(batch(0)) * 3 + 65] ^= 1
                path.write_bytes(data)
            else:

                def fail(*_: object) -> bytes:
                    raise OSError(errno.EIO, "Input/output error")

                monkeypatch.setattr(os, "pread", fail)
            scene.play(0)
            expected = CorruptLogError if damage == "flipped" else StorageError
            with pytest.raises(expected, match=r"0\.log.*Next step"):
                await scene.driver.failed
            assert scene.node.journal == ["ResignRequested", "ShutdownRequested"]
        partition.close()

    await life()


@pytest.mark.prevents("disk-on-the-loop")
async def test_a_long_turn_is_measured_and_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    async def life() -> None:
        partition = open_partition(tmp_path)
        async with stage(partition, monkeypatch) as scene:
            probe = scene.driver.probe
            while probe.longest_turn == "":  # a turn of a few microseconds is not measured
                scene.play(0)
                await asyncio.sleep(0.001)
            assert probe.longest_turn == events.ResignRequested.__name__
            assert 0 < probe.longest_turn_ns < 1e9
            probe.note(SLOW_NS, events.ResignRequested(0))
            probe.note(2_000_000_000, effects.TruncateLog(1))
            assert (probe.longest_turn, probe.longest_turn_ns) == ("TruncateLog", 2_000_000_000)
        partition.close()

    await life()
    lines = [line for line in caplog.messages if "event loop was blocked" in line]
    assert lines == ["The event loop was blocked by TruncateLog for 2000 ms"]
