"""Writes JKS stores as Java does, so that tests have some without a JVM; Java reads them in one test."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from kraftctl_security.tls.jks import KEY_PROTECTOR, MAGIC, WHITENER
from tests.support.certificates import Identity

SALT = bytes(range(20))


def jks(
    password: str,
    *,
    keys: Sequence[tuple[str, Identity, str]] = (),
    trusted: Sequence[tuple[str, bytes]] = (),
    version: int = 2,
) -> bytes:
    """`keys` are alias, identity and password; `trusted` are alias and certificate in DER."""
    content = MAGIC + struct.pack(">ii", version, len(keys) + len(trusted))
    for alias, identity, key_password in keys:
        content += struct.pack(">i", 1) + _text(alias) + bytes(8)
        content += _block(protected(pkcs8(identity), key_password)) + struct.pack(">i", len(identity.chain))
        content += b"".join(_certificate(each.public_bytes(Encoding.DER), version) for each in identity.chain)
    for alias, certificate in trusted:
        content += struct.pack(">i", 2) + _text(alias) + bytes(8) + _certificate(certificate, version)
    return content + digest(password, content)


def digest(password: str, content: bytes) -> bytes:
    return hashlib.sha1(password.encode("utf-16-be") + WHITENER + content).digest()


def pkcs8(identity: Identity) -> bytes:
    return identity.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())


def protected(key: bytes, password: str) -> bytes:
    secret, stream, block = password.encode("utf-16-be"), b"", SALT
    while len(stream) < len(key):
        block = hashlib.sha1(secret + block).digest()
        stream += block
    encrypted = bytes(left ^ right for left, right in zip(key, stream, strict=False))
    content = SALT + encrypted + hashlib.sha1(secret + key).digest()
    return _der(0x30, _der(0x30, KEY_PROTECTOR + b"\x05\x00") + _der(0x04, content))


def _der(tag: int, content: bytes) -> bytes:
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    size = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(size)]) + size + content


def _text(text: str) -> bytes:
    return struct.pack(">H", len(text.encode())) + text.encode()


def _block(data: bytes) -> bytes:
    return struct.pack(">i", len(data)) + data


def _certificate(data: bytes, version: int) -> bytes:
    return (_text("X.509") if version > 1 else b"") + _block(data)
