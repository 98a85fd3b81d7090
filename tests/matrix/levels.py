"""Brokers of each release at each of their levels of metadata.version, raised one by one.

At each level a topic is replicated to all of them, and clients produce, in transactions too, and consume;
where the level adds records, brokers start again before that. The level of the next release is refused while
an older broker is registered.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.settings import IN_SYNC_SETTINGS, replication_for
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.metadata_versions import METADATA_VERSIONS
from tests.matrix.releases import NAMES, RELEASES, UPGRADE, latest, levels_of, raise_to, release_of, update
from tests.matrix.results import keep
from tests.matrix.serving import restart, serves
from tests.support.processes.clients import consume
from tests.support.processes.kafka import kafka
from tests.support.wire.controller_client import ControllerClient

pytestmark = [pytest.mark.interop, pytest.mark.timeout(2400)]

PART = "levels"

GROUPS = (("3.9.2", "4.1.2", "4.3.1"), ("4.0.2", "4.2.1", "4.4.0"))
"""Three brokers at a time; together they are all releases."""

FIRST = METADATA_VERSIONS[0].level

WITH_A_RESTART = {row.level for row in METADATA_VERSIONS if row.changes_metadata} | {
    latest(release) for release in RELEASES
}
"""Levels at which brokers register with other records than before, and the latest of each release."""


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_each_level(group: tuple[str, ...], tmp_path: Path) -> None:
    """A release that does not run the next level leaves, and is unregistered."""
    settings = {**replication_for(3), **dict.fromkeys(IN_SYNC_SETTINGS, "1")}
    cluster = Cluster(
        kafka(group[0]),
        tmp_path,
        brokers=len(group),
        dynamic=False,
        release_version=NAMES[FIRST],
        controller_settings=settings,
        broker_settings=settings,
        broker_kafkas=[kafka(release) for release in group],
    )
    served = dict.fromkeys(group, 0)
    port = cluster.controller.port
    with cluster:
        serves(cluster, f"at-{FIRST}")
        for release in group:
            served[release] += 1
        for level in levels_of(group[-1])[1:]:
            for broker in list(cluster.brokers):
                release = broker.kafka.version
                if level > latest(release):
                    refusal = update(port, level, UPGRADE)
                    assert f"Broker {broker.node_id} only supports versions" in (refusal or ""), refusal
                    broker.stop()
                    unregister(port, broker.node_id)
                    cluster.brokers.remove(broker)
            raise_to(port, level)
            if level in WITH_A_RESTART:
                restart(cluster)
            serves(cluster, f"at-{level}")
            for broker in cluster.brokers:
                served[broker.kafka.version] += 1
            print(f"{group}: {level}")
        cluster.controller.kill()
        cluster.controller.start()
        last = f"at-{latest(group[-1])}"
        assert len(consume(cluster.bootstrap_servers, last, 200)) == 200
    for release in group:
        levels = levels_of(release)
        assert served[release] == len(levels)
        text = f"{levels[0]} to {levels[-1]}, {NAMES[levels[0]]} to {NAMES[levels[-1]]}"
        keep(PART, release, text, f"{served[release]} of {len(levels)}")


@pytest.mark.parametrize("release", RELEASES)
def test_its_own_level_from_the_start(release: str, tmp_path: Path) -> None:
    """A dynamic quorum that is formatted with the release of the broker."""
    settings = replication_for(1)
    with Cluster(
        kafka(release),
        tmp_path,
        brokers=1,
        release_version=release_of(latest(release)),
        controller_settings=settings,
        broker_settings=settings,
    ) as cluster:
        serves(cluster, "own")
        restart(cluster)
        assert len(consume(cluster.bootstrap_servers, "own", 200)) == 200
    keep(f"{PART}-own", release, f"{latest(release)}, {NAMES[latest(release)]}")


def unregister(port: int, broker_id: int) -> None:
    with ControllerClient(port) as client:
        response = client.call(UnregisterBrokerRequest(broker_id=broker_id), 0, UnregisterBrokerResponse)
    assert response.error_code == Errors.NONE, response
