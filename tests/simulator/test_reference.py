"""The reference knows every record type, shares no code with what it is compared with, and can fail it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.image.short_isrs import ShortIsrs
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.fence_broker_record import FenceBrokerRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.generated.unfence_broker_record import UnfenceBrokerRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.generated.unregister_controller_record import UnregisterControllerRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_types import NOTHING, RECORD_TYPES, RECORD_TYPES_BY_NAME, SETS, SNAPSHOT
from tests.record_types.examples import ALL_TYPES, BY_NAME, TOPIC_ID, example, records_before, with_another
from tests.record_types.image_state import attributes_of
from tests.support.effort import seeds
from tests.support.record_sequences import RecordSequence
from tests.support.simulator.checks.image_rows import PARTS, VALUES
from tests.support.simulator.checks.reference_image import ReferenceImage
from tests.support.simulator.reference.kafka_rules import NO_EFFECT, RULES
from tests.support.simulator.reference.reference import Reference
from tests.support.simulator.reference.refused_record import RefusedRecordError
from tests.support.simulator.reference.rows import State

EVERY_TYPE = pytest.mark.parametrize("message", ALL_TYPES, ids=[message.NAME for message in ALL_TYPES])
FOLDER = Path(__file__).parents[1] / "support/simulator/reference"
MAY_BE_IMPORTED = (
    "__future__",
    "collections.abc",
    "contextlib",
    "typing",
    "kraftctl_protocol.generated",
    "kraftctl_protocol.message",
    "tests.support.simulator.reference",
)


# It is whole, and on its own.


@EVERY_TYPE
def test_each_record_type_has_a_rule_or_a_reason(message: type[Message]) -> None:
    assert (message in RULES) != (message.NAME in NO_EFFECT)
    assert all(NO_EFFECT.values())


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_it_imports_nothing_of_what_it_is_compared_with(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        assert not isinstance(node, ast.Import), ast.unparse(node)
        if isinstance(node, ast.ImportFrom):
            assert node.module is not None
            assert node.module.startswith(MAY_BE_IMPORTED), ast.unparse(node)


def of_example(message: type[Message], record: Message | None = None) -> State:
    """The state after what the example needs, and after `record` if there is one."""
    reference = Reference()
    for offset, each in enumerate([*records_before(message), *([] if record is None else [record])]):
        reference.replay(each, offset)
    return reference.now


@EVERY_TYPE
def test_each_example_changes_it_unless_it_has_no_effect(message: type[Message]) -> None:
    changed = of_example(message, example(message)) != of_example(message)
    assert changed == (message in RULES)


@EVERY_TYPE
def test_every_field_of_a_record_matters(message: type[Message]) -> None:
    row = RECORD_TYPES_BY_NAME[message.NAME]
    if row.effect == NOTHING:
        return
    expected = of_example(message, example(message))
    for field in message.FIELDS:
        found: State = {}
        with contextlib.suppress(RefusedRecordError):
            found = of_example(message, with_another(message, field))
        assert (found == expected) == (field.name in row.fields_left_out(SNAPSHOT)), field.name


# What Kafka refuses.

TOPIC = TopicRecord(name="orders", topic_id=TOPIC_ID)
PARTITION = PartitionRecord(partition_id=1, topic_id=TOPIC_ID, replicas=[1, 2], isr=[1])
REGISTRATION = RegisterBrokerRecord(broker_id=1, broker_epoch=7)

REFUSED: dict[str, tuple[list[Message], Message]] = {
    "a topic twice": ([TOPIC], TOPIC),
    "a partition of no topic": ([], PARTITION),
    "a change of no topic": ([], PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID)),
    "a change of no partition": ([TOPIC], PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID)),
    "an unknown recovery state": (
        [TOPIC, PARTITION],
        PartitionChangeRecord(partition_id=1, topic_id=TOPIC_ID, leader_recovery_state=2),
    ),
    "too few directories": (
        [TOPIC],
        PartitionRecord(partition_id=1, topic_id=TOPIC_ID, replicas=[1, 2], directories=[bytes(15) + b"\7"]),
    ),
    "the removal of no topic": ([], RemoveTopicRecord(topic_id=TOPIC_ID)),
    "the ELR of no topic": ([], ClearElrRecord(topic_name="orders")),
    "a fence of no broker": ([], FenceBrokerRecord(id=1, epoch=7)),
    "a fence in another epoch": ([REGISTRATION], FenceBrokerRecord(id=1, epoch=8)),
    "an unfencing in another epoch": ([REGISTRATION], UnfenceBrokerRecord(id=1, epoch=8)),
    "a change of no broker": ([], BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=7)),
    "a change in another epoch": (
        [REGISTRATION],
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=8),
    ),
    "an unknown fencing": (
        [REGISTRATION],
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=7, fenced=2),
    ),
    "an unknown shutdown": (
        [REGISTRATION],
        BrokerRegistrationChangeRecord(broker_id=1, broker_epoch=7, in_controlled_shutdown=2),
    ),
    "no broker is unregistered": ([], UnregisterBrokerRecord(broker_id=1, broker_epoch=7)),
    "another epoch is unregistered": (
        [REGISTRATION],
        UnregisterBrokerRecord(broker_id=1, broker_epoch=8),
    ),
    "no controller is unregistered": ([], UnregisterControllerRecord(controller_id=3000)),
    "the removal of no ACL": ([], RemoveAccessControlEntryRecord(id=TOPIC_ID)),
    "a transaction in a transaction": ([BeginTransactionRecord()], BeginTransactionRecord()),
    "the end of no transaction": ([], EndTransactionRecord()),
    "the abort of no transaction": ([], AbortTransactionRecord()),
}


@pytest.mark.parametrize("name", REFUSED)
def test_both_refuse_what_kafka_refuses(name: str) -> None:
    before, record = REFUSED[name]
    image, reference = MetadataImage(), Reference()
    for offset, each in enumerate(before):
        replay(image, each, offset)
        reference.replay(each, offset)
    with pytest.raises(RefusedRecordError):
        reference.replay(record, len(before))
    with pytest.raises((AssertionError, KeyError)):
        replay(image, record, len(before))


# The comparison with an image.


@pytest.mark.parametrize("seed", seeds(6))
def test_an_image_is_the_reference_after_every_record(seed: int) -> None:
    image, images = MetadataImage(), ReferenceImage(as_controller=False)
    sequence = RecordSequence(seed, image)
    for offset in range(200):
        record = sequence.next()
        replay(image, record, offset)
        images.reference.replay(record, offset)
        assert images.why_image_differs(image, offset + 1) == ""
        images.forget()


@pytest.mark.parametrize("seed", seeds(3))
def test_states_of_before_and_records_of_a_while(seed: int) -> None:
    image, reference = MetadataImage(), Reference(as_controller=False)
    sequence = RecordSequence(seed, image)
    states: list[State] = [{}]
    records: list[tuple[int, Message]] = []
    for offset in range(150):
        record = sequence.next()
        replay(image, record, offset)
        records.append((offset, record))
        if offset < 100:
            reference.replay(record, offset)
            states.append(dict(reference.now))
    assert [reference.rows.at(end) for end in range(101)] == states
    with reference.extended(records[100:]):
        assert reference.end_offset == 150
    assert reference.now == states[100]
    for key in states[100]:
        values = [state.get(key) for state in states[40:81]]
        seen = [state.get(key) for state in reference.rows.between(40, 80, key)]
        assert [one for at, one in enumerate(values) if at == 0 or one != values[at - 1]] == seen[::-1], key


def full_image() -> tuple[MetadataImage, ReferenceImage]:
    """With something in every attribute."""
    image, images = MetadataImage(), ReferenceImage()
    records = records_before(BY_NAME["TopicRecord"])
    records += [example(row.message) for row in RECORD_TYPES if row.effect == SETS]
    named = TopicRecord(name="a.b", topic_id=bytes([0xAB]) * 16)
    alone = PartitionRecord(partition_id=0, topic_id=named.topic_id, replicas=[1, 2], isr=[2], leader=-1)
    for offset, record in enumerate([*records, named, alone]):
        replay(image, record, offset)
        images.reference.replay(record, offset)
    return image, images


COMPARED = [
    (part, name)
    for part, attributes in PARTS.items()
    for name, how in attributes.items()
    if callable(how) or how.startswith("compared")
]


@pytest.mark.parametrize(("part", "name"), COMPARED)
def test_a_loss_in_each_attribute_of_an_image_is_noticed(part: str, name: str) -> None:
    image, images = full_image()
    end_offset = images.reference.end_offset
    assert images.why_image_differs(image, end_offset) == ""
    value = getattr(getattr(image, part), name)
    if isinstance(value, dict):
        assert value
        value.popitem()
    elif isinstance(value, ShortIsrs):
        value.sizes.pop()
    elif isinstance(value, int):
        setattr(getattr(image, part), name, value + 1_000)
    else:
        acl_id, entry = next(iter(image.acls.acls.items()))
        value.remove(acl_id, entry)
    with contextlib.suppress(AssertionError):
        assert images.why_image_differs(image, end_offset)
        return
    pytest.fail("not noticed")


def values_of(image: MetadataImage) -> dict[str, Any]:
    """One of each class that the parts consist of."""
    broker = image.cluster.brokers[1]
    partition = next(iter(image.topics.topics.values())).partitions[1]
    found = [
        broker,
        next(iter(broker.listeners.values())),
        next(iter(broker.supported_features.values())),
        *image.cluster.controllers.values(),
        partition,
        partition.shared,
        *image.acls.acls.values(),
        *image.scram.credentials.values(),
        *image.delegation_tokens.tokens.values(),
    ]
    return {type(value).__name__: value for value in found}


def test_every_attribute_of_every_part_has_a_row() -> None:
    image = full_image()[0]
    assert set(PARTS) == set(image.parts)
    for name, part in image.parts.items():
        assert set(PARTS[name]) == set(attributes_of(part)), name


def test_every_attribute_of_every_value_is_compared() -> None:
    found = values_of(full_image()[0])
    assert set(found) == set(VALUES)
    for name, value in found.items():
        row, left_out = VALUES[name]
        attributes = set(attributes_of(value))
        assert attributes - set(row._fields) == set(left_out), name
        if not isinstance(value, PartitionRegistration) and name != "SharedState":
            assert attributes == {*row._fields, *left_out}, name


Damage = Callable[[MetadataImage], object]


def test_values_are_compared_by_their_fields() -> None:
    """Each field of each row, with another value in the image."""
    for table in ("partition", "broker", "controller", "acl", "scram", "token"):
        image, images = full_image()
        end_offset = images.reference.end_offset
        key, value = next((key, one) for key, one in images.reference.now.items() if key[0] == table)
        for field in value._fields:
            images.reference.rows.put(key, value._replace(**{field: "another"}))
            images.forget()
            with contextlib.suppress(AttributeError, TypeError):  # what follows from it cannot be computed
                assert images.why_image_differs(image, end_offset), field
            images.reference.rows.put(key, value)


@pytest.mark.parametrize("end_offset", [0, 3, 9])
def test_a_snapshot_is_compared_as_its_metadata_version_allows(end_offset: int) -> None:
    image, images = full_image()
    assert images.why_view_differs(image, end_offset) == ""
    assert images.why_view_differs(image, images.reference.end_offset) == ""
