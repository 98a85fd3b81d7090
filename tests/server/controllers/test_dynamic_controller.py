"""A controller process whose limits and levels are changed while it runs, and after it starts again."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl_protocol.config_resource import BROKER, BROKER_LOGGER, CLUSTER_DEFAULT
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from tests.support.wire.controller_client import ControllerClient

OWN = "3000"
REFUSAL = "Refusing BrokerHeartbeat of broker 77"
PER_IP = "max.connections.per.ip"


def alter(client: ControllerClient, kind: int, name: str, key: str, value: str | None) -> None:
    change = AlterableConfig(name=key, config_operation=1 if value is None else 0, value=value)
    resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[change])
    request = IncrementalAlterConfigsRequest(resources=[resource])
    answer = client.call(request, 1, IncrementalAlterConfigsResponse).responses[0]
    assert answer.error_code == 0, answer.error_message


def shown(client: ControllerClient, kind: int, key: str) -> tuple[str | None, int]:
    resource = DescribeConfigsResource(resource_type=kind, resource_name=OWN, configuration_keys=[key])
    answer = client.call(DescribeConfigsRequest(resources=[resource]), 4, DescribeConfigsResponse)
    (config,) = answer.results[0].configs
    return config.value, config.config_source


def is_served(node: KraftctlController) -> bool:
    try:
        with ControllerClient(node.port) as client:
            refused_broker(client)
    except OSError:
        return False
    return True


def only_client(node: KraftctlController) -> ControllerClient:
    """Takes the one connection that is allowed, once the controller has noticed that others are closed."""

    def try_once() -> ControllerClient | None:
        client = ControllerClient(node.port)
        try:
            refused_broker(client)
        except OSError:
            client.close()
            return None
        return client

    return await_result(try_once, "a connection")


def refused_broker(client: ControllerClient) -> None:
    """A request whose refusal is a line of level DEBUG."""
    answer = client.call(BrokerHeartbeatRequest(broker_id=77), 1, BrokerHeartbeatResponse)
    assert answer.error_code


@pytest.mark.slow
def test_limits_and_levels_of_a_running_controller(tmp_path: Path) -> None:
    node = KraftctlController(3000, tmp_path, random_id())
    node.format()
    node.start()
    try:
        node.await_log("Becoming the active controller")
        with ControllerClient(node.port) as client:
            alter(client, BROKER, OWN, PER_IP, "1")
            assert shown(client, BROKER, PER_IP) == ("1", 2)
            assert not is_served(node), "the second connection"
            alter(client, BROKER, OWN, PER_IP, None)
            assert is_served(node)
            alter(client, BROKER, CLUSTER_DEFAULT, PER_IP, "1")
            assert shown(client, BROKER, PER_IP) == ("1", 3)
            assert not is_served(node)
            alter(client, BROKER, OWN, "num.io.threads", "9")
            assert shown(client, BROKER, "num.io.threads") == ("8", 5), "what is in effect"
            node.await_log("num.io.threads=9 of node 3000 has no effect on this controller")
            assert_levels(node, client)
        assert node.stop() == 0
        node.start()
        node.await_log("Updating max.connections.per.ip from no limit to 1")
        with only_client(node) as client:
            assert not is_served(node), "after a restart"
            assert shown(client, BROKER_LOGGER, "kraftctl.controller") == ("INFO", 6)
            alter(client, BROKER, CLUSTER_DEFAULT, PER_IP, None)
            assert is_served(node)
    finally:
        node.kill()


def assert_levels(node: KraftctlController, client: ControllerClient) -> None:
    """The reasons of refusals are lines of kraftctl.controller, of level DEBUG."""
    name = "kraftctl.controller"
    refused_broker(client)
    assert "(kraftctl.controller)" in node.log_file.read_text()
    assert REFUSAL not in node.log_file.read_text()
    assert shown(client, BROKER_LOGGER, name) == ("INFO", 6)
    alter(client, BROKER_LOGGER, OWN, name, "DEBUG")
    assert shown(client, BROKER_LOGGER, name) == ("DEBUG", 6)
    node.await_log("The level of the logger kraftctl.controller is DEBUG now")
    refused_broker(client)
    assert "DEBUG" in node.await_log(REFUSAL)
    alter(client, BROKER_LOGGER, OWN, name, None)
    assert shown(client, BROKER_LOGGER, name) == ("INFO", 6)
    node.await_log("The logger kraftctl.controller has the level of the one above it again")
