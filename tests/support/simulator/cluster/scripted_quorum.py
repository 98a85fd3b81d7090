"""A quorum whose nodes do what a test says, right or wrong: for tests of the checks themselves."""

from __future__ import annotations

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl.node.events import ClientRequest, NodeEffect, NodeEvent
from kraftctl.raft.effects import AppendBatch, FlushLog, Respond, TruncateLog, WriteQuorumState
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import DeadlineReached, LogFlushed
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import VoterNode, VoterSet
from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.leader_change_message import LeaderChangeMessage
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch
from tests.support.active_controller import BASE_PROPERTIES
from tests.support.simulator.checks.checks import Checks

NODES = (1, 2, 3)
LEADER, OTHER, THIRD = NODES

IDS = [RecordAndVersion(ProducerIdsRecord(broker_id=1, next_producer_id=1000), 0)]
OTHER_IDS = [RecordAndVersion(ProducerIdsRecord(broker_id=1, next_producer_id=2000), 0)]
METADATA_VERSION = FeatureLevelRecord(
    name=features.METADATA_VERSION, feature_level=features.DEFAULT_METADATA_VERSION
)


def key(node_id: int) -> ReplicaKey:
    return ReplicaKey(node_id, (100 + node_id).to_bytes(16, "big"))


def voter_set(*node_ids: int) -> VoterSet:
    return VoterSet([VoterNode(key(node_id), {"CONTROLLER": ("host", node_id)}) for node_id in node_ids])


def control_batch(base_offset: int, epoch: int, voters: VoterSet | None = None) -> AppendBatch:
    """A LeaderChange record, or a VotersRecord."""
    message: Message = LeaderChangeMessage(version=0) if voters is None else voters.to_record()
    data = encode_control_batch(base_offset, epoch, 0, [encode_control_record(message)])
    return AppendBatch(base_offset, base_offset, epoch, data, True)


def data_batch(base_offset: int, epoch: int, records: list[RecordAndVersion]) -> AppendBatch:
    values = [encode_metadata_record(entry.record, entry.version) for entry in records]
    data = encode_batch(base_offset, epoch, 0, values)
    return AppendBatch(base_offset, base_offset + len(records) - 1, epoch, data, False)


class ScriptedLog:
    """What a new process finds on its disk."""

    def __init__(self) -> None:
        self.start_offset = 0
        self.end_offset = 0
        self.not_forced = 0
        """How many records at its end a flush has left out."""
        self.batches: list[AppendBatch] = []

    @property
    def durable_end_offset(self) -> int:
        return self.end_offset - self.not_forced

    def read(self, offset: int, max_bytes: int, /) -> bytes:
        return b"".join(batch.batch for batch in self.batches if batch.base_offset >= offset)

    def epoch_at(self, offset: int, /) -> int:
        return max((batch.epoch for batch in self.batches if batch.base_offset <= offset), default=0)

    def append(self, batch: AppendBatch) -> None:
        self.batches.append(batch)
        self.end_offset = batch.last_offset + 1

    def truncate_to(self, end_offset: int) -> None:
        self.batches = [batch for batch in self.batches if batch.last_offset < end_offset]
        self.end_offset = end_offset


class ScriptedSnapshots:
    def __init__(self) -> None:
        self.found: list[OffsetAndEpoch] = []

    def ids(self) -> list[OffsetAndEpoch]:
        return self.found


class ScriptedPartition:
    def __init__(self) -> None:
        self.log = ScriptedLog()
        self.snapshots = ScriptedSnapshots()
        self.recovering_epoch: int | None = None
        self.election: ElectionState | None = None

    def read_quorum_state(self) -> ElectionState | None:
        return self.election


class ScriptedRaft:
    def __init__(self, epoch: int) -> None:
        self.epoch = epoch
        self.state_name = "Unattached"
        self.high_watermark = -1
        self.log_start_offset = 0
        self.voter_set = voter_set(*NODES)


class ScriptedController:
    """Its image has the records of the log up to `next_replay_offset`, unless a test changes it."""

    def __init__(self) -> None:
        self.active = False
        self.next_replay_offset = 0
        self.image = MetadataImage()

    @property
    def last_stable_offset(self) -> int:
        return self.next_replay_offset - 1


class ScriptedProcess:
    """`do` is a whole step; the other methods are what nodes do often. Nothing here decides anything."""

    def __init__(self, checks: Checks, node_id: int, partition: ScriptedPartition, life: int = 1) -> None:
        self.checks = checks
        self.node_id = node_id
        self.life = life
        self.key = key(node_id)
        self.partition = partition
        self.raft = ScriptedRaft(0 if partition.election is None else partition.election.epoch)
        self.controller = ScriptedController()
        checks.started(self)

    def do(self, event: NodeEvent, *effects: NodeEffect) -> None:
        self.checks.stepped(self, event)
        for effect in effects:
            self.checks.before(self, effect)
            if isinstance(effect, AppendBatch):
                self.partition.log.append(effect)
            elif isinstance(effect, TruncateLog):
                self.partition.log.truncate_to(effect.end_offset)
            elif isinstance(effect, WriteQuorumState):
                self.partition.election = effect.state

    def carry_out(self, *effects: NodeEffect) -> None:
        self.do(DeadlineReached(), *effects)

    def become(self, state_name: str, epoch: int, *, leader_id: int = -1, voted_id: int = -1) -> None:
        self.raft.state_name = state_name
        self.raft.epoch = epoch
        self.carry_out(WriteQuorumState(ElectionState(epoch=epoch, leader_id=leader_id, voted_id=voted_id)))

    def lead(self, epoch: int) -> None:
        """Win an election, and append the LeaderChange record."""
        self.become("Candidate", epoch, voted_id=self.node_id)
        self.become("Leader", epoch, leader_id=self.node_id, voted_id=self.node_id)
        self.carry_out(control_batch(self.partition.log.end_offset, epoch))

    def append(self, records: list[RecordAndVersion]) -> AppendBatch:
        batch = data_batch(self.partition.log.end_offset, self.raft.epoch, records)
        self.carry_out(batch)
        return batch

    def flush(self) -> None:
        self.carry_out(FlushLog(self.partition.log.end_offset))
        self.do(LogFlushed(self.partition.log.end_offset))

    def copy_from(self, leader: ScriptedProcess) -> None:
        """Follow, fetch everything that is missing, and flush it."""
        if self.raft.state_name != "Follower" or self.raft.epoch != leader.raft.epoch:
            self.become("Follower", leader.raft.epoch, leader_id=leader.node_id)
        end_offset = self.partition.log.end_offset
        missing = [batch for batch in leader.partition.log.batches if batch.base_offset >= end_offset]
        self.carry_out(*missing)
        self.flush()

    def commit(self, high_watermark: int) -> None:
        self.raft.high_watermark = high_watermark
        self.carry_out()

    def request(self, request: Message, request_id: int) -> ClientRequest:
        """The event of a client's request."""
        context = RequestContext(
            api=API_TABLE[request.API_KEY],
            version=request.HIGHEST_VERSION,
            client_id="test",
            principal=ANONYMOUS,
            listener="CONTROLLER",
            client_address=b"\x7f\x00\x00\x01",
        )
        return ClientRequest(request_id, context, request)

    def respond(self, request_id: int, response: Message) -> None:
        self.carry_out(Respond(request_id, response))

    def replay(self, records: list[RecordAndVersion], base_offset: int) -> None:
        """What a controller does with committed records."""
        for offset, entry in enumerate(records, base_offset):
            replay(self.controller.image, entry.record, offset)
        self.controller.next_replay_offset = base_offset + len(records)

    def restart(self) -> ScriptedProcess:
        """Killed, and started again on the disk as it is."""
        self.checks.ended(self)
        return ScriptedProcess(self.checks, self.node_id, self.partition, self.life + 1)


class ScriptedQuorum:
    """Node 1 leads epoch 1; all three have its first record, at offset 0, and know that it is committed."""

    def __init__(self) -> None:
        self.checks = Checks(ControllerConfig(BASE_PROPERTIES))
        self.processes = [ScriptedProcess(self.checks, node_id, ScriptedPartition()) for node_id in NODES]
        self.leader, self.other, self.third = self.processes
        self.leader.lead(1)
        self.leader.flush()
        self.replicate()

    def replicate(self) -> None:
        """Everything that the leader has is durable everywhere, and committed."""
        self.leader.flush()
        for follower in (self.other, self.third):
            follower.copy_from(self.leader)
        end_offset = self.leader.partition.log.end_offset
        for process in self.processes:
            process.commit(end_offset)

    def commit(self, *records: Message) -> None:
        """Append one batch of records, and commit it."""
        entries = [RecordAndVersion(record, record.HIGHEST_VERSION) for record in records]
        batch = self.leader.append(entries)
        self.replicate()
        for process in self.processes:
            process.replay(entries, batch.base_offset)
