"""The reasons why a request to another controller has no response, and what to check for each."""

from __future__ import annotations

from typing import Final

from kraftctl.raft.value import Value

REFUSED: Final = "refused"
NO_ADDRESS: Final = "no address"
CLOSES: Final = "closes"
UNREACHABLE: Final = "unreachable"
NO_RESPONSE: Final = "no response"
SSL_FAILED: Final = "SSL failed"
SASL_FAILED: Final = "SASL failed"
NOT_KAFKA: Final = "not Kafka"

NEXT_STEPS: Final[dict[str, str]] = {
    REFUSED: "start the controllers that refuse connections, or correct their port",
    CLOSES: "see why the process there closes connections: its log says so; its security protocol may differ",
    NO_ADDRESS: "correct the host name, or the DNS server that does not know it",
    UNREACHABLE: "check routes and firewalls between the hosts",
    NO_RESPONSE: "check routes and firewalls between the hosts, and whether the process there hangs",
    SSL_FAILED: "check ssl.* of the controllers' listener, here and there",
    SASL_FAILED: "check sasl.* of the controllers' listener, here and there",
    NOT_KAFKA: "check that the port is that of a controller's listener, and its security protocol",
}
"""The next step for each kind of failure."""


class PeerFailure(Value):
    """A failure; `kind` is one of NEXT_STEPS, `text` the reason in words."""

    def __init__(self, kind: str, text: str) -> None:
        self.kind = kind
        self.text = text


NOTHING_CAME: Final = PeerFailure(NO_RESPONSE, "no response")
CLOSED: Final = PeerFailure(REFUSED, "connection refused")
