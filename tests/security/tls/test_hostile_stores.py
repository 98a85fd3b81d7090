"""Stores that take much time, much memory or no end to read are refused before that, with a next step."""

from __future__ import annotations

import base64
import os
import socket
import threading
from collections.abc import Callable
from functools import reduce
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import PrivateFormat
from cryptography.hazmat.primitives.serialization import pkcs12 as cryptography_pkcs12

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.key_derivations import ExcessiveDerivationError, check_derivations
from kraftctl_security.tls.pem_blocks import pem_blocks
from kraftctl_security.tls.ssl_config import read_client_ssl_config
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.stores import load_keystore, load_truststore
from tests.support.certificates import Authority
from tests.support.hostile_stores import (
    MD5_DES,
    PKCS12_3DES,
    bags,
    element,
    encrypted_bags,
    encrypted_key,
    endless,
    key_bag,
    mac,
    name,
    number,
    octets,
    pbe,
    pbes2,
    pbkdf2,
    pbmac1,
    pkcs12,
    scrypt,
    sequence,
    sparse,
)

MANY = 200_000_000
USUAL = 10_000


def pem(der: bytes, kind: str = "ENCRYPTED PRIVATE KEY") -> bytes:
    return f"-----BEGIN {kind}-----\n{base64.b64encode(der).decode()}\n-----END {kind}-----\n".encode()


def keystore_refusal(kind: str, location: Path | str) -> str:
    keys = {"type": kind, "location": str(location)}
    keys |= {"password": "secret"} if kind != "PEM" else {}
    values = ConfigValues({f"ssl.keystore.{key}": value for key, value in keys.items()})
    if kind == "PEM":
        values = ConfigValues({**values.properties, "ssl.key.password": "secret"})
    found = read_client_ssl_config(values)
    values.raise_errors()
    assert found.keystore is not None
    with pytest.raises(StoreError) as caught:
        load_keystore(found.keystore)
    return str(caught.value)


def truststore_refusal(location: Path | str) -> str:
    properties = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(location)}
    found = read_client_ssl_config(ConfigValues(properties))
    assert found.truststore is not None
    with pytest.raises(StoreError) as caught:
        load_truststore(found.truststore)
    return str(caught.value)


# What is no file of a usual size.


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        os.chdir(path.parent)  # the path of a socket is short
        listening.bind(path.name)


def _garbage(path: Path) -> None:
    path.write_bytes(bytes(range(256)))


def _link_to(target: str) -> Callable[[Path], None]:
    return lambda path: path.symlink_to(target)


def _link_to_fifo(path: Path) -> None:
    os.mkfifo(path.with_suffix(".fifo"))
    path.symlink_to(path.with_suffix(".fifo"))


NO_DEVICE = "it is a device, and has to be a file. Next step: use an ordinary file"
NO_FIFO = "it is a FIFO, and has to be a file. Next step: use an ordinary file"
TOO_LONG = "it has more than 1,048,576 bytes. Next step: name the right file"

NO_FILES: dict[str, tuple[Callable[[Path], None], str]] = {
    "endless-device": (_link_to("/dev/zero"), NO_DEVICE),
    "random-device": (_link_to("/dev/urandom"), NO_DEVICE),
    "full-device": (_link_to("/dev/full"), NO_DEVICE),
    "empty-device": (_link_to("/dev/null"), NO_DEVICE),
    "fifo": (os.mkfifo, NO_FIFO),
    "link-to-a-fifo": (_link_to_fifo, NO_FIFO),
    "directory": (Path.mkdir, "Is a directory. Next step: check ssl."),
    "link-to-a-directory": (_link_to("/proc"), "Is a directory. Next step: check ssl."),
    "socket": (_socket, ": "),  # it cannot even be opened
    "loop": (lambda path: path.symlink_to(path), "symbolic links. Next step: check ssl."),
    "absent": (lambda path: None, "No such file or directory. Next step: check ssl."),
    "below-a-file": (_link_to("/proc/version/key"), "Not a directory. Next step: check ssl."),
    "two-megabytes": (lambda path: sparse(path, 2 << 20), TOO_LONG),
    "sparse": (lambda path: sparse(path, 4 << 30), TOO_LONG),
    "without-a-length": (_link_to("/proc/self/pagemap"), "it has more than 1,048,576 bytes"),
    "unreadable": (_link_to("/proc/self/mem"), "Input/output error. Next step: look for the device"),
    "empty": (Path.touch, "has 0 blocks"),
    "garbage": (_garbage, "is not of type PEM"),
}


@pytest.mark.parametrize("case", NO_FILES)
def test_what_is_no_store_is_refused_by_name(
    case: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    make, reason = NO_FILES[case]
    path = tmp_path / "store"
    make(path)
    for text in (keystore_refusal("PEM", path), truststore_refusal(path)):
        assert str(path) in text
        if case == "empty" and "the truststore" in text:
            assert "has no block" in text
        else:
            assert reason in text


def test_a_file_that_is_replaced_meanwhile_is_the_old_one_or_the_new_one(tmp_path: Path) -> None:
    first, second, path = Authority(), Authority("CN=Second"), tmp_path / "store"
    path.write_text(first.pem)
    ended = threading.Event()

    def replace() -> None:
        while not ended.is_set():
            for each in (second, first):
                path.with_suffix(".new").write_text(each.pem)
                path.with_suffix(".new").rename(path)

    found = read_client_ssl_config(
        ConfigValues({"ssl.truststore.type": "PEM", "ssl.truststore.location": str(path)})
    )
    assert found.truststore is not None
    thread = threading.Thread(target=replace)
    thread.start()
    try:
        read = [load_truststore(found.truststore) for _ in range(100)]
    finally:
        ended.set()
        thread.join()
    assert all(each in ([first.certificate], [second.certificate]) for each in read)


# What takes long to open.

LONG_KEYS = {
    "pbkdf2": encrypted_key(pbes2(pbkdf2(MANY))),
    "just-above": encrypted_key(pbes2(pbkdf2(5_000_001))),
    "pbkdf2-with-a-long-key": encrypted_key(pbes2(pbkdf2(USUAL, 1 << 31))),
    "pbkdf2-beyond-64-bits": encrypted_key(pbes2(pbkdf2(1 << 80))),
    "scrypt-cost": encrypted_key(pbes2(scrypt(1 << 20, 8, 1))),
    "scrypt-size": encrypted_key(pbes2(scrypt(2, 1 << 20, 1))),
    "scrypt-parallel": encrypted_key(pbes2(scrypt(2, 1, 1 << 29))),
    "scrypt-time": encrypted_key(pbes2(scrypt(1 << 14, 8, 64))),
    "pkcs12-pbe": encrypted_key(pbe(PKCS12_3DES, MANY)),
    "pkcs5-pbe": encrypted_key(pbe(MD5_DES, MANY)),
}
LONG_STORES = {
    "mac": pkcs12(bags(), mac=mac(MANY)),
    "mac-pbmac1": pkcs12(bags(), mac=mac(1, pbmac1(MANY))),
    "key-bag": pkcs12(bags(key_bag(pbes2(pbkdf2(MANY)))), mac=mac(USUAL)),
    "key-bag-pbe": pkcs12(bags(key_bag(pbe(PKCS12_3DES, MANY)))),
    "key-bag-scrypt": pkcs12(bags(key_bag(pbes2(scrypt(1 << 24, 8, 1))))),
    "certificates": pkcs12(encrypted_bags(pbes2(pbkdf2(MANY)))),
    "certificates-pbe": pkcs12(encrypted_bags(pbe(PKCS12_3DES, MANY))),
    "many-bags": pkcs12(bags(*[key_bag(pbes2(pbkdf2(1_000_000)))] * 11)),
    "many-contents": pkcs12(*[encrypted_bags(pbes2(pbkdf2(4_000_000)))] * 3),
}


@pytest.mark.parametrize("case", LONG_KEYS)
def test_a_key_that_takes_long_to_derive_is_not_opened(case: str, tmp_path: Path) -> None:
    path = tmp_path / "key.pem"
    path.write_bytes(pem(LONG_KEYS[case]))
    text = keystore_refusal("PEM", path)
    assert f"the keystore {path} is not opened: " in text
    assert "to derive" in text
    assert "Next step: encrypt it with fewer iterations" in text


@pytest.mark.parametrize("case", LONG_STORES)
def test_a_store_that_takes_long_to_open_is_not_opened(case: str, tmp_path: Path) -> None:
    path = tmp_path / "store.p12"
    path.write_bytes(LONG_STORES[case])
    for kind in ("PKCS12", "JKS"):
        assert f"the keystore {path} is not opened: " in keystore_refusal(kind, path)


HIDDEN = {
    "length-at-the-end": endless(0x30, name("2a864886f70d01050c"), sequence(octets(bytes(8)), number(MANY))),
    "long-form-of-length": b"\x30\x88" + len(pbkdf2(MANY)).to_bytes(8, "big") + pbkdf2(MANY),
    "behind-a-long-tag": sequence(b"\xbf\x81\x01\x00", pbkdf2(MANY)),
    "with-bytes-behind": octets(pbkdf2(MANY) + b"x"),
    "string-in-pieces": element(0x24, *[octets(bytes([each])) for each in pbkdf2(MANY)]),
    "string-in-a-string": octets(octets(octets(pbkdf2(MANY)))),
    "salt-in-pieces": sequence(
        sequence(sequence(name("608648016503040201")), octets(bytes(32))),
        element(0x24, octets(bytes(8))),
        number(MANY),
    ),
    "nested": reduce(lambda inner, _: sequence(inner), range(40), pbkdf2(1)),
    "very-many-parts": sequence(b"\x05\x00" * 200_000),
}


@pytest.mark.parametrize("case", HIDDEN)
def test_iterations_are_found_wherever_openssl_finds_them(case: str) -> None:
    with pytest.raises(ExcessiveDerivationError):
        check_derivations(HIDDEN[case])


def test_what_programs_write_is_opened(tmp_path: Path) -> None:
    """Java makes 10,000 iterations, OpenSSL 2,048 and its scrypt 16,384 blocks of 8; some users make more."""
    identity = Authority().issue("CN=controller")
    for iterations in (2_048, 10_000, 600_000):
        encryption = (
            PrivateFormat.PKCS12.encryption_builder()
            .kdf_rounds(iterations)
            .hmac_hash(hashes.SHA256())
            .build(b"secret")
        )
        check_derivations(
            cryptography_pkcs12.serialize_key_and_certificates(
                b"k", identity.key, identity.chain[0], [], encryption
            )
        )
    for derivation in (pbkdf2(5_000_000), pbkdf2(USUAL, 32), scrypt(16_384, 8, 1)):
        check_derivations(encrypted_key(pbes2(derivation)))
    for damaged in (b"", b"\x30", b"\x30\x80", b"\x30\x05\x02", b"\x1f", b"\x1f\xff", b"\x04\x80\0\0"):
        check_derivations(damaged)


def test_an_rsa_key_that_is_too_long_is_refused_before_its_primes_are_looked_at(tmp_path: Path) -> None:
    prime = (1 << 8_192) - 1
    parts = (0, prime * prime, 65_537, 3, prime, prime, 3, 3, 3)
    key = sequence(*[number(each) for each in parts])
    rsa = sequence(number(0), sequence(name("2a864886f70d010101"), element(0x05)), octets(key))
    path = tmp_path / "key.pem"
    path.write_bytes(pem(rsa, "PRIVATE KEY"))
    found = read_client_ssl_config(
        ConfigValues({"ssl.keystore.type": "PEM", "ssl.keystore.location": str(path)})
    )
    assert found.keystore is not None
    with pytest.raises(StoreError, match="a private key of 16,384 bits, and 8,192 are allowed"):
        load_keystore(found.keystore)


# Texts.

CERTIFICATE = ("CERTIFICATE",)


@pytest.mark.parametrize(
    "text",
    [
        "-" * 1_000_000,
        "-----BEGIN CERTIFICATE-----\n" * 40_000,
        "-----BEGIN CERTIFICATE-----\n" + "a:b\n" * 250_000,
        "-----BEGIN CERTIFICATE-----\n" + "a:" * 500_000,
        "-----BEGIN CERTIFICATE-----\n" + "A" * 1_000_000,
        "-----BEGIN " + "A" * 1_000_000,
        "-----END CERTIFICATE-----\n" * 40_000,
        "-----BEGIN CERTIFICATE-----" + " \n" * 500_000 + "-----END CERTIFICATE",
    ],
    ids=["dashes", "beginnings", "headers", "colons", "content", "kind", "ends", "blanks"],
)
def test_a_text_without_a_block_is_read_once(text: str) -> None:
    """Each took minutes or hours when ends were looked for from every beginning."""
    assert pem_blocks(text, CERTIFICATE) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("-----BEGIN CERTIFICATE-----\nYWI=\n-----END CERTIFICATE-----", [b"ab"], id="lines"),
        pytest.param("-----BEGIN CERTIFICATE----- YWI= -----END CERTIFICATE-----", [b"ab"], id="one-line"),
        pytest.param("x-BEGIN CERTIFICATE-\nY\r\nWI=\n-END CERTIFICATE-y", [b"ab"], id="one-dash"),
        pytest.param(
            "-----BEGIN CERTIFICATE-----\nName: a-b\n Other: c\n\nYWI=\n-----END CERTIFICATE-----",
            [b"ab"],
            id="headers",
        ),
        pytest.param("-----BEGIN CERTIFICATE-----YWI=\n-----END CERTIFICATE-----", [], id="no-blank"),
        pytest.param("-----BEGIN CERTIFICATE-----\nYWI=\nYW:=\n-----END CERTIFICATE-----", [], id="colon"),
        pytest.param("-----BEGIN CERTIFICATE-----\nYWI=\n-----END X509 CRL-----", [], id="another-end"),
        pytest.param(
            "-----BEGIN CERTIFICATE-----\nYWI=\n-----END CERTIFICATE-----\n" * 2, [b"ab"] * 2, id="two"
        ),
        pytest.param("-----BEGIN PRIVATE KEY-----\nYWI=\n-----END PRIVATE KEY-----", [], id="another-kind"),
    ],
)
def test_blocks_of_a_text(text: str, expected: list[bytes]) -> None:
    assert [content for _, content in pem_blocks(text, CERTIFICATE)] == expected
