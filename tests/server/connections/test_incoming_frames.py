"""Data that is one frame, and all that is not."""

from __future__ import annotations

import pytest

from kraftctl.server.connections.incoming_frames import IncomingFrames
from kraftctl_protocol.frames import FRAME_BYTES_MAX_DEFAULT, UNCHECKED_BYTES_MAX, FrameError, encode_frame


@pytest.mark.parametrize(
    ("data", "payload"),
    [
        pytest.param(encode_frame(b"payload"), b"payload", id="one-frame"),
        pytest.param(encode_frame(b""), b"", id="an-empty-one"),
        pytest.param(encode_frame(bytes(100)), bytes(100), id="the-largest"),
        pytest.param(encode_frame(bytes(101)), None, id="one-too-large"),
        pytest.param(encode_frame(b"payload")[:-1], None, id="a-part"),
        pytest.param(encode_frame(b"payload") + b"\x00", None, id="more-than-one"),
        pytest.param(encode_frame(b"payload") * 2, None, id="two"),
        pytest.param(b"\x00\x00\x00", None, id="a-part-of-the-size"),
        pytest.param(b"\xff\xff\xff\xff", None, id="of-a-negative-size"),
        pytest.param(b"", None, id="nothing"),
    ],
)
def test_data_is_one_frame_or_has_to_be_fed(data: bytes, payload: bytes | None) -> None:
    assert IncomingFrames(100).only_frame(data) == payload


def test_what_continues_a_frame_is_none_of_its_own() -> None:
    frames = IncomingFrames(FRAME_BYTES_MAX_DEFAULT)
    frame = encode_frame(encode_frame(b"payload"))
    assert not frames.feed(frame[:4])
    assert frames.only_frame(frame[4:]) is None
    assert frames.feed(frame[4:])
    assert frames.take() == frame[4:]


def test_the_kind_of_a_long_frame_is_looked_at_when_it_is_fed() -> None:
    frames = IncomingFrames(FRAME_BYTES_MAX_DEFAULT)
    largest = bytes(UNCHECKED_BYTES_MAX)
    assert frames.only_frame(encode_frame(largest)) == largest
    assert frames.only_frame(encode_frame(largest + b"\x00")) is None


def test_frames_keep_their_order_whatever_is_put_back() -> None:
    frames = IncomingFrames(FRAME_BYTES_MAX_DEFAULT)
    assert frames.feed(encode_frame(b"1") + encode_frame(b"2"))
    assert frames.feed(encode_frame(b"3") + b"\x00")
    assert (frames.held_bytes, frames.unfinished_bytes) == (4, 1)
    frames.put_back(frames.take())
    assert frames.only_frame(encode_frame(b"4")) is None
    assert [frames.take() for _ in range(3)] == [b"1", b"2", b"3"]
    assert not frames.has_frame


def test_a_limit_also_ends_a_frame_whose_beginning_has_come() -> None:
    frames = IncomingFrames(FRAME_BYTES_MAX_DEFAULT)
    assert not frames.feed(encode_frame(bytes(100))[:50])
    frames.limit(100, None)
    assert frames.unfinished_bytes == 50
    with pytest.raises(FrameError):
        frames.limit(99, None)
