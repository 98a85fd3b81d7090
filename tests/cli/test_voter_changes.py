"""`kraftctl quorum add-controller` and `remove-controller`: what is sent, printed and refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.quorum.controller_properties import read_controller_properties
from kraftctl.cli.quorum.majority_left import CAUGHT_UP_WITHIN_MS
from kraftctl.raft.forced_removal import is_forced
from kraftctl.storage.meta_properties import write_meta_properties
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from kraftctl_protocol.generated.unregister_controller_request import UnregisterControllerRequest
from kraftctl_protocol.generated.unregister_controller_response import UnregisterControllerResponse
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import uuid_to_string
from tests.cli.quorum_cases import CLUSTER_ID, Replica, ScriptedQuorum, directory_id, leader_node
from tests.cli.test_quorum_describe import status_of
from tests.support.wire.scripted_node import ScriptedNode

NODE_ID = 3
OWN_DIRECTORY = uuid_to_string(directory_id(77))


def properties_of(tmp_path: Path, **changes: str | None) -> dict[str, str]:
    properties: dict[str, str | None] = {
        "process.roles": "broker,controller",
        "node.id": str(NODE_ID),
        "controller.listener.names": "controller,OTHER",
        "listeners": "CONTROLLER://0.0.0.0:9093,OTHER://:9094,PLAINTEXT://:9092",
        "advertised.listeners": "CONTROLLER://[::1]:19093,PLAINTEXT://three:9092",
        "log.dirs": f"{tmp_path / 'a'},{tmp_path / 'b'}",
        **{key.replace("__", "."): value for key, value in changes.items()},
    }
    return {key: value for key, value in properties.items() if value is not None}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The properties file of a controller whose first directory is formatted."""
    write_meta_properties(tmp_path / "a", MetaProperties(CLUSTER_ID, NODE_ID, directory_id(77)), 0)
    path = tmp_path / "controller.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in properties_of(tmp_path).items()))
    return path


def quorum() -> ScriptedQuorum:
    return ScriptedQuorum(1, [Replica(1, 9)])


def test_add_controller(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with leader_node(quorum()) as node:
        connection = ["--bootstrap-controller", node.address, "--command-config", str(file)]
        assert main(["quorum", *connection, "add-controller"]) == 0
        (request,) = [sent for sent in node.requests if isinstance(sent, AddRaftVoterRequest)]
    assert (request.voter_id, request.voter_directory_id) == (NODE_ID, directory_id(77))
    listeners = [(listener.name, listener.host, listener.port) for listener in request.listeners]
    assert listeners == [("CONTROLLER", "::1", 19093), ("OTHER", "localhost", 9094)]
    assert request.ack_when_committed
    assert capsys.readouterr().out == (
        f"Added controller {NODE_ID} with directory id {OWN_DIRECTORY} and endpoints:"
        " CONTROLLER://[::1]:19093, OTHER://localhost:9094\n"
    )


def test_remove_controller(capsys: pytest.CaptureFixture[str]) -> None:
    with leader_node(quorum()) as node:
        removal = ["remove-controller", "-i", "3", "-d", OWN_DIRECTORY]
        assert main(["quorum", "--bootstrap-controller", node.address, *removal]) == 0
        (request,) = [sent for sent in node.requests if isinstance(sent, RemoveRaftVoterRequest)]
    assert (request.voter_id, request.voter_directory_id) == (NODE_ID, directory_id(77))
    assert capsys.readouterr().out == f"Removed  KRaft controller 3 with directory id {OWN_DIRECTORY}\n"


UNREGISTRATION = ["remove-controller", "-i", "3", "-d", OWN_DIRECTORY, "--unregister"]


def unregistering(
    scripted: ScriptedQuorum, level: int | None = 33, code: Errors = Errors.NONE
) -> ScriptedNode:
    node = leader_node(scripted)
    node.finalized = {} if level is None else {"metadata.version": level}
    node.script[UnregisterControllerRequest] = lambda _: UnregisterControllerResponse(error_code=code)
    return node


def changes_sent_to(node: ScriptedNode) -> list[str]:
    changes = (RemoveRaftVoterRequest, UnregisterControllerRequest)
    return [each.NAME for each in node.requests if isinstance(each, changes)]


BOTH = ["RemoveRaftVoterRequest", "UnregisterControllerRequest"]


@pytest.mark.parametrize(
    ("voters", "remove_error", "code", "status", "sent", "printed"),
    [
        pytest.param([1, 3], Errors.NONE, Errors.NONE, 0, BOTH, ["Removed  ", "Unregistered "], id="voter"),
        pytest.param(
            [1], Errors.VOTER_NOT_FOUND, Errors.NONE, 0, BOTH, ["not a voter", "Unregistered "], id="repeated"
        ),
        pytest.param(
            [1, 3], Errors.VOTER_NOT_FOUND, Errors.NONE, 1, BOTH[:1], [], id="voter-with-another-directory"
        ),
        pytest.param([1, 3], Errors.INVALID_REQUEST, Errors.NONE, 1, BOTH[:1], [], id="not-removed"),
        pytest.param(
            [1, 3],
            Errors.NONE,
            Errors.CONTROLLER_ID_NOT_REGISTERED,
            0,
            BOTH,
            ["Removed  ", "not registered"],
            id="not-registered",
        ),
        pytest.param(
            [1],
            Errors.VOTER_NOT_FOUND,
            Errors.CONTROLLER_ID_NOT_REGISTERED,
            0,
            BOTH,
            ["not a voter", "not registered"],
            id="all-done-before",
        ),
        pytest.param(
            [1, 3], Errors.NONE, Errors.INVALID_REQUEST, 1, BOTH, ["Removed  "], id="refused-to-unregister"
        ),
    ],
)
def test_remove_controller_unregisters(
    voters: list[int],
    remove_error: Errors,
    code: Errors,
    status: int,
    sent: list[str],
    printed: list[str],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As kafka-metadata-quorum of 4.4, and it can be repeated."""
    scripted = ScriptedQuorum(1, [Replica(number, 9) for number in voters], remove_error=remove_error)
    with unregistering(scripted, code=code) as node:
        assert main(["quorum", "--bootstrap-controller", node.address, *UNREGISTRATION, "--dry-run"]) == 0
        assert capsys.readouterr().out.splitlines()[1:] == ["DRY RUN of unregistering KRaft controller 3"]
        assert main(["quorum", "--bootstrap-controller", node.address, *UNREGISTRATION]) == status
    lines = capsys.readouterr().out.splitlines()
    assert [part in line for part, line in zip(printed, lines, strict=True)] == [True] * len(printed)
    assert changes_sent_to(node) == sent


@pytest.mark.parametrize("bootstrap", ["--bootstrap-controller", "--bootstrap-server"])
@pytest.mark.parametrize(
    ("level", "is_served", "reason"),
    [
        pytest.param(32, True, "metadata.version is 4.4-IV1", id="level-below"),
        pytest.param(30, False, "metadata.version is 4.3-IV0", id="earlier-release"),
        pytest.param(None, True, "does not say which metadata.version", id="level-unknown"),
        pytest.param(33, False, "does not serve UnregisterController", id="api-unknown"),
    ],
)
def test_nothing_is_removed_that_cannot_be_unregistered(
    level: int | None, is_served: bool, reason: str, bootstrap: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with unregistering(ScriptedQuorum(1, [Replica(1, 9), Replica(3, 9)]), level) as node:
        if not is_served:
            del node.script[UnregisterControllerRequest]
        assert main(["quorum", bootstrap, node.address, *UNREGISTRATION]) == 1
        assert changes_sent_to(node) == []
        error = capsys.readouterr().err
        assert all(part in error for part in (reason, "Nothing was removed. Next step: "))
        assert main(["quorum", bootstrap, node.address, *UNREGISTRATION[:-1]]) == 0
    assert changes_sent_to(node) == BOTH[:1]


def test_the_help_says_to_stop_a_controller_before_it_is_unregistered(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert status_of(["quorum", "remove-controller", "--help"]) == 0
    assert "Stop it first: a running controller registers again" in " ".join(capsys.readouterr().out.split())


@pytest.mark.parametrize(
    ("node_id", "others", "force", "sent"),
    [
        pytest.param(3, [0, 0, 0], [], "as it is", id="all-run"),
        pytest.param(3, [0, 0, 60_000], [], "as it is", id="it-is-down-itself"),
        pytest.param(3, [0, 60_000, 0], [], None, id="another-is-down"),
        pytest.param(1, [0, 60_000, 0], [], None, id="the-leader-while-another-is-down"),
        pytest.param(3, [0, None, 0], [], None, id="another-never-fetched"),
        pytest.param(3, [0, CAUGHT_UP_WITHIN_MS, 0], [], None, id="another-is-silent-for-long-enough"),
        pytest.param(3, [0, CAUGHT_UP_WITHIN_MS - 1, 0], [], "as it is", id="another-fetched-a-moment-ago"),
        pytest.param(3, [0, 60_000, 0], ["--force"], "forced", id="forced"),
        pytest.param(3, [0, 0, 0], ["--force"], "forced", id="forced-without-need"),
    ],
)
def test_a_removal_leaves_a_majority_that_works(
    node_id: int,
    others: list[int | None],
    force: list[str],
    sent: str | None,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Asked of any leader: Kafka's would remove it. `others`: how long each voter has not been caught up."""
    voters = [Replica(number, 9, behind_ms) for number, behind_ms in enumerate(others, start=1)]
    with leader_node(ScriptedQuorum(1, voters)) as node:
        removal = ["remove-controller", "-i", str(node_id), "-d", OWN_DIRECTORY, *force]
        status = main(["quorum", "--bootstrap-controller", node.address, *removal])
        requests = [request for request in node.requests if isinstance(request, RemoveRaftVoterRequest)]
    assert status == (1 if sent is None else 0)
    assert [is_forced(request) for request in requests] == ([] if sent is None else [sent == "forced"])
    error = capsys.readouterr().err
    assert ("of which 2 are needed" in error and "--force" in error) is (sent is None)


def test_a_dry_run_sends_nothing(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    connection = ["--bootstrap-controller", "127.0.0.1:1", "--command-config", str(file)]
    removal = ["remove-controller", "-i", "3", "-d", OWN_DIRECTORY]
    for operation in (["add-controller"], removal):
        assert main(["quorum", *connection, *operation, "--dry-run"]) == 0
    assert [line.split("3 ")[0] for line in capsys.readouterr().out.splitlines()] == [
        "DRY RUN of adding controller ",
        "DRY RUN of removing  KRaft controller ",
    ]


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["add-controller"], "add-controller needs --command-config"),
        (["remove-controller", "-i", "3"], "--controller-directory-id"),
        (["remove-controller", "-i", "x", "-d", OWN_DIRECTORY], "invalid int value"),
        (["remove-controller", "-i=-1", "-d", OWN_DIRECTORY], "-1 is negative"),
        (["remove-controller", "-i", "3", "-d", "short"], "not a Kafka UUID: 'short'"),
    ],
    ids=["no-file", "no-directory", "id-is-text", "id-is-negative", "directory-is-no-uuid"],
)
def test_wrong_arguments(arguments: list[str], reason: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert status_of(["quorum", "--bootstrap-controller", "127.0.0.1:1", *arguments]) == 1
    assert reason in capsys.readouterr().err


def test_refusals_of_the_cluster(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refusing = ScriptedQuorum(
        1, [Replica(1, 9)], add_error=Errors.DUPLICATE_VOTER, remove_error=Errors.VOTER_NOT_FOUND
    )
    with leader_node(refusing) as node:
        connection = ["--bootstrap-controller", node.address, "--command-config", str(file)]
        assert main(["quorum", *connection, "add-controller"]) == 1
        assert "AddRaftVoterRequest" in (error := capsys.readouterr().err)
        assert "DUPLICATE_VOTER" in error
        assert main(["quorum", *connection, "remove-controller", "-i", "3", "-d", OWN_DIRECTORY]) == 1
        assert "VOTER_NOT_FOUND" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"node__id": None}, "node.id is ''"),
        ({"node__id": "-3"}, "node.id is '-3'"),
        ({"process__roles": "broker"}, "process.roles"),
        ({"log__dirs": None}, "neither metadata.log.dir nor log.dirs"),
        ({"controller__listener__names": None}, "controller.listener.names is not set"),
        ({"controller__listener__names": "GONE"}, "GONE is neither in listeners"),
        ({"listeners": "CONTROLLER"}, "'CONTROLLER' is not of the form"),
    ],
    ids=[
        "no-id",
        "negative-id",
        "no-controller",
        "no-directory",
        "no-listener",
        "unknown-listener",
        "no-url",
    ],
)
def test_properties_that_are_not_a_controllers(
    changes: dict[str, str | None], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(AdminError) as refusal:
        read_controller_properties(properties_of(tmp_path, **changes))
    assert reason in str(refusal.value)


def test_a_directory_that_is_not_formatted(tmp_path: Path) -> None:
    controller = read_controller_properties(properties_of(tmp_path, metadata__log__dir=str(tmp_path / "m")))
    assert controller.log_dirs == [tmp_path / "a", tmp_path / "b", tmp_path / "m"]
    with pytest.raises(AdminError, match=r"m/meta.properties has no directory.id"):
        controller.formatted_directory_id()
