"""Changes of the voters have one line each, when raft has their result (KIP-853)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_request import AddRaftVoterRequest
from kraftctl_protocol.generated.remove_raft_voter_request import RemoveRaftVoterRequest
from tests.node.audited_node import Line, audited_node, line_after, parsed
from tests.node.test_rights import ALICE, forwarded
from tests.support.simulator.cluster.process import ControllerProcess
from tests.support.simulator.quorum import Quorum, StartQuorum, quorums

VOTER_APIS = (ApiKey.ADD_RAFT_VOTER, ApiKey.REMOVE_RAFT_VOTER, ApiKey.UPDATE_RAFT_VOTER)


@pytest.fixture
def start() -> Iterator[StartQuorum]:
    with quorums() as started:
        yield started


def lines_of_voters(process: ControllerProcess) -> list[Line]:
    entries = [entry for entry in process.audit_entries if entry.context.api.key in VOTER_APIS]
    return [parsed(entry) for entry in entries]


def changed(quorum: Quorum, leader: ControllerProcess) -> Line:
    """The line of the latest change; raft has its record at the offset that the line names."""
    (line,) = lines_of_voters(leader)
    leader.audit_entries.clear()
    assert line["first_offset"] == line["last_offset"] == leader.raft.voters_offset
    assert line["leader_epoch"] == leader.raft.epoch
    return line


def test_voters_that_are_added_moved_and_removed(start: StartQuorum) -> None:
    quorum = start(1, [1, 2, 3], [4])
    leader = quorum.led()
    leader.audit_entries.clear()
    quorum.add_voter(4)
    quorum.settle()
    added = changed(quorum, leader)
    assert (added["api"], added["outcome"]) == ("AddRaftVoter", "committed")
    assert added["changes"][0]["voter_id"] == 4
    quorum.update_voter(4, 9_999)
    quorum.settle()
    moved, corrected = lines_of_voters(leader)
    assert [line["outcome"] for line in (moved, corrected)] == ["appended", "appended"]
    assert moved["changes"][0]["listeners"] == ["CONTROLLER://host-4:9999"]
    assert corrected["client_id"] != moved["client_id"], "the voter itself says where it really is"
    assert moved["first_offset"] < corrected["first_offset"] == leader.raft.voters_offset
    leader.audit_entries.clear()
    quorum.remove_voter(4)
    quorum.settle()
    assert changed(quorum, leader)["outcome"] == "committed"


def test_a_voter_that_is_added_without_waiting(start: StartQuorum) -> None:
    quorum = start(1, [1, 2, 3], [4])
    leader = quorum.led()
    leader.audit_entries.clear()
    quorum.add_voter(4, ack_when_committed=False)
    quorum.settle()
    assert changed(quorum, leader)["outcome"] == "appended"


def test_a_change_of_voters_that_is_not_committed_in_time(start: StartQuorum) -> None:
    quorum = start(1, [1, 2, 3], [4])
    leader = quorum.led()
    leader.audit_entries.clear()
    question = quorum.remove_voter(quorum.followers()[0].node_id)
    for process in quorum.processes.values():
        if process is not leader:
            quorum.crash(process)
    quorum.run_for(10_000)
    assert question.error != Errors.NONE
    (line,) = lines_of_voters(leader)
    assert line["outcome"] in ("timed_out", "lost")
    assert line["first_offset"] == line["last_offset"] is not None


def test_a_change_of_voters_in_an_envelope_is_its_clients() -> None:
    node = audited_node()
    for request in (AddRaftVoterRequest(), RemoveRaftVoterRequest()):
        line = line_after(node, forwarded(request, ALICE))
        assert (line["principal"], line["outcome"]) == ("User:alice", "refused")
        assert line["forwarded_by"]["principal"] == "User:ANONYMOUS"
