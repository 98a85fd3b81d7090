"""Partitions under min ISR and recovering ones, counted step by step, against a count of all partitions."""

from __future__ import annotations

import random

import pytest

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.config_resource import BROKER, TOPIC
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from tests.record_types.image_state import state_of

NAMES = ("one", "two", "three")
VALUES = ("1", "2", "3", "4", "none", None)


def id_of(name: str) -> bytes:
    return name.encode().ljust(16, b".")


def counted(image: MetadataImage, inherited: int) -> tuple[int, int]:
    """Looks at each partition and config: those under min ISR, and those that recover."""
    under = recovering = 0
    for topic in image.topics.topics.values():
        text = image.configurations.config(TOPIC, topic.name).get("min.insync.replicas", "")
        min_isr = int(text) if text.isdecimal() else inherited
        for partition in topic.partitions.values():
            under += len(partition.isr) < min(min_isr, len(partition.replicas))
            recovering += partition.leader_recovery_state == 1
    return under, recovering


def kept(image: MetadataImage, inherited: int) -> tuple[int, int]:
    return image.topics.short_isrs.under_min_isr_count(inherited), image.topics.recovering_count


def assert_right(image: MetadataImage) -> None:
    for inherited in (1, 2, 3, 4):
        assert kept(image, inherited) == counted(image, inherited)


def replicas(rng: random.Random) -> list[int]:
    return rng.sample(range(1, 6), rng.randint(1, 4))


def next_record(image: MetadataImage, rng: random.Random) -> Message:
    name = rng.choice(NAMES)
    topic_id = id_of(name)
    topic = image.topics.topic(topic_id)
    if topic is None:
        return TopicRecord(name=name, topic_id=topic_id)
    kind = rng.random()
    if kind < 0.1:
        return RemoveTopicRecord(topic_id=topic_id)
    if kind < 0.3:
        return ConfigRecord(
            resource_type=rng.choice((TOPIC, BROKER)),
            resource_name=name,
            name=rng.choice(("min.insync.replicas", "retention.ms")),
            value=rng.choice(VALUES),
        )
    found = replicas(rng)
    isr = rng.sample(found, rng.randint(0, len(found)))
    leader = rng.choice(isr) if isr else -1
    if len(topic.partitions) < 12 and kind < 0.6:
        return PartitionRecord(
            topic_id=topic_id,
            partition_id=len(topic.partitions),
            replicas=found,
            directories=[bytes(16)] * len(found),
            isr=isr,
            leader=leader,
            leader_recovery_state=rng.randint(0, 1),
        )
    if not topic.partitions:
        return ConfigRecord(resource_type=TOPIC, resource_name=name, name="min.insync.replicas", value="2")
    return PartitionChangeRecord(
        topic_id=topic_id,
        partition_id=rng.randrange(len(topic.partitions)),
        replicas=found if kind < 0.7 else None,
        isr=isr,
        leader=leader,
        leader_recovery_state=rng.choice((-1, 0, 1)),
    )


@pytest.mark.parametrize("seed", range(20))
def test_the_counts_are_those_of_all_partitions(seed: int) -> None:
    """After each record, after what is undone, and after a metadata transaction that is aborted."""
    rng, image, offset = random.Random(seed), MetadataImage(), 0
    for _ in range(40):
        before, base, is_transaction = state_of(image), offset, rng.random() < 0.3
        if is_transaction:
            replay(image, BeginTransactionRecord(), offset)
            offset += 1
        for _ in range(rng.randint(1, 12)):
            replay(image, next_record(image, rng), offset)
            offset += 1
            assert_right(image)
        if is_transaction:
            replay(image, AbortTransactionRecord(), offset)
            offset += 1
            assert_right(image)
        elif rng.random() < 0.4:
            image.journal.rollback_to(base)
            assert state_of(image) == before
        assert_right(image)
        image.journal.commit_to(offset)


def recovering_partition(*changes: Message) -> MetadataImage:
    image = MetadataImage()
    topic_id = id_of("one")
    records = [
        TopicRecord(name="one", topic_id=topic_id),
        PartitionRecord(
            topic_id=topic_id,
            partition_id=0,
            replicas=[1, 2],
            isr=[1],
            leader=1,
            directories=[bytes(16)] * 2,
            eligible_leader_replicas=[2],
        ),
        *changes,
    ]
    for offset, record in enumerate(records):
        replay(image, record, offset)
    return image


@pytest.mark.parametrize(
    ("recovery", "expected"), [pytest.param(1, (1, 1), id="unclean"), pytest.param(0, (0, 1), id="from-elr")]
)
def test_an_election_that_is_undone_did_not_happen(recovery: int, expected: tuple[int, int]) -> None:
    election = PartitionChangeRecord(
        topic_id=id_of("one"), partition_id=0, isr=[2], leader=2, leader_recovery_state=recovery
    )
    image = recovering_partition()
    elections = image.topics.elections
    elections.begin()
    replay(image, election, 2)
    assert (elections.unclean_count, elections.from_elr_count) == expected
    image.journal.rollback_to(2)
    assert (elections.unclean_count, elections.from_elr_count) == (0, 0)
    replay(image, BeginTransactionRecord(), 2)
    replay(image, election, 3)
    replay(image, AbortTransactionRecord(), 4)
    assert (elections.unclean_count, elections.from_elr_count) == (0, 0)
    image.journal.rollback_to(4)
    assert (elections.unclean_count, elections.from_elr_count) == expected, "the abort is undone"


def test_elections_before_the_begin_are_history() -> None:
    election = PartitionChangeRecord(
        topic_id=id_of("one"), partition_id=0, isr=[2], leader=2, leader_recovery_state=1
    )
    image = recovering_partition(election)
    elections = image.topics.elections
    assert elections.unclean_count == 1
    elections.begin()
    assert elections.unclean_count == 0
    image.journal.rollback_to(2)
    assert elections.unclean_count == 0, "less than nothing is not counted"
