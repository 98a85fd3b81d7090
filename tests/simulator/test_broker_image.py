"""The copies of the metadata that model brokers keep."""

from __future__ import annotations

import pytest

from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import encode_batch
from tests.support.simulator.brokers.broker_image import BrokerImage, DecodedBatch, PartitionKey

TOPIC = (7).to_bytes(16, "big")
OTHER_TOPIC = (8).to_bytes(16, "big")


def batch(topic_id: bytes, base_offset: int) -> bytes:
    record = encode_metadata_record(TopicRecord(name=f"topic-{topic_id[-1]}", topic_id=topic_id), 0)
    return encode_batch(base_offset, 1, 0, [record])


def test_of_a_damaged_snapshot_nothing_is_used() -> None:
    """The broker fetches from where it was, not from the end of what it could not read."""

    def changed(key: PartitionKey, partition: object, offset: int) -> None: ...

    image = BrokerImage(101, changed)
    image.apply(DecodedBatch(batch(TOPIC, 0)))
    snapshot = batch(TOPIC, 0) + batch(OTHER_TOPIC, 1)
    damaged = snapshot[:-1] + bytes([snapshot[-1] ^ 1])
    with pytest.raises(DecodeError):
        image.load(OffsetAndEpoch(90, 2), damaged)
    assert (image.end_offset, image.epoch, image.published_offset) == (1, 1, 0)
    assert list(image.image.topics.topics) == [TOPIC]
    image.load(OffsetAndEpoch(90, 2), snapshot)
    assert (image.end_offset, image.epoch, image.published_offset) == (90, 2, 89)
    assert sorted(image.image.topics.topics) == [TOPIC, OTHER_TOPIC]
