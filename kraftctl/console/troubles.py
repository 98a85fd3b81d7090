"""Lists what is wrong with a cluster, the worst first, each with the causes that `kraftctl explain` has.

All of it is a function of the replayed log, of what the leader knows, of statuses and of the time. It looks
at a bounded number of partitions: counts beside it have all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from kraftctl.console.found_partitions import (
    FOUND_MAX,
    leaderless,
    reassigning,
    short_of_replicas,
)
from kraftctl.console.node_status import CertificateDate, NodeStatus
from kraftctl.console.page_paths import page_path
from kraftctl.explain.commit_watch import STALLED_MS
from kraftctl.explain.evidence import ClusterEvidence, NoLeaderView
from kraftctl.explain.explanation import ExplainedCause, Explanation
from kraftctl.explain.grouped_causes import names_text
from kraftctl.explain.lost_directories import failed_directories, restoring_step
from kraftctl.explain.mark import DAY_MS
from kraftctl.explain.why_broker import broker_trouble, does_not_read, unread_explanation
from kraftctl.explain.why_controller import explain_controller, is_ghost
from kraftctl.explain.why_partition import (
    NO_LEADER_KIND,
    UNCLEAN_KIND,
    UNDER_MIN_ISR_KIND,
    UNDER_REPLICATED_KIND,
    NamedPartition,
    explain_named,
    partition_kind,
    replica_trouble,
)
from kraftctl.explain.why_quorum import explain_no_leader, explain_quorum
from kraftctl.explain.why_reassignment import explain_reassignment
from kraftctl.explain.why_topic import PHRASES
from kraftctl_protocol.counted_text import counted, one_or_many

CRITICAL: Final = "critical"
WARNING: Final = "warning"
NOTE: Final = "note"
LEVELS: Final = (CRITICAL, WARNING, NOTE)

BROKERS_MAX: Final = 10
"""A page names this many fenced brokers one by one."""

GROUPS_MAX: Final = 10
"""A page has this many groups of partitions with the same causes."""

STUCK_MS: Final = 600_000
"""A reassignment that runs for longer is called stuck, even if all its brokers are available."""

CERTIFICATE_DAYS: Final = 14
CERTIFICATE_DAYS_CRITICAL: Final = 2
"""As the alerts that `deploy` has."""

SLOW_DISK_MS: Final = 5_000


@dataclass(frozen=True)
class Trouble:
    """One thing that is wrong. `path` is where the page has its whole story, and empty without one."""

    kind: str
    level: str
    explanation: Explanation
    path: str = ""
    count: int = 1

    @property
    def key(self) -> str:
        """A name that stays the same while the trouble lasts."""
        return f"{self.kind} {self.explanation.subject}"


def troubles_of(
    evidence: ClusterEvidence,
    *,
    no_leader: NoLeaderView | None = None,
    statuses: Sequence[NodeStatus] = (),
) -> list[Trouble]:
    """Returns all of them, the worst first; within a level causes come before what follows."""
    found = [
        *_quorum(evidence, no_leader),
        *_without_leader(evidence),
        *_brokers(evidence),
        *_reassignments(evidence),
        *_controllers(evidence, is_known=no_leader is None),
        *_certificates(statuses, evidence.now_ms),
        *_statuses(statuses),
        *_short(evidence),
    ]
    return sorted(found, key=lambda each: LEVELS.index(each.level))


def _quorum(evidence: ClusterEvidence, no_leader: NoLeaderView | None) -> Iterator[Trouble]:
    """Yields that nothing leads, or that what leads commits nothing."""
    if no_leader is not None:
        explanation = explain_no_leader(no_leader)
        # What is not reached from here may lead all the same.
        level = CRITICAL if explanation.is_known else WARNING
        yield Trouble("quorum", level, explanation, "/quorum")
    elif evidence.quorum is not None and evidence.quorum.uncommitted_ms >= STALLED_MS:
        yield Trouble("quorum", CRITICAL, explain_quorum(evidence), "/quorum")


def _without_leader(evidence: ClusterEvidence) -> Iterator[Trouble]:
    topics = evidence.image.topics
    found = list(leaderless(evidence))
    yield from _groups(evidence, found, NO_LEADER_KIND, CRITICAL, topics.leaderless_count)


def _short(evidence: ClusterEvidence) -> Iterator[Trouble]:
    """Handles partitions with a leader whose ISR lacks replicas."""
    unclean: list[NamedPartition] = []
    under: list[NamedPartition] = []
    others: list[NamedPartition] = []
    for partition in short_of_replicas(evidence):
        kind = partition_kind(evidence, partition)
        if kind == UNCLEAN_KIND:
            unclean.append(partition)
        elif kind == UNDER_MIN_ISR_KIND:
            under.append(partition)
        elif kind == UNDER_REPLICATED_KIND:
            others.append(partition)
    yield from _groups(evidence, unclean, UNCLEAN_KIND, WARNING, len(unclean))
    yield from _groups(evidence, under, UNDER_MIN_ISR_KIND, WARNING, len(under))
    yield from _groups(evidence, others, UNDER_REPLICATED_KIND, NOTE, len(others))


def _groups(
    evidence: ClusterEvidence, found: list[NamedPartition], kind: str, level: str, count: int
) -> Iterator[Trouble]:
    """Yields a trouble for all partitions with the same causes; `count` is that of all, found or not."""
    groups: dict[tuple[str, ...], list[tuple[NamedPartition, Explanation]]] = {}
    for partition in found[:FOUND_MAX]:
        explanation = explain_named(evidence, partition)
        groups.setdefault(tuple(cause.text for cause in explanation.causes), []).append(
            (partition, explanation)
        )
    ordered = sorted(groups.values(), key=lambda members: -len(members))
    slug = kind.replace(" ", "-")
    for members in ordered[:GROUPS_MAX]:
        partition, explanation = members[0]
        path = page_path("partition", partition)
        yield Trouble(slug, level, _joined(kind, members), path, len(members))
    left = max(count, len(found)) - sum(len(members) for members in ordered[:GROUPS_MAX])
    if left > 0:
        statement = ExplainedCause(f"{counted(left, 'more partition')} {_phrase(kind, left)}")
        step = "see those above first, or search for a topic"
        yield Trouble(slug, level, Explanation(f"more: {kind}", statement, next_step=step), count=left)


def _joined(kind: str, members: list[tuple[NamedPartition, Explanation]]) -> Explanation:
    first = members[0][1]
    if len(members) == 1:
        return first
    names = names_text([str(partition) for partition, _ in members])
    text = f"{counted(len(members), 'partition')} {_phrase(kind, len(members))}: {names}"
    return Explanation(
        f"{kind}: {members[0][0]}",
        ExplainedCause(text, first.statement.since),
        first.causes,
        [f"of {members[0][0]}: {fact}" for fact in first.facts],
        first.next_step,
    )


def _phrase(kind: str, count: int) -> str:
    return PHRASES[kind][count > 1]


def _brokers(evidence: ClusterEvidence) -> Iterator[Trouble]:
    """Yields brokers that are fenced or leave, and those that have lost log directories."""
    cluster = evidence.image.cluster
    stopped = [each.id for each in cluster.brokers.values() if not each.active]
    for broker_id in sorted(stopped)[:BROKERS_MAX]:
        trouble = broker_trouble(evidence, broker_id)
        if trouble is None:
            continue
        explanation = Explanation(
            f"broker {broker_id}",
            trouble.as_cause(f"Broker {broker_id}"),
            trouble.causes,
            list(_consequences(evidence, broker_id)),
            trouble.next_step,
        )
        kind, level = ("fenced", WARNING) if cluster.brokers[broker_id].fenced else ("leaving", NOTE)
        yield Trouble(kind, level, explanation, page_path("broker", broker_id))
    if len(stopped) > BROKERS_MAX:
        left = len(stopped) - BROKERS_MAX
        words = one_or_many(left, "is fenced or leaves", "are fenced or leave")
        statement = ExplainedCause(f"{counted(left, 'more broker')} {words}")
        yield Trouble("fenced", WARNING, Explanation("more brokers", statement), count=left)
    active = [each for each in sorted(cluster.brokers) if cluster.brokers[each].active]
    silent = ((each, does_not_read(evidence, each)) for each in active)
    for broker_id, unread in [(each, cause) for each, cause in silent if cause is not None][:BROKERS_MAX]:
        explanation = unread_explanation(evidence, broker_id, unread)
        yield Trouble("unread log", WARNING, explanation, page_path("broker", broker_id))
    lost = ((each, _lost(evidence, each)) for each in active)
    for broker_id, cause in [(each, cause) for each, cause in lost if cause is not None][:BROKERS_MAX]:
        statement = ExplainedCause(f"Broker {broker_id} serves, but {cause.text}", cause.since)
        step = restoring_step(broker_id)
        explanation = Explanation(f"broker {broker_id}", statement, next_step=step)
        yield Trouble("directories", WARNING, explanation, page_path("broker", broker_id))


def _lost(evidence: ClusterEvidence, broker_id: int) -> ExplainedCause | None:
    registration = evidence.image.cluster.brokers[broker_id]
    return failed_directories(registration, evidence.log.marks.brokers.get(broker_id))


def _consequences(evidence: ClusterEvidence, broker_id: int) -> Iterator[str]:
    """Says what the broker would still have, without a look at partitions."""
    topics = evidence.image.topics
    eligible = sum(topics.elr_counts.get(broker_id, {}).values())
    alone = sum(topics.last_member_counts.get(broker_id, {}).values())
    if eligible:
        yield f"it is in the ELR of {counted(eligible, 'partition')}"
    if alone:
        yield f"it is the last of the ISR of {counted(alone, 'partition')} without a leader"


def _reassignments(evidence: ClusterEvidence) -> Iterator[Trouble]:
    """Yields those that are stuck one by one, and the others as one note."""
    shown: list[Trouble] = []
    running = 0
    for partition in reassigning(evidence):
        explanation = explain_reassignment(evidence, partition.topic, partition.index)
        if _is_stuck(evidence, partition):
            shown.append(
                Trouble("reassignment", WARNING, _stuck(explanation), page_path("partition", partition))
            )
        else:
            running += 1
    yield from shown[:GROUPS_MAX]
    count = evidence.image.topics.reassigning_count
    others = count - min(len(shown), GROUPS_MAX)
    if others > 0:
        noun = "more partition" if shown else "partition"
        are = one_or_many(others, "is", "are")
        statement = ExplainedCause(f"{counted(others, noun)} {are} being reassigned")
        level = WARNING if others > running else NOTE
        yield Trouble("reassignments", level, Explanation("reassignments", statement), count=others)


def _stuck(explanation: Explanation) -> Explanation:
    statement = explanation.statement
    first, _, _ = statement.text.partition(" is being reassigned")
    _, _, what = statement.text.partition(first)
    text = f"The reassignment of {first} is stuck:{what.removeprefix(' is being reassigned,')}"
    return Explanation(
        explanation.subject,
        ExplainedCause(text, statement.since),
        explanation.causes,
        explanation.facts,
        explanation.next_step,
    )


def _is_stuck(evidence: ClusterEvidence, partition: NamedPartition) -> bool:
    state = partition.state
    marks = partition.marks
    if not state.has_leader:
        return True
    missing = [
        each for each in state.replicas if each not in state.isr and each not in state.removing_replicas
    ]
    if any(replica_trouble(evidence, partition, each) is not None for each in missing):
        return True
    since = None if marks is None else marks.reassigning
    return since is not None and evidence.now_ms - since.timestamp_ms > STUCK_MS


def _controllers(evidence: ClusterEvidence, *, is_known: bool) -> Iterator[Trouble]:
    """Yields voters that lag or are silent, and ghosts; while nothing leads, nothing is known of either."""
    if not is_known or evidence.quorum is None:
        return
    for controller_id in sorted({*evidence.voters, *evidence.image.cluster.controllers}):
        explanation = explain_controller(evidence, controller_id)
        is_stalled = evidence.quorum.uncommitted_ms >= STALLED_MS  # A trouble of the quorum already.
        if not explanation.is_healthy and not (is_stalled and controller_id == evidence.quorum.leader_id):
            kind = "ghost" if is_ghost(evidence, controller_id) else "voter"
            yield Trouble(kind, WARNING, explanation, page_path("controller", controller_id))


def _certificates(statuses: Sequence[NodeStatus], now_ms: int) -> Iterator[Trouble]:
    for status in statuses:
        for date in status.certificates:
            days = days_left(date, now_ms)
            if days >= CERTIFICATE_DAYS:
                continue
            who = f"controller {status.node_id}"
            text = f"The certificate of {date.name} of {who} expires in {days:.1f} days"
            if days <= 0:
                text = f"The certificate of {date.name} of {who} has expired"
            level = CRITICAL if days < CERTIFICATE_DAYS_CRITICAL else WARNING
            step = "renew it, and replace the file of the store: the controller reads it again"
            explanation = Explanation(
                f"certificate {date.name} of {who}", ExplainedCause(text), next_step=step
            )
            yield Trouble("certificate", level, explanation, page_path("controller", status.node_id))


def days_left(date: CertificateDate, now_ms: int) -> float:
    """Returns how many days a certificate is valid; negative after its end."""
    return (date.expires_at_ms - now_ms) / DAY_MS


def _statuses(statuses: Sequence[NodeStatus]) -> Iterator[Trouble]:
    """Yields what controllers say of themselves, and those that say nothing."""
    for status in statuses:
        if status.problem:
            statement = ExplainedCause(f"The status at {status.url} is not read")
            step = "check the address of --operate, its token and the certificates to trust"
            causes = [ExplainedCause(status.problem)]
            yield Trouble("status", NOTE, Explanation(f"status {status.url}", statement, causes, [], step))
            continue
        path = page_path("controller", status.node_id)
        if status.waits_ms >= SLOW_DISK_MS:
            text = f"Controller {status.node_id} waits for its disk for {status.waits_ms / 1000:.0f} s"
            step = f"look at the disk of controller {status.node_id}"
            explanation = Explanation(
                f"disk of controller {status.node_id}", ExplainedCause(text), next_step=step
            )
            yield Trouble("disk", WARNING, explanation, path)
        if not status.is_ready:
            statement = ExplainedCause(f"Controller {status.node_id} is not ready")
            causes = [ExplainedCause(reason) for reason in status.reasons]
            explanation = Explanation(f"readiness of controller {status.node_id}", statement, causes)
            yield Trouble("readiness", WARNING, explanation, path)
