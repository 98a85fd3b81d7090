"""A static quorum becomes a dynamic one: kafka-features raises kraft.version, and a node adds itself."""

from __future__ import annotations

import re
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import (
    JavaController,
    KraftctlController,
    kraftctl_command,
    quorum_properties,
    run_to_the_end,
)
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import replication_for
from tests.support.processes.clients import create_topic
from tests.support.processes.cluster import await_live
from tests.support.processes.mixed_quorum import JAVA, KRAFTCTL, make_lead, mixed_cluster, voters_line

pytestmark = pytest.mark.interop

UPGRADED_SECONDS_MAX = 60.0
JOINED_SECONDS_MAX = 60.0
FINALIZED = re.compile(r"Feature: kraft\.version\s.*FinalizedVersionLevel: (\S+)")


def upgrade(cluster: Cluster, *flags: str) -> str:
    """What kafka-features prints."""
    return (
        cluster.tools()
        .run(
            "kafka-features",
            "--bootstrap-server",
            cluster.bootstrap_servers,
            "upgrade",
            "--feature",
            "kraft.version=1",
            *flags,
        )
        .output
    )


def finalized_level(cluster: Cluster) -> str | None:
    described = cluster.tools().run(
        "kafka-features", "--bootstrap-server", cluster.bootstrap_servers, "describe"
    )
    found = FINALIZED.search(described.output)
    return None if found is None else found.group(1)


def has_upgraded(cluster: Cluster) -> bool:
    """The voters send the leader their directory ids a few seconds after they have found it."""
    text = upgrade(cluster)
    assert "was upgraded to 1" in text or "Could not upgrade kraft.version" in text, text
    return "was upgraded to 1" in text


def voters_with_directories(cluster: Cluster) -> set[int]:
    line = voters_line(cluster.bootstrap_controllers)
    return {int(voter) for voter in re.findall(r'"id": (\d+), "directoryId": "[^"]+"', line)}


@pytest.mark.parametrize(
    ("java_controllers", "java_leads"),
    [
        pytest.param(0, False, id="kraftctl", marks=pytest.mark.long),
        pytest.param(2, False, id="kraftctl-before-java"),
        pytest.param(2, True, id="java-before-kraftctl", marks=pytest.mark.long),
    ],
)
def test_kafka_features_upgrades_a_static_quorum(
    tmp_path: Path, java_controllers: int, java_leads: bool
) -> None:
    """Afterwards any controller leads, and a new node makes itself a voter."""
    kinds = [KRAFTCTL] * (3 - java_controllers) + [JAVA] * java_controllers
    with mixed_cluster(tmp_path, kinds, brokers=1, dynamic=False, settings=replication_for(1)) as cluster:
        make_lead(cluster, JavaController if java_leads else KraftctlController)
        assert finalized_level(cluster) == "0"
        await_result(partial(has_upgraded, cluster), "kraft.version is 1", UPGRADED_SECONDS_MAX)
        assert finalized_level(cluster) == "1"
        assert voters_with_directories(cluster) == {node.node_id for node in cluster.controllers}
        create_topic(cluster.bootstrap_servers, "after-the-upgrade", partitions=3, replicas=1)

        for node in cluster.controllers:
            node.stop()
            node.start()
        await_live(cluster, {1})
        assert finalized_level(cluster) == "1"

        joins = new_controller(cluster)
        joins.write_configuration()
        flags = ["-t", cluster.cluster_id, "-c", str(joins.properties_file), "--no-initial-controllers"]
        run_to_the_end(kraftctl_command("format", *flags), "formatting the new controller")
        joins.start()
        try:
            wanted = {joins.node_id, *(node.node_id for node in cluster.controllers)}
            await_result(
                lambda: voters_with_directories(cluster) == wanted, "the node votes", JOINED_SECONDS_MAX
            )
            create_topic(cluster.bootstrap_servers, "after-the-join", partitions=3, replicas=1)
        finally:
            joins.stop()


def new_controller(cluster: Cluster) -> KraftctlController:
    """A fourth one, with auto-join."""
    node_id = max(cluster.controller_ports) + 1
    properties = {
        **quorum_properties(cluster.controller_ports, dynamic=True),
        "controller.quorum.auto.join.enable": "true",
    }
    return KraftctlController(
        node_id, cluster.directory / f"controller-{node_id}", cluster.cluster_id, properties=properties
    )
