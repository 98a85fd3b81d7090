"""Three controllers and three of Kafka's brokers: every series that dashboards read is there, and right."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kraftctl.operate.metric_table import METRICS
from tests.operate.operated_quorum import get
from tests.operate.prometheus_text import Family, parse
from tests.operate.test_metrics import MUST_SERVE
from tests.support.processes.clients import create_topic
from tests.support.processes.kafka import Cluster, await_result, free_port, kafka

pytestmark = [pytest.mark.interop, pytest.mark.long]

KAFKACONTROLLER = "kafka_controller_kafkacontroller_"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(kafka(), tmp_path_factory.mktemp("operated"), controllers=3, brokers=3)
    for each in cluster.controllers:
        each.properties["kraftctl.operate.listeners"] = f"http://127.0.0.1:{free_port()}"
    with cluster:
        yield cluster


def scraped(cluster: Cluster) -> list[dict[str, Family]]:
    """Those of each controller, the active one first."""
    found = []
    for each in cluster.controllers:
        port = int(each.properties["kraftctl.operate.listeners"].rpartition(":")[2])
        status, text = get(port, "/metrics")
        assert status == 200
        found.append(parse(text))
    return sorted(found, key=lambda each: -value(each, f"{KAFKACONTROLLER}activecontrollercount"))


def value(families: dict[str, Family], name: str) -> float:
    (found,) = families[name].samples.values()
    return found


def labelled(families: dict[str, Family], name: str) -> dict[str, float]:
    """By the value of the first label."""
    return {labels[0][1]: found for (_, labels), found in families[name].samples.items()}


def test_all_series_are_there_and_right(cluster: Cluster) -> None:
    create_topic(cluster.bootstrap_servers, "counted", partitions=7, replicas=3)

    def settled() -> list[dict[str, Family]] | None:
        """Rates and readiness are looked at each second."""
        active, *standbys = found = scraped(cluster)
        topics = {value(each, f"{KAFKACONTROLLER}globaltopiccount") for each in found}
        ready = {value(each, "kraftctl_ready") for each in found}
        rates = [value(active, "kafka_server_raftmetrics_append_records_rate")]
        rates += [value(each, "kafka_server_raftmetrics_fetch_records_rate") for each in standbys]
        return found if topics == ready == {1.0} and all(rates) else None

    active, *standbys = await_result(settled, "all have the topic and rates, and are ready", 30.0)
    for families in (active, *standbys):
        assert [name for name in MUST_SERVE if not families[name].samples] == []
        assert value(families, f"{KAFKACONTROLLER}globalpartitioncount") == 7
        assert value(families, f"{KAFKACONTROLLER}activebrokercount") == 3
        assert value(families, f"{KAFKACONTROLLER}fencedbrokercount") == 0
        assert value(families, f"{KAFKACONTROLLER}offlinepartitionscount") == 0
        assert labelled(families, f"{KAFKACONTROLLER}brokerregistrationstate") == dict.fromkeys("123", 30)
        assert value(families, "kafka_server_raftmetrics_number_of_voters") == 3
    names = {name for metric in METRICS for name in metric.names}
    assert names - set(active) == {"kraftctl_certificate_expires_seconds"}
    assert value(active, f"{KAFKACONTROLLER}activecontrollercount") == 1
    assert [value(each, f"{KAFKACONTROLLER}activecontrollercount") for each in standbys] == [0, 0]
    ages_ms = labelled(active, "kraftctl_broker_heartbeat_age_ms")
    assert set(ages_ms) == set("123")
    assert max(ages_ms.values()) < 5_000
    roles = [dict(labels)["role"] for _, labels in active["kraftctl_replica_lag_records"].samples]
    assert sorted(roles) == ["observer"] * 3 + ["voter"] * 2
    assert value(active, "kraftctl_voters_reached") == 3
    assert value(active, "kraftctl_ghost_controllers") == 0
    assert value(standbys[0], "kafka_server_raftchannelmetrics_request_total") > 0


def test_a_dead_broker_is_counted(cluster: Cluster) -> None:
    create_topic(cluster.bootstrap_servers, "alone", partitions=9, replicas=1)
    cluster.broker(3).kill()

    def fenced() -> dict[str, Family] | None:
        active = scraped(cluster)[0]
        return active if value(active, f"{KAFKACONTROLLER}fencedbrokercount") == 1 else None

    active = await_result(fenced, "it is fenced", 60.0)
    assert value(active, f"{KAFKACONTROLLER}activebrokercount") == 2
    assert value(active, f"{KAFKACONTROLLER}offlinepartitionscount") == 3
    assert value(active, f"{KAFKACONTROLLER}offlinepartitionscount_value") == 3
    assert labelled(active, f"{KAFKACONTROLLER}brokerregistrationstate")["3"] == 10
    assert labelled(active, f"{KAFKACONTROLLER}timesincelastheartbeatreceivedms")["3"] == 9_000
    assert labelled(active, "kraftctl_broker_fencings_total")["session timed out"] == 1
    assert value(active, "kafka_controller_controllerstats_uncleanleaderelections_total") == 0
