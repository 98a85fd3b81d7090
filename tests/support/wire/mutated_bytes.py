"""A request's bytes with damage: cut, flipped, with wrong lengths, or with extra bytes."""

from __future__ import annotations

import random

INT32_LIES = tuple(
    number.to_bytes(4, "big", signed=True)
    for number in (-1, -2, 0, 1, 0x7F, 0x7FFF, 0x10_0000, 0x7FFF_FFFF, -0x8000_0000)
)
INT16_LIES = tuple(number.to_bytes(2, "big", signed=True) for number in (-1, -2, 0, 1, 0x7F, 0x7FFF, -0x8000))
VARINT_LIES = (b"\x00", b"\x01", b"\x7f", b"\xff\xff\xff\xff\x0f", b"\xff" * 10, b"\x80\x80\x80\x80\x08")


class MutatedBytes:
    """Decides by `rng` alone."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def mutated(self, payload: bytes) -> bytes:
        """One to three changes; mostly after the first 8 bytes, which identify the request."""
        for _ in range(self._rng.choice((1, 1, 2, 3))):
            payload = self._damaged(payload)
        return payload

    def _damaged(self, payload: bytes) -> bytes:
        rng = self._rng
        at = self._position(len(payload))
        match rng.randrange(8):
            case 0:
                return payload[:at]
            case 1:
                return payload[:at] + bytes([rng.randrange(256)]) + payload[at + 1 :]
            case 2:
                return payload[:at] + rng.choice(INT32_LIES) + payload[at + 4 :]
            case 3:
                return payload[:at] + rng.choice(INT16_LIES) + payload[at + 2 :]
            case 4:
                return payload[:at] + rng.choice(VARINT_LIES) + payload[at + 1 :]
            case 5:
                return payload + rng.randbytes(rng.choice((1, 2, 64)))
            case 6:
                return payload[:at] + rng.randbytes(rng.choice((1, 4, 16))) + payload[at:]
            case _:
                end = self._position(len(payload))
                return payload[: min(at, end)] + payload[max(at, end) :]

    def _position(self, size: int) -> int:
        first = 0 if self._rng.random() < 0.1 else min(8, size)
        return self._rng.randint(first, size)
