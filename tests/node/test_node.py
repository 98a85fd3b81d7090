"""The whole node: what is acknowledged is on disk, what is not may be lost, and a restart finds the rest."""

from __future__ import annotations

import random

import pytest

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import CreateAclsResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.describe_quorum_request import (
    DescribeQuorumRequest,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.principal import ANONYMOUS, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.active_controller import CLUSTER_ID, registration
from tests.support.effort import seeds
from tests.support.image_records import next_records
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.support.wire import raft_requests

BROKER = 1


def topic(name: str, partitions: int = 3) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=partitions, replication_factor=1)]
    )


def serving_node(seed: int = 1, snapshot_bytes: int = 1 << 40) -> LoneNode:
    """A node with one unfenced broker."""
    node = LoneNode(seed=seed, snapshot_bytes=snapshot_bytes)
    node.settle()
    register(node)
    return node


def register(node: LoneNode) -> int:
    epoch = node.ask(registration(BROKER), BrokerRegistrationResponse).broker_epoch
    beat = node.ask(heartbeat(node, epoch), BrokerHeartbeatResponse)
    assert not beat.is_fenced
    return epoch


def heartbeat(node: LoneNode, epoch: int) -> BrokerHeartbeatRequest:
    return BrokerHeartbeatRequest(
        broker_id=BROKER, broker_epoch=epoch, current_metadata_offset=node.raft.end_offset
    )


def state_of(image: MetadataImage, end_offset: int) -> list[str]:
    """The image as snapshot records, sorted."""
    writer = ImageWriter(image, end_offset)
    records = next_records(writer, 1 << 30)
    writer.close()
    return sorted(repr(entry.record) for entry in records)


class TestDurability:
    def test_nothing_is_acknowledged_before_it_is_on_disk(self):
        node = serving_node()
        request_id = node.send(topic("orders"))
        assert node.controller.image.topics.topic_by_name("orders") is not None
        assert request_id not in node.answers
        assert node.flush()
        assert node.answers[request_id].topics[0].error_code == Errors.NONE

    def test_a_refusal_that_saw_uncommitted_state_waits_for_it(self):
        node = serving_node()
        node.send(topic("orders"))
        second = node.send(topic("orders"))
        assert second not in node.answers
        node.settle()
        assert node.answers[second].topics[0].error_code == Errors.TOPIC_ALREADY_EXISTS

    def test_appends_during_a_flush_share_the_next_one(self):
        node = serving_node()
        ids = [node.send(topic(f"topic-{number}")) for number in range(5)]
        assert node.flush()
        assert [request_id in node.answers for request_id in ids] == [True, False, False, False, False]
        assert node.flush()
        assert all(request_id in node.answers for request_id in ids)
        assert not node.flush()

    @pytest.mark.parametrize("seed", seeds(20))
    def test_a_crash_loses_nothing_that_was_acknowledged(self, seed):
        rng = random.Random(seed)
        node = serving_node()
        acknowledged: set[str] = set()
        pending: dict[int, str] = {}
        for number in range(60):
            action = rng.random()
            if action < 0.6:
                name = f"topic-{number}"
                pending[node.send(topic(name))] = name
            elif action < 0.9:
                node.flush()
            else:
                node.restart()
                pending.clear()
                node.settle()
            for request_id in [key for key in pending if key in node.answers]:
                assert node.answers[request_id].topics[0].error_code == Errors.NONE
                acknowledged.add(pending.pop(request_id))
            present = {known.name for known in node.controller.image.topics.topics.values()}
            assert acknowledged <= present, f"seed {seed}: lost {acknowledged - present}"


class TestRestart:
    def test_finds_the_same_image_in_a_new_epoch(self):
        node = serving_node()
        node.ask(topic("orders"), CreateTopicsResponse)
        before, epoch = state_of(node.controller.image, node.raft.end_offset), node.raft.epoch
        node.restart()
        node.settle()
        after = state_of(node.controller.image, node.raft.end_offset)
        assert [line for line in after if "Controller" not in line] == [
            line for line in before if "Controller" not in line
        ]
        assert node.raft.epoch == epoch + 1

    def test_a_broker_continues_in_its_epoch(self):
        node = LoneNode()
        node.settle()
        epoch = register(node)
        node.restart()
        node.settle()
        beat = node.ask(heartbeat(node, epoch), BrokerHeartbeatResponse)
        assert (beat.error_code, beat.is_fenced) == (Errors.NONE, False)

    @pytest.mark.prevents("KAFKA-18138")
    def test_a_broker_that_died_during_the_restart_is_fenced(self):
        """KAFKA-18138: the controller that is active now has never heard of it."""
        node = serving_node()
        node.restart()
        node.settle()
        node.pass_time(node.config.broker_session_timeout_ms + 2_000)
        assert node.controller.image.cluster.brokers[BROKER].fenced

    @pytest.mark.prevents("KAFKA-16286", "KAFKA-15345")
    def test_not_controller_until_everything_is_loaded(self):
        node = serving_node()
        node.restart()
        request_id = node.send(topic("early"))
        assert node.answers[request_id].topics[0].error_code == Errors.NOT_CONTROLLER


class TestAuthorizerWhileLoading:
    """KAFKA-13649: the ACLs are in the log that is being loaded."""

    ACL = AclCreation(
        resource_type=4,
        resource_name="kafka-cluster",
        resource_pattern_type=3,
        principal="User:ANONYMOUS",
        host="*",
        operation=9,
        permission_type=3,
    )

    def loading(self) -> LoneNode:
        """Restarted and elected, but its ACLs are not loaded yet: one of them allows the broker."""
        node = LoneNode(authorizer_class_name=STANDARD_AUTHORIZER, allow_everyone_if_no_acl_found="true")
        node.settle()
        created = node.ask(CreateAclsRequest(creations=[self.ACL]), CreateAclsResponse)
        assert created.results[0].error_code == Errors.NONE
        node.restart()
        return node

    def test_a_broker_that_fetches_gets_a_retriable_error(self):
        """CLUSTER_AUTHORIZATION_FAILED would end the broker."""
        node = self.loading()
        fetch, _ = raft_requests.fetch({"offset": "0", "last-epoch": "0", "cluster": CLUSTER_ID})
        request_id = node.send(fetch)
        assert node.answers[request_id].error_code == Errors.UNKNOWN_SERVER_ERROR
        node.settle()
        assert node.ask(fetch, FetchResponse).error_code == Errors.NONE

    def test_other_requests_look_for_the_active_controller_again(self):
        node = self.loading()
        beat = node.send(BrokerHeartbeatRequest(broker_id=BROKER))
        envelope = node.send(EnvelopeRequest(request_data=b"", client_host_address=b""))
        codes = [node.answers[request_id].error_code for request_id in (beat, envelope)]
        assert codes == [Errors.NOT_CONTROLLER, Errors.NOT_CONTROLLER]

    @pytest.mark.prevents("KAFKA-13649")
    def test_partly_loaded_rules_are_not_applied(self):
        node = self.loading()
        replay(node.controller.image, FeatureLevelRecord(name="metadata.version", feature_level=30), 0)
        quorum = DescribeQuorumRequest(
            topics=[TopicData(topic_name="__cluster_metadata", partitions=[PartitionData()])]
        )
        assert node.answers[node.send(quorum)].error_code == Errors.UNKNOWN_SERVER_ERROR


class TestSnapshots:
    def test_a_restart_from_snapshot_and_log_equals_one_from_the_log(self):
        node = serving_node(snapshot_bytes=400)
        for number in range(20):
            node.ask(topic(f"topic-{number}", partitions=10), CreateTopicsResponse)
        assert node.snapshot_ids()
        before = state_of(node.controller.image, node.raft.end_offset)
        node.restart()
        node.settle()
        assert any("Becoming the active controller" in notice for notice in node.notices)
        after = state_of(node.controller.image, node.raft.end_offset)
        assert [line for line in after if "Controller" not in line] == [
            line for line in before if "Controller" not in line
        ]

    def test_it_holds_what_was_committed_and_nothing_newer(self):
        node = serving_node(snapshot_bytes=100)
        node.ask(topic("old"), CreateTopicsResponse)
        node.send(topic("new"))
        node.run_for(0)
        newest = max(node.snapshot_ids())
        assert newest.offset <= node.raft.high_watermark
        text = repr([record.value for batch in node.snapshot(newest) for record in batch.records])
        assert "old" in text
        assert "new" not in text

    @pytest.mark.prevents("second-snapshot-of-an-offset")
    def test_a_file_that_replicas_may_be_fetching_is_not_written_again(self):
        """While nothing new is committed, though more and more is appended."""
        node = serving_node(snapshot_bytes=100)
        node.ask(topic("old"), CreateTopicsResponse)
        node.send(topic("new"))
        node.run_for(0)
        written = len([notice for notice in node.notices if "Writing snapshot" in notice])
        newest = max(node.snapshot_ids())
        for number in range(3):
            node.send(topic(f"newer-{number}"))
            node.run_for(0)
        assert max(node.snapshot_ids()) == newest
        assert len([notice for notice in node.notices if "Writing snapshot" in notice]) == written

    @pytest.mark.prevents("KAFKA-17713")
    def test_none_is_taken_inside_a_metadata_transaction(self):
        """KAFKA-17713: half of it would be in the snapshot, and the reader could not interpret its end."""
        node = serving_node(snapshot_bytes=100)
        node.ask(topic("before"), CreateTopicsResponse)
        begin = node.raft.end_offset
        node.write(BeginTransactionRecord(name="test"))
        node.pass_time(600)
        inside = node.send(topic("inside", partitions=10))
        node.pass_time(2_000)
        assert node.raft.high_watermark > begin + 1
        assert max(node.snapshot_ids()).offset <= begin
        assert inside not in node.answers
        node.write(EndTransactionRecord())
        node.ask(topic("after", partitions=10), CreateTopicsResponse)
        node.pass_time(2_000)
        assert max(node.snapshot_ids()).offset > begin
        assert inside in node.answers


def test_an_unusable_stored_value_stops_neither_start_nor_fencing_and_is_named_once() -> None:
    """Kafka's controllers store a broker config unchecked: it is found at every start."""
    node = serving_node()
    node.ask(topic("t"), CreateTopicsResponse)
    bad = ConfigRecord(resource_type=4, resource_name="", name="min.insync.replicas", value="abc")
    node.write(bad)
    node.pass_time(20_000)
    assert node.controller.image.cluster.brokers[BROKER].fenced
    node.restart()
    node.settle()
    node.pass_time(20_000)
    assert node.controller.active
    assert len([notice for notice in node.notices if "is stored as 'abc'" in notice]) == 1


def test_why_a_request_is_refused_is_logged() -> None:
    """The response to a heartbeat has an error code only."""
    node = serving_node()
    refused = node.ask(BrokerHeartbeatRequest(broker_id=77, broker_epoch=1), BrokerHeartbeatResponse)
    assert refused.error_code == Errors.STALE_BROKER_EPOCH
    assert node.notices[-1] == (
        "Refusing BrokerHeartbeat of broker 77 with STALE_BROKER_EPOCH: broker 77 is not registered"
    )


@pytest.mark.prevents("corrupt-content", "KAFKA-14275", "KAFKA-14124")
def test_a_record_that_does_not_fit_stops_the_node() -> None:
    """KAFKA-14275: with a part of the state missing it must never become active."""
    node = LoneNode(checked=False)
    change = PartitionChangeRecord(topic_id=bytes(range(16)), partition_id=7, leader=1)
    node.restart_after(encode_metadata_record(change, 0))
    with pytest.raises(
        StorageError, match=r"\.log: the record at offset \d+ is a PartitionChangeRecord that"
    ):
        node.settle()
    assert not node.controller.active


class TestEnvelopes:
    def envelope(self, request) -> EnvelopeRequest:
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=request.HIGHEST_VERSION,
            correlation_id=99,
            client_id="admin",
        )
        return EnvelopeRequest(
            request_data=encode_request(header, request),
            request_principal=serialize_principal(ANONYMOUS),
            client_host_address=b"\x7f\x00\x00\x01",
        )

    def test_the_answer_comes_back_wrapped_when_committed(self):
        node = serving_node()
        request_id = node.send(self.envelope(topic("orders")))
        assert request_id not in node.answers
        node.settle()
        answer = node.answers[request_id]
        assert isinstance(answer, EnvelopeResponse)
        correlation_id, inner = decode_response(answer.response_data or b"", ApiKey.CREATE_TOPICS, 7)
        assert (correlation_id, inner.topics[0].name) == (99, "orders")

    def test_what_raft_answers_is_wrapped_as_well(self):
        node = serving_node()
        asked = DescribeQuorumRequest(
            topics=[TopicData(topic_name="__cluster_metadata", partitions=[PartitionData()])]
        )
        answer = node.ask(self.envelope(asked), EnvelopeResponse)
        _, inner = decode_response(answer.response_data or b"", ApiKey.DESCRIBE_QUORUM, 2)
        assert inner.topics[0].partitions[0].leader_id == 3000

    def test_not_controller_is_an_error_of_the_envelope(self):
        node = serving_node()
        node.restart()
        request_id = node.send(self.envelope(topic("early")))
        assert node.answers[request_id].error_code == Errors.NOT_CONTROLLER
        assert node.answers[request_id].response_data is None

    @pytest.mark.parametrize(
        ("changed", "error"),
        [
            pytest.param({"request_principal": b"\x00\x07"}, 97, id="principal"),
            pytest.param({"client_host_address": b"\x7f"}, 42, id="address"),
            pytest.param({"request_data": b"\x00\x3e\x00\x00"}, 35, id="cut-short"),
        ],
    )
    def test_an_envelope_that_cannot_be_opened_gets_an_error_and_no_data(self, changed, error):
        node = serving_node()
        envelope = self.envelope(topic("orders"))
        for name, value in changed.items():
            setattr(envelope, name, value)
        answer = node.ask(envelope, EnvelopeResponse)
        assert (answer.error_code, answer.response_data) == (error, None)

    def test_an_answer_that_is_too_long_for_its_field_does_not_stop_the_node(self):
        """The name is in the error message, which then exceeds the length of a string."""
        node = serving_node()
        election = ElectLeadersRequest(topic_partitions=[TopicPartitions(topic="x" * 32_767, partitions=[0])])
        answer = node.ask(self.envelope(election), EnvelopeResponse)
        assert (answer.error_code, answer.response_data) == (Errors.UNKNOWN_SERVER_ERROR, None)

    def test_a_cancelled_request_leaves_no_state(self):
        node = serving_node()
        request_id = node.send(self.envelope(topic("orders")))
        node.cancel(request_id)
        node.settle()
        assert node.process.node._responses.held_count == 0


class TestDeterminism:
    def test_one_seed_makes_one_log(self):
        logs = []
        for _ in range(2):
            node = serving_node(seed=5)
            for number in range(10):
                node.ask(topic(f"topic-{number}"), CreateTopicsResponse)
            node.pass_time(20_000)
            logs.append(node.log())
        assert logs[0] == logs[1]
