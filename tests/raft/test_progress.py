"""A controller that makes no progress says why: one line per reason, with addresses, ids, next step."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import pytest

from kraftctl.raft import peer_failures
from kraftctl.raft.election_state import EPOCH_MAX, ElectionState
from kraftctl.raft.peer_failures import NEXT_STEPS, PeerFailure
from kraftctl.raft.progress_states import STATES
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.vote_response import VoteResponse
from tests.support.raft_names import directory_id, endpoint, voter_node
from tests.support.simulator.cluster import bare_raft
from tests.support.simulator.cluster.bare_raft import Address, BareNode, Network

DNS = PeerFailure(peer_failures.NO_ADDRESS, "DNS: Name or service not known")
SILENT = peer_failures.NOTHING_CAME

ALL = {1: endpoint(1), 2: endpoint(2), 3: endpoint(3)}
BOOTSTRAP = [endpoint(1), endpoint(2), endpoint(3)]
GRACE_SECONDS = 5.0


def dynamic(*node_ids: int) -> VoterSet:
    return VoterSet([voter_node(node_id) for node_id in node_ids])


def key(node_id: int, generation: int = 0) -> str:
    return str(ReplicaKey(node_id, directory_id(node_id, generation)))


class Case(NamedTuple):
    """A quorum in a state: the node to look at, what its line must name, and for how long to run."""

    node: BareNode
    names: list[str]
    seconds: float = 12.0


def no_majority(network: Network) -> Case:
    node = BareNode(network, 1, ALL).start()
    network.failures[endpoint(3)] = DNS
    return Case(node, ["1 of 3", "2 at host-2:9093: connection refused", "3 at host-3:9093: DNS", key(1)])


def not_elected(network: Network) -> Case:
    """The others have lost what they had, and do not vote."""
    for node_id in (2, 3):
        BareNode(network, node_id, ALL, recovering_epoch=4).start()
    return Case(BareNode(network, 1, ALL).start(), ["3 of 3", "2 at host-2:9093", "3 at host-3:9093"])


def leader_silent(network: Network) -> Case:
    """Node 3 reaches the other follower, and not the leader."""
    nodes = {node_id: BareNode(network, node_id, ALL).start() for node_id in ALL}
    network.run_for(6)
    (leader,) = [node for node in nodes.values() if node.raft.is_leader]
    follower = next(node for node in nodes.values() if not node.raft.is_leader)
    send = network.send

    def cut(sender: BareNode, effect: object) -> None:
        host = getattr(effect, "host")  # noqa: B009
        if sender is follower and host == leader.address[0]:
            network.failures[leader.address] = PeerFailure(peer_failures.UNREACHABLE, "No route to host")
            send(sender, effect)  # type: ignore[arg-type]
            del network.failures[leader.address]
        else:
            send(sender, effect)  # type: ignore[arg-type]

    network.send = cut  # type: ignore[method-assign, assignment]
    return Case(
        follower, [f"Leader {leader.node_id} of epoch", f"{leader.address[0]}:9093", "No route to host"]
    )


def not_fetched(network: Network) -> Case:
    """It advertises an address at which nothing listens."""
    node = BareNode(network, 1, dynamic(1, 2, 3), advertised=("typo", 9093)).start()
    for node_id in (2, 3):
        BareNode(network, node_id, dynamic(1, 2, 3), election=None).start()
    # Only node 1 begins elections: the others do not reach each other.
    block(network, 2, endpoint(3), endpoint(1))
    block(network, 3, endpoint(2), endpoint(1))
    return Case(node, ["typo:9093", key(1), "3 of 3"], 40)


def block(network: Network, node_id: int, *addresses: Address) -> None:
    send = network.send

    def cut(sender: BareNode, effect: object) -> None:
        address = (getattr(effect, "host"), getattr(effect, "port"))  # noqa: B009
        if sender.node_id == node_id and address in addresses:
            network.failures[address] = SILENT
            send(sender, effect)  # type: ignore[arg-type]
            del network.failures[address]
        else:
            send(sender, effect)  # type: ignore[arg-type]

    network.send = cut  # type: ignore[method-assign, assignment]


def own_disk(network: Network) -> Case:
    node = BareNode(network, 1, dynamic(1))
    node.disk_hangs = True
    return Case(node.start(), [key(1), "epoch 1", "offset 0 of 3"])


def recovering(network: Network, voters: dict[int, Address] = ALL) -> Case:
    node = BareNode(network, 1, voters, bootstrap_servers=BOOTSTRAP, recovering_epoch=7).start()
    return Case(node, ["epoch 7", "2 at host-2:9093" if voters else "lost-disk.md", key(1)])


def no_voters(network: Network) -> Case:
    for node_id in (2, 3):
        BareNode(network, node_id, {}, bootstrap_servers=BOOTSTRAP).start()
    node = BareNode(network, 1, {}, bootstrap_servers=BOOTSTRAP).start()
    return Case(node, ["kraft.version is 0", "host-2:9093: answers, and knows no leader", key(1)])


def no_leader_found(network: Network) -> Case:
    node = BareNode(network, 4, dynamic(1, 2), bootstrap_servers=[endpoint(9)]).start()
    return Case(node, ["host-9:9093: connection refused", "controller 1 at host-1:9093", key(4)])


def not_a_voter(network: Network) -> Case:
    BareNode(network, 1, dynamic(1)).start()
    node = BareNode(network, 4, VoterSet([]), bootstrap_servers=[endpoint(1)]).start()
    return Case(node, [key(4), f"voters are {key(1)}", "leader 1"])


def new_directory(network: Network) -> Case:
    for node_id in (1, 2):
        BareNode(network, node_id, dynamic(1, 2, 3)).start()
    node = BareNode(network, 3, VoterSet([]), generation=1, bootstrap_servers=BOOTSTRAP).start()
    return Case(node, [key(3), key(3, 1), "remove-controller --controller-id 3"])


def another_cluster(network: Network) -> Case:
    BareNode(network, 2, ALL, cluster_id="their-cluster").start()
    node = BareNode(network, 1, ALL).start()
    return Case(node, ["Controller 2 at host-2:9093", "cluster their-cluster", "to cluster cluster"])


def another_cluster_at_bootstrap(network: Network) -> Case:
    BareNode(network, 1, dynamic(1), cluster_id="their-cluster").start()
    node = BareNode(network, 4, VoterSet([]), bootstrap_servers=[endpoint(1)]).start()
    return Case(node, ["bootstrap server host-1:9093", "cluster their-cluster", "to cluster cluster"])


def another_id(network: Network) -> Case:
    """Two addresses are swapped."""
    swapped = {1: endpoint(1), 2: endpoint(3), 3: endpoint(2)}
    for node_id in (2, 3):
        BareNode(network, node_id, ALL, recovering_epoch=1).start()
    return Case(
        BareNode(network, 1, swapped).start(), ["controller 2 at host-3:9093", "that of controller 3"]
    )


def another_id_of_nobody(network: Network) -> Case:
    BareNode(network, 9, {9: endpoint(2), 8: endpoint(8)}, address=endpoint(2)).start()
    return Case(
        BareNode(network, 1, ALL).start(), ["controller 2 at host-2:9093", "none of the voters 1, 2, 3"]
    )


def own_address(network: Network) -> Case:
    voters = {1: endpoint(1), 2: endpoint(1), 3: endpoint(3)}
    return Case(
        BareNode(network, 1, voters).start(), ["controller 2 at host-1:9093", f"controller {key(1)} itself"]
    )


def another_directory(network: Network) -> Case:
    """As a candidate sees it."""
    BareNode(network, 2, dynamic(1, 2, 3), generation=1).start()
    node = BareNode(network, 1, dynamic(1, 2, 3)).start()
    return Case(node, [key(2), "host-2:9093", "remove-controller --controller-id 2"])


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


def another_directory_fetches(network: Network) -> Case:
    """As a leader sees it: wiped, formatted anew."""
    leader = BareNode(network, 1, dynamic(1, 2)).start()
    former = BareNode(network, 2, dynamic(1, 2)).start()
    network.run_for(4)
    if former.raft.is_leader:
        leader, former = former, leader
    former.stop()
    node_id = former.node_id
    BareNode(network, node_id, VoterSet([]), generation=1, bootstrap_servers=BOOTSTRAP).start()
    return Case(leader, [key(node_id), f"remove-controller --controller-id {node_id}"], 30)


def no_right(network: Network) -> Case:
    BareNode(network, 2, ALL).start()
    network.denying.add(endpoint(2))
    return Case(BareNode(network, 1, ALL).start(), ["Controller 2 at host-2:9093", key(1), "super.users"])


def refused_request(network: Network) -> Case:
    """A peer of the future."""
    node = BareNode(network, 1, ALL).start()
    strange = BareNode(network, 2, ALL).start()

    def receive(request: object, answer: Callable[..., None]) -> None:
        answer(VoteResponse(error_code=int(Errors.INVALID_RECORD)))

    strange.receive = receive  # type: ignore[method-assign, assignment]
    return Case(node, ["Controller 2 at host-2:9093", "INVALID_RECORD"])


def same_id(network: Network) -> Case:
    """A copy of the configuration, in a directory of its own."""
    node = BareNode(network, 1, dynamic(1)).start()
    BareNode(
        network, 1, VoterSet([]), generation=1, address=("elsewhere", 9093), bootstrap_servers=[endpoint(1)]
    ).start()
    return Case(node, ["node.id=1", key(1), key(1, 1), "10.0.0.1"])


def same_id_as_the_leader(network: Network) -> Case:
    """The same as the other process sees it."""
    same_id(network)
    return Case(network.nodes[1], ["node.id=1", key(1, 1), "leader of epoch 1"], 30)


def two_processes(network: Network) -> Case:
    """Static voters: the leader has no directory ids of them."""
    nodes = [BareNode(network, node_id, ALL).start() for node_id in ALL]
    network.run_for(6)
    (leader,) = [node for node in nodes if node.raft.is_leader]
    follower = next(node for node in nodes if not node.raft.is_leader)
    BareNode(network, follower.node_id, ALL, generation=1, address=("elsewhere", 9093)).start()
    return Case(leader, [key(follower.node_id), key(follower.node_id, 1), "10.0.0.1"])


def two_copies(network: Network, voters: VoterSet | dict[int, Address] = ALL) -> Case:
    """The directory of a follower was copied, and both have all records."""
    nodes = [BareNode(network, node_id, voters).start() for node_id in ALL]
    network.run_for(6)
    (leader,) = [node for node in nodes if node.raft.is_leader]
    follower = next(node for node in nodes if not node.raft.is_leader)
    BareNode(network, follower.node_id, voters, address=("elsewhere", 9093)).start()
    return Case(leader, [key(follower.node_id), "copies of one directory", "10.0.0.1"])


def two_quorums(network: Network) -> Case:
    """Each was formatted with --standalone."""
    servers = [endpoint(1), endpoint(2)]
    node = BareNode(network, 1, dynamic(1), bootstrap_servers=servers).start()
    BareNode(network, 2, dynamic(2), bootstrap_servers=servers).start()
    return Case(node, ["host-2:9093", "leader 2 of epoch 1", "leader 1 of epoch 1", key(1), "cluster"])


def differing_voters(network: Network) -> Case:
    BareNode(network, 4, {1: endpoint(1), 2: endpoint(2), 4: endpoint(4)}).start()
    return Case(BareNode(network, 1, ALL).start(), [f"Controller {key(4)}", "voters 1, 2, 3", "10.0.0.1"])


def silent_voter(network: Network, voters: VoterSet | dict[int, Address] = ALL) -> Case:
    nodes = [BareNode(network, node_id, voters).start() for node_id in ALL]
    network.run_for(6)
    (leader,) = [node for node in nodes if node.raft.is_leader]
    follower = next(node for node in nodes if not node.raft.is_leader)
    follower.stop()
    voter = str(follower.node_id) if voters is ALL else key(follower.node_id)
    address = f"host-{follower.node_id}:9093"
    return Case(
        leader, [f"Voter {voter} at {address} ", "connection refused", key(leader.node_id), "2 of 3"], 32
    )


def unreached_voter(network: Network) -> Case:
    """In their own lists, all but controller 3 have another address of it."""
    for node_id in ALL:
        BareNode(network, node_id, ALL if node_id == 3 else ALL | {3: endpoint(9)}).start()
        network.run_for(3)
    (leader,) = [node for node in network.nodes if node.raft.is_leader]
    assert leader.node_id != 3
    return Case(leader, ["Voter 3 fetches", "host-9:9093", "controller.quorum.voters of this node"], 70)


CASES: dict[str, list[Callable[[Network], Case]]] = {
    "no majority": [no_majority],
    "not elected": [not_elected],
    "leader silent": [leader_silent],
    "not fetched": [not_fetched],
    "own disk": [own_disk],
    "recovering": [recovering, lambda network: recovering(network, {})],
    "no voters": [no_voters],
    "no leader found": [no_leader_found],
    "not a voter": [not_a_voter],
    "new directory": [new_directory],
    "another cluster": [another_cluster, another_cluster_at_bootstrap],
    "another id": [another_id, another_id_of_nobody],
    "own address": [own_address],
    "another directory": [another_directory, another_directory_fetches],
    "no right": [no_right],
    "request refused": [refused_request],
    "same id": [same_id, same_id_as_the_leader],
    "two processes": [
        two_processes,
        two_copies,
        lambda network: two_copies(network, dynamic(1, 2, 3)),
    ],
    "two quorums": [two_quorums],
    "differing voters": [differing_voters],
    "silent voter": [silent_voter, lambda network: silent_voter(network, dynamic(1, 2, 3))],
    "unreached voter": [unreached_voter],
}
"""By the name of the state, quorums that are in it."""


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
