"""What a client shows of itself has limits, and nothing of it is kept when its connection has ended."""

from __future__ import annotations

import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.serialization import Encoding

from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.security import ssl_transport
from kraftctl_security.tls import openssl_settings
from tests.server.security.ssl_serving import (
    BROKER,
    authority,
    connect_ssl,
    context_of,
    identity,
    serving_ssl,
)
from tests.server.serving import eventually, expect_served
from tests.support.certificates import Authority, Identity

REQUIRED = {"ssl.client.auth": "required"}


def unrelated(name: str, names: int = 0) -> x509.Certificate:
    """A certificate that no other one needs; with `names`, a long one."""
    other = Authority(f"CN={name}")
    if not names:
        return other.certificate
    hosts = [x509.DNSName(f"{number}.{'x' * 50}.example") for number in range(names)]
    extension = x509.SubjectAlternativeName(hosts)
    return (
        other.builder(other.subject).add_extension(extension, critical=False).sign(other.key, hashes.SHA256())
    )


def context_with(own: Identity, extra: list[x509.Certificate], path: Path, version: str) -> ssl.SSLContext:
    """A client that shows its own certificate, and others behind it."""
    shown = "".join(each.public_bytes(Encoding.PEM).decode() for each in extra)
    path.write_text(own.pem() + shown)
    context = context_of(ssl__enabled__protocols=version)
    context.load_cert_chain(path)
    return context


CHAINS = {
    "ten": ([unrelated(f"{number}") for number in range(9)], None),
    "eleven": ([unrelated(f"{number}") for number in range(10)], "11 certificates, and 10 are allowed"),
    "of-16-kilobytes": ([unrelated("long", 250)], "the SSL handshake failed: excessive message size"),
    "a-hundred": ([unrelated("one")] * 105, "the SSL handshake failed: excessive message size"),
    "of-64-kilobytes": ([unrelated("long", 1_000)], "the SSL handshake"),
}


@pytest.mark.parametrize("version", ["TLSv1.2", "TLSv1.3"])
@pytest.mark.parametrize("case", CHAINS)
async def test_a_chain_has_ten_certificates_and_16_kilobytes_at_most(
    case: str, version: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    extra, reason = CHAINS[case]
    async with serving_ssl(REQUIRED) as (server, _):
        context = context_with(identity(BROKER), extra, tmp_path / "shown.pem", version)
        if reason is None:
            await expect_served(await connect_ssl(server, context))
            return
        with pytest.raises((ssl.SSLError, ConnectionError, EOFError)):
            await expect_served(await connect_ssl(server, context))
        await eventually(lambda: server.metrics.connections_count == 0)
    assert reason in caplog.text


SUBJECTS = {
    "twenty": (",".join(f"OU={number}" for number in range(20)), None),
    "twenty-one": (",".join(f"OU={number}" for number in range(21)), "21 parts, and 20 are allowed"),
    "in-one": ("+".join(f"OU={number}" for number in range(21)), "21 parts, and 20 are allowed"),
    "two-hundred": (",".join(["OU=a,O=b,L=c,ST=d"] * 10), "40 parts, and 20 are allowed"),
    "long": (",".join(f"OU={number:060d}" for number in range(14)), None),
    "too-long": (",".join(f"OU={number:060d}" for number in range(18)), "bytes, and 1,024 are allowed"),
}


@pytest.mark.parametrize("case", SUBJECTS)
async def test_a_subject_has_twenty_parts_and_a_kilobyte_at_most(
    case: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Before the operator's rules are applied to it, which may take long."""
    subject, reason = SUBJECTS[case]
    async with serving_ssl(REQUIRED) as (server, handler):
        context = context_of(authority().issue(subject))
        if reason is None:
            await expect_served(await connect_ssl(server, context))
            assert str(handler.contexts[-1].principal) == f"User:{subject}"
            return
        with pytest.raises((ssl.SSLError, ConnectionError, EOFError)):
            await expect_served(await connect_ssl(server, context))
    assert f"the client has no name: its subject has {reason}" in caplog.text or reason in caplog.text


@pytest.mark.parametrize("end", ["close", "abort"])
@pytest.mark.parametrize("library", [True, False])
async def test_no_session_is_kept(
    library: bool, end: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Also where the library cannot be asked, and the client says properly that it leaves."""
    if not library:
        monkeypatch.setattr(openssl_settings, "_library", lambda: None)
        monkeypatch.setattr(ssl_transport, "keeps_sessions", lambda: True)
    async with serving_ssl(REQUIRED) as (server, _):
        for version in ("TLSv1.2", "TLSv1.3"):
            context = context_of(identity(BROKER), ssl__enabled__protocols=version)
            for _ in range(3):
                await end_of_one(server, context, end)
            assert sessions(server) == 0, version


async def end_of_one(server: SocketServer, context: ssl.SSLContext, end: str) -> None:
    client = await connect_ssl(server, context)
    await expect_served(client)
    if end == "abort":
        client.writer.transport.abort()
    else:
        client.close()
    await eventually(lambda: server.metrics.connections_count == 0)


def sessions(server: SocketServer) -> int:
    return server.security.ssl_listeners["CONTROLLER"].context.session_stats()["number"]
