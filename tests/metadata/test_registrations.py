"""Registrations of brokers, controllers and partitions: to records and back, per metadata.version."""

from __future__ import annotations

import pytest

from kraftctl.metadata import directory_id, features
from kraftctl.metadata.broker_directories import NOT_PACKED
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.controller_registration import ControllerRegistration
from kraftctl.metadata.endpoint import Endpoint, VersionRange
from kraftctl.metadata.interned_tuples import INTERNED_TUPLES_MAX, InternedTuples
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from tests.support.metadata_state import directory, partition_record, uuid

LEVELS = range(features.MINIMUM_METADATA_VERSION, features.LATEST_PRODUCTION + 1)


def broker(**changes: object) -> BrokerRegistration:
    arguments: dict[str, object] = {
        "id": 1,
        "epoch": 100,
        "incarnation_id": uuid(1),
        "listeners": {"L": Endpoint("L", "host", 9092, 0)},
        "supported_features": {"metadata.version": VersionRange(7, 30)},
        "rack": "r",
        "fenced": False,
        "in_controlled_shutdown": False,
        "is_migrating_zk_broker": False,
        "directories": [directory(1, 1), directory(1, 0)],
        "cordoned_directories": [directory(1, 1)],
    }
    return BrokerRegistration(**{**arguments, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize("level", LEVELS)
def test_a_broker_registration_survives_as_far_as_its_records_go(level: int) -> None:
    written = broker().to_record(level)
    assert written.version == features.register_broker_record_version(level)
    decoded = decode_metadata_record(encode_metadata_record(written.record, written.version))
    assert isinstance(decoded.record, RegisterBrokerRecord)
    directories = broker().directories if level >= features.IBP_3_7_IV2 else ()
    cordoned = broker().cordoned_directories if level >= features.IBP_4_3_IV0 else None
    expected = broker(directories=directories, cordoned_directories=cordoned)
    assert BrokerRegistration.from_record(decoded.record) == expected


@pytest.mark.parametrize(
    ("fenced", "stopping", "active"),
    [(False, False, True), (True, False, False), (False, True, False), (True, True, False)],
)
def test_who_is_active(fenced: bool, stopping: bool, active: bool) -> None:
    assert broker(fenced=fenced, in_controlled_shutdown=stopping).active is active


@pytest.mark.parametrize(
    ("directories", "cordoned", "usable"),
    [
        pytest.param([], None, True, id="no-directories-known"),
        pytest.param([directory(1, 0)], None, True, id="cordoned-unknown"),
        pytest.param([directory(1, 0)], [], True, id="none-cordoned"),
        pytest.param([directory(1, 0)], [directory(1, 0)], False, id="all-cordoned"),
        pytest.param([directory(1, 0), directory(1, 1)], [directory(1, 0)], True, id="one-left"),
    ],
)
def test_cordoned_directories(directories: list[bytes], cordoned: list[bytes] | None, usable: bool) -> None:
    """KIP-1066."""
    registration = broker(directories=directories, cordoned_directories=cordoned)
    assert registration.has_uncordoned_directories() is usable


def test_changes_leave_the_original_alone() -> None:
    original = broker()
    assert original.with_changes() == original
    changed = original.with_changes(fenced=True, directories=[directory(1, 5)], cordoned_directories=[])
    assert (changed.fenced, changed.directories, changed.cordoned_directories) == (
        True,
        (directory(1, 5),),
        (),
    )
    assert original == broker()


def test_a_controller_registration_survives() -> None:
    registration = ControllerRegistration(
        id=3000,
        incarnation_id=uuid(3),
        zk_migration_ready=False,
        listeners={"C": Endpoint("C", "host", 9093, 0)},
        supported_features={"kraft.version": VersionRange(0, 1)},
    )
    written = registration.to_record()
    decoded = decode_metadata_record(encode_metadata_record(written.record, written.version)).record
    assert ControllerRegistration.from_record(decoded) == registration  # type: ignore[arg-type]


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("elr_enabled", [True, False])
def test_a_partition_survives_as_far_as_its_records_go(level: int, elr_enabled: bool) -> None:
    tuples = InternedTuples()
    record = partition_record([1, 2], [1], elr=[2], directories=[directory(1), directory(2)])
    partition = PartitionRegistration.from_record(record, tuples)
    written = partition.to_record(uuid(1), 0, metadata_version=level, elr_enabled=elr_enabled)
    decoded = decode_metadata_record(encode_metadata_record(written.record, written.version)).record
    assert isinstance(decoded, PartitionRecord)
    back = PartitionRegistration.from_record(decoded, tuples)
    known = level >= features.IBP_3_7_IV2
    assert back.directories == (partition.directories if known else (directory_id.MIGRATING,) * 2)
    assert back.elr == ((2,) if elr_enabled and level >= features.IBP_4_0_IV1 else ())
    assert (back.replicas, back.isr, back.leader) == (partition.replicas, partition.isr, partition.leader)


@pytest.mark.parametrize(
    ("change", "leader_epoch"),
    [
        pytest.param({}, 5, id="nothing"),
        pytest.param({"isr": [1]}, 5, id="isr"),
        pytest.param({"leader": 2}, 6, id="leader"),
        pytest.param({"leader": 1}, 6, id="the-same-leader-again"),
        pytest.param({"leader": -1}, 6, id="no-leader"),
    ],
)
def test_epochs_of_a_merge(change: dict[str, object], leader_epoch: int) -> None:
    """Brokers count the same way: an epoch that differs freezes the partition's ISR."""
    tuples = InternedTuples()
    partition = PartitionRegistration.from_record(partition_record([1, 2]), tuples)
    merged = partition.merge(PartitionChangeRecord(**change), tuples)  # type: ignore[arg-type]
    assert (merged.leader_epoch, merged.partition_epoch) == (leader_epoch, 11)


def test_directories_that_do_not_match_the_replicas_are_a_bug() -> None:
    tuples = InternedTuples()
    with pytest.raises(AssertionError):
        PartitionRegistration.from_record(partition_record([1, 2], directories=[directory(1)]), tuples)
    partition = PartitionRegistration.from_record(
        partition_record([1, 2], directories=[directory(1), directory(2)]), tuples
    )
    with pytest.raises(AssertionError):
        partition.merge(PartitionChangeRecord(directories=[directory(1)]), tuples)
    with pytest.raises(AssertionError):
        partition.merge(PartitionChangeRecord(replicas=[1, 2, 3]), tuples)


def test_interned_tuples_are_shared_and_bounded() -> None:
    tuples = InternedTuples()
    assert tuples.brokers([1, 2, 3]) is tuples.brokers([1, 2, 3])
    unpacked = tuples.directories(NOT_PACKED, [uuid(1)])
    assert unpacked == (uuid(1),)
    assert tuples.directories(NOT_PACKED, [uuid(1)]) is unpacked
    assert tuples.directories(0, [uuid(1)]) is None
    first = tuples.brokers([0])
    for number in range(INTERNED_TUPLES_MAX + 1):
        tuples.brokers([number, number])
    assert tuples.brokers([0]) == first


@pytest.mark.prevents("KAFKA-15364", "KAFKA-15361", "KAFKA-16583", "KAFKA-15886")
@pytest.mark.parametrize(
    ("where", "registered", "online"),
    [
        pytest.param(directory(1), [directory(1)], True, id="registered"),
        pytest.param(directory(2), [directory(1)], False, id="not-registered"),
        pytest.param(directory(2), [], True, id="broker-without-directories"),
        pytest.param(directory_id.UNASSIGNED, [directory(1)], True, id="unassigned"),
        pytest.param(directory_id.MIGRATING, [directory(1)], True, id="migrating"),
        pytest.param(directory_id.LOST, [], False, id="lost"),
    ],
)
def test_which_directories_are_online(where: bytes, registered: list[bytes], online: bool) -> None:
    """KIP-858."""
    assert directory_id.is_online(where, registered) is online


def test_reserved_directories() -> None:
    assert directory_id.is_reserved(directory_id.LOST)
    assert directory_id.is_reserved(bytes(15) + bytes([99]))
    assert not directory_id.is_reserved(bytes(15) + bytes([100]))
    assert not directory_id.is_reserved(directory(1))
