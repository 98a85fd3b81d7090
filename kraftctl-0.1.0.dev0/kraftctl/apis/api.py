"""One row of the table of APIs: versions, the part that responds, the right it needs, what its response
waits for.
"""

from __future__ import annotations

from typing import Final

from kraftctl.apis.request_size import SMALL, RequestSize
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.index import request_class

NO_CLUSTER_RIGHT: Final = 0
"""Any client may send it, or the handler checks rights itself, per resource."""


class Owner:
    """The part of a controller that handles an API."""

    RAFT: Final = 1
    """The raft layer handles it, and checks itself whether this node leads."""

    ACTIVE: Final = 2
    """The active controller handles it; a standby refuses with NOT_CONTROLLER."""

    EVERY: Final = 3
    """Every controller handles it, active or standby."""

    NODE: Final = 4
    """The node handles it: it opens the envelope and handles the request in it."""

    NOBODY: Final = 5
    """ApiVersions lists it, as in Kafka, and every request is refused with `Api.refusal`."""


class WaitsFor:
    """What must be committed before the active controller sends a response."""

    ALL_BEFORE: Final = 1
    """The response waits for every record appended before: the rule for requests in Kafka's controller
    queue."""

    READS: Final = 2
    """The response waits for changes of what the handler reads. Kafka handles requests that only read
    outside its queue; they wait up to a timeout. A heartbeat waits for changes of its broker's
    registration: in Kafka it waits for all before it, and so for the disk while other brokers are fenced
    or return."""

    NOTHING: Final = 3
    """The handler reads committed state only, or the raft layer decides when to respond.

    ApiVersions must not wait: a follower sends it first on a connection, and the commit it would wait
    for needs that follower."""


class Api:
    """The facts that the header of a request decides, before its body is decoded.

    `lowest` and `highest` are the versions that ApiVersions lists, both inclusive. `cluster_operation` is
    the right on the cluster that all of the API needs. `forwardable`: brokers may send it in an envelope.
    `size` limits frame and memory.
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
        size: RequestSize = SMALL,
    ) -> None:
        self.key = int(key)
        self.lowest = lowest
        self.highest = highest
        self.owner = owner
        self.cluster_operation = cluster_operation
        self.waits_for = waits_for
        self.forwardable = forwardable
        self.refusal = refusal
        self.size = size

    @property
    def name(self) -> str:
        """The name in Kafka's ApiKeys, such as CreateTopics."""
        kind = request_class(self.key)
        assert kind is not None, f"API {self.key} has no schema"
        return kind.NAME.removesuffix("Request")

    def serves(self, version: int) -> bool:
        """Returns whether a request of this version may be handled."""
        return self.lowest <= version <= self.highest
