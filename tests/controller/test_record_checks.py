"""What is appended can be decoded: also partitions, of which only the length is compared."""

from __future__ import annotations

import random

import pytest

from kraftctl.controller.results.record_checks import (
    SHORT_LIST_MAX,
    SHORT_TAG_MAX,
    RecordEncoder,
    encode_checked,
)
from kraftctl.metadata import features
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, decode_metadata_record
from kraftctl_protocol.primitives import EncodeError
from tests.support.effort import seeds

LENGTHS = (0, 1, 3, SHORT_LIST_MAX, SHORT_LIST_MAX + 1, 200)
TAG_LENGTHS = (0, 1, 3, SHORT_TAG_MAX, SHORT_TAG_MAX + 1, SHORT_LIST_MAX, 200)
LEVELS = {0: features.IBP_3_3_IV3, 1: features.IBP_3_9_IV0, 2: features.LATEST_PRODUCTION}


def random_partition(rng: random.Random, version: int) -> PartitionRecord:
    lengths = rng.choice((LENGTHS[:3], LENGTHS))

    def ids() -> list[int]:
        return [rng.randint(-(1 << 31), (1 << 31) - 1) for _ in range(rng.choice(lengths))]

    record = PartitionRecord(
        partition_id=rng.randint(0, 10_000),
        topic_id=rng.randbytes(16),
        replicas=ids(),
        isr=ids(),
        removing_replicas=ids(),
        adding_replicas=ids(),
        leader=rng.randint(-1, 5),
        leader_recovery_state=rng.choice((0, 0, 1)),
        leader_epoch=rng.randint(0, 5),
        partition_epoch=rng.randint(0, 5),
    )
    if version >= 1:
        record.directories = [rng.randbytes(16) for _ in range(rng.choice(lengths))]
    if version >= 2 and rng.random() < 0.3:
        record.eligible_leader_replicas = ids()
    if version >= 2 and rng.random() < 0.3:
        record.last_known_elr = ids()
    return record


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("seed", seeds(8))
def test_partitions_of_any_shape_are_encoded(seed: int, version: int) -> None:
    rng = random.Random(seed)
    for _ in range(50):
        entry = RecordAndVersion(random_partition(rng, version), version)
        assert decode_metadata_record(encode_checked(entry, LEVELS[version])) == entry


def random_change(rng: random.Random, version: int) -> PartitionChangeRecord:
    lengths = rng.choice((TAG_LENGTHS[:3], TAG_LENGTHS))

    def ids() -> list[int] | None:
        if rng.random() < 0.5:
            return None
        return [rng.randint(-(1 << 31), (1 << 31) - 1) for _ in range(rng.choice(lengths))]

    record = PartitionChangeRecord(
        partition_id=rng.randint(0, 10_000),
        topic_id=rng.randbytes(16),
        isr=ids(),
        leader=rng.randint(-2, 5),
        replicas=ids(),
        removing_replicas=ids(),
        adding_replicas=ids(),
        leader_recovery_state=rng.choice((-1, -1, 0, 1)),
    )
    if version >= 1 and rng.random() < 0.2:
        record.directories = [rng.randbytes(16) for _ in range(rng.choice(lengths))]
    if version >= 2:
        record.eligible_leader_replicas, record.last_known_elr = ids(), ids()
    if rng.random() < 0.1:
        record.unknown_tagged_fields = [(99, b"later")]
    return record


@pytest.mark.parametrize("version", [0, 1, 2])
@pytest.mark.parametrize("seed", seeds(8))
def test_changes_of_any_shape_are_encoded(seed: int, version: int) -> None:
    rng = random.Random(seed)
    encoder = RecordEncoder(LEVELS[version])
    for _ in range(100):
        entry = RecordAndVersion(random_change(rng, version), version)
        assert decode_metadata_record(encoder.encode(entry)) == entry


@pytest.mark.parametrize(
    "name",
    ["", "t", "t" * SHORT_LIST_MAX, "t" * (SHORT_LIST_MAX + 1), "t" * 249, "t\u00fcr", "\u20ac" * 60],
    ids=["empty", "one", "longest-short", "shortest-long", "longest", "two-bytes", "three-bytes"],
)
def test_topics_of_any_name_are_encoded(name: str) -> None:
    for unknown in (None, [(99, b"later")]):
        record = TopicRecord(name=name, topic_id=bytes(range(16)))
        record.unknown_tagged_fields = unknown
        entry = RecordAndVersion(record, 0)
        assert decode_metadata_record(encode_checked(entry, features.LATEST_PRODUCTION)) == entry


def test_topics_and_partitions_in_turn_are_encoded() -> None:
    encoder = RecordEncoder(features.LATEST_PRODUCTION)
    for entry in [RecordAndVersion(TopicRecord(name="t"), 0), RecordAndVersion(PartitionRecord(), 2)] * 2:
        assert decode_metadata_record(encoder.encode(entry)) == entry


def test_a_level_applies_to_types_in_turn() -> None:
    change, topic = RecordAndVersion(PartitionChangeRecord(isr=[1]), 2), RecordAndVersion(TopicRecord(), 0)
    encoder = RecordEncoder(features.LATEST_PRODUCTION)
    for entry in (change, topic):
        encoder.encode(entry)
    encoder.follow_level(features.IBP_3_3_IV3)
    with pytest.raises(AssertionError, match=r"is not for metadata\.version 7"):
        encoder.encode(change)


def test_a_level_applies_to_a_run_of_one_type() -> None:
    change = RecordAndVersion(PartitionChangeRecord(isr=[1]), 2)
    encoder = RecordEncoder(features.LATEST_PRODUCTION)
    encoder.encode(change)
    encoder.follow_level(features.IBP_3_3_IV3)
    with pytest.raises(AssertionError, match=r"is not for metadata\.version 7"):
        encoder.encode(change)


@pytest.mark.parametrize(
    "record",
    [
        pytest.param(TopicRecord(topic_id=bytes(15)), id="a-topic-with-a-short-id"),
        pytest.param(TopicRecord(name="\ud800"), id="a-name-that-is-no-text"),
        pytest.param(PartitionRecord(leader=1 << 31), id="an-integer-that-does-not-fit"),
        pytest.param(PartitionRecord(replicas=[1, 1 << 31]), id="a-replica-that-does-not-fit"),
        pytest.param(PartitionRecord(topic_id=bytes(15)), id="a-short-id"),
        pytest.param(PartitionRecord(directories=[bytes(17)]), id="a-long-directory"),
        pytest.param(PartitionChangeRecord(isr=[1 << 31]), id="a-member-that-does-not-fit"),
        pytest.param(PartitionChangeRecord(leader_recovery_state=200), id="a-state-that-does-not-fit"),
    ],
)
def test_partitions_with_impossible_values_are_refused(record: Message) -> None:
    with pytest.raises(EncodeError):
        encode_checked(RecordAndVersion(record, record.HIGHEST_VERSION), features.LATEST_PRODUCTION)
