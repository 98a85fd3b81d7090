"""Frames may arrive in pieces of any size; a bad size ends the stream."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.frames import UNCHECKED_BYTES_MAX, FrameDecoder, encode_frame
from kraftctl_protocol.primitives import DecodeError


@given(st.lists(st.binary(max_size=50), max_size=8), st.lists(st.integers(1, 40), min_size=1, max_size=30))
def test_frames_come_out_whole_wherever_the_stream_is_cut(payloads: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(encode_frame(payload) for payload in payloads)
    decoder = FrameDecoder(max_frame_bytes=100)
    seen: list[bytes] = []
    position = 0
    turn = 0
    while position < len(stream):
        size = cuts[turn % len(cuts)]
        seen += decoder.feed(stream[position : position + size])
        position += size
        turn += 1
    assert seen == payloads
    assert decoder.held_bytes == 0


@pytest.mark.parametrize(
    "size_bytes",
    [
        pytest.param(b"\xff\xff\xff\xff", id="negative"),
        pytest.param(b"\x80\x00\x00\x00", id="most-negative"),
        pytest.param(b"\x00\x00\x00\x65", id="one-too-many"),
        pytest.param(b"GET ", id="http"),
    ],
)
def test_a_bad_size_is_refused_before_anything_is_kept(size_bytes: bytes) -> None:
    decoder = FrameDecoder(max_frame_bytes=100)
    with pytest.raises(DecodeError):
        decoder.feed(size_bytes)
    assert decoder.held_bytes == 0


def test_good_frames_before_a_bad_one_are_lost_with_the_connection() -> None:
    decoder = FrameDecoder(max_frame_bytes=100)
    with pytest.raises(DecodeError, match="negative size"):
        decoder.feed(encode_frame(b"good") + b"\xff\xff\xff\xff")


def test_the_largest_allowed_frame() -> None:
    decoder = FrameDecoder(max_frame_bytes=100)
    assert decoder.feed(encode_frame(bytes(100))) == [bytes(100)]


def test_many_small_pieces_do_not_cost_quadratic_copies() -> None:
    payload = bytes(200_000)
    decoder = FrameDecoder()
    frame = encode_frame(payload)
    out: list[bytes] = []
    for position in range(0, len(frame), 7):
        out += decoder.feed(frame[position : position + 7])
    assert out == [payload]


def test_a_frame_in_small_pieces_costs_what_it_holds() -> None:
    """A list of pieces of 2 bytes costs 27 bytes for each byte, and a budget counts only one."""
    decoder = FrameDecoder()
    decoder.feed((1 << 20).to_bytes(4, "big"))
    pieces = [number.to_bytes(2, "big") for number in range(50_000)]
    tracemalloc.start()
    for piece in pieces:
        decoder.feed(bytes(bytearray(piece)))
    held_bytes, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert decoder.held_bytes == 100_004
    assert held_bytes < 2 * decoder.held_bytes


def test_a_cleared_decoder_holds_nothing() -> None:
    decoder = FrameDecoder()
    decoder.feed(bytes.fromhex("00010000") + bytes(5_000))
    decoder.clear()
    assert decoder.held_bytes == 0


@pytest.mark.parametrize("first", [8, 7, 5, 4, 3])
def test_the_kind_of_a_long_frame_decides_before_its_body_has_come(first: int) -> None:
    asked: list[bytes] = []

    def limit(kind: bytes) -> int:
        asked.append(kind)
        return 70_000 if kind[1] == 1 else 100_000

    def fed(api_key: int, size: int) -> FrameDecoder:
        decoder = FrameDecoder(frame_limit=limit)
        data = size.to_bytes(4, "big") + bytes([0, api_key, 0, 7])
        assert decoder.feed(data[:first]) == []
        decoder.feed(data[first:])
        return decoder

    assert fed(1, 70_000).held_bytes == 8
    assert fed(2, 100_000).held_bytes == 8
    assert set(asked) == {b"\x00\x01\x00\x07", b"\x00\x02\x00\x07"}
    for api_key, size in ((1, 70_001), (2, 100_001)):
        with pytest.raises(DecodeError, match=f"frame of {size} bytes, more than the {size - 1} "):
            fed(api_key, size)


def test_short_frames_are_cut_without_a_look_at_their_kind() -> None:
    decoder = FrameDecoder(frame_limit=lambda kind: 0)
    assert decoder.feed(encode_frame(bytes(UNCHECKED_BYTES_MAX))) == [bytes(UNCHECKED_BYTES_MAX)]
    with pytest.raises(DecodeError):
        decoder.feed(encode_frame(bytes(UNCHECKED_BYTES_MAX + 1)))


def test_a_long_frame_in_one_piece_is_compared_too() -> None:
    decoder = FrameDecoder(frame_limit=lambda kind: 70_000)
    assert decoder.feed(encode_frame(bytes(70_000)) * 2) == [bytes(70_000)] * 2
