"""One row of the table of APIs: versions, who answers, the right it needs, what its answer waits for."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors

NO_CLUSTER_RIGHT: Final = 0
"""Anybody may send it, or the handler checks rights itself, per resource."""


class Owner:
    """Which part of a controller answers an API."""

    RAFT: Final = 1
    """The raft layer, which refuses by itself what only a leader may answer."""

    ACTIVE: Final = 2
    """The active controller; a standby refuses with NOT_CONTROLLER."""

    EVERY: Final = 3
    """Every controller, active or standby."""

    NODE: Final = 4
    """The node, which opens the envelope and answers the request in it."""

    NOBODY: Final = 5
    """ApiVersions lists it, as Kafka's does, and every request is refused with `Api.refusal`."""


class WaitsFor:
    """What must be committed before the active controller sends an answer."""

    ALL_BEFORE: Final = 1
    """Everything that the request may have seen: the rule for what goes through Kafka's controller queue."""

    READS: Final = 2
    """Only what the answer is taken from, and not for ever. Kafka answers these outside the queue."""

    NOTHING: Final = 3
    """The handler looks at committed state alone, or the raft layer decides when to answer.

    ApiVersions has to be like that: a follower's connection begins with it, and the commit that it would
    wait for needs that follower.
    """


class Api:
    """What is decided from the header of a request, before its body is looked at.

    `lowest` and `highest` are the versions that ApiVersions lists, both inclusive. `cluster_operation` is the
    right on the cluster that all of the API needs. `forwardable`: a broker may send it in an envelope.
    """

    def __init__(
        self,
        key: ApiKey,
        lowest: int,
        highest: int,
        owner: int,
        cluster_operation: int,
        waits_for: int = WaitsFor.ALL_BEFORE,
        *,
        forwardable: bool = False,
        refusal: Errors | None = None,
    ) -> None:
        self.key = int(key)
        self.lowest = lowest
        self.highest = highest
        self.owner = owner
        self.cluster_operation = cluster_operation
        self.waits_for = waits_for
        self.forwardable = forwardable
        self.refusal = refusal

    def serves(self, version: int) -> bool:
        """Whether a request of this version may be handled."""
        return self.lowest <= version <= self.highest
