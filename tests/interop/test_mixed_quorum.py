"""kraftctl and Apache Kafka's own controllers in one quorum: snapshots cross, a directory is replaced."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import (
    Controller,
    JavaController,
    KraftctlController,
    kraftctl_command,
    run_to_the_end,
)
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import replication_for
from kraftctl.dev.tools import ToolFailedError
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.uuids import uuid_to_string
from tests.support.processes.clients import create_topic
from tests.support.processes.kafka import dump_log
from tests.support.processes.mixed_quorum import (
    JAVA,
    KRAFTCTL,
    await_leader,
    have_caught_up,
    knows_topics,
    make_lead,
    mixed_cluster,
    quorum_description,
    voters_line,
)
from tests.support.processes.quorum import topics_known_to
from tests.support.wire.controller_client import create_topics

pytestmark = pytest.mark.interop

KAFKA_4_4 = "4.4.0"

FOLLOWS_SECONDS_MAX = 20.0

SNAPSHOTS_ARE_FREQUENT = {
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "metadata.max.retention.bytes": "100",
}

SEGMENTS_ARE_SMALL = {"internal.metadata.log.segment.bytes": "2000"}
"""They are removed as a whole. For kraftctl alone: Kafka's controller ends on a batch that is longer than a
segment, and removes segments once a minute.
"""


def latest_snapshot(controller: Controller) -> str | None:
    """As Kafka's tool shows it; None if it was deleted meanwhile, since there is a later one."""
    file = max(controller.metadata_directory.glob("*.checkpoint"))
    try:
        return dump_log(file)
    except ToolFailedError:
        if file.exists():
            raise
        return None


def has_snapshot(controller: Controller) -> bool:
    """Other than the one that formatting writes."""
    names = {path.name for path in controller.metadata_directory.glob("*.checkpoint")}
    return any(not name.startswith(f"{0:020d}-") for name in names)


def lacks_the_beginning(controller: Controller) -> bool:
    """Whether only its snapshot has the first records."""
    return has_snapshot(controller) and not (controller.metadata_directory / f"{0:020d}.log").exists()


def has_topics(controller: Controller, names: set[str]) -> bool:
    """In its newest snapshot and its log."""
    return topics_known_to(controller) == names


@pytest.mark.parametrize(
    "dynamic", [pytest.param(False, id="static", marks=pytest.mark.long), pytest.param(True, id="dynamic")]
)
@pytest.mark.parametrize("java", [JAVA, pytest.param(KAFKA_4_4, marks=pytest.mark.long)])
@pytest.mark.parametrize(
    "kraftctl_leads",
    [pytest.param(True, id="from-kraftctl", marks=pytest.mark.long), pytest.param(False, id="from-java")],
)
def test_a_lost_log_is_filled_from_the_others_snapshot(
    tmp_path: Path, kraftctl_leads: bool, dynamic: bool, java: str
) -> None:
    """KIP-630: each kind downloads the other's snapshot. kraftctl does not vote before that; Java's does.

    In a dynamic quorum the snapshot has the voters, and the victim knows none of them before. All are at the
    latest metadata.version of Kafka's release.
    """
    cluster = mixed_cluster(
        tmp_path,
        [KRAFTCTL, java, java],
        dynamic=dynamic,
        release_version=java.rpartition(".")[0],
        settings=SNAPSHOTS_ARE_FREQUENT,
    )
    ours, other, _ = cluster.controllers
    ours.properties |= SEGMENTS_ARE_SMALL
    with cluster:
        victim = other if kraftctl_leads else ours
        leader = make_lead(cluster, KraftctlController if kraftctl_leads else JavaController)

        victim.kill()
        shutil.rmtree(victim.metadata_directory)
        names = {f"topic-{number}" for number in range(10)}
        create_topics(leader.port, cluster.cluster_id, *names)
        await_result(
            partial(lacks_the_beginning if leader is ours else has_snapshot, leader),
            f"{leader.name} has a snapshot, and kraftctl has trimmed its log",
        )
        victim.start()
        if victim is ours:
            victim.await_log("This replica is recovering and does not vote")
            victim.await_log("this replica votes again")
        create_topics(await_leader(cluster.controllers).port, cluster.cluster_id, "last")
        await_result(partial(have_caught_up, cluster.controllers), "all follow", FOLLOWS_SECONDS_MAX)
        assert lacks_the_beginning(victim)
        if dynamic:
            voters = await_result(partial(latest_snapshot, victim), f"{victim.name} keeps a snapshot")
            assert [each.name for each in cluster.controllers if directory_id(each) not in voters] == []
        await_result(partial(has_topics, victim, {*names, "last"}), f"{victim.name} has all topics")


def test_a_controller_of_kafka_4_4_votes_and_leads(tmp_path: Path) -> None:
    """Its directory is formatted by its own tool, with the voters beside the bootstrap records (KIP-1170)."""
    kinds = [KAFKA_4_4, KRAFTCTL, KRAFTCTL]
    with mixed_cluster(tmp_path, kinds, release_version="4.3") as cluster:
        for kind in (JavaController, KraftctlController):
            leader = make_lead(cluster, kind)
            create_topics(leader.port, cluster.cluster_id, f"by-{kind.NAME_PREFIX}")
        await_result(partial(have_caught_up, cluster.controllers), "all follow", FOLLOWS_SECONDS_MAX)
        created = {f"by-{kind.NAME_PREFIX}" for kind in (JavaController, KraftctlController)}
        for controller in cluster.controllers:
            await_result(partial(has_topics, controller, created), f"{controller.name} has both topics")
            rows = quorum_description(controller.address, "replication").splitlines()[1:]
            voters = {tuple(row.split()[:2]) for row in rows if row.split()[-1] in ("Leader", "Follower")}
            assert voters == {(str(each.node_id), directory_id(each)) for each in cluster.controllers}


@pytest.mark.prevents("lost-log-votes")
@pytest.mark.long
def test_a_lost_directory_is_replaced_with_kafkas_own_tool(tmp_path: Path) -> None:
    """The steps of docs/operations/lost-disk.md, literally: the node returns with a new directory id."""
    settings = replication_for(1)
    with mixed_cluster(tmp_path, [KRAFTCTL, JAVA, JAVA], brokers=1, settings=settings) as cluster:
        ours, other, _ = cluster.controllers
        create_topic(cluster.bootstrap_servers, "before", partitions=1, replicas=1)
        await_result(partial(knows_topics, ours, {"before"}), f"{ours.name} has the topic")
        old_id = directory_id(ours)
        ours.kill()
        shutil.rmtree(ours.log_directory)
        # Kafka's admin client does not look for another leader once it was sent to a dead one.
        await_leader(cluster.controllers)
        quorum = ["kafka-metadata-quorum", "--bootstrap-controller", other.address]
        old_voter = ["--controller-id", str(ours.node_id), "--controller-directory-id", old_id]
        cluster.tools().output(*quorum, "remove-controller", *old_voter)

        file = str(ours.properties_file)
        run_to_the_end(
            kraftctl_command("format", "-t", cluster.cluster_id, "-c", file, "--no-initial-controllers"),
            "formatting",
        )
        new_id = directory_id(ours)
        assert new_id != old_id
        ours.start()
        await_result(partial(knows_topics, ours, {"before"}), f"{ours.name} has the topic")
        add = ["kafka-metadata-quorum", "--command-config", file, "--bootstrap-controller", other.address]
        cluster.tools().output(*add, "add-controller")

        voters = voters_line(other.address)
        assert new_id in voters
        assert old_id not in voters


def directory_id(controller: Controller) -> str:
    """In the format of Kafka's tools."""
    meta = read_meta_properties(controller.log_directory)
    assert meta is not None
    assert meta.directory_id is not None
    return uuid_to_string(meta.directory_id)
