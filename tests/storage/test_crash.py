"""Cut the log at every byte, flip every byte: a torn tail is cut, everything else is refused."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kraftctl.storage.errors import CorruptLogError, StorageError
from kraftctl.storage.metadata_log import MetadataLog
from tests.storage.batches import batch

BATCHES = [batch(0, count=2), batch(2), batch(3, epoch=2, count=3), batch(6, epoch=2)]
BASE_OFFSETS = [0, 2, 3, 6, 7]
LOG_FILE = "00000000000000000000.log"


def _log_file(directory: Path, content: bytes) -> Path:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir()
    path = directory / LOG_FILE
    path.write_bytes(content)
    return path


def test_cut_at_every_byte(tmp_path: Path) -> None:
    whole = b"".join(BATCHES)
    starts = [sum(map(len, BATCHES[:count])) for count in range(len(BATCHES) + 1)]
    for length in range(len(whole) + 1):
        path = _log_file(tmp_path / "log", whole[:length])
        log = MetadataLog.open(path.parent)
        kept = max(count for count in range(len(starts)) if starts[count] <= length)
        assert log.end_offset == log.durable_end_offset == BASE_OFFSETS[kept]
        assert path.stat().st_size == starts[kept]
        cut = log.recovery.cut_tail
        assert (cut is None) == (length == starts[kept])
        if cut is not None:
            assert (cut.file, cut.position, cut.lost_bytes) == (
                str(path),
                starts[kept],
                length - starts[kept],
            )
        log.append(batch(log.end_offset, epoch=2))
        log.close()
        assert MetadataLog.open(path.parent).recovery.warnings() == []


def test_flip_every_byte(tmp_path: Path) -> None:
    """Whatever is flipped: the start is refused, or exactly the last batch is cut and the loss is reported.

    The epoch of the last batch lies outside the checksum; it may only be read as a *later* epoch.
    """
    whole = b"".join(BATCHES)
    last_start = len(whole) - len(BATCHES[-1])
    for position in range(len(whole)):
        damaged = bytearray(whole)
        damaged[position] ^= 0x41
        path = _log_file(tmp_path / "log", bytes(damaged))
        log = _open_or_refusal(path.parent)
        if isinstance(log, CorruptLogError):
            assert log.file == str(path)
            assert "Next step" in str(log)
            assert path.read_bytes() == bytes(damaged), "a refused file must stay as it was"
            continue
        if log.recovery.cut_tail is None:
            assert _is_epoch_byte(position), position
        else:
            assert position >= last_start
            assert (log.end_offset, log.recovery.cut_tail.position) == (6, last_start)
        log.close()


def _open_or_refusal(directory: Path) -> MetadataLog | CorruptLogError:
    try:
        return MetadataLog.open(directory)
    except CorruptLogError as error:
        return error


def _is_epoch_byte(position: int) -> bool:
    start = 0
    for data in BATCHES:
        if start + 12 <= position < start + 16:
            return True
        start += len(data)
    return False


@pytest.mark.parametrize(
    "garbage", [bytes(5000), b"\xff" * 5000, b"\x02" * 5000], ids=["zeros", "ones", "twos"]
)
def test_garbage_at_the_end_is_cut(tmp_path: Path, garbage: bytes) -> None:
    path = _log_file(tmp_path / "log", b"".join(BATCHES) + garbage)
    log = MetadataLog.open(path.parent)
    assert log.end_offset == 7
    assert log.recovery.cut_tail is not None
    assert log.recovery.cut_tail.lost_bytes == 5000


def test_zeros_in_the_middle_are_refused(tmp_path: Path) -> None:
    content = BATCHES[0] + bytes(len(BATCHES[1])) + b"".join(BATCHES[2:])
    path = _log_file(tmp_path / "log", content)
    with pytest.raises(CorruptLogError) as caught:
        MetadataLog.open(path.parent)
    assert (caught.value.position, caught.value.offset) == (len(BATCHES[0]), 2)


def _three_segments(directory: Path) -> list[Path]:
    log = MetadataLog.open(directory, segment_bytes=300)
    for offset in range(12):
        log.append(batch(offset))
    log.close()
    paths = sorted(directory.glob("*.log"))
    assert len(paths) == 3
    return paths


def test_torn_roll_is_cut_with_the_empty_segment_behind_it(tmp_path: Path) -> None:
    paths = _three_segments(tmp_path)
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    paths[2].write_bytes(b"")
    log = MetadataLog.open(tmp_path)
    assert (log.end_offset, log.recovery.removed_files) == (7, [str(paths[2])])
    assert sorted(tmp_path.glob("*.log")) == paths[:2]


def test_damage_before_a_filled_segment_is_refused(tmp_path: Path) -> None:
    paths = _three_segments(tmp_path)
    paths[1].write_bytes(paths[1].read_bytes()[:-1])
    with pytest.raises(CorruptLogError, match=paths[1].name):
        MetadataLog.open(tmp_path)


def test_missing_segment_is_refused(tmp_path: Path) -> None:
    paths = _three_segments(tmp_path)
    paths[1].unlink()
    with pytest.raises(StorageError, match="a segment is missing"):
        MetadataLog.open(tmp_path)


def test_missing_first_segment_is_the_start_of_the_log(tmp_path: Path) -> None:
    """Kafka deletes whole segments below a snapshot; whether one covers them is for the snapshots to say."""
    paths = _three_segments(tmp_path)
    paths[0].unlink()
    assert MetadataLog.open(tmp_path).start_offset == 4


def test_interrupted_deletion_is_finished(tmp_path: Path) -> None:
    paths = _three_segments(tmp_path)
    paths[0].rename(paths[0].with_name(paths[0].name + ".deleted"))
    log = MetadataLog.open(tmp_path)
    assert log.start_offset == 4
    suffixes = [Path(name).name.removeprefix(paths[0].stem) for name in log.recovery.removed_files]
    assert suffixes == [".index", ".log.deleted", ".timeindex"]


def test_unknown_log_file_name_is_refused(tmp_path: Path) -> None:
    (tmp_path / "backup.log").write_bytes(b"")
    with pytest.raises(StorageError, match=r"backup\.log"):
        MetadataLog.open(tmp_path)
