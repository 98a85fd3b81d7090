"""Explains a topic by the worst that its partitions have."""

from __future__ import annotations

from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation, UnknownSubjectError
from kraftctl.explain.grouped_causes import grouped_causes, since_of_all
from kraftctl.explain.why_partition import (
    KINDS,
    NO_LEADER_KIND,
    NOT_PREFERRED_KIND,
    UNCLEAN_KIND,
    UNDER_MIN_ISR_KIND,
    UNDER_REPLICATED_KIND,
    NamedPartition,
    explain_named,
    min_isr,
    partition_kind,
    partitions_of,
    unknown_topic_text,
)
from kraftctl_protocol.counted_text import counted, one_or_many

PHRASES = {
    NO_LEADER_KIND: ("has no leader", "have no leader"),
    UNCLEAN_KIND: ("recovers from an unclean election", "recover from an unclean election"),
    UNDER_MIN_ISR_KIND: ("is under min.insync.replicas", "are under min.insync.replicas"),
    UNDER_REPLICATED_KIND: ("has replicas out of sync", "have replicas out of sync"),
    NOT_PREFERRED_KIND: ("is not led by its preferred leader", "are not led by their preferred leader"),
}


def explain_topic(evidence: ClusterEvidence, topic: str) -> Explanation:
    """Explains a topic. Raises UnknownSubjectError when there is none, and the log shows no deletion."""
    topic_id = evidence.image.topics.ids_by_name.get(topic)
    if topic_id is None:
        deleted = evidence.log.marks.deleted_topics.get(topic)
        if deleted is None:
            raise UnknownSubjectError(unknown_topic_text(evidence, topic))
        statement = ExplainedCause(f"Topic {topic} is deleted", deleted)
        return Explanation(f"topic {topic}", statement, next_step="create it again; its records are deleted")
    partitions = partitions_of(evidence, topic_id)
    kinds: dict[str, list[NamedPartition]] = {}
    for partition in partitions:
        kind = partition_kind(evidence, partition)
        if kind is not None:
            kinds.setdefault(kind, []).append(partition)
    facts = _facts(evidence, topic, partitions)
    worst = next((kind for kind in KINDS if kind in kinds), None)
    if worst is None:
        count = counted(len(partitions), "partition")
        all_have = one_or_many(len(partitions), f"{topic}-0 has its", f"all {count} of {topic} have their")
        text = f"{HEALTHY}: {all_have} preferred leader"
        return Explanation(f"topic {topic}", ExplainedCause(text), facts=facts, is_healthy=True)
    found = kinds[worst]
    explained = [(str(partition), explain_named(evidence, partition)) for partition in found]
    text = f"{len(found):,} of {counted(len(partitions), 'partition')} of {topic}"
    text += f" {PHRASES[worst][len(found) > 1]}"
    statement = ExplainedCause(text, since_of_all(explained))
    facts += [
        f"{len(kinds[kind]):,} {PHRASES[kind][len(kinds[kind]) > 1]}"
        for kind in KINDS
        if kind in kinds and kind != worst
    ]
    causes, step = grouped_causes(explained)
    return Explanation(f"topic {topic}", statement, causes, facts, step)


def _facts(evidence: ClusterEvidence, topic: str, partitions: list[NamedPartition]) -> list[str]:
    least, source = min_isr(evidence, topic)
    factors = sorted({len(partition.state.replicas) for partition in partitions})
    reassigning = sum(partition.state.reassigning for partition in partitions)
    named = ", ".join(str(each) for each in factors) or "0"
    count = counted(len(partitions), "partition")
    facts = [f"{count}, replication factor {named}, min.insync.replicas {least} ({source})"]
    if reassigning:
        facts.append(f"{reassigning:,} {one_or_many(reassigning, 'is', 'are')} being reassigned")
    return facts
