"""Secrets that a test plants, and a search for them in whatever is printed or stored."""

from __future__ import annotations

import base64
from collections.abc import Iterator


class PlantedSecrets:
    """Secrets by name; each is looked for as it is, as base64, and in hexadecimal."""

    def __init__(self) -> None:
        self._forms: dict[str, tuple[bytes, ...]] = {}

    def text(self, name: str) -> str:
        """A new secret of printable characters."""
        secret = f"planted-{name}-4tR9xQ"
        self.add(name, secret.encode())
        return secret

    def data(self, name: str, size_bytes: int = 32) -> bytes:
        """A new secret of bytes that are mostly not printable."""
        secret = (bytes([0xE5, 0x99, 0x07]) + name.encode() + bytes(range(0x80, 0xFF)))[:size_bytes]
        self.add(name, secret)
        return secret

    def add(self, name: str, secret: bytes) -> None:
        """A secret that something else has made, or a piece of it that nothing else has."""
        assert len(secret) >= 8, f"{name} may occur by chance"
        # Base64 of three bytes more or less begins elsewhere: the middle of each of the three is the same.
        middles = (base64.b64encode(b"\0" * shift + secret)[4:-4] for shift in range(3))
        forms = [secret, secret.hex().encode(), secret.hex().upper().encode(), *middles]
        forms.append(repr(secret)[2:-1].encode())
        self._forms[name] = tuple(form for form in forms if len(form) >= 8)

    def in_(self, where: str, content: bytes | str) -> list[str]:
        """Which of them are in `content`, one line each."""
        data = content.encode() if isinstance(content, str) else content
        return [f"{name} in {where}" for name in self._found(data)]

    def _found(self, data: bytes) -> Iterator[str]:
        for name, forms in self._forms.items():
            if any(form in data for form in forms):
                yield name
