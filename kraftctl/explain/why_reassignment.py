"""Explains reassignments (KIP-455): what each still waits for."""

from __future__ import annotations

from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation
from kraftctl.explain.grouped_causes import grouped_causes
from kraftctl.explain.why_partition import (
    NO_LEADER_KIND,
    NamedPartition,
    explain_named,
    named_partition,
    partition_kind,
    partitions_of,
    replica_trouble,
)
from kraftctl_protocol.counted_text import counted, named_by_id, one_or_many

CANCEL = "otherwise kafka-reassign-partitions --cancel takes it back"


def explain_reassignment(evidence: ClusterEvidence, topic: str, index: int) -> Explanation:
    """Explains the reassignment of one partition. Raises UnknownSubjectError when there is no partition."""
    return _explain_one(evidence, named_partition(evidence, topic, index))


def explain_reassignments(evidence: ClusterEvidence) -> Explanation:
    """Explains all that are running."""
    topics = evidence.image.topics
    found = [
        partition
        for topic_id in topics.reassigning_counts
        for partition in partitions_of(evidence, topic_id)
        if partition.state.reassigning
    ]
    if not found:
        statement = ExplainedCause(f"{HEALTHY}: no partition is being reassigned")
        count = counted(topics.partition_count, "partition")
        facts = [f"{count}, {topics.leaderless_count:,} without a leader"]
        return Explanation("reassignments", statement, facts=facts, is_healthy=True)
    if len(found) == 1:
        return _explain_one(evidence, found[0])
    explained = [(str(partition), _explain_one(evidence, partition)) for partition in found]
    statement = ExplainedCause(f"{counted(len(found), 'partition')} are being reassigned")
    causes, step = grouped_causes(explained)
    return Explanation("reassignments", statement, causes, next_step=step)


def _explain_one(evidence: ClusterEvidence, partition: NamedPartition) -> Explanation:
    state = partition.state
    subject = f"reassignment of {partition}"
    facts = [f"leader {state.leader}, ISR {list(state.isr)} of replicas {list(state.replicas)}"]
    if not state.reassigning:
        statement = ExplainedCause(f"{HEALTHY}: {partition} is not being reassigned")
        return Explanation(subject, statement, facts=facts, is_healthy=True)
    since = None if partition.marks is None else partition.marks.reassigning
    adding, removing = list(state.adding_replicas), list(state.removing_replicas)
    text = f"{partition} is being reassigned, adding {adding} and removing {removing},"
    causes, step = _what_is_missing(evidence, partition)
    return Explanation(subject, ExplainedCause(text, since), causes, facts, step)


def _what_is_missing(
    evidence: ClusterEvidence, partition: NamedPartition
) -> tuple[list[ExplainedCause], str]:
    state = partition.state
    causes: list[ExplainedCause] = []
    steps: list[str] = []
    missing = [each for each in state.adding_replicas if each not in state.isr]
    stopped = [(each, trouble) for each in missing if (trouble := replica_trouble(evidence, partition, each))]
    for broker_id, trouble in stopped:
        causes += [trouble.as_cause(f"broker {broker_id}, which is being added,"), *trouble.causes]
        steps.append(f"{trouble.next_step}; {CANCEL}")
    if partition_kind(evidence, partition) == NO_LEADER_KIND:
        explained = explain_named(evidence, partition)
        return [explained.statement, *explained.causes, *causes], explained.next_step
    behind = [each for each in missing if each not in dict(stopped)]
    if behind:
        names = named_by_id("broker", behind)
        are, have = (one_or_many(len(behind), *words) for words in (("is", "are"), ("has", "have")))
        text = f"{names}, which {are} being added, {have} not caught up"
        causes.append(ExplainedCause(f"{text} with the leader, broker {state.leader}"))
        steps.append(
            f"wait; if the size of the replica does not grow, see the log of broker {behind[0]} for its"
            " fetches, and a throttle of the reassignment"
        )
    if causes:
        return causes, steps[0]
    return _what_stays_is_missing(evidence, partition)


def _what_stays_is_missing(
    evidence: ClusterEvidence, partition: NamedPartition
) -> tuple[list[ExplainedCause], str]:
    """Handles added replicas that are all in sync, while some that stay are not."""
    state = partition.state
    kept = [each for each in state.replicas if each not in state.removing_replicas]
    missing = [each for each in kept if each not in state.isr]
    causes: list[ExplainedCause] = []
    for broker_id in missing:
        trouble = replica_trouble(evidence, partition, broker_id)
        if trouble is not None:
            causes += [trouble.as_cause(f"broker {broker_id}, which stays,"), *trouble.causes]
            return causes, f"{trouble.next_step}; {CANCEL}"
        causes.append(
            ExplainedCause(f"broker {broker_id}, which stays, is active, but not in sync with its leader")
        )
    if not causes:
        causes = [ExplainedCause("nothing is missing: the active controller ends it with the next change")]
        return causes, "ask again; if it lasts, see the log of the active controller"
    return causes, f"see the log of broker {missing[0]} for its fetches from broker {state.leader}"
