"""A small certificate authority for tests: nothing of it is kept."""

from __future__ import annotations

import datetime
import ipaddress
from functools import cached_property
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    pkcs12,
)

DAY = datetime.timedelta(days=1)

Key = ec.EllipticCurvePrivateKey | rsa.RSAPrivateKey


def name(text: str) -> x509.Name:
    """`CN=a,OU=b` as a name: the first attribute of the text is the last of the certificate."""
    return x509.Name.from_rfc4514_string(text)


def new_key(kind: str = "EC") -> Key:
    if kind == "RSA":
        return rsa.generate_private_key(65_537, 2_048)
    return ec.generate_private_key(ec.SECP256R1())


class Identity:
    """A private key and its certificate with the certificates of its issuers, except for the root."""

    def __init__(self, key: Key, chain: list[x509.Certificate]) -> None:
        self.key = key
        self.chain = chain

    @cached_property
    def certificates_pem(self) -> str:
        return "".join(each.public_bytes(Encoding.PEM).decode() for each in self.chain)

    def key_pem(self, password: str | None = None) -> str:
        secret = NoEncryption() if password is None else BestAvailableEncryption(password.encode())
        return self.key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, secret).decode()

    def pem(self, password: str | None = None) -> str:
        return self.key_pem(password) + self.certificates_pem

    def pkcs12(self, password: str) -> bytes:
        return pkcs12.serialize_key_and_certificates(
            b"kafka", self.key, self.chain[0], self.chain[1:], BestAvailableEncryption(password.encode())
        )


class Authority:
    """A root, or below `parent` an intermediate one."""

    def __init__(
        self,
        subject: str = "CN=Test CA,O=kraftctl",
        parent: Authority | None = None,
        valid: datetime.timedelta | None = None,
    ) -> None:
        self.subject = name(subject)
        self.key = new_key()
        self.parent = parent
        issuer = parent or self
        self.certificate = (
            _builder(self.subject, issuer.subject, self.key, valid=valid)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .sign(issuer.key, hashes.SHA256())
        )

    @cached_property
    def pem(self) -> str:
        return self.certificate.public_bytes(Encoding.PEM).decode()

    def pkcs12(self, password: str) -> bytes:
        """A truststore as keytool makes it."""
        entries = [pkcs12.PKCS12Certificate(self.certificate, b"ca")]
        return pkcs12.serialize_java_truststore(entries, BestAvailableEncryption(password.encode()))

    def builder(self, subject: x509.Name) -> x509.CertificateBuilder:
        """A certificate without extensions, of the key of this authority, to be signed."""
        return _builder(subject, self.subject, self.key)

    def issue(
        self,
        subject: str,
        hosts: tuple[str, ...] = ("localhost", "127.0.0.1"),
        *,
        expired: bool = False,
        kind: str = "EC",
        usage: x509.ObjectIdentifier | None = None,
        valid: datetime.timedelta | None = None,
        begins: datetime.timedelta | None = None,
    ) -> Identity:
        """`begins`: from now until it is valid."""
        key = new_key(kind)
        builder = _builder(name(subject), self.subject, key, expired=expired, valid=valid, begins=begins)
        if hosts:
            builder = builder.add_extension(x509.SubjectAlternativeName(_names(hosts)), critical=False)
        if usage is not None:
            builder = builder.add_extension(x509.ExtendedKeyUsage([usage]), critical=False)
        chain = [builder.sign(self.key, hashes.SHA256())]
        authority = self
        while authority.parent is not None:
            chain.append(authority.certificate)
            authority = authority.parent
        return Identity(key, chain)


def properties_of(
    identity: Identity, trusted: Authority, directory: Path, prefix: str = ""
) -> dict[str, str]:
    """Keystore and truststore as PEM files in `directory`, and the keys that name them."""
    directory.mkdir(parents=True, exist_ok=True)
    keystore, truststore = directory / "keystore.pem", directory / "truststore.pem"
    keystore.write_text(identity.pem())
    truststore.write_text(trusted.pem)
    return {
        f"{prefix}ssl.keystore.type": "PEM",
        f"{prefix}ssl.keystore.location": str(keystore),
        f"{prefix}ssl.truststore.type": "PEM",
        f"{prefix}ssl.truststore.location": str(truststore),
    }


def _builder(
    subject: x509.Name,
    issuer: x509.Name,
    key: Key,
    *,
    expired: bool = False,
    valid: datetime.timedelta | None = None,
    begins: datetime.timedelta | None = None,
) -> x509.CertificateBuilder:
    now = datetime.datetime.now(datetime.UTC)
    until = now + (valid or (-DAY if expired else DAY))
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now + (-10 * DAY if begins is None else begins))
        .not_valid_after(until)
    )


def _names(hosts: tuple[str, ...]) -> list[x509.GeneralName]:
    names: list[x509.GeneralName] = []
    for host in hosts:
        try:
            names.append(x509.IPAddress(ipaddress.ip_address(host)))
        except ValueError:
            names.append(x509.DNSName(host))
    return names
