"""A client that has used up its quota of changes is not served for the time in its response (KIP-599).

As in Kafka, which reads nothing more from its connection then: not every client waits by itself. What a
broker has forwarded is answered in an envelope, and the broker keeps its client waiting.
"""

from __future__ import annotations

from kraftctl_protocol.generated.create_partitions_response import CreatePartitionsResponse
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.shared_response import unshared


def muted_seconds(response: Message) -> float:
    """Returns for how long the client is not served after this response, 0 for not at all.

    Kafka's quota counts topics and partitions; that of kraftctl counts tokens too, and only refuses them.
    """
    response = unshared(response)
    # The classes stand here: a tuple of them elsewhere is made again for each call of compiled code.
    if isinstance(response, (CreateTopicsResponse, DeleteTopicsResponse, CreatePartitionsResponse)):
        return response.throttle_time_ms / 1000.0
    return 0.0
