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
    if refusal is None:
        refusal = _why_too_many(state, context, request)
    if refusal is not None:
        return refusal
    strict = context.version >= STRICT_QUOTA_SINCE
    quota = state.mutation_quotas.quota_for(
        state.image.client_quotas, context, strict=strict, now_ms=moment.now_ms
    )
    return _PartitionCreation(state, context, request, quota).next_slice(moment)


class _PartitionCreation(SlicedRequest):
    """The state of one request."""

    def __init__(
        self,
        state: ControllerState,
        context: RequestContext,
        request: CreatePartitionsRequest,
        quota: MutationQuota,
    ) -> None:
        needed = NeededRecords()
        for topic in request.topics:
            _add_needed(needed, state.image, topic)
        super().__init__(context, request, rehearses=needed.may_exceed_a_batch(), atomicity=ATOMIC_SLICES)
        self._state = state
        self._quota = quota
        self._rehearsed_quota = quota.rehearsal() if self.rehearsing else quota
        self._validates_only = request.validate_only
        self._topics = request.topics
        self._next_topic = 0
        self._counts = _counts(request)
        self._response = CreatePartitionsResponse()

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
        count = self._counts[topic.name]
        if count == 0:
            return []
        records: list[RecordAndVersion] = []
        error = ApiError(Errors.NONE)
        if count > 1:
            self._counts[topic.name] = 0
            error = ApiError(Errors.INVALID_REQUEST, "Duplicate topic name.")
        elif not self._state.authorizer.allows(
            self.context, AclOperation.ALTER, ResourceType.TOPIC, topic.name
        ):
            error = ApiError(Errors.TOPIC_AUTHORIZATION_FAILED)
        else:
            quota = self._rehearsed_quota if self.rehearsing else self._quota
            added = _new_partitions(self._state, topic, quota)
            if isinstance(added, ApiError):
                error = added
            else:
                records = added
                self.spent += len(added)
        self._response.results.append(
            CreatePartitionsTopicResult(name=topic.name, error_code=error.code, error_message=error.message)
        )
        return [] if self._validates_only and not self.rehearsing else records

    def rewind(self) -> None:
        self._next_topic = 0
        assert isinstance(self.whole_request, CreatePartitionsRequest)
        self._counts = _counts(self.whole_request)
        self._response = CreatePartitionsResponse()

    def answer(self) -> Message:
        self._response.throttle_time_ms = self._quota.throttle_time_ms
        return self._response


def _why_too_many(
    state: ControllerState, context: RequestContext, request: CreatePartitionsRequest
) -> ControllerResult | None:
    """Returns the refusal of a request that adds too many partitions, in all topics that it may change."""
    counts = _counts(request)
    added: dict[str, int] = {}
    for topic in request.topics:
        present = state.image.topics.topic_by_name(topic.name)
        if present is not None and counts[topic.name] == 1:
            added[topic.name] = max(topic.count - len(present.partitions), 0)
    if sum(added.values()) <= PARTITIONS_PER_REQUEST_MAX:
        return None
    total = 0
    for name, count in added.items():
        if state.authorizer.allows(context, AclOperation.ALTER, ResourceType.TOPIC, name, False, False):
            total += count
    if total <= PARTITIONS_PER_REQUEST_MAX:
        return None
    return excessive(context, request, f"{total} new partitions are more than {PARTITIONS_PER_REQUEST_MAX}")


def _counts(request: CreatePartitionsRequest) -> dict[str, int]:
    """Returns how often each topic is named."""
    counts: dict[str, int] = {}
    for topic in request.topics:
        counts[topic.name] = counts.get(topic.name, 0) + 1
    return counts


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
