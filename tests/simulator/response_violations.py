"""What no controller may answer, as scripts: what never was, refusals without reason, no real voters."""

from __future__ import annotations

from collections.abc import Callable

from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import describe_acls_response, describe_quorum_response, fetch_request
from kraftctl_protocol.generated import fetch_response as fetched
from kraftctl_protocol.generated import list_partition_reassignments_response as ongoing
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
)
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse, FinalizedFeatureKey
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.begin_quorum_epoch_response import BeginQuorumEpochResponse
from kraftctl_protocol.generated.begin_quorum_epoch_response import PartitionData as Begun
from kraftctl_protocol.generated.begin_quorum_epoch_response import TopicData as BegunTopic
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreatableTopicResult, CreateTopicsResponse
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import (
    DescribeConfigsResourceResult,
    DescribeConfigsResponse,
    DescribeConfigsResult,
)
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.list_partition_reassignments_request import ListPartitionReassignmentsRequest
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.register_controller_record import (
    ControllerEndpoint,
    RegisterControllerRecord,
)
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_response import RemoveRaftVoterResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.update_raft_voter_request import Listener, UpdateRaftVoterRequest
from kraftctl_protocol.generated.update_raft_voter_response import UpdateRaftVoterResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.requests import encode_request
from tests.simulator.partition_violations import TOPIC, brokers, partition
from tests.support.simulator.cluster.scripted_quorum import (
    METADATA_VERSION,
    NODES,
    ScriptedProcess,
    ScriptedQuorum,
    control_batch,
    data_batch,
    key,
    voter_set,
)

Violation = Callable[[ScriptedQuorum], object]

REQUEST_ID = 5


def ask(process: ScriptedProcess, request: Message, response: Message) -> None:
    """One request with its response, and nothing in between."""
    process.do(process.request(request, REQUEST_ID))
    process.respond(REQUEST_ID, response)


def activate(quorum: ScriptedQuorum) -> ScriptedProcess:
    """The leader, with a topic and three brokers."""
    brokers(quorum)
    quorum.commit(*partition([1, 2, 3], [1, 2, 3], 1))
    quorum.leader.controller.active = True
    quorum.leader.carry_out()
    return quorum.leader


def committed(quorum: ScriptedQuorum, *records: Message) -> ScriptedProcess:
    quorum.commit(METADATA_VERSION)
    if records:
        quorum.commit(*records)
    return quorum.other


# Reads.


def acls_of_nobody(quorum: ScriptedQuorum) -> None:
    """The answer leaves out the only one."""
    acl = AccessControlEntryRecord(
        id=TOPIC, resource_type=2, resource_name="foo", pattern_type=3, principal="User:a", host="*"
    )
    request = DescribeAclsRequest(
        resource_type_filter=1,
        resource_name_filter=None,
        pattern_type_filter=1,
        principal_filter=None,
        host_filter=None,
        operation=1,
        permission_type=1,
    )
    ask(committed(quorum, acl), request, describe_acls_response.DescribeAclsResponse())


def config_of_before(quorum: ScriptedQuorum) -> None:
    """A controller that has replayed the newer value answers the older one."""
    config = {"resource_type": 2, "resource_name": "foo", "name": "retention.ms"}
    committed(quorum, ConfigRecord(**config, value="1"))  # type: ignore[arg-type]
    node = committed(quorum, ConfigRecord(**config, value="2"))  # type: ignore[arg-type]
    resource = DescribeConfigsResource(resource_type=2, resource_name="foo")
    value = DescribeConfigsResourceResult(name="retention.ms", value="1", config_source=1)
    result = DescribeConfigsResult(resource_type=2, resource_name="foo", configs=[value])
    ask(node, DescribeConfigsRequest(resources=[resource]), DescribeConfigsResponse(results=[result]))


def controller_at_another_port(quorum: ScriptedQuorum) -> None:
    listens = ControllerEndpoint(name="CONTROLLER", host="one", port=9093)
    node = committed(quorum, RegisterControllerRecord(controller_id=1, end_points=[listens]))
    described = DescribeClusterBroker(broker_id=1, host="one", port=9094)
    ask(node, DescribeClusterRequest(endpoint_type=2), DescribeClusterResponse(brokers=[described]))


def reassignment_that_does_not_run(quorum: ScriptedQuorum) -> None:
    part = ongoing.OngoingPartitionReassignment(partition_index=0, replicas=[1, 2, 3], adding_replicas=[3])
    topic = ongoing.OngoingTopicReassignment(name="foo", partitions=[part])
    response = ongoing.ListPartitionReassignmentsResponse(topics=[topic])
    ask(activate(quorum), ListPartitionReassignmentsRequest(topics=None), response)


def reassignment_that_was_acknowledged(quorum: ScriptedQuorum) -> None:
    """Who asks next is answered that none runs."""
    leader = activate(quorum)
    moving = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, adding_replicas=[3])
    end = leader.partition.log.end_offset
    leader.do(
        leader.request(AlterPartitionReassignmentsRequest(), 1),
        data_batch(end, 1, [RecordAndVersion(moving, 0)]),
    )
    quorum.replicate()
    leader.respond(1, AlterPartitionReassignmentsResponse())
    ask(leader, ListPartitionReassignmentsRequest(topics=None), ongoing.ListPartitionReassignmentsResponse())


def feature_that_is_not_final(quorum: ScriptedQuorum) -> None:
    feature = FinalizedFeatureKey(name="metadata.version", max_version_level=7, min_version_level=7)
    response = ApiVersionsResponse(finalized_features=[feature], finalized_features_epoch=1)
    ask(committed(quorum), ApiVersionsRequest(), response)


def epoch_of_features_that_is_to_come(quorum: ScriptedQuorum) -> None:
    level = METADATA_VERSION.feature_level
    feature = FinalizedFeatureKey(name="metadata.version", max_version_level=level, min_version_level=level)
    response = ApiVersionsResponse(finalized_features=[feature], finalized_features_epoch=100)
    ask(committed(quorum), ApiVersionsRequest(), response)


def voters_that_the_log_does_not_have(quorum: ScriptedQuorum) -> None:
    voters = [describe_quorum_response.ReplicaState(replica_id=node_id) for node_id in (1, 2)]
    describe(quorum, voters, 1)


def high_watermark_that_is_not_committed(quorum: ScriptedQuorum) -> None:
    voters = [describe_quorum_response.ReplicaState(replica_id=node_id) for node_id in NODES]
    describe(quorum, voters, 100)


def replica_that_is_ahead_of_its_leader(quorum: ScriptedQuorum) -> None:
    states = [
        describe_quorum_response.ReplicaState(replica_id=node_id, log_end_offset=100) for node_id in NODES
    ]
    describe(quorum, states, 1)


def describe(
    quorum: ScriptedQuorum, voters: list[describe_quorum_response.ReplicaState], high_watermark: int
) -> None:
    data = describe_quorum_response.PartitionData(
        leader_id=1, leader_epoch=1, high_watermark=high_watermark, current_voters=voters
    )
    topic = describe_quorum_response.TopicData(partitions=[data])
    ask(
        quorum.leader,
        DescribeQuorumRequest(),
        describe_quorum_response.DescribeQuorumResponse(topics=[topic]),
    )


# Refusals.


def creation(code: Errors) -> tuple[Message, Message]:
    result = CreatableTopicResult(name="bar", error_code=code)
    topic = CreatableTopic(name="bar", replication_factor=1)
    return CreateTopicsRequest(topics=[topic]), CreateTopicsResponse(topics=[result])


def topic_that_is_said_to_exist(quorum: ScriptedQuorum) -> None:
    ask(activate(quorum), *creation(Errors.TOPIC_ALREADY_EXISTS))


def topic_that_exists_later(quorum: ScriptedQuorum) -> None:
    """The response came before it was created."""
    leader = activate(quorum)
    ask(leader, *creation(Errors.TOPIC_ALREADY_EXISTS))
    quorum.commit(TopicRecord(name="bar", topic_id=bytes(15) + b"\x08"))


def active_controller_that_says_it_is_none(quorum: ScriptedQuorum) -> None:
    response = AllocateProducerIdsResponse(error_code=Errors.NOT_CONTROLLER)
    ask(activate(quorum), AllocateProducerIdsRequest(broker_id=1), response)


def envelope_that_an_active_controller_refuses(quorum: ScriptedQuorum) -> None:
    request, _ = creation(Errors.NONE)
    header = RequestHeader(request_api_key=request.API_KEY, request_api_version=7, correlation_id=1)
    envelope = EnvelopeRequest(request_data=encode_request(header, request))
    ask(activate(quorum), envelope, EnvelopeResponse(error_code=Errors.NOT_CONTROLLER))


def handler_that_fails(quorum: ScriptedQuorum) -> None:
    response = AllocateProducerIdsResponse(error_code=Errors.UNKNOWN_SERVER_ERROR)
    ask(activate(quorum), AllocateProducerIdsRequest(broker_id=1), response)


def broker_whose_epoch_is_right(quorum: ScriptedQuorum) -> None:
    leader = activate(quorum)
    epoch = quorum.checks.partitions.state["broker", 1].epoch
    request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch)
    ask(leader, request, AllocateProducerIdsResponse(error_code=Errors.STALE_BROKER_EPOCH))


def fetch_that_is_refused(quorum: ScriptedQuorum, code: Errors) -> None:
    """Of the epoch of the leader that is asked."""
    data = fetch_request.FetchPartition(current_leader_epoch=1)
    request = fetch_request.FetchRequest(topics=[fetch_request.FetchTopic(partitions=[data])])
    refused = fetched.PartitionData(error_code=code, high_watermark=-1)
    topic = fetched.FetchableTopicResponse(partitions=[refused])
    ask(quorum.leader, request, fetched.FetchResponse(responses=[topic]))


def epoch_that_is_no_former_one(quorum: ScriptedQuorum) -> None:
    fetch_that_is_refused(quorum, Errors.FENCED_LEADER_EPOCH)


def epoch_that_is_known(quorum: ScriptedQuorum) -> None:
    fetch_that_is_refused(quorum, Errors.UNKNOWN_LEADER_EPOCH)


def leader_that_says_it_is_none(quorum: ScriptedQuorum) -> None:
    fetch_that_is_refused(quorum, Errors.NOT_LEADER_OR_FOLLOWER)


# Voters, leaders and epochs.


def with_voters(quorum: ScriptedQuorum) -> ScriptedProcess:
    """They are in the log, and committed."""
    quorum.leader.carry_out(control_batch(1, 1, voter_set(*NODES)))
    quorum.replicate()
    return quorum.leader


def voter_request(node_id: int) -> AddRaftVoterRequest:
    return AddRaftVoterRequest(voter_id=node_id, voter_directory_id=key(node_id).directory_id)


def voter_that_was_not_added(quorum: ScriptedQuorum) -> None:
    ask(with_voters(quorum), voter_request(4), AddRaftVoterResponse())


def voter_that_is_added_and_not_committed(quorum: ScriptedQuorum) -> None:
    leader = with_voters(quorum)
    leader.do(leader.request(voter_request(4), REQUEST_ID), control_batch(2, 1, voter_set(*NODES, 4)))
    leader.respond(REQUEST_ID, AddRaftVoterResponse())


def voter_that_votes_still(quorum: ScriptedQuorum) -> None:
    request = RemoveRaftVoterRequest(voter_id=3, voter_directory_id=key(3).directory_id)
    ask(with_voters(quorum), request, RemoveRaftVoterResponse())


def voter_that_is_no_duplicate(quorum: ScriptedQuorum) -> None:
    ask(with_voters(quorum), voter_request(4), AddRaftVoterResponse(error_code=Errors.DUPLICATE_VOTER))


def voter_that_is_there(quorum: ScriptedQuorum) -> None:
    request = RemoveRaftVoterRequest(voter_id=3, voter_directory_id=key(3).directory_id)
    ask(with_voters(quorum), request, RemoveRaftVoterResponse(error_code=Errors.VOTER_NOT_FOUND))


def voter_at_its_former_address(quorum: ScriptedQuorum) -> None:
    request = UpdateRaftVoterRequest(
        current_leader_epoch=1,
        voter_id=3,
        voter_directory_id=key(3).directory_id,
        listeners=[Listener(name="CONTROLLER", host="elsewhere", port=1)],
    )
    leader = with_voters(quorum)
    ask(leader, request, UpdateRaftVoterResponse())
    leader.carry_out()


def begun(leader_id: int, epoch: int) -> BeginQuorumEpochResponse:
    data = Begun(leader_id=leader_id, leader_epoch=epoch)
    return BeginQuorumEpochResponse(topics=[BegunTopic(partitions=[data])])


def leader_whom_nobody_elected(quorum: ScriptedQuorum) -> None:
    ask(quorum.other, BeginQuorumEpochRequest(), begun(3, 1))


def epoch_that_is_not_stored(quorum: ScriptedQuorum) -> None:
    ask(quorum.other, BeginQuorumEpochRequest(), begun(3, 2))


# The log itself.


def record_that_kafka_refuses(quorum: ScriptedQuorum) -> None:
    quorum.commit(METADATA_VERSION)
    quorum.commit(UnregisterBrokerRecord(broker_id=1, broker_epoch=7))


def image_with_a_wrong_index(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.commit(*partition([1, 2], [1, 2], 2))
    quorum.other.controller.image.topics.imbalanced_counts.clear()
    quorum.checks.checkpoint(quorum.processes)


def image_that_misses_what_is_not_committed(quorum: ScriptedQuorum) -> None:
    """The leader has appended a topic, and has not replayed it."""
    leader = activate(quorum)
    topic = TopicRecord(name="bar", topic_id=bytes(15) + b"\x08")
    batch = leader.append([RecordAndVersion(topic, 0)])
    leader.controller.next_replay_offset = batch.last_offset + 1
    quorum.checks.checkpoint(quorum.processes)


def snapshot_that_is_loaded_without_a_record(quorum: ScriptedQuorum) -> None:
    brokers(quorum)
    quorum.other.controller.image = MetadataImage()
    quorum.other.carry_out()


RESPONSE_VIOLATIONS: list[tuple[str, Violation]] = [
    ("ReadsSeeCommittedData", acls_of_nobody),
    ("ReadsSeeCommittedData", config_of_before),
    ("ReadsSeeCommittedData", controller_at_another_port),
    ("ReadsSeeCommittedData", reassignment_that_does_not_run),
    ("ReadsSeeCommittedData", reassignment_that_was_acknowledged),
    ("ReadsSeeCommittedData", feature_that_is_not_final),
    ("ReadsSeeCommittedData", epoch_of_features_that_is_to_come),
    ("ReadsSeeCommittedData", voters_that_the_log_does_not_have),
    ("ReadsSeeCommittedData", high_watermark_that_is_not_committed),
    ("ReadsSeeCommittedData", replica_that_is_ahead_of_its_leader),
    ("RefusalIsJustified", topic_that_is_said_to_exist),
    ("RefusalIsJustified", topic_that_exists_later),
    ("RefusalIsJustified", active_controller_that_says_it_is_none),
    ("RefusalIsJustified", envelope_that_an_active_controller_refuses),
    ("RefusalIsJustified", handler_that_fails),
    ("RefusalIsJustified", broker_whose_epoch_is_right),
    ("RefusalIsJustified", epoch_that_is_no_former_one),
    ("RefusalIsJustified", epoch_that_is_known),
    ("RefusalIsJustified", leader_that_says_it_is_none),
    ("RefusalIsJustified", voter_that_is_no_duplicate),
    ("RefusalIsJustified", voter_that_is_there),
    ("AckedValueNotLost", voter_that_was_not_added),
    ("AckedValueNotLost", voter_that_is_added_and_not_committed),
    ("AckedValueNotLost", voter_that_votes_still),
    ("AckedValueNotLost", voter_at_its_former_address),
    ("SingleLeader", leader_whom_nobody_elected),
    ("MonotonicEpoch", epoch_that_is_not_stored),
    ("NoIllegalState", record_that_kafka_refuses),
    ("AllCommittedImagesAgree", snapshot_that_is_loaded_without_a_record),
    ("AllCommittedImagesAgree", image_with_a_wrong_index),
    ("AllCommittedImagesAgree", image_that_misses_what_is_not_committed),
]
