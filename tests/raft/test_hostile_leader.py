"""Leaders that say anything, as fast as they can: a follower lives on, asks at a bounded rate, and says why.

Each kind is answered for ten seconds of a virtual clock. A leader that keeps to the protocol then catches the
follower up.
"""

from __future__ import annotations

import collections
from collections.abc import Callable

import pytest

from kraftctl.raft.effects import (
    FinishSnapshot,
    SaveSnapshotSlice,
    SendRequest,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl.raft.limited_notices import LINES_PER_INTERVAL_MAX
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import begin_quorum_epoch_request, fetch_snapshot_response
from kraftctl_protocol.generated.begin_quorum_epoch_request import BeginQuorumEpochRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.record_batch import encode_batch
from tests.support.raft_names import CLUSTER_ID, endpoint
from tests.support.simulator.cluster.bare_raft import BareNode, Network

FOLLOWER, LEADER, THIRD = ALL = (1, 2, 3)
PLACES = {node_id: endpoint(node_id) for node_id in ALL}
SECONDS = 10.0
REQUESTS_PER_SECOND_MAX = 370
WRITES_MAX = 50 + 10 * int(SECONDS) + 5
"""Of quorum-state: a burst, then one in 100 ms."""
EPOCH = 3

NEXT = "the next"


class Follower(BareNode):
    """Counts what it does."""

    def __init__(self, network: Network) -> None:
        super().__init__(network, FOLLOWER, PLACES)
        self.done: collections.Counter[type] = collections.Counter()

    def _carry_out(self, effect: object) -> None:
        self.done[type(effect)] += 1
        if isinstance(effect, SendRequest):
            assert (effect.host, effect.port) in PLACES.values(), (
                "only the voters' own addresses are usable ones"
            )
        if isinstance(effect, SaveSnapshotSlice):
            assert effect.position + len(effect.data) <= effect.size_bytes
        super()._carry_out(effect)


class HostileLeader:
    """Answers each Fetch and FetchSnapshot immediately."""

    def __init__(self, fetch: Fetch, snapshot: Snapshot | None = None) -> None:
        self.fetch = fetch
        self.snapshot = snapshot
        self.requests_count = 0
        self.epoch = EPOCH

    def receive(self, request: Message, answer: Callable[[Message], None]) -> None:
        self.requests_count += 1
        if isinstance(request, FetchRequest):
            response = answered(self, partition=PartitionData())
            self.fetch(self, request, response)
            answer(response)
        elif isinstance(request, FetchSnapshotRequest):
            assert self.snapshot is not None
            piece = sliced(self, request)
            self.snapshot(self, request, piece)
            answer(piece)
        else:
            answer(VoteResponse(error_code=int(Errors.BROKER_NOT_AVAILABLE)))


Fetch = Callable[[HostileLeader, FetchRequest, FetchResponse], None]
"""Changes a response without records of the leader of EPOCH."""

Snapshot = Callable[[HostileLeader, FetchSnapshotRequest, FetchSnapshotResponse], None]


def answered(leader: HostileLeader, *, partition: PartitionData) -> FetchResponse:
    partition.current_leader = LeaderIdAndEpoch(leader_id=LEADER, leader_epoch=leader.epoch)
    partition.high_watermark = 0
    partition.records = b""
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    host, port = endpoint(LEADER)
    return FetchResponse(
        responses=[topic], node_endpoints=[NodeEndpoint(node_id=LEADER, host=host, port=port)]
    )


def sliced(leader: HostileLeader, request: FetchSnapshotRequest) -> FetchSnapshotResponse:
    """Bytes of a snapshot of a megabyte, as asked for."""
    wanted = request.topics[0].partitions[0]
    partition = fetch_snapshot_response.PartitionSnapshot(
        snapshot_id=fetch_snapshot_response.SnapshotId(
            end_offset=wanted.snapshot_id.end_offset, epoch=wanted.snapshot_id.epoch
        ),
        size=1_000_000,
        position=wanted.position,
        unaligned_records=b"s" * min(100_000, 1_000_000 - wanted.position),
    )
    partition.current_leader = fetch_snapshot_response.LeaderIdAndEpoch(
        leader_id=LEADER, leader_epoch=leader.epoch
    )
    topic = fetch_snapshot_response.TopicSnapshot(name=METADATA_TOPIC, partitions=[partition])
    return FetchSnapshotResponse(topics=[topic])


def offset_of(request: FetchRequest) -> int:
    return request.topics[0].partitions[0].fetch_offset


def says(**fields: object) -> Fetch:
    """Every response has these values in its partition."""

    def fetch(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
        for name, value in fields.items():
            setattr(response.responses[0].partitions[0], name, value)

    return fetch


def sends(
    base_offset: int | str, *, epoch: int = EPOCH, committed: bool = False, damaged: bool = False
) -> Fetch:
    """A batch of three records: of a fixed offset, or the next."""

    def fetch(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
        base = offset_of(request) if isinstance(base_offset, str) else base_offset
        data = encode_batch(base, epoch, 0, [b"x"] * 3)
        partition = response.responses[0].partitions[0]
        partition.records = data[:-1] + b"?" if damaged else data
        partition.high_watermark = base + 3 if committed else 0

    return fetch


def once_then(first: Fetch, then: Fetch) -> Fetch:
    """The first response to a Fetch of offset 0, then others."""

    def fetch(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
        (first if offset_of(request) == 0 else then)(leader, request, response)

    return fetch


def raises_the_epoch(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
    leader.epoch += 1
    partition = response.responses[0].partitions[0]
    partition.error_code = int(Errors.FENCED_LEADER_EPOCH)
    partition.current_leader.leader_epoch = leader.epoch


def raises_it_without_a_leader(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
    raises_the_epoch(leader, request, response)
    response.responses[0].partitions[0].current_leader.leader_id = -1


def names_the_leader(leader_id: int, epoch: int) -> Fetch:
    return says(
        current_leader=LeaderIdAndEpoch(leader_id=leader_id, leader_epoch=epoch),
        error_code=int(Errors.NOT_LEADER_OR_FOLLOWER),
    )


def names_in_turn(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
    """Two leaders of one epoch."""
    leader_id = LEADER if leader.requests_count % 2 else THIRD
    response.responses[0].partitions[0].current_leader.leader_id = leader_id


def listens_at(host: str, port: int) -> Fetch:
    def fetch(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
        response.node_endpoints[0].host, response.node_endpoints[0].port = host, port

    return fetch


def throttles(throttle_time_ms: int) -> Fetch:
    def fetch(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
        response.throttle_time_ms = throttle_time_ms

    return fetch


def fails(error_code: int) -> Fetch:
    def fetch(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
        response.error_code = error_code

    return fetch


def is_of_another_topic(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
    response.responses[0].topic_id = bytes(15) + b"\7"


def has_no_partition(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
    response.responses = []


def offers_another_each_time(leader: HostileLeader, request: FetchRequest, response: FetchResponse) -> None:
    response.responses[0].partitions[0].snapshot_id = SnapshotId(
        end_offset=100 + leader.requests_count, epoch=EPOCH
    )


OFFERED = says(snapshot_id=SnapshotId(end_offset=100, epoch=EPOCH))

TAKES_BACK = once_then(sends(NEXT), says(diverging_epoch=EpochEndOffset(end_offset=0, epoch=0)))

FETCHES: list[tuple[str, Fetch, str]] = [
    ("nothing-at-once", says(), ""),
    ("nothing-and-all-is-committed", says(high_watermark=1 << 62), ""),
    ("nothing-is-committed", says(high_watermark=-1), ""),
    ("the-same-old-batch", once_then(sends(NEXT), sends(0)), "does not continue the log"),
    ("a-batch-of-a-later-offset", sends(1 << 40), "does not continue the log"),
    ("a-batch-of-the-last-offset", sends((1 << 63) - 3), "does not continue the log"),
    ("a-batch-of-a-later-epoch", sends(NEXT, epoch=(1 << 31) - 1), "does not continue the log"),
    ("a-batch-of-no-epoch", sends(NEXT, epoch=-1), "does not continue the log"),
    ("a-damaged-batch", sends(NEXT, damaged=True), "are unusable: "),
    ("bytes-that-are-no-batch", says(records=b"\xff" * 100), "are unusable: "),
    ("it-takes-back-its-records", TAKES_BACK, "takes back its records from"),
    ("an-epoch-ends-as-here", says(diverging_epoch=EpochEndOffset(end_offset=9, epoch=2)), "as it does here"),
    (
        "an-epoch-ends-below-zero",
        says(diverging_epoch=EpochEndOffset(end_offset=-7, epoch=0)),
        "is no offset",
    ),
    ("no-snapshot-id", says(snapshot_id=SnapshotId(end_offset=-5, epoch=3)), "is not a snapshot id"),
    ("every-response-raises-the-epoch", raises_the_epoch, "is not joined yet"),
    ("the-same-without-a-leader", raises_it_without_a_leader, "is not joined yet"),
    ("the-last-epoch", names_the_leader(LEADER, (1 << 31) - 1), "leaves no room for elections"),
    ("the-epoch-before-it", names_the_leader(LEADER, (1 << 31) - 2), "leaves no room for elections"),
    ("an-epoch-below-zero", names_the_leader(LEADER, -5), ""),
    ("this-node-leads", names_the_leader(FOLLOWER, EPOCH), ""),
    ("two-leaders-of-an-epoch", names_in_turn, "which contradicts"),
    ("a-leader-that-is-no-voter", names_the_leader((1 << 31) - 1, EPOCH), ""),
    ("a-port-beyond-all", listens_at("host", 70_000), ""),
    ("a-port-below-zero", listens_at("host", -1), ""),
    ("a-host-without-a-name", listens_at("", 9093), ""),
    ("a-host-that-turns-text-around", listens_at("\u202egro.elpmaxe", 9093), ""),
    ("a-host-of-30-kB", listens_at("h" * 30_000, 9093), ""),
    ("a-pause-of-weeks", throttles((1 << 31) - 1), ""),
    ("a-pause-below-zero", throttles(-(1 << 31)), ""),
    ("an-unknown-error", fails(999), ""),
    ("another-cluster", fails(int(Errors.INCONSISTENT_CLUSTER_ID)), ""),
    ("no-error-of-raft", says(error_code=int(Errors.TOPIC_ALREADY_EXISTS)), ""),
    ("another-topic", is_of_another_topic, ""),
    ("no-partition", has_no_partition, ""),
]
"""What a response to Fetch says, and a part of the line about it, if there is one."""


def one_slice(**fields: object) -> Snapshot:
    def snapshot(
        leader: HostileLeader, request: FetchSnapshotRequest, response: FetchSnapshotResponse
    ) -> None:
        for name, value in fields.items():
            setattr(response.topics[0].partitions[0], name, value)

    return snapshot


def grows(leader: HostileLeader, request: FetchSnapshotRequest, response: FetchSnapshotResponse) -> None:
    response.topics[0].partitions[0].size += request.topics[0].partitions[0].position


def is_another(leader: HostileLeader, request: FetchSnapshotRequest, response: FetchSnapshotResponse) -> None:
    response.topics[0].partitions[0].snapshot_id.end_offset += 1


def is_for_another_place(
    leader: HostileLeader, request: FetchSnapshotRequest, response: FetchSnapshotResponse
) -> None:
    response.topics[0].partitions[0].position += 1


SNAPSHOTS: list[tuple[str, Fetch, Snapshot, str]] = [
    ("another-size-each-time", OFFERED, grows, "Expected byte"),
    ("a-size-of-exabytes", OFFERED, one_slice(size=1 << 62), "more than the 8589934592 that are fetched"),
    ("no-size", OFFERED, one_slice(size=0), "Expected byte"),
    ("a-size-below-zero", OFFERED, one_slice(size=-(1 << 62)), "Expected byte"),
    (
        "more-than-was-asked-for",
        OFFERED,
        one_slice(size=1 << 30, unaligned_records=b"s" * 2_000_000),
        "Expected",
    ),
    ("slices-of-a-byte", OFFERED, one_slice(unaligned_records=b"s"), "comes in slices of 1 bytes"),
    ("slices-of-nothing", OFFERED, one_slice(unaligned_records=b""), ""),
    ("another-snapshot", OFFERED, is_another, "Expected byte"),
    ("another-place", OFFERED, is_for_another_place, "Expected byte"),
    ("a-place-below-zero", OFFERED, one_slice(position=-1), "Expected byte"),
    (
        "another-each-time",
        offers_another_each_time,
        one_slice(error_code=int(Errors.SNAPSHOT_NOT_FOUND)),
        "ended with SNAPSHOT_NOT_FOUND",
    ),
]
"""What it offers, what a response to FetchSnapshot says, and a part of the line about it."""


def attacked(leader: HostileLeader) -> Follower:
    network = Network()
    network.listening[endpoint(LEADER)] = leader  # type: ignore[assignment]
    follower = Follower(network).start()
    network.run_for(SECONDS)
    return follower


def check(leader: HostileLeader, follower: Follower, line: str) -> None:
    texts = [each.text for each in follower.lines]
    assert follower.halted is None
    assert 2 <= leader.requests_count <= REQUESTS_PER_SECOND_MAX * SECONDS
    assert follower.done[WriteQuorumState] <= WRITES_MAX
    assert follower.done[TruncateLog] <= 2 * SECONDS
    assert not follower.done[FinishSnapshot]
    assert any(line in text for text in texts), texts[-5:]
    assert all(text.isprintable() and len(text) < 2_000 for text in texts)
    counted = collections.Counter(text.split(" ")[0] for text in texts)
    assert max(counted.values()) <= 4 * LINES_PER_INTERVAL_MAX, counted


@pytest.mark.parametrize(("fetch", "line"), [pytest.param(*case[1:], id=case[0]) for case in FETCHES])
def test_a_follower_of_a_hostile_leader(fetch: Fetch, line: str) -> None:
    leader = HostileLeader(fetch)
    check(leader, attacked(leader), line)


@pytest.mark.parametrize(
    ("fetch", "snapshot", "line"), [pytest.param(*case[1:], id=case[0]) for case in SNAPSHOTS]
)
def test_a_snapshot_of_a_hostile_leader(fetch: Fetch, snapshot: Snapshot, line: str) -> None:
    leader = HostileLeader(fetch, snapshot)
    check(leader, attacked(leader), line)


def test_a_leader_that_begins_epochs_without_end() -> None:
    """By requests, a thousand a second, with a real leader's right to do so."""
    leader = HostileLeader(says())
    network = Network()
    network.listening[endpoint(LEADER)] = leader  # type: ignore[assignment]
    follower = Follower(network).start()
    for epoch in range(1, 10_001):
        partition = begin_quorum_epoch_request.PartitionData(leader_id=LEADER, leader_epoch=epoch)
        topic = begin_quorum_epoch_request.TopicData(topic_name=METADATA_TOPIC, partitions=[partition])
        follower.receive(
            BeginQuorumEpochRequest(cluster_id=CLUSTER_ID, voter_id=FOLLOWER, topics=[topic]), lambda _: None
        )
        network.run_for(0.001)
    assert follower.done[WriteQuorumState] <= WRITES_MAX
    assert follower.raft.epoch > 9_000, "the newest epoch is joined, if not each"


def test_followers_of_an_honest_leader_do_not_pause() -> None:
    """A hundred commits, one after the other, each in a few milliseconds."""
    network = Network()
    nodes = [BareNode(network, node_id, PLACES).start() for node_id in ALL]
    network.run_for(8)
    leader = next(node for node in nodes if node.raft.state_name == "Leader")
    for _ in range(100):
        for effect in leader.raft.append([b"record"], network.time.now_ms, 0)[1]:
            leader._carry_out(effect)
        network.run_for(0.01)
        assert leader.raft.high_watermark == leader.raft.end_offset
