"""The picture of a cluster: all that the page shows and /picture.json has, each list with a limit."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any, Final

from kraftctl.console.event_stream import EventStream, StreamedEvent
from kraftctl.console.node_status import NodeStatus
from kraftctl.console.quorum_reading import LogReading, QuorumReading
from kraftctl.console.short_text import shortened
from kraftctl.console.troubles import (
    CERTIFICATE_DAYS,
    CERTIFICATE_DAYS_CRITICAL,
    CRITICAL,
    NOTE,
    WARNING,
    Trouble,
    days_left,
    troubles_of,
)
from kraftctl.explain.commit_watch import STALLED_MS
from kraftctl.explain.evidence import ClusterEvidence, ReplicaFetch
from kraftctl.explain.explanation import ExplainedCause, UnknownSubjectError, explanation_json
from kraftctl.explain.mark import age_text, since_text, time_text
from kraftctl.explain.replayed_log import left_out_text
from kraftctl.explain.voter_lag import lags
from kraftctl.explain.why_broker import BrokerTrouble, broker_trouble
from kraftctl.explain.why_controller import is_ghost
from kraftctl.explain.why_feature import explain_feature
from kraftctl.explain.why_quorum import explain_no_leader
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.config_definitions.min_insync_replicas import MIN_INSYNC_REPLICAS
from kraftctl_protocol.counted_text import counted, one_or_many

TROUBLES_MAX: Final = 40
BROKERS_MAX: Final = 100
CONTROLLERS_MAX: Final = 50
EVENTS_MAX: Final = 60
FEATURES_MAX: Final = 20
TYPES_MAX: Final = 20

Picture = dict[str, Any]


def picture_of(
    evidence: ClusterEvidence, reading: QuorumReading, log: LogReading, events: EventStream
) -> Picture:
    """Returns all of it, as JSON has it. Ages are those at `now_ms`."""
    now_ms = evidence.now_ms
    troubles = troubles_of(evidence, no_leader=reading.no_leader, statuses=reading.statuses)
    controllers = list(_controllers(evidence, reading))
    brokers = _brokers(evidence)
    topics = evidence.image.topics
    return {
        "now_ms": now_ms,
        "time": time_text(now_ms, now_ms),
        "log": _log(log, evidence.log.end_offset),
        "problems": [
            each
            for each in (log.problem, reading.problem, left_out_text(evidence.log.unknown_records, TYPES_MAX))
            if each
        ],
        "unknown_records": {
            str(each): count for each, count in sorted(evidence.log.unknown_records.items())[:TYPES_MAX]
        },
        "badges": list(_badges(evidence, reading, controllers)),
        "counts": {
            "topics": len(topics.topics),
            "partitions": topics.partition_count,
            "brokers": len(evidence.image.cluster.brokers),
            "not_on_preferred_leader": topics.imbalanced_count,
        },
        "troubles": [_trouble(each, now_ms, evidence.log.end_offset) for each in troubles[:TROUBLES_MAX]],
        "troubles_left_out": max(0, len(troubles) - TROUBLES_MAX),
        "quorum": _quorum(evidence, reading, controllers),
        "brokers": brokers,
        "brokers_left_out": len(evidence.image.cluster.brokers) - len(brokers),
        "upgrade": list(_features(evidence)),
        "events": [event_json(each, now_ms) for each in events.newest(EVENTS_MAX)],
    }


def _log(log: LogReading, end_offset: int) -> Picture:
    return {
        "end_offset": end_offset,
        "records_count": log.records_count,
        "behind": log.behind,
        "is_reading_snapshot": log.is_reading_snapshot,
    }


def empty_picture(log: LogReading, reading: QuorumReading, now_ms: int) -> Picture:
    """Returns what is shown until the snapshot is read: without a leader, that there is none."""
    found = None if reading.no_leader is None else explained(explain_no_leader(reading.no_leader), now_ms, 0)
    return {
        "no_leader": found,
        "now_ms": now_ms,
        "time": time_text(now_ms, now_ms),
        "log": _log(log, 0),
        "problems": [each for each in (log.problem, reading.problem) if each],
    }


def explained(explanation: Any, now_ms: int, end_offset: int) -> Picture:
    """Returns an explanation as `kraftctl explain` has it, with the texts that it prints."""
    found = explanation_json(explanation, now_ms, end_offset)
    found["text"] = explanation.statement.text + since_text(
        explanation.statement.since, now_ms, with_age=True
    )
    found["because"] = [_cause_text(cause, now_ms) for cause in explanation.causes]
    return found


def _cause_text(cause: ExplainedCause, now_ms: int) -> str:
    return cause.text + since_text(cause.since, now_ms, with_age=False)


def _trouble(trouble: Trouble, now_ms: int, end_offset: int) -> Picture:
    found = explained(trouble.explanation, now_ms, end_offset)
    return {
        **found,
        "kind": trouble.kind,
        "level": trouble.level,
        "key": trouble.key,
        "path": trouble.path,
        "count": trouble.count,
    }


def event_json(event: StreamedEvent, now_ms: int) -> Picture:
    """Returns an event with its time."""
    return {
        "text": shortened(event.text),
        "tone": event.words.tone,
        "path": event.words.path,
        "offset": event.first.offset,
        "at_ms": event.first.timestamp_ms,
        "time": time_text(event.first.timestamp_ms, now_ms),
        "count": event.count,
    }


def _badges(
    evidence: ClusterEvidence, reading: QuorumReading, controllers: list[Picture]
) -> Iterator[Picture]:
    topics, cluster = evidence.image.topics, evidence.image.cluster
    inherited, _ = evidence.topic_config("", MIN_INSYNC_REPLICAS)
    assert isinstance(inherited, int)
    voters = [each for each in controllers if each["is_voter"]]
    well = sum(each["level"] == "" for each in voters)
    if reading.no_leader is not None:
        is_known = explain_no_leader(reading.no_leader).is_known
        yield _badge("quorum", "no leader", CRITICAL) if is_known else _badge("quorum", "not known", WARNING)
    elif reading.view is not None and reading.view.uncommitted_ms >= STALLED_MS:
        yield _badge("quorum", "commits nothing", CRITICAL)
    elif voters and reading.view is not None:
        yield _badge("voters in sync", f"{well} of {len(voters)}", WARNING if well < len(voters) else "")
    yield _counted("leaderless", topics.leaderless_count, CRITICAL)
    yield _counted("under min ISR", topics.short_isrs.under_min_isr_count(inherited), WARNING)
    fenced = sum(each.fenced for each in cluster.brokers.values())
    yield _badge("brokers fenced", f"{fenced} of {len(cluster.brokers)}", WARNING if fenced else "")
    yield _counted("reassigning", topics.reassigning_count, NOTE)
    ghosts = sum(each["role"] == "ghost" for each in controllers)
    yield _counted(one_or_many(ghosts, "ghost", "ghosts"), ghosts, WARNING)
    days = [days_left(date, evidence.now_ms) for status in reading.statuses for date in status.certificates]
    if days:
        least = min(days)
        level = WARNING if least < CERTIFICATE_DAYS else ""
        yield _badge(
            "certificate days", f"{least:.0f}", CRITICAL if least < CERTIFICATE_DAYS_CRITICAL else level
        )


def _counted(name: str, count: int, level: str) -> Picture:
    return _badge(name, f"{count:,}", level if count else "")


def _badge(name: str, value: str, level: str) -> Picture:
    return {"name": name, "value": value, "level": level}


def _quorum(evidence: ClusterEvidence, reading: QuorumReading, controllers: list[Picture]) -> Picture:
    view = reading.view
    mixed = _mixed(controllers)
    return {
        "leader_id": None if view is None else view.leader_id,
        "epoch": evidence.log.leader_epoch if view is None else view.leader_epoch,
        "high_watermark": None if view is None else view.high_watermark,
        "kind": "dynamic" if evidence.log.has_dynamic_voters else "static",
        "controllers": controllers[:CONTROLLERS_MAX],
        "left_out": max(0, len(controllers) - CONTROLLERS_MAX),
        "is_mixed": bool(mixed),
        "mixed": mixed,
    }


def _mixed(controllers: list[Picture]) -> str:
    """Says that the voters are of several releases, as far as registrations and statuses have it."""
    for field, form in (("supports", "metadata.version up to {}"), ("version", "{}")):
        kinds: dict[str, list[str]] = {}
        for each in controllers:
            if each["is_voter"] and each[field]:
                kinds.setdefault(form.format(each[field]), []).append(str(each["id"]))
        if len(kinds) > 1:
            return "; ".join(f"{', '.join(ids)}: {name}" for name, ids in kinds.items())
    return ""


def _controllers(evidence: ClusterEvidence, reading: QuorumReading) -> Iterator[Picture]:
    cluster = evidence.image.cluster
    statuses = {each.node_id: each for each in reading.statuses if not each.problem}
    voters = evidence.voters
    brokers = cluster.brokers.keys()
    observers = (
        [] if reading.view is None else [each for each in reading.view.replicas if each not in brokers]
    )
    for controller_id in sorted({*voters, *cluster.controllers, *observers}):
        if controller_id < 0:
            continue
        fetch = evidence.fetch_of(controller_id)
        status = statuses.get(controller_id)
        role = _role(evidence, controller_id)
        is_leader = role == "leader"
        lag_ms = 0 if is_leader else None if fetch is None else fetch.caught_up_age_ms
        lag_records = _lag_records(reading, fetch, is_leader=is_leader)
        yield {
            "id": controller_id,
            "role": role,
            "is_voter": controller_id in voters,
            "level": _controller_level(evidence, role, fetch),
            "lag_records": lag_records,
            "lag_ms": lag_ms,
            "lag": _lag_text(lag_records, lag_ms),
            "fetch": ""
            if fetch is None or fetch.fetch_age_ms is None
            else f"{age_text(fetch.fetch_age_ms)} ago",
            "address": _controller_address(evidence, reading, controller_id),
            "supports": _supports(evidence, controller_id),
            **_of_status(status, evidence.now_ms),
        }


def _role(evidence: ClusterEvidence, controller_id: int) -> str:
    quorum = evidence.quorum
    if quorum is not None and controller_id == quorum.leader_id:
        return "leader"
    if controller_id in evidence.voters:
        return "voter"
    if quorum is None:
        return "registered"
    return "ghost" if is_ghost(evidence, controller_id) else "observer"


def _controller_level(evidence: ClusterEvidence, role: str, fetch: ReplicaFetch | None) -> str:
    if role == "ghost":
        return WARNING
    if role == "voter" and evidence.quorum is not None and (fetch is None or lags(fetch)):
        return WARNING
    return ""


def _lag_records(reading: QuorumReading, fetch: ReplicaFetch | None, *, is_leader: bool) -> int | None:
    if is_leader:
        return 0
    if fetch is None or reading.view is None or fetch.log_end_offset < 0:
        return None
    return max(0, reading.view.high_watermark - fetch.log_end_offset)


def _lag_text(records: int | None, lag_ms: int | None) -> str:
    parts = [] if records is None else [counted(records, "record")]
    return ", ".join([*parts, *([] if lag_ms is None else [age_text(lag_ms)])])


def _controller_address(evidence: ClusterEvidence, reading: QuorumReading, controller_id: int) -> str:
    if controller_id in reading.addresses:
        return reading.addresses[controller_id]
    registration = evidence.image.cluster.controllers.get(controller_id)
    if registration is None:
        return ""
    return next((f"{each.host}:{each.port}" for each in registration.listeners.values()), "")


def _supports(evidence: ClusterEvidence, controller_id: int) -> str:
    registration = evidence.image.cluster.controllers.get(controller_id)
    levels = None if registration is None else registration.supported_features.get(features.METADATA_VERSION)
    return "" if levels is None else features.metadata_version_name(levels.max)


def _of_status(status: NodeStatus | None, now_ms: int) -> Picture:
    if status is None:
        return {
            "version": "",
            "is_ready": None,
            "free_bytes": None,
            "flush_p99_ms": None,
            "certificate_days": None,
        }
    days = [days_left(date, now_ms) for date in status.certificates]
    return {
        "version": f"kraftctl {status.version}",
        "is_ready": status.is_ready,
        "free_bytes": status.free_bytes,
        "flush_p99_ms": status.flush_p99_ms,
        "certificate_days": round(min(days), 1) if days else None,
    }


def _brokers(evidence: ClusterEvidence) -> list[Picture]:
    """Returns the first brokers, those that serve nothing before the others."""
    brokers = sorted(evidence.image.cluster.brokers.values(), key=lambda each: (each.active, each.id))
    return [_broker(evidence, each) for each in islice(brokers, BROKERS_MAX)]


def _broker(evidence: ClusterEvidence, registration: BrokerRegistration) -> Picture:
    broker_id, topics = registration.id, evidence.image.topics
    trouble = broker_trouble(evidence, broker_id)
    fetch, contact = evidence.fetch_of(broker_id), evidence.contacts.get(broker_id)
    heartbeat_ms = None if contact is None else contact.heartbeat_age_ms
    state = "fenced" if registration.fenced else "active" if registration.active else "leaving"
    why = "" if trouble is None else _why(trouble, evidence.now_ms)
    in_isr = sum(
        sum(members.get(broker_id, {}).values()) for members in (topics.isr_counts, topics.last_member_counts)
    )
    return {
        "id": broker_id,
        "state": state,
        "level": "" if registration.active else WARNING if registration.fenced else NOTE,
        "why": why,
        "leads": topics.leader_counts.get(broker_id, 0),
        "in_isr": in_isr,
        "heartbeat": "" if heartbeat_ms is None else f"{age_text(heartbeat_ms)} ago",
        "fetch": "" if fetch is None or fetch.fetch_age_ms is None else f"{age_text(fetch.fetch_age_ms)} ago",
        "address": shortened(
            next((f"{each.host}:{each.port}" for each in registration.listeners.values()), "")
        ),
        "rack": shortened(registration.rack or ""),
    }


def _why(trouble: BrokerTrouble, now_ms: int) -> str:
    """Returns since when, and the causes; what is wrong only where it says more than the state."""
    _, colon, detail = trouble.what.partition(": ")
    parts = [detail] if colon else []
    parts += [_cause_text(cause, now_ms) for cause in trouble.causes]
    since = since_text(trouble.since, now_ms, with_age=True).strip()
    return ": ".join(filter(None, (since, "; ".join(parts))))


def _features(evidence: ClusterEvidence) -> Iterator[Picture]:
    """Yields whether each feature can be raised, metadata.version first."""
    cluster = evidence.image.cluster
    names = {name for broker in cluster.brokers.values() for name in broker.supported_features}
    names |= {name for controller in cluster.controllers.values() for name in controller.supported_features}
    names |= {features.METADATA_VERSION}
    for name in islice(
        sorted(names, key=lambda each: (each != features.METADATA_VERSION, each)), FEATURES_MAX
    ):
        try:
            explanation = explain_feature(evidence, name)
        except UnknownSubjectError:
            continue
        found = explained(explanation, evidence.now_ms, evidence.log.end_offset)
        yield {
            **found,
            "name": name,
            "is_blocked": not explanation.is_healthy,
            "can_rise": bool(explanation.offer),
        }
