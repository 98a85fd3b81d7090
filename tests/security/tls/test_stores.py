"""Keystores and truststores as files and texts, and what is wrong with them."""

from __future__ import annotations

import base64
import os
import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
)

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls import contexts
from kraftctl_security.tls.contexts import client_context, server_context
from kraftctl_security.tls.ssl_config import SslConfig, read_client_ssl_config
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.stores import load_keystore, load_truststore
from tests.support.certificates import Authority, Identity

SECRET = "hunter2"


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("CN=Intermediate", parent=Authority())


@pytest.fixture(scope="module")
def identity(authority: Authority) -> Identity:
    return authority.issue("CN=controller,O=kraftctl")


def config(properties: dict[str, str]) -> SslConfig:
    values = ConfigValues(properties)
    found = read_client_ssl_config(values)
    assert values.errors == []
    return found


def keystore(kind: str, location: Path, content: str | bytes, **keys: str) -> SslConfig:
    location.write_bytes(content if isinstance(content, bytes) else content.encode())
    named = {f"ssl.{key.replace('_', '.')}": value for key, value in keys.items()}
    return config({"ssl.keystore.type": kind, "ssl.keystore.location": str(location), **named})


def refused(found: SslConfig) -> str:
    assert found.keystore is not None
    with pytest.raises(StoreError) as caught:
        load_keystore(found.keystore)
    assert SECRET not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("kind", ["RSA", "EC"])
def test_keystores_of_both_types(kind: str, authority: Authority, tmp_path: Path) -> None:
    identity = authority.issue("CN=controller", kind=kind)
    one_line = {
        "ssl.keystore.key": " ".join(identity.key_pem(SECRET).split("\n")),
        "ssl.keystore.certificate.chain": " ".join(identity.certificates_pem.split("\n")),
    }
    found = [
        keystore("PEM", tmp_path / "plain", "a text before\n" + identity.pem()),
        keystore("PEM", tmp_path / "encrypted", identity.pem(SECRET), key_password=SECRET),
        keystore("PKCS12", tmp_path / "p12", identity.pkcs12(SECRET), keystore_password=SECRET),
        config({"ssl.keystore.type": "PEM", "ssl.key.password": SECRET, **one_line}),
    ]
    for each in found:
        assert each.keystore is not None
        store = load_keystore(each.keystore)
        assert store.key.private_numbers() == identity.key.private_numbers()
        assert store.chain == identity.chain
        server_context(each)
        client_context(each)


def test_a_keystore_is_never_in_a_file_in_clear(
    identity: Identity, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where no file in memory can be had, and nothing is left of it."""
    found = keystore("PEM", tmp_path / "key", identity.pem())
    monkeypatch.delattr(os, "memfd_create", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    written: list[tuple[bytes, int]] = []
    load = ssl.SSLContext.load_cert_chain

    def spy(context: ssl.SSLContext, path: str, password: str) -> None:
        written.append((Path(path).read_bytes(), Path(path).stat().st_mode & 0o777))
        load(context, path, password=password)

    monkeypatch.setattr(contexts.ssl.SSLContext, "load_cert_chain", spy)
    server_context(found)
    ((content, mode),) = written
    assert mode == 0o600
    assert b"BEGIN ENCRYPTED PRIVATE KEY" in content
    assert b"BEGIN PRIVATE KEY" not in content
    assert [path.name for path in tmp_path.iterdir()] == ["key"]


def test_truststores_of_both_types(tmp_path: Path) -> None:
    first, second = Authority(), Authority("CN=Other")
    (tmp_path / "pem").write_text(first.pem + second.pem)
    (tmp_path / "p12").write_bytes(first.pkcs12(SECRET))
    cases = (
        ({"type": "PEM", "location": str(tmp_path / "pem")}, [first, second]),
        ({"type": "PKCS12", "location": str(tmp_path / "p12"), "password": SECRET}, [first]),
        ({"type": "PEM", "certificates": first.pem}, [first]),
    )
    for keys, expected in cases:
        found = config({f"ssl.truststore.{key}": value for key, value in keys.items()})
        assert found.truststore is not None
        assert load_truststore(found.truststore) == [each.certificate for each in expected]
        trusted = client_context(found).get_ca_certs(binary_form=True)
        assert len(trusted) == len(expected)


def test_what_is_wrong_with_a_keystore_is_named(
    authority: Authority, identity: Identity, tmp_path: Path
) -> None:
    other = authority.issue("CN=other")
    path = tmp_path / "store"
    assert "No such file" in refused(config({"ssl.keystore.type": "PEM", "ssl.keystore.location": str(path)}))
    assert "set ssl.key.password" in refused(keystore("PEM", path, identity.pem(SECRET)))
    wrong = keystore("PEM", path, identity.pem("x"), key_password=SECRET)
    assert "check ssl.key.password" in refused(wrong)
    plain = keystore("PEM", path, identity.pem(), key_password=SECRET)
    assert "is not encrypted, but ssl.key.password is set" in refused(plain)
    assert "has no block 'BEGIN CERTIFICATE'" in refused(keystore("PEM", path, identity.key_pem()))
    assert "has 0 blocks" in refused(keystore("PEM", path, identity.certificates_pem))
    traditional = identity.key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    old = keystore("PEM", path, traditional.decode() + identity.certificates_pem)
    assert "openssl pkcs8 -topk8" in refused(old)
    mixed = keystore("PEM", path, identity.key_pem() + other.certificates_pem)
    assert "is not that of the private key" in refused(mixed)
    disordered = Identity(identity.key, identity.chain[::-1])
    assert "has not issued it" in refused(keystore("PEM", path, disordered.pem()))
    damaged = keystore(
        "PEM",
        path,
        identity.pem().replace("-----BEGIN CERTIFICATE-----\nMII", "-----BEGIN CERTIFICATE-----\nMIA"),
    )
    assert "has a certificate that cannot be read" in refused(damaged)
    locked = keystore("PKCS12", path, identity.pkcs12("x"), keystore_password=SECRET)
    assert "check its type and ssl.keystore.password" in refused(locked)
    binary = keystore("PEM", path, identity.pkcs12("x"))
    assert "is not of type PEM" in refused(binary)


def test_what_is_wrong_with_a_truststore_is_named(identity: Identity, tmp_path: Path) -> None:
    path = tmp_path / "store"
    path.write_text(identity.key_pem())
    found = config({"ssl.truststore.type": "PEM", "ssl.truststore.location": str(path)})
    assert found.truststore is not None
    with pytest.raises(StoreError, match="has no block 'BEGIN CERTIFICATE'"):
        client_context(found)


def damaged(identity: Identity, old: bytes, new: bytes) -> str:
    """The certificate of this identity with other bytes."""
    der = identity.chain[0].public_bytes(Encoding.DER)
    assert der.count(old) == 1
    content = base64.encodebytes(der.replace(old, new)).decode()
    return f"-----BEGIN CERTIFICATE-----\n{content}-----END CERTIFICATE-----\n"


def test_a_certificate_that_only_its_use_shows_to_be_damaged(tmp_path: Path) -> None:
    """It can be read, but not its name or its key: an error of the store like others."""
    identity = Authority().issue("CN=damaged,O=kraftctl")
    point = identity.key.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
    wrong_key = damaged(identity, point[-8:], bytes(8))
    assert "has a certificate that cannot be used" in refused(
        keystore("PEM", tmp_path / "key.pem", identity.key_pem() + wrong_key)
    )
    wrong_name = damaged(identity, b"damaged", b"damage\xff")
    assert "has a certificate that cannot be used" in refused(
        keystore("PEM", tmp_path / "name.pem", identity.key_pem() + wrong_name + wrong_name)
    )
    truststore = tmp_path / "truststore.pem"
    truststore.write_text(wrong_name)
    found = config({"ssl.truststore.type": "PEM", "ssl.truststore.location": str(truststore)})
    with pytest.raises(StoreError, match=f"OpenSSL refuses a certificate of the truststore {truststore}"):
        client_context(found)
