"""SSL contexts made of the keys `ssl.*`: what a listener and what a client offers and verifies."""

from __future__ import annotations

import os
import secrets
import ssl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives.serialization import BestAvailableEncryption, Encoding, PrivateFormat

from kraftctl_security.tls.openssl_settings import choose_groups, keep_nothing_of_clients
from kraftctl_security.tls.ssl_config import (
    CLIENT_AUTH_REQUESTED,
    CLIENT_AUTH_REQUIRED,
    TLS_1_2,
    TLS_1_3,
    SslConfig,
)
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.store_files import FileState, store_states
from kraftctl_security.tls.stores import KeyStore, load_keystore, load_truststore

VERSIONS: Final = {TLS_1_2: ssl.TLSVersion.TLSv1_2, TLS_1_3: ssl.TLSVersion.TLSv1_3}

VERIFY_MODES: Final = {
    CLIENT_AUTH_REQUIRED: ssl.CERT_REQUIRED,
    CLIENT_AUTH_REQUESTED: ssl.CERT_OPTIONAL,
}


class Stores:
    """The content of a keystore and a truststore, read one after the other; None without one.

    `files` are their states before that.
    """

    def __init__(
        self,
        keystore: KeyStore | None,
        trusted: list[x509.Certificate] | None,
        files: list[FileState] | None = None,
    ) -> None:
        self.keystore = keystore
        self.trusted = trusted
        self.files = files

    def same_as(self, other: Stores) -> bool:
        """Returns whether all certificates are the same, and so the key: it fits the first of them."""
        return self.trusted == other.trusted and _chain(self) == _chain(other)


def _chain(stores: Stores) -> list[x509.Certificate]:
    return [] if stores.keystore is None else stores.keystore.chain


def load_stores(config: SslConfig) -> Stores:
    """Reads the stores of a configuration. Raises StoreError."""
    files = store_states(config)
    return Stores(
        None if config.keystore is None else load_keystore(config.keystore),
        None if config.truststore is None else load_truststore(config.truststore),
        files,
    )


def server_context(config: SslConfig, stores: Stores | None = None) -> ssl.SSLContext:
    """Makes a context for a listener; without `stores`, they are read. Raises StoreError."""
    stores = stores or load_stores(config)
    assert stores.keystore is not None, "the configuration requires it"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _restrict(context, config.server_protocols, config.cipher_suites)
    # No session is resumed: each handshake verifies the client's certificate.
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    keep_nothing_of_clients(context)
    _use_keystore(context, stores.keystore)
    context.verify_mode = VERIFY_MODES.get(config.client_auth, ssl.CERT_NONE)
    if stores.trusted is not None:
        _trust(context, config, stores.trusted)
    return context


def client_context(config: SslConfig, stores: Stores | None = None) -> ssl.SSLContext:
    """Makes a context for connections to other nodes; without `stores`, they are read. Raises StoreError.

    Without a truststore, the system's is used.
    """
    stores = stores or load_stores(config)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _restrict(context, config.client_protocols, config.cipher_suites)
    context.check_hostname = config.verifies_host
    if stores.keystore is not None:
        _use_keystore(context, stores.keystore)
    if stores.trusted is not None:
        _trust(context, config, stores.trusted)
    else:
        context.load_default_certs(ssl.Purpose.SERVER_AUTH)
    return context


def _restrict(context: ssl.SSLContext, protocols: list[str], cipher_suites: list[str]) -> None:
    context.minimum_version = VERSIONS[protocols[0]]
    context.maximum_version = VERSIONS[protocols[-1]]
    # As Kafka: a peer cannot ask for further handshakes.
    context.options |= ssl.OP_NO_RENEGOTIATION
    choose_groups(context)
    try:
        context.set_ciphers(":".join(cipher_suites or _without_finite_fields(context)))
    except ssl.SSLError as error:
        raise StoreError(f"OpenSSL offers none of ssl.cipher.suites: {error}") from error


def _without_finite_fields(context: ssl.SSLContext) -> list[str]:
    """Returns the suites of TLS 1.2 that OpenSSL offers, without DHE: a peer would choose its numbers."""
    names = [each["name"] for each in context.get_ciphers() if each["protocol"] != TLS_1_3]
    return [name for name in names if not name.startswith("DHE-")]


def _trust(context: ssl.SSLContext, config: SslConfig, certificates: list[x509.Certificate]) -> None:
    assert config.truststore is not None
    try:
        context.load_verify_locations(
            cadata=b"".join(each.public_bytes(Encoding.DER) for each in certificates)
        )
    except ssl.SSLError as error:
        source = config.truststore.location or "ssl.truststore.certificates"
        raise StoreError(f"OpenSSL refuses a certificate of the truststore {source}: {error}") from error
    # In Java each certificate of a truststore ends a chain, one that is no root, too.
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN


def _use_keystore(context: ssl.SSLContext, store: KeyStore) -> None:
    """Loads the key through a file in memory, where it is encrypted: Python's ssl reads keys from files
    only.
    """
    password = secrets.token_hex()
    key = store.key.private_bytes(
        Encoding.PEM, PrivateFormat.PKCS8, BestAvailableEncryption(password.encode())
    )
    certificates = b"".join(each.public_bytes(Encoding.PEM) for each in store.chain)
    with _file_with(key + certificates) as path:
        try:
            context.load_cert_chain(path, password=password)
        except ssl.SSLError as error:
            raise StoreError(f"OpenSSL refuses the private key or its certificate: {error}") from error


@contextmanager
def _file_with(content: bytes) -> Iterator[str]:
    """Gives the path of a file that exists while the context does: on Linux in memory, elsewhere
    temporary.
    """
    if hasattr(os, "memfd_create"):
        descriptor = os.memfd_create("keystore")
        try:
            os.write(descriptor, content)
            yield f"/proc/self/fd/{descriptor}"
        finally:
            os.close(descriptor)
        return
    with tempfile.NamedTemporaryFile() as file:
        file.write(content)
        file.flush()
        yield file.name
