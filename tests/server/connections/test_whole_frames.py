"""Data that is one frame, and all that is not."""

from __future__ import annotations

import pytest

from kraftctl.server.connections.whole_frames import whole_frame
from kraftctl_protocol.frames import UNCHECKED_BYTES_MAX, FrameDecoder, encode_frame


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
    assert whole_frame(FrameDecoder(max_frame_bytes=100), data) == payload


def test_what_continues_a_frame_is_none_of_its_own() -> None:
    decoder = FrameDecoder()
    frame = encode_frame(encode_frame(b"payload"))
    assert decoder.feed(frame[:4]) == []
    assert whole_frame(decoder, frame[4:]) is None
    assert decoder.feed(frame[4:]) == [frame[4:]]


def test_the_kind_of_a_long_frame_is_looked_at_when_it_is_fed() -> None:
    decoder = FrameDecoder()
    largest = bytes(UNCHECKED_BYTES_MAX)
    assert whole_frame(decoder, encode_frame(largest)) == largest
    assert whole_frame(decoder, encode_frame(largest + b"\x00")) is None
