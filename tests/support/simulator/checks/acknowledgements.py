"""No client is answered before everything that the response may have seen is committed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from kraftctl.apis.api import Owner
from kraftctl.node.events import ClientRequest, NodeEvent
from kraftctl.raft.events import RequestCancelled
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.alter_partition_request import AlterPartitionRequest
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_partitions_request import CreatePartitionsRequest
from kraftctl_protocol.generated.create_partitions_response import CreatePartitionsResponse
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.delete_topics_response import DeleteTopicsResponse
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.generated.elect_leaders_response import ElectLeadersResponse
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.generated.update_features_request import UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import UpdateFeaturesResponse
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from tests.support.simulator.checks import isr_change_checks
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken


def _without_error(response: Any) -> bool:
    return response.error_code == 0


def _any_topic(response: Any) -> bool:
    return any(topic.error_code == 0 for topic in response.topics)


def _any_response(response: Any) -> bool:
    return any(entry.error_code == 0 for entry in response.responses)


def _any_result(response: Any) -> bool:
    return any(entry.error_code == 0 for entry in response.results)


def _any_election(response: Any) -> bool:
    topics = response.replica_election_results
    return any(entry.error_code == 0 for topic in topics for entry in topic.partition_result)


def _any_reassignment(response: Any) -> bool:
    return any(entry.error_code == 0 for topic in response.responses for entry in topic.partitions)


ACKNOWLEDGES: Final[dict[type, Callable[[Any], bool]]] = {
    AllocateProducerIdsResponse: _without_error,
    AlterPartitionReassignmentsResponse: _any_reassignment,
    AlterPartitionResponse: _without_error,
    BrokerHeartbeatResponse: _without_error,
    BrokerRegistrationResponse: _without_error,
    CreatePartitionsResponse: _any_result,
    CreateTopicsResponse: _any_topic,
    DeleteTopicsResponse: _any_response,
    ElectLeadersResponse: _any_election,
    IncrementalAlterConfigsResponse: _any_response,
    UnregisterBrokerResponse: _without_error,
    UpdateFeaturesResponse: _without_error,
}
"""Responses that report success -> whether this one does. A refusal promises nothing."""

ACKNOWLEDGED_KEYS: Final = frozenset(response.API_KEY for response in ACKNOWLEDGES)
"""What waits for commits is not taken from the sources' own table of APIs: that may be wrong."""

ALWAYS_APPEND: Final = frozenset(
    (
        AllocateProducerIdsRequest,
        BrokerRegistrationRequest,
        CreatePartitionsRequest,
        CreateTopicsRequest,
        DeleteTopicsRequest,
        ElectLeadersRequest,
        UnregisterBrokerRequest,
        UpdateFeaturesRequest,
    )
)
"""Requests that never succeed without a record, unless they only validate."""


def requested(replica: CheckedReplica, event: NodeEvent) -> None:
    """Its step is over; what it appended comes next, as the first data batch."""
    assert isinstance(event, ClientRequest)
    api = event.context.api
    request = event.request
    if api.owner == Owner.RAFT:
        if type(request) is VoteRequest:
            replica.votes_asked[event.request_id] = request
    elif request.API_KEY in ACKNOWLEDGED_KEYS:
        seen = replica.last_change_end
        if type(request) is BrokerHeartbeatRequest:
            ends = replica.last_registration_ends
            seen = ends.get(request.broker_id, 0)
            # Whether it may stop depends on what the others have seen, and so on which of them are fenced.
            replica.shutdowns_asked[event.request_id] = max(ends.values(), default=0)
        replica.asked[event.request_id] = seen
        if next(reversed(replica.leaders), 0) > replica.epoch:
            replica.replaced_asked.add(event.request_id)
        if type(request) is AlterPartitionRequest:
            image = replica.controller.image
            reasons = isr_change_checks.reasons_to_refuse(image, request, event.context.version)
            if reasons:
                replica.isr_refusals[event.request_id] = reasons
        if type(request) in ALWAYS_APPEND and not getattr(request, "validate_only", False):
            replica.step_request = event.request_id


def appended(replica: CheckedReplica, end_offset: int) -> None:
    """The first data batch of the step: the records of its request, if that succeeds."""
    replica.asked[replica.step_request] = end_offset
    replica.step_request = -1


def cancelled(replica: CheckedReplica, event: NodeEvent) -> None:
    assert isinstance(event, RequestCancelled)
    replica.asked.pop(event.request_id, None)
    replica.shutdowns_asked.pop(event.request_id, None)
    replica.isr_refusals.pop(event.request_id, None)
    replica.replaced_asked.discard(event.request_id)
    replica.votes_asked.pop(event.request_id, None)


def check(replica: CheckedReplica, request_id: int, response: Message, committed_end: int) -> None:
    """Everything that the response may have seen is committed, unless it is a refusal."""
    end_offset = replica.asked.pop(request_id)
    shutdown_end = replica.shutdowns_asked.pop(request_id, 0)
    if type(response) is BrokerHeartbeatResponse and response.should_shut_down:
        end_offset = max(end_offset, shutdown_end)
    if request_id in replica.isr_refusals:
        reasons = replica.isr_refusals.pop(request_id)
        if type(response) is AlterPartitionResponse:
            isr_change_checks.check(replica.name, reasons, response)
    is_replaced = request_id in replica.replaced_asked
    replica.replaced_asked.discard(request_id)
    if end_offset <= committed_end and not is_replaced:
        return
    acknowledges = ACKNOWLEDGES.get(type(response))
    if acknowledges is None or not acknowledges(response):
        return
    if is_replaced:
        broken(
            "AnswersOnlyWhileLeading",
            f"{replica.name} answers {response.NAME} in epoch {replica.epoch}, although the request"
            f" came after the leader of epoch {next(reversed(replica.leaders))} was elected",
        )
    if end_offset > committed_end:
        broken(
            "AckedValueNotLost",
            f"{replica.name} in epoch {replica.epoch} answers {response.NAME} up to offset {end_offset},"
            f" committed is {committed_end}",
        )
