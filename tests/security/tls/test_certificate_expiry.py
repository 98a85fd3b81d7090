"""Warnings of certificates that expire: 30 days before, 7 days, one day, then each day."""

from __future__ import annotations

import datetime

from kraftctl_security.tls.certificate_expiry import DAY_MS, ExpiryWarnings, expiries
from kraftctl_security.tls.contexts import load_stores
from tests.security.tls.test_store_replacement import configured
from tests.support.certificates import DAY, Authority

AUTHORITY = Authority("CN=Authority", valid=4_000 * DAY)
STORES = load_stores(configured(AUTHORITY.issue("CN=own", valid=100 * DAY), AUTHORITY))
NOW_MS = int(datetime.datetime.now(datetime.UTC).timestamp() * 1000)


def days_of_warnings(first: int, last: int, *, checks_per_day: int = 24) -> list[int]:
    """On which days, counted back from the end, a controller warns that runs through all of these."""
    warnings = ExpiryWarnings()
    end_ms = expiries(STORES)[0].at_ms
    found: list[int] = []
    for hour in range(first * checks_per_day, last * checks_per_day, -1):
        left_ms = hour * DAY_MS // checks_per_day
        due = warnings.due(expiries(STORES), end_ms - left_ms)
        assert [each.name for each in due] in ([], ["CN=own"])
        found += [left_ms // DAY_MS for _ in due]
    return found


def test_warnings_come_more_often() -> None:
    assert days_of_warnings(90, -4) == [30, 7, 1, 0, -1, -2, -3]


def test_a_controller_that_starts_late_warns_at_its_start() -> None:
    assert days_of_warnings(20, 2) == [20, 7]
    assert days_of_warnings(-3, -5) == [-3, -4]


def test_trusted_certificates_expire_too() -> None:
    due = ExpiryWarnings().due(expiries(STORES), NOW_MS + 3_999 * DAY_MS)
    assert [(each.name, each.is_trusted) for each in due] == [("CN=own", False), ("CN=Authority", True)]


def test_a_new_certificate_is_warned_of_anew() -> None:
    warnings = ExpiryWarnings()
    assert len(warnings.due(expiries(STORES), NOW_MS + 80 * DAY_MS)) == 1
    newer = load_stores(configured(AUTHORITY.issue("CN=own", valid=101 * DAY), AUTHORITY))
    assert len(warnings.due(expiries(newer), NOW_MS + 80 * DAY_MS)) == 1
    assert warnings.due(expiries(newer), NOW_MS + 80 * DAY_MS) == []
