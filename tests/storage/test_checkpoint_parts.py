"""A checkpoint that is read in parts: the parts are the file, and each is checked when it is read."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.node.events import END_OF_SNAPSHOT, SnapshotRead
from kraftctl.storage.checkpoint_parts import CheckpointParts
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batches
from tests.support.partitions import open_partition

JAVA_SNAPSHOT = (
    Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "00000000000000001643-0000000001.checkpoint"
)
SNAPSHOT_ID = OffsetAndEpoch(20, 1)
LATER_ID = OffsetAndEpoch(30, 1)


def content(batches: int = 10) -> list[bytes]:
    encoder = SnapshotBatches(1, 6_000)
    records = [RecordAndVersion(NoOpRecord(), 0)] * 5
    header = encoder.header(5_000)
    data = [batch for _ in range(batches) for batch in encoder.records(records)]
    return [header, *data, encoder.footer()]


def written(directory: Path, batches: list[bytes]) -> Path:
    path = directory / "a.checkpoint"
    path.write_bytes(b"".join(batches))
    return path


def parts_of(path: Path, bytes_max: int) -> list[bytes]:
    parts = CheckpointParts(path)
    found: list[bytes] = []
    following: int | None = 0
    while following is not None:
        assert parts.position == following
        data, following = parts.read_next(bytes_max)
        found.append(data)
        assert following in (None, len(b"".join(found)))
    return found


@pytest.mark.parametrize("bytes_max", [1, 300, 10_000])
def test_parts_are_whole_batches_and_together_the_file(tmp_path: Path, bytes_max: int) -> None:
    path = tmp_path / "java.checkpoint"
    shutil.copy(JAVA_SNAPSHOT, path)
    for file in (written(tmp_path, content()), path):
        parts = parts_of(file, bytes_max)
        assert b"".join(parts) == file.read_bytes()
        for part in parts:
            assert len(part) <= bytes_max or len(read_batches(part)) == 1


def damaged(batches: list[bytes]) -> list[bytes]:
    """A byte of the sixth batch is another."""
    broken = bytearray(batches[5])
    broken[-3] ^= 1
    return [*batches[:5], bytes(broken), *batches[6:]]


def without_header() -> list[bytes]:
    encoder = SnapshotBatches(1, 6_000)
    return [*encoder.records([RecordAndVersion(NoOpRecord(), 0)]), encoder.footer()]


@pytest.mark.parametrize(
    ("batches", "error"),
    [
        pytest.param(content()[:-1], "does not end with a SnapshotFooter", id="no-footer"),
        pytest.param([*content()[:6], content()[6][:-1]], "is cut short", id="torn"),
        pytest.param(damaged(content()), "checksum", id="damaged"),
        pytest.param([*content()[:4], *content()[5:]], "offset 16 was expected", id="batch-missing"),
        pytest.param(without_header(), "does not begin with a SnapshotHeader", id="no-header"),
        pytest.param([*content(), content()[3]], "was expected", id="something-after-the-footer"),
    ],
)
@pytest.mark.parametrize("bytes_max", [1, 400, 1 << 20])
def test_damage_is_found_by_the_last_part_at_the_latest(
    tmp_path: Path, batches: list[bytes], error: str, bytes_max: int
) -> None:
    """What was read before it is good; the load that uses it never ends."""
    with pytest.raises(StorageError, match=error):
        parts_of(written(tmp_path, batches), bytes_max)


def test_a_checkpoint_that_is_deleted_is_read_to_its_end(tmp_path: Path) -> None:
    """Retention may delete it while it is loaded."""
    path = written(tmp_path, content())
    whole = path.read_bytes()
    parts = CheckpointParts(path)
    first = parts.read_next(400)
    path.unlink()
    rest = parts.read_next(1 << 20)
    assert first.data + rest.data == whole


def test_another_snapshot_may_be_begun_at_any_time(tmp_path: Path) -> None:
    """A newer one was downloaded while the first was read."""
    partition = open_partition(tmp_path)
    partition.write_snapshot(SNAPSHOT_ID, content(10))
    partition.write_snapshot(LATER_ID, content(11))
    begun = partition.read_snapshot_part(SNAPSHOT_ID, 0, 400)
    other = partition.read_snapshot_part(LATER_ID, 0, 1 << 20)
    assert other == SnapshotRead(LATER_ID, 0, b"".join(content(11)), END_OF_SNAPSHOT)
    again = partition.read_snapshot_part(SNAPSHOT_ID, 0, 400)
    assert again == begun
    with pytest.raises(AssertionError, match="the next part of"):
        partition.read_snapshot_part(SNAPSHOT_ID, begun.next_position + 1, 400)
    partition.close()
