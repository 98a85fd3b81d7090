"""Three brokers go from 3.9 to 4.4, one by one, and metadata.version level by level, under load; and back.

Kafka allows a lower level where no level in between changes metadata: it is lowered there, a broker returns
to the release before, and the upgrade continues. Elsewhere the downgrade is refused. Clients notice neither.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.nodes import JavaBroker
from tests.matrix.releases import (
    NAMES,
    RELEASES,
    SAFE_DOWNGRADE,
    UPGRADE,
    latest,
    may_be_lowered,
    raise_to,
    release_of,
    update,
)
from tests.matrix.results import keep
from tests.matrix.serving import await_in_sync, serves
from tests.support.processes.kafka import kafka, tools
from tests.support.processes.steady_clients import PRODUCED, SteadyClients

pytestmark = [pytest.mark.interop, pytest.mark.timeout(2400)]

PART = "rolling_upgrade"

CLIENTS_PAUSE_S = 0.5
"""Between two topics: brokers start with thousands of partitions otherwise."""

PROGRESS_SECONDS_MAX = 90.0
"""A request that was lost with its broker is made again after 30 s at most."""


def test_from_3_9_to_4_4_and_back_where_kafka_allows(tmp_path: Path) -> None:
    old = RELEASES[0]
    with (
        Cluster(kafka(old), tmp_path, release_version=release_of(latest(old))) as cluster,
        SteadyClients(
            cluster.bootstrap_servers, pause_s=CLIENTS_PAUSE_S, replicas=2, brokers_end=True
        ) as clients,
    ):
        clients.await_progress(PROGRESS_SECONDS_MAX)
        level = latest(old)
        for release in RELEASES[1:]:
            step = Step(cluster, clients, old, release, level)
            step.upgrade()
            old, level = release, latest(release)
        clients.check()
        assert len(clients.produced) > 0
        keep(f"{PART}-load", str(len(clients.produced)), str(len(clients.configured)))


class Step:
    """From one release to the next."""

    def __init__(self, cluster: Cluster, clients: SteadyClients, old: str, release: str, level: int) -> None:
        self.cluster = cluster
        self.clients = clients
        self.old = old
        self.release = release
        self.level = level

    def upgrade(self) -> None:
        for broker in self.cluster.brokers:
            self.replace(broker, self.release)
        lowered = [self.raise_and_lower(level) for level in range(self.level + 1, latest(self.release) + 1)]
        whole = self.back_to_the_release_before()
        self.finish()
        serves(self.cluster, f"with-{self.release}")
        keep(
            PART,
            f"{self.old} to {self.release}",
            ", ".join(NAMES[level] for level in range(self.level + 1, latest(self.release) + 1)),
            ", ".join(NAMES[level] for level in lowered if level) or "none",
            "yes" if whole else "refused",
        )
        print(f"{self.old} to {self.release}: {len(self.clients.produced)} records")

    def raise_and_lower(self, level: int) -> int:
        """Returns the level if Kafka allows to lower it by one, which is done and undone; else 0."""
        port = self.cluster.controller.port
        raise_to(port, level)
        self.clients.await_progress(PROGRESS_SECONDS_MAX)
        refusal = update(port, level - 1, SAFE_DOWNGRADE)
        allowed = may_be_lowered(level, level - 1)
        assert (refusal is None) == allowed, refusal
        if allowed:
            self.clients.await_progress(PROGRESS_SECONDS_MAX)
            raise_to(port, level)
        return level if allowed else 0

    def back_to_the_release_before(self) -> bool:
        """From its latest level to that of the release before, where a broker of that one serves again."""
        port, top = self.cluster.controller.port, latest(self.release)
        refusal = update(port, self.level, SAFE_DOWNGRADE)
        allowed = may_be_lowered(top, self.level)
        assert (refusal is None) == allowed, refusal
        if not allowed:
            assert (refusal or "").startswith("INVALID_UPDATE_VERSION"), refusal
            return False
        broker = self.cluster.brokers[0]
        self.replace(broker, self.old)
        too_high = update(port, top, UPGRADE)
        assert f"Broker {broker.node_id} only supports versions" in (too_high or ""), too_high
        self.replace(broker, self.release)
        raise_to(port, top)
        return True

    def replace(self, broker: JavaBroker, release: str) -> None:
        """The same directory, another release; the next step waits until all replicas are in sync."""
        broker.stop()
        broker.kafka = kafka(release)
        broker.start()
        await_in_sync(self.cluster, PRODUCED)
        self.clients.await_progress(PROGRESS_SECONDS_MAX)

    def finish(self) -> None:
        """The other features, as Kafka's tool raises them."""
        told = tools(RELEASES[-1]).run(
            "kafka-features",
            "--bootstrap-controller",
            self.cluster.bootstrap_controllers,
            "upgrade",
            "--release-version",
            release_of(latest(self.release)),
        )
        assert told.exit_code == 0, told.output
