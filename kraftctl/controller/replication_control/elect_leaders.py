"""Preferred and unclean elections: the RPC (KIP-183, KIP-460) and the two timers (KIP-631, KIP-704)."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.answer_entries import AnswerEntries
from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.excessive_requests import (
    check_partition_count,
    has_too_many,
    too_many_records,
)
from kraftctl.controller.moment import Moment
from kraftctl.controller.replication_control.partition_change_builder import (
    ELECT_PREFERRED,
    ELECT_UNCLEAN,
)
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.request_context import RequestContext
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.partition_registration import NO_LEADER
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.generated.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

PREFERRED: Final = 0
UNCLEAN: Final = 1

ELECTIONS_PER_RUN_MAX: Final = 1_000
"""As Kafka's ReplicationControlManager.MAX_ELECTIONS_PER_IMBALANCE: a timer must not stall the log."""


def elect_leaders(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Elects leaders of the requested partitions. Null requests all; then those in order are not listed.

    Kafka then lists each topic, with no partition for most of them. As in Kafka, more elections than a batch
    of the log can have records are refused with POLICY_VIOLATION.
    """
    assert isinstance(request, ElectLeadersRequest)
    entries = AnswerEntries()
    entries.add_items(len(request.topic_partitions or ()))
    for asked in request.topic_partitions or ():
        entries.add(len(asked.partitions))
    check_partition_count(sum([len(asked.partitions) for asked in request.topic_partitions or ()]))
    if request.election_type not in (PREFERRED, UNCLEAN):
        return ControllerResult.of([], _refused(request))
    election = _Elections(state, request.election_type)
    response = ElectLeadersResponse()
    if request.topic_partitions is None:
        for topic in election.topics_in_need():
            result = ReplicaElectionResult(topic=topic.name)
            entries.add_items(1)
            for index in sorted(topic.partitions):
                error = election.elect(topic.name, index)
                if error.error != Errors.ELECTION_NOT_NEEDED:
                    entries.add(1)
                    result.partition_result.append(_partition_result(index, error))
            response.replica_election_results.append(result)
            if has_too_many(election.records):
                break
    else:
        for asked in request.topic_partitions:
            result = ReplicaElectionResult(topic=asked.topic)
            for index in asked.partitions:
                result.partition_result.append(_partition_result(index, election.elect(asked.topic, index)))
            response.replica_election_results.append(result)
            if has_too_many(election.records):
                break
    if has_too_many(election.records):
        return too_many_records(context, request)
    return ControllerResult.of(election.records, response)


def elect_preferred_leaders(state: ControllerState) -> tuple[ControllerResult, bool]:
    """The rebalance timer (auto.leader.rebalance.enable); True when partitions may be left over."""
    records: list[RecordAndVersion] = []
    changes = PartitionChanges(state.image, state.config)
    for topic in state.image.topics.imbalanced_topics():
        for index, partition in topic.partitions.items():
            if partition.leader == partition.preferred_replica:
                continue
            if len(records) >= ELECTIONS_PER_RUN_MAX:
                return ControllerResult.of(records), True
            builder = changes.builder(topic, index, partition)
            builder.election = ELECT_PREFERRED
            record = builder.build()
            if record is not None:
                records.append(record)
    return ControllerResult.of(records), len(records) >= ELECTIONS_PER_RUN_MAX


def elect_unclean_leaders(state: ControllerState) -> tuple[ControllerResult, bool]:
    """The timer for leaderless partitions of topics that allow it; True when some may be left."""
    election = _Elections(state, UNCLEAN)
    for topic in state.image.topics.leaderless_topics():
        if not election.unclean_election_enabled(topic.name):
            continue
        for index, partition in topic.partitions.items():
            if len(election.records) >= ELECTIONS_PER_RUN_MAX:
                return ControllerResult.of(election.records), True
            if partition.leader == NO_LEADER:
                election.elect(topic.name, index)
    return ControllerResult.of(election.records), len(election.records) >= ELECTIONS_PER_RUN_MAX


class _Elections:
    """Elections of one type over one image."""

    def __init__(self, state: ControllerState, election_type: int) -> None:
        self._topics = state.image.topics
        self._changes = PartitionChanges(state.image, state.config)
        self._type = election_type
        self._elected: set[tuple[str, int]] = set()
        self.records: list[RecordAndVersion] = []

    def topics_in_need(self) -> list[TopicImage]:
        """Topics with a partition whose leader is to be elected, sorted by id; the others are in order."""
        if self._type == PREFERRED:
            return self._topics.imbalanced_topics()
        return self._topics.leaderless_topics()

    def unclean_election_enabled(self, topic_name: str) -> bool:
        return self._changes.settings.unclean_election_enabled(topic_name)

    def elect(self, topic_name: str, index: int) -> ApiError:
        topic = self._topics.topic_by_name(topic_name)
        if topic is None:
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"No such topic as {topic_name}")
        partition = topic.partitions.get(index)
        if partition is None:
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"No such partition as {topic_name}-{index}")
        in_order = partition.has_preferred_leader if self._type == PREFERRED else partition.has_leader
        if in_order or (topic_name, index) in self._elected:
            return ApiError(Errors.ELECTION_NOT_NEEDED)
        builder = self._changes.builder(topic, index, partition)
        builder.election = ELECT_PREFERRED if self._type == PREFERRED else ELECT_UNCLEAN
        record = builder.build()
        if record is None:
            if self._type == PREFERRED:
                return ApiError(Errors.PREFERRED_LEADER_NOT_AVAILABLE)
            return ApiError(Errors.ELIGIBLE_LEADERS_NOT_AVAILABLE)
        self.records.append(record)
        self._elected.add((topic_name, index))
        return ApiError(Errors.NONE)


def _refused(request: ElectLeadersRequest) -> ElectLeadersResponse:
    """An unknown election type fails every partition of the request."""
    error = ApiError(Errors.INVALID_REQUEST, f"Unknown election type {request.election_type}")
    response = ElectLeadersResponse(error_code=error.code)
    for asked in request.topic_partitions or []:
        results = [_partition_result(index, error) for index in asked.partitions]
        response.replica_election_results.append(
            ReplicaElectionResult(topic=asked.topic, partition_result=results)
        )
    return response


def _partition_result(index: int, error: ApiError) -> PartitionResult:
    return PartitionResult(partition_id=index, error_code=error.code, error_message=error.message)
