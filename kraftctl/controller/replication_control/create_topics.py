"""CreateTopics (KIP-4, KIP-464, KIP-525, KIP-599): new topics with their configs and partitions.

Per request: no more than 10 000 partitions, else POLICY_VIOLATION. Per topic, in Kafka's order: its
name, whether it exists, null configs, configs, assignment or placement, quota. A topic that passes is written
in one atomic batch, with its configs and partitions; several topics need not be, as they are in Kafka.
"""

from __future__ import annotations

from typing import Final

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.configuration_control.elr_configs import clear_elr_records
from kraftctl.controller.configuration_control.validate_configs import why_value_too_long
from kraftctl.controller.configuration_control.validate_topic_configs import TopicConfigCheck
from kraftctl.controller.replication_control.needed_records import NeededRecords
from kraftctl.controller.replication_control.replica_assignment import (
    PARTITIONS_PER_REQUEST_MAX,
    NewPartitions,
    active_replicas,
    place_replicas,
    usable_brokers,
    why_assignment_invalid,
)
from kraftctl.controller.replication_control.topic_draft import (
    DRAFTED_PARTITIONS_MIN,
    DROPPED_DRAFTS_MAX,
    PARTITIONS_PER_UNIT,
    TopicDraft,
)
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import why_too_many_items
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.request_deadline import timed_out
from kraftctl.controller.results.sliced_request import ALL_UNITS, ATOMIC_SLICES, SlicedRequest
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.inherited_topic_config import described_topic_configs
from kraftctl.controller.state.mutation_quota import MutationQuota
from kraftctl.image.topics_image import TopicsImage, has_collision_chars, unify_collision_chars
from kraftctl.metadata.replica_placement import StripedReplicaPlacer
from kraftctl.metadata.topic_name import why_topic_name_invalid
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import (
    CreatableTopicConfigs,
    CreatableTopicResult,
    CreateTopicsResponse,
)
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.java_hash_order import in_hash_order
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from kraftctl_protocol.uuids import random_uuid

USE_DEFAULT: Final = -1
"""The controller's configuration decides the partition count or the replication factor (KIP-464)."""

STRICT_QUOTA_SINCE: Final = 6
"""Clients of older versions do not know THROTTLING_QUOTA_EXCEEDED (KIP-599)."""


def create_topics(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Creates the topics that pass all checks; with validate_only their records are dropped in the end."""
    assert isinstance(request, CreateTopicsRequest)
    refusal = why_too_many_items(context, request, len(request.topics))
    if refusal is not None:
        return refusal
    strict = context.version >= STRICT_QUOTA_SINCE
    quota = state.mutation_quotas.quota_for(
        state.image.client_quotas, context, strict=strict, now_ms=moment.now_ms
    )
    refused = _refused_up_front(state, context, request.topics)
    topics = [topic for topic in request.topics if topic.name not in refused]
    if topics and (late := timed_out(context, request, moment)) is not None:
        return late
    if _partition_total(topics, state.config.num_partitions) > PARTITIONS_PER_REQUEST_MAX:
        error = ApiError(Errors.POLICY_VIOLATION, "Excessively large number of partitions per request.")
        results = [_refused(topic.name, error) for topic in request.topics]
        return ControllerResult.atomic_of([], CreateTopicsResponse(topics=results))
    return _TopicCreation(state, context, request, quota, topics, refused).next_slice(moment)


def _refused_up_front(
    state: ControllerState, context: RequestContext, topics: list[CreatableTopic]
) -> dict[str, ApiError]:
    """Returns names that occur twice, that are Kafka's own, or that the principal may not create.

    They are in Kafka's order.
    """
    names: dict[str, None] = {}
    repeated: dict[str, None] = {}
    for topic in topics:
        if topic.name in names:
            repeated[topic.name] = None
        names[topic.name] = None
    twice = ApiError(Errors.INVALID_REQUEST, "Duplicate topic name.")
    refused = dict.fromkeys(in_hash_order(list(repeated)), twice)
    # As in Kafka, a denial is logged of the topics, which may have rights of their own.
    may_create_any = state.authorizer.allows_on_cluster(context, AclOperation.CREATE, logs_denial=False)
    if may_create_any and METADATA_TOPIC not in names:
        return refused  # as nearly always: no order has to be computed
    for name in in_hash_order([name for name in names if name not in repeated]):
        if name == METADATA_TOPIC:
            refused[name] = ApiError(
                Errors.INVALID_REQUEST, f"Creation of internal topic {name} is prohibited."
            )
        elif not may_create_any and not state.authorizer.allows(
            context, AclOperation.CREATE, ResourceType.TOPIC, name
        ):
            refused[name] = ApiError(Errors.TOPIC_AUTHORIZATION_FAILED, "Authorization failed.")
    return refused


def _partition_total(topics: list[CreatableTopic], default_count: int) -> int:
    return sum([_partition_count(topic, default_count) for topic in topics])


def _partition_count(topic: CreatableTopic, default_count: int) -> int:
    if topic.assignments:
        return len(topic.assignments)
    return default_count if topic.num_partitions == USE_DEFAULT else max(0, topic.num_partitions)


def why_name_taken(topics: TopicsImage, name: str, created: set[str]) -> ApiError | None:
    """Returns TOPIC_ALREADY_EXISTS, or INVALID_TOPIC_EXCEPTION when two names would collide in metrics.

    As in Kafka, the names of one request may collide with each other: `created` are those in the image.
    """
    if name in topics.ids_by_name:
        return ApiError(Errors.TOPIC_ALREADY_EXISTS, f"Topic '{name}' already exists.")
    if has_collision_chars(name):
        for colliding in topics.names_by_unified_name.get(unify_collision_chars(name), ()):
            if colliding not in created:
                return ApiError(
                    Errors.INVALID_TOPIC_EXCEPTION,
                    f"Topic '{name}' collides with existing topic: {colliding}",
                )
    return None


def _add_needed(needed: NeededRecords, topic: CreatableTopic, config: ControllerConfig) -> None:
    replication_factor = topic.replication_factor
    if topic.assignments:
        replication_factor = max([len(assignment.broker_ids) for assignment in topic.assignments])
    elif replication_factor == USE_DEFAULT:
        replication_factor = config.default_replication_factor
    needed.add_topic()
    for entry in topic.configs:
        needed.add_config(entry.value)
    needed.add_partitions(_partition_count(topic, config.num_partitions), replication_factor)


class _TopicCreation(SlicedRequest):
    """The state of one request, which creates `topics` one after the other, unless they are in `refused`."""

    def __init__(
        self,
        state: ControllerState,
        context: RequestContext,
        request: CreateTopicsRequest,
        quota: MutationQuota,
        topics: list[CreatableTopic],
        refused: dict[str, ApiError],
    ) -> None:
        needed = NeededRecords()
        for topic in topics:
            if topic.name not in state.image.topics.ids_by_name:
                _add_needed(needed, topic, state.config)
        super().__init__(context, request, rehearses=needed.may_exceed_a_batch(), atomicity=ATOMIC_SLICES)
        self._state = state
        self._image = state.image
        self._quota = quota
        self._rehearsed_quota = quota.rehearsal() if self.rehearsing else quota
        self._topics = topics
        self._refused = refused
        self._validates_only = request.validate_only
        self._next_topic = 0
        self._check = TopicConfigCheck(state.config)
        self._placer = StripedReplicaPlacer(state.rng, [])
        self._new_partitions = NewPartitions(state.image, state.heartbeats.leaving)
        self._draft: TopicDraft | None = None
        """The draft of the next topic, which is large."""
        self._dropped_drafts = 0
        self._created: set[str] = set()
        """The names that collide with no other topic of this request, whatever the slice."""
        self._response = CreateTopicsResponse()
        self._records: list[RecordAndVersion] = []

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        self._quota.now_ms = moment.now_ms
        leaving = self._state.heartbeats.leaving
        self._placer = StripedReplicaPlacer(self._state.rng, usable_brokers(self._image.cluster, leaving))
        self._new_partitions = NewPartitions(self._image, leaving)
        if self._draft is not None and not self._draft.is_current(self._image, leaving):
            self._draft = None
            self._dropped_drafts += 1
        return None

    def has_next(self) -> bool:
        return self._next_topic < len(self._topics)

    def next_records_max(self) -> int:
        needed = NeededRecords()
        _add_needed(needed, self._topics[self._next_topic], self._state.config)
        return needed.record_count

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        topic = self._topics[self._next_topic]
        self._records = []
        result = self._create(topic, units)
        if result is None:
            return []
        self._next_topic += 1
        self._response.topics.append(result)
        is_drafted = self._draft is not None
        self._draft = None
        self.spent += 2 + len(self._records) // (PARTITIONS_PER_UNIT if is_drafted else 1)
        return [] if self._validates_only and not self.rehearsing else self._records

    def rewind(self) -> None:
        self._next_topic = 0
        self._draft = None
        self._created.clear()
        self._response = CreateTopicsResponse()

    def answer(self) -> Message:
        for name in self._refused:
            self._response.topics.append(_refused(name, self._refused[name]))
        self._response.throttle_time_ms = self._quota.throttle_time_ms
        return self._response

    def _create(self, topic: CreatableTopic, units: int) -> CreatableTopicResult | None:
        """Creates a topic; None for a large one whose records are not complete, or were only just made."""
        error = self._why_name_refused(topic.name) or self._why_configs_refused(topic)
        if error is not None:
            return _refused(topic.name, error)
        draft = self._draft
        if draft is None:
            partitions = self._partitions(topic)
            if isinstance(partitions, ApiError):
                return _refused(topic.name, partitions)
            if len(partitions) < DRAFTED_PARTITIONS_MIN:
                return self._admit(topic, partitions)
            draft = self._begin_draft(partitions)
        if not draft.is_complete and not self._continue_draft(draft, units):
            return None
        return self._admit(topic, draft.replicas)

    def _begin_draft(self, replicas: list[list[int]]) -> TopicDraft:
        topic_id = random_uuid(self._state.rng)
        self._draft = TopicDraft(topic_id, replicas, self._image, self._state.heartbeats.leaving)
        return self._draft

    def _continue_draft(self, draft: TopicDraft, units: int) -> bool:
        """Returns whether the draft may be written now; several slices of work need another one for the
        write.
        """
        is_first = not draft.records
        if self._dropped_drafts > DROPPED_DRAFTS_MAX:
            units = ALL_UNITS
        self.spent += draft.make(self._new_partitions, units)
        if draft.is_complete and not is_first:
            self.spent += units
        return draft.is_complete and is_first

    def _admit(self, topic: CreatableTopic, partitions: list[list[int]]) -> CreatableTopicResult:
        quota = self._rehearsed_quota if self.rehearsing else self._quota
        throttled = quota.admit(len(partitions))
        if throttled is not None:
            return _refused(topic.name, throttled)
        self._created.add(topic.name)
        return self._write(topic, partitions)

    def _why_name_refused(self, name: str) -> ApiError | None:
        reason = why_topic_name_invalid(name)
        if reason is not None and name not in self._image.topics.ids_by_name:
            return ApiError(Errors.INVALID_TOPIC_EXCEPTION, reason)
        return why_name_taken(self._image.topics, name, self._created)

    def _why_configs_refused(self, topic: CreatableTopic) -> ApiError | None:
        nulls = [config.name for config in topic.configs if config.value is None]
        if nulls:
            return ApiError(
                Errors.INVALID_CONFIG, f"Null value not supported for topic configs: {','.join(nulls)}"
            )
        configs: dict[str, str] = {}
        for config in topic.configs:
            value = config.value or ""
            error = why_value_too_long(config.name, value)
            if error is not None:
                return error
            configs[config.name] = value
        return self._check.why_invalid(configs, {}) if configs else None

    def _partitions(self, topic: CreatableTopic) -> list[list[int]] | ApiError:
        """Returns the replicas of each partition. Some replica of each is active."""
        if topic.assignments:
            return self._manual_partitions(topic)
        replication_factor = topic.replication_factor
        partition_count = topic.num_partitions
        if replication_factor < USE_DEFAULT or replication_factor == 0:
            return ApiError(
                Errors.INVALID_REPLICATION_FACTOR,
                "Replication factor must be larger than 0, or -1 to use the default value.",
            )
        if partition_count < USE_DEFAULT or partition_count == 0:
            return ApiError(
                Errors.INVALID_PARTITIONS, "Number of partitions was set to an invalid non-positive value."
            )
        if replication_factor == USE_DEFAULT:
            replication_factor = self._state.config.default_replication_factor
        if partition_count == USE_DEFAULT:
            partition_count = self._state.config.num_partitions
        placed = place_replicas(
            self._placer, partition_count=partition_count, replication_factor=replication_factor
        )
        if isinstance(placed, ApiError):
            return ApiError(
                placed.error,
                f"Unable to replicate the partition {replication_factor} time(s): {placed.reason}",
            )
        return placed

    def _manual_partitions(self, topic: CreatableTopic) -> list[list[int]] | ApiError:
        if topic.replication_factor != USE_DEFAULT:
            return ApiError(
                Errors.INVALID_REQUEST,
                "The replicas are given, so replicationFactor has to be -1.",
            )
        if topic.num_partitions != USE_DEFAULT:
            return ApiError(
                Errors.INVALID_REQUEST,
                "The replicas are given, so numPartitions has to be -1.",
            )
        partitions: dict[int, list[int]] = {}
        replication_factor: int | None = None
        for assignment in topic.assignments:
            index = assignment.partition_index
            if index in partitions:
                return ApiError(
                    Errors.INVALID_REPLICA_ASSIGNMENT,
                    f"The replicas of partition {index} are given twice.",
                )
            cluster = self._image.cluster
            error = why_assignment_invalid(cluster, assignment.broker_ids, replication_factor)
            if error is not None:
                return error
            replication_factor = len(assignment.broker_ids)
            if not active_replicas(cluster, self._state.heartbeats.leaving, assignment.broker_ids):
                return ApiError(
                    Errors.INVALID_REPLICA_ASSIGNMENT,
                    f"No broker given for partition {index} is active: each is fenced or shuts down.",
                )
            partitions[index] = assignment.broker_ids
        if sorted(partitions) != list(range(len(partitions))):
            return ApiError(
                Errors.INVALID_REPLICA_ASSIGNMENT,
                "partitions should be a consecutive 0-based integer sequence",
            )
        return [partitions[index] for index in range(len(partitions))]

    def _write(self, topic: CreatableTopic, partitions: list[list[int]]) -> CreatableTopicResult:
        """Writes topic, configs, what the configs imply, partitions: brokers replay them in this order."""
        draft = self._draft
        topic_id = random_uuid(self._state.rng) if draft is None else draft.topic_id
        configs = {config.name: config.value or "" for config in topic.configs}
        config_records = [
            RecordAndVersion(
                ConfigRecord(resource_type=TOPIC, resource_name=topic.name, name=name, value=value), 0
            )
            for name, value in configs.items()
        ]
        self._records.append(RecordAndVersion(TopicRecord(name=topic.name, topic_id=topic_id), 0))
        self._records.extend(config_records)
        self._records.extend(clear_elr_records(self._image, config_records))
        if draft is not None:
            self._records.extend(draft.records)
        else:
            for index, replicas in enumerate(partitions):
                self._records.append(self._new_partitions.record(topic_id, index, replicas))
        result = CreatableTopicResult(name=topic.name, topic_id=topic_id, error_message=None)
        if self._state.authorizer.allows(
            self.context, AclOperation.DESCRIBE_CONFIGS, ResourceType.TOPIC, topic.name, logs_denial=False
        ):
            result.num_partitions = len(partitions)
            result.replication_factor = len(partitions[0])
            result.configs = self._described(configs)
        else:
            result.topic_config_error_code = int(Errors.TOPIC_AUTHORIZATION_FAILED)
        return result

    def _described(self, configs: dict[str, str]) -> list[CreatableTopicConfigs]:
        """Describes the topic, so that the client needs no other request (KIP-525). Inherited configs
        are made once.
        """
        inherited = self._state.inherited_topic_configs
        if not configs:
            return inherited.in_order(self.context.version)
        own = described_topic_configs(self._image, self._state.config, configs, set(configs))
        described = {**inherited.by_name(self.context.version), **{config.name: config for config in own}}
        return [described[name] for name in sorted(described)]


def _refused(name: str, error: ApiError) -> CreatableTopicResult:
    return CreatableTopicResult(name=name, error_code=error.code, error_message=error.message)
