"""The records of a download are decoded as its bytes come in, in slices that are cut anywhere."""

from __future__ import annotations

import random

import pytest

from kraftctl.storage.download_check import BATCH_BYTES_MAX, DownloadCheck
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.support.corrupt_directory import Snapshot
from tests.support.effort import seeds

EPOCH = 3


def snapshot(*values: bytes) -> bytes:
    """One batch for each value."""
    parts = Snapshot(EPOCH)
    return parts.header() + b"".join(parts.records(value) for value in values) + parts.footer()


def checked(data: bytes, cuts: list[int]) -> DownloadCheck:
    check = DownloadCheck()
    for begin, end in zip([0, *cuts], [*cuts, len(data)], strict=True):
        check.take(data[begin:end])
    return check


GOOD = encode_metadata_record(NoOpRecord(), 0)

SOUND = snapshot(GOOD, GOOD, GOOD)


@pytest.mark.parametrize("seed", seeds(30))
def test_slices_are_cut_anywhere(seed: int) -> None:
    rng = random.Random(seed)
    cuts = sorted(rng.randrange(len(SOUND)) for _ in range(rng.randrange(1, 9)))
    assert checked(SOUND, cuts).has_decoded_all
    assert not checked(SOUND[:-1], cuts).has_decoded_all
    flipped = rng.randrange(12, len(SOUND))
    damaged = SOUND[:flipped] + bytes([SOUND[flipped] ^ 1]) + SOUND[flipped + 1 :]
    assert checked(SOUND, cuts).has_decoded_all
    if checked(damaged, cuts).has_decoded_all:
        assert _is_outside_of_checksums(flipped), "only what is read back shows an epoch that is damaged"


def _is_outside_of_checksums(flipped: int) -> bool:
    """Offset and epoch of a batch: `CheckpointReader` compares them with those of its neighbours."""
    position = 0
    while position < len(SOUND):
        size_bytes = 12 + int.from_bytes(SOUND[position + 8 : position + 12], "big")
        if position <= flipped < position + 16:
            return True
        position += size_bytes
    return False


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(snapshot(GOOD, b"\x01\x02", GOOD), id="record-cut"),
        pytest.param(snapshot(GOOD, b"\x01\xff\x7f\x00"), id="record-of-a-later-release"),
        pytest.param(SOUND[:8] + (BATCH_BYTES_MAX + 1).to_bytes(4, "big") + SOUND[12:], id="batch-too-large"),
        pytest.param(SOUND[:8] + b"\xff\xff\xff\xff" + SOUND[12:], id="batch-of-negative-size"),
        pytest.param(SOUND + b"\0", id="something-after-its-end"),
    ],
)
def test_what_is_not_sound_is_left_to_the_reader(data: bytes) -> None:
    check = checked(data, [100])
    assert not check.has_decoded_all
    check.take(encode_batch(0, EPOCH, 0, [GOOD]))
    assert not check.has_decoded_all
