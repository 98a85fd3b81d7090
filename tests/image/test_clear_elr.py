"""ClearElrRecord clears both lists that KIP-966 knows, of one topic or of all, and nothing else."""

from __future__ import annotations

import pytest

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.clear_elr_record import ClearElrRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord

TOPIC_IDS = {"one": b"one.............", "two": b"two............."}

LISTS = [([2], [3]), ([2], []), ([], [3]), ([], [])]
"""The ELR and the last known one of partitions 0 to 3."""


@pytest.mark.parametrize(("cleared", "touched"), [("one", ["one"]), ("", ["one", "two"])])
def test_it_clears_both_lists(cleared: str, touched: list[str]) -> None:
    image = MetadataImage()
    for name, topic_id in TOPIC_IDS.items():
        replay(image, TopicRecord(name=name, topic_id=topic_id), 0)
        for index, (elr, known) in enumerate(LISTS):
            record = PartitionRecord(
                topic_id=topic_id,
                partition_id=index,
                replicas=[1, 2, 3],
                isr=[1],
                leader=1,
                partition_epoch=0,
                directories=[bytes(16)] * 3,
                eligible_leader_replicas=elr,
                last_known_elr=known,
            )
            replay(image, record, 0)
    replay(image, ClearElrRecord(topic_name=cleared), 1)
    for name, topic_id in TOPIC_IDS.items():
        for index, (elr, known) in enumerate(LISTS):
            partition = image.topics.partition(topic_id, index)
            assert partition is not None
            expected = ((), ()) if name in touched else (tuple(elr), tuple(known))
            assert (partition.elr, partition.last_known_elr) == expected
            changes = name in touched and bool(elr or known)
            assert partition.partition_epoch == int(changes)
