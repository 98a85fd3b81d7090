"""Explains a partition: no leader (KIP-966), unclean, too few in sync, or not on its preferred leader."""

from __future__ import annotations

from dataclasses import dataclass, replace

from kraftctl.explain.evidence import OF_TOPIC, ClusterEvidence
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation, UnknownSubjectError
from kraftctl.explain.lost_directories import restoring_step
from kraftctl.explain.mark import Mark
from kraftctl.explain.record_marks import PartitionMarks
from kraftctl.explain.why_broker import BrokerTrouble, broker_trouble
from kraftctl.metadata.config_definitions.min_insync_replicas import MIN_INSYNC_REPLICAS
from kraftctl.metadata.leader_recovery_state import RECOVERING
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.config_resource import CLUSTER_DEFAULT
from kraftctl_protocol.counted_text import counted, named_by_id
from kraftctl_protocol.uuids import Uuid

UNCLEAN_LEADER_ELECTION_ENABLE = "unclean.leader.election.enable"

NO_LEADER_KIND = "no leader"
UNCLEAN_KIND = "unclean"
UNDER_MIN_ISR_KIND = "under min ISR"
UNDER_REPLICATED_KIND = "under-replicated"
NOT_PREFERRED_KIND = "not on its preferred leader"
KINDS = (NO_LEADER_KIND, UNCLEAN_KIND, UNDER_MIN_ISR_KIND, UNDER_REPLICATED_KIND, NOT_PREFERRED_KIND)
"""What may be wrong with a partition, the worst first."""


@dataclass(frozen=True)
class NamedPartition:
    """A partition with its name and its marks."""

    topic: str
    index: int
    state: PartitionRegistration
    marks: PartitionMarks | None

    def __str__(self) -> str:
        return f"{self.topic}-{self.index}"

    @property
    def leader_since(self) -> Mark | None:
        return None if self.marks is None else self.marks.leader

    @property
    def eligible_since(self) -> Mark | None:
        """When the ISR or the ELR became what it is, whichever came later."""
        found = [] if self.marks is None else [self.marks.isr, self.marks.elr]
        return max(filter(None, found), key=lambda each: each.offset, default=None)

    @property
    def isr_since(self) -> Mark | None:
        return None if self.marks is None else self.marks.isr


def named_partition(evidence: ClusterEvidence, topic: str, index: int) -> NamedPartition:
    """Returns a partition. Raises UnknownSubjectError when there is none."""
    found = evidence.image.topics.topic_by_name(topic)
    if found is None:
        raise UnknownSubjectError(unknown_topic_text(evidence, topic))
    state = found.partitions.get(index)
    if state is None:
        raise UnknownSubjectError(f"topic {topic} has no partition {index}: it has {len(found.partitions)}")
    return NamedPartition(topic, index, state, evidence.log.marks.partition(found.topic_id, index))


def unknown_topic_text(evidence: ClusterEvidence, topic: str) -> str:
    """Returns why there is no such topic."""
    deleted = evidence.log.marks.deleted_topics.get(topic)
    if deleted is None:
        return f"there is no topic {topic} up to offset {evidence.log.end_offset}"
    return f"topic {topic} was deleted at offset {deleted.offset}"


def split_partition_name(text: str) -> tuple[str, int]:
    """Splits `topic-0`, whose topic may have dashes, too. Raises ValueError for anything else."""
    topic, dash, index = text.rpartition("-")
    if not dash or not topic or not index.isdecimal():
        raise ValueError(f"'{text}' is not of the form TOPIC-PARTITION, as in orders-0")
    return topic, int(index)


def explain_partition(evidence: ClusterEvidence, topic: str, index: int) -> Explanation:
    """Explains one partition. Raises UnknownSubjectError when there is none."""
    return explain_named(evidence, named_partition(evidence, topic, index))


def explain_named(evidence: ClusterEvidence, partition: NamedPartition) -> Explanation:
    """Explains a partition by the worst of what is wrong with it."""
    kind = partition_kind(evidence, partition)
    if kind == NO_LEADER_KIND:
        return _without_leader(evidence, partition)
    if kind == UNCLEAN_KIND:
        return _unclean(evidence, partition)
    if kind in (UNDER_MIN_ISR_KIND, UNDER_REPLICATED_KIND):
        return _too_few_in_sync(evidence, partition, kind)
    if kind == NOT_PREFERRED_KIND:
        return _not_preferred(evidence, partition)
    statement = ExplainedCause(
        f"{HEALTHY}: {partition} is led by its preferred leader, broker {partition.state.leader},",
        partition.leader_since,
    )
    facts = _facts(evidence, partition)
    return Explanation(f"partition {partition}", statement, facts=facts, is_healthy=True)


def partition_kind(evidence: ClusterEvidence, partition: NamedPartition) -> str | None:
    """Returns the worst of what is wrong with a partition; None if nothing is."""
    state = partition.state
    if not state.has_leader:
        return NO_LEADER_KIND
    if state.leader_recovery_state == RECOVERING and not _is_whole(state):
        return UNCLEAN_KIND
    if len(state.isr) < min(min_isr(evidence, partition.topic)[0], len(state.replicas)):
        return UNDER_MIN_ISR_KIND
    if not _is_whole(state):
        return UNDER_REPLICATED_KIND
    if not state.has_preferred_leader:
        return NOT_PREFERRED_KIND
    return None


def _is_whole(state: PartitionRegistration) -> bool:
    """Returns whether no replica is missing in the ISR, except those that a reassignment adds."""
    return set(state.isr) >= set(state.replicas) - set(state.adding_replicas)


def min_isr(evidence: ClusterEvidence, topic: str) -> tuple[int, str]:
    """Returns min.insync.replicas of a topic, and the source of the value."""
    value, source = evidence.topic_config(topic, MIN_INSYNC_REPLICAS)
    assert isinstance(value, int)
    return value, source


def replica_trouble(
    evidence: ClusterEvidence, partition: NamedPartition, broker_id: int
) -> BrokerTrouble | None:
    """Returns why a replica cannot lead or join the ISR: its broker, or its directory; None if it can."""
    trouble = broker_trouble(evidence, broker_id)
    registration = evidence.image.cluster.brokers.get(broker_id)
    directory = partition.state.directory(broker_id)
    has_lost = (
        registration is not None
        and directory is not None
        and not registration.has_online_directory(directory)
    )
    if has_lost:
        return _without_directory(evidence, broker_id, trouble)
    if trouble is None:
        return None
    is_leaving = registration is not None and not registration.fenced
    return replace(trouble, next_step=trouble.start) if is_leaving else trouble


def _without_directory(
    evidence: ClusterEvidence, broker_id: int, trouble: BrokerTrouble | None
) -> BrokerTrouble:
    """Returns that a replica has lost its log directory: a start of its broker alone does not bring it back,
    whatever else the broker has.
    """
    marks = evidence.log.marks.brokers.get(broker_id)
    return BrokerTrouble(
        broker_id,
        "has lost the log directory of this replica",
        None if marks is None else marks.lost_directories,
        [] if trouble is None else [trouble.as_cause("it"), *trouble.causes],
        next_step=restoring_step(broker_id),
        is_lost=True,
    )


def _without_leader(evidence: ClusterEvidence, partition: NamedPartition) -> Explanation:
    state = partition.state
    eligible = sorted(set(state.isr) or set(state.elr))
    troubles = [(each, replica_trouble(evidence, partition, each)) for each in eligible]
    facts = _eligible_facts(evidence, partition, eligible)
    able = [each for each, trouble in troubles if trouble is None]
    causes: list[ExplainedCause]
    if not eligible:
        causes, step = _nothing_eligible(evidence, partition)
    elif able:
        names = named_by_id("broker", able)
        causes = [ExplainedCause(f"the active controller has not elected {names} yet, which may lead")]
        step = "ask again; if it lasts, the log of the active controller says why it elects none"
    else:
        known = [trouble for _, trouble in troubles if trouble is not None]
        if len(known) == 1:
            what = "its only replica" if len(state.replicas) == 1 else "the only replica that may lead"
            causes = [known[0].as_cause(f"{what}, broker {known[0].broker_id},"), *known[0].causes]
        else:
            names = named_by_id("broker", [each.broker_id for each in known])
            causes = [ExplainedCause(f"none of the replicas that may lead, {names}, is available")]
            for trouble in known:
                causes += [trouble.as_cause(f"broker {trouble.broker_id}"), *trouble.causes]
        step = _step_of_election(evidence, state, known)
    statement = ExplainedCause(f"{partition} has no leader", partition.leader_since)
    return Explanation(f"partition {partition}", statement, causes, facts, step)


def _step_of_election(
    evidence: ClusterEvidence, state: PartitionRegistration, known: list[BrokerTrouble]
) -> str:
    """Returns what to start first, and what to do with members that run, lost directories last.

    A broker that was killed is in no ISR and ELR any more when it has registered (KIP-966): when no member is
    left, the last leader is elected.
    """
    starts = [trouble.start for trouble in known if trouble.start]
    others = [trouble.next_step for trouble in known if not trouble.start and not trouble.is_lost]
    others += [trouble.next_step for trouble in known if trouble.is_lost]
    if not starts:
        return ". Otherwise ".join(others)
    elected = "it is elected when it is unfenced"
    if evidence.image.features.elr_enabled and len(state.replicas) > 1:
        if len(starts) > 1:
            elected = "one that was not killed is elected when it is unfenced"
            elected += "" if others else ", otherwise, after all of them, the last leader"
        else:
            elected += ", unless it was killed" if others else ", or, if it was killed, the last leader"
    else:
        starts = starts[:1]
    return ". Otherwise ".join([f"{', and '.join(starts)}; {elected}", *others])


def _nothing_eligible(
    evidence: ClusterEvidence, partition: NamedPartition
) -> tuple[list[ExplainedCause], str]:
    """Handles empty ISR and ELR: all replicas that had everything came back without an orderly shutdown."""
    state = partition.state
    causes = [
        ExplainedCause(
            "no replica is known to have all records: its ISR and ELR are empty", partition.eligible_since
        )
    ]
    unclean = (
        f"kafka-leader-election --election-type unclean --topic {partition.topic} --partition"
        f" {partition.index} elects any live replica, AND LOSES RECORDS"
    )
    known = state.last_known_elr
    if len(known) == 1 and known[0] in state.replicas:
        last = known[0]
        trouble = replica_trouble(evidence, partition, last)
        if trouble is not None:
            causes += [trouble.as_cause(f"its last leader, broker {last},"), *trouble.causes]
            return (
                causes,
                f"{trouble.next_step}; the last leader is elected when it is unfenced. Otherwise {unclean}",
            )
        causes.append(ExplainedCause(f"its last leader, broker {last}, is available and not elected yet"))
        return causes, f"ask again; the last leader is elected by itself. If it stays so, {unclean}"
    found = [replica_trouble(evidence, partition, each) for each in state.replicas]
    troubles = [trouble for trouble in found if trouble is not None]
    steps = [trouble.next_step for trouble in troubles if trouble.is_lost]
    stopped = [trouble.broker_id for trouble in troubles if not trouble.is_lost]
    if stopped:
        names = named_by_id("broker", stopped)
        steps.insert(0, f"start {names} first, which may have more records")
    return causes, ". Then ".join([*steps, unclean])


def _eligible_facts(evidence: ClusterEvidence, partition: NamedPartition, eligible: list[int]) -> list[str]:
    state = partition.state
    where = "ISR" if state.isr else "ELR"
    named = f"{{{', '.join(str(each) for each in eligible)}}} ({where})" if eligible else "none"
    is_allowed, source = evidence.topic_config(partition.topic, UNCLEAN_LEADER_ELECTION_ENABLE)
    others = [each for each in state.replicas if each not in eligible]
    live = [each for each in others if replica_trouble(evidence, partition, each) is None]
    if not live:
        unclean = "no other replica is available for an unclean election"
    elif is_allowed is True:
        unclean = f"{named_by_id('broker', live)} may lack records, and an unclean election is allowed"
        unclean += f" ({UNCLEAN_LEADER_ELECTION_ENABLE}=true, {source})"
    else:
        unclean = f"{named_by_id('broker', live)} may lack records, and an unclean election is refused"
        unclean += f" ({UNCLEAN_LEADER_ELECTION_ENABLE}=false, {source})"
    facts = [f"eligible: {named}; {unclean}"]
    if state.reassigning:
        facts.append(_reassignment_fact(state))
    return facts


def _unclean(evidence: ClusterEvidence, partition: NamedPartition) -> Explanation:
    leader = int(partition.state.leader)
    return Explanation(
        f"partition {partition}",
        ExplainedCause(
            f"{partition} recovers from an unclean election: records may be lost", partition.leader_since
        ),
        [
            ExplainedCause(
                f"broker {leader} was elected without being in sync, and has not reported its recovery"
            )
        ],
        _facts(evidence, partition),
        f"see the log of broker {leader}; other replicas join the ISR when it has recovered",
    )


def _too_few_in_sync(evidence: ClusterEvidence, partition: NamedPartition, kind: str) -> Explanation:
    state = partition.state
    least, source = min_isr(evidence, partition.topic)
    missing = [each for each in state.replicas if each not in state.isr and each not in state.adding_replicas]
    missing = missing or [each for each in state.replicas if each not in state.isr]
    causes: list[ExplainedCause] = []
    steps: list[str] = []
    for broker_id in missing:
        trouble = replica_trouble(evidence, partition, broker_id)
        if trouble is None:
            causes.append(ExplainedCause(f"broker {broker_id} is active, but not in sync with its leader"))
            steps.append(f"see the log of broker {broker_id} for its fetches from broker {state.leader}")
        else:
            causes += [trouble.as_cause(f"broker {broker_id}"), *trouble.causes]
            steps.append(trouble.next_step)
    replicas = counted(len(state.replicas), "replica")
    text = f"{partition} has {len(state.isr)} of {replicas} in sync"
    since = partition.isr_since
    if kind == UNDER_MIN_ISR_KIND:
        text += f", and {MIN_INSYNC_REPLICAS} is {least} ({source}): acks=all is refused"
        if _has_newer_min_isr(evidence, partition, is_own=source == OF_TOPIC):
            since = None
    statement = ExplainedCause(text, since)
    return Explanation(f"partition {partition}", statement, causes, _facts(evidence, partition), steps[0])


def _has_newer_min_isr(evidence: ClusterEvidence, partition: NamedPartition, *, is_own: bool) -> bool:
    """Returns whether a config was changed after the ISR: then the ISR does not say since when it is too
    small.
    """
    since, configs = partition.isr_since, evidence.log.marks.min_isr_configs
    found = [configs.get(partition.topic), None if is_own else configs.get(CLUSTER_DEFAULT)]
    return since is not None and any(each is not None and each.offset > since.offset for each in found)


def _not_preferred(evidence: ClusterEvidence, partition: NamedPartition) -> Explanation:
    state = partition.state
    preferred = int(state.preferred_replica)
    trouble = replica_trouble(evidence, partition, preferred)
    if preferred in state.adding_replicas and preferred not in state.isr:
        text = f"broker {preferred} is being added by a reassignment, and is not in sync yet"
        causes = [ExplainedCause(text, None if partition.marks is None else partition.marks.reassigning)]
        step = f"kraftctl explain reassignment {partition} says what it waits for"
    elif trouble is not None:
        causes, step = [trouble.as_cause(f"broker {preferred}"), *trouble.causes], trouble.next_step
    else:
        causes = [
            ExplainedCause(f"broker {preferred} is in sync, and no election has moved the leadership back")
        ]
        step = (
            "wait for leader.imbalance.check.interval.seconds (auto.leader.rebalance.enable), or run"
            f" kafka-leader-election --election-type preferred --topic {partition.topic} --partition"
            f" {partition.index}"
        )
    text = f"{partition} is led by broker {state.leader}, not by its preferred leader, broker {preferred},"
    statement = ExplainedCause(text, partition.leader_since)
    return Explanation(f"partition {partition}", statement, causes, _facts(evidence, partition), step)


def _facts(evidence: ClusterEvidence, partition: NamedPartition) -> list[str]:
    state = partition.state
    least, source = min_isr(evidence, partition.topic)
    facts = [
        (
            f"leader {state.leader}, ISR {list(state.isr)} of replicas {list(state.replicas)},"
            f" {MIN_INSYNC_REPLICAS} {least} ({source})"
        )
    ]
    if state.leader_recovery_state == RECOVERING and _is_whole(state):
        # A leader reports this with its next change of the ISR (KIP-704): with one replica, never.
        facts.append("its leader was elected without being in sync: records may be lost")
    if state.elr:
        facts.append(f"eligible beside the ISR: {list(state.elr)} (ELR)")
    if state.reassigning:
        facts.append(_reassignment_fact(state))
    return facts


def _reassignment_fact(state: PartitionRegistration) -> str:
    adding, removing = list(state.adding_replicas), list(state.removing_replicas)
    return f"it is being reassigned: adding {adding}, removing {removing}"


def partitions_of(evidence: ClusterEvidence, topic_id: Uuid) -> list[NamedPartition]:
    """Returns all partitions of a topic, by index."""
    topic = evidence.image.topics.topics[topic_id]
    marks = evidence.log.marks
    return [
        NamedPartition(topic.name, index, state, marks.partition(topic_id, index))
        for index, state in sorted(topic.partitions.items())
    ]
