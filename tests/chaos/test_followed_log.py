"""A log that is not the one that was committed is found, on a leader and in a directory."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch
from tests.chaos.finding import FindError
from tests.chaos.followed_log import TOPIC_RESOURCE, FollowedLog
from tests.chaos.ledger import FoundTopic
from tests.chaos.settling import log_problems

TOPIC_ID = bytes(range(16))


def a_batch(base_offset: int, *records: Message, epoch: int = 1) -> bytes:
    return encode_batch(base_offset, epoch, 0, [encode_metadata_record(record, 0) for record in records])


FIRST = a_batch(0, TopicRecord(name="a", topic_id=TOPIC_ID))
SECOND = a_batch(
    1,
    ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name="a", name="retention.ms", value="5"),
    ConfigRecord(resource_type=TOPIC_RESOURCE, resource_name="a", name="flush.ms", value="6"),
)


def followed(*batches: bytes, high_watermark: int = 100) -> FollowedLog:
    log = FollowedLog("cluster")
    log.take(b"".join(batches), high_watermark)
    return log


def test_only_what_is_committed_counts() -> None:
    log = followed(FIRST, SECOND, high_watermark=2)
    assert log.end_offset == 1
    assert log.topics() == {"a": FoundTopic(0, {})}
    log.take(SECOND, 3)
    assert log.topics() == {"a": FoundTopic(0, {"retention.ms": "5", "flush.ms": "6"})}


@pytest.mark.parametrize(
    ("batch", "find"),
    [
        pytest.param(a_batch(2, TopicRecord(name="b")), "NoLogDivergence: 2 follows 1", id="gap"),
        pytest.param(a_batch(1, TopicRecord(name="b"), epoch=0), "MonotonicEpoch", id="earlier-epoch"),
    ],
)
def test_a_batch_that_does_not_follow_is_found(batch: bytes, find: str) -> None:
    log = followed(FIRST)
    with pytest.raises(FindError, match=find):
        log.take(batch, 100)


def test_a_partition_that_begins_again_is_found() -> None:
    """The rules of partitions are those of the simulator."""
    partition = PartitionRecord(partition_id=0, topic_id=TOPIC_ID, replicas=[1], isr=[1], leader=1)
    log = followed(FIRST)
    log.checks.reference.replay(partition, 0)
    with pytest.raises(AssertionError, match="PartitionEpochOnlyRises"):
        log.take(a_batch(1, partition), 100)


def segment(directory: Path, *batches: bytes) -> Path:
    (directory / f"{0:020d}.log").write_bytes(b"".join(batches))
    return directory


def test_a_segment_that_is_the_committed_log_is_no_find(tmp_path: Path) -> None:
    uncommitted = a_batch(3, TopicRecord(name="b"))
    log = followed(FIRST, SECOND)
    assert log_problems(segment(tmp_path, FIRST, SECOND, uncommitted[:20]), log) == []


def test_a_segment_with_another_batch_is_found(tmp_path: Path) -> None:
    other = a_batch(0, TopicRecord(name="b", topic_id=TOPIC_ID))
    (line,) = log_problems(segment(tmp_path, other, SECOND), followed(FIRST, SECOND))
    assert line.startswith("NoLogDivergence: the batch at 0 of")


def test_a_log_that_lacks_a_committed_batch_is_found(tmp_path: Path) -> None:
    (line,) = log_problems(segment(tmp_path, FIRST), followed(FIRST, SECOND))
    assert line == "AckedValueNotLost: the log ends at 1, and is committed to 3"
