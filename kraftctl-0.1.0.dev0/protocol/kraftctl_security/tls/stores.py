"""Reads keystores and truststores as Kafka's DefaultSslEngineFactory does: PEM, PKCS12, JKS."""

from __future__ import annotations

import binascii
from typing import Final, TypeAlias

from cryptography import x509
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import pkcs12

from kraftctl_protocol.file_errors import file_error
from kraftctl_security.small_files import read_small_file
from kraftctl_security.tls.jks_stores import is_jks, jks_certificates, jks_key, refuse_other_formats
from kraftctl_security.tls.key_derivations import ExcessiveDerivationError, check_derivations
from kraftctl_security.tls.pem_blocks import pem_blocks
from kraftctl_security.tls.ssl_stores import PEM, KeyStoreConfig, TrustStoreConfig
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.unreadable import UNREADABLE

PrivateKey: TypeAlias = rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey

STORE_BYTES_MAX: Final = 1024 * 1024
"""Keystores have some thousand bytes. A truststore with all public authorities has 220 KB."""

RSA_BITS_MAX: Final = 8_192
"""A handshake with such a key takes 0.1 s of the processor, and checking its primes several seconds."""

KEYSTORE: Final = "the keystore "
CERTIFICATE: Final = "CERTIFICATE"
PRIVATE_KEY: Final = "PRIVATE KEY"
ENCRYPTED_PRIVATE_KEY: Final = "ENCRYPTED PRIVATE KEY"


class KeyStore:
    """A private key, and its certificates from its own one to the one nearest to the root."""

    def __init__(self, key: PrivateKey, chain: list[x509.Certificate]) -> None:
        self.key = key
        self.chain = chain


def load_keystore(config: KeyStoreConfig) -> KeyStore:
    """Reads a keystore. Raises StoreError."""
    if config.location is not None and config.type != PEM:
        source = f"{KEYSTORE}{config.location}"
        store = _binary_keystore(_read(config.location, source), config, source)
    elif config.location is not None:
        source = f"{KEYSTORE}{config.location}"
        text = _text(_read(config.location, source), source)
        store = KeyStore(_pem_key(text, config.key_password, source), _pem_certificates(text, source))
    else:
        assert config.key is not None
        assert config.certificate_chain is not None
        store = KeyStore(
            _pem_key(config.key, config.key_password, "ssl.keystore.key"),
            _pem_certificates(config.certificate_chain, "ssl.keystore.certificate.chain"),
        )
        source = "ssl.keystore.key"
    _check(store, source)
    return store


def _binary_keystore(data: bytes, config: KeyStoreConfig, source: str) -> KeyStore:
    """Opens either format, whichever of the two types is set, as Java does (keystore.type.compat)."""
    assert config.password is not None
    if is_jks(data):
        der, chain = jks_key(data, config.password, config.key_password or config.password, source)
        return KeyStore(_loaded_key(der, source), chain)
    if config.key_password not in (None, config.password):
        raise StoreError(
            f"{source} is PKCS12. Next step: leave ssl.key.password out: it is ssl.keystore.password."
        )
    key, chain = _pkcs12(data, config.password, source, "ssl.keystore.password")
    if key is None or not chain:
        raise StoreError(f"{source} has no private key with a certificate")
    return KeyStore(_supported(key, source), _ordered(chain, source))


def load_truststore(config: TrustStoreConfig) -> list[x509.Certificate]:
    """Returns the certificates that end a chain; they need not be roots. Raises StoreError."""
    if config.location is None:
        assert config.certificates is not None
        return _pem_certificates(config.certificates, "ssl.truststore.certificates")
    source = f"the truststore {config.location}"
    data = _read(config.location, source)
    if config.type == PEM:
        return _pem_certificates(_text(data, source), source)
    if is_jks(data):
        certificates = jks_certificates(data, config.password, source)
    else:
        _, certificates = _pkcs12(data, config.password, source, "ssl.truststore.password")
    if not certificates:
        raise StoreError(f"{source} has no certificate")
    return certificates


def _read(location: str, source: str) -> bytes:
    try:
        return read_small_file(location, STORE_BYTES_MAX)
    except OSError as error:
        key = "ssl.keystore.location" if source.startswith(KEYSTORE) else "ssl.truststore.location"
        raise StoreError(file_error("read", source, error, named_by=key)) from error


def _text(data: bytes, source: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise StoreError(f"{source} is not of type {PEM}. Next step: set its type.") from error


def _pkcs12(
    data: bytes, password: str | None, source: str, password_key: str
) -> tuple[object | None, list[x509.Certificate]]:
    """Returns the key, if there is one, and all certificates, that of the key first."""
    refuse_other_formats(data, source)
    _check_derivations(data, source)
    try:
        store = pkcs12.load_pkcs12(data, None if password is None else password.encode())
    except UNREADABLE as error:
        raise StoreError(
            f"{source} cannot be read as PKCS12 with the given password. Next step: check its type and"
            f" {password_key}."
        ) from error
    own = [] if store.cert is None else [store.cert]
    return store.key, [each.certificate for each in (*own, *store.additional_certs)]


def _pem_certificates(text: str, source: str) -> list[x509.Certificate]:
    try:
        certificates = [x509.load_der_x509_certificate(data) for _, data in pem_blocks(text, (CERTIFICATE,))]
    except UNREADABLE as error:
        raise StoreError(f"{source} has a certificate that cannot be read: {error}") from error
    if not certificates:
        raise StoreError(f"{source} has no block 'BEGIN {CERTIFICATE}'")
    return certificates


def _pem_key(text: str, password: str | None, source: str) -> PrivateKey:
    try:
        keys = pem_blocks(text, (PRIVATE_KEY, ENCRYPTED_PRIVATE_KEY))
    except binascii.Error as error:
        raise StoreError(f"{source} has a private key that cannot be read") from error
    if len(keys) != 1:
        raise StoreError(
            f"{source} has {len(keys)} blocks 'BEGIN {PRIVATE_KEY}' or 'BEGIN {ENCRYPTED_PRIVATE_KEY}', and"
            " needs one. Next step: convert a key of another kind with `openssl pkcs8 -topk8`."
        )
    kind, data = keys[0]
    if kind == ENCRYPTED_PRIVATE_KEY and password is None:
        raise StoreError(f"{source} has an encrypted private key. Next step: set ssl.key.password.")
    if kind == PRIVATE_KEY and password is not None:
        raise StoreError(f"{source} has a private key that is not encrypted, but ssl.key.password is set")
    _check_derivations(data, source)
    return _loaded_key(data, source, password, ". Next step: check ssl.key.password.")


def _check_derivations(data: bytes, source: str) -> None:
    try:
        check_derivations(data)
    except ExcessiveDerivationError as error:
        raise StoreError(
            f"{source} is not opened: {error}. Next step: encrypt it with fewer iterations, as `openssl"
            " pkcs12 -iter` and `openssl pkcs8 -iter` do."
        ) from error


def _loaded_key(der: bytes, source: str, password: str | None = None, next_step: str = "") -> PrivateKey:
    """Loads a key, whose primes are looked at only when it is not too long for that."""
    secret = None if password is None else password.encode()
    try:
        key = serialization.load_der_private_key(der, secret, unsafe_skip_rsa_key_validation=True)
        supported = _supported(key, source)
        if isinstance(supported, rsa.RSAPrivateKey):
            serialization.load_der_private_key(plain_key(supported), None)
    except UNREADABLE as error:
        raise StoreError(f"{source} has a private key that cannot be read{next_step}") from error
    return supported


def plain_key(key: PrivateKey) -> bytes:
    """Returns the key as PKCS8 in DER, not encrypted."""
    encoded: bytes = key.private_bytes(
        serialization.Encoding.DER, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return encoded


def _supported(key: object, source: str) -> PrivateKey:
    if not isinstance(key, PrivateKey):
        raise StoreError(f"{source} has a private key that is neither RSA nor EC")
    if key.key_size > RSA_BITS_MAX:
        raise StoreError(
            f"{source} has a private key of {key.key_size:,} bits, and {RSA_BITS_MAX:,} are allowed. Next"
            " step: a shorter one, or one of EC."
        )
    return key


def _ordered(certificates: list[x509.Certificate], source: str) -> list[x509.Certificate]:
    """Returns the certificates from the first one to the last issuer that is there."""
    try:
        return _by_issuer(certificates)
    except UNREADABLE as error:
        raise StoreError(f"{source} has a certificate with a name that cannot be read: {error}") from error


def _by_issuer(certificates: list[x509.Certificate]) -> list[x509.Certificate]:
    chain, left = certificates[:1], certificates[1:]
    while chain[-1].issuer != chain[-1].subject:
        issuer = next((each for each in left if each.subject == chain[-1].issuer), None)
        if issuer is None:
            break
        chain.append(issuer)
        left.remove(issuer)
    return chain


def _check(store: KeyStore, source: str) -> None:
    try:
        _check_chain(store, source)
    except UNREADABLE as error:
        raise StoreError(f"{source} has a certificate that cannot be used: {error}") from error


def _check_chain(store: KeyStore, source: str) -> None:
    for certificate, issuer in zip(store.chain, store.chain[1:], strict=False):
        if certificate.issuer != issuer.subject:
            raise StoreError(
                f"{source}: the certificate of '{issuer.subject.rfc4514_string()}' follows the one of"
                f" '{certificate.subject.rfc4514_string()}' and has not issued it. Next step: begin with the"
                " certificate of the key, and let each be followed by its issuer."
            )
    if store.chain[0].public_key() != store.key.public_key():
        raise StoreError(f"{source}: the first certificate is not that of the private key")
