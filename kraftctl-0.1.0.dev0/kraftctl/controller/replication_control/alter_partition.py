"""KIP-497: AlterPartition, by which a partition leader changes its ISR.

What must hold, in Kafka's order, and what is answered otherwise:

1. the broker epoch is current: STALE_BROKER_EPOCH for the whole request (KIP-497);
2. the topic is known: UNKNOWN_TOPIC_ID from version 2 (KIP-841), UNKNOWN_TOPIC_OR_PARTITION before;
3. the partition is known: UNKNOWN_TOPIC_OR_PARTITION;
4. the leader epoch is not ahead of the image: NOT_CONTROLLER, as this controller is probably behind;
5. the partition epoch is not ahead of the image: NOT_CONTROLLER;
6. the leader epoch is not behind: FENCED_LEADER_EPOCH;
7. the sender leads the partition: INVALID_REQUEST;
8. the partition epoch is not behind: INVALID_UPDATE_VERSION;
9. the new ISR is a non-empty set of replicas that has the leader: INVALID_REQUEST;
10. the change of the leader recovery state is allowed: INVALID_REQUEST (KIP-704);
11. every member is eligible: INELIGIBLE_REPLICA from version 2, OPERATION_NOT_ATTEMPTED before
    (KIP-841, KIP-903).
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.replication_control.isr_eligibility import (
    UNKNOWN_BROKER_EPOCH,
    why_ineligible,
)
from kraftctl.controller.replication_control.leader_recovery import why_recovery_state_refused
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.refusal_lines import RefusalLines
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.sliced_request import Runs, SlicedRequest
from kraftctl.controller.state.broker_epoch import why_epoch_stale
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.image.cluster_image import ClusterImage
from kraftctl.image.topics_image import TopicImage, TopicsImage
from kraftctl.metadata.partition_registration import NO_LEADER_CHANGE, PartitionRegistration
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.alter_partition_response import AlterPartitionResponse
from kraftctl_protocol.generated.alter_partition_response import PartitionData as PartitionResult
from kraftctl_protocol.generated.alter_partition_response import TopicData as TopicResult
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid, uuid_to_string

TOPIC_IDS_SINCE: Final = 2
"""Versions below name topics, and have neither INELIGIBLE_REPLICA nor NEW_LEADER_ELECTED."""

BROKER_EPOCHS_SINCE: Final = 3
"""Versions below send broker ids without epochs."""


def alter_partition(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Changes ISRs as the leader asks, partition by partition; the records need not be atomic."""
    assert isinstance(request, AlterPartitionRequest)
    if not request.topics:
        return ControllerResult.of([], AlterPartitionResponse())
    return _Alteration(state, context, request).next_slice(moment)


class _TopicRun:
    """The common data of a topic's partitions, looked up once; `seen` are those that had their turn."""

    def __init__(self, topic: TopicImage, changes: PartitionChanges, seen: set[int]) -> None:
        self.topic = topic
        self.changes = changes
        self.min_isr = changes.settings.min_isr(topic)
        self.election = changes.automatic_election(topic)
        self.seen = seen


class _Alteration(SlicedRequest):
    """The state of one request. A broker whose epoch has become stale gets no results at all."""

    def __init__(
        self, state: ControllerState, context: RequestContext, request: AlterPartitionRequest
    ) -> None:
        super().__init__(context, request)
        self._state = state
        self._image = state.image
        self._leaving = state.heartbeats.leaving
        self._changes: PartitionChanges | None = None
        self._request = request
        self._version = context.version
        self._broker_id = request.broker_id
        self._runs = Runs([len(topic.partitions) for topic in request.topics])
        self._seen: dict[Uuid, set[int]] = {}
        self._response = AlterPartitionResponse()
        self._records: list[RecordAndVersion] = []
        self._refusals = RefusalLines()

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        request = self._request
        error = why_epoch_stale(self._image.cluster, request.broker_id, request.broker_epoch)
        if error is not None:
            response = AlterPartitionResponse(error_code=error.code)
            return ControllerResult.refused(response, f"AlterPartition of broker {request.broker_id}", error)
        self._changes = PartitionChanges(self._state)
        return None

    def has_next(self) -> bool:
        return self._runs.has_next()

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        runs = self._runs
        self.spent += runs.take(units)
        data = self._request.topics[runs.outer]
        if runs.first == 0:
            self._response.topics.append(self._new_result(data))
        self._records = []
        self._alter_run(data, runs.first, runs.end, self._response.topics[-1])
        return self._records

    def answer(self) -> Message:
        return self._response

    def refusals(self) -> list[str]:
        return self._refusals.lines()

    def _new_result(self, data: TopicData) -> TopicResult:
        if self._version >= TOPIC_IDS_SINCE:
            return TopicResult(topic_id=data.topic_id)
        return TopicResult(topic_name=data.topic_name)

    def _alter_run(self, data: TopicData, first: int, end: int, result: TopicResult) -> None:
        topic = _find_topic(self._image.topics, data, self._version)
        if topic is None:
            named = uuid_to_string(data.topic_id) if self._version >= TOPIC_IDS_SINCE else data.topic_name
            for position in range(first, end):
                unknown = ApiError(Errors.UNKNOWN_TOPIC_ID)
                index = data.partitions[position].partition_index
                result.partitions.append(self._refused(named, index, unknown))
            return
        seen = self._seen.get(topic.topic_id)
        if seen is None:
            seen = set()
            self._seen[topic.topic_id] = seen
        assert self._changes is not None, "a slice has begun"
        run = _TopicRun(topic, self._changes, seen)
        for position in range(first, end):
            result.partitions.append(self._alter(run, data.partitions[position]))

    def _alter(self, run: _TopicRun, data: PartitionData) -> PartitionResult:
        topic, index = run.topic, data.partition_index
        partition = topic.partitions.get(index)
        if partition is None:
            return self._refused(topic.name, index, ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION))
        if index in run.seen:
            # Its record would be computed from the state before the first one.
            error = ApiError(Errors.INVALID_REQUEST, "the request names the partition twice")
            return self._refused(topic.name, index, error)
        run.seen.add(index)
        members = _new_isr(data, self._version, len(partition.replicas) + 1)
        isr = [member.broker_id for member in members]
        refusal = why_alteration_refused(
            self._image.cluster, self._leaving, self._broker_id, partition, data, members, isr
        )
        if refusal is not None:
            return self._refused(topic.name, index, refusal)
        builder = run.changes.builder_for(topic, index, partition, run.min_isr)
        builder.election = run.election
        builder.target_isr = tuple(isr)
        builder.target_leader_recovery_state = data.leader_recovery_state
        record = builder.build()
        if record is None:
            return _unchanged(index, partition)
        self._records.append(record)
        change = record.record
        assert isinstance(change, PartitionChangeRecord)
        if change.leader != NO_LEADER_CHANGE and change.leader != self._broker_id:
            # The only error that comes with a record: this ISR completed a reassignment that
            # takes the sender out of the replicas. It has to look at the metadata log.
            reason = f"the completed reassignment moves the leader to {change.leader}"
            return self._refused(topic.name, index, ApiError(Errors.NEW_LEADER_ELECTED, reason))
        return _granted(index, partition, change)

    def _refused(self, topic: str, index: int, error: ApiError) -> PartitionResult:
        self._refusals.add(f"to alter partition {topic}-{index} for broker {self._broker_id}", error)
        code = int(self._in_this_version(error.error))
        return PartitionResult(partition_index=index, error_code=code)

    def _in_this_version(self, error: Errors) -> Errors:
        if self._version < TOPIC_IDS_SINCE:
            if error == Errors.UNKNOWN_TOPIC_ID:
                return Errors.UNKNOWN_TOPIC_OR_PARTITION
            if error == Errors.INELIGIBLE_REPLICA:
                return Errors.OPERATION_NOT_ATTEMPTED
            if error == Errors.NEW_LEADER_ELECTED:
                return Errors.FENCED_LEADER_EPOCH
        return error


def why_alteration_refused(
    cluster: ClusterImage,
    leaving: LeavingBrokers,
    broker_id: int,
    partition: PartitionRegistration,
    data: PartitionData,
    members: list[BrokerState],
    isr: list[int],
) -> ApiError | None:
    """Makes the checks 4 to 11 of the list above, in that order; None when the change may be made.

    `isr` are the ids of `members`, the ISR that is asked for.
    """
    if data.leader_epoch > partition.leader_epoch or data.partition_epoch > partition.partition_epoch:
        return ApiError(Errors.NOT_CONTROLLER, f"{_epochs(partition, data)}: this controller may be behind")
    if data.leader_epoch < partition.leader_epoch:
        return ApiError(Errors.FENCED_LEADER_EPOCH, _epochs(partition, data))
    if broker_id != partition.leader:
        return ApiError(Errors.INVALID_REQUEST, f"the leader is {partition.leader}")
    if data.partition_epoch < partition.partition_epoch:
        return ApiError(Errors.INVALID_UPDATE_VERSION, _epochs(partition, data))
    if not is_valid_isr(partition, isr):
        reason = f"{isr} is not a set of replicas with the leader {partition.leader}"
        return ApiError(Errors.INVALID_REQUEST, reason)
    return why_recovery_state_refused(
        partition, requested_state=data.leader_recovery_state, new_isr_size=len(isr)
    ) or why_ineligible(cluster, leaving, members)


def _epochs(partition: PartitionRegistration, data: PartitionData) -> str:
    return (
        f"leader epoch {data.leader_epoch} and partition epoch {data.partition_epoch} are asked for,"
        f" {partition.leader_epoch} and {partition.partition_epoch} are here"
    )


def is_valid_isr(partition: PartitionRegistration, new_isr: list[int]) -> bool:
    """Returns whether it is a non-empty set of replicas that has the leader."""
    found = 0
    for replica in partition.replicas:
        if replica in new_isr:
            found += 1
    # A member that is no replica, or is there twice, was not found.
    return found > 0 and found == len(new_isr) and int(partition.leader) in new_isr


def _find_topic(topics: TopicsImage, data: TopicData, version: int) -> TopicImage | None:
    if version >= TOPIC_IDS_SINCE:
        return topics.topic(data.topic_id)
    return topics.topic_by_name(data.topic_name)


def _new_isr(data: PartitionData, version: int, count_max: int) -> list[BrokerState]:
    """Returns the new ISR, with few surplus members: a request may name a million."""
    if version >= BROKER_EPOCHS_SINCE:
        asked = data.new_isr_with_epochs
        return asked if len(asked) <= count_max else asked[:count_max]
    members = data.new_isr[:count_max]
    return [BrokerState(broker_id=member, broker_epoch=UNKNOWN_BROKER_EPOCH) for member in members]


def _granted(index: int, partition: PartitionRegistration, change: PartitionChangeRecord) -> PartitionResult:
    """Returns the state after the change: only replay makes a registration of it."""
    return PartitionResult(
        partition_index=index,
        error_code=0,
        leader_id=int(partition.leader_after(change)),
        leader_epoch=int(partition.leader_epoch_after(change)),
        isr=list(partition.isr) if change.isr is None else change.isr,
        leader_recovery_state=int(partition.leader_recovery_state_after(change)),
        partition_epoch=int(partition.partition_epoch) + 1,
    )


def _unchanged(index: int, partition: PartitionRegistration) -> PartitionResult:
    """Returns the present state when nothing had to change."""
    return PartitionResult(
        partition_index=index,
        error_code=0,
        leader_id=int(partition.leader),
        leader_epoch=int(partition.leader_epoch),
        isr=list(partition.isr),
        leader_recovery_state=int(partition.leader_recovery_state),
        partition_epoch=int(partition.partition_epoch),
    )
