"""Batch headers of random bytes: InvalidBatchError and nothing else, never a false batch."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.batch_framing import (
    ANY_OFFSET,
    BatchPlace,
    InvalidBatchError,
    find_intact_batch,
    is_intact_batch,
    places_of,
    scan_batches,
    scan_pieces,
)
from tests.storage.batches import batch
from tests.support.effort import examples

WHOLE = batch(5, epoch=3, count=2) + batch(7, epoch=3) + batch(8, epoch=4)
LAST_START = len(WHOLE) - len(batch(8, epoch=4))


def _scan(data: bytes, next_offset: int) -> tuple[list[BatchPlace], InvalidBatchError | None]:
    """The good batches, and what came after them."""
    places: list[BatchPlace] = []
    scan = scan_batches(data, next_offset, 0)
    while True:
        try:
            places.append(next(scan))
        except StopIteration:
            return places, None
        except InvalidBatchError as damage:
            return places, damage


def test_places() -> None:
    places = list(scan_batches(WHOLE, 5, 3, base_position=1000))
    assert [(place.base_offset, place.last_offset, place.epoch) for place in places] == [
        (5, 6, 3),
        (7, 7, 3),
        (8, 8, 4),
    ]
    assert places[0].position == 1000
    assert places[-1].position + places[-1].size_bytes == 1000 + len(WHOLE)
    assert places[-1].max_timestamp_ms == 1008


def test_places_of_what_was_checked_before() -> None:
    """All but the checksums is as in a scan."""
    assert [repr(place) for place in places_of(WHOLE, 5, 3)] == [
        repr(place) for place in scan_batches(WHOLE, 5, 3)
    ]
    assert len(places_of(WHOLE[:-1] + b"\xff", 5, 3)) == 3
    for damaged, offset, epoch in ((WHOLE[:-1], 5, 3), (WHOLE, 4, 3), (WHOLE, 5, 4)):
        with pytest.raises(InvalidBatchError):
            places_of(damaged, offset, epoch)


@pytest.mark.parametrize("cut", [1, 20, 60, 61, 62])
def test_a_batch_cut_short_says_how_much_it_needs(cut: int) -> None:
    with pytest.raises(InvalidBatchError, match="cut short") as caught:
        list(scan_batches(WHOLE[: LAST_START + cut], 5, 3))
    assert caught.value.position == LAST_START
    assert caught.value.needed_bytes in (61, len(WHOLE) - LAST_START)


@given(st.binary(max_size=300))
def test_random_bytes_are_no_batch(data: bytes) -> None:
    places, damage = _scan(data, 0)
    assert places == []
    assert (damage is None) == (data == b"")
    assert find_intact_batch(data, 0) is None


@examples(500)
@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_one_changed_byte_is_never_taken_for_more_than_a_later_epoch(position: int, mask: int) -> None:
    damaged = bytearray(WHOLE)
    damaged[position] ^= mask
    places, damage = _scan(bytes(damaged), 5)
    if damage is None:
        assert any(place.position + 12 <= position < place.position + 16 for place in places)
    else:
        assert damage.position <= position or damage.reason.startswith("its epoch")


def test_intact_batches_behind_damage_are_found_wherever_they_start() -> None:
    for junk in (b"", b"\x02", b"\x02" * 100, bytes(77)):
        assert find_intact_batch(junk + WHOLE, 5) == len(junk)
        assert find_intact_batch(junk + WHOLE, 8) == len(junk) + LAST_START
        assert find_intact_batch(junk + WHOLE, 9) is None
    assert find_intact_batch(WHOLE, 5, start=1) == len(batch(5, epoch=3, count=2))
    assert is_intact_batch(WHOLE, 0)
    assert not is_intact_batch(WHOLE, 1)


@pytest.mark.parametrize("piece_bytes", [1, 61, 100, len(WHOLE), 10_000])
@pytest.mark.parametrize("verify_crc", [True, False])
def test_pieces_of_any_size_hold_the_same_batches(piece_bytes: int, verify_crc: bool) -> None:
    def read(position: int, size_bytes: int) -> bytes:
        return WHOLE[position : position + size_bytes]

    places = scan_pieces(
        read,
        0,
        len(WHOLE),
        next_offset=ANY_OFFSET,
        last_epoch=0,
        piece_bytes=piece_bytes,
        verify_crc=verify_crc,
    )
    assert [repr(place) for place in places] == [repr(place) for place in scan_batches(WHOLE, 5, 3)]


def test_a_file_that_becomes_shorter_while_it_is_read_ends_the_scan() -> None:
    def read(position: int, size_bytes: int) -> bytes:
        return WHOLE[position : position + size_bytes]

    pieces = scan_pieces(read, 0, len(WHOLE) + 500, next_offset=5, last_epoch=3, piece_bytes=70)
    with pytest.raises(InvalidBatchError, match="cut short"):
        list(pieces)
