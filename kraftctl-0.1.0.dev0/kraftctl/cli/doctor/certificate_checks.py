"""Checks keystores and truststores of the listeners: that they can be used, and their dates."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

from kraftctl.cli.doctor.diagnosis import ERROR, WARN, Diagnosis, of_sentence, ok
from kraftctl.cli.doctor.subject import Subject
from kraftctl_protocol.counted_text import counted
from kraftctl_security.tls.certificate_expiry import DAY_MS, Expiry, expiries
from kraftctl_security.tls.contexts import client_context, load_stores, server_context
from kraftctl_security.tls.ssl_config import SslConfig, listener_prefix
from kraftctl_security.tls.store_error import StoreError


def check_certificates(subject: Subject) -> Iterator[Diagnosis]:
    """Loads the stores of each listener as a start does."""
    config = subject.checked()
    now_ms = subject.clock.wall_ms()
    for listener in sorted(config.ssl):
        yield from _listener(listener, config.ssl[listener], now_ms)
    if not config.ssl:
        yield ok("no listener uses SSL")


def _listener(listener: str, config: SslConfig, now_ms: int) -> Iterator[Diagnosis]:
    key = f"{listener_prefix(listener)}ssl.*"
    try:
        stores = load_stores(config)
        server_context(config, stores)
        client_context(config, stores)
    except (StoreError, OSError) as error:
        yield of_sentence(ERROR, f"Listener {listener}: {error}", (), key)
        return
    found = [each for each in expiries(stores) if each.stage(now_ms)]
    for each in found:
        yield _dated(listener, key, each, now_ms)
    own = [each for each in expiries(stores) if not each.is_trusted]
    if own and not any(not each.is_trusted for each in found):
        yield ok(f"Listener {listener}: '{own[0].name}' is valid until {_date(own[0].at_ms)}", key)


def _dated(listener: str, key: str, expiry: Expiry, now_ms: int) -> Diagnosis:
    what = f"Listener {listener}: the {'trusted ' if expiry.is_trusted else ''}certificate '{expiry.name}'"
    if expiry.is_early(now_ms):
        text = f"{what} is not valid before {_date(expiry.since_ms)}"
        return Diagnosis(ERROR, text, "check the clock of this host", key)
    if expiry.at_ms <= now_ms:
        level = WARN if expiry.is_trusted else ERROR
        text = f"{what} has expired at {_date(expiry.at_ms)}"
        return Diagnosis(level, text, "replace it; a running controller reads it again", key)
    days = (expiry.at_ms - now_ms) // DAY_MS
    text = f"{what} expires in {counted(days, 'day')}, at {_date(expiry.at_ms)}"
    return Diagnosis(WARN, text, "replace it; a running controller reads it again", key)


def _date(at_ms: int) -> str:
    return datetime.datetime.fromtimestamp(at_ms / 1000, datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
