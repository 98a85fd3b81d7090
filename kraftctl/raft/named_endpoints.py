"""The endpoints that requests name: those of a voter, or of a leader (KIP-853)."""

from __future__ import annotations

from collections.abc import Sequence

from kraftctl.metadata.registration_limits import why_listeners_too_large
from kraftctl.raft.voter_set import Endpoints
from kraftctl_protocol.generated import add_raft_voter_request as addition
from kraftctl_protocol.generated import begin_quorum_epoch_request as begin
from kraftctl_protocol.generated import end_quorum_epoch_request as end
from kraftctl_protocol.generated import update_raft_voter_request as update
from kraftctl_protocol.java_values import trim

NamedEndpoints = (
    Sequence[addition.Listener]
    | Sequence[update.Listener]
    | Sequence[begin.LeaderEndpoint]
    | Sequence[end.LeaderEndpoint]
)
"""Each has a name, a host and a port."""


def endpoints_of(named: NamedEndpoints) -> Endpoints:
    """Returns them by their names in capitals, as Kafka's replicas have them; the last one of a name."""
    return {each.name.upper(): (each.host, each.port) for each in named}


def why_unusable(named: NamedEndpoints) -> str | None:
    """Returns None if replicas can keep these endpoints.

    Kafka's controllers and brokers end when they read a name without a visible character, from a request or
    from the log.
    """
    if not all(trim(each.name) for each in named):
        return "a listener has no name"
    return why_listeners_too_large([(each.name.upper(), each.host) for each in named])
