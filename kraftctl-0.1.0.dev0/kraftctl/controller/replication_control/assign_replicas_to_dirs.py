"""KIP-858: AssignReplicasToDirs, by which a broker reports the log directories of its replicas."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.replication_control.offline_directories import records_for_failed_assignments
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import excessive
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.refusal_lines import RefusalLines
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.sliced_request import ALL_UNITS, Runs, SlicedRequest
from kraftctl.controller.state.broker_epoch import why_epoch_stale
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata import features
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import TopicData as NamedTopic
from kraftctl_protocol.generated.assign_replicas_to_dirs_response import (
    AssignReplicasToDirsResponse,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid, uuid_to_string

ASSIGNMENTS_PER_REQUEST_MAX: Final = 10_000
"""A broker sends 2,250 at most (AssignReplicasToDirsRequest.MAX_ASSIGNMENTS_PER_REQUEST)."""


def assign_replicas_to_dirs(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Records the directories; replicas put into an offline one leave their ISRs in the same slice."""
    assert isinstance(request, AssignReplicasToDirsRequest)
    count = sum([len(topic.partitions) for directory in request.directories for topic in directory.topics])
    if count > ASSIGNMENTS_PER_REQUEST_MAX:
        return excessive(context, request, f"{count} replicas are more than {ASSIGNMENTS_PER_REQUEST_MAX}")
    if not features.is_directory_assignment_supported(state.image.features.metadata_version):
        return _refused(request, ApiError(Errors.UNSUPPORTED_VERSION))
    if _names_twice(request):
        moment = Moment(moment.now_ms, moment.wall_ms, moment.next_offset, ALL_UNITS)
    return _Assignment(state, context, request).next_slice(moment)


def _names_twice(request: AssignReplicasToDirsRequest) -> bool:
    """Returns whether a partition is in two directories. One image decides about all, as in Kafka."""
    seen: set[tuple[Uuid, int]] = set()
    for directory in request.directories:
        for topic in directory.topics:
            for partition in topic.partitions:
                key = (topic.topic_id, partition.partition_index)
                if key in seen:
                    return True
                seen.add(key)
    return False


def _refused(request: AssignReplicasToDirsRequest, error: ApiError) -> ControllerResult:
    response = AssignReplicasToDirsResponse(error_code=error.code)
    return ControllerResult.refused(response, f"AssignReplicasToDirs of broker {request.broker_id}", error)


class _Assignment(SlicedRequest):
    """The state of one request. A broker whose epoch has become stale gets no results at all."""

    def __init__(
        self, state: ControllerState, context: RequestContext, request: AssignReplicasToDirsRequest
    ) -> None:
        super().__init__(context, request)
        self._state = state
        self._image = state.image
        self._request = request
        self._broker_id = request.broker_id
        self._changes = PartitionChanges(state)
        self._offline: set[tuple[Uuid, int]] = set()
        """The changes of ISRs in this slice."""
        self._refusals = RefusalLines()
        self._response = AssignReplicasToDirsResponse()
        self._topics: list[NamedTopic] = []
        self._results: list[TopicData] = []
        self._directories: list[Uuid] = []
        for directory in request.directories:
            result = DirectoryData(id=directory.id)
            for topic in directory.topics:
                self._topics.append(topic)
                self._directories.append(directory.id)
                result.topics.append(TopicData(topic_id=topic.topic_id))
                self._results.append(result.topics[-1])
            self._response.directories.append(result)
        self._runs = Runs([len(topic.partitions) for topic in self._topics])

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        request = self._request
        error = why_epoch_stale(self._image.cluster, request.broker_id, request.broker_epoch)
        if error is not None:
            return _refused(request, error)
        self._changes = PartitionChanges(self._state)
        self._offline.clear()
        return None

    def has_next(self) -> bool:
        return self._runs.has_next()

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        """Decides a run; its replicas in an offline directory leave their ISRs with it."""
        runs = self._runs
        self.spent += runs.take(units)
        directory = self._directories[runs.outer]
        named = self._topics[runs.outer]
        online = self._is_online(directory)
        topic = self._image.topics.topic(named.topic_id)
        result = self._results[runs.outer]
        records: list[RecordAndVersion] = []
        offline: list[int] = []
        for position in range(runs.first, runs.end):
            index = named.partitions[position].partition_index
            error = self._assign(topic, index, directory, records)
            code = 0
            if error is not None:
                code = error.code
                name = uuid_to_string(named.topic_id) if topic is None else topic.name
                self._refusals.add(f"a directory of {name}-{index} for broker {self._broker_id}", error)
            elif not online and (named.topic_id, index) not in self._offline:
                self._offline.add((named.topic_id, index))
                offline.append(index)
            result.partitions.append(PartitionData(partition_index=index, error_code=code))
        if topic is not None and offline:
            self.spent += len(offline)
            records += records_for_failed_assignments(self._state, self._broker_id, topic, offline, records)
        return records

    def _is_online(self, directory: Uuid) -> bool:
        if self._state.heartbeats.leaving.has_directory(directory):
            return False
        return self._image.cluster.brokers[self._broker_id].has_online_directory(directory)

    def answer(self) -> Message:
        return self._response

    def refusals(self) -> list[str]:
        return self._refusals.lines()

    def _assign(
        self, topic: TopicImage | None, index: int, directory: Uuid, records: list[RecordAndVersion]
    ) -> ApiError | None:
        """Assigns a directory; NOT_LEADER_OR_FOLLOWER without a replica there. Brokers do not retry these."""
        if topic is None:
            return ApiError(Errors.UNKNOWN_TOPIC_ID)
        partition = topic.partitions.get(index)
        if partition is None:
            return ApiError(Errors.UNKNOWN_TOPIC_OR_PARTITION)
        if self._broker_id not in partition.replicas:
            return ApiError(Errors.NOT_LEADER_OR_FOLLOWER, "the broker has no replica of it")
        builder = self._changes.builder(topic, index, partition)
        builder.assign_directory(self._broker_id, directory)
        record = builder.build()
        if record is not None:
            records.append(record)
        return None
