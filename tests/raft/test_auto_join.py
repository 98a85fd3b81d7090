"""KIP-1186: a controller with auto-join makes itself a voter, also after it has lost its directory.

Random joins while messages are lost and leaders crash are runs of `make simulate PROFILE=joins`.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from kraftctl.raft.auto_join import take_join_response
from kraftctl.raft.effects import Notice
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl.storage.own_directory import why_observer
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.add_raft_voter_response import AddRaftVoterResponse
from tests.support.raft_names import directory_id, voter_node
from tests.support.simulator.cluster.raft_transcript import RaftTranscript
from tests.support.simulator.quorum import Quorum, StartQuorum

AUTO_JOIN = {"controller.quorum.auto.join.enable": "true"}
PERIOD_MS = 2_000
"""controller.quorum.fetch.timeout.ms"""
REQUEST_TIMEOUT_MS = 2_000
"""controller.quorum.request.timeout.ms"""
VOTERS = [1, 2, 3]
JOINED_MS = 15_000


def requests(quorum: Quorum, node_id: int, name: str, since: int = 0) -> list[str]:
    return [line for line in quorum.lines(node_id, since) if line.startswith("send") and f": {name}" in line]


def keys(quorum: Quorum) -> list[ReplicaKey]:
    return [node.key for node in quorum.led().raft.voter_set.nodes.values()]


def key(quorum: Quorum, node_id: int) -> ReplicaKey:
    return ReplicaKey(node_id, quorum.directory_ids[node_id])


def test_an_observer_adds_itself(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(5, VOTERS, [11, 12], properties=AUTO_JOIN)
    quorum.run_for(JOINED_MS)
    assert keys(quorum) == [key(quorum, node_id) for node_id in [1, 2, 3, 11, 12]]
    for node_id in (11, 12):
        assert not requests(quorum, node_id, "RemoveRaftVoterRequest")
    joined = len(quorum.trace)
    quorum.run_for(10 * PERIOD_MS)
    for node_id in quorum.processes:
        assert not requests(quorum, node_id, "AddRaftVoterRequest", joined)
    quorum.end_well()


def test_without_the_property_it_remains_an_observer(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(5, VOTERS, [11])
    quorum.run_for(JOINED_MS)
    assert keys(quorum) == [key(quorum, node_id) for node_id in VOTERS]
    assert not requests(quorum, 11, "AddRaftVoterRequest")


def test_it_asks_once_in_a_fetch_timeout(start_quorum: StartQuorum) -> None:
    """The leader refuses while the change before cannot be committed."""
    quorum = start_quorum(5, [1], [11, 12], properties=AUTO_JOIN, settled=False)
    quorum.processes[12].hold_flushes()
    quorum.run_for(20 * PERIOD_MS)
    assert 12 not in quorum.led().raft.voter_set.voter_ids()
    asked = len(requests(quorum, 12, "AddRaftVoterRequest"))
    assert 0 < asked <= 20


def test_between_two_requests_it_fetches_for_a_fetch_timeout() -> None:
    """A leader that cannot reach it answers too late, and refuses all other changes until then."""
    transcript = RaftTranscript()
    transcript.run("node id=11 voters=1,2 kraft-version=1")
    transcript.run("start")
    transcript.node._core.config.auto_join = True
    transcript.run("begin-quorum-epoch leader=1 epoch=3")
    lines = transcript.run(f"sleep {10 * PERIOD_MS}").splitlines()
    asked_ms: list[int] = []
    now_ms = fetches = 0
    for line in lines:
        if line.startswith("after"):
            now_ms = int(line.split()[1])
        elif "FetchRequest" in line:
            fetches += 1
        elif "AddRaftVoterRequest" in line:
            assert fetches > 0
            asked_ms.append(now_ms)
            fetches = 0
    pauses_ms = [later - earlier for earlier, later in pairwise(asked_ms)]
    assert len(pauses_ms) >= 2
    assert all(pause_ms >= REQUEST_TIMEOUT_MS + PERIOD_MS for pause_ms in pauses_ms)


def test_a_lost_directory_leaves_before_the_new_one_is_added(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(5, VOTERS, properties=AUTO_JOIN)
    lost = quorum.followers()[0]
    former = lost.key
    quorum.crash(lost)
    quorum.operator.lose_directory(lost)
    since = len(quorum.trace)
    lost.start()
    quorum.run_for(JOINED_MS)
    assert former not in keys(quorum)
    assert key(quorum, lost.node_id) in keys(quorum)
    asked = [line.split(": ")[1] for line in quorum.lines(lost.node_id, since) if "RaftVoterRequest" in line]
    assert [line.split("(")[0] for line in asked] == ["RemoveRaftVoterRequest", "AddRaftVoterRequest"]
    quorum.end_well()


def test_a_static_quorum_is_joined_after_its_upgrade_only(start_quorum: StartQuorum) -> None:
    quorum = start_quorum(5, VOTERS, [11], dynamic=False, properties=AUTO_JOIN)
    quorum.run_for(JOINED_MS)
    assert not requests(quorum, 11, "AddRaftVoterRequest")
    quorum.operator.upgrade_kraft_version()
    quorum.run_for(JOINED_MS)
    assert keys(quorum) == [key(quorum, node_id) for node_id in [1, 2, 3, 11]]


@pytest.mark.parametrize(
    ("auto_join", "next_step"),
    [
        pytest.param(True, "none, it asks", id="auto-join"),
        pytest.param(False, "add-controller", id="by-hand"),
    ],
)
@pytest.mark.parametrize("node_id", [11, 1], ids=["new-node", "new-directory"])
def test_a_start_says_what_is_to_be_done(auto_join: bool, next_step: str, node_id: int) -> None:
    replica = ReplicaKey(node_id, directory_id(node_id, 1))
    voters = VoterSet([voter_node(voter_id) for voter_id in VOTERS])
    line = why_observer(Path("logs"), replica, voters, auto_join=auto_join)
    assert line is not None
    assert next_step in line
    assert ("add-controller" in line) is not auto_join


@pytest.mark.parametrize(
    ("error", "levels"),
    [
        pytest.param(Errors.REQUEST_TIMED_OUT, ["INFO", "WARN", "WARN"], id="passes"),
        pytest.param(Errors.UNSUPPORTED_VERSION, ["WARN", "WARN", "WARN"], id="does-not-pass"),
    ],
)
def test_refusals_are_rare_lines_and_a_warning_once_they_last(
    start_quorum: StartQuorum, error: Errors, levels: list[str]
) -> None:
    """Every two seconds, for a bit more than three minutes."""
    core = start_quorum(5, VOTERS, [11]).processes[11].raft._core
    lines: list[str] = []
    for seconds in range(0, 190, 2):
        core.begin_step(core.now_ms + 2_000, core.wall_ms)
        text = f"Missing: 3 (silent for {seconds} s)"
        take_join_response(core, AddRaftVoterResponse(error_code=error, error_message=text))
        lines += [effect.level for effect in core.take_effects() if isinstance(effect, Notice)]
    assert lines == levels
