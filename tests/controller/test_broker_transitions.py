"""Broker transitions: record sequences as Kafka writes them (KIP-841, KIP-858, KIP-966)."""

from __future__ import annotations

import pytest

from kraftctl.controller.replication_control.broker_transitions import BrokerFencing
from kraftctl.metadata import features
from kraftctl_protocol.config_resource import BROKER, TOPIC
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.metadata_state import BROKER_EPOCH, MetadataState, directory, partition_record, uuid
from tests.support.transitions import (
    records_for_controlled_shutdown,
    records_for_fenced_broker,
    records_for_new_incarnation,
    records_for_offline_directories,
    records_for_unfenced_broker,
    records_for_unregistered_broker,
)


def messages(records: list[RecordAndVersion]) -> list[Message]:
    return [entry.record for entry in records]


def change(index: int = 0, number: int = 1, **fields: object) -> PartitionChangeRecord:
    return PartitionChangeRecord(
        partition_id=index,
        topic_id=uuid(number),
        **fields,  # type: ignore[arg-type]
    )


def fencing(broker_id: int, fenced: int) -> BrokerRegistrationChangeRecord:
    return BrokerRegistrationChangeRecord(
        broker_id=broker_id, broker_epoch=BROKER_EPOCH + broker_id, fenced=fenced
    )


def partitions_around_broker_1(*, elr: bool = False) -> MetadataState:
    """foo: led by 1, followed by 1, without 1, alone on 1, reassigned away from 1."""
    state = MetadataState(elr=elr)
    state.brokers(1, 2, 3)
    state.topic(
        "foo",
        partition_record([1, 2, 3]),
        partition_record([2, 1, 3]),
        partition_record([2, 3]),
        partition_record([1]),
        partition_record([2, 1, 3], [2, 3], leader=2),
    )
    return state


def test_fencing_takes_the_broker_out_of_all_isrs_and_fences_it_last() -> None:
    state = partitions_around_broker_1()
    records = records_for_fenced_broker(state.image, state.controller.config, 1)
    assert messages(records) == [
        change(0, isr=[2, 3], leader=2),
        change(1, isr=[2, 3]),
        change(3, leader=-1),
        fencing(1, 1),
    ]
    assert [entry.version for entry in records] == [2, 2, 2, 0]
    state.append_all(records)
    assert not state.image.cluster.active(1)


def test_fencing_twice_changes_nothing_more() -> None:
    """A session may end again for a broker that is fenced already."""
    state = partitions_around_broker_1()
    state.append_all(records_for_fenced_broker(state.image, state.controller.config, 1))
    assert records_for_fenced_broker(state.image, state.controller.config, 1) == []


def test_unfencing_elects_in_partitions_without_leader_only() -> None:
    state = partitions_around_broker_1()
    state.append_all(records_for_fenced_broker(state.image, state.controller.config, 1))
    records = records_for_unfenced_broker(state.image, state.controller.config, 1)
    assert messages(records) == [fencing(1, -1), change(3, leader=1)]
    state.append_all(records)
    assert state.image.cluster.active(1)
    assert state.partition(3).leader == 1


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        pytest.param(
            partition_record([1, 2], [2], leader=-1, adding=[2]),
            [change(0, adding_replicas=[])],
            id="the-added-replica-was-elected-uncleanly",
        ),
        pytest.param(
            partition_record([1, 2], [1], leader=-1, removing=[2]),
            [change(0, leader=-1, replicas=[1], directories=[directory(1)], removing_replicas=[])],
            id="the-replica-that-stays-is-in-sync",
        ),
        pytest.param(partition_record([1, 2], [1], leader=-1, adding=[2]), [], id="it-waits"),
        pytest.param(
            partition_record([1, 2], [], elr=[1]),
            [change(0, eligible_leader_replicas=[])],
            id="an-elr-ends-without-the-feature",
        ),
    ],
)
def test_what_is_over_ends_with_an_unfencing_though_the_partition_stays_without_leader(
    partition: PartitionRecord, expected: list[Message]
) -> None:
    """As in Kafka, which visits all partitions without leader: its records are in tests/differential."""
    state = MetadataState(elr=False)
    state.brokers(1, 2, 3)
    state.topic("foo", partition)
    for broker in (1, 2, 3):
        state.append(fencing(broker, 1))
    records = records_for_unfenced_broker(state.image, state.controller.config, 3)
    assert messages(records) == [fencing(3, -1), *expected]


@pytest.mark.parametrize(
    ("partition", "expected"),
    [
        pytest.param(
            partition_record([1, 2], [1], leader=-1, adding=[2]),
            [change(0, isr=[2], leader=2, leader_recovery_state=1)],
            id="another-replica-is-elected",
        ),
        pytest.param(partition_record([1, 3], [1], leader=-1), [], id="no-other-replica-is-active"),
        pytest.param(
            partition_record([1, 3], [1], leader=-1, elr=[3]),
            [change(0, eligible_leader_replicas=[])],
            id="an-elr-ends-without-the-feature",
        ),
    ],
)
def test_a_fenced_broker_that_leaves_again_visits_the_isrs_in_which_it_is_alone(
    partition: PartitionRecord, expected: list[Message]
) -> None:
    """As in Kafka, without ELR: its records are in tests/differential."""
    state = MetadataState(elr=False)
    state.brokers(1, 2, 3)
    state.config(TOPIC, "foo", unclean__leader__election__enable="true")
    state.topic("foo", partition)
    state.append(fencing(1, 1))
    state.append(fencing(3, 1))
    again = BrokerFencing(state.controller, 1, BROKER_EPOCH + 1, again=True)
    assert messages(again.next_slice(state.moment()).records) == [*expected, fencing(1, 1)]
    config = state.controller.config
    records = records_for_new_incarnation(state.image, config, 1, clean_shutdown=True)
    assert messages(records) == expected


def test_a_directory_that_fails_changes_no_partition_out_of_whose_isr_its_replica_is() -> None:
    """Its leader may be in its controlled shutdown: it was elected when it was unfenced."""
    state = MetadataState(elr=False)
    for broker in (1, 2):
        state.broker(broker, directories=2)
    state.topic(
        "foo",
        partition_record([1, 2], [1], directories=[directory(1), directory(2)]),
        partition_record([2], directories=[directory(2, 1)]),
    )
    state.append(
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=BROKER_EPOCH + 1, in_controlled_shutdown=1),
        1,
    )
    records = records_for_offline_directories(state.image, state.controller.config, 2, [directory(2)])
    assert [entry.record.NAME for entry in records] == ["BrokerRegistrationChangeRecord"]


def test_controlled_shutdown_marks_the_broker_first() -> None:
    """KIP-841: from the first record on no ISR change can bring it back."""
    state = partitions_around_broker_1()
    records = records_for_controlled_shutdown(state.image, state.controller.config, 1)
    assert messages(records) == [
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=BROKER_EPOCH + 1, in_controlled_shutdown=1),
        change(0, isr=[2, 3], leader=2),
        change(1, isr=[2, 3]),
        change(3, leader=-1),
    ]
    assert [entry.version for entry in records] == [1, 2, 2, 2]
    state.append_all(records)
    assert records_for_controlled_shutdown(state.image, state.controller.config, 1) == []


@pytest.mark.parametrize("elr", [False, True])
def test_each_partition_changes_once(elr: bool) -> None:
    """Broker 1 leads a partition of the topic, and is alone in the ISR of one without leader."""
    state = MetadataState(elr=elr)
    state.brokers(1, 2)
    state.config(TOPIC, "foo", unclean__leader__election__enable="true")
    state.topic("foo", partition_record([1]), partition_record([1, 2], [1], leader=-1, adding=[2]))
    fenced = messages(records_for_fenced_broker(state.image, state.controller.config, 1))
    changed = [each.partition_id for each in fenced if isinstance(each, PartitionChangeRecord)]
    assert sorted(changed) == [0, 1]


def test_unregistering_cleans_isr_and_elr() -> None:
    state = MetadataState(elr=True)
    state.brokers(1, 2)
    state.config(TOPIC, "foo", min__insync__replicas="2")
    state.topic("foo", partition_record([1, 2]), partition_record([1, 2], [2], elr=[1]))
    records = records_for_unregistered_broker(state.image, state.controller.config, 1)
    assert messages(records)[-1] == UnregisterBrokerRecord(broker_id=1, broker_epoch=BROKER_EPOCH + 1)
    assert messages(records)[0] == change(0, isr=[2], leader=2, eligible_leader_replicas=[1])
    state.append_all(records)
    assert 1 not in state.image.cluster.brokers
    assert 1 in state.partition(0).replicas


@pytest.mark.parametrize("scope", ["topic", "cluster", "this controller", "properties"])
def test_unclean_elections_only_where_allowed(scope: str) -> None:
    """Topic, then dynamic broker configs, then the properties file."""
    properties = {"unclean.leader.election.enable": "true"} if scope == "properties" else {}
    state = MetadataState(properties=properties)
    state.brokers(1, 2)
    state.topic("foo", partition_record([1, 2], [1]))
    resource = {"topic": (TOPIC, "foo"), "cluster": (BROKER, ""), "this controller": (BROKER, "3000")}
    if scope in resource:
        state.config(*resource[scope], unclean__leader__election__enable="true")
    records = records_for_fenced_broker(state.image, state.controller.config, 1)
    assert messages(records)[0] == change(isr=[2], leader=2, leader_recovery_state=1)


def test_a_topic_can_forbid_what_the_cluster_allows() -> None:
    state = MetadataState()
    state.brokers(1, 2)
    state.topic("foo", partition_record([1, 2], [1]))
    state.config(BROKER, "", unclean__leader__election__enable="true")
    state.config(TOPIC, "foo", unclean__leader__election__enable="false")
    records = records_for_fenced_broker(state.image, state.controller.config, 1)
    assert messages(records)[0] == change(leader=-1)


def test_a_broker_killed_with_elr_on_and_restarted_uncleanly() -> None:
    """As recorded from Kafka: fence, unclean registration, unfence."""
    state = MetadataState(elr=True)
    state.brokers(31, 32)
    state.topic("r", partition_record([32], [32]))
    config = state.controller.config
    fenced = records_for_fenced_broker(state.image, config, 32)
    assert messages(fenced)[0] == change(
        isr=[], leader=-1, eligible_leader_replicas=[32], last_known_elr=[32]
    )
    state.append_all(fenced)
    registered = records_for_new_incarnation(state.image, config, 32, clean_shutdown=False)
    assert messages(registered) == [change(eligible_leader_replicas=[])]
    state.append_all(registered)
    state.broker(32, fenced=True)
    unfenced = records_for_unfenced_broker(state.image, config, 32)
    assert messages(unfenced)[1] == change(isr=[32], leader=32, leader_recovery_state=1, last_known_elr=[])


def test_a_broker_killed_with_elr_on_and_restarted_cleanly() -> None:
    state = MetadataState(elr=True)
    state.brokers(31, 32)
    state.topic("r", partition_record([32], [32]))
    config = state.controller.config
    state.append_all(records_for_fenced_broker(state.image, config, 32))
    assert records_for_new_incarnation(state.image, config, 32, clean_shutdown=True) == []
    state.broker(32, fenced=True)
    unfenced = records_for_unfenced_broker(state.image, config, 32)
    assert messages(unfenced)[1] == change(
        isr=[32], leader=32, eligible_leader_replicas=[], last_known_elr=[]
    )


def test_a_new_incarnation_leaves_the_isr_of_its_predecessor() -> None:
    """The predecessor was never fenced; without ELR a clean or unclean end makes no difference."""
    for clean in (True, False):
        state = partitions_around_broker_1()
        records = records_for_new_incarnation(state.image, state.controller.config, 1, clean_shutdown=clean)
        assert messages(records) == [
            change(0, isr=[2, 3], leader=2),
            change(1, isr=[2, 3]),
            change(3, leader=-1),
        ]


@pytest.mark.prevents("KAFKA-15586")
def test_an_unclean_restart_leaves_no_trace_in_isr_and_elr() -> None:
    """KAFKA-15586."""
    state = MetadataState(elr=True)
    state.brokers(1, 2)
    state.config(TOPIC, "foo", min__insync__replicas="2")
    state.topic("foo", partition_record([1, 2]), partition_record([1, 2], [2], elr=[1]))
    records = records_for_new_incarnation(state.image, state.controller.config, 1, clean_shutdown=False)
    assert messages(records) == [
        change(0, isr=[2], leader=2),
        change(1, eligible_leader_replicas=[]),
    ]


def test_offline_directories_move_their_partitions_then_leave_the_registration() -> None:
    """KIP-858: only the partitions of that directory."""
    state = MetadataState()
    state.broker(1, directories=2)
    state.brokers(2, 3)
    state.topic(
        "foo",
        partition_record([1, 2], directories=[directory(1, 0), directory(2)]),
        partition_record([1, 2], directories=[directory(1, 1), directory(2)]),
        partition_record([2, 1], directories=[directory(2), directory(1, 0)]),
    )
    config = state.controller.config
    records = records_for_offline_directories(state.image, config, 1, [directory(1, 0), uuid(77)])
    assert messages(records) == [
        change(0, isr=[2], leader=2),
        change(2, isr=[2]),
        BrokerRegistrationChangeRecord(
            broker_id=1, broker_epoch=BROKER_EPOCH + 1, log_dirs=[directory(1, 1)]
        ),
    ]
    assert [entry.version for entry in records] == [2, 2, 2]
    state.append_all(records)
    assert records_for_offline_directories(state.image, config, 1, [directory(1, 0)]) == []


def test_topics_are_visited_in_the_order_of_their_ids() -> None:
    """The order is part of the output: it must not depend on history or hashing."""
    state = MetadataState()
    state.brokers(1, 2)
    for number in (5, 3, 9, 1):
        state.topic(f"t{number}", partition_record([1, 2]), number=number)
    records = records_for_fenced_broker(state.image, state.controller.config, 1)
    assert [message.topic_id for message in messages(records)[:-1]] == [  # type: ignore[attr-defined]
        uuid(number) for number in (1, 3, 5, 9)
    ]


def test_records_of_old_metadata_versions() -> None:
    """A broker that cannot parse a record stops."""
    state = MetadataState(features.IBP_3_3_IV3)
    state.brokers(1, 2)
    state.topic("foo", partition_record([1, 2]))
    records = records_for_fenced_broker(state.image, state.controller.config, 1)
    assert [entry.version for entry in records] == [0, 0]
    state.append_all(records)
