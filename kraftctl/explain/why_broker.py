"""Explains a broker: why it is not registered, fenced, leaving or without directories, or that it serves."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from kraftctl.explain.evidence import RECENT_MS, SILENT_MS, ClusterEvidence, LeaderView
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation, UnknownSubjectError
from kraftctl.explain.lost_directories import (
    failed_directories,
    lost_directories,
    offline_replicas_text,
    restoring_step,
)
from kraftctl.explain.mark import Mark
from kraftctl.explain.record_marks import BrokerMarks
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl_protocol.counted_text import counted, one_or_many


@dataclass(frozen=True)
class BrokerTrouble:
    """Why a broker cannot lead or join an ISR. `what` follows its name: `is fenced`."""

    broker_id: int
    what: str
    since: Mark | None
    causes: list[ExplainedCause] = field(default_factory=list)
    next_step: str = ""
    start: str = ""
    """How to start it, if that is what a partition needs."""

    is_lost: bool = False
    """Whether it has lost the log directory of the replica, whether it runs or not."""

    def as_cause(self, name: str) -> ExplainedCause:
        """Returns the statement about it under a name, such as `its only replica, broker 3,`."""
        return ExplainedCause(f"{name} {self.what}", self.since)


def broker_trouble(evidence: ClusterEvidence, broker_id: int) -> BrokerTrouble | None:
    """Returns why a broker serves nothing; None if it is active."""
    registration = evidence.image.cluster.brokers.get(broker_id)
    marks = evidence.log.marks.brokers.get(broker_id)
    if registration is None:
        return _unregistered(evidence, broker_id)
    if registration.fenced:
        return _fenced(evidence, registration, marks)
    if registration.in_controlled_shutdown:
        return _leaving(evidence, registration, marks)
    return None


def explain_broker(evidence: ClusterEvidence, broker_id: int) -> Explanation:
    """Explains a broker. Raises UnknownSubjectError for one that was never registered."""
    marks = evidence.log.marks
    subject, name = f"broker {broker_id}", f"Broker {broker_id}"
    cluster = evidence.image.cluster
    if broker_id not in cluster.brokers and broker_id not in marks.unregistered_brokers:
        known = ", ".join(str(each) for each in sorted(cluster.brokers)) or "none"
        raise UnknownSubjectError(
            f"broker {broker_id} is not registered, and the log has no earlier registration of it: registered"
            f" brokers are {known}. Next step: see the log of the broker; its node.id may be another one, or"
            " it reaches no controller"
        )
    trouble = broker_trouble(evidence, broker_id)
    facts = _facts(evidence, broker_id)
    if trouble is not None:
        statement = trouble.as_cause(name)
        return Explanation(subject, statement, trouble.causes, facts, trouble.next_step)
    lost = lost_directories(evidence, broker_id)
    unread = does_not_read(evidence, broker_id)
    if unread is not None:
        others = [] if lost is None else [lost.text]
        others += [fact for fact in facts if fact != unread.text]
        return replace(unread_explanation(evidence, broker_id, unread), facts=list(dict.fromkeys(others)))
    if lost is not None:
        return Explanation(
            subject,
            ExplainedCause(f"{name} serves, but {lost.text}", lost.since),
            facts=[fact for fact in facts if fact != lost.text],
            next_step=restoring_step(broker_id),
        )
    known_marks = marks.brokers.get(broker_id)
    since = None if known_marks is None else known_marks.unfenced
    statement = ExplainedCause(f"{HEALTHY}: broker {broker_id} is unfenced", since)
    return Explanation(subject, statement, facts=facts, is_healthy=True)


def does_not_read(evidence: ClusterEvidence, broker_id: int) -> ExplainedCause | None:
    """Returns that an active broker has fetched nothing of the metadata log for long; None if it has, or if
    that is not known.

    Heartbeats go another way, so such a broker stays unfenced while what it knows becomes old.
    """
    quorum, log, fetch = evidence.quorum, evidence.log, evidence.fetch_of(broker_id)
    if quorum is None:
        return None
    if fetch is not None:
        is_silent = fetch.fetch_age_ms is not None and fetch.fetch_age_ms > SILENT_MS
    else:
        # A broker finds a new leader, and a new broker its first one, within seconds. A leader forgets one
        # that has not fetched for five minutes.
        marks, led_ms = log.marks.brokers.get(broker_id), _led_ms(log, quorum)
        unfenced = None if marks is None else marks.unfenced
        unfenced_ms = log.snapshot_ms if unfenced is None else unfenced.timestamp_ms
        is_silent = led_ms is not None and evidence.now_ms - max(led_ms, unfenced_ms) > SILENT_MS
    return ExplainedCause(evidence.contact_text(broker_id)) if is_silent else None


def _led_ms(log: ReplayedLog, quorum: LeaderView) -> int | None:
    """Returns a time at which the leader led in its epoch, the earliest that the log has; None if it has none
    yet. No snapshot names a leader, but it has the epoch of its newest record.
    """
    if log.leader_epoch == quorum.leader_epoch:
        return 0 if log.leader_mark is None else log.leader_mark.timestamp_ms
    is_in_snapshot = log.snapshot is not None and log.snapshot.epoch == quorum.leader_epoch
    return log.snapshot_ms if is_in_snapshot else None


def unread_explanation(evidence: ClusterEvidence, broker_id: int, cause: ExplainedCause) -> Explanation:
    """Returns the explanation of an active broker that `does_not_read`."""
    assert evidence.quorum is not None
    step = (
        f"see the log of broker {broker_id} for its fetches from controller {evidence.quorum.leader_id}; if"
        " it has ended, start it"
    )
    text = f"Broker {broker_id} is unfenced, but does not read the metadata log: what it knows is old"
    return Explanation(f"broker {broker_id}", ExplainedCause(text), [cause], next_step=step)


def _unregistered(evidence: ClusterEvidence, broker_id: int) -> BrokerTrouble:
    since = evidence.log.marks.unregistered_brokers.get(broker_id)
    return BrokerTrouble(
        broker_id,
        "is not registered" if since is None else "is unregistered",
        since,
        next_step=f"start broker {broker_id}, which registers it, or reassign its replicas to other brokers",
        start=f"start broker {broker_id}, which registers it",
    )


def _fenced(
    evidence: ClusterEvidence, registration: BrokerRegistration, marks: BrokerMarks | None
) -> BrokerTrouble:
    broker_id = registration.id
    start = f"start broker {broker_id}"
    contact = evidence.contact_text(broker_id)
    if marks is None or marks.fenced is None:
        causes = [ExplainedCause(contact)] if contact else []
        return BrokerTrouble(broker_id, "is fenced", None, causes, start, start)
    if marks.unfenced is None and not marks.fenced.is_latest_possible:
        return _never_unfenced(evidence, registration, marks)
    if registration.in_controlled_shutdown:
        text = (
            "it was in its controlled shutdown: it stopped in order, or was killed before the end; the log"
            " has the same for both"
        )
        causes = [ExplainedCause(text, marks.leaves)]
        return BrokerTrouble(broker_id, "is fenced", marks.fenced, causes, start, start)
    if evidence.is_heard(broker_id):
        causes, step = _progress(evidence, registration, marks)
        what = "is fenced: its heartbeats arrive, and it is not unfenced yet"
        return BrokerTrouble(broker_id, what, marks.fenced, causes, step)
    fetch = evidence.fetch_of(broker_id)
    if fetch is not None and fetch.fetch_age_ms is not None and fetch.fetch_age_ms <= RECENT_MS:
        return _fenced_but_fetching(evidence, broker_id, marks)
    lost = failed_directories(registration, marks)
    causes = [] if lost is None else [lost]
    if broker_id not in evidence.contacts or not _has_expired(marks):
        causes.append(ExplainedCause(_why_fenced(marks)))
    if contact:
        causes.append(ExplainedCause(contact))
    return BrokerTrouble(broker_id, "is fenced", marks.fenced, causes, start, start)


def _fenced_but_fetching(evidence: ClusterEvidence, broker_id: int, marks: BrokerMarks) -> BrokerTrouble:
    step = f"see the log of broker {broker_id} for BrokerHeartbeat: it may not reach the active controller"
    text = "it fetches the metadata log, but none of its heartbeats is accepted"
    if marks.unfenced is None and broker_id not in evidence.contacts:
        # A snapshot has whether it is fenced, and not whether it was unfenced before that.
        text = (
            "it fetches the metadata log: it is starting (not unfenced since it registered), or its"
            " heartbeats do not arrive"
        )
        step = f"see the log of broker {broker_id} for its start, and for BrokerHeartbeat"
    contact = evidence.contact_text(broker_id)
    causes = [ExplainedCause(text), *([ExplainedCause(contact)] if contact else [])]
    return BrokerTrouble(broker_id, "is fenced", marks.fenced, causes, step)


def _has_expired(marks: BrokerMarks) -> bool:
    """Returns whether it seems to have led partitions when it was fenced, by the times of the batches alone.

    A broker that stops in order leads none by then; two batches may have the same time.
    """
    fenced, lost = marks.fenced, marks.lost_leadership
    return fenced is not None and lost is not None and lost.timestamp_ms == fenced.timestamp_ms


def _why_fenced(marks: BrokerMarks) -> str:
    if marks.fenced is not None and marks.fenced.is_latest_possible:
        return "it was fenced before the snapshot that was read, which does not say why"
    if _has_expired(marks):
        return (
            "its session seems to have expired (broker.session.timeout.ms): it lost leaderships at the time"
            " of its fencing"
        )
    return "its session expired, or it was stopped while it led no partition: the log has the same for both"


def _never_unfenced(
    evidence: ClusterEvidence, registration: BrokerRegistration, marks: BrokerMarks
) -> BrokerTrouble:
    """Handles a broker that is starting, or did not finish its start."""
    causes, step = _progress(evidence, registration, marks)
    what = "is fenced: not unfenced yet, registered"
    return BrokerTrouble(registration.id, what, marks.fenced, causes, step)


def _progress(
    evidence: ClusterEvidence, registration: BrokerRegistration, marks: BrokerMarks
) -> tuple[list[ExplainedCause], str]:
    """Returns how far the start of a broker has come, as far as its fetches and heartbeats say so."""
    broker_id = registration.id
    target = registration.epoch
    if not marks.registered.is_latest_possible:
        target = evidence.image.cluster.registration_offsets.get(broker_id, target)
    contact, fetch = evidence.contacts.get(broker_id), evidence.fetch_of(broker_id)
    read = contact.metadata_offset if contact is not None else None
    if read is None and fetch is not None and fetch.log_end_offset >= 0:
        read = fetch.log_end_offset - 1
    if evidence.quorum is not None:
        silent = fetch is None or (fetch.fetch_age_ms is not None and fetch.fetch_age_ms > RECENT_MS)
    else:
        # Without a session it may have registered in this moment.
        is_unheard = contact is not None and contact.heartbeat_age_ms is None
        silent = is_unheard and evidence.now_ms - marks.registered.timestamp_ms > SILENT_MS
    silent = silent and not evidence.is_heard(broker_id)
    causes: list[ExplainedCause] = []
    step = f"see the log of broker {broker_id}: it starts, and is unfenced when it is ready"
    if silent:
        causes = [ExplainedCause(evidence.contact_text(broker_id))]
        step = f"start broker {broker_id}; its log says why it ended"
    elif read is not None and read < target:
        text = f"it has read the metadata log up to offset {read}, and has to read its registration, {target}"
        causes = [ExplainedCause(text)]
        step = f"wait; if the offset stays, see the log of broker {broker_id}"
    elif read is not None:
        text = f"it has read the metadata log up to offset {read}, and does not ask to be unfenced yet"
        causes = [ExplainedCause(text)]
        step = f"see the log of broker {broker_id}: log recovery, or a listener that does not start"
    return causes, step


def _leaving(
    evidence: ClusterEvidence, registration: BrokerRegistration, marks: BrokerMarks | None
) -> BrokerTrouble:
    broker_id = registration.id
    since = None if marks is None else marks.leaves
    start = f"start broker {broker_id} when it has stopped"
    led = evidence.image.topics.leader_counts.get(broker_id, 0)
    if led:
        text = f"the active controller is still moving its leaderships: it leads {counted(led, 'partition')}"
        causes = [ExplainedCause(text)]
        step = "wait; if it lasts, see the log of the active controller"
        return BrokerTrouble(broker_id, "is in controlled shutdown", since, causes, step, start)
    target = None if marks is None else marks.left
    causes = []
    step = f"see the log of broker {broker_id} for its controlled shutdown"
    if target is not None and target.is_latest_possible:
        text = "all active brokers have to read its last change, whose offset is not known: a snapshot has it"
        causes = [ExplainedCause(text)]
        step = "wait; a broker that does not read on delays it, and its log says why"
    elif target is not None:
        behind = _behind(evidence, broker_id, target.offset)
        who = f": {behind}" if behind else ""
        text = f"all active brokers have to read up to offset {target.offset}, the last change as it leaves"
        causes = [ExplainedCause(f"{text}{who}")]
        step = "wait; a broker that does not read on delays it, and its log says why"
    return BrokerTrouble(broker_id, "is in controlled shutdown", since, causes, step, start)


def _behind(evidence: ClusterEvidence, leaving_id: int, offset: int) -> str:
    """Names the active brokers that have not read `offset`, as far as a status says so."""
    named: list[str] = []
    for broker_id, contact in sorted(evidence.contacts.items()):
        read = contact.metadata_offset
        is_active = evidence.image.cluster.active(broker_id)
        if broker_id != leaving_id and is_active and read is not None and read < offset:
            named.append(f"broker {broker_id} is at {read}")
    if evidence.left_out_contacts:
        count = evidence.left_out_contacts
        they_have = one_or_many(count, "it has", "they have")
        named.append(f"of {counted(count, 'broker')} the status does not say how far {they_have} read")
    return ", ".join(named)


def _leaderless_count(evidence: ClusterEvidence, broker_id: int) -> int:
    """Returns how many partitions without leader have the broker in their ISR, or in the ELR without one."""
    topics = evidence.image.topics
    counts = (topics.isr_counts, topics.last_member_counts, topics.elr_counts)
    return sum(
        not partition.has_leader and broker_id in (partition.isr or partition.elr)
        for topic_id in {each for by_broker in counts for each in by_broker.get(broker_id, {})}
        for partition in topics.topics[topic_id].partitions.values()
    )


def _facts(evidence: ClusterEvidence, broker_id: int) -> list[str]:
    topics, registration = evidence.image.topics, evidence.image.cluster.brokers.get(broker_id)
    led = topics.leader_counts.get(broker_id, 0)
    in_isr = sum(topics.isr_counts.get(broker_id, {}).values())
    alone = sum(topics.last_member_counts.get(broker_id, {}).values())
    facts = [f"it leads {counted(led, 'partition')} and is in {counted(in_isr + alone, 'ISR')}"]
    leaderless = _leaderless_count(evidence, broker_id)
    if leaderless:
        facts.append(f"it may lead {counted(leaderless, 'partition')} without a leader when it is active")
    eligible = sum(topics.elr_counts.get(broker_id, {}).values())
    if eligible:
        facts.append(f"it is in {counted(eligible, 'ELR')}")
    if registration is not None and registration.cordoned_directories:
        cordoned = len(registration.cordoned_directories)
        facts.append(f"{cordoned} of its log directories {one_or_many(cordoned, 'is', 'are')} cordoned")
    offline = offline_replicas_text(evidence, broker_id)
    if offline:
        facts.append(offline)
    contact = evidence.contact_text(broker_id)
    if contact and registration is not None and registration.active:
        facts.append(contact)
    left_out = evidence.left_out_text(broker_id)
    if left_out and registration is not None:
        facts.append(left_out)
    return facts
