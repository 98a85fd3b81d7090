"""Quorums in each state in which a controller, or another one, makes no progress."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from kraftctl.raft import peer_failures
from kraftctl.raft.peer_failures import PeerFailure
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.vote_response import VoteResponse
from tests.support.raft_names import directory_id, endpoint, voter_node
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
