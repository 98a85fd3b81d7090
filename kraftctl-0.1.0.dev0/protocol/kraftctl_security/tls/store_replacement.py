"""Checks whether new stores may replace those in use, like Kafka's SslFactory, and checks the dates.

A running cluster reaches a listener by the names of its old certificate, and knows its process by the
subject. Stores that change either, or that a peer with the old ones does not accept, are refused.
"""

from __future__ import annotations

import datetime
import ssl

from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.tls.contexts import Stores, client_context, server_context
from kraftctl_security.tls.distinguished_name import subject_name
from kraftctl_security.tls.ssl_config import SslConfig
from kraftctl_security.tls.store_error import StoreError
from kraftctl_security.tls.stores import KeyStore
from kraftctl_security.tls.trial_handshake import why_no_handshake
from kraftctl_security.tls.unreadable import UNREADABLE

RESTART = "or restart, which does not compare"


def check_dates(stores: Stores, now: datetime.datetime) -> None:
    """Raises StoreError when a certificate of the keystore is not valid now."""
    if stores.keystore is None:
        return
    for each in stores.keystore.chain:
        since, until = each.not_valid_before_utc, each.not_valid_after_utc
        if now > until:
            raise StoreError(f"the certificate '{name_of(each)}' has expired at {until.isoformat()}")
        if now < since:
            raise StoreError(f"the certificate '{name_of(each)}' is not valid before {since.isoformat()}")


def check_names(config: SslConfig, old: Stores, new: Stores) -> None:
    """Raises StoreError when the new certificate is for another subject, or lacks a name of the old one.

    `ssl.allow.dn.changes` and `ssl.allow.san.changes` of `config` allow that.
    """
    if old.keystore is None or new.keystore is None:
        return
    old_name, new_name = name_of(old.keystore.chain[0]), name_of(new.keystore.chain[0])
    if not config.allows_dn_changes and not _same_name(old.keystore, new.keystore):
        raise StoreError(
            f"its certificate is for '{new_name}', that in use for '{old_name}'. Next step: a certificate for"
            f" the same name, ssl.allow.dn.changes=true, {RESTART}"
        )
    lost = _alternative_names(old.keystore) - _alternative_names(new.keystore)
    if lost and not config.allows_san_changes:
        raise StoreError(
            f"its certificate lacks alternative names of that in use: {', '.join(sorted(lost))}. Next step: a"
            f" certificate with them, ssl.allow.san.changes=true, {RESTART}"
        )


def check_peers(
    old_config: SslConfig,
    old: Stores,
    new_config: SslConfig,
    new: Stores,
    now: datetime.datetime,
    *,
    is_first: bool = False,
) -> None:
    """Raises StoreError unless controllers with the new stores and with the old ones accept each other.

    New stores on both sides are checked, too; with `is_first`, they alone: others may have them for long.
    New stores need nothing that the old ones do not have, except where an old certificate has expired.
    """
    old_server, old_client = _contexts(old_config, old)
    new_server, new_client = _contexts(new_config, new)
    pairs = [("two controllers with the new stores", new_server, new_client)]
    if why_no_handshake(old_server, old_client) is not None:
        if not _has_expired(old, now):
            return
    elif not is_first:
        pairs += [
            ("a controller with the new stores and a client with those in use", new_server, old_client),
            ("a controller with the stores in use and a client with the new ones", old_server, new_client),
        ]
    for who, server, client in pairs:
        reason = why_no_handshake(server, client)
        if reason is not None:
            raise StoreError(
                f"{who} cannot connect: {reason}. Next step: first add a new authority to the truststores of"
                " all controllers, then replace their keystores, then remove the old authority"
            )


def name_of(certificate: x509.Certificate) -> str:
    """Returns its subject as principals have it, for a log line."""
    try:
        return subject_name(certificate.public_bytes(Encoding.DER))
    except DecodeError:
        return f"serial number {certificate.serial_number}"


def _has_expired(stores: Stores, now: datetime.datetime) -> bool:
    chain = [] if stores.keystore is None else stores.keystore.chain
    return any(now > each.not_valid_after_utc for each in chain)


def _contexts(config: SslConfig, stores: Stores) -> tuple[ssl.SSLContext, ssl.SSLContext]:
    client = client_context(config, stores)
    client.check_hostname = False
    return server_context(config, stores), client


def _same_name(old: KeyStore, new: KeyStore) -> bool:
    """Compares as principals, or as Java's canonical names: case, blanks and types of strings do not
    count.
    """
    former, present = old.chain[0], new.chain[0]
    if name_of(former).lower() == name_of(present).lower():
        return True
    try:
        return _canonical(former.subject) == _canonical(present.subject)
    except UNREADABLE:
        return False


def _canonical(name: x509.Name) -> list[frozenset[tuple[str, str]]]:
    return [
        frozenset((each.oid.dotted_string, " ".join(str(each.value).lower().split())) for each in part)
        for part in name.rdns
    ]


def _alternative_names(store: KeyStore) -> set[str]:
    try:
        extension = store.chain[0].extensions.get_extension_for_class(x509.SubjectAlternativeName)
    except x509.ExtensionNotFound:
        return set()
    except UNREADABLE as error:
        raise StoreError(f"its certificate has alternative names that cannot be read: {error}") from error
    return {f"{type(each).__name__} {each.value}" for each in extension.value}
