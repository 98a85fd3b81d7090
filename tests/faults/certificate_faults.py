"""Planted faults in stores and certificates: what is read, what replaces what, and when that is announced."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

STORES = "protocol/kraftctl_security/tls/stores.py"

FAULTS = (
    PlantedFault(
        "an-answer-follows-the-end-of-records",
        "kraftctl/server/ssl_transport.py",
        "            return  # as every transport; the end of records has been sent\n",
        "            pass\n",
        ("tests/server/test_ssl_ends.py",),
        "Each client that leaves early writes an ERROR into the log.",
    ),
    PlantedFault(
        "a-damaged-certificate-is-a-traceback",
        STORES,
        "UNREADABLE: Final = (ValueError, TypeError, UnsupportedAlgorithm)\n",
        "UNREADABLE: Final = (TypeError, UnsupportedAlgorithm)\n",
        ("tests/tls/test_stores.py::test_a_certificate_that_only_its_use_shows_to_be_damaged",),
        "A start with a damaged store ends with a traceback, a reload ends the reloading.",
    ),
)
