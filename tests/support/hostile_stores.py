"""Stores that a stranger wrote: PKCS8 and PKCS12 that ask for much before they are opened, in DER."""

from __future__ import annotations

from pathlib import Path
from typing import Final

INTEGER: Final = 0x02
OCTETS: Final = 0x04
NAME: Final = 0x06
SEQUENCE: Final = 0x30
SET: Final = 0x31
EXPLICIT: Final = 0xA0
IMPLICIT: Final = 0x80

DATA: Final = "2a864886f70d010701"
ENCRYPTED_DATA: Final = "2a864886f70d010706"
PBES2: Final = "2a864886f70d01050d"
PBKDF2: Final = "2a864886f70d01050c"
PBMAC1: Final = "2a864886f70d01050e"
SCRYPT: Final = "2b06010401da47040b"
AES_256_CBC: Final = "60864801650304012a"
HMAC_SHA256: Final = "2a864886f70d0209"
SHA256: Final = "608648016503040201"
PKCS12_3DES: Final = "2a864886f70d010c0103"
MD5_DES: Final = "2a864886f70d010503"
SHROUDED_KEY_BAG: Final = "2a864886f70d010c0a0102"

SALT: Final = bytes(16)


def element(tag: int, *parts: bytes) -> bytes:
    content = b"".join(parts)
    if len(content) < 0x80:
        return bytes([tag, len(content)]) + content
    length = len(content).to_bytes((len(content).bit_length() + 7) // 8, "big")
    return bytes([tag, 0x80 | len(length)]) + length + content


def endless(tag: int, *parts: bytes) -> bytes:
    """The same in BER, without a length: its end is marked."""
    return bytes([tag, 0x80]) + b"".join(parts) + b"\0\0"


def number(value: int) -> bytes:
    return element(INTEGER, value.to_bytes(value.bit_length() // 8 + 1, "big"))


def name(identifier: str) -> bytes:
    return element(NAME, bytes.fromhex(identifier))


def octets(*parts: bytes) -> bytes:
    return element(OCTETS, *parts)


def sequence(*parts: bytes) -> bytes:
    return element(SEQUENCE, *parts)


def pbkdf2(iterations: int, *key_length: int) -> bytes:
    lengths = [number(each) for each in key_length]
    prf = sequence(name(HMAC_SHA256), element(0x05))
    return sequence(name(PBKDF2), sequence(octets(SALT), number(iterations), *lengths, prf))


def scrypt(cost: int, size: int, parallel: int) -> bytes:
    return sequence(name(SCRYPT), sequence(octets(SALT), number(cost), number(size), number(parallel)))


def pbes2(derivation: bytes) -> bytes:
    cipher = sequence(name(AES_256_CBC), octets(bytes(16)))
    return sequence(name(PBES2), sequence(derivation, cipher))


def pbe(identifier: str, iterations: int) -> bytes:
    return sequence(name(identifier), sequence(octets(SALT[:8]), number(iterations)))


def encrypted_key(algorithm: bytes) -> bytes:
    """An EncryptedPrivateKeyInfo that cannot be decrypted; that is seen after the derivation."""
    return sequence(algorithm, octets(bytes(64)))


def key_bag(algorithm: bytes) -> bytes:
    return sequence(name(SHROUDED_KEY_BAG), element(EXPLICIT, encrypted_key(algorithm)))


def bags(*each: bytes) -> bytes:
    """A ContentInfo of the kind `data`."""
    return sequence(name(DATA), element(EXPLICIT, octets(sequence(*each))))


def encrypted_bags(algorithm: bytes) -> bytes:
    content = sequence(name(DATA), algorithm, element(IMPLICIT, bytes(64)))
    return sequence(name(ENCRYPTED_DATA), element(EXPLICIT, sequence(number(0), content)))


def pkcs12(*contents: bytes, mac: bytes | None = None) -> bytes:
    safe = sequence(name(DATA), element(EXPLICIT, octets(sequence(*contents))))
    return sequence(number(3), safe, *([] if mac is None else [mac]))


def mac(iterations: int, algorithm: bytes = b"") -> bytes:
    digest = sequence(algorithm or sequence(name(SHA256), element(0x05)), octets(bytes(32)))
    return sequence(digest, octets(SALT), number(iterations))


def pbmac1(iterations: int) -> bytes:
    return sequence(name(PBMAC1), sequence(pbkdf2(iterations, 32), sequence(name(HMAC_SHA256))))


def sparse(path: Path, size_bytes: int) -> None:
    with path.open("wb") as file:
        file.truncate(size_bytes)
