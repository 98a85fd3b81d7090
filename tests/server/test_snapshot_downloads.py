"""A downloaded snapshot is read back before it is used: a damaged one never gets its final name."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.server.snapshot_downloads import SnapshotDownloads
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch

SNAPSHOT_ID = OffsetAndEpoch(5, 3)


def snapshot() -> bytes:
    content = SnapshotBatches(SNAPSHOT_ID.epoch, 0)
    return content.header(0) + content.footer()


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
