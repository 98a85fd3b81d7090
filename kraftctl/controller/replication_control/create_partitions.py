"""CreatePartitions (KIP-195, KIP-599): more partitions for existing topics."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.excessive_requests import has_too_many, too_many_records, why_too_many_items
from kraftctl.controller.moment import Moment
from kraftctl.controller.replication_control.mutation_quota import MutationQuota
from kraftctl.controller.replication_control.replica_assignment import (
    PARTITIONS_PER_REQUEST_MAX,
    active_replicas,
    new_partition_record,
    place_replicas,
    usable_brokers,
    why_assignment_invalid,
)
from kraftctl.controller.request_context import RequestContext
from kraftctl.controller.security.authorization import ResourceType
from kraftctl.image.topics_image import TopicImage
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

STRICT_QUOTA_SINCE: Final = 3
"""KIP-599: clients of older versions do not know THROTTLING_QUOTA_EXCEEDED."""


def create_partitions(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """One atomic batch for the topics that pass; with validate_only no records."""
    assert isinstance(request, CreatePartitionsRequest)
    refusal = why_too_many_items(context, request, len(request.topics))
    if refusal is not None:
        return refusal
    strict = context.version >= STRICT_QUOTA_SINCE
    quota = state.mutation_quotas.quota_for(
        state.image.client_quotas, context, strict=strict, now_ms=moment.now_ms
    )
    response = CreatePartitionsResponse()
    records: list[RecordAndVersion] = []
    counts: dict[str, int] = {}
    for topic in request.topics:
        counts[topic.name] = counts.get(topic.name, 0) + 1
    for topic in request.topics:
        if counts[topic.name] == 0:
            continue
        if counts[topic.name] > 1:
            counts[topic.name] = 0
            error = ApiError(Errors.INVALID_REQUEST, "Duplicate topic name.")
        elif not state.authorizer.allows(context, AclOperation.ALTER, ResourceType.TOPIC, topic.name):
            error = ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)
        else:
            added = _new_partitions(state, topic, quota)
            if isinstance(added, ApiError):
                error = added
            else:
                error = ApiError(Errors.NONE)
                records += added
                if has_too_many(records):
                    return too_many_records(context, request)
        response.results.append(
            CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
        )
    response.throttle_time_ms = quota.throttle_time_ms
    return ControllerResult.atomic_of([] if request.validate_only else records, response)


def _new_partitions(
    state: ControllerState, request: CreatePartitionsTopic, quota: MutationQuota
) -> list[RecordAndVersion] | ApiError:
    topic = state.image.topics.topic_by_name(request.name)
    if topic is None:
        return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)
    present = len(topic.partitions)
    additional = request.count - present
    if additional == 0:
        return ApiError(Errors.INVALID_PARTITIONS, f"Topic already has {present} partition(s).")
    if additional < 0:
        return ApiError(
            Errors.INVALID_PARTITIONS,
            f"The topic {request.name} currently has {present} partition(s); "
            f"{request.count} would not be an increase.",
        )
    if request.assignments is not None and len(request.assignments) != additional:
        return ApiError(
            Errors.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only "
            f"{len(request.assignments)} assignment(s) were specified.",
        )
    if additional > PARTITIONS_PER_REQUEST_MAX:
        return ApiError(Errors.POLICY_VIOLATION, "Excessively large number of partitions per request.")
    throttled = quota.admit(additional)
    if throttled is not None:
        return throttled
    replicas = _replicas(state, topic, request, additional)
    if isinstance(replicas, ApiError):
        return replicas
    return [
        new_partition_record(
            state.image,
            topic.topic_id,
            present + index,
            assigned,
            active_replicas(state.image.cluster, assigned),
        )
        for index, assigned in enumerate(replicas)
    ]


def _replicas(
    state: ControllerState, topic: TopicImage, request: CreatePartitionsTopic, additional: int
) -> list[list[int]] | ApiError:
    """As given, or placed with as many replicas as the topic's first partition has."""
    cluster = state.image.cluster
    first = next(iter(topic.partitions.values()))
    replication_factor = len(first.replicas)
    if request.assignments is None:
        return place_replicas(
            usable_brokers(cluster),
            state.rng,
            partition_count=additional,
            replication_factor=replication_factor,
        )
    replicas: list[list[int]] = []
    for assignment in request.assignments:
        error = why_assignment_invalid(cluster, assignment.broker_ids, replication_factor)
        if error is not None:
            return error
        if not active_replicas(cluster, assignment.broker_ids):
            return ApiError(
                Errors.INVALID_REPLICA_ASSIGNMENT,
                "All brokers specified in the manual partition assignment for partition "
                f"{len(topic.partitions) + len(replicas)} are fenced or in controlled shutdown.",
            )
        replicas.append(assignment.broker_ids)
    return replicas
