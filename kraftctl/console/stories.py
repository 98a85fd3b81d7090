"""The story of one subject: its explanation, its state, and the events that are about it."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from typing import Any, Final

from kraftctl.console.event_stream import EventStream, StreamedEvent
from kraftctl.console.page_paths import page_path
from kraftctl.console.picture import event_json, explained
from kraftctl.explain.evidence import ClusterEvidence, NoLeaderView
from kraftctl.explain.explanation import ExplainedCause, Explanation, UnknownSubjectError
from kraftctl.explain.why_broker import (
    broker_trouble,
    does_not_read,
    explain_broker,
    unread_explanation,
)
from kraftctl.explain.why_controller import explain_controller
from kraftctl.explain.why_partition import (
    NamedPartition,
    explain_partition,
    partition_kind,
    split_partition_name,
)
from kraftctl.explain.why_quorum import explain_no_leader, explain_quorum
from kraftctl.explain.why_reassignment import explain_reassignment
from kraftctl.explain.why_topic import explain_topic
from kraftctl.image.topics_image import TopicImage
from kraftctl_protocol.counted_text import counted

PARTITIONS_MAX: Final = 200
"""A page of a topic has this many rows."""

EXPLAINED_MAX: Final = 2_000
"""A topic with more partitions is shown without its explanation, which looks at all of them."""

LOOKED_AT_MAX: Final = 100_000
"""In a cluster with more partitions, those of a broker are not looked at one by one."""

EVENTS_MAX: Final = 50

KINDS: Final = ("partition", "topic", "broker", "controller", "quorum")

Story = dict[str, Any]


def story_of(
    evidence: ClusterEvidence, events: EventStream, no_leader: NoLeaderView | None, kind: str, name: str
) -> Story:
    """Returns the story. Raises UnknownSubjectError when there is no such subject.

    While there is no leader, the log alone says nothing true of the quorum and of controllers.
    """
    if kind == "partition":
        return _partition_story(evidence, events, name)
    if kind == "topic":
        return _topic_story(evidence, events, name)
    if kind == "quorum":
        found = explain_quorum(evidence) if no_leader is None else explain_no_leader(no_leader)
        return _story(evidence, events, "quorum", [found])
    if not name.isdecimal() or len(name) > 9:
        raise UnknownSubjectError(f"{name} is no id of a {kind}")
    if kind == "broker":
        return _story(
            evidence, events, f"broker {name}", [_broker(evidence, int(name))], page_path("broker", name)
        )
    explanation = explain_controller(evidence, int(name))  # it refuses one that nothing knows
    if no_leader is not None:
        explanation = explain_no_leader(no_leader)
    return _story(evidence, events, f"controller {name}", [explanation], page_path("controller", name))


def _story(
    evidence: ClusterEvidence,
    events: EventStream,
    title: str,
    explanations: list[Explanation],
    path: str = "",
) -> Story:
    now_ms, end_offset = evidence.now_ms, evidence.log.end_offset
    about = (each for each in reversed(events.events) if path and _is_about(each, path, title))
    return {
        "title": title,
        "explanations": [explained(each, now_ms, end_offset) for each in explanations],
        "events": [event_json(each, now_ms) for each in islice(about, EVENTS_MAX)],
        "rows": [],
        "rows_left_out": 0,
    }


def _is_about(event: StreamedEvent, path: str, title: str) -> bool:
    """Returns whether an event is about one subject; one of many partitions names only the first of them."""
    return event.words.path == path or any(title == f"partition {name}" for name in event.names)


def _partition_story(evidence: ClusterEvidence, events: EventStream, name: str) -> Story:
    try:
        topic, index = split_partition_name(name)
    except ValueError as error:
        raise UnknownSubjectError(str(error)) from error
    explanations = [explain_partition(evidence, topic, index)]
    found = evidence.image.topics.topic_by_name(topic)
    assert found is not None
    if found.partitions[index].reassigning:
        explanations.append(explain_reassignment(evidence, topic, index))
    story = _story(evidence, events, f"partition {name}", explanations, page_path("partition", name))
    story["rows"] = [_row(evidence, found, index)]
    return story


def _topic_story(evidence: ClusterEvidence, events: EventStream, name: str) -> Story:
    topic = evidence.image.topics.topic_by_name(name)
    if topic is None or len(topic.partitions) <= EXPLAINED_MAX:
        explanations = [explain_topic(evidence, name)]
    else:
        statement = ExplainedCause(
            f"Topic {name} has {counted(len(topic.partitions), 'partition')}, too many for this page"
        )
        step = f"kraftctl explain topic {name}"
        explanations = [Explanation(f"topic {name}", statement, next_step=step)]
    story = _story(evidence, events, f"topic {name}", explanations, page_path("topic", name))
    if topic is not None:
        story["rows"] = [_row(evidence, topic, index) for index in islice(topic.partitions, PARTITIONS_MAX)]
        story["rows_left_out"] = max(0, len(topic.partitions) - PARTITIONS_MAX)
    return story


def _row(evidence: ClusterEvidence, topic: TopicImage, index: int) -> Story:
    state = topic.partitions[index]
    partition = NamedPartition(topic.name, index, state, evidence.log.marks.partition(topic.topic_id, index))
    return {
        "name": str(partition),
        "leader": int(state.leader),
        "isr": list(state.isr),
        "replicas": list(state.replicas),
        "elr": list(state.elr),
        "adding": list(state.adding_replicas),
        "removing": list(state.removing_replicas),
        "leader_epoch": int(state.leader_epoch),
        "wrong": partition_kind(evidence, partition) or "",
    }


def _broker(evidence: ClusterEvidence, broker_id: int) -> Explanation:
    """Returns the explanation of a broker, which looks at all partitions unless there are too many."""
    registration = evidence.image.cluster.brokers.get(broker_id)
    count = evidence.image.topics.partition_count
    if registration is None or count <= LOOKED_AT_MAX:
        return explain_broker(evidence, broker_id)
    trouble = broker_trouble(evidence, broker_id)
    led = evidence.image.topics.leader_counts.get(broker_id, 0)
    facts = [
        f"it leads {counted(led, 'partition')}",
        f"of {count:,}, those in failed directories are not looked for here",
    ]
    step = f"kraftctl explain broker {broker_id}"
    unread = None if trouble is not None else does_not_read(evidence, broker_id)
    if unread is not None:
        return replace(unread_explanation(evidence, broker_id, unread), facts=facts)
    if trouble is None:
        statement = ExplainedCause(f"Broker {broker_id} is unfenced")
        return Explanation(f"broker {broker_id}", statement, facts=facts, next_step=step, is_healthy=True)
    name = f"Broker {broker_id}"
    return Explanation(
        f"broker {broker_id}", trouble.as_cause(name), trouble.causes, facts, trouble.next_step
    )
