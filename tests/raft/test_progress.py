"""A controller that makes no progress says why: one line per reason, with addresses, ids, next step."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise

import pytest

from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.peer_failures import NEXT_STEPS, PeerFailure
from kraftctl.raft.progress_states import ELECTION, STANDING, STATES
from kraftctl_protocol.peer_limits import EPOCH_MAX
from tests.support.progress_cases import (
    ALL,
    CASES,
    DNS,
    GRACE_SECONDS,
    SILENT,
    Case,
    another_directory,
    dynamic,
    key,
)
from tests.support.raft_names import endpoint
from tests.support.simulator.cluster import bare_raft
from tests.support.simulator.cluster.bare_raft import BareNode, Network


def is_line_of(name: str) -> re.Pattern[str]:
    (state,) = [each for each in STATES if each.name == name]
    parts = re.split(r"\{\w+\}", state.text)
    return re.compile(".+".join(re.escape(part) for part in parts), re.DOTALL)


def test_each_state_has_a_case() -> None:
    assert [state.name for state in STATES] == list(CASES)


@pytest.mark.parametrize(
    ("name", "case"), [pytest.param(name, case, id=case.__name__) for name in CASES for case in CASES[name]]
)
def test_a_state_has_one_line_with_address_ids_and_next_step(
    name: str, case: Callable[[Network], Case]
) -> None:
    network = Network()
    node, names, seconds = case(network)
    network.run_for(seconds)
    pattern = is_line_of(name)
    lines = [text for text in node.warnings() if pattern.match(text)]
    assert len(set(lines)) >= 1, node.lines
    line = next((each for each in lines if all(name in each for name in names)), "")
    assert line, lines
    assert ". Next step: " in line
    assert not re.search(r"[{}]", line), line
    probed = {
        ELECTION: node.raft.why_no_progress(network.time.now_ms),
        STANDING: node.raft.why_no_vote(),
    }
    kind = next(state.kind for state in STATES if state.name == name)
    assert kind not in probed or pattern.match(probed[kind] or ""), "a probe has the line of the log"


def used_up(network: Network) -> Case:
    """A forged request has raised the epoch."""
    node = BareNode(network, 1, ALL, election=ElectionState(epoch=EPOCH_MAX + 1)).start()
    return Case(node, [key(1), str(EPOCH_MAX + 1)])


def contradicted(network: Network) -> Case:
    """The other two have lost their logs, and elect one of them."""
    nodes = [BareNode(network, node_id, ALL).start() for node_id in ALL]
    network.run_for(8)
    for node in nodes[1:]:
        node.stop()
        BareNode(network, node.node_id, ALL, election=ElectionState(epoch=50)).start()
    return Case(nodes[0], [key(1), "The leader ", "of epoch 5"])


@pytest.mark.parametrize("case", [used_up, contradicted])
def test_a_node_that_halts_says_why(case: Callable[[Network], Case]) -> None:
    """The process ends with this text, which its log has as well."""
    network = Network()
    node, names, seconds = case(network)
    network.run_for(seconds)
    assert node.halted is not None
    assert [each for each in names if each not in node.halted] == [], node.halted
    assert " Next step: " in node.halted


@pytest.mark.parametrize("latency_ms", [1, 400], ids=["fast", "slow"])
def test_lines_about_an_address_do_not_contradict_each_other(
    latency_ms: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The id is found by elimination: before that, and where only the directory differs, none is denied."""
    monkeypatch.setattr(bare_raft, "LATENCY_US", latency_ms * 1_000)
    network = Network()
    node = another_directory(network).node
    network.run_for(40)
    said = "\n".join(node.warnings())
    assert "has another directory" in said
    assert "The address of controller 2" not in said
    assert "is controller 2" not in said
    assert "is another controller" not in said.partition("Controller 2 has another directory")[2]


# When lines are written.


def of_state(node: BareNode, name: str) -> list[int]:
    """The times of its lines, in seconds."""
    pattern = is_line_of(name)
    return [line.ms // 1000 for line in node.lines if line.level == "WARN" and pattern.match(line.text)]


@pytest.mark.parametrize("kind", NEXT_STEPS)
def test_each_kind_of_failure_has_its_reason_and_next_step(kind: str) -> None:
    network = Network()
    node = BareNode(network, 1, ALL).start()
    for node_id in (2, 3):
        network.failures[endpoint(node_id)] = PeerFailure(kind, f"the reason of {node_id}")
    network.run_for(8)
    (line,) = node.warnings()
    assert (
        "controller 2 at host-2:9093: the reason of 2; controller 3 at host-3:9093: the reason of 3" in line
    )
    assert line.count(NEXT_STEPS[kind]) == 1


def test_elections_and_rolling_restarts_are_silent() -> None:
    network = Network()
    nodes = {node_id: BareNode(network, node_id, ALL).start() for node_id in ALL}
    for node_id in ALL:
        network.run_for(10)
        nodes[node_id].stop()
        network.run_for(6)
        nodes[node_id] = BareNode(network, node_id, ALL).start()
    network.run_for(10)
    assert [node.warnings() for node in network.nodes] == [[]] * 6
    assert any(node.raft.is_leader for node in nodes.values())


def test_the_same_reason_is_repeated_ever_more_rarely() -> None:
    network = Network()
    node = BareNode(network, 1, ALL).start()
    network.run_for(500)
    times = of_state(node, "no majority")
    assert len(times) == 4
    assert GRACE_SECONDS <= times[0] <= GRACE_SECONDS + 1
    gaps = [later - earlier for earlier, later in pairwise(times)]
    assert [round(gap / 60) for gap in gaps] == [1, 2, 4]


def test_a_new_reason_is_said_and_one_that_flutters_does_not_fill_the_log() -> None:
    network = Network()
    node = BareNode(network, 1, ALL).start()
    network.run_for(30)
    assert len(of_state(node, "no majority")) == 1
    network.failures[endpoint(3)] = DNS
    network.run_for(4)
    assert len(of_state(node, "no majority")) == 2
    for _ in range(10):
        network.failures.pop(endpoint(3), None)
        network.run_for(3)
        network.failures[endpoint(3)] = DNS
        network.run_for(3)
    assert len(of_state(node, "no majority")) <= 4


def test_elections_that_end_nowhere_are_a_few_lines() -> None:
    """They were 130 lines in 100 seconds."""
    network = Network()
    node = BareNode(network, 1, ALL).start()
    network.run_for(100)
    assert len(node.infos()) <= 15
    debug = [line for line in node.lines if line.level == "DEBUG" and "Transition to" in line.text]
    assert len(debug) > 50, "they are there at level DEBUG"


def test_its_end_is_said() -> None:
    network = Network()
    node = BareNode(network, 1, ALL).start()
    network.run_for(60)
    BareNode(network, 2, ALL).start()
    network.run_for(10)
    (line,) = [each for each in node.infos() if "makes progress again" in each]
    assert re.search(r"after 6\d\.\d s and \d+ elections", line)
    (begin,) = of_state(node, "no majority")
    assert begin < 10


def test_a_wrong_address_is_named_beside_a_leader() -> None:
    network = Network()
    strange = BareNode(network, 3, ALL, cluster_id="their-cluster").start()
    nodes = [BareNode(network, node_id, ALL).start() for node_id in (1, 2)]
    network.run_for(10)
    (leader,) = [node for node in nodes if node.raft.is_leader]
    assert len(of_state(leader, "another cluster")) == 1
    assert strange.raft.leader_id == -1


def test_an_address_that_is_right_again_is_named() -> None:
    network = Network()
    strange = BareNode(network, 3, ALL, cluster_id="their-cluster").start()
    node = BareNode(network, 1, ALL).start()
    network.run_for(10)
    strange.stop()
    BareNode(network, 3, ALL).start()
    network.run_for(10)
    lines = [
        each for each in node.infos() if each.startswith("Controller 3 at host-3:9093 answers controller")
    ]
    assert len(lines) == 1


def test_an_address_that_leads_elsewhere_for_a_moment_is_no_fault() -> None:
    """A container has moved."""
    network = Network()
    for node_id in (1, 2):
        BareNode(network, node_id, ALL).start()
    strange = BareNode(network, 9, {9: endpoint(3), 8: endpoint(8)}, address=endpoint(3)).start()
    while not any(node.raft.is_leader for node in network.nodes):
        network.run_for(0.01)
    network.run_for(0.3)
    assert any(node.raft._core.progress.faults._reasons for node in network.nodes), "it was met"
    strange.stop()
    BareNode(network, 3, ALL).start()
    network.run_for(20)
    assert [node.warnings() for node in network.nodes if node is not strange] == [[]] * 3


def test_a_static_voter_with_a_new_disk_is_one_process() -> None:
    network = Network()
    nodes = [BareNode(network, node_id, ALL).start() for node_id in ALL]
    network.run_for(6)
    (leader,) = [node for node in nodes if node.raft.is_leader]
    follower = next(node for node in nodes if not node.raft.is_leader)
    follower.stop()
    BareNode(network, follower.node_id, ALL, generation=1).start()
    network.run_for(30)
    assert of_state(leader, "two processes") == []


def test_a_leader_that_has_no_others_asks_its_bootstrap_servers_once_a_minute() -> None:
    network = Network()
    network.failures[endpoint(2)] = SILENT
    asked: list[int] = []
    send = network.send

    def count(sender: BareNode, effect: object) -> None:
        asked.append(network.time.now_ms // 1000)
        send(sender, effect)  # type: ignore[arg-type]

    network.send = count  # type: ignore[method-assign, assignment]
    node = BareNode(network, 1, dynamic(1), bootstrap_servers=[endpoint(1), endpoint(2)]).start()
    network.run_for(130)
    assert asked == [2, 62, 122]
    assert node.warnings() == []


def test_observers_that_lag_behind_are_no_other_quorum() -> None:
    """They name the leader of an earlier epoch."""
    network = Network()
    node = BareNode(network, 1, dynamic(1), bootstrap_servers=[endpoint(1), endpoint(4)]).start()
    BareNode(network, 4, dynamic(1), bootstrap_servers=[endpoint(1)]).start()
    network.run_for(200)
    assert node.warnings() == []
