"""JKS, the format of keystores that Java wrote before version 9, and Kafka's default type.

Only the format is here; certificates and keys are left as DER. Every length is compared with what is left of
the file before anything is read. The digest at the end proves the store password, and that nothing was
changed; as in Java, a truststore without a password is not checked.
"""

from __future__ import annotations

import hashlib
import hmac
import struct
from typing import Final

MAGIC: Final = b"\xfe\xed\xfe\xed"
JCEKS_MAGIC: Final = b"\xce\xce\xce\xce"
"""The format with keys that Java's own cipher protects begins with this; it is not read."""

VERSIONS: Final = (1, 2)
PRIVATE_KEY_TAG: Final = 1
TRUSTED_TAG: Final = 2

CERTIFICATE_TYPES: Final = (b"X.509", b"X509")
WHITENER: Final = b"Mighty Aphrodite"
DIGEST_BYTES: Final = 20

KEY_PROTECTOR: Final = bytes.fromhex("060a2b060104012a02110101")
"""Sun's own protection of keys by SHA-1: the object identifier 1.3.6.1.4.1.42.2.17.1.1, in DER."""

SEQUENCE: Final = 0x30
OCTET_STRING: Final = 0x04
LENGTH_BYTES_MAX: Final = 4

KEY_BYTES_MAX: Final = 64 * 1024
"""An RSA key of 16,384 bits has 9 KiB."""


class JksError(Exception):
    """The file is damaged, or a password does not fit; the text shows no content."""


class WrongPasswordError(JksError):
    """The password of the store is another one, or the file was changed."""


class JksKey:
    """A private key, still protected, and its certificates in DER, from its own one on."""

    def __init__(self, protected: bytes, chain: list[bytes]) -> None:
        self.chain = chain
        self._protected = protected

    def unprotected(self, password: str) -> bytes:
        """Returns the key as PKCS8 in DER. Raises JksError."""
        content = _protected_content(self._protected)
        salt, encrypted = content[:DIGEST_BYTES], content[DIGEST_BYTES:-DIGEST_BYTES]
        expected = content[-DIGEST_BYTES:]
        secret = _password_bytes(password)
        stream = bytearray()
        block = salt
        while len(stream) < len(encrypted):
            block = hashlib.sha1(secret + block).digest()
            stream += block
        key = bytes(left ^ right for left, right in zip(encrypted, stream, strict=False))
        if not hmac.compare_digest(hashlib.sha1(secret + key).digest(), expected):
            raise WrongPasswordError("the password of its private key is another")
        return key


class JksStore:
    """The entries of a store by their aliases, as bytes."""

    def __init__(self) -> None:
        self.keys: dict[bytes, JksKey] = {}
        self.trusted: dict[bytes, bytes] = {}

    def anchors(self) -> list[bytes]:
        """Returns what Java trusts of a truststore: its certificates, and the first one of each key."""
        return [*self.trusted.values(), *(key.chain[0] for key in self.keys.values() if key.chain)]


def read_jks(data: bytes, password: str | None) -> JksStore:
    """Reads a store. Without a password, the digest is not compared. Raises JksError."""
    reader = _Reader(data)
    if reader.take(len(MAGIC)) != MAGIC:
        raise JksError("it is not JKS")
    version = reader.int32()
    if version not in VERSIONS:
        raise JksError(f"it has version {version} of JKS, which is not known")
    store = JksStore()
    for _ in range(reader.count()):
        _read_entry(reader, version, store)
    if password is not None:
        content = data[: reader.position]
        digest = hashlib.sha1(_password_bytes(password) + WHITENER + content).digest()
        if not hmac.compare_digest(digest, reader.take(DIGEST_BYTES)):
            raise WrongPasswordError("the password is another, or the file was changed")
    return store


def _read_entry(reader: _Reader, version: int, store: JksStore) -> None:
    """Reads an entry; as in Java, the last entry of an alias counts."""
    tag, alias = reader.int32(), reader.text()
    reader.take(8)  # when it was made
    store.keys.pop(alias, None)
    store.trusted.pop(alias, None)
    if tag == PRIVATE_KEY_TAG:
        protected = reader.block()
        chain = [_certificate(reader, version) for _ in range(reader.count())]
        store.keys[alias] = JksKey(protected, chain)
    elif tag == TRUSTED_TAG:
        store.trusted[alias] = _certificate(reader, version)
    else:
        raise JksError(f"it has an entry of the unknown kind {tag}")


def _certificate(reader: _Reader, version: int) -> bytes:
    if version > 1 and reader.text() not in CERTIFICATE_TYPES:
        raise JksError("it has a certificate that is not X.509")
    return reader.block()


class _Reader:
    def __init__(self, data: bytes) -> None:
        self.position = 0
        self._data = data

    def take(self, size_bytes: int) -> bytes:
        end = self.position + size_bytes
        if size_bytes < 0 or end > len(self._data):
            raise JksError("it is damaged: it ends too early")
        taken = self._data[self.position : end]
        self.position = end
        return taken

    def int32(self) -> int:
        return int(struct.unpack(">i", self.take(4))[0])

    def count(self) -> int:
        """Returns a number of elements, each of which has a byte at least."""
        count = self.int32()
        if not 0 <= count <= len(self._data) - self.position:
            raise JksError("it is damaged: it ends too early")
        return count

    def block(self) -> bytes:
        return self.take(self.int32())

    def text(self) -> bytes:
        return self.take(struct.unpack(">H", self.take(2))[0])


def _password_bytes(password: str) -> bytes:
    return password.encode("utf-16-be", "surrogatepass")


def _protected_content(data: bytes) -> bytes:
    """Returns the bytes of an EncryptedPrivateKeyInfo that follow the name of its algorithm."""
    algorithm, content = _der_pair(_der(data, SEQUENCE)[0])
    if not algorithm.startswith(KEY_PROTECTOR):
        raise JksError("its private key is protected in a way that is not known")
    if not 2 * DIGEST_BYTES <= len(content) <= KEY_BYTES_MAX:
        raise JksError(f"it is damaged: its private key has {len(content):,} bytes")
    return content


def _der_pair(data: bytes) -> tuple[bytes, bytes]:
    algorithm, rest = _der(data, SEQUENCE)
    return algorithm, _der(rest, OCTET_STRING)[0]


def _der(data: bytes, tag: int) -> tuple[bytes, bytes]:
    """Returns the content of the first value in DER, and the bytes after it."""
    if len(data) < 2 or data[0] != tag:
        raise JksError("it is damaged: its private key cannot be read")
    length, start = data[1], 2
    if length & 0x80:
        size = length & 0x7F
        start += size
        if not 0 < size <= LENGTH_BYTES_MAX or len(data) < start:
            raise JksError("it is damaged: its private key cannot be read")
        length = int.from_bytes(data[2:start], "big")
    if length > len(data) - start:
        raise JksError("it is damaged: its private key cannot be read")
    return data[start : start + length], data[start + length :]
