"""The cluster that interoperability tests share.

KRAFTCTL_INTEROP_CONTROLLER=java puts Kafka's own controller in kraftctl's place, to test the tests themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from kraftctl.dev.polling import await_result
from tests.support.clients import admin_client, live_brokers
from tests.support.kafka import Cluster, kafka

JAVA_CONTROLLER = os.environ.get("KRAFTCTL_INTEROP_CONTROLLER") == "java"
"""Java's controller in place of kraftctl: what fails then is the test's fault."""


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A dynamic quorum of one and three brokers, for the whole session."""
    directory = tmp_path_factory.mktemp("cluster")
    with Cluster(kafka(), directory, java_controller=JAVA_CONTROLLER) as cluster:
        yield cluster


@pytest.fixture
def cluster(running_cluster: Cluster) -> Cluster:
    """The shared cluster, with everything running again whatever the test before has killed."""
    if not running_cluster.controller.running:
        running_cluster.controller.start()
    down = [broker for broker in running_cluster.brokers if not broker.running]
    for broker in down:
        broker.start(wait=False)
    for broker in down:
        broker.await_ready()
    await_live(running_cluster, {1, 2, 3})
    return running_cluster


def await_live(cluster: Cluster, expected: set[int], *, timeout_s: float = 30.0) -> None:
    """Waits until the brokers that run agree with the controller on who is unfenced."""
    running = [broker for broker in cluster.brokers if broker.running]
    for broker in running:
        admin = admin_client(broker.address)
        await_result(
            lambda admin=admin: live_brokers(admin) == expected,
            f"{broker.name} knows that {sorted(expected)} are unfenced",
            timeout_s,
        )
