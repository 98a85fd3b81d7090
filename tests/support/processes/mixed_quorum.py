"""kraftctl and Apache Kafka's own controllers in one quorum: who leads, and who has caught up."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION
from kraftctl.dev.nodes import Controller, kraftctl_command
from kraftctl.dev.polling import await_result
from tests.support.processes.cluster import metadata_records
from tests.support.processes.kafka import kafka
from tests.support.processes.quorum import describe, leads

KRAFTCTL = "kraftctl"
JAVA = DEFAULT_KAFKA_VERSION
"""A kind of controller is KRAFTCTL, or the release of Kafka's own."""

LEADER_SECONDS_MAX = 60.0
TURNS_MAX = 8
STATUS_SECONDS_MAX = 60.0


def mixed_cluster(
    directory: Path,
    kinds: Sequence[str],
    *,
    brokers: int = 0,
    dynamic: bool = True,
    release_version: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Cluster:
    """Controllers of these kinds; `settings` are those of all nodes."""
    return Cluster(
        kafka(),
        directory,
        brokers=brokers,
        controllers=len(kinds),
        controller_kafkas=[None if kind == KRAFTCTL else kafka(kind) for kind in kinds],
        dynamic=dynamic,
        release_version=release_version,
        controller_settings=settings,
        broker_settings=settings,
    )


def leader_of(controllers: Sequence[Controller]) -> Controller | None:
    """The one that says so; None while there is no leader."""
    return next((each for each in controllers if each.running and leads(each)), None)


def await_leader(controllers: Sequence[Controller]) -> Controller:
    return await_result(partial(leader_of, controllers), "a controller leads", LEADER_SECONDS_MAX)


def make_lead(cluster: Cluster, kind: type[Controller]) -> Controller:
    """Restarts leaders until one of that kind leads, and returns it.

    Of voters with equal logs the one with the lowest id succeeds, so it should be the only one of its kind.
    """
    for _ in range(TURNS_MAX):
        leader = await_leader(cluster.controllers)
        if isinstance(leader, kind):
            return leader
        leader.stop()
        await_leader(cluster.controllers)
        leader.start()
    raise AssertionError(f"no {kind.NAME_PREFIX} has led")


def have_caught_up(controllers: Sequence[Controller]) -> bool:
    """Whether all of them are voters and have what their leader has committed."""
    leader = leader_of(controllers)
    described = None if leader is None else describe(leader)
    if described is None or described.high_watermark < 0:
        return False
    ends = {voter.replica_id: voter.log_end_offset for voter in described.current_voters}
    return all(ends.get(each.node_id, -1) >= described.high_watermark for each in controllers)


def knows_topics(controller: Controller, names: set[str]) -> bool:
    """The topics in its own log, as Kafka reads it."""
    records = metadata_records(controller.metadata_directory)
    return names <= {entry.data["name"] for entry in records if entry.type == "TOPIC_RECORD"}


def quorum_description(addresses: str, what: str) -> str:
    """What `kraftctl quorum describe --status` or `--replication` prints; empty while there is no leader."""
    command = kraftctl_command("quorum", "--bootstrap-controller", addresses, "describe", f"--{what}")
    return subprocess.run(command, capture_output=True, text=True, timeout=STATUS_SECONDS_MAX).stdout


def voters_line(addresses: str) -> str:
    """CurrentVoters of `--status`, with directory ids and addresses."""
    lines = quorum_description(addresses, "status").splitlines()
    return next((line for line in lines if line.startswith("CurrentVoters")), "")
