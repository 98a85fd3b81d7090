"""kraftctl.node.principals: a request of node N is served if its sender is a principal of N."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_partition_request as isr
from kraftctl_protocol.generated import begin_quorum_epoch_request as begin
from kraftctl_protocol.generated import end_quorum_epoch_request as end
from kraftctl_protocol.generated import fetch_request as fetch
from kraftctl_protocol.generated import fetch_snapshot_request as snapshot
from kraftctl_protocol.generated import vote_request as vote
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.principal import KafkaPrincipal
from tests.support.rights.asking import forward
from tests.support.rights.cluster_rows import FOREIGN
from tests.support.rights.row import refusal_of
from tests.support.simulator.cluster.lone_node import LoneNode

RULE = "User:CN=broker-{id},O=Example;User:CN=controller-{id},O=Example"

PAGE = Path(__file__).parents[2] / "docs" / "security.md"

OTHERS = (
    *("CN=broker-7,O=Example", "CN=broker-777,O=Example", "CN=broker-{id},O=Example", "CN=broker-77"),
    *("CN=Broker-77,O=Example", "ANONYMOUS"),
)


def fetching(replica_id: int) -> fetch.FetchRequest:
    partition = fetch.FetchPartition(partition=0, current_leader_epoch=0, last_fetched_epoch=0)
    topic = fetch.FetchTopic(topic=METADATA_TOPIC, topic_id=METADATA_TOPIC_ID, partitions=[partition])
    state = fetch.ReplicaState(replica_id=replica_id)
    return fetch.FetchRequest(cluster_id=FOREIGN, replica_state=state, topics=[topic])


def fetching_a_snapshot(replica_id: int) -> snapshot.FetchSnapshotRequest:
    topic = snapshot.TopicSnapshot(name=METADATA_TOPIC, partitions=[snapshot.PartitionSnapshot()])
    return snapshot.FetchSnapshotRequest(cluster_id=FOREIGN, replica_id=replica_id, topics=[topic])


def voting(replica_id: int) -> vote.VoteRequest:
    partition = vote.PartitionData(replica_id=replica_id)
    topic = vote.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return vote.VoteRequest(cluster_id=FOREIGN, topics=[topic])


def beginning(leader_id: int) -> begin.BeginQuorumEpochRequest:
    partition = begin.PartitionData(leader_id=leader_id)
    topic = begin.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return begin.BeginQuorumEpochRequest(cluster_id=FOREIGN, topics=[topic])


def ending(leader_id: int) -> end.EndQuorumEpochRequest:
    partition = end.PartitionData(leader_id=leader_id)
    topic = end.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return end.EndQuorumEpochRequest(cluster_id=FOREIGN, topics=[topic])


def altering_much(broker_id: int) -> isr.AlterPartitionRequest:
    """So much that the body is decoded beside the loop."""
    partitions = [isr.PartitionData(partition_index=index) for index in range(5_000)]
    topic = isr.TopicData(topic_id=b"t" * 16, partitions=partitions)
    return isr.AlterPartitionRequest(broker_id=broker_id, topics=[topic])


REQUESTS: dict[str, Callable[[int], Message]] = {
    "registration": lambda node_id: BrokerRegistrationRequest(
        broker_id=node_id, cluster_id=FOREIGN, incarnation_id=b"i" * 16
    ),
    "heartbeat": lambda node_id: BrokerHeartbeatRequest(broker_id=node_id),
    "alter-partition": lambda node_id: isr.AlterPartitionRequest(broker_id=node_id),
    "long-alter-partition": altering_much,
    "directories": lambda node_id: AssignReplicasToDirsRequest(broker_id=node_id),
    "producer-ids": lambda node_id: AllocateProducerIdsRequest(broker_id=node_id),
    "controller": lambda node_id: ControllerRegistrationRequest(controller_id=node_id),
    "voter": lambda node_id: UpdateRaftVoterRequest(cluster_id=FOREIGN, voter_id=node_id),
    "fetch": fetching,
    "snapshot": fetching_a_snapshot,
    "vote": voting,
    "begin": beginning,
    "end": ending,
}


def error_of(node: LoneNode, request: Message, name: str, version: int | None = None) -> int:
    request_id = node.send(request, version, KafkaPrincipal("User", name))
    # A long body is decoded beside the loop.
    node.pass_time(100)
    return dict(refusal_of(node.answers[request_id])).get("error_code", 0)


@pytest.fixture(scope="module")
def bound() -> LoneNode:
    node = LoneNode(kraftctl_node_principals=RULE)
    node.settle()
    return node


@pytest.mark.parametrize("kind", REQUESTS)
def test_a_node_is_who_it_says(bound: LoneNode, kind: str) -> None:
    request = REQUESTS[kind](77)
    for name in ("CN=broker-77,O=Example", "CN=controller-77,O=Example"):
        assert error_of(bound, request, name) == 0
    for name in OTHERS:
        bound.process.notices.clear()
        assert error_of(bound, request, name) == Errors.CLUSTER_AUTHORIZATION_FAILED
        (line,) = [each for each in bound.process.notices if "Next step: correct the node.id there" in each]
        refusal = f"User:{name} is not a principal of node 77 by kraftctl.node.principals."
        assert f" of User:{name} at 127.0.0.1: {refusal}" in line


@pytest.mark.parametrize("kind", REQUESTS)
def test_without_the_key_all_is_as_in_kafka(kind: str) -> None:
    node = LoneNode()
    node.settle()
    assert error_of(node, REQUESTS[kind](77), "CN=broker-7") == 0


def test_an_old_fetch_has_its_replica_elsewhere(bound: LoneNode) -> None:
    request = fetching(-1)
    request.replica_id = 77
    assert error_of(bound, request, "CN=broker-7", 12) == Errors.CLUSTER_AUTHORIZATION_FAILED
    assert error_of(bound, request, "CN=broker-77,O=Example", 12) == 0


def test_an_observer_without_an_id_may_fetch(bound: LoneNode) -> None:
    assert error_of(bound, fetching(-1), "CN=exporter") == 0
    assert error_of(bound, fetching_a_snapshot(-1), "CN=exporter") == 0


def test_a_forwarded_request_is_its_clients(bound: LoneNode) -> None:
    """A client does not become a broker by one that forwards for it."""

    class Door:
        def ask(self, principal: KafkaPrincipal, request: Message, version: int | None = None) -> Message:
            request_id = bound.send(request, version, principal)
            bound.settle()
            return bound.answers[request_id]

    request = AllocateProducerIdsRequest(broker_id=77)
    for name in ("CN=client", "CN=broker-77,O=Example"):
        answer = forward(
            Door(), KafkaPrincipal("User", name), request, 0, sender="CN=broker-77,O=Example"
        ).response
        assert answer is not None
        assert {error for _, error in refusal_of(answer)} == {Errors.CLUSTER_AUTHORIZATION_FAILED}


def test_every_request_of_nodes_is_bound() -> None:
    """An envelope is for the client in it."""
    keys = {api.key for api in API_TABLE.values() if api.cluster_operation == AclOperation.CLUSTER_ACTION}
    assert {make(1).API_KEY for make in REQUESTS.values()} == keys - {ApiKey.ENVELOPE}


def test_the_page_has_this_rule() -> None:
    assert f"\nkraftctl.node.principals={RULE}\n" in PAGE.read_text()
