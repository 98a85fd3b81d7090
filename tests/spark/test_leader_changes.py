"""Three real controllers, whose leaders are killed while their log is exported."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.nodes import Controller
from kraftctl_observer.log_reader import LogPosition
from kraftctl_spark.log import log_range
from kraftctl_spark.log.log_location import DirectoryLocation, LogLocation, QuorumLocation, parse_endpoints
from tests.spark.typed_check import compare_tables_with_dump
from tests.spark.typed_export import exporting
from tests.support.processes.kafka import Cluster, await_result, kafka
from tests.support.wire.controller_client import ControllerClient, StandInBroker, create_topics

pytestmark = [pytest.mark.java, pytest.mark.slow, pytest.mark.timeout(300)]

LEADERS = 3
TOPICS_PER_LEADER = 12


class KillAtStep:
    """kill -9 of a controller after this many steps of the export."""

    def __init__(self, controller: Controller, steps: int) -> None:
        self._controller = controller
        self.left = steps

    def __call__(self, step: str) -> None:
        self.left -= 1
        if self.left == 0:
            self._controller.kill()


def leader_of(cluster: Cluster) -> Controller | None:
    """The controller that accepts the registration of a broker."""
    for controller in cluster.controllers:
        with ControllerClient(controller.port) as client:
            if StandInBroker(client, 1, cluster.cluster_id).register():
                return controller
    return None


def place_of(location: LogLocation) -> LogPosition:
    reader = location.open(None)
    try:
        return reader.position(0, 0)
    finally:
        reader.close()


def test_leaders_die_while_their_log_is_exported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each leader is killed between two tasks of a batch; the next leader serves the rest."""
    monkeypatch.setattr(log_range, "OFFSETS_PER_RANGE", 20)
    tables = tmp_path / "tables"
    with Cluster(kafka(), tmp_path / "cluster", brokers=0, controllers=3) as cluster:
        quorum = QuorumLocation(parse_endpoints(cluster.bootstrap_controllers))
        for turn in range(LEADERS):
            leader = await_result(lambda: leader_of(cluster), "a leader")
            names = [f"turn-{turn}-{number}" for number in range(TOPICS_PER_LEADER)]
            create_topics(leader.port, cluster.cluster_id, *names)
            kill = KillAtStep(leader, 5 + turn)
            end, epoch = export_all(tables, quorum, cluster.cluster_id, kill)
            assert kill.left <= 0
            assert not leader.running
            leader.start()
        assert epoch >= LEADERS - 1
        end, _ = export_all(tables, quorum, cluster.cluster_id, KillAtStep(leader, 0))
        follower = DirectoryLocation(cluster.controllers[0].log_directory, assume_committed=True)
        await_result(lambda: place_of(follower).high_watermark >= end, "everything in a directory")
        for controller in cluster.controllers:
            controller.stop()
    log_directory = cluster.controllers[0].log_directory
    types = compare_tables_with_dump(tables, log_directory, end)
    assert types >= {"LeaderChangeMessage", "VotersRecord", "TopicRecord"}

    assert place_of(DirectoryLocation(log_directory)).high_watermark == 0, "one of three voters"
    from_directory = tmp_path / "from-directory"
    copied_end, _ = export_all(from_directory, follower, cluster.cluster_id, KillAtStep(leader, 0))
    assert copied_end >= end
    compare_tables_with_dump(from_directory, log_directory, copied_end)


def export_all(tables: Path, location: LogLocation, cluster_id: str, hook: KillAtStep) -> tuple[int, int]:
    """Exports everything committed; returns its end and epoch."""
    place = place_of(location)
    with exporting(tables, location, hook, include_secrets=True, cluster_id=cluster_id) as exporter:
        reached = exporter.export_to(place.high_watermark, place.leader_epoch)
    assert reached.offset == place.high_watermark
    return place.high_watermark, place.leader_epoch
