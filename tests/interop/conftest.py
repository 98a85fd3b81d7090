"""The cluster that interoperability tests share.

KRAFTCTL_INTEROP_CONTROLLER=java puts Kafka's own controller in kraftctl's place: it tests the tests.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.processes.cluster import JAVA_CONTROLLER, await_live
from tests.support.processes.kafka import Cluster, kafka
from tests.support.processes.spark_export import ExportJob

EXPORT_TEST = "test_parquet.py"


@pytest.fixture(scope="session")
def running_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """A dynamic quorum of one and three brokers, for the whole session."""
    directory = tmp_path_factory.mktemp("cluster")
    with Cluster(kafka(), directory, java_controller=JAVA_CONTROLLER) as cluster:
        yield cluster


@pytest.fixture(scope="session", autouse=True)
def export_job(request: pytest.FixtureRequest) -> Iterator[ExportJob | None]:
    """Exports the metadata of the shared cluster during all tests, if test_parquet is among them."""
    if not any(item.path.name == EXPORT_TEST for item in request.session.items):
        yield None
        return
    cluster: Cluster = request.getfixturevalue("running_cluster")
    with ExportJob(
        cluster.bootstrap_controllers, cluster.directory / "parquet", "--interval", "5 seconds"
    ) as job:
        yield job


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The export is compared after all other tests."""
    items.sort(key=lambda item: item.path.name == EXPORT_TEST)


@pytest.fixture
def cluster(running_cluster: Cluster) -> Cluster:
    """The shared cluster, with everything running that the previous test may have killed."""
    if not running_cluster.controller.running:
        running_cluster.controller.start()
    down = [broker for broker in running_cluster.brokers if not broker.running]
    for broker in down:
        broker.start(wait=False)
    for broker in down:
        broker.await_ready()
    await_live(running_cluster, {1, 2, 3})
    return running_cluster
