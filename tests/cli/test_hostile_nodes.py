"""Nodes that answer anything: `kraftctl quorum` ends in time, and prints none of their text as it is."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
)
from kraftctl_protocol.generated.fetch_response import PartitionData as FetchedPartition
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from kraftctl_protocol.requests import ParsedRequest
from tests.support.wire.hostile_node import HostileNode, Reply, framed

WAIT_MS = 400
LATE_S = 20.0
"""The first command also imports much, on a busy machine."""
REQUESTS_MAX = 20

Hostile = Callable[[ParsedRequest], Reply]

TEXTS = {
    "turns-around": "\u202egro.elpmaxe",
    "clears-the-screen": "\x1b[2J\x1b[H",
    "begins-a-line": "x\nNext step: rm -rf /",
    "rings": "\a\b\r",
    "ends-the-text": "\0",
    "is-invisible": "\u200b\u2066\ufeff",
    "quotes": '"}], "more": [{"',
}
"""What somebody may put into a host, a name or a message."""


def described(host: str = "host", listener: str = "CONTROLLER", **fields: object) -> DescribeQuorumResponse:
    partition = PartitionData(
        leader_id=1, leader_epoch=3, high_watermark=9, current_voters=[ReplicaState(replica_id=1)]
    )
    for name, value in fields.items():
        setattr(partition, name, value)
    nodes = [Node(node_id=1, listeners=[Listener(name=listener, host=host, port=9093)])]
    topic = TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
    return DescribeQuorumResponse(topics=[topic], nodes=nodes)


def leads(cluster_id: str = "cluster", **fields: object) -> Hostile:
    """It describes a quorum that it leads."""

    def reply(request: ParsedRequest) -> Message:
        if isinstance(request.body, DescribeClusterRequest):
            return DescribeClusterResponse(cluster_id=cluster_id, endpoint_type=2)
        return described(**fields)  # type: ignore[arg-type]

    return reply


def refuses(message: str) -> Hostile:
    def reply(request: ParsedRequest) -> Message:
        return DescribeQuorumResponse(
            error_code=int(Errors.CLUSTER_AUTHORIZATION_FAILED), error_message=message
        )

    return reply


def follows(
    host: str = "127.0.0.1", port: int = 1, *, count: int = 1, partitions: int = 1, named: int = 0
) -> Hostile:
    """Another one leads, it says, and listens there."""

    def reply(request: ParsedRequest) -> Message:
        if isinstance(request.body, DescribeQuorumRequest):
            return described(error_code=int(Errors.NOT_LEADER_OR_FOLLOWER))
        if isinstance(request.body, DescribeClusterRequest):
            brokers = [
                DescribeClusterBroker(broker_id=each, host=host, port=port + each) for each in range(named)
            ]
            return DescribeClusterResponse(cluster_id="cluster", endpoint_type=2, brokers=brokers)
        assert isinstance(request.body, FetchRequest)
        partition = FetchedPartition(
            error_code=int(Errors.NOT_LEADER_OR_FOLLOWER), current_leader=LeaderIdAndEpoch(7, 3)
        )
        return FetchResponse(
            responses=[FetchableTopicResponse(partitions=[partition] * partitions)],
            node_endpoints=[NodeEndpoint(node_id=7, host=host, port=port + each) for each in range(count)],
        )

    return reply


def of_size(size_bytes: int) -> Hostile:
    def reply(request: ParsedRequest) -> Iterator[bytes]:
        yield size_bytes.to_bytes(4, "big", signed=True)
        for _ in range(size_bytes >> 16):
            yield bytes(1 << 16)

    return reply


def to_another_request(request: ParsedRequest) -> bytes:
    return framed(request, described(), late=1)


def twice(request: ParsedRequest) -> bytes:
    return 2 * framed(request, described())


def closes(request: ParsedRequest) -> None:
    return None


class Printed:
    def __init__(self, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._file = tmp_path / "client.properties"
        self._file.write_text(f"default.api.timeout.ms={WAIT_MS}\n")
        self._capsys = capsys

    def by(self, node: HostileNode) -> str:
        place = f"{node.endpoint[0]}:{node.endpoint[1]}"
        began = time.monotonic()
        connection = ["--bootstrap-controller", place, "--command-config", str(self._file)]
        main(["quorum", *connection, "describe", "--status"])
        assert time.monotonic() - began < WAIT_MS / 1000 + LATE_S
        assert len(node.requests) <= REQUESTS_MAX
        captured = self._capsys.readouterr()
        text = captured.out + captured.err
        assert all(line.replace("\t", "").isprintable() for line in text.split("\n")), text
        return text


@pytest.fixture
def printed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Printed:
    return Printed(tmp_path, capsys)


@pytest.mark.parametrize("text", [pytest.param(text, id=name) for name, text in TEXTS.items()])
def test_no_text_of_a_node_is_printed_as_it_is(text: str, printed: Printed) -> None:
    for hostile, lines in (
        (leads(cluster_id=text, host=text, listener=text), 9),
        (leads(error_code=int(Errors.UNKNOWN_SERVER_ERROR), error_message=text), 2),
        (refuses(text), 2),
    ):
        with HostileNode(hostile) as node:
            said = printed.by(node)
        assert "\nNext step: rm" not in said
        assert said.count("\n") <= lines
        assert '"more": [' not in said.partition("CurrentVoters")[2]


def test_a_refusal_of_any_length_is_short(printed: Printed) -> None:
    with HostileNode(refuses("no " * 10_000)) as node:
        assert len(printed.by(node)) < 600


SLOW = [
    pytest.param(of_size(31_000_000), "more than the 1048576 that are allowed", id="a-response-of-31-MB"),
    pytest.param(of_size(-2), "frame of negative size", id="a-size-below-zero"),
    pytest.param(to_another_request, "to request 2", id="a-response-to-another-request"),
    pytest.param(twice, "more than one response to one request", id="two-responses"),
    pytest.param(closes, "the node has closed the connection", id="no-response"),
    pytest.param(follows("\u202egro", 9093), "says that controller 7 leads epoch 3", id="a-host-of-no-name"),
    pytest.param(follows("h", -1), "says that controller 7 leads epoch 3", id="a-port-below-zero"),
    pytest.param(follows("h", 70_000), "says that controller 7 leads epoch 3", id="a-port-beyond-all"),
    pytest.param(follows("", 9093), "says that controller 7 leads epoch 3", id="no-host"),
    pytest.param(follows(count=5_000), "no leader that answers", id="5000-addresses-of-a-leader"),
    pytest.param(follows(named=5_000), "no leader that answers", id="5000-controllers"),
    pytest.param(follows(partitions=0), "does not say its epoch", id="no-partition"),
    pytest.param(follows(partitions=2), "does not say its epoch", id="two-partitions"),
]


@pytest.mark.parametrize(
    ("hostile", "reason"),
    [SLOW[0], *[pytest.param(*case.values, id=case.id, marks=pytest.mark.long) for case in SLOW[1:]]],
)
def test_a_node_without_a_usable_response(hostile: Hostile, reason: str, printed: Printed) -> None:
    with HostileNode(hostile) as node:
        said = printed.by(node)
    assert reason in said
    assert said.count("\n") <= 36
    assert len(said) < 10_000
