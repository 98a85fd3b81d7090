"""Records of TLS that no library sends: a ClientHello of any groups, any record after a handshake."""

from __future__ import annotations

import os
import ssl
import struct
from pathlib import Path
from typing import Final

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

ALERT: Final = 21
HANDSHAKE: Final = 22
DATA: Final = 23

X25519: Final = 29
GROUPS: Final = {"P-256": 23, "P-384": 24, "P-521": 25, "X25519": X25519, "X448": 30}
FINITE_FIELDS: Final = {
    "ffdhe2048": 256,
    "ffdhe3072": 257,
    "ffdhe4096": 258,
    "ffdhe6144": 259,
    "ffdhe8192": 260,
}
SHARE_BYTES: Final = {256: 256, 257: 384, 258: 512, 259: 768, 260: 1_024}

SUITES_1_3: Final = (0x1302, 0x1301)
DHE_SUITES: Final = (0x009F, 0x009E, 0xCCAA, 0x006B, 0x0067, 0x0039, 0x0033)
SIGNATURES: Final = (0x0403, 0x0503, 0x0603, 0x0804, 0x0805, 0x0806, 0x0401, 0x0501, 0x0601)

RETRY: Final = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
"""The random of a ServerHello that is a HelloRetryRequest."""


def client_hello(groups: list[int], *, shares: list[int] | None = None, dhe: bool = False) -> bytes:
    """One that offers these groups, with shares of finite fields; `dhe`: of TLS 1.2, with suites of DHE."""
    entries = b"".join(_sized(_share(each), each) for each in shares or [])
    extensions = _extension(10, _list(groups)) + _extension(13, _list(list(SIGNATURES)))
    if not dhe:
        extensions += _extension(43, b"\x02\x03\x04") + _extension(51, _sized(entries))
    suites = _list(list(DHE_SUITES if dhe else SUITES_1_3))
    body = b"\x03\x03" + os.urandom(32) + b"\x00" + suites + b"\x01\x00" + _sized(extensions)
    message = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + _sized(message)


def chosen_group(answer: bytes) -> int | None:
    """The group that a ServerHello or HelloRetryRequest has chosen; None for an alert."""
    if answer[0] != HANDSHAKE:
        return None
    body = answer[9:]
    position = 34 + 1 + body[34] + 3
    end = position + 2 + int.from_bytes(body[position : position + 2], "big")
    position += 2
    while position < end:
        kind, length = struct.unpack(">HH", body[position : position + 4])
        if kind == 51:
            return int.from_bytes(body[position + 4 : position + 6], "big")
        position += 4 + length
    return None


class ClientRecords:
    """The records of a client, or of the side with that `secret`, after the handshake of an SSLObject that
    has sent no data.
    """

    def __init__(self, side: ssl.SSLObject, key_log: Path, secret: str = "CLIENT_TRAFFIC_SECRET_0") -> None:
        cipher = side.cipher()
        assert cipher is not None
        self._hash = hashes.SHA384() if cipher[0].endswith("SHA384") else hashes.SHA256()
        self._key_bytes = 32 if "256_GCM" in cipher[0] else 16
        lines = [line.split() for line in key_log.read_text().splitlines()]
        self._use(bytes.fromhex([line[2] for line in lines if line[0] == secret][-1]))

    def record(self, content: bytes, kind: int = DATA, padding: int = 0) -> bytes:
        inner = content + bytes([kind]) + bytes(padding)
        header = struct.pack(">BHH", DATA, 0x0303, len(inner) + 16)
        nonce = bytes(a ^ b for a, b in zip(self._iv, self._number.to_bytes(12, "big"), strict=True))
        self._number += 1
        return header + self._cipher.encrypt(nonce, inner, header)

    def key_update(self, *, answered: bool = False) -> bytes:
        record = self.record(bytes([24, 0, 0, 1, answered]), HANDSHAKE)
        self._use(self._expanded(self._secret, "traffic upd", self._hash.digest_size))
        return record

    def _use(self, secret: bytes) -> None:
        self._secret = secret
        self._cipher = AESGCM(self._expanded(secret, "key", self._key_bytes))
        self._iv = self._expanded(secret, "iv", 12)
        self._number = 0

    def _expanded(self, secret: bytes, label: str, length: int) -> bytes:
        name = f"tls13 {label}".encode()
        info = struct.pack(">HB", length, len(name)) + name + b"\0"
        return HKDFExpand(self._hash, length, info).derive(secret)


def _share(group: int) -> bytes:
    """Four, which is a public key of every group: the square of its generator."""
    return (4).to_bytes(SHARE_BYTES[group], "big")


def _extension(kind: int, content: bytes) -> bytes:
    return _sized(content, kind)


def _list(numbers: list[int]) -> bytes:
    return _sized(b"".join(each.to_bytes(2, "big") for each in numbers))


def _sized(content: bytes, *before: int) -> bytes:
    return struct.pack(f">{len(before) + 1}H", *before, len(content)) + content
