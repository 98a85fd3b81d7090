"""The log lines about records, as a running controller writes them."""

from __future__ import annotations

import re

import pytest

from kraftctl.controller.results.record_notices import PARTITIONS_NAMED_MAX, TOPICS_PER_LINE, record_notices
from kraftctl_protocol.generated.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.active_controller import ActiveController


@pytest.fixture
def active() -> ActiveController:
    controller = ActiveController()
    controller.start_brokers(1, 2, 3)
    controller.create_topic("orders", 3, 3)
    controller.controller.take_notices()
    return controller


def matching_lines(active: ActiveController, pattern: str) -> list[str]:
    """The new lines that match."""
    return [line for line in active.controller.take_notices() if re.search(pattern, line)]


def test_registration_and_unfencing(active: ActiveController) -> None:
    active.register(4)
    active.heartbeat(4)
    lines = matching_lines(active, "roker 4")
    assert re.fullmatch(r"Registering broker 4: incarnation \S{22}, broker epoch \d+, fenced=true", lines[0])
    assert re.fullmatch(r"Unfencing broker 4 at epoch \d+", lines[1])


def test_a_new_incarnation_has_a_line_of_its_own(active: ActiveController) -> None:
    active.pass_time(10_000)
    active.controller.take_notices()
    active.register(1, number=1)
    assert len(matching_lines(active, "Registering another incarnation of broker 1")) == 1


def test_fencing_says_why_and_what_it_moved(active: ActiveController) -> None:
    active.pass_time(5_000)
    active.heartbeat(2)
    active.heartbeat(3)
    active.pass_time(4_500)
    lines = active.controller.take_notices()
    assert any(re.fullmatch(r"The session of broker 1 at epoch \d+ has timed out", line) for line in lines)
    assert any(re.fullmatch(r"Fencing broker 1 at epoch \d+", line) for line in lines)
    elections = [
        line for line in lines if re.match(r"Partition orders-\d: leader 1 -> [23] \(leader epoch 1\)", line)
    ]
    assert len(elections) == 1


def test_controlled_shutdown(active: ActiveController) -> None:
    active.heartbeat(1, shut_down=True)
    assert len(matching_lines(active, r"Beginning the controlled shutdown of broker 1 at epoch \d+")) == 1


def test_a_growing_or_shrinking_isr_is_routine(active: ActiveController) -> None:
    topic = active.controller.image.topics.topic_by_name("orders")
    assert topic is not None
    leader = topic.partitions[0].leader
    brokers = active.controller.image.cluster.brokers
    shrunk = PartitionData(
        partition_index=0,
        new_isr_with_epochs=[BrokerState(broker_id=leader, broker_epoch=brokers[leader].epoch)],
    )
    active.request(
        AlterPartitionRequest(
            broker_id=leader,
            broker_epoch=brokers[leader].epoch,
            topics=[TopicData(topic_id=topic.topic_id, partitions=[shrunk])],
        )
    )
    assert len(topic.partitions[0].isr) == 1
    assert matching_lines(active, "Partition orders-0") == []


def test_many_partitions_are_counted_not_listed(active: ActiveController) -> None:
    active.create_topic("many", 300, 3)
    assert matching_lines(active, "Creating 300 partition") != []
    active.heartbeat(1, shut_down=True)
    lines = active.controller.take_notices()
    assert sum(line.startswith("Partition ") for line in lines) <= PARTITIONS_NAMED_MAX
    assert any(re.match(r"Changing \d+ partition\(s\), of which 20 are named above", line) for line in lines)


def test_every_new_topic_is_named_some_in_a_line(active: ActiveController) -> None:
    """A line takes as long to write as a topic of one partition takes to create."""
    names = [f"topic-{number}" for number in range(2 * TOPICS_PER_LINE + 1)]
    records = [RecordAndVersion(TopicRecord(name=name, topic_id=bytes(16)), 0) for name in names]
    lines = record_notices(active.controller.image, records)
    assert len(lines) == 3
    assert all(line.startswith("Creating topics topic-") for line in lines[:2])
    assert lines[2] == "Creating topic topic-40 with topic ID AAAAAAAAAAAAAAAAAAAAAA"
    assert re.findall(r"(topic-\d+) with topic ID A{22}", " ".join(lines)) == names
