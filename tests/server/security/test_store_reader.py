"""Stores of a running controller are read by a process of its own, whatever is in them."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest
from cryptography.hazmat.primitives import hashes, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC

from kraftctl.server.security.store_reader import UnreadStoreError, read_stores
from kraftctl.server.security.watched_stores import RETRY_SECONDS, WatchedStores
from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.contexts import Stores, load_stores
from kraftctl_security.tls.ssl_config import SslConfig, read_listener_ssl_config
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.store_process import ReadLimits
from tests.server.security.ssl_serving import authority, identity, write_stores
from tests.support.hostile_stores import (
    DATA,
    ENCRYPTED_DATA,
    EXPLICIT,
    IMPLICIT,
    SALT,
    element,
    key_bag,
    name,
    number,
    pbes2,
    pbkdf2,
    pkcs12,
    sequence,
)

SECRET = "hunter2"


def config(properties: dict[str, str]) -> SslConfig:
    values = ConfigValues(properties)
    found = read_listener_ssl_config(values, "CONTROLLER")
    values.raise_errors()
    return found


@pytest.mark.parametrize("kind", ["EC", "RSA"])
def test_it_reads_what_this_process_would_read(kind: str, tmp_path: Path) -> None:
    own = authority().issue("CN=controller", kind=kind)
    (tmp_path / "keystore.p12").write_bytes(own.pkcs12(SECRET))
    found = config(
        {
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(tmp_path / "keystore.p12"),
            "ssl.keystore.password": SECRET,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": authority().pem,
        }
    )
    read, expected = read_stores(found), load_stores(found)
    assert read.same_as(expected)
    assert read.files == expected.files
    assert read.keystore is not None
    assert read.keystore.key.private_numbers() == own.key.private_numbers()


def test_it_says_what_is_wrong_without_a_secret(tmp_path: Path) -> None:
    properties = write_stores(tmp_path, identity())
    found = config({**properties, "ssl.key.password": SECRET})
    with pytest.raises(
        StoreError, match=f"the keystore {tmp_path}/keystore.pem has a private key that"
    ) as caught:
        read_stores(found)
    assert SECRET not in str(caught.value)


def _store_within_a_store() -> bytes:
    """A key that takes minutes to derive, and says so only to who has decrypted what it is in."""
    padder = padding.PKCS7(128).padder()
    content = sequence(key_bag(pbes2(pbkdf2(2_000_000_000))))
    key = PBKDF2HMAC(hashes.SHA256(), 32, SALT, 1).derive(SECRET.encode())
    cipher = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
    encrypted = cipher.update(padder.update(content) + padder.finalize()) + cipher.finalize()
    inner = sequence(name(DATA), pbes2(pbkdf2(1)), element(IMPLICIT, encrypted))
    return pkcs12(sequence(name(ENCRYPTED_DATA), element(EXPLICIT, sequence(number(0), inner))))


ENDS = {
    "processor": (ReadLimits(processor_seconds=1), "cannot be read within 1 s of the processor. Next step: "),
    "time": (ReadLimits(seconds=0), "cannot be read within 0 s. Next step: check the path"),
    "memory": (ReadLimits(memory_bytes=1 << 20), "with 1,048,576 bytes of memory, has ended with status"),
}


@pytest.mark.parametrize("case", ENDS)
def test_it_ends_beyond_its_limits(case: str, tmp_path: Path) -> None:
    limits, reason = ENDS[case]
    store = tmp_path / "keystore.p12"
    store.write_bytes(_store_within_a_store())
    found = config(
        {
            "ssl.keystore.type": "PKCS12",
            "ssl.keystore.location": str(store),
            "ssl.keystore.password": SECRET,
        }
    )
    with pytest.raises(StoreError) as caught:
        read_stores(found, limits)
    assert f"the keystore {store} {reason}" in str(caught.value).replace(
        "cannot be read: the process that opens them, ", ""
    )


@pytest.mark.parametrize("error", [UnreadStoreError("killed"), BlockingIOError("no process")])
def test_what_could_not_be_read_for_lack_of_time_or_memory_is_read_again(
    error: Exception, tmp_path: Path
) -> None:
    """The certificate was renewed, and the host was busy: without a second look it expires."""
    key = tmp_path / "keystore.p12"
    key.write_bytes(authority().issue("CN=old").pkcs12(SECRET))
    properties = {"ssl.keystore.type": "PKCS12", "ssl.keystore.location": str(key)}
    found = config({**properties, "ssl.keystore.password": SECRET})
    failures = [error, error]

    def read(config: SslConfig) -> Stores:
        if failures:
            raise failures.pop()
        return load_stores(config)

    stores = WatchedStores("CONTROLLER", {}, found, load_stores(found), read, reaches_controllers=False)
    now = datetime.datetime.now(datetime.UTC)

    def look(seconds: float) -> bool:
        moment = now + datetime.timedelta(seconds=seconds)
        return stores.look(None, moment, forced=False) is not None

    key.write_bytes(authority().issue("CN=old").pkcs12(SECRET))
    assert not look(0)
    with pytest.raises(type(error)):
        look(1)
    assert not look(RETRY_SECONDS)
    with pytest.raises(type(error)):
        look(RETRY_SECONDS + 1)
    assert not look(3 * RETRY_SECONDS)
    assert look(3 * RETRY_SECONDS + 1)
