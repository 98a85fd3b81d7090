"""The copies of the metadata that model brokers keep."""

from __future__ import annotations

import pytest

from kraftctl.metadata import features
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
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


def unchanged(key: PartitionKey, partition: object, offset: int) -> None: ...


def test_of_a_damaged_snapshot_nothing_is_used() -> None:
    """The broker fetches from where it was, not from the end of what it could not read."""
    image = BrokerImage(101, unchanged)
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


def registration(incarnation: int) -> bytes:
    record = RegisterBrokerRecord(
        broker_id=101, incarnation_id=bytes([incarnation] * 16), broker_epoch=incarnation
    )
    return encode_metadata_record(record, 1)


def elr(level: int) -> bytes:
    record = FeatureLevelRecord(name=features.ELIGIBLE_LEADER_REPLICAS_VERSION, feature_level=level)
    return encode_metadata_record(record, 0)


def test_a_registration_that_is_repeated_is_no_unclean_shutdown() -> None:
    """A broker once lost its tail as KIP-966 came into force after it was back: nothing protects that."""
    image = BrokerImage(101, unchanged)

    def knows_after(record: bytes) -> bool:
        image.apply(DecodedBatch(encode_batch(image.end_offset, 1, 0, [record])))
        return image.elr_at_registration

    assert [knows_after(record) for record in (registration(1), elr(1), registration(1))] == [False] * 3
    assert [knows_after(record) for record in (registration(2), elr(0), registration(2))] == [True] * 3
    snapshots = {
        incarnation: encode_batch(0, 1, 0, [elr(1), registration(incarnation)]) for incarnation in (2, 3)
    }
    image.load(OffsetAndEpoch(90, 2), snapshots[2])
    assert image.elr_at_registration
    image.load(OffsetAndEpoch(91, 2), snapshots[3])
    assert not image.elr_at_registration
