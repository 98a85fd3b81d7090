"""A name with good and bad addresses, and the clients that connect to it."""

from __future__ import annotations

import ssl
import threading
from contextlib import ExitStack

from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import ClientConfig
from kraftctl_observer.observer import QuorumObserver
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_security.client_config import ClientSecurity
from tests.clients.sasl_script import TwoSteps, sasl_script
from tests.server.peers.test_peers import Asker
from tests.server.security.ssl_serving import authority, context_of, node_context
from tests.support.certificates import Authority
from tests.support.wire.bad_addresses import (
    BEHAVIOURS,
    NAME,
    BadAddress,
    Names,
    dropping,
    free_everywhere,
    shaking_hands,
)
from tests.support.wire.scripted_node import Script, ScriptedNode

PLAINTEXT, SSL, SASL = "PLAINTEXT", "SSL", "SASL_PLAINTEXT"

CLUSTER = DescribeClusterResponse(cluster_id="c1", endpoint_type=2)
ANSWERED = UnregisterBrokerResponse(throttle_time_ms=7)

TIMEOUT_MS = 2_000
"""The default of controller.quorum.request.timeout.ms."""


def answered(_: Message) -> Message:
    return CLUSTER


GOOD: Script = {
    DescribeClusterRequest: answered,
    UnregisterBrokerRequest: lambda _: ANSWERED,
}


class Situation:
    """A name, the nodes behind its addresses, and how a client connects to them."""

    def __init__(self, names: Names, stack: ExitStack, protocol: str) -> None:
        self.names = names
        self.port = free_everywhere()
        self.protocol = protocol
        self.bad: list[BadAddress] = []
        self._stack = stack
        self._over = threading.Event()
        stack.callback(self._over.set)

    def ssl_context(self, own: Authority | None = None, host: str = NAME) -> ssl.SSLContext | None:
        if self.protocol != SSL:
            return None
        return node_context((own or authority()).issue("CN=controller", (host,)))

    def good(
        self, address: str, script: Script = GOOD, context: ssl.SSLContext | None = None
    ) -> ScriptedNode:
        """A node, until the end of the test."""
        return self._stack.enter_context(self.node(address, script, context))

    def node(
        self, address: str, script: Script = GOOD, context: ssl.SSLContext | None = None
    ) -> ScriptedNode:
        """One that the caller starts."""
        sasl = sasl_script() if self.protocol == SASL else {}
        place = (address, self.port)
        return ScriptedNode({**sasl, **script}, ssl_context=context or self.ssl_context(), place=place)

    def spoil(self, kind: str, address: str) -> None:
        """This kind of uselessness at the address."""
        match kind:
            case "refuses":
                pass
            case "drops":
                self._stack.enter_context(dropping(address, self.port))
            case "shakes-hands-only":
                context = self.ssl_context()
                assert context is not None
                self._enter(BadAddress(address, self.port, shaking_hands(context)))
            case "no-ssl":
                self._stack.enter_context(ScriptedNode(GOOD, place=(address, self.port)))
            case "another-authority":
                self.good(address, GOOD, self.ssl_context(Authority("CN=Other")))
            case "another-name":
                self.good(address, GOOD, self.ssl_context(host="another.example"))
            case "answers-only-versions":
                self.good(address, dict.fromkeys(GOOD, self._silent))
            case "no-answer-to-sasl":
                self.good(address, {**GOOD, SaslHandshakeRequest: self._silent})
            case _:
                self._enter(BadAddress(address, self.port, BEHAVIOURS[kind]))

    def silence(self, node: ScriptedNode) -> None:
        """It answers no request any more, until the end of the test."""
        node.script.update(dict.fromkeys(GOOD, self._silent))

    def _enter(self, bad: BadAddress) -> None:
        self.bad.append(self._stack.enter_context(bad))

    def _silent(self, _: Message) -> None:
        self._over.wait(20.0)

    def security(self) -> ClientSecurity:
        return ClientSecurity(
            ssl_context=context_of() if self.protocol == SSL else None,
            new_sasl_client=TwoSteps if self.protocol == SASL else None,
        )


def asker_of(there: Situation, timeout_ms: int = TIMEOUT_MS) -> Asker:
    security = there.security()
    asker = Asker(there.port, security.ssl_context, timeout_ms)
    asker.host = NAME
    asker.peers.new_sasl_client = security.new_sasl_client
    return asker


def admin_of(
    there: Situation, *, timeout_ms: int = TIMEOUT_MS, request_timeout_ms: int = TIMEOUT_MS
) -> AdminClient:
    config = ClientConfig(
        default_api_timeout_ms=timeout_ms,
        request_timeout_ms=request_timeout_ms,
        retry_backoff_ms=20,
        security=there.security(),
    )
    return AdminClient([(NAME, there.port)], to_controllers=False, config=config, clock=Clock())


def observer_of(there: Situation, timeout_s: float = 2.0) -> QuorumObserver:
    return QuorumObserver([(NAME, there.port)], timeout_s=timeout_s, read_security=there.security)
