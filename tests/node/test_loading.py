"""A standby loads a snapshot and the log behind it in turns; half of one is not visible."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.node.controller_node import ControllerNode
from kraftctl.node.events import (
    END_OF_SNAPSHOT,
    NodeEffect,
    NodeEvent,
    ReadLog,
    ReadSnapshot,
    SnapshotRead,
    TakeTurn,
    TurnTaken,
)
from kraftctl.node.long_work import FREED_PER_UNIT, LOADING
from kraftctl.node.snapshot_generation import SnapshotPolicy
from kraftctl.raft import effects
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import LogStartChanged, SnapshotCreated, Started
from kraftctl.raft.log_state import LogState, SnapshotInfo
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.voter_set import VoterSet
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.active_controller import (
    BASE_PROPERTIES,
    ENDPOINTS,
    NODE_ID,
    bootstrap_records,
    registration,
)
from tests.support.raft_names import CLUSTER_ID, LISTENER, directory_id, endpoint, voter_node
from tests.support.simulator.cluster.lone_node import LoneNode

FIRST_ID = OffsetAndEpoch(1_000, 3)
LATER_ID = OffsetAndEpoch(2_000, 4)
PARTITIONS = 40


def topic_records(number: int) -> list[RecordAndVersion]:
    topic_id = bytes([number]) * 16
    records: list[Message] = [TopicRecord(name=f"topic-{number}", topic_id=topic_id)]
    records += [
        PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=[1, 2],
            isr=[1, 2],
            leader=1,
            leader_epoch=0,
            partition_epoch=0,
            directories=[bytes([9]) * 16] * 2,
        )
        for index in range(PARTITIONS)
    ]
    return [RecordAndVersion(record, record.HIGHEST_VERSION) for record in records]


def parts(topics: list[int]) -> list[bytes]:
    """A snapshot: its first part has the levels, each of the others a topic."""
    encoder = SnapshotBatches(3, 6_000)
    level = RecordAndVersion(FeatureLevelRecord(name="metadata.version", feature_level=30), 0)
    found = [encoder.header(5_000) + b"".join(encoder.records([level]))]
    found += [b"".join(encoder.records(topic_records(number))) for number in topics]
    return [*found, encoder.footer()]


class Standby:
    """A node that never leads, without anything around it: what it asked for is answered by the test."""

    def __init__(self, *snapshot_ids: OffsetAndEpoch, size_bytes: int = 10_000) -> None:
        infos = [SnapshotInfo(snapshot_id, size_bytes) for snapshot_id in snapshot_ids]
        start_offset = snapshot_ids[-1].offset if snapshot_ids else 0
        raft = RaftNode(
            node_id=2,
            directory_id=directory_id(2),
            cluster_id=CLUSTER_ID,
            endpoints={LISTENER: endpoint(2)},
            config=RaftConfig(),
            rng=random.Random(1),
            log=LogState(start_offset=start_offset, end_offset=start_offset, epochs=[], snapshots=infos),
            quorum_state=ElectionState(epoch=5, leader_id=1, data_version=1),
            static_voters=VoterSet([]),
            voter_history=[(-1, VoterSet([voter_node(1), voter_node(3)]))],
            kraft_version_history=[(-1, 1)],
        )
        config = ControllerConfig(BASE_PROPERTIES)
        controller = QuorumController(config, CLUSTER_ID, random.Random(1), bootstrap_records(), ENDPOINTS)
        self.node = ControllerNode(raft=raft, controller=controller, snapshots=SnapshotPolicy(1 << 30, 0))
        self.now_ms = 0
        self.notices: list[str] = []
        self.todo: list[NodeEffect] = []
        self.step(Started())

    def step(self, event: NodeEvent) -> None:
        """`todo` has what it asked for since the last call of `take`, without raft's own effects."""
        for effect in self.node.step(event, self.now_ms, 0):
            if isinstance(effect, effects.Notice):
                self.notices.append(effect.text)
            elif isinstance(effect, ReadSnapshot | ReadLog | TakeTurn | effects.Halt):
                self.todo.append(effect)

    def take(self) -> list[NodeEffect]:
        taken, self.todo = self.todo, []
        return taken

    def turn(self, units: int) -> None:
        self.step(TurnTaken(LOADING, units))

    @property
    def topics(self) -> list[str]:
        return sorted(topic.name for topic in self.node.controller.image.topics.topics.values())

    def read(self, snapshot_id: OffsetAndEpoch, content: list[bytes], at: int) -> None:
        """The part number `at` of a snapshot is read."""
        position = len(b"".join(content[:at]))
        following = END_OF_SNAPSHOT if at == len(content) - 1 else position + len(content[at])
        self.step(SnapshotRead(snapshot_id, position, content[at], following))


def positions(todo: list[NodeEffect]) -> list[tuple[OffsetAndEpoch, int]]:
    return [(effect.snapshot_id, effect.position) for effect in todo if isinstance(effect, ReadSnapshot)]


def test_a_snapshot_is_seen_when_it_is_whole() -> None:
    """Half of the ACLs would allow what the other half denies."""
    content = parts([1, 2, 3])
    standby = Standby(FIRST_ID)
    assert standby.take() == [ReadSnapshot(FIRST_ID, 0, 1 << 20)]
    spent = 0
    for at in range(len(content)):
        standby.read(FIRST_ID, content, at)
        while any(isinstance(effect, TakeTurn) for effect in standby.take()):
            assert standby.topics == []
            assert standby.node.controller.next_replay_offset == 0
            assert standby.node.controller.image.features.metadata_version == 0
            standby.turn(7)
            spent += sum(effect.spent for effect in standby.todo if isinstance(effect, TakeTurn))
            assert all(effect.spent <= 7 for effect in standby.todo if isinstance(effect, TakeTurn))
    assert standby.topics == ["topic-1", "topic-2", "topic-3"]
    assert standby.node.controller.image.topics.partition_count == 3 * PARTITIONS
    assert standby.node.controller.next_replay_offset == FIRST_ID.offset
    assert spent > 2 * PARTITIONS


def test_the_next_part_is_read_while_one_is_replayed() -> None:
    """Two are in memory at most, whatever the size of the file."""
    content = parts([1, 2, 3])
    standby = Standby(FIRST_ID)
    standby.take()
    standby.read(FIRST_ID, content, 0)
    assert positions(standby.take()) == [(FIRST_ID, len(content[0]))]
    standby.read(FIRST_ID, content, 1)
    assert positions(standby.take()) == []
    standby.turn(2)
    assert positions(standby.take()) == [(FIRST_ID, len(content[0] + content[1]))]


def test_what_another_load_asked_for_is_not_used() -> None:
    content, other = parts([1, 2]), parts([7, 8])
    standby = Standby(FIRST_ID)
    standby.read(LATER_ID, other, 0)
    standby.read(FIRST_ID, content, 1)
    assert not any(isinstance(effect, TakeTurn) for effect in standby.take())
    for at in (0, 1, 1, 2):
        standby.read(FIRST_ID, content, at)
        standby.turn(1_000)
    standby.read(FIRST_ID, content, 3)
    standby.turn(1_000)
    assert standby.topics == ["topic-1", "topic-2"]
    assert not any(isinstance(effect, effects.Halt) for effect in standby.take())


def start_over(standby: Standby) -> None:
    """As after a download: the log begins where a newer snapshot ends."""
    standby.step(SnapshotCreated(LATER_ID, 10_000))
    standby.step(LogStartChanged(LATER_ID.offset))


def load(standby: Standby, snapshot_id: OffsetAndEpoch, topics: list[int]) -> None:
    content = parts(topics)
    for at in range(len(content)):
        standby.read(snapshot_id, content, at)
        standby.turn(1_000)


def test_a_snapshot_that_is_replaced_meanwhile_is_dropped() -> None:
    """The log that follows it is gone, and its file, too."""
    content = parts([1, 2, 3])
    standby = Standby(FIRST_ID)
    standby.read(FIRST_ID, content, 0)
    standby.read(FIRST_ID, content, 1)
    standby.turn(10)
    standby.take()
    start_over(standby)
    assert positions(standby.take()) == [(LATER_ID, 0)]
    standby.read(FIRST_ID, content, 2)
    standby.turn(1_000)
    load(standby, LATER_ID, [4, 5])
    assert standby.topics == ["topic-4", "topic-5"]
    assert standby.node.controller.next_replay_offset == LATER_ID.offset


def test_a_newer_snapshot_alone_changes_nothing() -> None:
    content = parts([1])
    standby = Standby(FIRST_ID)
    standby.read(FIRST_ID, content, 0)
    standby.step(SnapshotCreated(LATER_ID, 10_000))
    standby.turn(10)
    for at in (1, 2):
        standby.read(FIRST_ID, content, at)
        standby.turn(1_000)
    assert standby.topics == ["topic-1"]
    assert standby.node.controller.next_replay_offset == FIRST_ID.offset


def test_a_standby_that_starts_over_keeps_its_image_until_the_new_one_is_whole() -> None:
    standby = Standby(FIRST_ID)
    load(standby, FIRST_ID, [1, 2])
    start_over(standby)
    assert standby.topics == ["topic-1", "topic-2"]
    content = parts([2, 3])
    for at in range(len(content)):
        assert standby.topics == ["topic-1", "topic-2"]
        standby.read(LATER_ID, content, at)
        standby.turn(1_000)
    assert standby.topics == ["topic-2", "topic-3"]


def test_an_image_that_is_replaced_is_freed_in_turns() -> None:
    standby = Standby(FIRST_ID)
    load(standby, FIRST_ID, list(range(1, 10)))
    start_over(standby)
    load(standby, LATER_ID, [10])
    spent = []
    while asked := [effect.spent for effect in standby.take() if isinstance(effect, TakeTurn)]:
        spent.append(asked[-1])
        standby.turn(3 * PARTITIONS // FREED_PER_UNIT)
    assert len(spent) == 3
    assert spent[-1] == 1 + 3 * (1 + PARTITIONS) // FREED_PER_UNIT


@pytest.mark.parametrize("units", [1, 5, 1_000])
def test_a_record_that_cannot_be_used_ends_the_process(units: int) -> None:
    encoder = SnapshotBatches(3, 6_000)
    header = encoder.header(5_000)
    records = [entry for entry in topic_records(1) if isinstance(entry.record, PartitionRecord)]
    content = [header, b"".join(encoder.records(records)), encoder.footer()]
    standby = Standby(FIRST_ID)
    for at in range(3):
        standby.read(FIRST_ID, content, at)
        standby.turn(units)
    halts = [effect.text for effect in standby.take() if isinstance(effect, effects.Halt)]
    file = "/does/not/exist/__cluster_metadata-0/00000000000000001000-0000000003.checkpoint"
    assert halts[0].startswith(f"{file}: the record at offset 1 is a PartitionRecord that does not fit")
    assert standby.topics == []


def test_progress_is_named_once_a_second() -> None:
    content = parts([1, 2, 3, 4, 5])
    standby = Standby(FIRST_ID, size_bytes=len(b"".join(content)))
    standby.notices.clear()
    for at in range(len(content)):
        standby.read(FIRST_ID, content, at)
        standby.now_ms += 600
        standby.turn(1_000)
    named = [line for line in standby.notices if line.startswith("Load")]
    assert [line.split(":")[0] for line in named] == ["Loading snapshot 1000-3"] * 2
    assert named[0].endswith("% after 1200 ms")


def test_a_quick_load_is_not_named() -> None:
    standby = Standby(FIRST_ID)
    load(standby, FIRST_ID, [1])
    assert not [line for line in standby.notices if line.startswith("Load")]


def restarted_with(snapshot_bytes: int, look: Callable[[LoneNode, NodeEffect], None]) -> LoneNode:
    """It has ten topics to load; `look` is called before each effect meanwhile."""
    node = LoneNode(snapshot_bytes=snapshot_bytes)
    node.settle()
    epoch = node.ask(registration(1), BrokerRegistrationResponse).broker_epoch
    beat = BrokerHeartbeatRequest(broker_id=1, broker_epoch=epoch, current_metadata_offset=1 << 40)
    node.ask(beat, BrokerHeartbeatResponse)
    for number in range(10):
        topic = CreatableTopic(name=f"topic-{number}", num_partitions=PARTITIONS, replication_factor=1)
        answer = node.ask(CreateTopicsRequest(topics=[topic]), CreateTopicsResponse)
        assert answer.topics[0].error_code == Errors.NONE
    node.lose_power()
    node.process.on_effect = lambda process, effect: look(node, effect)
    node.start()
    node.settle()
    return node


def test_a_batch_of_the_log_is_in_the_image_as_a_whole_or_not_at_all() -> None:
    """Between two turns a snapshot may begin, and is of the offset at which a batch ends."""
    turns: list[TakeTurn] = []
    counts: set[int] = set()

    def look(node: LoneNode, effect: NodeEffect) -> None:
        if isinstance(effect, TakeTurn) and effect.work == LOADING:
            turns.append(effect)
        for found in node.controller.image.topics.topics.values():
            counts.add(len(found.partitions))

    restarted_with(1 << 30, look)
    assert counts == {PARTITIONS}
    assert len(turns) > 5
    assert turns[0].spent == 0, "the first batch is replayed in no turn"


def test_a_leader_is_the_active_controller_when_all_is_loaded() -> None:
    """It was elected long before: elections do not wait for turns."""
    turns_as_leader = 0
    topic_counts: set[int] = set()

    def look(node: LoneNode, effect: NodeEffect) -> None:
        nonlocal turns_as_leader
        image = node.controller.image
        if isinstance(effect, TakeTurn) and effect.work == LOADING and node.raft.leader_id == NODE_ID:
            turns_as_leader += 1
            topic_counts.add(len(image.topics.topics))
        if node.controller.active:
            assert image.topics.partition_count == 10 * PARTITIONS

    node = restarted_with(20_000, look)
    assert node.snapshot_ids()
    assert node.controller.active
    assert turns_as_leader > 20
    assert topic_counts <= {0, *range(5, 11)}, "of the snapshot none is there, or all are"
