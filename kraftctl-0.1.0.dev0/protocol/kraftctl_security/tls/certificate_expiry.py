"""When certificates of stores expire, and which of them to warn of today."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from cryptography import x509
from cryptography.hazmat.primitives import hashes

from kraftctl_security.tls.contexts import Stores
from kraftctl_security.tls.store_replacement import name_of

DAY_MS: Final = 86_400_000

WARNING_DAYS: Final = (30, 7, 1)
"""A warning is due when this many days are left; within the last of them and afterwards, one each day."""


class Expiry:
    """A certificate that is shown or trusted, and the Unix time at which it expires, in ms."""

    def __init__(self, certificate: x509.Certificate, *, is_trusted: bool) -> None:
        self.certificate = certificate
        self.is_trusted = is_trusted
        self.at_ms = int(certificate.not_valid_after_utc.timestamp() * 1000)
        self.since_ms = int(certificate.not_valid_before_utc.timestamp() * 1000)

    @property
    def name(self) -> str:
        return name_of(self.certificate)

    def is_early(self, now_ms: int) -> bool:
        """Returns whether it is not valid yet by the clock of this host."""
        return now_ms < self.since_ms

    def stage(self, now_ms: int) -> int:
        """Returns how many of WARNING_DAYS have begun; all of them for a certificate that is not valid
        yet.
        """
        if self.is_early(now_ms):
            return len(WARNING_DAYS)
        return sum(self.at_ms - now_ms <= days * DAY_MS for days in WARNING_DAYS)


def expiries(stores: Stores) -> list[Expiry]:
    """Returns those of the keystore's chain and of all trusted certificates."""
    chain = [] if stores.keystore is None else stores.keystore.chain
    return [
        *(Expiry(each, is_trusted=False) for each in chain),
        *(Expiry(each, is_trusted=True) for each in stores.trusted or []),
    ]


class ExpiryWarnings:
    """Remembers the warnings of one listener as long as the certificate is there."""

    def __init__(self) -> None:
        self._warned: dict[tuple[bytes, bool], tuple[int, int]] = {}

    def due(self, found: list[Expiry], now_ms: int) -> list[Expiry]:
        """Returns those to warn of now, the first to expire first."""
        warned: dict[tuple[bytes, bool], tuple[int, int]] = {}
        result = [each for each, key in _identified(found) if self._is_due(each, key, now_ms, warned)]
        self._warned = warned
        return sorted(result, key=lambda each: each.at_ms)

    def _is_due(
        self,
        expiry: Expiry,
        key: tuple[bytes, bool],
        now_ms: int,
        warned: dict[tuple[bytes, bool], tuple[int, int]],
    ) -> bool:
        stage = expiry.stage(now_ms)
        last_stage, last_ms = self._warned.get(key, (0, now_ms))
        is_daily = stage == len(WARNING_DAYS) and now_ms - last_ms >= DAY_MS
        is_due = stage > last_stage or is_daily
        warned[key] = (stage, now_ms if is_due else last_ms)
        return is_due


def _identified(found: list[Expiry]) -> Iterator[tuple[Expiry, tuple[bytes, bool]]]:
    for each in found:
        yield each, (each.certificate.fingerprint(hashes.SHA256()), each.is_trusted)
