"""ADR 5: what fails before the first append fails alone; image, log and soft state are unchanged.

Faults are planted in tables and attributes, which also works in compiled code.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, cast

import pytest

from kraftctl.controller.request_handlers import HANDLERS
from kraftctl.controller.results import error_responses
from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.failures import PAUSE_MS, PAUSE_MS_MAX, pause_ms
from kraftctl.controller.results.moment import Moment
from kraftctl.node.snapshot_generation import SnapshotInProgress
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.voters_record import Voter, VotersRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import EncodeError
from kraftctl_protocol.principal import KafkaPrincipal, serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.active_controller import registration
from tests.support.simulator.cluster.lone_node import LoneNode
from tests.support.simulator.cluster.three_nodes import started_cluster

SPOILT = "no partition"
"""In the place of one: every use of it fails."""

UNENCODABLE = RecordAndVersion(
    ConfigRecord(resource_type=4, resource_name="", name="k", value="v" * 40_000), 0
)


class Planted(Exception):
    """A bug on our side."""


@pytest.fixture
def plant() -> Iterator[Callable[[int, Callable[[ControllerResult], ControllerResult]], None]]:
    """Change what the handler of an API returns, or let it raise."""
    before = dict(HANDLERS)

    def change(api_key: int, spoil: Callable[[ControllerResult], ControllerResult]) -> None:
        def handler(state, context, request, moment):
            return spoil(before[api_key](state, context, request, moment))

        HANDLERS[api_key] = handler

    yield change
    HANDLERS.update(before)


def raising(result: ControllerResult) -> ControllerResult:
    raise Planted("as planned")


def with_an_unencodable_record(result: ControllerResult) -> ControllerResult:
    result.records.append(UNENCODABLE)
    return result


def serving(*brokers: int, **properties: Any) -> LoneNode:
    """A node with unfenced brokers."""
    node = LoneNode(**properties)
    node.settle()
    for broker_id in brokers:
        node.ask(registration(broker_id), BrokerRegistrationResponse)
        assert not beat(node, broker_id).is_fenced
    return node


def beat(node: LoneNode, broker_id: int) -> BrokerHeartbeatResponse:
    return node.ask(heartbeat(node, broker_id), BrokerHeartbeatResponse)


def heartbeat(node: LoneNode, broker_id: int) -> BrokerHeartbeatRequest:
    epoch = node.controller.image.cluster.brokers[broker_id].epoch
    return BrokerHeartbeatRequest(
        broker_id=broker_id, broker_epoch=epoch, current_metadata_offset=node.raft.end_offset
    )


def topics(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(
        topics=[CreatableTopic(name=name, num_partitions=1, replication_factor=1) for name in names]
    )


def created(node: LoneNode, *names: str) -> list[int]:
    return [topic.error_code for topic in node.ask(topics(*names), CreateTopicsResponse).topics]


class TestRequests:
    def test_a_handler_that_raises_refuses_its_own_request(self, plant):
        node = serving(1)
        end_offset = node.raft.end_offset
        plant(ApiKey.CREATE_TOPICS, raising)
        response = node.ask(topics("orders", "payments"), CreateTopicsResponse)
        assert [(topic.name, topic.error_code) for topic in response.topics] == [
            ("orders", Errors.UNKNOWN_SERVER_ERROR),
            ("payments", Errors.UNKNOWN_SERVER_ERROR),
        ]
        assert node.raft.end_offset == end_offset
        assert node.controller.failures.metadata_error_count == 1
        (line,) = [text for text in node.notices if "Planted" in text]
        assert line.startswith(
            "CreateTopicsRequest version 7 of client 'test' as 'User:ANONYMOUS' failed before"
        )
        assert "Planted: as planned (test_containment.py:" in line
        assert not beat(node, 1).is_fenced

    def test_a_record_that_cannot_be_encoded_refuses_its_request(self, plant):
        node = serving(1, delegation_token_secret_key="secret")
        end_offset = node.raft.end_offset
        plant(ApiKey.CREATE_DELEGATION_TOKEN, with_an_unencodable_record)
        code = forwarded_token(node, "x" * 2_000)
        assert code == Errors.UNKNOWN_SERVER_ERROR
        assert node.raft.end_offset == end_offset
        assert "EncodeError" in node.notices[-1]
        assert len(node.notices[-1]) < 500, "it names the client, in part"
        plant(ApiKey.CREATE_DELEGATION_TOKEN, lambda result: result)
        assert forwarded_token(node, "alice") == Errors.NONE
        assert node.process.node._responses.held_count == 0

    def test_every_batch_is_encoded_before_the_first_is_appended(self, plant):
        node = serving(1)
        end_offset = node.raft.end_offset

        def many(result: ControllerResult) -> ControllerResult:
            no_op = RecordAndVersion(NoOpRecord(), 0)
            return ControllerResult.of([no_op] * RECORDS_PER_BATCH_MAX + [UNENCODABLE], result.response)

        plant(ApiKey.CREATE_TOPICS, many)
        assert created(node, "orders") == [Errors.UNKNOWN_SERVER_ERROR]
        assert node.raft.end_offset == end_offset

    def test_nothing_is_appended_for_a_response_that_cannot_be_encoded(self, plant):
        node = serving(1)
        end_offset = node.raft.end_offset

        def too_long(result: ControllerResult) -> ControllerResult:
            cast("CreateTopicsResponse", result.response).throttle_time_ms = 1 << 40
            return result

        plant(ApiKey.CREATE_TOPICS, too_long)
        assert created(node, "orders") == [Errors.UNKNOWN_SERVER_ERROR]
        assert node.raft.end_offset == end_offset
        assert node.controller.image.topics.topic_by_name("orders") is None

    def test_a_request_that_cannot_be_refused_closes_its_connection(self, plant, monkeypatch):
        def no_shape(request: Message, version: int, code: int, text: str | None) -> Message:
            raise Planted("no shape")

        node = serving(1)
        plant(ApiKey.CREATE_TOPICS, raising)
        monkeypatch.setitem(error_responses.ITEM_SHAPES, ApiKey.CREATE_TOPICS, no_shape)
        request_id = node.send(topics("orders"))
        node.settle()
        assert node.closed == {request_id}
        assert request_id not in node.answers
        assert not beat(node, 1).is_fenced


def forwarded_token(node: LoneNode, name: str) -> int:
    """The error code of a CreateDelegationToken that a broker forwards for a user of that name."""
    inner = CreateDelegationTokenRequest()
    version = inner.HIGHEST_VERSION
    header = RequestHeader(request_api_key=inner.API_KEY, request_api_version=version, correlation_id=7)
    envelope = EnvelopeRequest(
        request_data=encode_request(header, inner),
        request_principal=serialize_principal(KafkaPrincipal("User", name)),
        client_host_address=b"\x7f\x00\x00\x01",
    )
    response = node.ask(envelope, EnvelopeResponse)
    assert response.error_code == Errors.NONE
    _, answer = decode_response(response.response_data or b"", inner.API_KEY, version)
    return cast("int", answer.error_code)


class Later(SlicedWork):
    """Writes its only record in a slice of its own."""

    def __init__(self, result: ControllerResult) -> None:
        super().__init__("allocate producer ids")
        self._result = result

    def next_slice(self, moment: Moment) -> ControllerResult:
        return self._result


class NoPart:
    """In the place of a part of the image, which takes no record; in compiled code its type already fails."""

    def replay(self, record: Message, offset: int) -> None:
        raise Planted(f"{record.NAME} does not fit")


@pytest.mark.prevents("record-that-replay-refuses")
class TestReplay:
    """A record that does not fit is not appended: it would end each controller that replays it."""

    def refuse(self, node: LoneNode, record_type: type[Message]) -> Callable[[], None]:
        """Lets replay refuse this type; call the result to repair it."""
        parts: dict[int, Any] = node.controller.image.parts_by_record_type
        before = parts.get(record_type.API_KEY)
        parts[record_type.API_KEY] = NoPart()

        def repair() -> None:
            del parts[record_type.API_KEY]
            if before is not None:
                parts[record_type.API_KEY] = before

        return repair

    def allocated(self, node: LoneNode) -> int:
        epoch = node.controller.image.cluster.brokers[1].epoch
        request = AllocateProducerIdsRequest(broker_id=1, broker_epoch=epoch)
        return node.ask(request, AllocateProducerIdsResponse).error_code

    @pytest.mark.parametrize("sliced", [False, True], ids=["at-once", "in-a-slice"])
    def test_its_request_is_refused_and_the_controller_stays_active(self, plant, sliced):
        if sliced:
            plant(ApiKey.ALLOCATE_PRODUCER_IDS, lambda result: ControllerResult.begun([], Later(result)))
        node = serving(1)
        repair = self.refuse(node, ProducerIdsRecord)
        epoch, end_offset = node.raft.epoch, node.raft.end_offset
        for attempt in range(1, 4):
            assert self.allocated(node) == Errors.UNKNOWN_SERVER_ERROR
            assert node.controller.failures.metadata_error_count == attempt
        lines = [text for text in node.notices if "AllocateProducerIdsRequest" in text]
        assert len(lines) == 3
        assert "failed before" in lines[0]
        assert "answered UNKNOWN_SERVER_ERROR" in lines[0]
        assert (node.raft.epoch, node.raft.end_offset) == (epoch, end_offset)
        repair()
        assert self.allocated(node) == Errors.NONE
        assert not beat(node, 1).is_fenced

    def test_its_task_is_tried_again_after_a_pause(self):
        node = serving(1)
        repair = self.refuse(node, NoOpRecord)
        end_offset = node.raft.end_offset
        for _ in range(4):
            node.pass_time(2_000)
            beat(node, 1)
        lines = [text for text in node.notices if text.startswith("The task to write a NoOpRecord failed")]
        assert len(lines) == 4, "after half a second, and pauses of one, two and four"
        assert node.raft.end_offset == end_offset
        repair()
        node.pass_time(10_000)
        assert node.raft.end_offset > end_offset

    def test_an_image_that_cannot_be_restored_ends_the_process(self):
        node = serving(1)
        image: Any = node.controller.image
        self.refuse(node, ProducerIdsRecord)
        image.journal.commit_to(1 << 40)  # nothing may be undone
        with pytest.raises(AssertionError, match="committed records cannot be rolled back"):
            self.allocated(node)


class TestSoftState:
    @pytest.mark.prevents("KAFKA-17793")
    def test_a_heartbeat_that_fails_changes_nothing_but_the_time_of_contact(self, plant):
        node = serving(1)
        node.ask(registration(2), BrokerRegistrationResponse)
        soft = node.controller.state.heartbeats.state(2)
        plant(ApiKey.BROKER_HEARTBEAT, with_an_unencodable_record)
        assert beat(node, 2).error_code == Errors.UNKNOWN_SERVER_ERROR
        assert (soft.fenced, soft.metadata_offset, soft.shutting_down) == (True, -1, False)
        epoch = node.controller.image.cluster.brokers[2].epoch
        assert node.controller.state.heartbeats.has_valid_session(2, epoch, node.now_ms)
        plant(ApiKey.BROKER_HEARTBEAT, lambda result: result)
        assert not beat(node, 2).is_fenced

    def test_a_controlled_shutdown_that_fails_has_not_begun(self, plant):
        node = serving(1, 2)
        assert created(node, "orders") == [Errors.NONE]
        leader = node.controller.image.topics.topic_by_name("orders").partitions[0].leader
        request = heartbeat(node, leader)
        request.want_shut_down = True
        plant(ApiKey.BROKER_HEARTBEAT, with_an_unencodable_record)
        assert node.ask(request, BrokerHeartbeatResponse).error_code == Errors.UNKNOWN_SERVER_ERROR
        assert not node.controller.state.heartbeats.state(leader).shutting_down

    def test_a_client_is_not_charged_for_what_failed(self, plant):
        node = serving(1)
        limit_mutations(node)
        plant(ApiKey.CREATE_TOPICS, with_an_unencodable_record)
        for _ in range(30):
            assert created(node, "orders") == [Errors.UNKNOWN_SERVER_ERROR]
        plant(ApiKey.CREATE_TOPICS, lambda result: result)
        assert created(node, "orders") == [Errors.NONE]

    def test_a_failure_refunds_what_it_was_charged_itself_and_no_more(self, plant):
        node = serving(1)
        limit_mutations(node)
        assert created(node, "a", "b", "c") == [Errors.NONE] * 3
        (bucket,) = node.controller.state.mutation_quotas._buckets.values()
        tokens = bucket.tokens
        plant(ApiKey.CREATE_TOPICS, with_an_unencodable_record)
        assert created(node, "d") == [Errors.UNKNOWN_SERVER_ERROR]
        assert bucket.tokens == tokens


def limit_mutations(node: LoneNode) -> None:
    """One partition a second (KIP-599)."""
    entity = EntityData(entity_type="user", entity_name="ANONYMOUS")
    op = OpData(key="controller_mutation_rate", value=1.0)
    request = AlterClientQuotasRequest(entries=[EntryData(entity=[entity], ops=[op])])
    node.ask(request, AlterClientQuotasResponse)


class TestTasks:
    def test_the_pause_grows_to_a_minute(self):
        assert [pause_ms(count) for count in (1, 2, 3, 7, 1_000)] == [
            PAUSE_MS, 2 * PAUSE_MS, 4 * PAUSE_MS, PAUSE_MS_MAX, PAUSE_MS_MAX,
        ]  # fmt: skip

    def test_a_task_that_fails_is_retried_and_the_others_run(self):
        node = serving(1)
        task = node.controller._tasks._no_op
        run = task.run
        attempts_ms: list[int] = []

        def failing(moment: Moment) -> ControllerResult:
            attempts_ms.append(moment.now_ms)
            raise Planted("no NoOpRecord")

        task.run = failing
        node.pass_time(9_002)
        assert [later - first for first, later in pairwise(attempts_ms)] == [
            1_000, 2_000, 4_000,
        ]  # fmt: skip
        assert node.controller.image.cluster.brokers[1].fenced, "fencing is another task"
        assert sum("The task to write a NoOpRecord failed" in text for text in node.notices) == 4
        task.run = run
        end_offset = node.raft.end_offset
        node.pass_time(8_000)
        assert node.raft.end_offset >= end_offset + 4
        assert task.failure_count == 0

    def test_a_broker_whose_fencing_fails_is_fenced_later_and_the_others_in_time(self):
        node = serving(1, 2)
        bad = spoil_partition_of(node, 1)
        beat(node, 2)
        node.pass_time(9_100)
        brokers = node.controller.image.cluster.brokers
        assert (brokers[1].fenced, brokers[2].fenced) == (False, True)
        assert any(re.match(r"Fencing broker 1 at epoch \d+ failed before", text) for text in node.notices)
        node.pass_time(600_000)
        assert not brokers[1].fenced
        assert node.controller.failures.metadata_error_count < 20
        bad()
        node.pass_time(PAUSE_MS_MAX)
        assert brokers[1].fenced

    def test_a_broker_that_heartbeats_again_after_its_fencing_failed_stays_unfenced(self):
        node = serving(1, 2)
        bad = spoil_partition_of(node, 1)
        node.pass_time(9_100)
        assert not beat(node, 1).is_fenced
        bad()
        for _ in range(20):
            node.pass_time(2_000)
            assert not node.controller.image.cluster.brokers[1].fenced
            assert not beat(node, 1).is_fenced

    def test_a_stall_spares_a_broker_while_the_fencing_of_another_one_is_retried(self):
        node = serving(1, 2)
        spoil_partition_of(node, 1)
        for _ in range(6):
            node.pass_time(2_000)
            beat(node, 2)
        assert node.controller.failures.metadata_error_count >= 1
        node.stand_still(12_000)
        assert not node.controller.image.cluster.brokers[2].fenced, "it was this process that stood still"

    def test_the_line_about_a_fencing_names_the_broker_and_its_own_pause(self):
        node = serving(1, 2, 3)
        spoil_partition_of(node, 1)
        spoil_led_by(node, 2)
        for _ in range(6):
            node.pass_time(4_000)
            beat(node, 3)
        for broker_id in (1, 2):
            pauses_ms = [
                int(found[1])
                for text in node.notices
                if (found := re.match(rf"Fencing broker {broker_id} at .* tried again in (\d+) ms", text))
            ]
            assert pauses_ms[:3] == [1_000, 2_000, 4_000]

    def test_a_standby_survives_a_registration_that_cannot_be_built(self):
        with started_cluster(3) as cluster:
            active = cluster.await_active()
            cluster.run_for(2_000)
            standby = next(process for process in cluster.running() if process is not active)
            own = standby.controller.own_registration
            del standby.controller.image.cluster.controllers[standby.node_id]
            own.listeners["spoilt"] = cast("Any", None)
            cluster.run_for(4_500)
            lines = [text for text in standby.notices if text.startswith("Asking to be registered failed")]
            assert len(lines) == 3, "immediately, after one second, and after two more"
            del own.listeners["spoilt"]
            cluster.run_for(5_000)
            assert standby.node_id in standby.controller.image.cluster.controllers


def test_a_snapshot_that_cannot_be_generated_is_retried_later():
    node = LoneNode(snapshot_bytes=1)
    node.settle()
    count = len(node.snapshot_ids())
    finalized = node.controller.image.features.finalized
    finalized[cast("str", None)] = 1
    node.pass_time(10_000)
    assert len(node.snapshot_ids()) == count
    assert node.controller.image.journal._views == []
    assert sum("Generating snapshot" in text for text in node.notices) == 4
    del finalized[cast("str", None)]
    node.pass_time(8_000)
    assert len(node.snapshot_ids()) > count


def test_a_snapshot_that_cannot_even_begin_keeps_no_view():
    """The voters are encoded with the first slice, where a failure is contained."""
    image = serving(1).controller.image
    voters = VotersRecord(voters=[Voter(voter_id=1 << 40)])
    snapshot = SnapshotInProgress(image, OffsetAndEpoch(5, 1), wall_ms=0, kraft_version=1, voters=voters)
    with pytest.raises(EncodeError):
        snapshot.write_slice(100)
    snapshot.abandon()
    assert image.journal._views == []


def spoil_partition_of(node: LoneNode, broker_id: int) -> Callable[[], None]:
    """Make every use of a partition that `broker_id` leads fail; call the result to repair it."""
    names = [f"topic-{number}" for number in range(8)]
    assert created(node, *names) == [0] * len(names)
    return spoil_led_by(node, broker_id)


def spoil_led_by(node: LoneNode, broker_id: int) -> Callable[[], None]:
    """The same, for the existing topics."""
    topic = next(
        topic
        for topic in node.controller.image.topics.topics.values()
        if cast("Any", topic.partitions._first[0]) is not SPOILT and topic.partitions[0].leader == broker_id
    )
    partition = topic.partitions[0]
    topic.partitions._first[0] = cast("Any", SPOILT)

    def repair() -> None:
        topic.partitions._first[0] = partition

    return repair
