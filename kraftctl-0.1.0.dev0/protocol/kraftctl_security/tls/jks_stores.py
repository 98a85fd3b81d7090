"""Keystores and truststores of the type JKS: which of their entries are used, and which are refused."""

from __future__ import annotations

from cryptography import x509

from kraftctl_security.tls.jks import JCEKS_MAGIC, MAGIC, JksError, WrongPasswordError, read_jks
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.unreadable import UNREADABLE


def is_jks(data: bytes) -> bool:
    return data.startswith(MAGIC)


def refuse_other_formats(data: bytes, source: str) -> None:
    """Raises StoreError for JCEKS and PEM, with the next step."""
    if data.startswith(JCEKS_MAGIC):
        file = source.rpartition(" ")[2]
        raise StoreError(
            f"{source} is JCEKS, which is not read. Next step: keytool -importkeystore -srcstoretype JCEKS"
            f" -srckeystore {file} -destkeystore {file}.p12 -deststoretype PKCS12"
        )
    if data.lstrip().startswith(b"-----BEGIN "):
        raise StoreError(f"{source} is of type PEM. Next step: set its type.")


def jks_key(
    data: bytes, password: str, key_password: str, source: str
) -> tuple[bytes, list[x509.Certificate]]:
    """Returns the only private key as PKCS8 in DER, and its certificates. Raises StoreError."""
    try:
        keys = read_jks(data, password).keys
    except JksError as error:
        raise _store_error(error, source, "ssl.keystore.password") from error
    if len(keys) > 1:
        names = ", ".join(sorted(alias.decode(errors="replace") for alias in keys))
        raise StoreError(
            f"{source} has {len(keys)} private keys: {names}. Next step: leave one of them in it"
            " (keytool -delete -alias)."
        )
    for key in keys.values():
        try:
            der = key.unprotected(key_password)
        except JksError as error:
            raise _store_error(error, source, "ssl.key.password") from error
        if key.chain:
            return der, _certificates(key.chain, source)
    raise StoreError(f"{source} has no private key with a certificate")


def jks_certificates(data: bytes, password: str | None, source: str) -> list[x509.Certificate]:
    """Returns the certificates of a truststore that Java trusts. Raises StoreError."""
    try:
        store = read_jks(data, password)
    except JksError as error:
        raise _store_error(error, source, "ssl.truststore.password") from error
    return _certificates(store.anchors(), source)


def _certificates(encoded: list[bytes], source: str) -> list[x509.Certificate]:
    try:
        return [x509.load_der_x509_certificate(each) for each in encoded]
    except UNREADABLE as error:
        raise StoreError(f"{source} has a certificate that cannot be read: {error}") from error


def _store_error(error: JksError, source: str, key: str) -> StoreError:
    next_step = f"check {key}" if isinstance(error, WrongPasswordError) else "copy the file again"
    return StoreError(f"{source} cannot be read as JKS: {error}. Next step: {next_step}.")
