"""What `kraftctl storage`, `features` and `cluster` have beyond Kafka's tools: JSON, limits, one line."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.cli.admin.connection_flags import open_client
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.update_features_request import UpdateFeaturesRequest
from kraftctl_protocol.generated.update_features_response import (
    UpdatableFeatureResult,
    UpdateFeaturesResponse,
)
from kraftctl_security.config_providers.resolve import resolve_properties
from tests.cli.tool_cases import CLUSTER_ID, tool_node, write_directories
from tests.support.processes.called_command import call_command
from tests.support.wire.scripted_node import ScriptedNode


@pytest.fixture
def node() -> Iterator[ScriptedNode]:
    with tool_node() as started:
        yield started


def described(feature: str, least: int, most: int, level: int) -> dict[str, object]:
    return {
        "feature": feature,
        "supportedMinVersion": least,
        "supportedMaxVersion": most,
        "finalizedVersionLevel": level,
    }


def endpoint(node_id: int, host: str, rack: str | None, **more: object) -> dict[str, object]:
    return {"id": node_id, "host": host, "port": "PORT", "rack": rack} | more


JSON = [
    pytest.param("cluster cluster-id -b NODE", {"clusterId": CLUSTER_ID}, id="cluster-id"),
    pytest.param(
        "cluster list-endpoints -b NODE --include-fenced-brokers",
        [
            endpoint(1, "127.0.0.1", None, endpointType="broker", isFenced=False),
            endpoint(2, "localhost", "rack-of-two", endpointType="broker", isFenced=False),
            endpoint(17, "localhost", None, endpointType="broker", isFenced=True),
        ],
        id="brokers",
    ),
    pytest.param(
        "cluster list-endpoints -C NODE",
        [
            endpoint(1, "127.0.0.1", None, endpointType="controller"),
            endpoint(2, "localhost", "rack-of-two", endpointType="controller"),
        ],
        id="controllers",
    ),
    pytest.param(
        "features --bootstrap-controller NODE describe",
        {
            "epoch": 77,
            "features": [
                described("group.version", 0, 1, 1),
                described("kraft.version", 0, 1, 1),
                described("metadata.version", 7, 33, 30),
                described("of.another.product.and.with.a.name.longer.than.the.column", 1, 3, 0),
                described("share.version", 0, 2, 0),
            ],
        },
        id="features",
    ),
    pytest.param(
        "features --bootstrap-controller NODE downgrade --feature group.version=0 --dry-run",
        {
            "operation": "downgrade",
            "dryRun": True,
            "features": [{"feature": "group.version", "level": 0, "error": None}],
        },
        id="downgrade",
    ),
    pytest.param(
        "storage feature-dependencies -f eligible.leader.replicas.version=1 -f metadata.version=30",
        {"eligible.leader.replicas.version=1": {"metadata.version": 23}, "metadata.version=30": {}},
        id="dependencies",
    ),
    pytest.param(
        "features version-mapping --release-version 3.9",
        {
            "metadata.version": 21,
            "kraft.version": 1,
            "transaction.version": 0,
            "group.version": 0,
            "eligible.leader.replicas.version": 0,
            "share.version": 0,
            "streams.version": 0,
        },
        id="mapping",
    ),
]


@pytest.mark.parametrize(("call", "value"), JSON)
def test_json(call: str, value: object, node: ScriptedNode) -> None:
    called = call_command(*call.replace("NODE", node.address).split(), "--output", "json")
    assert called.status == 0, called.errors
    assert json.loads(called.output.replace(str(node.port), '"PORT"')) == value


def test_json_of_storage_info(tmp_path: Path) -> None:
    write_directories(tmp_path)
    file = str(tmp_path / "contradiction.properties")
    called = call_command("storage", "info", "-c", file, "--output", "json")
    value = json.loads(called.output)
    assert called.status == 1
    assert [Path(directory).name for directory in value["directories"]] == [
        "first",
        "other-cluster",
        "other-node",
        "unformatted",
    ]
    assert value["metadata"] == {
        "node.id": "1",
        "directory.id": "EGCcgTBYQvGWdKDgmZJGWw",
        "version": "1",
        "cluster.id": CLUSTER_ID,
    }
    assert len(value["problems"]) == 4


def test_a_refusal_in_json_names_each_feature(node: ScriptedNode) -> None:
    words = ("upgrade", "--feature", "refused.version=3", "--feature", "group.version=1")
    called = call_command("features", "--bootstrap-server", node.address, *words, "--output", "json")
    assert called.status == 1
    assert [each["error"] for each in json.loads(called.output)["features"]] == ["Not that one."] * 2


def test_a_reason_with_two_lines_stays_in_one(node: ScriptedNode) -> None:
    """Kafka's tool prints two, and a script that reads line by line takes the second for another feature."""
    node.script[UpdateFeaturesRequest] = lambda _: UpdateFeaturesResponse(
        error_code=Errors.INVALID_UPDATE_VERSION, error_message="No.\nshare.version was upgraded to 1."
    )
    called = call_command(
        "features", "--bootstrap-server", node.address, "upgrade", "--feature", "group.version=1"
    )
    assert called.status == 1
    assert called.output.splitlines() == [
        "Could not upgrade group.version to 1. No. share.version was upgraded to 1."
    ]


def test_results_for_each_feature_of_a_broker_before_4_0(node: ScriptedNode) -> None:
    node.versions = {UpdateFeaturesRequest: (0, 1)}
    node.script[UpdateFeaturesRequest] = lambda _: UpdateFeaturesResponse(
        error_message=None,
        results=[
            UpdatableFeatureResult(feature="a.version"),
            UpdatableFeatureResult(
                feature="b.version", error_code=Errors.INVALID_UPDATE_VERSION, error_message="Too high."
            ),
        ],
    )
    words = ("upgrade", "--feature", "b.version=9", "--feature", "a.version=1")
    called = call_command("features", "--bootstrap-server", node.address, *words)
    assert called.status == 1
    assert called.output.splitlines() == [
        "a.version was upgraded to 1.",
        "Could not upgrade b.version to 9. Too high.",
    ]


def test_an_unknown_node_is_refused_immediately(node: ScriptedNode) -> None:
    """Kafka's tool waits a minute for it."""
    called = call_command("features", "--bootstrap-controller", node.address, "describe", "--node-id", "9")
    assert (called.status, called.output) == (1, "")
    assert "There is no node 9" in called.errors
    assert "1, 2" in called.errors


def test_a_node_that_does_not_unregister_is_a_failure() -> None:
    """Kafka's tool ends with 0 then."""
    with tool_node() as node:
        del node.script[UnregisterBrokerRequest]
        called = call_command("cluster", "unregister", "-b", node.address, "-i", "1")
    assert (called.status, called.output) == (1, "")
    assert "No node serves UnregisterBrokerRequest" in called.errors


@pytest.mark.parametrize(
    ("only_reads", "properties", "timeout_ms"),
    [
        pytest.param(True, None, 5_000, id="a-read"),
        pytest.param(True, {"client.id": "x"}, 5_000, id="a-read-with-a-file"),
        pytest.param(True, {"default.api.timeout.ms": "9000"}, 9_000, id="a-read-with-a-limit"),
        pytest.param(False, None, 60_000, id="a-change"),
    ],
)
def test_time_limits(only_reads: bool, properties: dict[str, str] | None, timeout_ms: int) -> None:
    args = Namespace(bootstrap_server="127.0.0.1:1", bootstrap_controller=None)
    resolved = None if properties is None else resolve_properties(properties)
    with open_client(args, resolved, only_reads=only_reads) as client:
        assert client.timeout_ms == timeout_ms


def test_storage_format_is_the_same_command(tmp_path: Path) -> None:
    write_directories(tmp_path)
    config = str(tmp_path / "unformatted.properties")
    called = call_command("storage", "format", "-c", config, "-t", CLUSTER_ID)
    assert called.status == 0, called.errors
    assert call_command("storage", "info", "-c", config).status == 0
    again = ("-c", config, "-t", CLUSTER_ID)
    assert call_command("storage", "format", *again) == call_command("format", *again)
    assert call_command("storage", "format", *again, "-g").status == 0
