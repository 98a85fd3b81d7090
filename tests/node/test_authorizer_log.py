"""What the authorizer's log has of a request: each decision once, and no more than there is room for."""

from __future__ import annotations

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.controller.state.authorizer_log import DEBUG, LINES_PER_STEP_MAX, TEXT_LENGTH_MAX
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal
from tests.node.test_rights import ALICE, forwarded
from tests.support.simulator.cluster.lone_node import LoneNode

DENIAL = (
    "Principal = User:ANONYMOUS is Denied operation = ALTER from host = 127.0.0.1"
    " on resource = Cluster:LITERAL:kafka-cluster for request = UnregisterBroker"
    " with resourceRefCount = 1 based on rule DefaultDeny"
)


def started(super_users: str = "User:root", level: str = "info") -> LoneNode:
    node = LoneNode(
        authorizer_class_name=STANDARD_AUTHORIZER,
        super_users=super_users,
        kraftctl_authorizer_log_level=level,
    )
    node.settle()
    node.process.authorizer_texts.clear()
    return node


def topics(*names: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=[CreatableTopic(name=name) for name in names])


def lines_of(node: LoneNode, request: Message, answer: type[Message]) -> list[str]:
    node.ask(request, answer)
    return node.process.authorizer_texts


def test_a_denial_has_one_line() -> None:
    assert lines_of(started(), UnregisterBrokerRequest(broker_id=1), UnregisterBrokerResponse) == [DENIAL]


def test_a_right_that_another_one_replaces_is_not_denied_twice() -> None:
    """CREATE on the cluster or on the topic: only the second denial is logged, as in Kafka."""
    lines = lines_of(started(), topics("t"), CreateTopicsResponse)
    assert [line.partition("on resource = ")[2].partition(" ")[0] for line in lines] == ["Topic:LITERAL:t"]


def test_what_only_lists_operations_is_no_denial() -> None:
    node = started("User:ANONYMOUS", level="info")
    request = DescribeClusterRequest(include_cluster_authorized_operations=True, endpoint_type=2)
    assert lines_of(node, request, DescribeClusterResponse) == []
    debug = started("User:ANONYMOUS", level="debug")
    assert len(lines_of(debug, request, DescribeClusterResponse)) == 2
    assert debug.process.authorizer_levels[-2:] == [DEBUG, DEBUG]
    trace = started("User:ANONYMOUS", level="trace")
    assert len(lines_of(trace, request, DescribeClusterResponse)) > 2


def test_nothing_is_logged_when_it_is_off() -> None:
    assert lines_of(started(level="off"), topics("t"), CreateTopicsResponse) == []


def test_a_request_of_an_envelope_is_logged_with_its_client() -> None:
    node = started("User:ANONYMOUS")
    lines = lines_of(node, forwarded(UnregisterBrokerRequest(broker_id=1), ALICE), EnvelopeResponse)
    assert [line.partition(" is ")[0] for line in lines] == ["Principal = User:alice"]


def test_one_request_cannot_cause_any_number_of_lines() -> None:
    node = started()
    lines = lines_of(node, topics(*(f"t{number}" for number in range(300))), CreateTopicsResponse)
    assert len(lines) == LINES_PER_STEP_MAX
    assert node.process.authorizer_left_out_count == 300 - LINES_PER_STEP_MAX


def test_long_names_are_cut() -> None:
    node = started("User:ANONYMOUS")
    client = KafkaPrincipal("User", "p" * 20_000)
    (line,) = lines_of(node, forwarded(topics("t" * 20_000), client), EnvelopeResponse)
    assert TEXT_LENGTH_MAX < len(line) < 3 * TEXT_LENGTH_MAX
