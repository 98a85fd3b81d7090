"""The exceptions of the library `cryptography` for keys and certificates that it cannot read."""

from __future__ import annotations

from typing import Final

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm

UNREADABLE: Final = (
    ValueError,
    TypeError,
    UnsupportedAlgorithm,
    x509.DuplicateExtension,
    x509.UnsupportedGeneralNameType,
)
"""The errors of names are raised when these are used."""
