"""KIP-455, KIP-860: start, replace, cancel and list partition reassignments.

A reassignment starts with one record that names all replicas, old and new. PartitionChangeBuilder completes
it with the first later change whose ISR allows it.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.replication_control.partition_reassignment import (
    PlannedReassignment,
    RevertedReassignment,
    target_replication_factor,
)
from kraftctl.controller.replication_control.replica_assignment import why_assignment_invalid
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import check_partition_count
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseEntries
from kraftctl.controller.results.sliced_request import ATOMIC_IF_SHORT, LOOKS_PER_UNIT, Runs, SlicedRequest
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from kraftctl_protocol.generated.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

UNITS_PER_REASSIGNMENT: Final = 2
"""A reassignment takes twice as long as other changes of a partition."""


def alter_partition_reassignments(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Alters reassignments; errors are per partition, and the records need not be atomic, as in Kafka."""
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    if not request.topics:
        # Kafka's defaults, whatever the request allows.
        return ControllerResult.of([], AlterPartitionReassignmentsResponse(error_message=""))
    entries = ResponseEntries()
    entries.add_items(len(request.topics))
    for topic in request.topics:
        entries.add(len(topic.partitions))
    check_partition_count(sum([len(topic.partitions) for topic in request.topics]))
    return _Reassignments(state, context, request).next_slice(moment)


class _Reassignments(SlicedRequest):
    """The state of one request."""

    def __init__(
        self, state: ControllerState, context: RequestContext, request: AlterPartitionReassignmentsRequest
    ) -> None:
        lengths = [len(topic.partitions) for topic in request.topics]
        super().__init__(
            context,
            request,
            rehearses=sum(lengths) > RECORDS_PER_BATCH_MAX,
            atomicity=ATOMIC_IF_SHORT,
        )
        self._state = state
        self._image = state.image
        self._request = request
        self._runs = Runs(lengths)
        self._changes = PartitionChanges(state)
        self._allow_factor_change = request.allow_replication_factor_change
        self._accepted: dict[tuple[Uuid, int], tuple[int, ...]] = {}
        self._valid: set[tuple[int, ...]] = set()
        """The assignments checked in this slice: many partitions have the same."""
        self._response = self._new_response()
        self._records: list[RecordAndVersion] = []

    def _new_response(self) -> AlterPartitionReassignmentsResponse:
        return AlterPartitionReassignmentsResponse(
            allow_replication_factor_change=self._allow_factor_change, error_message=None
        )

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        self._changes = PartitionChanges(self._state)
        self._valid.clear()
        return None

    def has_next(self) -> bool:
        return self._runs.has_next()

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        runs = self._runs
        self.spent += UNITS_PER_REASSIGNMENT * runs.take(units // UNITS_PER_REASSIGNMENT)
        topic = self._request.topics[runs.outer]
        if runs.first == 0:
            self._response.responses.append(ReassignableTopicResponse(name=topic.name))
        result = self._response.responses[-1]
        self._records = []
        for position in range(runs.first, runs.end):
            partition = topic.partitions[position]
            error = self._alter(topic.name, partition)
            result.partitions.append(
                ReassignablePartitionResponse(
                    partition_index=partition.partition_index,
                    error_code=0 if error is None else error.code,
                    error_message=None if error is None else error.message,
                )
            )
        return self._records

    def rewind(self) -> None:
        self._runs.rewind()
        self._accepted.clear()
        self._response = self._new_response()

    def answer(self) -> Message:
        return self._response

    def _alter(self, topic_name: str, target: ReassignablePartition) -> ApiError | None:
        topic = self._image.topics.topic_by_name(topic_name)
        if topic is None:
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"There is no topic {topic_name}.")
        index = target.partition_index
        partition = topic.partitions.get(index)
        if partition is None:
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"There is no partition {topic_name}-{index}.")
        accepted = self._accepted.get((topic.topic_id, index))
        if accepted is not None:
            if accepted == _wanted(target):
                return None
            # Its record would be computed from the state before the first one.
            return ApiError(Errors.INVALID_REQUEST, f"{topic_name}-{index} is in the request twice.")
        if target.replicas is None:
            error = self._cancel(topic, index, partition)
        else:
            error = self._change(topic, index, partition, target.replicas)
        if error is None:
            self._accepted[topic.topic_id, index] = _wanted(target)
        return error

    def _change(
        self, topic: TopicImage, index: int, partition: PartitionRegistration, target: list[int]
    ) -> ApiError | None:
        replicas = tuple(target)
        if replicas not in self._valid:
            error = why_assignment_invalid(self._image.cluster, target, None)
            if error is not None:
                return error
            self._valid.add(replicas)
        current_factor = target_replication_factor(partition)
        if not self._allow_factor_change and current_factor != len(target):
            return ApiError(
                Errors.INVALID_REPLICATION_FACTOR,
                f"The replication factor is changed from {current_factor} to {len(target)}",
            )
        planned = PlannedReassignment(partition.replicas, replicas)
        builder = self._changes.builder(topic, index, partition)
        builder.target_replicas = planned.replicas
        if planned.removing:
            builder.target_removing = planned.removing
        if planned.adding:
            builder.target_adding = planned.adding
        self._append(builder.build())
        return None

    def _cancel(self, topic: TopicImage, index: int, partition: PartitionRegistration) -> ApiError | None:
        if not partition.reassigning:
            return ApiError(Errors.NO_REASSIGNMENT_IN_PROGRESS)
        reverted = RevertedReassignment(partition)
        if reverted.unclean and not self._changes.settings.unclean_election_enabled(topic.name):
            return ApiError(
                Errors.INVALID_REPLICA_ASSIGNMENT,
                f"Cancelling the reassignment of {topic.name}-{index} would need an unclean election. Next "
                "step: start a former replica, and cancel once it is in the ISR.",
            )
        builder = self._changes.builder(topic, index, partition)
        builder.election = self._changes.automatic_election(topic)
        builder.target_isr = reverted.isr
        builder.target_replicas = reverted.replicas
        builder.target_removing = ()
        builder.target_adding = ()
        self._append(builder.build())
        return None

    def _append(self, record: RecordAndVersion | None) -> None:
        if record is not None:
            self._records.append(record)


def _wanted(target: ReassignablePartition) -> tuple[int, ...]:
    """Returns the replicas that are asked for; none to cancel."""
    return () if target.replicas is None else tuple(target.replicas)


def list_partition_reassignments(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Returns the running reassignments of the requested partitions or, with null topics, of all.

    A request may name a partition any number of times: only listed ones count.
    """
    assert isinstance(request, ListPartitionReassignmentsRequest)
    return _Listing(state, context, request).next_slice(moment)


class _Listing(SlicedRequest):
    """The state of one request: its place, and what it has found."""

    def __init__(
        self, state: ControllerState, context: RequestContext, request: ListPartitionReassignmentsRequest
    ) -> None:
        super().__init__(context, request)
        self._topics = state.image.topics
        self._named = request.topics
        self._all: list[Uuid] = []
        if self._named is None:
            ResponseEntries().add_items(len(self._topics.reassigning_counts))
            self._all = sorted(self._topics.reassigning_counts)
        self._topic_count = len(self._all) if self._named is None else len(self._named)
        self._next_topic = 0
        self._indexes: list[int] = []
        self._next_index = 0
        self._ongoing: OngoingTopicReassignment | None = None
        self._entries = ResponseEntries()
        self._response = ListPartitionReassignmentsResponse(error_message=None)

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        return None

    def has_next(self) -> bool:
        return self._next_topic < self._topic_count

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        """Lists a run. Most requested partitions are not being reassigned, and checking them costs little."""
        looks_max = units * LOOKS_PER_UNIT
        looks = 0
        while looks < looks_max and self._next_topic < self._topic_count:
            looks += 1
            topic = self._current_topic()
            if topic is None:
                self._end_topic()
                continue
            if self._next_index == 0:
                self._indexes = self._asked_indexes(topic)
            end = min(len(self._indexes), self._next_index + looks_max - looks)
            looks += self._list_run(topic, self._next_index, end)
            self._next_index = end
            if end == len(self._indexes):
                self._end_topic()
        self.spent += 1 + looks // LOOKS_PER_UNIT
        return []

    def answer(self) -> Message:
        return self._response

    def _current_topic(self) -> TopicImage | None:
        """Returns None if nothing of the topic is being reassigned. Tools ask for all partitions of a
        cluster.
        """
        if self._named is None:
            topic_id: Uuid | None = self._all[self._next_topic]
        else:
            topic_id = self._topics.ids_by_name.get(self._named[self._next_topic].name)
        if topic_id is None or topic_id not in self._topics.reassigning_counts:
            return None
        return self._topics.topics[topic_id]

    def _asked_indexes(self, topic: TopicImage) -> list[int]:
        if self._named is None:
            return sorted(topic.partitions.keys())
        return self._named[self._next_topic].partition_indexes

    def _end_topic(self) -> None:
        self._next_topic += 1
        self._next_index = 0
        self._ongoing = None

    def _list_run(self, topic: TopicImage, first: int, end: int) -> int:
        """Lists the partitions of a run. Returns the cost, in checks."""
        looks = end - first
        for position in range(first, end):
            index = self._indexes[position]
            partition = topic.partitions.get(index)
            if partition is None or not partition.reassigning:
                continue
            if self._ongoing is None:
                self._entries.add_items(1)
                self._ongoing = OngoingTopicReassignment(name=topic.name)
                self._response.topics.append(self._ongoing)
            self._entries.add(1)
            looks += LOOKS_PER_UNIT // 4
            self._ongoing.partitions.append(
                OngoingPartitionReassignment(
                    partition_index=index,
                    replicas=list(partition.replicas),
                    adding_replicas=list(partition.adding_replicas),
                    removing_replicas=list(partition.removing_replicas),
                )
            )
        return looks
