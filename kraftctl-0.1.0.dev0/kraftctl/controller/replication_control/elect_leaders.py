"""Preferred and unclean elections that a client asks for (KIP-183, KIP-460)."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.replication_control.partition_change_builder import (
    ELECT_PREFERRED,
    ELECT_UNCLEAN,
)
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import check_partition_count
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.request_deadline import timed_out
from kraftctl.controller.results.response_entries import ResponseEntries
from kraftctl.controller.results.sliced_request import LOOKS_PER_UNIT, Runs, SlicedRequest
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.topics_image import TopicImage, TopicsImage
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.generated.elect_leaders_response import (
    ElectLeadersResponse,
    PartitionResult,
    ReplicaElectionResult,
)
from kraftctl_protocol.java_hash_order import in_timeline_order, in_timeline_order_of_numbers
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

PREFERRED: Final = 0
UNCLEAN: Final = 1

LISTED_TOPICS_MAX: Final = 4_096
"""With more topics, those in order are not listed: they say nothing."""


def elect_leaders(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Elects leaders of the requested partitions. Null requests all; then those in order are not listed, but
    their topics are. As in Kafka, more elections than a batch of the log can have records are refused with
    POLICY_VIOLATION.
    """
    assert isinstance(request, ElectLeadersRequest)
    named = request.topic_partitions
    if named is not None and not named:
        return ControllerResult.of([], ElectLeadersResponse())
    entries = ResponseEntries()
    entries.add_items(len(request.topic_partitions or ()))
    for asked in request.topic_partitions or ():
        entries.add(len(asked.partitions))
    check_partition_count(sum([len(asked.partitions) for asked in request.topic_partitions or ()]))
    late = timed_out(context, request, moment)
    if late is not None:
        return late
    if request.election_type not in (PREFERRED, UNCLEAN):
        return ControllerResult.of([], _refused(request))
    if request.topic_partitions is None:
        return _ElectionOfAll(state, context, request).next_slice(moment)
    return _ElectionOfNamed(state, context, request).next_slice(moment)


class _Election(SlicedRequest):
    """The state of one request."""

    def __init__(
        self,
        state: ControllerState,
        context: RequestContext,
        request: ElectLeadersRequest,
        candidate_count: int,
    ) -> None:
        super().__init__(context, request, rehearses=candidate_count > RECORDS_PER_BATCH_MAX)
        self._state = state
        self._request = request
        self.response = ElectLeadersResponse()
        self.elected: set[tuple[str, int]] = set()
        """The partitions seen in any slice; duplicates are skipped."""
        self.elections = _Elections(state, request.election_type)

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        self.elections = _Elections(self._state, self._request.election_type, self.elected)
        return None

    def rewind(self) -> None:
        self.response = ElectLeadersResponse()
        self.elected.clear()

    def answer(self) -> Message:
        return self.response


class _ElectionOfNamed(_Election):
    """Elects leaders of the partitions that the request names."""

    def __init__(self, state: ControllerState, context: RequestContext, request: ElectLeadersRequest) -> None:
        self._named = request.topic_partitions or []
        lengths = [len(asked.partitions) for asked in self._named]
        self._runs = Runs(lengths)
        super().__init__(state, context, request, sum(lengths))

    def has_next(self) -> bool:
        return self._runs.has_next()

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        runs = self._runs
        self.spent += runs.take(units)
        asked = self._named[runs.outer]
        if runs.first == 0:
            self.response.replica_election_results.append(ReplicaElectionResult(topic=asked.topic))
        results = self.response.replica_election_results[-1].partition_result
        self.elections.records = []
        for position in range(runs.first, runs.end):
            index = asked.partitions[position]
            results.append(_partition_result(index, self.elections.elect(asked.topic, index)))
        return self.elections.records

    def rewind(self) -> None:
        super().rewind()
        self._runs.rewind()


class _ElectionOfAll(_Election):
    """Elects leaders of all partitions that are not in order when the request comes, topic after topic."""

    def __init__(self, state: ControllerState, context: RequestContext, request: ElectLeadersRequest) -> None:
        topics = state.image.topics
        counts = _counts_in_need(topics, request.election_type)
        if len(topics.ids_by_name) <= LISTED_TOPICS_MAX:
            names = in_timeline_order(list(topics.ids_by_name))
            self._topic_ids = [topics.ids_by_name[name] for name in names]
        else:
            self._topic_ids = sorted(counts)
        self._entries = ResponseEntries()
        self._entries.add_items(len(self._topic_ids))
        self._next_topic = 0
        self._indexes: list[int] = []
        self._next_index = 0
        super().__init__(state, context, request, sum(counts.values()))

    def has_next(self) -> bool:
        return self._next_topic < len(self._topic_ids)

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        """Decides about a topic; a check of a partition in order costs a fraction of an election."""
        self.elections.records = []
        topic = self._state.image.topics.topic(self._topic_ids[self._next_topic])
        if topic is None:
            self._end_topic()
            self.spent += 1
            return []
        if self._next_index == 0:
            self._indexes = in_timeline_order_of_numbers(sorted(topic.partitions.keys()))
            self.response.replica_election_results.append(ReplicaElectionResult(topic=topic.name))
        results = self.response.replica_election_results[-1].partition_result
        looks_max = units * LOOKS_PER_UNIT
        looks = 0
        while looks < looks_max and self._next_index < len(self._indexes):
            index = self._indexes[self._next_index]
            self._next_index += 1
            looks += 1
            if self.elections.is_in_order(topic, index):
                continue
            looks += LOOKS_PER_UNIT
            error = self.elections.elect(topic.name, index)
            if error.error != Errors.ELECTION_NOT_NEEDED:
                self._entries.add(1)
                results.append(_partition_result(index, error))
        if self._next_index >= len(self._indexes):
            self._end_topic()
        self.spent += 1 + looks // LOOKS_PER_UNIT
        return self.elections.records

    def _end_topic(self) -> None:
        self._next_topic += 1
        self._next_index = 0

    def rewind(self) -> None:
        super().rewind()
        self._entries = ResponseEntries()
        self._entries.add_items(len(self._topic_ids))
        self._next_topic = 0
        self._next_index = 0


def _counts_in_need(topics: TopicsImage, election_type: int) -> dict[Uuid, int]:
    """Returns the topics with partitions that need an election; the others are in order."""
    return topics.imbalanced_counts if election_type == PREFERRED else topics.leaderless_counts


class _Elections:
    """The elections of one type over one image."""

    def __init__(
        self, state: ControllerState, election_type: int, elected: set[tuple[str, int]] | None = None
    ) -> None:
        self._topics = state.image.topics
        self._changes = PartitionChanges(state)
        self._type = election_type
        self._elected: set[tuple[str, int]] = set() if elected is None else elected
        self.records: list[RecordAndVersion] = []

    def is_in_order(self, topic: TopicImage, index: int) -> bool:
        """Returns whether there is nothing to elect, or no such partition any more."""
        partition = topic.partitions.get(index)
        if partition is None:
            return True
        return partition.has_preferred_leader if self._type == PREFERRED else partition.has_leader

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
    """Returns the error of every partition for an unknown election type."""
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
