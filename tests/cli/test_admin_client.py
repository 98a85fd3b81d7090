"""The admin client finds the active controller and passes over nodes that are of no use."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event

import pytest

from kraftctl.cli.quorum.controller_properties import read_controller_properties
from kraftctl.cli.quorum.quorum_info import describe_quorum
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import ClientConfig, parse_client_config
from kraftctl_admin.errors import AdminError, RefusedError, UnavailableError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from tests.cli.quorum_cases import CLUSTER_ID, Replica, ScriptedQuorum, leader_node
from tests.support.controller_properties import controller_properties
from tests.support.wire.scripted_node import ScriptedNode

QUICK = ClientConfig(default_api_timeout_ms=2_000, request_timeout_ms=1_000, retry_backoff_ms=20)
CLOSED = ("127.0.0.1", 1)
"""Nothing listens there."""


class Asked:
    """A scripted cluster: a standby that names the leader, and the leader."""

    def __init__(self, stack: ExitStack) -> None:
        self.quorum = ScriptedQuorum(2, [Replica(1, 5), Replica(2, 6)])
        self.leader = stack.enter_context(leader_node(self.quorum))
        self.named_ports = [(1, 0), (2, self.leader.port)]
        self.standby = stack.enter_context(
            ScriptedNode({DescribeClusterRequest: self._described, DescribeQuorumRequest: refused})
        )

    def _described(self, _: Message) -> Message:
        nodes = [
            DescribeClusterBroker(broker_id=node_id, host="127.0.0.1", port=port or self.standby.port)
            for node_id, port in self.named_ports
        ]
        return DescribeClusterResponse(endpoint_type=2, cluster_id=CLUSTER_ID, controller_id=2, brokers=nodes)


def refused(_: Message) -> Message:
    partition = PartitionData(error_code=Errors.NOT_LEADER_OR_FOLLOWER)
    return DescribeQuorumResponse(topics=[TopicData(topic_name=METADATA_TOPIC, partitions=[partition])])


@pytest.fixture
def asked() -> Iterator[Asked]:
    with ExitStack() as stack:
        yield Asked(stack)


def client(*nodes: ScriptedNode | tuple[str, int], to_controllers: bool = True) -> AdminClient:
    bootstrap = [("127.0.0.1", node.port) if isinstance(node, ScriptedNode) else node for node in nodes]
    return AdminClient(bootstrap, to_controllers=to_controllers, config=QUICK, clock=Clock())


def test_a_standby_names_the_leader_which_is_asked_first(asked: Asked) -> None:
    with client(asked.standby) as admin:
        assert describe_quorum(admin).leader_id == 2
    assert not any(isinstance(request, DescribeQuorumRequest) for request in asked.standby.requests)


def test_a_standby_that_names_a_former_leader_is_asked_again(asked: Asked) -> None:
    """The former leader refuses; the next round learns of the new one."""
    asked.named_ports = [(2, 0)]

    def then_named(request: Message) -> Message:
        asked.named_ports = [(1, 0), (2, asked.leader.port)]
        return refused(request)

    asked.standby.script[DescribeQuorumRequest] = then_named
    with client(asked.standby) as admin:
        assert describe_quorum(admin).leader_id == 2


def test_a_leader_that_is_gone_does_not_end_the_search(asked: Asked) -> None:
    """Kafka's own client keeps asking the node that it was given as the leader."""
    asked.named_ports = [(2, CLOSED[1]), (1, 0)]
    asked.standby.script[DescribeQuorumRequest] = lambda _: asked.quorum.described()
    with client(CLOSED, asked.standby) as admin:
        assert describe_quorum(admin).leader_id == 2


def test_controllers_that_may_not_describe_the_cluster_are_asked_in_turn(asked: Asked) -> None:
    """DescribeCluster needs Alter on the cluster, DescribeQuorum only Describe."""
    denied = DescribeClusterResponse(error_code=Errors.CLUSTER_AUTHORIZATION_FAILED)
    for node in (asked.standby, asked.leader):
        node.script[DescribeClusterRequest] = lambda _: denied
    with client(asked.standby, asked.leader) as admin:
        assert describe_quorum(admin).leader_id == 2
        with pytest.raises(RefusedError) as refusal:
            admin.cluster_id()
        assert refusal.value.error == Errors.CLUSTER_AUTHORIZATION_FAILED


def test_a_connection_that_ends_is_made_again(asked: Asked) -> None:
    answers: list[Message | None] = [None, asked.quorum.described()]
    asked.leader.script[DescribeQuorumRequest] = lambda _: answers.pop(0)
    with client(asked.leader) as admin:
        assert describe_quorum(admin).leader_id == 2
    assert answers == []


def test_brokers_describe_brokers(asked: Asked) -> None:
    with client(asked.leader, to_controllers=False) as admin:
        assert admin.cluster_id() == CLUSTER_ID
    (request,) = asked.leader.requests
    assert isinstance(request, DescribeClusterRequest)
    assert request.endpoint_type == 1


def test_without_an_answer_every_node_and_its_reason_is_named(asked: Asked) -> None:
    with client(CLOSED, asked.standby) as admin:
        asked.named_ports = []
        with pytest.raises(UnavailableError) as unavailable:
            describe_quorum(admin)
    text = str(unavailable.value)
    assert f"{asked.standby.address}: NOT_LEADER_OR_FOLLOWER" in text
    assert "127.0.0.1:1: [Errno" in text


def test_the_end_of_the_time_does_not_hide_an_earlier_reason() -> None:
    """The last attempt has what is left of default.api.timeout.ms, which may be nothing."""
    over = Event()
    pauses_seconds = [0.0, 10.0]

    def close_after_a_pause(_: Message) -> None:
        over.wait(pauses_seconds.pop(0))

    config = ClientConfig(default_api_timeout_ms=300, request_timeout_ms=10_000, retry_backoff_ms=20)
    with ScriptedNode({DescribeQuorumRequest: close_after_a_pause}) as node:
        bootstrap = [("127.0.0.1", node.port)]
        with AdminClient(bootstrap, to_controllers=False, config=config, clock=Clock()) as admin:
            with pytest.raises(UnavailableError, match="the node has closed the connection"):
                describe_quorum(admin)
        assert pauses_seconds == []
        over.set()


def test_nodes_without_the_api_are_named_and_not_asked_again() -> None:
    with ScriptedNode({DescribeClusterRequest: refused}) as node, client(node, to_controllers=False) as admin:
        with pytest.raises(UnavailableError, match="it does not serve this DescribeQuorumRequest") as noticed:
            describe_quorum(admin)
        assert "No node serves DescribeQuorumRequest" in str(noticed.value)


def test_a_node_that_may_serve_the_api_is_awaited() -> None:
    with ScriptedNode({DescribeClusterRequest: refused}) as node:
        with client(node, CLOSED, to_controllers=False) as admin:
            with pytest.raises(UnavailableError, match="No node answered DescribeQuorumRequest"):
                describe_quorum(admin)


def test_client_keys() -> None:
    """Kafka's defaults; keys of a controller's file are ignored."""
    config = parse_client_config({"request.timeout.ms": " 7 ", "client.id": "x", "ssl.keystore.type": "JKS"})
    assert (config.request_timeout_ms, config.client_id) == (7, "x")
    assert (config.default_api_timeout_ms, config.retry_backoff_ms) == (60_000, 100)


@pytest.mark.parametrize("text", ["0", "-1", "soon", ""])
def test_a_timeout_is_a_number_of_milliseconds(text: str) -> None:
    with pytest.raises(AdminError, match=r"retry\.backoff\.ms"):
        parse_client_config({"retry.backoff.ms": text})


PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
CONTROLLER_FILE = {
    **controller_properties(),
    "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
    "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
    "listener.name.controller.plain.sasl.jaas.config": f'{PLAIN} required username="node" password="a";',
}


def test_the_file_of_a_controller_with_sasl_may_have_the_keys_of_a_client() -> None:
    """For add-controller and replace-voter. As in Kafka, the user of the listener is not the client."""
    assert parse_client_config(CONTROLLER_FILE).security.new_sasl_client is None
    client = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} required username="ada" password="b";',
    }
    both = {**CONTROLLER_FILE, **client}
    new_sasl_client = parse_client_config(both).security.new_sasl_client
    assert new_sasl_client is not None
    assert new_sasl_client().evaluate(b"") == b"\0ada\0b"
    assert [str(each) for each in read_controller_properties(both).endpoints] == [
        "CONTROLLER://localhost:9093"
    ]
