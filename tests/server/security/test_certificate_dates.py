"""A certificate that has expired, or is not valid yet: whose it is, until when, and what to do about it."""

from __future__ import annotations

import datetime

import pytest

from kraftctl.server.security.expiry_lines import ExpiryLines
from kraftctl.server.security.ssl_metrics import SslMetrics
from kraftctl.server.security.watched_stores import WatchedStores
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_security.authentication_failures import AuthenticationFailedError
from kraftctl_security.client_config import ClientSecurity
from kraftctl_security.tls.certificate_expiry import DAY_MS
from kraftctl_security.tls.contexts import load_stores
from kraftctl_security.tls.shown_certificate import with_certificate
from tests.clients.test_blocking_connection import answered, connect
from tests.security.tls.test_store_replacement import configured
from tests.server.peers.test_peers import Asker
from tests.server.security.ssl_serving import authority, connect_ssl, context_of, node_context, serving_ssl
from tests.server.serving import eventually, unregister
from tests.support.certificates import DAY, Authority, Identity
from tests.support.wire.scripted_node import ScriptedNode

EXPIRED = authority().issue("CN=old-node", ("127.0.0.1",), valid=-2 * DAY)
EARLY = authority().issue("CN=new-node", ("127.0.0.1",), valid=9 * DAY, begins=DAY)
OLD_AUTHORITY = Authority("CN=Old authority", valid=-DAY)
OF_OLD_AUTHORITY = OLD_AUTHORITY.issue("CN=node", ("127.0.0.1",))

NODES = {
    "expired": (EXPIRED, authority(), "certificate has expired", "renewed"),
    "not-yet-valid": (EARLY, authority(), "certificate is not yet valid", "clock"),
    "expired-authority": (OF_OLD_AUTHORITY, OLD_AUTHORITY, "certificate has expired", "renewed"),
}
"""What a node shows, whom its client trusts, the reason, and a word of the next step."""

HOUR_MS = DAY_MS // 24


def dates(own: Identity) -> list[str]:
    leaf = own.chain[0]
    return [leaf.not_valid_before_utc.isoformat(), leaf.not_valid_after_utc.isoformat()]


@pytest.mark.parametrize("kind", NODES)
def test_a_client_names_the_certificate_of_the_node(kind: str) -> None:
    own, trusted, reason, step = NODES[kind]
    context = context_of(trusted=trusted)
    with ScriptedNode({DescribeClusterRequest: answered}, ssl_context=node_context(own)) as node:
        with pytest.raises(AuthenticationFailedError, match=reason) as failed:
            connect(node, ClientSecurity(ssl_context=context))
        error = with_certificate(failed.value, "127.0.0.1", node.port)
        text = str(error)
        assert f"127.0.0.1:{node.port} shows the certificate" in text
    assert [each for each in dates(own) if each not in text] == []
    assert step in error.keys
    assert "truststore" not in error.keys


def test_other_failures_ask_for_no_certificate() -> None:
    error = AuthenticationFailedError("SSL: certificate verify failed: self signed", "ssl.truststore.*")
    assert with_certificate(error, "127.0.0.1", 1) is error


@pytest.mark.parametrize("kind", NODES)
async def test_a_controller_names_the_certificate_of_the_other_one(
    kind: str, caplog: pytest.LogCaptureFixture
) -> None:
    own, trusted, reason, step = NODES[kind]

    def lines() -> list[str]:
        return [
            each.getMessage() for each in caplog.records if "do not accept each other" in each.getMessage()
        ]

    async with serving_ssl(own=own) as (server, _):
        asker = Asker(server.bound_ports["CONTROLLER"], context_of(trusted=trusted))
        asker.ask(1, unregister(1))
        assert await asker.answer_to(1) is None
        await eventually(lambda: bool(lines()))
        await asker.peers.stop()
    (line,) = lines()
    assert reason in line
    assert step in line
    assert [each for each in dates(own) if each not in line] == []


@pytest.mark.parametrize(
    ("own", "reason", "step"),
    [
        pytest.param(EXPIRED, "certificate has expired", "renew the certificate", id="expired"),
        pytest.param(EARLY, "certificate is not yet valid", "compare the clock", id="not-yet-valid"),
    ],
)
async def test_a_listener_names_what_to_do_about_that_of_a_client(
    own: Identity, reason: str, step: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with serving_ssl({"ssl.client.auth": "required"}) as (server, _):
        try:
            client = await connect_ssl(server, context_of(own))
            client.request(unregister(1), 0)
            await client.expect_ended()
        except OSError:
            pass
        await eventually(lambda: "is not accepted" in caplog.text)
    assert f"the certificate of the client is not accepted: {reason}. Next step: {step}" in caplog.text


@pytest.mark.parametrize(
    ("left_ms", "text"),
    [
        (3 * DAY_MS, "expires in 3 days"),
        (DAY_MS + 2 * HOUR_MS, "expires in 26 hours"),
        (HOUR_MS, "expires in 1 hours"),
        (1_000, "expires in 0 hours"),
        (-1_000, "has expired 0 hours ago"),
        (-HOUR_MS, "has expired 1 hours ago"),
        (-2 * DAY_MS, "has expired 2 days ago"),
        (-30 * DAY_MS, "has expired 30 days ago"),
    ],
)
def test_dates_of_the_own_certificate(left_ms: int, text: str, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("INFO")
    at_ms = int(EXPIRED.chain[0].not_valid_after_utc.timestamp() * 1000)
    check(EXPIRED, at_ms - left_ms)
    metrics, warning = (record.getMessage() for record in caplog.records)
    assert metrics.startswith(
        f"Listener CONTROLLER: its certificate {text}, the first that it trusts expires "
    )
    assert f"certificate 'CN=old-node' in its properties {text}, at {dates(EXPIRED)[1]}" in warning
    assert "-" not in text


def test_the_own_certificate_is_not_valid_yet(caplog: pytest.LogCaptureFixture) -> None:
    """The clock of this host may be wrong."""
    now = datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    check(EARLY, int(now.timestamp() * 1000))
    (warning,) = (record.getMessage() for record in caplog.records if "new-node" in record.getMessage())
    assert (
        f"is not valid before {dates(EARLY)[0]}, and the clock of this host is at {now.isoformat()}"
        in warning
    )
    assert warning.endswith("Next step: check the clock.")


def check(own: Identity, now_ms: int) -> None:
    config = configured(own, LASTING)
    stores = WatchedStores(
        "CONTROLLER", {}, config, load_stores(config), load_stores, reaches_controllers=True
    )
    ExpiryLines(SslMetrics()).check([stores], now_ms)


LASTING = Authority("CN=Lasting", valid=4_000 * DAY)
