"""Says which log directories a broker has lost (KIP-858): those that failed, and those that replicas name."""

from __future__ import annotations

from kraftctl.explain.evidence import ClusterEvidence
from kraftctl.explain.explanation import ExplainedCause
from kraftctl.explain.record_marks import BrokerMarks
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl_protocol.counted_text import counted, one_or_many


def lost_directories(evidence: ClusterEvidence, broker_id: int) -> ExplainedCause | None:
    """Returns what a registered broker has lost; None if nothing is known to be lost.

    A broker that was restarted has registered without the directory that failed: its replicas still name it.
    """
    failed = failed_directories(
        evidence.image.cluster.brokers[broker_id], evidence.log.marks.brokers.get(broker_id)
    )
    if failed is not None:
        return failed
    text = offline_replicas_text(evidence, broker_id)
    return ExplainedCause(text) if text else None


def restoring_step(broker_id: int) -> str:
    """Returns what brings the replicas of a lost directory back without making an empty one a leader."""
    return (
        "bring that directory back with its files (mount it, or copy them to a new disk), then restart"
        f" broker {broker_id}. On an empty disk its replicas are empty: one that is alone in its ISR or ELR"
        " is elected nevertheless, AND LOSES ALL RECORDS"
    )


def failed_directories(registration: BrokerRegistration, marks: BrokerMarks | None) -> ExplainedCause | None:
    """Returns how many directories have failed since the broker registered."""
    if marks is None or marks.directories_count <= len(registration.directories):
        return None
    lost = marks.directories_count - len(registration.directories)
    text = f"{lost} of its {counted(marks.directories_count, 'log directory')} failed"
    return ExplainedCause(text, marks.lost_directories)


def offline_replicas_text(evidence: ClusterEvidence, broker_id: int) -> str:
    """Returns how many replicas are in directories that the broker has not; it looks at all partitions."""
    registration = evidence.image.cluster.brokers.get(broker_id)
    if registration is None:
        return ""
    count = 0
    for topic in evidence.image.topics.topics.values():
        for partition in topic.partitions.values():
            directory = partition.directory(broker_id)
            count += directory is not None and not registration.has_online_directory(directory)
    if not count:
        return ""
    are = one_or_many(count, "is", "are")
    return f"{count:,} of its replicas {are} in log directories that it does not have"
