"""Committed batches change an image as their records would one by one, whatever is cut."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl.controller.committed_records import (
    DOES_NOT_FIT,
    UnusableRecordError,
    decode_committed,
    does_not_fit,
)
from kraftctl.controller.committed_replay import CommittedReplay
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, read_batch_header
from tests.support.effort import examples, seeds
from tests.support.record_sequences import RecordSequence, fingerprint

FILE = "a.log"
SUPPORTED = features.supported_features(True)
TOPIC_IDS = [bytes([number]) * 16 for number in (1, 2, 3)]


def empty_image() -> MetadataImage:
    image = MetadataImage()
    image.journal.enabled = False
    return image


def encoded(record: Message, version: int | None = None) -> bytes:
    return encode_metadata_record(record, record.HIGHEST_VERSION if version is None else version)


def ordinary(values: list[bytes]) -> tuple[dict[str, object], str]:
    """The image, and the error that ended the replay if there was one: decoded record by record."""
    image = empty_image()
    for offset, value in enumerate(values):
        try:
            record = decode_committed(None, value, offset, FILE, SUPPORTED)
            try:
                replay(image, record, offset)
            except DOES_NOT_FIT as error:
                raise does_not_fit(FILE, offset, record, error) from error
        except UnusableRecordError as error:
            return fingerprint(image), str(error)
    return fingerprint(image), ""


def in_batches(
    values: list[bytes], sizes: list[int], units: list[int]
) -> tuple[dict[str, object], str, CommittedReplay]:
    """The same by CommittedReplay. `sizes` of the batches and `units` of the turns are repeated."""
    replaying = CommittedReplay(empty_image(), SUPPORTED)
    offset = turn = 0
    while offset < len(values):
        of_batch = values[offset : offset + sizes[turn % len(sizes)]]
        data = b"before" + encode_batch(offset, 1, 0, of_batch) + b"after"
        replaying.begin(data, 6, read_batch_header(data, 6), FILE)
        is_over = False
        while not is_over:
            spent = replaying.spent
            try:
                is_over = replaying.replay_some(units[turn % len(units)])
            except UnusableRecordError as error:
                return fingerprint(replaying.image), str(error), replaying
            assert replaying.spent - spent <= units[turn % len(units)]
            turn += 1
        offset += len(of_batch)
    return fingerprint(replaying.image), "", replaying


@pytest.mark.parametrize("seed", seeds(40))
def test_any_records_in_any_batches_and_turns(seed: int) -> None:
    rng = random.Random(seed)
    image = empty_image()
    sequence = RecordSequence(seed, image)
    values: list[bytes] = []
    for offset in range(300):
        record = sequence.next()
        replay(image, record, offset)
        values.append(encoded(record))
    sizes = [rng.randint(1, 50) for _ in range(5)]
    units = [rng.randint(1, 20) for _ in range(5)]
    found, error, replaying = in_batches(values, sizes, units)
    assert error == ""
    assert found == ordinary(values)[0]
    assert replaying.spent == len(values)


few_replicas = st.sampled_from([[1, 2], [2, 1], [1, 2, 3]])
some_ids: list[list[int]] = [[], [1], [2, 1]]
rarely: st.SearchStrategy[list[int] | None] = st.sampled_from([*[None] * 6, *some_ids])
mostly_none: st.SearchStrategy[list[int]] = st.sampled_from([*[some_ids[0]] * 6, *some_ids])
epochs = st.integers(-1, 2**31 - 1)


@st.composite
def partition_values(draw: st.DrawFn) -> bytes:
    """A PartitionRecord of few different contents, so that most of its bytes were there before."""
    replicas = draw(few_replicas)
    count = draw(st.sampled_from([len(replicas)] * 30 + [0, 0, 3]))
    version = draw(st.sampled_from([2] * 10 + [0, 1]))
    record = PartitionRecord(
        partition_id=draw(st.integers(0, 60)),
        topic_id=draw(st.sampled_from([*TOPIC_IDS[:2] * 20, TOPIC_IDS[2]])),
        replicas=replicas,
        isr=draw(st.sampled_from([replicas, replicas, replicas, [1]])),
        removing_replicas=draw(mostly_none),
        adding_replicas=draw(mostly_none),
        leader=draw(st.integers(-1, 4)),
        leader_recovery_state=draw(st.sampled_from([0] * 10 + [1])),
        leader_epoch=draw(epochs),
        partition_epoch=draw(epochs),
        directories=[bytes([draw(st.sampled_from([7] * 5 + [8]))]) * 16] * count if version >= 1 else [],
        eligible_leader_replicas=draw(rarely) if version >= 2 else None,
        last_known_elr=draw(rarely) if version >= 2 else None,
    )
    if draw(st.integers(0, 30)) == 0:
        record.unknown_tagged_fields = [(100, b"of a later release")]
    value = bytearray(encoded(record, version))
    damage = draw(st.integers(0, 300))
    if damage == 0:
        value[draw(st.integers(0, len(value) - 1))] = draw(st.integers(0, 255))
    elif damage == 1:
        del value[draw(st.integers(0, len(value) - 1)) :]
    elif damage == 2:
        value += b"\0"
    return bytes(value)


others = st.sampled_from(
    [encoded(TopicRecord(name=f"topic-{id_[0]}", topic_id=id_)) for id_ in TOPIC_IDS]
    + [encoded(RemoveTopicRecord(topic_id=id_)) for id_ in TOPIC_IDS]
)
FIRST = [encoded(TopicRecord(name=f"topic-{id_[0]}", topic_id=id_)) for id_ in TOPIC_IDS[:2]]


@examples(40)
@given(
    values=st.lists(st.one_of(*[partition_values()] * 30, others), min_size=20, max_size=60),
    size=st.integers(1, 30),
    units=st.integers(1, 30),
)
def test_partitions_are_what_the_ordinary_decoder_makes_of_them(
    values: list[bytes], size: int, units: int
) -> None:
    """The first that is refused ends both."""
    found, error, _ = in_batches(FIRST + values, [size], [units])
    assert (found, error) == ordinary(FIRST + values)


def partition(index: int, topic_id: bytes = TOPIC_IDS[0], directories: int = 3) -> bytes:
    return encoded(
        PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=[1, 2, 3],
            isr=[1, 2, 3],
            leader=1,
            leader_epoch=5,
            partition_epoch=7,
            directories=[bytes([9]) * 16] * directories,
        )
    )


def test_what_repeats_is_not_decoded_again() -> None:
    values = [*FIRST, *[partition(index, topic_id) for topic_id in TOPIC_IDS[:2] for index in range(50)]]
    replaying = CommittedReplay(empty_image(), SUPPORTED)
    data = encode_batch(0, 1, 0, values)
    replaying.begin(data, 0, read_batch_header(data, 0), FILE)
    assert replaying.replay_some(1_000)
    assert replaying.decoded == 3, "two topics, and one partition of all"
    assert replaying.image.topics.partition_count == 100


def test_lists_of_replicas_come_with_other_directories_and_tagged_fields() -> None:
    """What is remembered of the replicas is not what the partition before had besides."""
    rng = random.Random(1)
    records = [
        PartitionRecord(
            partition_id=index,
            topic_id=TOPIC_IDS[0],
            replicas=[1, 2, 3, 4, 5][:count],
            isr=[1],
            leader=1,
            directories=[bytes([rng.randint(10, 11)]) * 16] * count,
            eligible_leader_replicas=rng.choice([None, [2], [3]]),
        )
        for count in (3, 5)
        for index in range(60 * count, 60 * count + 60)
    ]
    values = FIRST + [encoded(record) for record in records]
    found, error, replaying = in_batches(values, [150], [200])
    assert (found, error) == ordinary(values)
    assert replaying.decoded < 20, "most of the combinations are not decoded"
    partitions = replaying.image.topics.topics[TOPIC_IDS[0]].partitions
    for record in records:
        assert partitions[record.partition_id].directories == tuple(record.directories)
        assert partitions[record.partition_id].elr == tuple(record.eligible_leader_replicas or ())


def test_a_partition_of_a_removed_topic_is_refused() -> None:
    """Although the topic before is the same."""
    removed = encoded(RemoveTopicRecord(topic_id=TOPIC_IDS[0]))
    values = [*FIRST, partition(0), partition(1), removed, partition(2)]
    found, error, _ = in_batches(values, [10], [10])
    assert "does not fit what is before it" in error
    assert (found, error) == ordinary(values)


def test_a_partition_that_exists_is_replaced() -> None:
    """Not counted twice."""
    values = [*FIRST, partition(0), partition(1), partition(1)]
    found, error, _ = in_batches(values, [10], [10])
    assert (found, error) == ordinary(values)
    assert found["partition count"] == 2


def test_directories_of_other_replicas_are_refused() -> None:
    """Both are known, but from different partitions."""
    two = encoded(
        PartitionRecord(
            partition_id=1,
            topic_id=TOPIC_IDS[0],
            replicas=[1, 2],
            isr=[1],
            leader=1,
            directories=[bytes([9]) * 16] * 2,
        )
    )
    values = [*FIRST, partition(0), two, partition(2, directories=2)]
    found, error, _ = in_batches(values, [10], [10])
    assert "directories must match replicas" in error
    assert (found, error) == ordinary(values)


def test_a_batch_that_is_not_made_of_records_is_named() -> None:
    data = bytearray(encode_batch(40, 1, 0, [partition(0), partition(1)]))
    data[61] = 1
    replaying = CommittedReplay(empty_image(), SUPPORTED)
    replaying.begin(bytes(data), 0, read_batch_header(bytes(data), 0), FILE)
    with pytest.raises(UnusableRecordError, match="batch at offset 40 cannot be decoded: record"):
        replaying.replay_some(10)
