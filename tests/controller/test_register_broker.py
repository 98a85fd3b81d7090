"""BrokerRegistration: the checks in Kafka's order, epochs, and the clean-up after an earlier incarnation."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.broker_registration_request import Feature, Listener
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from tests.support.active_controller import ActiveController, registration
from tests.support.metadata_state import directory


def without_feature(request, name):
    request.features = [feature for feature in request.features if feature.name != name]
    return request


def with_range(request, name, lowest, highest):
    without_feature(request, name)
    request.features.append(Feature(name=name, min_supported_version=lowest, max_supported_version=highest))
    return request


def changed(**changes):
    request = registration(5)
    for name, value in changes.items():
        setattr(request, name, value)
    return request


@pytest.mark.prevents("KAFKA-17305", "KAFKA-13528")
@pytest.mark.parametrize(
    ("request_", "error"),
    [
        pytest.param(changed(cluster_id="other"), Errors.INCONSISTENT_CLUSTER_ID, id="foreign-cluster"),
        pytest.param(
            changed(is_migrating_zk_broker=True), Errors.BROKER_ID_NOT_REGISTERED, id="zookeeper-broker"
        ),
        pytest.param(changed(broker_id=-1), Errors.INVALID_REGISTRATION, id="no-broker"),
        pytest.param(changed(broker_id=-(1 << 31)), Errors.INVALID_REGISTRATION, id="negative-id"),
        pytest.param(changed(log_dirs=[]), Errors.INVALID_REGISTRATION, id="no-directory"),
        pytest.param(
            changed(log_dirs=[(99).to_bytes(16, "big")]), Errors.INVALID_REGISTRATION, id="reserved-directory"
        ),
        pytest.param(
            changed(log_dirs=[directory(1), directory(1)]),
            Errors.INVALID_REGISTRATION,
            id="same-directory-twice",
        ),
        pytest.param(
            changed(log_dirs=[directory(1)]), Errors.INVALID_REGISTRATION, id="directory-of-another"
        ),
        pytest.param(
            without_feature(registration(5), "metadata.version"),
            Errors.INVALID_REGISTRATION,
            id="no-metadata-version",
        ),
        pytest.param(
            with_range(registration(5), "metadata.version", 1, 21),
            Errors.UNSUPPORTED_VERSION,
            id="metadata-version-too-old",
        ),
        pytest.param(
            without_feature(registration(5), "group.version"),
            Errors.UNSUPPORTED_VERSION,
            id="finalized-feature-not-listed",
        ),
        pytest.param(
            without_feature(registration(5), "kraft.version"),
            Errors.UNSUPPORTED_VERSION,
            id="no-kraft-version",
        ),
        pytest.param(
            with_range(registration(5), "transaction.version", 0, 1),
            Errors.UNSUPPORTED_VERSION,
            id="level-out-of-range",
        ),
    ],
)
def test_refused(request_, error):
    """KAFKA-13528 for the broker of a foreign cluster, KAFKA-17305 for the one without kraft.version."""
    active = ActiveController()
    active.register(1)
    before = active.end_offset
    assert active.request(request_).error_code == error
    assert active.end_offset == before


def test_accepted_features_the_controller_does_not_know():
    active = ActiveController()
    request = with_range(registration(5), "tomorrow.version", 0, 3)
    assert active.request(request).error_code == 0


def test_a_new_incarnation_waits_for_the_session_of_the_old_one():
    active = ActiveController()
    active.start_brokers(1)
    again = registration(1, number=2)
    assert active.request(again).error_code == Errors.DUPLICATE_BROKER_REGISTRATION
    active.pass_time(9_001)
    assert active.request(again).error_code == 0


def test_of_listeners_with_one_name_the_last_is_registered():
    """As in Kafka, in the place of the first."""
    active = ActiveController()
    request = registration(1)
    first = request.listeners[0]
    request.listeners = [
        Listener(name=first.name, host="h", port=1),
        Listener(name="X", host="h", port=3),
        Listener(name=first.name, host="h", port=2),
    ]
    assert active.request(request).error_code == 0
    record = active.log[-1][1].record
    assert [(each.name, each.port) for each in record.end_points] == [(first.name, 2), ("X", 3)]


def test_a_broker_that_sent_no_heartbeat_is_replaced_immediately():
    active = ActiveController()
    first = active.register(1)
    second = active.register(1, number=2)
    assert second > first


@pytest.mark.prevents("KAFKA-19047")
def test_a_broker_that_shut_down_may_come_back_immediately():
    """KAFKA-19047: its session ends with its controlled shutdown, not 9 s later."""
    active = ActiveController()
    active.start_brokers(1)
    assert active.heartbeat(1, shut_down=True).should_shut_down
    active.register(1, number=2)


@pytest.mark.prevents("KAFKA-15213")
def test_the_epoch_is_the_offset_of_the_first_record_of_the_append():
    """KAFKA-15213: the clean-up after the former incarnation comes first; each record has its own offset."""
    active = ActiveController(min_insync_replicas="2")
    active.start_brokers(1, 2)
    active.create_topic("t", partitions=2, replication_factor=2)
    active.pass_time(9_100)
    first_offset = active.end_offset
    epoch = active.register(1, number=2)
    assert epoch == first_offset
    written = [entry.record for offset, entry in active.log if offset >= first_offset]
    assert [type(record) for record in written] == [
        PartitionChangeRecord,
        PartitionChangeRecord,
        RegisterBrokerRecord,
    ]
    registered_at = active.controller.image.cluster.registration_offsets[1]
    assert registered_at == active.end_offset - 1


@pytest.mark.prevents("KAFKA-15586")
def test_an_unclean_restart_leaves_the_elr_and_a_clean_one_stays():
    for clean in (True, False):
        active = ActiveController()
        active.start_brokers(1)
        active.create_topic("t")
        active.pass_time(9_001)
        request = registration(1, number=2)
        if clean:
            request.previous_broker_epoch = active.controller.image.cluster.brokers[1].epoch
        start = active.end_offset
        assert active.request(request).error_code == 0
        changes = [
            entry.record
            for offset, entry in active.log
            if offset >= start and isinstance(entry.record, PartitionChangeRecord)
        ]
        assert [change.eligible_leader_replicas for change in changes] == ([] if clean else [[]])


@pytest.mark.prevents("KAFKA-15364", "KAFKA-15361", "KAFKA-16583", "KAFKA-15886")
def test_registering_again_keeps_epoch_and_state():
    active = ActiveController()
    active.start_brokers(1)
    image = active.controller.image
    before = image.cluster.brokers[1]
    offset_before = image.cluster.registration_offsets[1]
    request = registration(1)
    request.log_dirs = [directory(1), directory(1, 1)]
    response = active.request(request)
    assert response.broker_epoch == before.epoch
    assert not image.cluster.brokers[1].fenced
    assert image.cluster.brokers[1].directories == (directory(1), directory(1, 1))
    assert image.cluster.registration_offsets[1] > offset_before
    assert active.controller.state.heartbeats.has_valid_session(1, before.epoch, active.now_ms)


@pytest.mark.parametrize("restarts", [False, True], ids=["same-incarnation", "next-incarnation"])
@pytest.mark.parametrize("state", ["fenced", "unfenced", "leaving"])
def test_registering_again_changes_neither_fencing_nor_a_controlled_shutdown(state, restarts):
    """Of the same process; another one begins fenced."""
    active = ActiveController()
    active.start_brokers(1, 2)
    if state == "fenced":
        active.heartbeat(1, fence=True)
    elif state == "leaving":
        active.create_topic("of-both", partitions=8, replication_factor=2)
        active.heartbeat(1, shut_down=True)
    image = active.controller.image
    before = image.cluster.brokers[1]
    assert (before.fenced, before.in_controlled_shutdown) == (state == "fenced", state == "leaving")
    if restarts:
        active.now_ms += 60_000
    active.request(registration(1, number=int(restarts)))
    after = image.cluster.brokers[1]
    if restarts:
        assert (after.fenced, after.in_controlled_shutdown) == (True, False)
        assert after.epoch > before.epoch
    else:
        assert (after.fenced, after.in_controlled_shutdown) == (before.fenced, before.in_controlled_shutdown)
        assert after.epoch == before.epoch
    assert active.controller.state.heartbeats.state(1).fenced == after.fenced


@pytest.mark.parametrize(
    ("metadata_version", "record_version"),
    [
        (features.IBP_3_3_IV3, 1),
        (features.IBP_3_4_IV0, 2),
        (features.IBP_3_7_IV2, 3),
        (features.IBP_4_3_IV0, 4),
    ],
)
def test_the_record_version_follows_metadata_version(metadata_version, record_version):
    active = ActiveController(metadata_version, kraft_version=0)
    active.register(1)
    entry = active.log[-1][1]
    assert isinstance(entry.record, RegisterBrokerRecord)
    assert entry.version == record_version
    assert entry.record.fenced


@pytest.mark.parametrize("version", range(5))
def test_every_request_version(version):
    active = ActiveController(features.IBP_3_6_IV0)
    request = registration(1)
    if version < 2:
        request.log_dirs = []
    if version < 4:
        # These versions cannot say that 0 is the lowest level.
        request.features = [feature for feature in request.features if feature.min_supported_version > 0]
        active.controller.state.kraft_version = 0
    assert active.request(request, version).error_code == 0


def test_records_of_a_registration_can_be_read_back_by_brokers():
    active = ActiveController()
    active.start_brokers(1)
    kinds = [type(record) for record in active.records[-2:]]
    assert kinds == [RegisterBrokerRecord, BrokerRegistrationChangeRecord]
