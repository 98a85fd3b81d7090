"""Keystores and truststores of the type JKS, as listeners and clients use them."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding

from kraftctl_security.client_config import read_client_security
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.contexts import client_context, server_context
from kraftctl_security.tls.jks import JksError, read_jks
from kraftctl_security.tls.ssl_config import SslConfig, read_client_ssl_config
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.stores import load_keystore, load_truststore
from kraftctl_security.tls.trial_handshake import why_no_handshake
from tests.support.certificates import Authority, Identity
from tests.support.jks import jks

SECRET = "hunter2"
TYPES: tuple[dict[str, str], ...] = ({}, {"type": "JKS"}, {"type": "jks"}, {"type": "PKCS12"})
"""None is Kafka's default; Java opens either format under either name."""


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority("CN=Intermediate", parent=Authority())


@pytest.fixture(scope="module")
def identity(authority: Authority) -> Identity:
    return authority.issue("CN=controller,O=kraftctl")


def config(kind: str, location: Path, content: bytes, **keys: str) -> SslConfig:
    location.write_bytes(content)
    named = {f"ssl.{key.replace('_', '.')}": value for key, value in keys.items()}
    values = ConfigValues({f"ssl.{kind}.location": str(location), **named})
    found = read_client_ssl_config(values)
    assert values.errors == []
    return found


def keystore(location: Path, content: bytes, **keys: str) -> SslConfig:
    return config("keystore", location, content, **{"keystore_password": SECRET, **keys})


def der(authority: Authority) -> bytes:
    return authority.certificate.public_bytes(Encoding.DER)


def refused(found: SslConfig) -> str:
    with pytest.raises(StoreError) as caught:
        load_keystore(found.keystore) if found.keystore is not None else client_context(found)
    assert SECRET not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("named", TYPES, ids=str)
@pytest.mark.parametrize("kind", ["RSA", "EC"])
def test_a_keystore_under_each_type(
    kind: str, named: dict[str, str], authority: Authority, tmp_path: Path
) -> None:
    own = authority.issue("CN=controller", kind=kind)
    keys = {f"keystore_{key}": value for key, value in named.items()}
    for content in (jks(SECRET, keys=[("kafka", own, SECRET)]), own.pkcs12(SECRET)):
        found = keystore(tmp_path / "store", content, **keys)
        assert found.keystore is not None
        store = load_keystore(found.keystore)
        assert store.key.private_numbers() == own.key.private_numbers()
        assert store.chain == own.chain


@pytest.mark.parametrize("named", TYPES, ids=str)
def test_a_truststore_under_each_type(named: dict[str, str], tmp_path: Path) -> None:
    trusted = Authority("CN=Root")
    keys = {f"truststore_{key}": value for key, value in named.items()}
    for content in (jks(SECRET, trusted=[("root", der(trusted))]), trusted.pkcs12(SECRET)):
        found = config("truststore", tmp_path / "store", content, truststore_password=SECRET, **keys)
        assert found.truststore is not None
        assert load_truststore(found.truststore) == [trusted.certificate]


def test_the_first_certificate_of_a_key_is_trusted_as_in_java(identity: Identity, tmp_path: Path) -> None:
    other = Authority("CN=Other")
    content = jks(SECRET, keys=[("k", identity, SECRET)], trusted=[("o", der(other))])
    found = config("truststore", tmp_path / "store", content, truststore_password=SECRET)
    assert found.truststore is not None
    assert load_truststore(found.truststore) == [other.certificate, identity.chain[0]]


@pytest.mark.parametrize("key_password", [SECRET, "another", "pässwörd 日本 \U0001f600"])
def test_the_key_may_have_a_password_of_its_own(
    key_password: str, identity: Identity, tmp_path: Path
) -> None:
    content = jks(SECRET, keys=[("k", identity, key_password)])
    found = keystore(tmp_path / "store", content, key_password=key_password)
    assert found.keystore is not None
    assert load_keystore(found.keystore).chain == identity.chain
    if key_password != SECRET:
        assert "the password of its private key is another. Next step: check ssl.key.password." in refused(
            keystore(tmp_path / "store", content)
        )


def test_both_sides_of_a_handshake_with_jks_alone(authority: Authority, tmp_path: Path) -> None:
    def of(name: str, own: Identity, trusted: Authority) -> SslConfig:
        stores = {
            "key": jks(SECRET, keys=[("k", own, "inner")]),
            "trust": jks(SECRET, trusted=[("r", der(trusted))]),
        }
        keys: dict[str, str] = {"ssl.endpoint.identification.algorithm": "", "ssl.key.password": "inner"}
        for kind, content in stores.items():
            (tmp_path / f"{name}.{kind}").write_bytes(content)
            keys[f"ssl.{kind}store.location"] = str(tmp_path / f"{name}.{kind}")
            keys[f"ssl.{kind}store.password"] = SECRET
        values = ConfigValues({**keys, "ssl.client.auth": "required"})
        found = read_client_ssl_config(values)
        assert values.errors == []
        return found

    server = server_context(of("server", authority.issue("CN=server"), authority))
    assert server.verify_mode is ssl.CERT_REQUIRED
    assert why_no_handshake(server, client_context(of("client", authority.issue("CN=c"), authority))) is None
    stranger = Authority("CN=Stranger")
    reason = why_no_handshake(server, client_context(of("other", stranger.issue("CN=c"), authority)))
    assert reason is not None
    assert reason.startswith("the server does not accept the client")


def test_clients_of_the_command_line_and_of_the_exporter_read_jks(
    authority: Authority, tmp_path: Path
) -> None:
    """Both call this."""
    (tmp_path / "trust").write_bytes(jks(SECRET, trusted=[("r", der(authority))]))
    keys = {"security.protocol": "SSL", "ssl.truststore.location": str(tmp_path / "trust")}
    security = read_client_security(ConfigValues({**keys, "ssl.truststore.password": SECRET}))
    assert security.ssl_context is not None
    assert security.ssl_context.get_ca_certs(binary_form=True) == [der(authority)]


def test_what_cannot_be_used_is_refused_with_a_next_step(
    identity: Identity, authority: Authority, tmp_path: Path
) -> None:
    good, path = jks(SECRET, keys=[("k", identity, SECRET)]), tmp_path / "store"
    two = jks(SECRET, keys=[("a", identity, SECRET), ("b", authority.issue("CN=b"), SECRET)])
    only = jks(SECRET, trusted=[("r", der(authority))])
    cases = (
        (
            jks("other", keys=[("k", identity, "other")]),
            "or the file was changed. Next step: check ssl.keystore.password",
        ),
        (good[:-1], "it ends too early. Next step: copy the file again"),
        (good[:40], "it ends too early. Next step: copy the file again"),
        (
            good[:100] + bytes([good[100] ^ 1]) + good[101:],
            "the file was changed. Next step: check ssl.keystore",
        ),
        (two, "has 2 private keys: a, b. Next step: leave one of them in it"),
        (only, "has no private key with a certificate"),
        (b"\xce\xce\xce\xce" + good[4:], f"keytool -importkeystore -srcstoretype JCEKS -srckeystore {path}"),
        (good[:7] + b"\x03" + good[8:], "version 3 of JKS"),
        (identity.pem().encode(), "is of type PEM. Next step: set its type"),
        (b"", "cannot be read as PKCS12"),
        (b"garbage", "cannot be read as PKCS12"),
    )
    for content, expected in cases:
        assert expected in refused(keystore(path, content)), expected


def test_an_empty_password_of_a_truststore_is_one(tmp_path: Path) -> None:
    """Without a password Java and we check nothing; a variable that is not set is not that."""
    content = jks(SECRET, trusted=[("r", der(Authority()))])
    unchecked = config("truststore", tmp_path / "store", content)
    assert unchecked.truststore is not None
    assert len(load_truststore(unchecked.truststore)) == 1
    with pytest.raises(StoreError, match=r"Next step: check ssl\.truststore\.password"):
        client_context(config("truststore", tmp_path / "store", content, truststore_password=""))


def test_every_truncation_is_refused(identity: Identity) -> None:
    good = jks(SECRET, keys=[("k", identity, SECRET)])
    for size in range(len(good)):
        with pytest.raises(JksError):
            read_jks(good[:size], SECRET)


def test_every_flipped_byte_is_refused(identity: Identity) -> None:
    """The digest is of all of it."""
    good = jks(SECRET, keys=[("k", identity, SECRET)])
    for position in range(len(good)):
        with pytest.raises(JksError):
            read_jks(good[:position] + bytes([good[position] ^ 0x80]) + good[position + 1 :], SECRET)


@pytest.mark.parametrize(
    "length", [b"\x7f\xff\xff\xff", b"\xff\xff\xff\xff", b"\x80\0\0\0", b"\0\xff\xff\xff"]
)
def test_lengths_are_compared_before_anything_is_read(length: bytes, identity: Identity) -> None:
    good = jks(SECRET, keys=[("k", identity, SECRET)])
    for position in (8, 27):
        with pytest.raises(JksError):
            read_jks(good[:position] + length + good[position + 4 :], None)
