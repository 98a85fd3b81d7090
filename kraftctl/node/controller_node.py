"""A controller node: raft and the metadata state machine behind one method, `step(event) -> effects`."""

from __future__ import annotations

from typing import Final, assert_never

from kraftctl.controller.envelope import wrap_answer
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.batch_limits import total_bytes
from kraftctl.controller.results.moment import UNITS, Moment
from kraftctl.controller.results.notice_sources import CONTROLLER, REGISTRATION
from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.node.deadlines import earlier
from kraftctl.node.events import (
    Audited,
    AuthorizerLines,
    BodyRefused,
    ClientRequest,
    CloseConnection,
    DecodeBody,
    LogRead,
    NodeEffect,
    NodeEvent,
    RequestFailed,
    SnapshotRead,
    TakeTurn,
    TurnTaken,
    UndecodedRequest,
)
from kraftctl.node.kraft_version_upgrader import NO_LEVEL, RaftKRaftVersionUpgrader
from kraftctl.node.long_work import LOADING, SLICES, SNAPSHOT
from kraftctl.node.metadata_loader import MetadataLoader
from kraftctl.node.registration import NodeRegistration
from kraftctl.node.request_gate import RequestGate
from kraftctl.node.request_outcomes import Close, Refuse
from kraftctl.node.setting_changes import SettingChanges
from kraftctl.node.snapshot_generation import SnapshotGenerator, SnapshotPolicy
from kraftctl.node.unanswered_requests import UnansweredRequests
from kraftctl.raft import effects, events
from kraftctl.raft.raft_node import RaftNode
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse

NO_EPOCH: Final = -1

UNCOMMITTED_RECORDS_MAX: Final = 4096
"""No slice begins behind so many records: half a megabyte, which disks and followers take in milliseconds.

More would not make the work faster, and every answer that waits for a commit would wait for all of them."""

UNITS_BESIDE_WORK: Final = 50
"""A fraction of a millisecond: when 100 brokers return together, each begins elections of its own."""


class ControllerNode:
    """Routes events and effects; it makes no decisions itself.

    The controller replays committed records until it has reached the start of its own epoch
    (`BecameLeader`), then claims; from then on it replays its own appends immediately, before they
    are committed, and answers when they are.
    """

    def __init__(self, *, raft: RaftNode, controller: QuorumController, snapshots: SnapshotPolicy) -> None:
        self._raft = raft
        self._controller = controller
        self._generator = SnapshotGenerator(raft, controller, snapshots)
        self._work_units = UNITS
        self._work_spent = 0
        self._turn_is_asked = False
        self._effects: list[NodeEffect] = []
        self._gate = RequestGate(controller)
        self._unanswered = UnansweredRequests(raft, controller)
        self._registration = NodeRegistration()
        self._settings = SettingChanges()
        self._upgrader = RaftKRaftVersionUpgrader(raft)
        controller.state.kraft_version_upgrader = self._upgrader
        self._loader = MetadataLoader(raft, controller, self._generator)
        self._led_epoch = NO_EPOCH
        self._led_epoch_start = 0

    @property
    def raft(self) -> RaftNode:
        """To look at; only `step` may change it."""
        return self._raft

    @property
    def controller(self) -> QuorumController:
        """To look at; only `step` may change it."""
        return self._controller

    @property
    def next_deadline_ms(self) -> int | None:
        """When to report `DeadlineReached`."""
        deadline_ms = earlier(self._raft.next_deadline_ms, self._controller.next_deadline_ms)
        return earlier(deadline_ms, self._registration.next_deadline_ms)

    @property
    def may_stop(self) -> bool:
        """After `ShutdownRequested`: whether all voters know that this node is no longer the leader."""
        return self._raft.may_stop

    def step(self, event: NodeEvent, now_ms: int, wall_ms: int) -> list[NodeEffect]:
        """What must be done, in this order, because `event` happened."""
        self._unanswered.begin_step(wall_ms)
        if isinstance(event, (ClientRequest, UndecodedRequest)):
            self._client_request(event, now_ms, wall_ms)
        elif isinstance(event, BodyRefused):
            self._body_refused(event)
        elif isinstance(event, (LogRead, SnapshotRead)):
            self._effects += self._loader.load(event)
        elif isinstance(event, TurnTaken):
            self._take_turn(event, now_ms, wall_ms)
        elif isinstance(event, events.ResponseReceived):
            if self._registration.is_waiting_for(event.send_id):
                self._effects.append(self._registration.answered(event.response, now_ms))
            else:
                self._step_raft(event, now_ms, wall_ms)
        elif isinstance(event, events.RequestCancelled):
            self._client_left(event.request_id)
            self._step_raft(event, now_ms, wall_ms)
        elif isinstance(event, events.SnapshotCreated):
            self._generator.written()
            self._step_raft(event, now_ms, wall_ms)
        elif isinstance(
            event,
            (
                events.LogFlushed,
                events.DeadlineReached,
                events.Started,
                events.SnapshotDownloaded,
                events.LogStartChanged,
                events.ResignRequested,
                events.ShutdownRequested,
            ),
        ):
            self._step_raft(event, now_ms, wall_ms)
        else:
            assert_never(event)
        self._advance(now_ms, wall_ms, is_deadline=isinstance(event, events.DeadlineReached))
        done, self._effects = self._effects, []
        return done

    def _step_raft(self, event: events.RaftEvent, now_ms: int, wall_ms: int) -> None:
        self._carry_out(self._raft.step(event, now_ms, wall_ms), now_ms)

    def _advance(self, now_ms: int, wall_ms: int, *, is_deadline: bool) -> None:
        """Do what has become possible or due. After most events nothing has: no list is made for that."""
        if not self._loader.is_idle:
            self._effects += self._loader.advance(now_ms)
        self._claim_if_caught_up(now_ms, wall_ms)
        if is_deadline:
            self._run_due_tasks(now_ms, wall_ms)
            self._release(self._controller.waited_too_long(now_ms))
        if self._generator.is_due(now_ms):
            self._effects += self._generator.begin(now_ms, wall_ms)
        self._ask_for_a_turn()
        self._register(now_ms)
        self._effects += self._settings.take_changes(self._controller)
        for notice in self._controller.take_notices():
            self._notice(CONTROLLER, notice)
        for line in self._controller.take_refusals():
            self._effects.append(effects.Notice(CONTROLLER, effects.DEBUG, line))
        authorizer_log = self._controller.state.authorizer.log
        if lines := authorizer_log.take():
            self._effects.append(AuthorizerLines(lines, authorizer_log.take_left_out_count()))
        failures = self._controller.failures
        for source, line in failures.take_lines():
            self._effects.append(effects.Notice(source, effects.ERROR, line))
        for line in failures.take_request_lines():
            self._effects.append(RequestFailed(CONTROLLER, line))

    def _register(self, now_ms: int) -> None:
        try:
            registration = self._registration.take_due(self._controller, self._raft, now_ms)
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005: a timer as any other
            retry_ms = self._registration.failed(now_ms) - now_ms
            outcome = f"tried again in {retry_ms} ms"
            self._controller.failures.note("Asking to be registered", outcome, error, REGISTRATION)
            return
        if registration is not None:
            self._effects.append(registration)

    # Requests.

    def _client_request(self, event: ClientRequest | UndecodedRequest, now_ms: int, wall_ms: int) -> None:
        """Handle a request. A failure before the first append, or before raft, fails this request alone."""
        pending = self._unanswered.received(event)
        try:
            decision = self._gate.decide(pending)
            if decision is None:
                self._inform_controller()
                decision = self._controller.prepare_request(pending, self._moment(now_ms, wall_ms))
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005
            self._unanswered.begin(pending, pending.context, pending.request)
            self._controller.refuse_failed(pending, error)
            self._respond(pending)
            return
        if isinstance(decision, PreparedResult):
            self._unanswered.begin(pending, pending.context, pending.request)
            self._carry_through(pending, decision, now_ms, wall_ms)
        elif isinstance(decision, events.RequestReceived):
            self._unanswered.begin(pending, pending.context, pending.request)
            self._step_raft(decision, now_ms, wall_ms)
        elif isinstance(decision, DecodeBody):
            self._unanswered.hold(pending)
            self._effects.append(decision)
        elif isinstance(decision, Refuse):
            self._unanswered.begin(pending, event.context, event.request)
            self._refuse_envelope(pending, decision.error)
        elif isinstance(decision, Close):
            self._unanswered.begin(pending, event.context, event.request)
            self._close(pending, decision)
        else:
            assert_never(decision)

    def _carry_through(
        self, pending: PendingRequest, prepared: PreparedResult, now_ms: int, wall_ms: int
    ) -> None:
        """Append the records of a request and answer it, or leave what remains of it for later turns."""
        base_offset = self._raft.end_offset
        self._append(prepared, now_ms, wall_ms)
        if pending.audit is not None:
            pending.audit.appended(base_offset, self._raft.end_offset)
        is_answered = prepared.response is not None
        if prepared.rest is not None:
            has_begun = prepared.changes_anything
            self._controller.continue_later(
                prepared.rest, None if is_answered else pending, has_begun=has_begun
            )
        if is_answered or prepared.rest is None:
            self._answer(pending, now_ms)

    def _body_refused(self, event: BodyRefused) -> None:
        pending = self._unanswered.find(event.request_id)
        if pending is None:
            self._effects.append(CloseConnection(event.request_id, event.reason))
        else:
            self._close(pending, Close(event.reason, event.error))

    def _client_left(self, request_id: int) -> None:
        """Nobody reads the response. What the request changes is still changed, and has its entry."""
        is_dropped = self._controller.client_left(request_id)
        pending = self._unanswered.find(request_id)
        if pending is None:
            return
        pending.in_envelope = False
        if is_dropped or pending.audit is None:
            self._end(pending)

    def _close(self, pending: PendingRequest, close: Close) -> None:
        """A request that cannot be answered: the connection ends, or its envelope is answered."""
        if pending.in_envelope:
            refusal = ApiError(close.error, close.reason)
            self._controller.note_refusal("an envelope", refusal)
            self._end(pending)
            self._effects.append(effects.Respond(pending.id, EnvelopeResponse(None, refusal.code)))
        else:
            self._end(pending)
            self._effects.append(CloseConnection(pending.id, close.reason))

    def _refuse_envelope(self, pending: PendingRequest, error: ApiError) -> None:
        pending.in_envelope = False
        pending.answer(EnvelopeResponse(response_data=None, error_code=error.code))
        self._respond(pending)

    def _inform_controller(self) -> None:
        raft = self._raft
        self._controller.follow_quorum(raft.leader_id, raft.kraft_version, raft.voter_set.voter_ids())

    def _append(self, prepared: PreparedResult, now_ms: int, wall_ms: int) -> None:
        """Append the prepared batches one by one, and replay each immediately.

        Nothing in here may fail: what is in the log may be committed, so it must also be in the image.
        """
        self._controller.begin_append(prepared)
        level = self._upgrader.take_requested()
        if level != NO_LEVEL:
            self._carry_out(self._raft.upgrade_kraft_version(level, now_ms, wall_ms), now_ms)
        for batch in prepared.batches:
            base_offset, effects_of_append = self._raft.append(batch.values, now_ms, wall_ms)
            self._controller.replay(batch.records, base_offset, prepared.response is not None)
            self._generator.note(total_bytes(batch.values))
            self._carry_out(effects_of_append, now_ms)

    def _answer(self, pending: PendingRequest, now_ms: int) -> None:
        assert pending.response is not None, "every request has an answer"
        if pending.in_envelope:
            pending.encoded = None  # it is encoded once more, into the answer around it
        if not self._controller.park(pending, now_ms):
            self._respond(pending)

    def _respond(self, pending: PendingRequest) -> None:
        if pending.audit is not None or pending.in_envelope:
            self._end(pending)
            if pending.in_envelope:
                pending.answer(wrap_answer(pending, self._controller.failures))
        response, encoded = pending.response, pending.encoded
        if response is None:
            self._effects.append(CloseConnection(pending.id))
        else:
            assert encoded is None or encoded.response is response, "the answer is what was encoded"
            self._effects.append(effects.Respond(pending.id, response, encoded))

    def _end(self, pending: PendingRequest) -> None:
        """The request has its response, or none in the end: write its entry for the audit log."""
        entry = self._unanswered.release(pending)
        if entry is not None:
            self._effects.append(Audited(entry))

    # Raft's effects.

    def _carry_out(self, raft_effects: list[effects.RaftEffect], now_ms: int) -> None:
        """Handle what concerns the node itself, and pass on everything else, in order."""
        for effect in raft_effects:
            # Not `match`, here and below: see ADR 8. An AlterPartition in the core takes 4 % less.
            if isinstance(effect, effects.Respond):
                self._raft_answered(effect)
            elif isinstance(effect, effects.HighWatermarkUpdated):
                if self._controller.active:
                    self._release(self._controller.committed(effect.offset))
            elif isinstance(effect, effects.BecameLeader):
                self._led_epoch = effect.epoch
                self._led_epoch_start = effect.epoch_start_offset
            elif isinstance(effect, effects.LeadershipLost):
                self._led_epoch = NO_EPOCH
                if self._controller.active:
                    self._notice(CONTROLLER, f"Renouncing the leadership of epoch {effect.epoch}")
                    self._release(self._controller.renounce())
            elif isinstance(effect, effects.LeaderChanged):
                self._inform_controller()
                self._registration.leader_changed(now_ms)
            elif isinstance(effect, effects.StartOver):
                self._effects += self._generator.abandon()
                self._effects.append(effect)
            elif isinstance(
                effect,
                (
                    effects.AppendBatch,
                    effects.FlushLog,
                    effects.RespondFetch,
                    effects.SendRequest,
                    effects.Notice,
                    effects.WriteQuorumState,
                    effects.TruncateLog,
                    effects.SaveSnapshotSlice,
                    effects.FinishSnapshot,
                    effects.RespondFetchSnapshot,
                    effects.NoteRecovered,
                    effects.Halt,
                ),
            ):
                self._effects.append(effect)
            else:
                assert_never(effect)

    def _raft_answered(self, effect: effects.Respond) -> None:
        pending = self._unanswered.find(effect.request_id)
        if pending is None:
            self._effects.append(effect)
        else:
            pending.answer(effect.response)
            self._respond(pending)

    def _release(self, answered: list[PendingRequest]) -> None:
        for pending in answered:
            self._respond(pending)

    # Leading.

    def _claim_if_caught_up(self, now_ms: int, wall_ms: int) -> None:
        """Become active once all earlier epochs are replayed and the first record of this one committed."""
        if self._led_epoch == NO_EPOCH or self._controller.active:
            return
        loaded = self._controller.next_replay_offset
        if loaded <= self._led_epoch_start or loaded < self._raft.end_offset:
            return
        unsupported = self._controller.why_not_claim()
        if unsupported is not None:
            self._effects.append(effects.Halt(unsupported))
            return
        epoch = self._led_epoch
        self._notice(
            CONTROLLER, f"Becoming the active controller at epoch {epoch}, next write offset {loaded}."
        )
        self._inform_controller()
        for prepared in self._controller.claim(epoch, Moment(now_ms, wall_ms, loaded)):
            self._append(prepared, now_ms, wall_ms)

    def _run_due_tasks(self, now_ms: int, wall_ms: int) -> None:
        while True:
            prepared = self._controller.prepare_due_task(self._moment(now_ms, wall_ms))
            if prepared is None:
                return
            self._append(prepared, now_ms, wall_ms)
            if prepared.rest is not None:
                self._controller.continue_later(prepared.rest, None)

    # Long work, a slice in each turn.

    def _moment(self, now_ms: int, wall_ms: int) -> Moment:
        """Of a request or a timer. Beside long work it does little at first: a hundred may come together."""
        units = min(self._work_units, UNITS_BESIDE_WORK) if self._controller.has_work else self._work_units
        return Moment(now_ms, wall_ms, self._raft.end_offset, units)

    def _take_turn(self, event: TurnTaken, now_ms: int, wall_ms: int) -> None:
        if event.work == SNAPSHOT:
            self._effects += self._generator.continue_for(event.units, now_ms)
            return
        if event.work == LOADING:
            self._effects += self._loader.take_turn(event.units, now_ms)
            return
        assert event.work == SLICES, event.work
        self._turn_is_asked = False
        self._work_units = event.units
        if self._controller.has_work and not self._is_behind:
            self._take_slice(now_ms, wall_ms)

    def _take_slice(self, now_ms: int, wall_ms: int) -> None:
        moment = Moment(now_ms, wall_ms, self._raft.end_offset, self._work_units)
        progress = self._controller.take_work()
        pending = progress.pending
        prepared = self._controller.prepare_slice(progress, moment)
        self._work_spent = progress.work.spent
        if prepared is None:
            if pending is not None:
                self._respond(pending)
            return
        base_offset = self._raft.end_offset
        self._append(prepared, now_ms, wall_ms)
        if pending is not None:
            if pending.audit is not None:
                pending.audit.appended(base_offset, self._raft.end_offset)
            if prepared.rest is None:
                self._answer(pending, now_ms)

    def _ask_for_a_turn(self) -> None:
        if self._turn_is_asked or not self._controller.has_work:
            return
        if self._work_spent == 0 and self._is_behind:
            return  # a commit comes first; what a slice has spent is reported even so, because it is measured
        self._turn_is_asked = True
        self._effects.append(TakeTurn(SLICES, self._work_spent))
        self._work_spent = 0

    @property
    def _is_behind(self) -> bool:
        return self._raft.end_offset - self._raft.high_watermark > UNCOMMITTED_RECORDS_MAX

    def _notice(self, source: str, text: str) -> None:
        self._effects.append(effects.Notice(source, effects.INFO, text))
