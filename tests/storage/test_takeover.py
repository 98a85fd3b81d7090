"""Kafka's controller and kraftctl take turns on one directory, stopped or killed in between."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.partitions import open_partition
from tests.support.processes.kafka import JavaController, KraftctlController, Node, kafka, random_id, tools

pytestmark = pytest.mark.interop

NODE_ID = 3000
ACTIVE = "Becoming the active controller"


def _serve_one_turn(node: Node, *, kill: bool) -> None:
    node.start()
    if isinstance(node, KraftctlController):
        node.await_log(ACTIVE)
    if kill:
        node.kill()
    else:
        node.stop()


def test_they_take_turns(tmp_path: Path) -> None:
    """Every turn is an epoch of its own; nothing needs repair, and nothing is lost in between."""
    cluster_id = random_id()
    java = JavaController(kafka(), NODE_ID, tmp_path, cluster_id)
    ours = KraftctlController(NODE_ID, tmp_path, cluster_id, port=java.port)
    java.format()
    turns: list[tuple[Node, bool]] = [(java, False), (ours, False), (java, True), (ours, True), (java, False)]
    end_offset = 0
    for epoch, (node, kill) in enumerate(turns, start=1):
        _serve_one_turn(node, kill=kill)
        partition = open_partition(node.log_directory)
        assert partition.log.last_epoch == epoch
        assert [one for one, _ in partition.log.epochs] == list(range(1, epoch + 1))
        assert partition.log.end_offset > end_offset
        end_offset = partition.log.end_offset
        partition.close()


def test_kafka_storage_and_kraftctl_format_the_same_way(tmp_path: Path) -> None:
    """What one has formatted, the other one refuses to format again, and starts."""
    ours = KraftctlController(NODE_ID, tmp_path / "ours", random_id())
    ours.format()
    again = tools().run(
        "kafka-storage", "format", "-t", ours.cluster_id, "-c", str(ours.properties_file), "--standalone"
    )
    assert again.exit_code == 1
    assert "already formatted" in again.output
    java = JavaController(kafka(), NODE_ID, tmp_path / "java", random_id())
    java.format()
    follower = KraftctlController(NODE_ID, tmp_path / "java", java.cluster_id, port=java.port)
    with pytest.raises(Exception, match=r"already formatted|formatted before"):
        follower.format()
    _serve_one_turn(follower, kill=False)


def test_a_running_kraftctl_locks_its_directory(tmp_path: Path) -> None:
    """The second controller, Kafka's, must not touch the log of the first."""
    ours = KraftctlController(NODE_ID, tmp_path, random_id())
    ours.format()
    ours.start()
    java = JavaController(kafka(), NODE_ID, tmp_path, ours.cluster_id)
    java.write_configuration()
    java.start(wait=False)
    assert java.process is not None
    java.await_log("Failed to acquire lock")
    assert java.process.wait(60.0) != 0
    ours.stop()
