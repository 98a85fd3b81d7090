"""Replay: total over record types, reversible at every offset, closed under writing and reading snapshots."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.effort import seeds
from tests.support.image_records import image_lines, image_of, image_records, next_records
from tests.support.record_sequences import RecordSequence, fingerprint

KAFKA_SNAPSHOT = (
    Path(__file__).parent.parent / "data" / "kafka-4.3.1" / "00000000000000001643-0000000001.checkpoint"
)

SEEDS = range(40)


def state_only(image: MetadataImage) -> dict[str, object]:
    """Without the fields that depend on offsets instead of state."""
    state = fingerprint(image)
    del state["registration offsets"], state["features epoch"], state["transaction"]
    return state


@pytest.mark.parametrize("seed", SEEDS)
def test_rollback_to_any_offset_is_the_image_replayed_up_to_it(seed: int) -> None:
    image = MetadataImage()
    sequence = RecordSequence(seed, image)
    log: list[Message] = []
    committed = 0
    for _ in range(400):
        record = sequence.next()
        replay(image, record, len(log))
        log.append(record)
        choice = sequence.rng.random()
        if choice < 0.05:
            committed = sequence.rng.randint(committed, len(log))
            image.journal.commit_to(committed)
        elif choice < 0.10:
            end = sequence.rng.randint(committed, len(log))
            image.journal.rollback_to(end)
            del log[end:]
            assert fingerprint(image) == fingerprint(image_of(*log))
    image.journal.rollback_to(committed)
    assert fingerprint(image) == fingerprint(image_of(*log[:committed]))


def partitions_of_a_large_topic(rng: random.Random, topic_id: bytes) -> list[Message]:
    """With and without leader, ELR, reassignment, and the preferred leader."""
    records: list[Message] = []
    for index in range(40):
        replicas = rng.sample((1, 2, 3, 4), 3)
        members = rng.sample(replicas, rng.randint(1, 3))
        records.append(
            PartitionRecord(
                partition_id=index,
                topic_id=topic_id,
                replicas=replicas,
                isr=members,
                leader=rng.choice((-1, members[0])),
                leader_epoch=0,
                partition_epoch=0,
                adding_replicas=rng.choice(([], replicas[:1])),
                eligible_leader_replicas=rng.choice((None, replicas[1:])),
                directories=[bytes(15) + b"\7"] * 3,
            )
        )
    return records


@pytest.mark.parametrize("end", ["rolled back", "aborted", "abort rolled back"])
@pytest.mark.parametrize("seed", seeds(4))
def test_a_large_topic_is_removed_and_restored_as_a_whole(seed: int, end: str) -> None:
    """A snapshot of the time before has it meanwhile."""
    rng = random.Random(seed)
    image = MetadataImage()
    large, other = b"\1" * 16, b"\2" * 16
    log: list[Message] = []
    for number, topic_id in enumerate((large, other)):
        log.append(TopicRecord(name=f"t.{number}", topic_id=topic_id))
        log += partitions_of_a_large_topic(rng, topic_id)
    for offset, record in enumerate(log):
        replay(image, record, offset)
    image.journal.commit_to(len(log))
    before = fingerprint(image)
    before_lines = image_lines(image)
    writer = ImageWriter(image, len(log))
    only_other = fingerprint(image_of(*log, RemoveTopicRecord(topic_id=large)))
    changes: list[Message] = [
        BeginTransactionRecord(name="test"),
        PartitionChangeRecord(topic_id=large, partition_id=3, leader=-1, isr=[]),
        RemoveTopicRecord(topic_id=large),
    ]
    for step, record in enumerate(changes if end != "rolled back" else changes[1:]):
        replay(image, record, len(log) + step)
    removed = fingerprint(image)
    assert removed["topics"] == only_other["topics"]
    for index in ("partition count", "isr index", "elr index", "leader index", "leaderless index"):
        assert removed[index] == only_other[index]
    for index in ("last member index", "imbalanced index", "reassigning index"):
        assert removed[index] == only_other[index]
    if end != "rolled back":
        replay(image, AbortTransactionRecord(reason="test"), len(log) + len(changes))
        assert fingerprint(image) == before
    written = [entry.record for entry in next_records(writer, 1_000)]
    writer.close()
    assert sum(isinstance(record, PartitionRecord) for record in written) == 80
    if end == "abort rolled back":
        image.journal.rollback_to(len(log) + len(changes))
        assert fingerprint(image) == removed
    image.journal.rollback_to(len(log))
    assert fingerprint(image) == before
    assert image_lines(image) == before_lines


IsrCounts = dict[tuple[int, bytes], int]


def recounted_isr_members(image: MetadataImage) -> tuple[IsrCounts, IsrCounts]:
    """Members that have something to leave, and those that are alone in an ISR without leader."""
    counts: tuple[IsrCounts, IsrCounts] = ({}, {})
    for topic_id, topic in image.topics.topics.items():
        for partition in topic.partitions.values():
            index = counts[partition.leader == -1 and len(partition.isr) == 1]
            for member in partition.isr:
                index[member, topic_id] = index.get((member, topic_id), 0) + 1
    return counts


def by_pair(counts: dict[int, dict[bytes, int]]) -> IsrCounts:
    return {(member, topic): count for member, topics in counts.items() for topic, count in topics.items()}


def test_each_isr_member_is_in_one_of_two_indexes() -> None:
    last_members = 0
    for seed in SEEDS:
        image = MetadataImage()
        sequence = RecordSequence(seed, image)
        offset = 0
        for _ in range(200):
            replay(image, sequence.next(), offset)
            offset += 1
            if sequence.rng.random() < 0.05:
                offset = sequence.rng.randint(max(0, offset - 20), offset)
                image.journal.rollback_to(offset)
            topics = image.topics
            found = by_pair(topics.isr_counts), by_pair(topics.last_member_counts)
            assert found == recounted_isr_members(image), f"seed {seed}"
            last_members += len(found[1])
    assert last_members > 100


@pytest.mark.parametrize("seed", SEEDS)
def test_everything_committed_leaves_an_empty_journal(seed: int) -> None:
    image = MetadataImage()
    sequence = RecordSequence(seed, image)
    for offset in range(200):
        replay(image, sequence.next(), offset)
    if image.journal.transaction_start is None:
        image.journal.commit_to(200)
        assert image.journal.entry_count == 0


@pytest.mark.parametrize("seed", SEEDS)
def test_loading_without_journal_gives_the_same_image(seed: int) -> None:
    image = MetadataImage()
    sequence = RecordSequence(seed, image)
    loaded = MetadataImage()
    loaded.journal.enabled = False
    for offset in range(300):
        record = sequence.next()
        replay(image, record, offset)
        replay(loaded, record, offset)
    assert fingerprint(loaded) == fingerprint(image)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_image_is_the_same_after_writing_and_reading_its_records(seed: int) -> None:
    image = MetadataImage()
    sequence = RecordSequence(seed, image)
    for offset in range(300):
        replay(image, sequence.next(), offset)
    if image.features.metadata_version == 0:
        return
    image.features.finalized["eligible.leader.replicas.version"] = 1
    copy = MetadataImage()
    for entry in image_records(image):
        decoded = decode_metadata_record(encode_metadata_record(entry.record, entry.version))
        replay(copy, decoded.record, 0)
    assert state_only(copy) == state_only(image)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_snapshot_is_consistent_while_the_image_changes(seed: int) -> None:
    image = MetadataImage()
    sequence = RecordSequence(seed, image)
    for offset in range(200):
        replay(image, sequence.next(), offset)
    end = 150
    image.journal.commit_to(end)
    # What the same records say at `end`, written with nothing going on.
    log_again = MetadataImage()
    sequence_again = RecordSequence(seed, log_again)
    for offset in range(end):
        replay(log_again, sequence_again.next(), offset)
    expected = image_lines(log_again)
    writer = ImageWriter(image, end)
    written = []
    rng = random.Random(seed)
    offset = 200
    while slice_ := next_records(writer, rng.randint(1, 20)):
        written += slice_
        for _ in range(rng.randint(0, 10)):
            replay(image, sequence.next(), offset)
            offset += 1
        if rng.random() < 0.2:
            offset = rng.randint(end, offset)
            image.journal.rollback_to(offset)
    writer.close()
    assert sorted(repr((entry.version, entry.record)) for entry in written) == expected


def test_kafkas_snapshot_survives_the_image_unchanged() -> None:
    """A snapshot of a used Kafka 4.3.1 cluster has the records of this image writer, in any order."""
    original = []
    image = MetadataImage()
    image.journal.enabled = False
    for batch in read_batches(KAFKA_SNAPSHOT.read_bytes()):
        if batch.header.is_control:
            continue
        for entry in batch.records:
            assert entry.value is not None
            decoded = decode_metadata_record(entry.value)
            original.append(decoded)
            replay(image, decoded.record, 1642)
    written = image_records(image)
    assert len(written) == len(original)
    ours = sorted((entry.version, repr(sorted_lists(entry.record))) for entry in written)
    kafkas = sorted((entry.version, repr(sorted_lists(entry.record))) for entry in original)
    assert ours == kafkas


def sorted_lists(record: Message) -> Message:
    """Endpoints, features and directories are sets that Kafka writes in an order of its own."""
    for name in ("end_points", "features", "log_dirs"):
        if hasattr(record, name):
            setattr(record, name, sorted(getattr(record, name), key=repr))
    return record
