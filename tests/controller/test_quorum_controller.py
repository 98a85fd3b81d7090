"""QuorumController: claim, write, park, commit, renounce, and the checks of each request."""

from __future__ import annotations

import random

import pytest

from kraftctl.apis.api import Owner
from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.batch_limits import BATCH_BYTES_MAX, RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.prepared_result import PreparedResult, encode_records
from kraftctl.controller.results.record_checks import ALLOWED_SINCE, encode_checked
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration_change import fencing_record
from kraftctl.metadata.endpoint import Endpoint
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.index import record_class
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.register_controller_record import RegisterControllerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, read_batch_header
from tests.support.active_controller import (
    BASE_PROPERTIES,
    CLUSTER_ID,
    ENDPOINTS,
    NODE_ID,
    ActiveController,
    bootstrap_records,
    refusal_code,
    registration,
    request_type,
)


def standby(metadata_version: int = features.LATEST_PRODUCTION) -> QuorumController:
    controller = QuorumController(
        ControllerConfig(BASE_PROPERTIES),
        CLUSTER_ID,
        random.Random(1),
        bootstrap_records(metadata_version),
        ENDPOINTS,
    )
    controller.follow_quorum(NODE_ID, 1, [NODE_ID])
    return controller


def names(records: list[RecordAndVersion]) -> list[str]:
    return [entry.record.NAME.removesuffix("Record") for entry in records]


def replay_committed(controller: QuorumController, records: list[Message], base_offset: int) -> None:
    """As a node does with a batch of the log."""
    values = [encode_metadata_record(record, record.HIGHEST_VERSION) for record in records]
    batch = encode_batch(base_offset, 1, 0, values)
    replaying = controller.replay_of_log()
    replaying.begin(batch, 0, read_batch_header(batch, 0), "the metadata log")
    assert replaying.replay_some(len(records) + 1)
    controller.skip_to(base_offset + len(records))


def append(controller: QuorumController, result: ControllerResult, offset: int) -> int:
    return append_prepared(controller, controller.prepare(result), offset)


def append_prepared(controller: QuorumController, prepared: PreparedResult, offset: int) -> int:
    controller.begin_append(prepared)
    for batch in prepared.batches:
        controller.replay(batch.records, offset)
        offset += len(batch.records)
    return offset


class TestClaim:
    def test_the_first_records_of_a_log_are_kafkas(self):
        active = ActiveController()
        assert [names(batch) for batch in active.batches] == [
            [
                "BeginTransaction",
                "FeatureLevel",
                "FeatureLevel",
                "FeatureLevel",
                "FeatureLevel",
                "FeatureLevel",
                "FeatureLevel",
                "Config",
                "EndTransaction",
            ],
            ["RegisterController"],
        ]
        levels = [(r.name, r.feature_level) for r in active.records if isinstance(r, FeatureLevelRecord)]
        assert levels == [
            ("metadata.version", 33),
            ("eligible.leader.replicas.version", 1),
            ("group.version", 1),
            ("share.version", 2),
            ("streams.version", 1),
            ("transaction.version", 2),
        ]
        config = next(record for record in active.records if isinstance(record, ConfigRecord))
        assert (config.resource_type, config.resource_name, config.name, config.value) == (
            4,
            "",
            "min.insync.replicas",
            "1",
        )

    def test_old_levels_have_neither_transactions_nor_elr_nor_controller_registrations(self):
        active = ActiveController(features.IBP_3_5_IV2)
        assert [names(batch) for batch in active.batches] == [["FeatureLevel"]]

    def test_a_log_with_content_gets_no_bootstrap_records(self):
        first = ActiveController()
        controller = standby()
        replay_committed(controller, first.records, 1)
        assert controller.claim(2, Moment(0, 0, first.end_offset)) == []
        controller.image.journal.commit_to(first.end_offset)

    def test_a_half_open_transaction_is_aborted_and_the_bootstrap_repeated(self):
        controller = standby()
        half = [BeginTransactionRecord(name="Bootstrap records"), bootstrap_records()[0].record]
        replay_committed(controller, half, 1)
        assert controller.last_stable_offset == 0
        results = controller.claim(2, Moment(0, 0, 3))
        assert names(results[0].batches[0].records)[:2] == ["AbortTransaction", "BeginTransaction"]
        end = append_prepared(controller, results[0], 3)
        assert controller.image.features.metadata_version == features.LATEST_PRODUCTION
        controller.committed(end)
        assert controller.last_stable_offset == end - 1

    def test_a_transaction_is_open_until_its_end_is_committed(self):
        """A snapshot between the two would have an end without its beginning: no controller could read it."""
        controller = standby()
        bootstrap = [record.record for record in bootstrap_records()]
        replay_committed(controller, bootstrap, 1)
        begin = 1 + len(bootstrap)
        replay_committed(controller, [BeginTransactionRecord(name="of another leader")], begin)
        (result,) = controller.claim(2, Moment(0, 0, begin + 1))
        end = append_prepared(controller, result, begin + 1)
        assert controller.image.journal.transaction_start is None
        assert controller.last_stable_offset == begin - 1
        controller.committed(end)
        assert controller.last_stable_offset == end - 1

    @pytest.mark.prevents("KAFKA-18138", "KAFKA-19130")
    def test_sessions_start_with_unfenced_brokers_only(self):
        """KAFKA-18138, KAFKA-19130: a silent broker is fenced, and a fenced one registers immediately."""
        first = ActiveController()
        first.start_brokers(1)
        first.register(2)
        controller = standby()
        replay_committed(controller, first.records, 1)
        controller.claim(2, Moment(5_000, 5_000, first.end_offset))
        heartbeats = controller.state.heartbeats
        brokers = controller.image.cluster.brokers
        assert heartbeats.has_valid_session(1, brokers[1].epoch, 5_000 + 9_000)
        assert not heartbeats.has_valid_session(1, brokers[1].epoch, 5_000 + 9_001)
        assert not heartbeats.has_valid_session(2, brokers[2].epoch, 5_000)

    @pytest.mark.prevents("KAFKA-18138")
    def test_a_transaction_that_is_aborted_leaves_the_sessions_of_before(self):
        first = ActiveController()
        first.start_brokers(1)
        controller = standby()
        replay_committed(controller, first.records, 1)
        brokers = controller.image.cluster.brokers
        registered = next(record for record in first.records if isinstance(record, RegisterBrokerRecord))
        undone: list[Message] = [
            BeginTransactionRecord(name="of another leader"),
            fencing_record(brokers[1]).record,
            RegisterBrokerRecord(broker_id=2, incarnation_id=bytes(16), end_points=registered.end_points),
        ]
        replay_committed(controller, undone, first.end_offset)
        end = first.end_offset + len(undone)
        (abort,) = controller.claim(2, Moment(5_000, 5_000, end))
        append_prepared(controller, abort, end)
        assert not controller.image.cluster.brokers[1].fenced
        assert controller.state.heartbeats.contacts() == [(1, 5_000)]

    def test_a_controller_registers_once_per_process(self):
        active = ActiveController()
        registered = [record for record in active.records if isinstance(record, RegisterControllerRecord)]
        assert len(registered) == 1
        assert [(e.name, e.host, e.port) for e in registered[0].end_points] == [
            ("CONTROLLER", "localhost", 9093)
        ]
        assert all(
            not isinstance(entry.record, RegisterControllerRecord) for entry in active.pass_time(5_000)
        )

    def test_the_registration_is_made_of_the_endpoints_it_is_given_and_of_nothing_else(self):
        config = ControllerConfig(BASE_PROPERTIES | {"listeners": "CONTROLLER://:9093"})
        endpoints = {"CONTROLLER": ("c1.example.org", 19093)}
        controller = QuorumController(config, CLUSTER_ID, random.Random(1), bootstrap_records(), endpoints)
        assert list(controller.own_registration.listeners.values()) == [
            Endpoint("CONTROLLER", "c1.example.org", 19093, 0)
        ]
        with pytest.raises(KeyError):
            QuorumController(config, CLUSTER_ID, random.Random(1), bootstrap_records(), {})

    def test_a_standby_asks_to_be_registered_until_the_log_knows_it(self):
        first = ActiveController()
        controller = standby()
        assert controller.registration_to_send() is None
        replay_committed(controller, first.records, 1)
        request = controller.registration_to_send()
        assert request is not None
        request.controller_id = NODE_ID + 1
        controller.own_registration.id = NODE_ID + 1
        first.request(request)
        replay_committed(controller, first.records[-1:], first.end_offset - 1)
        assert controller.registration_to_send() is None


class TestCommit:
    def test_a_response_waits_for_its_records(self):
        active = ActiveController()
        controller = active.controller
        request = registration(1)
        result = active.handle(request)
        end = append(controller, result, active.end_offset)
        assert result.response is not None
        pending = active.pending(request, 17)
        pending.answer(result.response)
        assert controller.park(pending, active.now_ms)
        assert controller.committed(end - 1) == []
        done = controller.committed(end)
        assert [parked.id for parked in done] == [17]
        assert done[0].response is result.response

    def test_a_read_waits_for_what_it_saw(self):
        active = ActiveController()
        controller = active.controller
        end = append(controller, active.handle(registration(1)), active.end_offset)
        request = BrokerHeartbeatRequest(broker_id=1)
        first, second = active.pending(request, 1), active.pending(request, 2)
        for pending in (first, second):
            pending.answer(active.response_to(request))
        assert controller.park(first, active.now_ms)
        assert controller.committed(end) == [first]
        assert not controller.park(second, active.now_ms)

    def test_a_read_does_not_wait_for_no_op_records(self):
        active = ActiveController()
        controller = active.controller
        controller.replay([RecordAndVersion(NoOpRecord(), 0)], active.end_offset)
        request = DescribeClusterRequest(endpoint_type=2)
        pending = active.pending(request)
        pending.answer(active.response_to(request))
        assert not controller.park(pending, active.now_ms)

    @pytest.mark.prevents("KAFKA-13114", "KAFKA-13148")
    def test_losing_leadership_undoes_what_was_not_committed(self):
        active = ActiveController()
        active.start_brokers(1)
        controller = active.controller
        request = registration(2)
        result = active.handle(request)
        append(controller, result, active.end_offset)
        assert result.response is not None
        pending = active.pending(request, 5)
        pending.answer(result.response)
        controller.park(pending, active.now_ms)
        assert 2 in controller.image.cluster.brokers
        failed = controller.renounce()
        assert [(parked.id, parked.response.error_code) for parked in failed] == [(5, Errors.NOT_CONTROLLER)]
        assert sorted(controller.image.cluster.brokers) == [1]
        assert controller.next_replay_offset == active.end_offset
        assert not controller.active
        assert controller.next_deadline_ms is None
        assert active.handle(BrokerHeartbeatRequest(broker_id=1)).response.error_code == Errors.NOT_CONTROLLER

    def test_another_leader_may_write_other_records_at_the_same_offsets(self):
        active = ActiveController()
        controller = active.controller
        append(controller, active.handle(registration(2)), active.end_offset)
        controller.renounce()
        replay_committed(controller, [NoOpRecord()], controller.next_replay_offset)
        assert 2 not in controller.image.cluster.brokers

    @pytest.mark.prevents("KAFKA-14204", "KAFKA-14996", "KAFKA-21129")
    def test_large_results_are_cut_and_atomic_ones_refused(self):
        active = ActiveController()
        records = [RecordAndVersion(NoOpRecord(), 0)] * (RECORDS_PER_BATCH_MAX * 2 + 1)
        batches = active.controller.prepare(ControllerResult.of(records)).batches
        assert [len(batch.values) for batch in batches] == [RECORDS_PER_BATCH_MAX, RECORDS_PER_BATCH_MAX, 1]
        assert active.controller.prepare(ControllerResult.of([])).batches == []

    def test_an_atomic_result_of_our_own_is_never_cut(self):
        """The bootstrap of a log below KIP-868 has no transaction that could hold two batches together."""
        active = ActiveController()
        records = [RecordAndVersion(NoOpRecord(), 0)] * (RECORDS_PER_BATCH_MAX + 1)
        (batch,) = active.controller.prepare(ControllerResult.atomic_of(records)).batches
        assert len(batch.values) == len(records)

    def test_batches_are_cut_by_bytes_too(self):
        active = ActiveController()
        record = ConfigRecord(resource_type=2, resource_name="t", name="k", value="v" * 30_000)
        records = [RecordAndVersion(record, 0)] * 600
        batches = active.controller.prepare(ControllerResult.of(records)).batches
        assert sum(len(batch.records) for batch in batches) == 600
        for batch in batches:
            assert len(encode_batch(0, 1, 0, batch.values)) <= BATCH_BYTES_MAX
        assert len(batches) == 3

    @pytest.mark.prevents("KAFKA-14204", "KAFKA-14996", "KAFKA-21129")
    def test_an_atomic_result_that_no_batch_can_hold_is_refused(self):
        active = ActiveController()
        request = IncrementalAlterConfigsRequest(
            resources=[
                AlterConfigsResource(
                    resource_type=4,
                    configs=[AlterableConfig(name=f"k{index}", value="v" * 30_000) for index in range(300)],
                )
            ]
        )
        before = active.end_offset
        response = active.request(request)
        assert response.responses[0].error_code == Errors.POLICY_VIOLATION
        assert active.end_offset == before


class TestTimers:
    def test_no_op_records_at_their_interval(self):
        active = ActiveController()
        assert names(active.pass_time(2_000)) == ["NoOp"] * 4

    def test_no_op_records_can_be_switched_off(self):
        active = ActiveController(metadata_max_idle_interval_ms="0")
        assert active.pass_time(10_000) == []

    def test_a_silent_broker_is_fenced_after_its_session(self):
        active = ActiveController(metadata_max_idle_interval_ms="0")
        active.start_brokers(1)
        assert active.pass_time(9_000) == []
        assert names(active.pass_time(1)) == ["BrokerRegistrationChange"]
        assert active.controller.image.cluster.brokers[1].fenced
        assert active.pass_time(60_000) == []

    def test_brokers_are_fenced_one_by_one(self):
        active = ActiveController(metadata_max_idle_interval_ms="0")
        active.start_brokers(1, 2, 3)
        before = len(active.batches)
        active.pass_time(9_050)
        assert len(active.batches) - before == 3
        assert active.now_ms == 1_009_050

    @pytest.mark.prevents("KAFKA-17793")
    def test_after_a_stall_of_this_process_brokers_are_heard_first(self):
        """KAFKA-17793: the controller was paused, not the brokers. Their heartbeats are in the sockets."""
        active = ActiveController(metadata_max_idle_interval_ms="0")
        active.start_brokers(1, 2)
        active.now_ms += 12_000
        assert active.run_due_tasks() == []
        assert not active.heartbeat(1).is_fenced
        assert names(active.pass_time(4_000)) == ["BrokerRegistrationChange"]
        brokers = active.controller.image.cluster.brokers
        assert (brokers[1].fenced, brokers[2].fenced) == (False, True)

    @pytest.mark.parametrize("turn_ms", [100, 500, 999, 1_600, 2_900, 4_100, 8_900, 9_500, 12_000, 30_000])
    def test_a_silent_broker_is_fenced_however_long_turns_of_the_loop_are(self, turn_ms):
        """Each turn of the loop is a stall; its heartbeats are read after its timers have run."""
        active = ActiveController()
        active.start_brokers(1, 2)
        brokers = active.controller.image.cluster.brokers
        silent_since_ms = active.now_ms
        while not brokers[2].fenced:
            active.now_ms += turn_ms
            active.run_due_tasks()
            assert not active.heartbeat(1).is_fenced
            assert active.now_ms - silent_since_ms <= 9_000 + 4_000 + 2 * turn_ms
        for _ in range(20):
            active.now_ms += turn_ms
            active.run_due_tasks()
            assert not active.heartbeat(1).is_fenced

    def test_each_stall_spares_a_broker_that_was_heard_of_since_the_last_one(self):
        active = ActiveController()
        active.start_brokers(1)
        for _ in range(5):
            active.now_ms += 12_000
            active.run_due_tasks()
            assert not active.heartbeat(1).is_fenced
            active.pass_time(1_000)

    def test_a_fenced_broker_that_left_does_not_end_the_session_of_another_one(self):
        """The session of a broker that was never unfenced ends first; the stall prolongs the next one."""
        active = ActiveController()
        active.start_brokers(1)
        active.register(2)
        active.pass_time(5_000)
        assert active.heartbeat(2, offset=0).is_fenced
        for stall_ms in (3_000, 12_000):
            active.now_ms += stall_ms
            active.run_due_tasks()
            assert not active.controller.image.cluster.brokers[1].fenced
            active.heartbeat(1)

    def test_a_heartbeat_keeps_the_session(self):
        active = ActiveController(metadata_max_idle_interval_ms="0")
        active.start_brokers(1)
        for _ in range(10):
            assert active.pass_time(8_000) == []
            assert not active.heartbeat(1).is_fenced


class TestRouting:
    @pytest.mark.parametrize("api_key", API_TABLE, ids=lambda key: ApiKey(key).name)
    def test_a_standby_refuses_what_only_the_active_controller_may_answer(self, api_key):
        api = API_TABLE[api_key]
        controller = standby()
        first = ActiveController()
        replay_committed(controller, first.records, 1)
        for version in range(api.lowest, api.highest + 1):
            request = request_type(api_key)()
            context = first.context(request, version)
            expected = Errors.NOT_CONTROLLER if api.owner == Owner.ACTIVE else api.refusal
            assert refusal_code(controller, context) == expected
            if api.owner == Owner.EVERY:
                result = controller.handle(context, request, first.moment)
                assert result.records == []
                result.response.encode(version)

    @pytest.mark.parametrize("api_key", API_TABLE, ids=lambda key: ApiKey(key).name)
    def test_every_api_can_be_refused_in_every_version(self, api_key):
        api = API_TABLE[api_key]
        for version in range(api.lowest, api.highest + 1):
            request = request_type(api_key)()
            response = error_response(api_key, request, version, Errors.NOT_CONTROLLER)
            assert type(response).decode(response.encode(version), version) is not None


class TestRecordChecks:
    def test_the_level_that_a_result_sets_holds_for_its_later_records(self):
        level = RecordAndVersion(
            FeatureLevelRecord(name=features.METADATA_VERSION, feature_level=features.IBP_4_3_IV0), 0
        )
        broker = RecordAndVersion(RegisterBrokerRecord(), 4)
        assert len(encode_records([level, broker], features.IBP_4_2_IV1)) == 2
        with pytest.raises(AssertionError, match="RegisterBrokerRecord version 4"):
            encode_records([broker, level], features.IBP_4_2_IV1)

    def test_the_table_covers_what_may_be_written(self):
        for record_type in range(64):
            record = record_class(record_type)
            if record is None:
                continue
            since = ALLOWED_SINCE.get(record.NAME)
            if since is None:
                assert record.NAME == "ZkMigrationStateRecord"
            else:
                assert len(since) == record.HIGHEST_VERSION + 1, record.NAME

    def test_a_record_above_the_finalized_level_stops_us(self):
        entry = RecordAndVersion(RegisterBrokerRecord(), 4)
        encode_checked(entry, features.IBP_4_3_IV0)
        with pytest.raises(AssertionError, match="RegisterBrokerRecord version 4"):
            encode_checked(entry, features.IBP_4_2_IV1)
