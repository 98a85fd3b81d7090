"""Subjects of certificates as ACLs have them. test_names_oracle.py compares more of them with Java's."""

from __future__ import annotations

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509 import NameAttribute, ObjectIdentifier, RelativeDistinguishedName
from cryptography.x509.oid import NameOID

from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.tls.distinguished_name import subject_name
from tests.support.certificates import Authority


def certificate(*relative_names: tuple[tuple[ObjectIdentifier, str], ...]) -> bytes:
    """In the order of the certificate, which is the opposite of that of the text."""
    names = [
        RelativeDistinguishedName([NameAttribute(kind, value) for kind, value in attributes])
        for attributes in relative_names
    ]
    authority = Authority()
    signed = authority.builder(x509.Name(names)).sign(authority.key, hashes.SHA256())
    return signed.public_bytes(Encoding.DER)


CN, OU, O, C = (
    NameOID.COMMON_NAME,
    NameOID.ORGANIZATIONAL_UNIT_NAME,
    NameOID.ORGANIZATION_NAME,
    NameOID.COUNTRY_NAME,
)


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        pytest.param((((C, "DE"),), ((O, "Org"),), ((CN, "a"),)), "CN=a,O=Org,C=DE", id="the-last-is-first"),
        pytest.param((((CN, "a,OU=nodes"),),), "CN=a\\,OU\\=nodes", id="a-comma-begins-no-new-name"),
        pytest.param((((CN, "a+b"),),), "CN=a\\+b", id="a-plus"),
        pytest.param((((CN, " a "),),), "CN=\\ a\\ ", id="blanks-at-the-ends"),
        pytest.param((((CN, "a"), (OU, "b")), ((O, "c"),)), "O=c,CN=a+OU=b", id="two-attributes"),
        pytest.param(
            (((NameOID.EMAIL_ADDRESS, "a@b"),), ((CN, "a"),)),
            "CN=a,1.2.840.113549.1.9.1=#1603614062",
            id="a-type-without-a-keyword",
        ),
        pytest.param((), "", id="none"),
    ],
)
def test_subjects(names: tuple[tuple[tuple[ObjectIdentifier, str], ...], ...], expected: str) -> None:
    assert subject_name(certificate(*names)) == expected


def test_what_is_cut_or_damaged_has_no_name() -> None:
    whole = certificate(((CN, "a"),))
    for length in (0, 1, 2, 10, 50, len(whole) - 1):
        with pytest.raises(DecodeError):
            subject_name(whole[:length])
    with pytest.raises(DecodeError, match="is not UTF-8"):
        subject_name(whole.replace(b"\x0c\x01a", b"\x0c\x01\xff"))
