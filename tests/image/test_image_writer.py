"""Slices of a snapshot: of bounded length, in an order that needs no sorting, as of one offset."""

from __future__ import annotations

from itertools import chain

from kraftctl.image.image_writer import ImageWriter
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from tests.support.image_records import next_records

GIANT, SMALL = b"z" * 16, b"a" * 16


def topic(topic_id: bytes, partitions_count: int) -> list[Message]:
    partitions: list[Message] = [
        PartitionRecord(partition_id=index, topic_id=topic_id, replicas=[1], isr=[1], leader=1)
        for index in range(partitions_count)
    ]
    return [TopicRecord(name=topic_id[:1].decode(), topic_id=topic_id), *partitions]


def two_topics() -> tuple[MetadataImage, int]:
    """The one that is created first has the larger id and 1,000 partitions. Returns the end offset, too."""
    image = MetadataImage()
    records = [*topic(GIANT, 1_000), *topic(SMALL, 2)]
    for offset, record in enumerate(records):
        replay(image, record, offset)
    image.journal.commit_to(len(records))
    return image, len(records)


def line(record: Message) -> tuple[str, bytes, int]:
    if isinstance(record, PartitionRecord):
        return "partition", record.topic_id, record.partition_id
    assert isinstance(record, TopicRecord)
    return "topic", record.topic_id, -1


def expected_lines() -> list[tuple[str, bytes, int]]:
    return [
        ("topic", GIANT, -1),
        *[("partition", GIANT, index) for index in range(1_000)],
        ("topic", SMALL, -1),
        *[("partition", SMALL, index) for index in range(2)],
    ]


def test_a_topic_is_cut_inside_and_nothing_is_sorted() -> None:
    image, end = two_topics()
    writer = ImageWriter(image, end)
    slices = []
    while records := next_records(writer, 7):
        slices.append([line(entry.record) for entry in records])
    assert [len(records) for records in slices] == [7] * 143 + [3]
    assert list(chain(*slices)) == expected_lines()


def test_topics_that_change_and_vanish_in_between_are_written_as_they_were() -> None:
    image, end = two_topics()
    writer = ImageWriter(image, end)
    written = next_records(writer, 500)
    changes: list[Message] = [
        PartitionChangeRecord(partition_id=index, topic_id=GIANT, leader=-1) for index in range(400, 600)
    ]
    changes += [
        RemoveTopicRecord(topic_id=GIANT),
        RemoveTopicRecord(topic_id=SMALL),
        *topic(b"b" * 16, 3),
        ConfigRecord(resource_type=4, resource_name="", name="k", value="v"),
    ]
    for offset, record in enumerate(changes, end):
        replay(image, record, offset)
    image.journal.commit_to(end + len(changes))
    written += next_records(writer, 1_000)
    writer.close()
    assert [line(entry.record) for entry in written] == expected_lines()
    assert {entry.record.leader for entry in written if isinstance(entry.record, PartitionRecord)} == {1}


def test_a_giant_topic_that_vanishes_first_is_still_cut_inside() -> None:
    image, end = two_topics()
    writer = ImageWriter(image, end)
    replay(image, RemoveTopicRecord(topic_id=GIANT), end)
    slices = []
    while records := next_records(writer, 100):
        slices.append([line(entry.record) for entry in records])
    assert max(map(len, slices)) == 100
    assert list(chain(*slices)) == [*expected_lines()[1001:], *expected_lines()[:1001]]


def test_old_values_are_freed_in_slices() -> None:
    image = MetadataImage()
    topics = [bytes([number]) * 16 for number in range(1, 21)]
    records = [record for topic_id in topics for record in topic(topic_id, 10)]
    for offset, record in enumerate(records):
        replay(image, record, offset)
    image.journal.commit_to(len(records))
    writer = ImageWriter(image, len(records))
    for topic_id in topics:
        for index in range(10):
            change = PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=-1)
            replay(image, change, len(records))
    writer.close()
    assert [writer.free_some(25) for _ in range(8)] == [True] * 6 + [False] * 2
