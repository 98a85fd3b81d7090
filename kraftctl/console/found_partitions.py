"""Finds partitions in which something is wrong, by a bounded look at the topics that have such."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from typing import Final

from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.why_partition import NamedPartition
from kraftctl.image.topics_image import TopicImage
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.uuids import Uuid

FOUND_MAX: Final = 200
"""A page groups and explains this many partitions of a kind; the rest is counted."""

LOOKS_MAX: Final = 50_000
"""One search looks at this many partitions, which takes some ten milliseconds."""


def leaderless(evidence: ClusterEvidence) -> Iterator[NamedPartition]:
    """Yields partitions without a leader."""
    counts = evidence.image.topics.leaderless_counts
    return _found(evidence, counts, lambda state: not state.has_leader)


def reassigning(evidence: ClusterEvidence) -> Iterator[NamedPartition]:
    """Yields partitions that are being reassigned (KIP-455)."""
    counts = evidence.image.topics.reassigning_counts
    return _found(evidence, counts, lambda state: state.reassigning)


def short_of_replicas(evidence: ClusterEvidence) -> Iterator[NamedPartition]:
    """Yields partitions with a leader whose ISR lacks replicas, those with the smallest ISR first."""
    by_size = evidence.image.topics.short_isrs.sizes
    seen = dict.fromkeys(topic for isrs in by_size for topic in islice(isrs.topics, LOOKS_MAX))
    return _found(evidence, seen, lambda state: state.has_leader and len(state.isr) < len(state.replicas))


def _found(
    evidence: ClusterEvidence, topic_ids: Iterable[Uuid], is_wanted: Callable[[PartitionRegistration], bool]
) -> Iterator[NamedPartition]:
    topics, marks = evidence.image.topics.topics, evidence.log.marks
    found = (
        NamedPartition(topic.name, index, state, marks.partition(topic.topic_id, index))
        for topic, index, state in islice(_partitions(topics[each] for each in topic_ids), LOOKS_MAX)
        if is_wanted(state)
    )
    return islice(found, FOUND_MAX)


def _partitions(topics: Iterable[TopicImage]) -> Iterator[tuple[TopicImage, int, PartitionRegistration]]:
    for topic in topics:
        for index, state in topic.partitions.items():
            yield topic, index, state
