"""A downloaded snapshot is read back before it is used: a damaged one never gets its final name."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.server.process.snapshot_downloads import SnapshotDownloads
from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.corrupt_directory import Snapshot, voters_record

SNAPSHOT_ID = OffsetAndEpoch(5, 3)

RECORD = encode_metadata_record(NoOpRecord(), 0)


def snapshot() -> bytes:
    content = SnapshotBatches(SNAPSHOT_ID.epoch, 0)
    return content.header(0) + content.footer()


def content(*parts: Callable[[Snapshot], bytes]) -> bytes:
    batches = Snapshot(SNAPSHOT_ID.epoch)
    return b"".join(part(batches) for part in parts)


@pytest.mark.prevents("corrupt-content")
@pytest.mark.parametrize(
    "data",
    [
        pytest.param(content(Snapshot.footer, Snapshot.header), id="footer-first"),
        pytest.param(content(Snapshot.header, Snapshot.footer, Snapshot.footer), id="two-footers"),
        pytest.param(content(Snapshot.header, Snapshot.header, Snapshot.footer), id="two-headers"),
        pytest.param(
            content(lambda batches: batches.header(1, voters_record(1, 1)), Snapshot.footer), id="voter-twice"
        ),
        pytest.param(content(lambda batches: batches.header(1), Snapshot.footer), id="kraft.version-alone"),
        pytest.param(
            content(lambda batches: batches.header(99, voters_record(1)), Snapshot.footer),
            id="kraft.version-99",
        ),
        pytest.param(
            content(Snapshot.header, lambda batches: batches.records(b"\x01\x02"), Snapshot.footer),
            id="record-cut",
        ),
    ],
)
def test_corrupt_content_is_deleted_as_damage_is(tmp_path: Path, data: bytes) -> None:
    """All of it has valid checksums. It would take the place of the log."""
    store = SnapshotStore.open(tmp_path)
    downloads = SnapshotDownloads(store)
    downloads.save(SNAPSHOT_ID, 0, data)
    assert downloads.finish(SNAPSHOT_ID).size_bytes == 0
    assert SnapshotStore.open(tmp_path).ids() == []


@pytest.mark.parametrize("is_damaged", [False, True], ids=["whole", "damaged"])
def test_a_damaged_download_is_deleted(tmp_path: Path, is_damaged: bool) -> None:
    data = snapshot()
    if is_damaged:
        data = data[:-1] + bytes([data[-1] ^ 1])
    store = SnapshotStore.open(tmp_path)
    downloads = SnapshotDownloads(store)
    middle = len(data) // 2
    downloads.save(SNAPSHOT_ID, 0, data[:middle])
    downloads.save(SNAPSHOT_ID, middle, data[middle:])
    downloaded = downloads.finish(SNAPSHOT_ID)
    assert downloaded.size_bytes == (0 if is_damaged else len(data))
    assert SnapshotStore.open(tmp_path).ids() == ([] if is_damaged else [SNAPSHOT_ID])


def test_records_are_decoded_while_they_come_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the end, the node waits for this: it only compares checksums then."""
    store = SnapshotStore.open(tmp_path)
    downloads = SnapshotDownloads(store)
    data = content(Snapshot.header, lambda batches: batches.records(RECORD), Snapshot.footer)
    for position in range(0, len(data), 50):
        downloads.save(SNAPSHOT_ID, position, data[position : position + 50])

    def not_again(reader: CheckpointReader) -> Iterator[RecordAndVersion]:
        raise AssertionError("all records are decoded")

    monkeypatch.setattr(CheckpointReader, "records", not_again)
    assert downloads.finish(SNAPSHOT_ID).size_bytes == len(data)


@pytest.mark.parametrize("size_bytes", [1 << 62, (1 << 63) - 1])
def test_a_snapshot_that_does_not_fit_is_not_begun(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, size_bytes: int
) -> None:
    """A leader announces any size, and sends for as long as it is asked."""
    data = snapshot()
    downloads = SnapshotDownloads(SnapshotStore.open(tmp_path))
    refused = downloads.save(SNAPSHOT_ID, 0, data[:10], size_bytes)
    assert refused is not None
    assert (refused.snapshot_id, refused.size_bytes) == (SNAPSHOT_ID, 0)
    assert downloads.save(SNAPSHOT_ID, 10, data[10:], size_bytes) is None
    assert downloads.finish(SNAPSHOT_ID).size_bytes == 0
    assert list(tmp_path.iterdir()) == []
    assert f"of {size_bytes} bytes, and {tmp_path} has room for" in caplog.text
    assert downloads.save(SNAPSHOT_ID, 0, data, len(data)) is None
    assert downloads.finish(SNAPSHOT_ID).size_bytes == len(data)


def disk(free_bytes: int | None) -> os.statvfs_result:
    if free_bytes is None:
        raise OSError("no response")
    return os.statvfs_result((1, 1, 0, 0, free_bytes, 0, 0, 0, 0, 255))


def test_the_room_of_a_small_disk_is_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = snapshot()
    store = SnapshotStore.open(tmp_path)
    for free_bytes, fits in ((len(data) * 2, True), (len(data), False), (None, True)):
        downloads = SnapshotDownloads(store)
        monkeypatch.setattr(os, "statvfs", lambda path, free_bytes=free_bytes: disk(free_bytes))
        assert (downloads.save(SNAPSHOT_ID, 0, data, len(data)) is None) == fits
        downloads.abort()
