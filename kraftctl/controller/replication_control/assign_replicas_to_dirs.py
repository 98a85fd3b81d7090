"""KIP-858: AssignReplicasToDirs, by which a broker reports the log directories of its replicas."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.cluster_control.broker_epoch import why_epoch_stale
from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.controller_state import ControllerState
from kraftctl.controller.excessive_requests import excessive
from kraftctl.controller.moment import Moment
from kraftctl.controller.refusal_lines import RefusalLines
from kraftctl.controller.replication_control.broker_transitions import records_for_failed_assignments
from kraftctl.controller.replication_control.partition_changes import PartitionChanges
from kraftctl.controller.request_context import RequestContext
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata import features
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
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
    """Records the directories; replicas put into an offline one leave their ISRs in the same list."""
    assert isinstance(request, AssignReplicasToDirsRequest)
    image = state.image
    count = sum([len(topic.partitions) for directory in request.directories for topic in directory.topics])
    if count > ASSIGNMENTS_PER_REQUEST_MAX:
        return excessive(context, request, f"{count} replicas are more than {ASSIGNMENTS_PER_REQUEST_MAX}")
    if not features.is_directory_assignment_supported(image.features.metadata_version):
        error: ApiError | None = ApiError(Errors.UNSUPPORTED_VERSION)
    else:
        error = why_epoch_stale(image.cluster, request.broker_id, request.broker_epoch)
    if error is not None:
        refused = AssignReplicasToDirsResponse(error_code=error.code)
        return ControllerResult.refused(refused, f"AssignReplicasToDirs of broker {request.broker_id}", error)
    registration = image.cluster.brokers[request.broker_id]
    assignment = _Assignment(state, request.broker_id)
    response = AssignReplicasToDirsResponse()
    refusals = RefusalLines()
    for directory in request.directories:
        result = DirectoryData(id=directory.id)
        online = registration.has_online_directory(directory.id)
        for topic_data in directory.topics:
            topic = image.topics.topic(topic_data.topic_id)
            topic_result = TopicData(topic_id=topic_data.topic_id)
            for partition in topic_data.partitions:
                index = partition.partition_index
                error = assignment.assign(topic, index, directory.id, online)
                code = 0
                if error is not None:
                    code = error.code
                    named = uuid_to_string(topic_data.topic_id) if topic is None else topic.name
                    refusals.add(f"a directory of {named}-{index} for broker {request.broker_id}", error)
                topic_result.partitions.append(PartitionData(partition_index=index, error_code=code))
            result.topics.append(topic_result)
        response.directories.append(result)
    records = assignment.records
    if assignment.offline:
        records += records_for_failed_assignments(
            image, state.config, request.broker_id, list(assignment.offline)
        )
    return ControllerResult.of(records, response, refusals=refusals.lines())


class _Assignment:
    """The state of one request."""

    def __init__(self, state: ControllerState, broker_id: int) -> None:
        self._broker_id = broker_id
        self._changes = PartitionChanges(state.image, state.config)
        self.records: list[RecordAndVersion] = []
        self.offline: dict[tuple[Uuid, int], None] = {}

    def assign(self, topic: TopicImage | None, index: int, directory: Uuid, online: bool) -> ApiError | None:
        """NOT_LEADER_OR_FOLLOWER when the broker has no replica there. Brokers do not retry these."""
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
            self.records.append(record)
        if not online:
            self.offline[(topic.topic_id, index)] = None
        return None
