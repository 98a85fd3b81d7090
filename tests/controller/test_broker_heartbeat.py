"""BrokerHeartbeat: the state table, sessions, shutdown, failed and cordoned directories."""

from __future__ import annotations

import pytest

from kraftctl.controller.cluster_control import broker_control_state as states
from kraftctl.controller.cluster_control.process_broker_heartbeat import process_broker_heartbeat
from kraftctl.controller.state.broker_heartbeat_manager import (
    NO_ACTIVE_BROKER_OFFSET,
    BrokerHeartbeatManager,
    BrokerHeartbeatState,
)
from kraftctl.metadata import features
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.assign_replicas_to_dirs_request import (
    AssignReplicasToDirsRequest,
    DirectoryData,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from tests.support.active_controller import ActiveController
from tests.support.metadata_state import directory

REGISTERED_AT = 100


def soft_state(current: str) -> BrokerHeartbeatState:
    state = BrokerHeartbeatState(epoch=1, fenced=current == states.FENCED)
    if current == states.CONTROLLED_SHUTDOWN:
        state.controlled_shutdown_offset = 200
    return state


@pytest.mark.parametrize(
    ("current", "fence", "shut_down", "offset", "leads", "lowest", "following"),
    [
        pytest.param(states.FENCED, True, True, 100, True, 0, states.SHUTDOWN_NOW, id="fenced-shut-down"),
        pytest.param(states.FENCED, False, False, 100, False, 0, states.UNFENCED, id="fenced-caught-up"),
        pytest.param(states.FENCED, False, False, 99, False, 0, states.FENCED, id="fenced-behind"),
        pytest.param(states.FENCED, True, False, 100, False, 0, states.FENCED, id="fenced-wants-fence"),
        pytest.param(states.UNFENCED, False, False, 0, True, 0, states.UNFENCED, id="unfenced"),
        pytest.param(states.UNFENCED, True, False, 0, True, 0, states.FENCED, id="unfenced-wants-fence"),
        pytest.param(states.UNFENCED, True, True, 0, True, 0, states.SHUTDOWN_NOW, id="unfenced-wants-both"),
        pytest.param(
            states.UNFENCED, False, True, 0, True, 0, states.CONTROLLED_SHUTDOWN, id="unfenced-leads"
        ),
        pytest.param(
            states.UNFENCED, False, True, 0, False, 0, states.SHUTDOWN_NOW, id="unfenced-leads-nothing"
        ),
        pytest.param(
            states.CONTROLLED_SHUTDOWN,
            False,
            True,
            0,
            True,
            999,
            states.CONTROLLED_SHUTDOWN,
            id="still-leads",
        ),
        pytest.param(
            states.CONTROLLED_SHUTDOWN,
            False,
            True,
            0,
            False,
            199,
            states.CONTROLLED_SHUTDOWN,
            id="not-seen-yet",
        ),
        pytest.param(
            states.CONTROLLED_SHUTDOWN, False, True, 0, False, 200, states.SHUTDOWN_NOW, id="seen-by-all"
        ),
        pytest.param(
            states.CONTROLLED_SHUTDOWN,
            False,
            True,
            0,
            False,
            NO_ACTIVE_BROKER_OFFSET,
            states.SHUTDOWN_NOW,
            id="no-other-broker",
        ),
    ],
)
def test_state_table(current, fence, shut_down, offset, leads, lowest, following):
    request = BrokerHeartbeatRequest(
        current_metadata_offset=offset, want_fence=fence, want_shut_down=shut_down
    )
    assert states.current_state(soft_state(current)) == current
    assert (
        states.next_state(
            soft_state(current),
            request,
            registration_offset=REGISTERED_AT,
            lowest_active_offset=lowest,
            leads_partitions=leads,
        )
        == following
    )


def test_a_starting_broker_polls_for_free():
    active = ActiveController()
    active.register(1)
    before = active.end_offset
    for _ in range(75):
        active.now_ms += 10
        response = active.heartbeat(1, fence=True, offset=before - 2)
        assert (response.is_caught_up, response.is_fenced, response.should_shut_down) == (False, True, False)
    response = active.heartbeat(1, fence=True, offset=before - 1)
    assert (response.is_caught_up, response.is_fenced) == (True, True)
    assert active.end_offset == before


def test_unfencing_is_in_the_answer_that_follows_its_record():
    active = ActiveController()
    active.register(1)
    response = active.heartbeat(1)
    assert (response.is_caught_up, response.is_fenced) == (True, False)
    entry = active.log[-1][1]
    assert isinstance(entry.record, BrokerRegistrationChangeRecord)
    assert (entry.record.fenced, entry.version) == (-1, 0)


@pytest.mark.parametrize("epoch", [-1, 0, 1 << 40])
def test_a_wrong_epoch_is_stale_and_opens_no_session(epoch):
    active = ActiveController()
    active.register(1)
    assert active.heartbeat(1, epoch=epoch).error_code == Errors.STALE_BROKER_EPOCH
    assert active.heartbeat(2, epoch=epoch).error_code == Errors.STALE_BROKER_EPOCH
    assert active.controller.state.heartbeats.oldest_contact_ms is None


def test_a_broker_fenced_by_its_silence_comes_back_with_the_next_heartbeat():
    active = ActiveController()
    active.start_brokers(1)
    active.pass_time(10_000)
    assert active.controller.image.cluster.brokers[1].fenced
    stale = active.controller.image.cluster.registration_offsets[1]
    assert not active.heartbeat(1, offset=stale).is_fenced


def test_controlled_shutdown_moves_leaders_first_and_ends_when_all_have_seen_it():
    active = ActiveController(min_insync_replicas="1")
    active.start_brokers(1, 2, 3)
    active.create_topic("t", partitions=3, replication_factor=3)
    start = active.end_offset
    response = active.heartbeat(1, shut_down=True)
    assert (response.is_fenced, response.should_shut_down) == (False, False)
    written = [entry.record for offset, entry in active.log if offset >= start]
    assert isinstance(written[0], BrokerRegistrationChangeRecord)
    assert written[0].in_controlled_shutdown == 1
    assert all(isinstance(record, PartitionChangeRecord) for record in written[1:])
    end_of_shutdown = active.end_offset - 1

    assert not active.heartbeat(1, shut_down=True).should_shut_down
    active.heartbeat(2, offset=end_of_shutdown)
    active.heartbeat(3, offset=end_of_shutdown - 1)
    assert not active.heartbeat(1, shut_down=True).should_shut_down
    active.heartbeat(3, offset=end_of_shutdown)
    response = active.heartbeat(1, shut_down=True)
    assert (response.is_fenced, response.should_shut_down) == (True, True)
    last = active.log[-1][1]
    assert isinstance(last.record, BrokerRegistrationChangeRecord)
    assert (last.record.fenced, last.version) == (1, 0)
    assert active.heartbeat(1, shut_down=True).should_shut_down
    assert active.log[-1][1].record == last.record, "each such heartbeat writes it, as in Kafka"
    assert active.log[-1][1] is not last


def counts_of(active):
    counts = active.controller.state.fencings
    return counts.timed_out_count, counts.shutdown_count, counts.asked_count


def test_a_controlled_shutdown_counts_once():
    active = ActiveController(min_insync_replicas="1")
    active.start_brokers(1, 2)
    active.create_topic("t", partitions=2, replication_factor=2)
    for _ in range(2):
        assert not active.heartbeat(1, shut_down=True).should_shut_down
        assert counts_of(active) == (0, 1, 0)
    active.heartbeat(2, offset=active.end_offset)
    for _ in range(2):
        assert active.heartbeat(1, shut_down=True).should_shut_down
        assert counts_of(active) == (0, 1, 0), "its fencing is the end of the same shutdown"


@pytest.mark.parametrize("wants", [{"fence": True}, {"shut_down": True}, {"fence": True, "shut_down": True}])
def test_a_fencing_that_a_broker_asks_for_counts_once(wants):
    active = ActiveController()
    active.start_brokers(1)
    for _ in range(2):
        active.heartbeat(1, **wants)
        assert counts_of(active) == (0, 0, 1)


@pytest.mark.parametrize("leads", [False, True])
def test_what_is_prepared_and_not_appended_does_not_count(leads):
    active = ActiveController(min_insync_replicas="1")
    active.start_brokers(1, 2)
    if leads:
        active.create_topic("t", partitions=2, replication_factor=2)
    state = active.controller.state
    epoch = state.image.cluster.brokers[1].epoch
    request = BrokerHeartbeatRequest(broker_id=1, broker_epoch=epoch, want_shut_down=True)
    for _ in range(3):
        result = process_broker_heartbeat(state, active.context(request, 1), request, active.moment)
        assert counts_of(active) == (0, 0, 0)
    active.write(result)
    assert counts_of(active) == ((0, 1, 0) if leads else (0, 0, 1))


def test_a_broker_that_registers_again_is_no_longer_shutting_down():
    """Kafka's controller makes the state of heartbeats anew for each registration."""
    active = ActiveController(min_insync_replicas="1")
    active.start_brokers(1, 2, 3)
    active.create_topic("t", partitions=3, replication_factor=3)
    assert not active.heartbeat(1, shut_down=True).should_shut_down
    active.register(1)
    for broker in (2, 3):
        active.heartbeat(broker)
    response = active.heartbeat(1)
    assert (response.is_fenced, response.should_shut_down) == (False, False)


def test_a_broker_that_leads_nothing_shuts_down_immediately():
    active = ActiveController()
    active.start_brokers(1)
    response = active.heartbeat(1, shut_down=True)
    assert response.should_shut_down
    assert active.controller.image.cluster.brokers[1].fenced
    assert all(
        not isinstance(entry.record, BrokerRegistrationChangeRecord) for entry in active.pass_time(20_000)
    )


def test_no_slice_keeps_a_fenced_broker_from_stopping():
    """It may be the last ISR member of more partitions than a slice visits."""
    active = ActiveController(features.IBP_4_0_IV3, min_insync_replicas="1")
    active.start_brokers(1, 2)
    active.create_topic("t", partitions=300, replication_factor=2)
    active.heartbeat(2, fence=True)
    active.heartbeat(1, fence=True)
    active.heartbeat(2, offset=active.end_offset)
    active.units, active.runs_slices = 3, False
    first = active.heartbeat(1, shut_down=True)
    assert first.should_shut_down
    written = len(active.log)
    assert active.heartbeat(1, shut_down=True).should_shut_down
    assert len(active.log) == written + 1, "no other visit of all begins"


@pytest.mark.prevents("KAFKA-15364", "KAFKA-15361", "KAFKA-16583", "KAFKA-15886")
def test_failed_directories_are_reported_once():
    active = ActiveController()
    active.start_brokers(1, 2, directories=2)
    failed = [directory(1)]
    start = active.end_offset
    active.heartbeat(1, offline=failed)
    record = active.log[-1][1]
    assert (record.record.log_dirs, record.version) == ([directory(1, 1)], 2)
    assert active.end_offset > start
    start = active.end_offset
    active.heartbeat(1, offline=failed)
    assert active.end_offset == start


@pytest.mark.prevents("leader-in-a-failed-directory")
def test_a_broker_is_not_elected_in_a_directory_that_fails_while_it_is_unfenced():
    """Later reports of the directory change nothing: the partition would stay there."""
    active = ActiveController()
    active.start_brokers(1, directories=2)
    for name in ("there", "here"):
        active.create_topic(name)
    topics = active.controller.image.topics
    for name, where in (("there", directory(1)), ("here", directory(1, 1))):
        partition = PartitionData(partition_index=0)
        topic = TopicData(topic_id=topics.topic_by_name(name).topic_id, partitions=[partition])
        assigned = DirectoryData(id=where, topics=[topic])
        epoch = active.controller.image.cluster.brokers[1].epoch
        active.request(AssignReplicasToDirsRequest(broker_id=1, broker_epoch=epoch, directories=[assigned]))
    active.pass_time(20_000)
    leaders = {name: topics.topic_by_name(name).partitions[0].leader for name in ("there", "here")}
    assert leaders == {"there": -1, "here": -1}
    assert not active.heartbeat(1, offline=[directory(1)]).is_fenced
    leaders = {name: topics.topic_by_name(name).partitions[0].leader for name in ("there", "here")}
    assert leaders == {"there": -1, "here": 1}


@pytest.mark.parametrize("fence", [True, False])
@pytest.mark.parametrize("shut_down", [True, False])
@pytest.mark.parametrize("replicas", [1, 2])
def test_a_partition_changes_once_with_a_heartbeat(fence, shut_down, replicas):
    """A broker that leaves because its directory failed says both together: Kafka writes changes twice."""
    active = ActiveController(min_insync_replicas="1")
    active.start_brokers(1, 2, directories=2)
    active.create_topic("t", partitions=4, replication_factor=replicas)
    topics = active.controller.image.topics
    of_broker = [index for index, each in topics.topic_by_name("t").partitions.items() if 1 in each.replicas]
    for index in of_broker:
        partition = PartitionData(partition_index=index)
        topic = TopicData(topic_id=topics.topic_by_name("t").topic_id, partitions=[partition])
        assigned = DirectoryData(id=directory(1), topics=[topic])
        epoch = active.controller.image.cluster.brokers[1].epoch
        active.request(AssignReplicasToDirsRequest(broker_id=1, broker_epoch=epoch, directories=[assigned]))
    start = active.end_offset
    active.heartbeat(1, fence=fence, shut_down=shut_down, offline=[directory(1)])
    written = [entry.record for offset, entry in active.log if offset >= start]
    changed = [record.partition_id for record in written if isinstance(record, PartitionChangeRecord)]
    assert sorted(changed) == of_broker
    assert active.controller.image.cluster.brokers[1].directories == (directory(1, 1),)


def test_a_partition_changes_once_with_an_unfencing():
    """Another replica is elected, as that of the broker is in a directory that has failed."""
    active = ActiveController(features.IBP_3_9_IV0)
    active.start_brokers(1, 2, directories=2)
    active.create_topic("t", replication_factor=2)
    topics = active.controller.image.topics
    topic = TopicData(
        topic_id=topics.topic_by_name("t").topic_id, partitions=[PartitionData(partition_index=0)]
    )
    assigned = DirectoryData(id=directory(1), topics=[topic])
    epoch = active.controller.image.cluster.brokers[1].epoch
    active.request(AssignReplicasToDirsRequest(broker_id=1, broker_epoch=epoch, directories=[assigned]))
    active.heartbeat(2, fence=True)
    active.heartbeat(1, fence=True)
    active.heartbeat(2)
    unclean = AlterableConfig(name="unclean.leader.election.enable", value="true")
    resource = AlterConfigsResource(resource_type=TOPIC, resource_name="t", configs=[unclean])
    active.request(IncrementalAlterConfigsRequest(resources=[resource]))
    assert topics.topic_by_name("t").partitions[0].isr == (1,)
    start = active.end_offset
    active.heartbeat(1, offline=[directory(1)])
    written = [entry.record for offset, entry in active.log if offset >= start]
    changed = [record.leader for record in written if isinstance(record, PartitionChangeRecord)]
    assert changed == [2]


def test_cordoned_directories_are_recorded_when_they_change():
    active = ActiveController()
    active.start_brokers(1, directories=2)
    start = active.end_offset
    active.heartbeat(1, cordoned=None)
    assert active.end_offset == start
    active.heartbeat(1, cordoned=[])
    assert (active.log[-1][1].record.cordoned_log_dirs, active.log[-1][1].version) == ([], 3)
    active.heartbeat(1, cordoned=[directory(1)])
    assert active.end_offset == start + 2
    active.heartbeat(1, cordoned=[directory(1)])
    active.heartbeat(1, version=1)
    assert active.end_offset == start + 2


def test_old_levels_know_no_directories():
    active = ActiveController(features.IBP_3_6_IV2)
    active.start_brokers(1)
    start = active.end_offset
    active.heartbeat(1, offline=[directory(1)], cordoned=[directory(1)])
    assert active.end_offset == start


class TestManager:
    def test_sessions_expire_in_the_order_of_contact(self):
        manager = BrokerHeartbeatManager(9_000)
        for broker_id in (1, 2, 3):
            manager.register(broker_id, 10, False)
            manager.update_contact_time(broker_id, 10, broker_id * 100)
        manager.update_contact_time(1, 10, 400)
        assert manager.oldest_contact_ms == 200
        assert manager.expiry_ms(200) == 9_201
        assert manager.oldest_expired(9_200) is None
        for now_ms, expected in ((9_201, (2, 10)), (9_301, (3, 10)), (9_401, (1, 10))):
            assert manager.oldest_expired(now_ms) == expected
            manager.end_session(*expected)
            assert manager.oldest_expired(now_ms) is None
        assert manager.oldest_contact_ms is None

    def test_the_next_incarnation_inherits_nothing(self):
        manager = BrokerHeartbeatManager(9_000)
        manager.register(1, 10, False)
        manager.update_contact_time(1, 10, 0)
        manager.touch(1, False, 500)
        manager.register(1, 20, True)
        assert not manager.has_valid_session(1, 10, 0)
        assert not manager.has_valid_session(1, 20, 0)
        assert manager.state(1).metadata_offset == -1

    def test_only_active_brokers_hold_a_shutdown_up(self):
        manager = BrokerHeartbeatManager(9_000)
        assert manager.lowest_active_offset() == NO_ACTIVE_BROKER_OFFSET
        manager.register(1, 10, False)
        manager.register(2, 11, True)
        manager.register(3, 12, False)
        manager.touch(1, False, 50)
        manager.touch(3, False, 30)
        assert manager.lowest_active_offset() == 30
        manager.begin_controlled_shutdown(3, 99)
        manager.begin_controlled_shutdown(3, 150)
        assert manager.state(3).controlled_shutdown_offset == 99
        assert manager.lowest_active_offset() == 50
        manager.touch(3, True, 60)
        assert not manager.state(3).shutting_down
        manager.remove(1)
        assert manager.lowest_active_offset() == NO_ACTIVE_BROKER_OFFSET

    def test_a_change_of_a_registration_forgets_the_offset_until_the_next_heartbeat(self):
        """As in Kafka: no other broker finishes a controlled shutdown before that."""
        manager = BrokerHeartbeatManager(9_000)
        manager.register(1, 10, False)
        manager.touch(1, False, 50)
        manager.register(1, 10, False)
        assert manager.lowest_active_offset() == -1
        manager.touch(1, False, 60)
        assert manager.lowest_active_offset() == 60

    @pytest.mark.parametrize("gone", ["removed", "registered again"])
    def test_the_oldest_session_ends_with_its_incarnation(self, gone):
        manager = BrokerHeartbeatManager(9_000)
        for broker_id in (1, 2):
            manager.register(broker_id, 10, False)
            manager.update_contact_time(broker_id, 10, broker_id * 100)
        assert manager.oldest_contact_ms == 100
        if gone == "removed":
            manager.remove(1)
        else:
            manager.register(1, 11, True)
        assert manager.oldest_contact_ms == 200
