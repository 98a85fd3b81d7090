"""A controller node: raft and the metadata state machine behind one door, `step(event) -> effects`."""

from __future__ import annotations

from kraftctl.controller.controller_result import ControllerResult
from kraftctl.controller.envelope import Envelope, open_envelope, wrap_response
from kraftctl.controller.parked_response import ParkedResponse
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.node_io import (
    ClientRequest,
    LogRead,
    NodeEffect,
    NodeEvent,
    ReadLog,
    ReadSnapshot,
    SnapshotRead,
    TakeTurn,
    TurnTaken,
    WriteSnapshot,
)
from kraftctl.node_registration import REGISTRATION_SEND_ID, NodeRegistration
from kraftctl.raft import effects, events
from kraftctl.raft.offset_and_epoch import OffsetAndEpoch
from kraftctl.raft.raft_node import RAFT_API_KEYS, RaftNode
from kraftctl.request_context import RequestContext
from kraftctl.snapshot_generation import SnapshotInProgress, SnapshotPolicy
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import RecordBatch

LOAD_BYTES_MAX = 256 * 1024
"""Read and replayed in one turn of the loop while loading: well below 50 ms of work."""

NO_EPOCH = -1


class ControllerNode:
    """Routes events; decides nothing of its own.

    The controller replays committed records until it has reached the start of its own epoch
    (`BecameLeader`), then claims; from there on it replays its own appends at once, before they are
    committed, and answers when they are.
    """

    def __init__(self, *, raft: RaftNode, controller: QuorumController, snapshots: SnapshotPolicy) -> None:
        self._raft = raft
        self._controller = controller
        self._snapshots = snapshots
        self._snapshot: SnapshotInProgress | None = None
        self._effects: list[NodeEffect] = []
        self._envelopes: dict[int, Envelope] = {}
        self._registration = NodeRegistration()
        self._reading = False
        self._led_epoch = NO_EPOCH
        self._led_epoch_start = 0

    @property
    def next_deadline_ms(self) -> int | None:
        """When to report `DeadlineReached` at the latest."""
        deadlines = (
            self._raft.next_deadline_ms,
            self._controller.next_deadline_ms,
            self._registration.next_deadline_ms,
        )
        return min([deadline_ms for deadline_ms in deadlines if deadline_ms is not None], default=None)

    @property
    def may_stop(self) -> bool:
        """After `ShutdownRequested`: whether everybody knows that this node leads no more."""
        return self._raft.may_stop

    def step(self, event: NodeEvent, now_ms: int, wall_ms: int) -> list[NodeEffect]:
        """What must be done, in this order, because `event` happened."""
        match event:
            case ClientRequest():
                self._client_request(event, now_ms, wall_ms)
            case LogRead():
                self._reading = False
                self._replay(event.batches)
            case SnapshotRead():
                self._reading = False
                self._replay_snapshot(event)
            case TurnTaken():
                self._continue_snapshot()
            case events.ResponseReceived(send_id=send_id) if send_id == REGISTRATION_SEND_ID:
                self._effects.append(self._registration.answered(event.response, now_ms))
            case _:
                if isinstance(event, events.RequestCancelled):
                    self._envelopes.pop(event.request_id, None)
                elif isinstance(event, events.SnapshotCreated):
                    self._snapshot = None
                self._carry_out(self._raft.step(event, now_ms, wall_ms), now_ms)
        self._go_on(now_ms, wall_ms)
        done = self._effects
        self._effects = []
        return done

    def _go_on(self, now_ms: int, wall_ms: int) -> None:
        """Whatever became possible or due."""
        self._read_on()
        self._claim_if_caught_up(now_ms, wall_ms)
        self._run_due_tasks(now_ms, wall_ms)
        self._begin_snapshot_if_due(now_ms, wall_ms)
        registration = self._registration.take_due(self._controller, self._raft, now_ms)
        if registration is not None:
            self._effects.append(registration)
        for notice in self._controller.take_notices():
            self._say(notice)

    # Requests.

    def _client_request(self, event: ClientRequest, now_ms: int, wall_ms: int) -> None:
        context, request = event.context, event.request
        if isinstance(request, EnvelopeRequest):
            refusal = self._controller.authorize_raft(context, request)
            if refusal is not None:
                self._respond(event.request_id, refusal)
                return
            opened = open_envelope(context, request)
            if isinstance(opened, Message):
                self._respond(event.request_id, opened)
                return
            self._envelopes[event.request_id] = opened
            context, request = opened.context, opened.request
        if context.api_key in RAFT_API_KEYS:
            self._raft_request(event.request_id, context, request, now_ms, wall_ms)
        else:
            self._controller_request(event.request_id, context, request, now_ms, wall_ms)

    def _raft_request(
        self, request_id: int, context: RequestContext, request: Message, now_ms: int, wall_ms: int
    ) -> None:
        refusal = self._controller.authorize_raft(context, request)
        if refusal is not None:
            self._respond(request_id, refusal)
            return
        received = events.RequestReceived(
            request_id, context.listener, context.api_key, context.version, request
        )
        self._carry_out(self._raft.step(received, now_ms, wall_ms), now_ms)

    def _controller_request(
        self, request_id: int, context: RequestContext, request: Message, now_ms: int, wall_ms: int
    ) -> None:
        self._tell_raft_state()
        result = self._controller.handle(context, request, now_ms, wall_ms, self._raft.end_offset)
        self._write(result, now_ms, wall_ms)
        response = result.response
        assert response is not None, "every request has an answer"
        if not self._controller.park(request_id, context, request, response):
            self._respond(request_id, response)

    def _tell_raft_state(self) -> None:
        raft = self._raft
        self._controller.follow_quorum(raft.leader_id, raft.kraft_version, raft.voter_set.voter_ids())

    def _write(self, result: ControllerResult, now_ms: int, wall_ms: int) -> None:
        """Append what the controller wants written, batch by batch, and replay it at once."""
        for records in self._controller.batches(result):
            values = self._controller.encode(records)
            base_offset, effects_of_append = self._raft.append(values, now_ms, wall_ms)
            self._controller.replay(records, base_offset)
            self._snapshots.note(sum(map(len, values)))
            self._carry_out(effects_of_append, now_ms)

    def _respond(self, request_id: int, response: Message) -> None:
        envelope = self._envelopes.pop(request_id, None)
        if envelope is not None:
            response = wrap_response(envelope, response)
        self._effects.append(effects.Respond(request_id, response))

    # What raft wants.

    def _carry_out(self, raft_effects: list[effects.RaftEffect], now_ms: int) -> None:
        """Keep what is the node's own business, hand everything else to the rim, in order."""
        for effect in raft_effects:
            match effect:
                case effects.Respond():
                    self._respond(effect.request_id, effect.response)
                case effects.HighWatermarkUpdated():
                    if self._controller.active:
                        self._release(self._controller.committed(effect.offset))
                case effects.BecameLeader():
                    self._led_epoch = effect.epoch
                    self._led_epoch_start = effect.epoch_start_offset
                case effects.LeadershipLost():
                    self._led_epoch = NO_EPOCH
                    if self._controller.active:
                        self._say(f"Renouncing the leadership of epoch {effect.epoch}")
                        self._release(self._controller.renounce())
                case effects.LeaderChanged():
                    self._registration.leader_changed(now_ms)
                case _:
                    self._effects.append(effect)

    def _release(self, parked: list[ParkedResponse]) -> None:
        for entry in parked:
            self._respond(entry.request_id, entry.response)

    # Reading what is committed, until this controller writes it itself.

    def _read_on(self) -> None:
        if self._controller.active or self._reading:
            return
        offset = self._controller.next_replay_offset
        latest = self._raft.latest_snapshot_id
        if offset < self._raft.log_start_offset or (offset == 0 and latest is not None and latest.offset > 0):
            assert latest is not None, "a log that was cut has a snapshot of what is gone"
            self._effects.append(ReadSnapshot(latest))
            self._reading = True
        elif offset < self._raft.high_watermark:
            self._effects.append(ReadLog(offset, LOAD_BYTES_MAX))
            self._reading = True
        elif self._raft.high_watermark >= 0:
            self._controller.caught_up()

    def _replay(self, batches: list[RecordBatch]) -> None:
        if self._controller.active:
            return
        for batch in batches:
            header = batch.header
            if header.last_offset >= self._raft.high_watermark:
                break
            if header.last_offset < self._controller.next_replay_offset:
                continue
            if not header.is_control:
                self._controller.replay_committed(_decoded(batch), header.base_offset)
                self._snapshots.note(header.size_bytes)
            self._controller.skip_to(header.last_offset + 1)

    def _replay_snapshot(self, event: SnapshotRead) -> None:
        last_contained_offset = event.snapshot_id.offset - 1
        self._controller.begin_snapshot()
        for batch in event.batches:
            if not batch.header.is_control:
                self._controller.replay_snapshot(_decoded(batch), last_contained_offset)
        self._controller.skip_to(event.snapshot_id.offset)

    def _claim_if_caught_up(self, now_ms: int, wall_ms: int) -> None:
        """Active once everything before the own epoch is replayed and its first record is committed."""
        if self._led_epoch == NO_EPOCH or self._controller.active:
            return
        loaded = self._controller.next_replay_offset
        if loaded <= self._led_epoch_start or loaded < self._raft.end_offset:
            return
        epoch = self._led_epoch
        self._say(f"Becoming the active controller at epoch {epoch}, next write offset {loaded}.")
        self._tell_raft_state()
        for result in self._controller.claim(epoch, loaded, now_ms, wall_ms):
            self._write(result, now_ms, wall_ms)

    def _run_due_tasks(self, now_ms: int, wall_ms: int) -> None:
        while results := self._controller.run_due_tasks(now_ms, self._raft.end_offset):
            for result in results:
                self._write(result, now_ms, wall_ms)

    # Snapshots.

    def _begin_snapshot_if_due(self, now_ms: int, wall_ms: int) -> None:
        """Of everything that is committed, unless a metadata transaction is open in it (KAFKA-17713).

        Not before metadata.version is committed: readers could not understand the rest.
        """
        controller = self._controller
        if self._snapshot is not None or not self._snapshots.is_due(now_ms):
            return
        raft = self._raft
        end_offset = raft.high_watermark if controller.active else controller.next_replay_offset
        if controller.last_stable_offset + 1 != end_offset:
            return
        epoch = raft.epoch_at(end_offset - 1)
        if epoch is None or not 0 <= controller.image.features.last_change_offset < end_offset:
            return
        self._snapshots.began(now_ms)
        kraft_version = raft.kraft_version_at(end_offset)
        voters = raft.voters_at(end_offset).to_record() if kraft_version >= 1 else None
        self._snapshot = SnapshotInProgress(
            controller.image, OffsetAndEpoch(end_offset, epoch), wall_ms, kraft_version, voters
        )
        self._continue_snapshot()

    def _continue_snapshot(self) -> None:
        snapshot = self._snapshot
        assert snapshot is not None, "nobody else asks for a turn"
        if not snapshot.write_slice():
            self._effects.append(TakeTurn())
            return
        self._say(f"Writing snapshot {snapshot.snapshot_id.offset}-{snapshot.snapshot_id.epoch}")
        self._effects.append(WriteSnapshot(snapshot.snapshot_id, snapshot.batches))

    def _say(self, text: str) -> None:
        self._effects.append(effects.Notice(effects.INFO, text))


def _decoded(batch: RecordBatch) -> list[Message]:
    return [decode_metadata_record(record.value or b"").record for record in batch.records]
