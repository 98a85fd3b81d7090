"""`kraftctl quorum describe` without a leader: soon, and with what each node says."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Event

import pytest

from kraftctl.cli import main
from kraftctl.cli.quorum import command
from kraftctl.storage.meta_properties import write_meta_properties
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
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
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
)
from kraftctl_protocol.generated.fetch_response import PartitionData as FetchedPartition
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.metadata_topic import METADATA_TOPIC
from kraftctl_protocol.uuids import uuid_to_string
from tests.cli.quorum_cases import CASES, CLUSTER_ID, directory_id, leader_node
from tests.cli.test_quorum_describe import stored
from tests.support.wire.bad_addresses import (
    BEHAVIOURS,
    NAME,
    V4,
    V6,
    BadAddress,
    dropping,
    free_everywhere,
    resolving,
)
from tests.support.wire.scripted_node import Script, ScriptedNode

WAIT_MS = 700

NO_LEADER = "The quorum has no leader that answers: none was found"


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as entered:
        yield entered


class Described:
    """What the command has printed, and its exit status."""

    def __init__(self, status: int, printed: pytest.CaptureFixture[str]) -> None:
        captured = printed.readouterr()
        self.status = status
        self.out = captured.out
        self.error = captured.err


class Survey:
    """Runs the command."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self._file = directory / "client.properties"
        self._capsys = capsys
        self.wait_ms: int | None = WAIT_MS

    def of(self, *addresses: str, flag: str = "--status", to: str = "controller") -> Described:
        connection = [f"--bootstrap-{to}", ",".join(addresses)]
        if self.wait_ms is not None:
            self._file.write_text(f"default.api.timeout.ms={self.wait_ms}\n")
            connection += ["--command-config", str(self._file)]
        return Described(main(["quorum", *connection, "describe", flag]), self._capsys)


@pytest.fixture
def survey(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Survey:
    return Survey(tmp_path, capsys)


def not_leading(error: Errors = Errors.NOT_LEADER_OR_FOLLOWER) -> Message:
    topic = TopicData(topic_name=METADATA_TOPIC, partitions=[PartitionData(error_code=error)])
    return DescribeQuorumResponse(topics=[topic])


def fetched(leader_id: int, epoch: int, leader: tuple[str, int] | None = None) -> Message:
    error = Errors.FENCED_LEADER_EPOCH if epoch > 0 else Errors.NOT_LEADER_OR_FOLLOWER
    partition = FetchedPartition(error_code=error, current_leader=LeaderIdAndEpoch(leader_id, epoch))
    nodes = [] if leader is None else [NodeEndpoint(node_id=leader_id, host=leader[0], port=leader[1])]
    return FetchResponse(responses=[FetchableTopicResponse(partitions=[partition])], node_endpoints=nodes)


def not_loaded(_: Message) -> Message:
    """As a controller answers that has no leader since its start."""
    text = "the finalized metadata.version has no controller registrations"
    return DescribeClusterResponse(error_code=Errors.UNSUPPORTED_VERSION, error_message=text)


def standby(leader_id: int = -1, epoch: int = 7, leader: tuple[str, int] | None = None) -> Script:
    return {
        DescribeQuorumRequest: lambda _: not_leading(),
        FetchRequest: lambda _: fetched(leader_id, epoch, leader),
        DescribeClusterRequest: not_loaded,
    }


STATEMENTS = [
    pytest.param(standby(), "does not lead, knows no leader of epoch 7", id="no-leader"),
    pytest.param(standby(epoch=0), "does not lead, knows no leader of epoch 0", id="no-epoch-yet"),
    pytest.param(
        standby(2, 9), "does not lead, says that controller 2 leads epoch 9", id="a-leader-without-an-address"
    ),
    pytest.param(
        standby(2, 9, ("127.0.0.1", 1)),
        "does not lead, says that controller 2 leads epoch 9, at 127.0.0.1:1\n"
        "  127.0.0.1:1 is not reached: [Errno 111] Connection refused",
        id="a-leader-that-is-gone",
    ),
    pytest.param(
        {**standby(), FetchRequest: lambda _: FetchResponse(error_code=Errors.CLUSTER_AUTHORIZATION_FAILED)},
        "does not lead, and does not say its epoch: Fetch is answered with CLUSTER_AUTHORIZATION_FAILED",
        id="without-the-right-to-fetch",
    ),
    pytest.param({DescribeQuorumRequest: lambda _: not_leading()}, "does not lead", id="without-fetch"),
    pytest.param(
        {**standby(), DescribeQuorumRequest: lambda _: not_leading(Errors.REQUEST_TIMED_OUT)},
        "does not lead, knows no leader of epoch 7",
        id="a-timeout-of-its-own",
    ),
    pytest.param(
        {DescribeQuorumRequest: lambda _: None},
        "gives no response: the node has closed the connection",
        id="closes-when-asked",
    ),
]


@pytest.mark.parametrize("flag", ["--status", "--replication"])
@pytest.mark.parametrize(("script", "text"), STATEMENTS)
def test_a_node_says_what_it_knows(script: Script, text: str, flag: str, survey: Survey) -> None:
    with ScriptedNode(script) as node:
        described = survey.of(node.address, flag=flag)
    assert described.status == 1
    assert described.out == ""
    said = re.escape(f"  {node.address} {text}\nNext step: ")
    assert re.match(
        rf"The quorum has no leader that answers: none was found within \d\.\d s\.\n{said}", described.error
    )
    assert "metadata.version" not in described.error


CHANGES = [
    ["remove-controller", "-i", "3", "-d", uuid_to_string(directory_id(3))],
    ["add-controller"],
    ["replace-voter"],
    ["replace-voter", "--dry-run"],
]


@pytest.mark.parametrize("operation", CHANGES, ids=["remove", "add", "replace", "dry-run"])
@pytest.mark.parametrize(("script", "text"), STATEMENTS[:1])
def test_a_change_without_a_leader_ends_with_what_each_node_says(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], script: Script, text: str, operation: list[str]
) -> None:
    """As `describe`, and with nothing changed: not even a directory is formatted."""
    write_meta_properties(tmp_path / "data", MetaProperties(CLUSTER_ID, 3, directory_id(31)), 0)
    file = tmp_path / "controller.properties"
    file.write_text(
        "process.roles=controller\nnode.id=3\nlisteners=CONTROLLER://localhost:9093\n"
        "controller.listener.names=CONTROLLER\n"
        f"log.dirs={tmp_path / 'data'}\ndefault.api.timeout.ms={WAIT_MS}\n"
    )
    with ScriptedNode(script) as node:
        connection = ["--bootstrap-controller", f"{node.address},127.0.0.1:1", "--command-config", str(file)]
        assert main(["quorum", *connection, *operation]) == 1
        assert not any(
            isinstance(sent, RemoveRaftVoterRequest | AddRaftVoterRequest) for sent in node.requests
        )
        lines = [f"{node.address} {text}", "127.0.0.1:1 is not reached: [Errno 111] Connection refused"]
    printed = capsys.readouterr()
    assert printed.out == ""
    assert NO_LEADER in printed.err
    assert "".join(f"  {line}\n" for line in lines) + "Next step: " in printed.err


UNREACHED = [
    ("refuses", r"is not reached: \[Errno 111\] Connection refused"),
    ("drops", "is not reached: no connection was accepted within 0.[67] s"),
    ("silent", "is not reached: a connection was accepted, but ApiVersions was not answered within 0.[67] s"),
    ("closes", "is not reached: (the node has closed the connection|.*reset by peer)"),
    ("resets", "is not reached: .*reset by peer"),
    ("garbage", "is not reached: .*"),
    ("no-whole-frame", "is not reached: .* ApiVersions was not answered within 0.[67] s"),
]


def test_each_node_that_is_not_reached_is_named_with_the_reason(survey: Survey, stack: ExitStack) -> None:
    """All at the same time: the reasons of seven nodes take no longer than that of one."""
    addresses = []
    for kind, _ in UNREACHED:
        port = free_everywhere()
        addresses.append(f"{V4}:{port}")
        if kind == "drops":
            stack.enter_context(dropping(V4, port))
        elif kind != "refuses":
            stack.enter_context(BadAddress(V4, port, BEHAVIOURS[kind]))
    node = stack.enter_context(ScriptedNode(standby()))
    described = survey.of(*addresses, node.address)
    assert described.status == 1
    lines = described.error.splitlines()
    assert len(lines) == len(UNREACHED) + 3
    for address, (_, pattern), line in zip(addresses, UNREACHED, lines[1:], strict=False):
        assert re.fullmatch(f"  {address} {pattern}", line)
    assert lines[-2] == f"  {node.address} does not lead, knows no leader of epoch 7"


@pytest.mark.parametrize(("kind", "hints"), [("closes", True), ("resets", True), ("refuses", False)])
def test_a_node_that_closes_the_connection_may_use_another_protocol(
    kind: str, hints: bool, survey: Survey, stack: ExitStack
) -> None:
    """As a listener with SSL does to a client without, and the other way around: the node runs."""
    port = free_everywhere()
    if kind != "refuses":
        stack.enter_context(BadAddress(V4, port, BEHAVIOURS[kind]))
    described = survey.of(f"{V4}:{port}")
    step = "Next step: check security.protocol of --command-config, where a node closes the connection; start"
    assert (step in described.error) is hints


def test_the_leader_is_found_behind_nodes_that_are_not_reached(survey: Survey, stack: ExitStack) -> None:
    """Each would take ten seconds, one after the other."""
    port = free_everywhere()
    stack.enter_context(dropping(V4, port))
    with leader_node(CASES["one-voter"].quorum) as leader:
        described = survey.of(f"{V4}:{port}", "127.0.0.1:1", leader.address)
    assert (described.status, described.error) == (0, "")
    assert described.out == stored("one-voter", "--status").read_text()


@pytest.mark.parametrize("how", ["fetch", "describe-cluster"])
def test_a_standby_names_the_leader(how: str, survey: Survey, stack: ExitStack) -> None:
    """Before 3.9 by DescribeCluster only; there it may name the leader before the last."""
    leader = stack.enter_context(leader_node(CASES["one-voter"].quorum))
    place = ("127.0.0.1", leader.port)
    script = dict(standby(2, 9, place if how == "fetch" else None))
    if how == "describe-cluster":
        nodes = [DescribeClusterBroker(broker_id=3000, host=place[0], port=place[1])]
        script[DescribeClusterRequest] = lambda _: DescribeClusterResponse(
            endpoint_type=2, cluster_id=CLUSTER_ID, controller_id=1, brokers=nodes
        )
    node = stack.enter_context(ScriptedNode(script))
    described = survey.of(node.address)
    assert (described.status, described.out) == (0, stored("one-voter", "--status").read_text())


def test_an_election_is_awaited(survey: Survey) -> None:
    survey.wait_ms = 20_000
    with leader_node(CASES["one-voter"].quorum) as node:
        answers = [not_leading(), not_leading(), CASES["one-voter"].quorum.described()]
        node.script[DescribeQuorumRequest] = lambda _: answers.pop(0)
        node.script[FetchRequest] = lambda _: fetched(-1, 7)
        described = survey.of(node.address)
    assert (described.status, described.out) == (0, stored("one-voter", "--status").read_text())


def test_without_a_timeout_of_the_client_an_answer_comes_within_five_seconds(
    survey: Survey, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kafka's tool waits a minute, the default of default.api.timeout.ms."""
    assert command.LEADER_WAIT_MS <= 4_000
    monkeypatch.setattr(command, "LEADER_WAIT_MS", 300)
    survey.wait_ms = None
    with ScriptedNode(standby()) as node:
        assert "none was found within 0." in survey.of(node.address).error


def test_each_address_of_a_name_says_what_it_knows(
    survey: Survey, stack: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a name that has the addresses of all controllers."""
    names = stack.enter_context(resolving(monkeypatch))
    names.addresses[NAME] = [V4, V6]
    port = free_everywhere()
    stack.enter_context(ScriptedNode(standby(), place=(V4, port)))
    stack.enter_context(ScriptedNode(standby(2, 9), place=(V6, port)))
    survey.wait_ms = 1_500
    error = survey.of(f"{NAME}:{port}").error
    assert f"\n  {NAME}:{port} (127.0.0.1) does not lead, knows no leader of epoch 7\n" in error
    assert f"\n  {NAME}:{port} (::1) does not lead, says that controller 2 leads epoch 9\n" in error


BROKERS = [
    pytest.param(
        "silent", r"gives no response: DescribeQuorumRequest was not answered within 0\.\d s", id="silent"
    ),
    pytest.param(
        Errors.NOT_CONTROLLER,
        "answers NOT_CONTROLLER: it does not reach the leader of the controllers",
        id="not-controller",
    ),
    pytest.param(
        Errors.REQUEST_TIMED_OUT,
        "answers REQUEST_TIMED_OUT: it does not reach the leader of the controllers",
        id="timed-out",
    ),
]


@pytest.mark.parametrize(("answer", "pattern"), BROKERS)
def test_a_broker_cannot_say_more(
    answer: Errors | str, pattern: str, survey: Survey, stack: ExitStack
) -> None:
    """It forwards the request to the leader that it knows, and waits."""
    over = Event()
    stack.callback(over.set)

    def describe(_: Message) -> Message | None:
        if isinstance(answer, Errors):
            return not_leading(answer)
        over.wait(20.0)
        return None

    node = stack.enter_context(ScriptedNode({DescribeQuorumRequest: describe}))
    described = survey.of(node.address, to="server")
    over.set()
    assert described.status == 1
    assert re.search(f"\n  {node.address} {pattern}\nNext step: ask the controllers", described.error)


def test_a_broker_that_reaches_the_leader(survey: Survey) -> None:
    with leader_node(CASES["one-voter"].quorum) as node:
        described = survey.of(node.address, to="server")
        (kind,) = {each.endpoint_type for each in node.requests if isinstance(each, DescribeClusterRequest)}
    assert (described.status, described.out) == (0, stored("one-voter", "--status").read_text())
    assert kind == 1


def test_what_another_attempt_does_not_change_is_said_without_waiting(survey: Survey) -> None:
    survey.wait_ms = 60_000
    denied = not_leading(Errors.CLUSTER_AUTHORIZATION_FAILED)
    with ScriptedNode({DescribeQuorumRequest: lambda _: denied}) as node:
        described = survey.of(node.address)
        assert "was refused with CLUSTER_AUTHORIZATION_FAILED" in described.error
    with ScriptedNode({DescribeClusterRequest: not_loaded}) as node:
        described = survey.of(node.address)
        assert "No node serves DescribeQuorumRequest: " in described.error
    port = free_everywhere()
    with BadAddress(V4, port, BEHAVIOURS["ssl-alert"]):
        described = survey.of(f"{V4}:{port}")
        assert "Next step: check security.protocol of --command-config" in described.error
    assert described.status == 1
