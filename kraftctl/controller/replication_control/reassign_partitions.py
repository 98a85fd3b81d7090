"""KIP-455, KIP-860: start, replace, cancel and list partition reassignments.

A reassignment starts with one record that names all replicas, old and new. PartitionChangeBuilder completes
it with the first later change whose ISR allows it.
"""

from __future__ import annotations

from kraftctl.controller.answer_entries import AnswerEntries
from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.excessive_requests import (
    check_partition_count,
    has_too_many,
    too_many_records,
)
from kraftctl.controller.moment import Moment
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.replication_control.partition_reassignment import (
    PlannedReassignment,
    RevertedReassignment,
    target_replication_factor,
)
from kraftctl.controller.replication_control.replica_assignment import why_assignment_invalid
from kraftctl.controller.request_context import RequestContext
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


def alter_partition_reassignments(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Errors are per partition; the records of the others are one atomic batch."""
    assert isinstance(request, AlterPartitionReassignmentsRequest)
    entries = AnswerEntries()
    entries.add_items(len(request.topics))
    for topic in request.topics:
        entries.add(len(topic.partitions))
    check_partition_count(sum([len(topic.partitions) for topic in request.topics]))
    allow_factor_change = request.allow_replication_factor_change
    reassignment = _Reassignments(state, allow_factor_change)
    response = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=allow_factor_change, error_message=None
    )
    for topic in request.topics:
        result = ReassignableTopicResponse(name=topic.name)
        for partition in topic.partitions:
            error = reassignment.alter(topic.name, partition)
            result.partitions.append(
                ReassignablePartitionResponse(
                    partition_index=partition.partition_index,
                    error_code=0 if error is None else error.code,
                    error_message=None if error is None else error.message,
                )
            )
            if has_too_many(reassignment.records):
                return too_many_records(context, request)
        response.responses.append(result)
    return ControllerResult.atomic_of(reassignment.records, response)


class _Reassignments:
    """The state of one request."""

    def __init__(self, state: ControllerState, allow_factor_change: bool) -> None:
        self._image = state.image
        self._changes = PartitionChanges(state.image, state.config)
        self._allow_factor_change = allow_factor_change
        self._seen: set[tuple[Uuid, int]] = set()
        self._valid: set[tuple[int, ...]] = set()
        """Assignments that were looked at: many partitions have the same."""
        self.records: list[RecordAndVersion] = []

    def alter(self, topic_name: str, target: ReassignablePartition) -> ApiError | None:
        topic = self._image.topics.topic_by_name(topic_name)
        if topic is None:
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find a topic named {topic_name}.")
        index = target.partition_index
        partition = topic.partitions.get(index)
        if partition is None:
            return ApiError(
                Errors.UNKNOWN_TOPIC_OR_PARTITION, f"Unable to find partition {topic_name}:{index}."
            )
        if (topic.topic_id, index) in self._seen:
            # Its record would be computed from the state before the first one.
            return ApiError(Errors.INVALID_REQUEST, f"{topic_name}-{index} is in the request twice.")
        self._seen.add((topic.topic_id, index))
        if target.replicas is None:
            return self._cancel(topic, index, partition)
        return self._change(topic, index, partition, target.replicas)

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
                f"Unable to revert partition assignment for {topic.name}:{index} because it would require "
                "an unclean leader election.",
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
            self.records.append(record)


def list_partition_reassignments(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """The running reassignments of the requested partitions or, with null topics, of all.

    A request may name a partition any number of times: what is listed counts, not what is named.
    """
    assert isinstance(request, ListPartitionReassignmentsRequest)
    response = ListPartitionReassignmentsResponse(error_message=None)
    entries = AnswerEntries()
    topics = state.image.topics
    if request.topics is None:
        for topic in topics.reassigning_topics():
            _list_topic(response, entries, topic, sorted(topic.partitions))
    else:
        for asked in request.topics:
            # Tools ask for all partitions of a cluster; hardly ever is any of a topic reassigned.
            topic_id = topics.ids_by_name.get(asked.name)
            if topic_id is not None and topic_id in topics.reassigning_counts:
                _list_topic(response, entries, topics.topics[topic_id], asked.partition_indexes)
    return ControllerResult.of([], response)


def _list_topic(
    response: ListPartitionReassignmentsResponse,
    entries: AnswerEntries,
    topic: TopicImage,
    indexes: list[int],
) -> None:
    ongoing = OngoingTopicReassignment(name=topic.name)
    for index in indexes:
        partition = topic.partitions.get(index)
        if partition is not None and partition.reassigning:
            entries.add(1)
            ongoing.partitions.append(
                OngoingPartitionReassignment(
                    partition_index=index,
                    replicas=list(partition.replicas),
                    adding_replicas=list(partition.adding_replicas),
                    removing_replicas=list(partition.removing_replicas),
                )
            )
    if ongoing.partitions:
        entries.add_items(1)
        response.topics.append(ongoing)
