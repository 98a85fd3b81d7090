"""Reads the keys for keystores and truststores: where private key and certificates of a listener are.

They are Kafka's (DefaultSslEngineFactory). No error names a password or a private key.
"""

from __future__ import annotations

from typing import Final

from kraftctl_security.prefixed_values import PrefixedValues

PEM: Final = "PEM"
PKCS12: Final = "PKCS12"
JKS: Final = "JKS"
"""Kafka's default for both stores."""


class KeyStoreConfig:
    """A keystore: either `location`, or `key` and `certificate_chain` as PEM texts."""

    def __init__(
        self,
        *,
        type: str,
        location: str | None,
        password: str | None,
        key_password: str | None,
        key: str | None,
        certificate_chain: str | None,
    ) -> None:
        self.type = type
        self.location = location
        self.password = password
        self.key_password = key_password
        self.key = key
        self.certificate_chain = certificate_chain


class TrustStoreConfig:
    """A truststore: either `location`, or `certificates` as PEM text."""

    def __init__(
        self, *, type: str, location: str | None, password: str | None, certificates: str | None
    ) -> None:
        self.type = type
        self.location = location
        self.password = password
        self.certificates = certificates


def read_keystore(values: PrefixedValues) -> KeyStoreConfig | None:
    """Returns None when there is no keystore, or it is wrong; `values` notes what is wrong."""
    location = values.optional_text("ssl.keystore.location")
    password = values.optional_text("ssl.keystore.password")
    key_password = values.optional_text("ssl.key.password")
    key = values.optional_text("ssl.keystore.key")
    chain = values.optional_text("ssl.keystore.certificate.chain")
    if location is None and key is None and chain is None:
        if password is not None:
            values.refuse_secret("ssl.keystore.password", "there is no ssl.keystore.location")
        return None
    kind = _store_type(values, "ssl.keystore.type")
    if kind is None:
        # What the other keys have to be depends on the type. There is a keystore: nobody must ask for one.
        return KeyStoreConfig(
            type=PEM, location=location, password=None, key_password=None, key=None, certificate_chain=None
        )
    if key is not None or chain is not None:
        if key is None or chain is None:
            has, lacks = ("key", "certificate.chain") if chain is None else ("certificate.chain", "key")
            values.refuse_secret(f"ssl.keystore.{has}", f"ssl.keystore.{lacks} must be set with it")
        if location is not None:
            values.refuse("ssl.keystore.location", location, "ssl.keystore.key is set, too")
        if kind != PEM:
            values.refuse("ssl.keystore.type", kind, f"ssl.keystore.key is for {PEM} only: set {PEM}")
    if kind == PEM and password is not None:
        values.refuse_secret("ssl.keystore.password", f"{PEM} has no store password, only ssl.key.password")
    if kind != PEM and location is not None:
        if password is None:
            values.refuse("ssl.keystore.location", location, "ssl.keystore.password must be set with it")
        elif kind == PKCS12 and key_password is not None and key_password != password:
            values.refuse_secret("ssl.key.password", f"in {PKCS12} it is the same as ssl.keystore.password")
    return KeyStoreConfig(
        type=kind,
        location=location,
        password=password,
        key_password=key_password,
        key=key,
        certificate_chain=chain,
    )


def read_truststore(values: PrefixedValues) -> TrustStoreConfig | None:
    """Returns None when there is no truststore, or it is wrong; `values` notes what is wrong."""
    location = values.optional_text("ssl.truststore.location")
    password = values.optional_text("ssl.truststore.password")
    certificates = values.optional_text("ssl.truststore.certificates")
    if location is None and certificates is None:
        if password is not None:
            values.refuse_secret("ssl.truststore.password", "there is no ssl.truststore.location")
        return None
    kind = _store_type(values, "ssl.truststore.type")
    if kind is None:
        return None
    if kind == JKS and password is None and values.has("ssl.truststore.password"):
        password = ""  # a variable that is not set: without any password, nothing would be checked
    if certificates is not None:
        if location is not None:
            values.refuse("ssl.truststore.location", location, "ssl.truststore.certificates is set, too")
        if kind != PEM:
            reason = f"ssl.truststore.certificates is for {PEM} only: set {PEM}"
            values.refuse("ssl.truststore.type", kind, reason)
    if kind == PEM and password is not None:
        values.refuse_secret("ssl.truststore.password", f"{PEM} has no store password")
    return TrustStoreConfig(type=kind, location=location, password=password, certificates=certificates)


def _store_type(values: PrefixedValues, key: str) -> str | None:
    """Returns None for a type that is not supported, which is noted."""
    kind = values.optional_text(key) or JKS
    if kind == PEM:
        return PEM
    if kind.upper() in (PKCS12, JKS):
        return kind.upper()
    values.refuse(key, kind, f"it must be one of {PEM}, {PKCS12}, {JKS}")
    return None
