"""Thousands of damaged copies of a few requests, for a microsecond or two each.

An edit is (bytes, length): at some place, so many bytes of the request are replaced by those. Truncation,
wrong lengths, extreme numbers, unknown tagged fields, and structs that are repeated, left out or taken from
another request are all of that form, so a copy costs one concatenation, and edits and places are drawn for a
whole block together.
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.requests import REQUEST_START_BYTES, decode_request
from tests.attack.frames import compact, uvarint
from tests.support.wire.mutated_bytes import INT16_LIES, INT32_LIES, VARINT_LIES

Edit = tuple[bytes, int]

WALKED_MAX = 3
"""Of a list, so many structs are taken apart."""

COPIED_BYTES_MAX = 1_000_000
"""Of a long request fewer copies are made."""

REST = 1 << 40

NUMBERS = tuple(
    number.to_bytes(size, "big", signed=True)
    for size in (1, 2, 4, 8)
    for number in (-2, -1, 0, 1, 2, 3, (1 << 8 * size - 1) - 1, -1 << 8 * size - 1)
)

TAG_SECTIONS = (
    b"\1\0\0",
    b"\1\0\1\0",
    b"\1\0\2\0\0",
    b"\1\1\2\7\7",
    b"\2\0\0\0\0",
    b"\2\1\0\0\0",
    b"\1\xe8\7\0",
    b"\1\0\xff\xff\xff\xff\7",
    b"\xff\xff\xff\xff\7",
    b"\1\xff\xff\xff\xff\x0f\0",
)
"""Where there were none: empty values, values that are too long, repeated and unordered ones, large tags."""

RANDOM_BYTES = tuple(bytes([byte]) for byte in range(256))

IN_PLACE: tuple[Edit, ...] = (
    *[(number, len(number)) for number in NUMBERS] * 8,
    *[(byte, 1) for byte in RANDOM_BYTES],
)
"""What is often still decoded."""

EDITS: tuple[Edit, ...] = (
    *IN_PLACE,
    *[(lie, len(lie)) for lie in (*INT16_LIES, *INT32_LIES)] * 2,
    *[(lie, 1) for lie in VARINT_LIES] * 4,
    *[(section, 1) for section in TAG_SECTIONS] * 3,
    *[(b"", size) for size in (1, 2, 4, 8, 16, REST)] * 3,
    *[(bytes(size), 0) for size in (1, 2, 4, 16)] * 2,
    *[(text.encode(), 0) for text in ("x", "é", "😀", "a" * 300)],
    *[(data, len(data)) for data in (b"\xed\xa0\x80", b"\xff\xfe", b"\xc0\x80", b"\xf4\x90\x80\x80")],
)

NEIGHBOURS = tuple(
    bytes(change(byte) & 0xFF for byte in range(256))
    for change in (
        lambda byte: byte + 1,
        lambda byte: byte - 1,
        lambda byte: byte ^ 0x80,
        lambda byte: byte << 1,
    )
)
"""Tables that replace a byte by one that a length near the truth would have."""


class Base:
    """A request to damage. `places` is where its strings, arrays and structs begin, with their lengths.

    `pieces` are the bytes of its structs. With `envelope`, what is damaged is put into those two halves.
    """

    def __init__(self, payload: bytes, envelope: tuple[bytes, bytes] | None = None) -> None:
        self.payload = payload
        self.envelope = envelope
        self.body_start = min(REQUEST_START_BYTES, len(payload))
        self.places = [len(payload)]
        self.pieces: list[bytes] = []
        try:
            request = decode_request(payload)
            self.body_start = len(payload) - len(request.body.encode(request.version))
            self._take_apart(request.body, request.version)
        except (DecodeError, EncodeError):
            return

    def _take_apart(self, message: Message, version: int) -> None:
        for field in message.FIELDS:
            value = getattr(message, field.name) if field.in_version(version) else None
            for item in value[:WALKED_MAX] if isinstance(value, list) else [value]:
                if isinstance(item, Message):
                    self._found(item.encode(version))
                    self._take_apart(item, version)
                elif isinstance(item, str):
                    self._found(item.encode(errors="surrogatepass"))

    def _found(self, piece: bytes) -> None:
        at = self.payload.find(piece, self.body_start) if piece else -1
        if at >= 0:
            self.pieces.append(piece)
            # Before it is a length: of one or two bytes, or four.
            self.places += [at, at - 1, at - 2, at - 4, at + len(piece)]

    def inside(self) -> Base | None:
        """The request in this envelope."""
        try:
            body = decode_request(self.payload).body
        except DecodeError:
            return None
        if not isinstance(body, EnvelopeRequest) or not body.request_data:
            return None
        inner = body.request_data
        at = self.payload.find(uvarint(len(inner) + 1) + inner, self.body_start)
        return Base(inner, (self.payload[:at], self.payload[at + len(compact(inner)) :]))


class MutatedBlocks:
    """Decides by `rng` alone. With `in_place`, few lengths change, and more of the copies still decode."""

    def __init__(self, rng: random.Random, *, in_place: bool = False) -> None:
        self._rng = rng
        self._edits = IN_PLACE if in_place else EDITS
        self._at_lengths = 0.05 if in_place else 0.5
        self._in_header = 0.01 if in_place else 0.05

    def copies(self, bases: Sequence[Base], count: int) -> list[bytes]:
        """About so many damaged copies of all `bases` together, each with one to three changes."""
        pieces = [piece for base in bases for piece in base.pieces]
        swaps: list[Edit] = [
            (piece, length) for piece in pieces for length in (0, len(piece), len(self._rng.choice(pieces)))
        ]
        swaps += [(b"", len(piece)) for piece in pieces]
        edits = list(self._edits)
        if swaps:
            edits += self._rng.choices(swaps, k=len(edits) // 3)
        found = []
        for base in bases:
            share = min(count // len(bases), COPIED_BYTES_MAX // (len(base.payload) + 1))
            block = self._copies(base, share, edits)
            if base.envelope is not None:
                head, tail = base.envelope
                block = [head + compact(inner) + tail for inner in block]
            found += block
        return found

    def _copies(self, base: Base, count: int, edits: list[Edit]) -> list[bytes]:
        tenth = count // 10
        block = self._edited([base.payload] * (count - tenth), base, edits)
        block[::3] = self._edited(block[::3], base, edits)
        block[::10] = self._edited(block[::10], base, edits)
        return block + self._near(base, tenth)

    def _edited(self, block: list[bytes], base: Base, edits: list[Edit]) -> list[bytes]:
        """Each changed once more: where something begins, in the header, and anywhere in the body."""
        rng = self._rng
        lengths = int(len(block) * self._at_lengths)
        header = int(len(block) * self._in_header)
        places = rng.choices(base.places, k=lengths)
        places += rng.choices(range(base.body_start + 1), k=header)
        body = range(base.body_start, len(base.payload) + 1)
        places += rng.choices(body, k=len(block) - lengths - header)
        return [
            payload[:at] + data + payload[at + length :]
            for payload, at, (data, length) in zip(
                block, places, rng.choices(edits, k=len(block)), strict=True
            )
        ]

    def _near(self, base: Base, count: int) -> list[bytes]:
        """One byte is a little off."""
        rng, payload = self._rng, base.payload
        lengths = int(count * self._at_lengths)
        places = rng.choices(base.places, k=lengths)
        places += rng.choices(range(base.body_start, len(payload) + 1), k=count - lengths)
        return [
            payload[:at] + payload[at : at + 1].translate(table) + payload[at + 1 :]
            for at, table in zip(places, rng.choices(NEIGHBOURS, k=count), strict=True)
        ]
