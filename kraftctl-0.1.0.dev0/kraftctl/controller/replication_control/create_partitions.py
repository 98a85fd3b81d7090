"""CreatePartitions (KIP-195, KIP-599): more partitions for existing topics."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.replication_control.needed_records import NeededRecords
from kraftctl.controller.replication_control.replica_assignment import (
    PARTITIONS_PER_REQUEST_MAX,
    NewPartitions,
    active_replicas,
    place_replicas,
    usable_brokers,
    why_assignment_invalid,
)
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import excessive, why_too_many_items
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.request_deadline import timed_out
from kraftctl.controller.results.sliced_request import ATOMIC_SLICES, SlicedRequest
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.mutation_quota import MutationQuota
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.replica_placement import StripedReplicaPlacer
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
from kraftctl_protocol.java_hash_order import in_hash_order
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

STRICT_QUOTA_SINCE: Final = 3
"""Clients of older versions do not know THROTTLING_QUOTA_EXCEEDED (KIP-599)."""


def create_partitions(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Writes an atomic batch for each topic that passes, at least; with validate_only no records."""
    assert isinstance(request, CreatePartitionsRequest)
    refusal = why_too_many_items(context, request, len(request.topics))
    if refusal is not None:
        return refusal
    refused, topics = _sort_out(state, context, request)
    if topics:
        refusal = timed_out(context, request, moment) or _why_too_many(state, context, request, topics)
    if refusal is not None:
        return refusal
    strict = context.version >= STRICT_QUOTA_SINCE
    quota = state.mutation_quotas.quota_for(
        state.image.client_quotas, context, strict=strict, now_ms=moment.now_ms
    )
    return _PartitionCreation(state, context, request, quota, topics, refused).next_slice(moment)


def _sort_out(
    state: ControllerState, context: RequestContext, request: CreatePartitionsRequest
) -> tuple[list[CreatePartitionsTopicResult], list[CreatePartitionsTopic]]:
    """Returns the results of topics that are named twice or that the principal may not alter, and the other
    topics. Both are in Kafka's order.
    """
    by_name: dict[str, CreatePartitionsTopic] = {}
    repeated: dict[str, None] = {}
    for topic in request.topics:
        if topic.name in by_name:
            repeated[topic.name] = None
        by_name[topic.name] = topic
    twice = ApiError(Errors.INVALID_REQUEST, "Duplicate topic name.")
    refused = [_result(name, twice) for name in in_hash_order(list(repeated))]
    topics: list[CreatePartitionsTopic] = []
    for name in in_hash_order(list(by_name)):
        if name in repeated:
            continue
        if state.authorizer.allows(context, AclOperation.ALTER, ResourceType.TOPIC, name):
            topics.append(by_name[name])
        else:
            refused.append(_result(name, ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)))
    return refused, topics


class _PartitionCreation(SlicedRequest):
    """The state of one request."""

    def __init__(
        self,
        state: ControllerState,
        context: RequestContext,
        request: CreatePartitionsRequest,
        quota: MutationQuota,
        topics: list[CreatePartitionsTopic],
        refused: list[CreatePartitionsTopicResult],
    ) -> None:
        needed = NeededRecords()
        for topic in topics:
            _add_needed(needed, state.image, topic)
        super().__init__(context, request, rehearses=needed.may_exceed_a_batch(), atomicity=ATOMIC_SLICES)
        self._state = state
        self._quota = quota
        self._rehearsed_quota = quota.rehearsal() if self.rehearsing else quota
        self._validates_only = request.validate_only
        self._topics = topics
        self._refused = refused
        self._next_topic = 0
        self._response = CreatePartitionsResponse(results=list(refused))

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        self._quota.now_ms = moment.now_ms
        return None

    def has_next(self) -> bool:
        return self._next_topic < len(self._topics)

    def next_records_max(self) -> int:
        needed = NeededRecords()
        _add_needed(needed, self._state.image, self._topics[self._next_topic])
        return needed.record_count

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        topic = self._topics[self._next_topic]
        self._next_topic += 1
        self.spent += 1
        quota = self._rehearsed_quota if self.rehearsing else self._quota
        records = _new_partitions(self._state, topic, quota)
        if isinstance(records, ApiError):
            self._response.results.append(_result(topic.name, records))
            return []
        self._response.results.append(_result(topic.name, ApiError(Errors.NONE)))
        self.spent += len(records)
        return [] if self._validates_only and not self.rehearsing else records

    def rewind(self) -> None:
        self._next_topic = 0
        self._response = CreatePartitionsResponse(results=list(self._refused))

    def answer(self) -> Message:
        self._response.throttle_time_ms = self._quota.throttle_time_ms
        return self._response


def _why_too_many(
    state: ControllerState,
    context: RequestContext,
    request: CreatePartitionsRequest,
    topics: list[CreatePartitionsTopic],
) -> ControllerResult | None:
    """Returns the refusal of a request that adds too many partitions, in all topics that it may change."""
    total = 0
    for topic in topics:
        present = state.image.topics.topic_by_name(topic.name)
        if present is not None:
            total += max(topic.count - len(present.partitions), 0)
    if total <= PARTITIONS_PER_REQUEST_MAX:
        return None
    return excessive(context, request, f"{total} new partitions are more than {PARTITIONS_PER_REQUEST_MAX}")


def _result(name: str, error: ApiError) -> CreatePartitionsTopicResult:
    return CreatePartitionsTopicResult(name=name, error_code=error.code, error_message=error.message)


def _add_needed(needed: NeededRecords, image: MetadataImage, asked: CreatePartitionsTopic) -> None:
    topic = image.topics.topic_by_name(asked.name)
    if topic is not None:
        additional = min(asked.count - len(topic.partitions), PARTITIONS_PER_REQUEST_MAX)
        needed.add_partitions(additional, topic.replication_factor)


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
        # The topic was made again since the whole request was checked.
        return ApiError(Errors.POLICY_VIOLATION, "Excessively large number of partitions per request.")
    throttled = quota.admit(additional)
    if throttled is not None:
        return throttled
    replicas = _replicas(state, topic, request, additional)
    if isinstance(replicas, ApiError):
        return replicas
    new = NewPartitions(state.image, state.heartbeats.leaving)
    return [new.record(topic.topic_id, present + index, assigned) for index, assigned in enumerate(replicas)]


def _replicas(
    state: ControllerState, topic: TopicImage, request: CreatePartitionsTopic, additional: int
) -> list[list[int]] | ApiError:
    """Returns the given replicas, or places as many as the topic's first partition has."""
    cluster = state.image.cluster
    first = topic.partitions.get(0)
    if first is None:
        first = topic.partitions.values()[0]
    replication_factor = len(first.replicas)
    if request.assignments is None:
        return place_replicas(
            StripedReplicaPlacer(state.rng, usable_brokers(cluster, state.heartbeats.leaving)),
            partition_count=additional,
            replication_factor=replication_factor,
        )
    replicas: list[list[int]] = []
    for assignment in request.assignments:
        error = why_assignment_invalid(cluster, assignment.broker_ids, replication_factor)
        if error is not None:
            return error
        if not active_replicas(cluster, state.heartbeats.leaving, assignment.broker_ids):
            return ApiError(
                Errors.INVALID_REPLICA_ASSIGNMENT,
                f"No broker given for partition {len(topic.partitions) + len(replicas)} is active: each is "
                "fenced or shuts down.",
            )
        replicas.append(assignment.broker_ids)
    return replicas
