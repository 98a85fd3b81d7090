"""Explains a broker: why it is not registered, fenced, leaving or without directories, or that it serves."""

from __future__ import annotations

from dataclasses import dataclass, field

from kraftctl.explain.evidence import RECENT_MS, ClusterEvidence
from kraftctl.explain.explanation import HEALTHY, ExplainedCause, Explanation, UnknownSubjectError
from kraftctl.explain.mark import Mark
from kraftctl.explain.record_marks import BrokerMarks
from kraftctl.metadata.broker_registration import BrokerRegistration


@dataclass(frozen=True)
class BrokerTrouble:
    """Why a broker cannot lead or join an ISR. `what` follows its name: `is fenced`."""

    broker_id: int
    what: str
    since: Mark | None
    causes: list[ExplainedCause] = field(default_factory=list)
    next_step: str = ""

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
    lost = _lost_directories(cluster.brokers[broker_id], marks.brokers.get(broker_id))
    if lost is not None:
        return Explanation(
            subject,
            ExplainedCause(f"{name} serves, but {lost.text}", lost.since),
            facts=facts,
            next_step=f"replace the disk of that directory, then restart broker {broker_id}",
        )
    known_marks = marks.brokers.get(broker_id)
    since = None if known_marks is None else known_marks.unfenced
    statement = ExplainedCause(f"{HEALTHY}: broker {broker_id} is unfenced", since)
    return Explanation(subject, statement, facts=facts, is_healthy=True)


def _unregistered(evidence: ClusterEvidence, broker_id: int) -> BrokerTrouble:
    since = evidence.log.marks.unregistered_brokers.get(broker_id)
    return BrokerTrouble(
        broker_id,
        "is not registered" if since is None else "is unregistered",
        since,
        next_step=f"start broker {broker_id}, which registers it, or reassign its replicas to other brokers",
    )


def _fenced(
    evidence: ClusterEvidence, registration: BrokerRegistration, marks: BrokerMarks | None
) -> BrokerTrouble:
    broker_id = registration.id
    start = f"start broker {broker_id}"
    contact = evidence.contact_text(broker_id)
    if marks is None or marks.fenced is None:
        causes = [ExplainedCause(contact)] if contact else []
        return BrokerTrouble(broker_id, "is fenced", None, causes, start)
    if marks.unfenced is None and not marks.fenced.is_latest_possible:
        return _never_unfenced(evidence, registration, marks)
    if registration.in_controlled_shutdown:
        causes = [ExplainedCause("it was stopped in order, by a controlled shutdown", marks.leaves)]
        return BrokerTrouble(broker_id, "is fenced", marks.fenced, causes, start)
    fetch = evidence.fetch_of(broker_id)
    is_running = fetch is not None and fetch.fetch_age_ms is not None and fetch.fetch_age_ms <= RECENT_MS
    if is_running:
        causes = [
            ExplainedCause("it fetches the metadata log, but none of its heartbeats is accepted"),
            *([ExplainedCause(contact)] if contact else []),
        ]
        step = (
            f"see the log of broker {broker_id} for BrokerHeartbeat: it may not reach the active controller"
        )
        return BrokerTrouble(broker_id, "is fenced", marks.fenced, causes, step)
    lost = _lost_directories(registration, marks)
    causes = [] if lost is None else [lost]
    if not contact or not _has_expired(marks):
        causes.append(ExplainedCause(_why_fenced(marks)))
    if contact:
        causes.append(ExplainedCause(contact))
    return BrokerTrouble(broker_id, "is fenced", marks.fenced, causes, start)


def _has_expired(marks: BrokerMarks) -> bool:
    """Returns whether it led partitions when it was fenced: one that stops in order leads none by then."""
    fenced, lost = marks.fenced, marks.lost_leadership
    return fenced is not None and lost is not None and lost.timestamp_ms == fenced.timestamp_ms


def _why_fenced(marks: BrokerMarks) -> str:
    if marks.fenced is not None and marks.fenced.is_latest_possible:
        return "it was fenced before the snapshot that was read, which does not say why"
    if _has_expired(marks):
        return "its session expired: no heartbeat came within broker.session.timeout.ms"
    return "its session expired, or it was stopped while it led no partition: the log has the same for both"


def _never_unfenced(
    evidence: ClusterEvidence, registration: BrokerRegistration, marks: BrokerMarks
) -> BrokerTrouble:
    """Handles a broker that is starting, or did not finish its start."""
    broker_id = registration.id
    target = evidence.image.cluster.registration_offsets.get(broker_id, registration.epoch)
    contact, fetch = evidence.contacts.get(broker_id), evidence.fetch_of(broker_id)
    read = contact.metadata_offset if contact is not None else None
    if read is None and fetch is not None and fetch.log_end_offset >= 0:
        read = fetch.log_end_offset - 1
    silent = fetch is not None and fetch.fetch_age_ms is not None and fetch.fetch_age_ms > RECENT_MS
    causes: list[ExplainedCause] = []
    step = f"see the log of broker {broker_id}: it starts, and is unfenced when it is ready"
    if silent or (evidence.quorum is not None and fetch is None):
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
    return BrokerTrouble(
        broker_id, "is fenced: it was not unfenced since it registered", marks.fenced, causes, step
    )


def _leaving(
    evidence: ClusterEvidence, registration: BrokerRegistration, marks: BrokerMarks | None
) -> BrokerTrouble:
    broker_id = registration.id
    since = None if marks is None else marks.leaves
    led = evidence.image.topics.leader_counts.get(broker_id, 0)
    if led:
        causes = [ExplainedCause(f"it leads {_counted(led, 'partition')} that no other replica takes over")]
        step = f"see kraftctl explain reassignment, and the replicas of what broker {broker_id} leads"
        return BrokerTrouble(broker_id, "is in controlled shutdown", since, causes, step)
    target = None if marks is None else marks.lost_leadership or marks.leaves
    causes = []
    step = f"see the log of broker {broker_id} for its controlled shutdown"
    if target is not None:
        behind = _behind(evidence, broker_id, target.offset)
        who = f": {behind}" if behind else ""
        text = (
            f"all active brokers have to read up to offset {target.offset}, where it lost its last leadership"
        )
        causes = [ExplainedCause(f"{text}{who}")]
        step = "wait; a broker that does not read on delays it, and its log says why"
    return BrokerTrouble(broker_id, "is in controlled shutdown", since, causes, step)


def _behind(evidence: ClusterEvidence, leaving_id: int, offset: int) -> str:
    """Names the active brokers that have not read `offset`, as far as a status says so."""
    named: list[str] = []
    for broker_id, contact in sorted(evidence.contacts.items()):
        read = contact.metadata_offset
        is_active = evidence.image.cluster.active(broker_id)
        if broker_id != leaving_id and is_active and read is not None and read < offset:
            named.append(f"broker {broker_id} is at {read}")
    return ", ".join(named)


def _lost_directories(registration: BrokerRegistration, marks: BrokerMarks | None) -> ExplainedCause | None:
    if marks is None or marks.directories_count <= len(registration.directories):
        return None
    lost = marks.directories_count - len(registration.directories)
    text = f"{lost} of its {marks.directories_count} log directories failed"
    return ExplainedCause(text, marks.lost_directories)


def _facts(evidence: ClusterEvidence, broker_id: int) -> list[str]:
    topics, registration = evidence.image.topics, evidence.image.cluster.brokers.get(broker_id)
    led = topics.leader_counts.get(broker_id, 0)
    in_isr = sum(topics.isr_counts.get(broker_id, {}).values())
    alone = sum(topics.last_member_counts.get(broker_id, {}).values())
    facts = [f"it leads {_counted(led, 'partition')} and is in {_counted(in_isr + alone, 'ISR')}"]
    if alone:
        facts.append(f"it is the last member of the ISR of {_counted(alone, 'partition')} without a leader")
    eligible = sum(topics.elr_counts.get(broker_id, {}).values())
    if eligible:
        facts.append(f"it is in {_counted(eligible, 'ELR')}")
    if registration is not None and registration.cordoned_directories:
        facts.append(f"{len(registration.cordoned_directories)} of its log directories are cordoned")
    contact = evidence.contact_text(broker_id)
    if contact and registration is not None and registration.active:
        facts.append(contact)
    return facts


def _counted(count: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count} {noun if count == 1 else plural}"
