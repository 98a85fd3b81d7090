"""A controller node: raft and the metadata state machine behind one method, `step(event) -> effects`."""

from __future__ import annotations

from typing import Final, assert_never

from kraftctl.apis.api import Owner
from kraftctl.controller.audit.audit_trail import AuditTrail
from kraftctl.controller.configuration_control.alter_log_levels import concerns_loggers_only
from kraftctl.controller.envelope import Envelope, open_envelope, wrap_answer
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.batch_limits import total_bytes
from kraftctl.controller.results.error_responses import body_to_refuse
from kraftctl.controller.results.moment import UNITS, Moment
from kraftctl.controller.results.notice_sources import CONTROLLER, REGISTRATION
from kraftctl.controller.results.parked_response import ParkedResponse
from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.sliced_works import WaitingRequest
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
from kraftctl.node.next_step import NextStep, PreparedRequest, request_of_raft
from kraftctl.node.registration import NodeRegistration
from kraftctl.node.setting_changes import SettingChanges
from kraftctl.node.snapshot_generation import SnapshotGenerator, SnapshotPolicy
from kraftctl.raft import effects, events
from kraftctl.raft.raft_node import RaftNode
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.requests import RequestHead
from kraftctl_protocol.shared_response import SharedResponse

NO_EPOCH: Final = -1

UNCOMMITTED_RECORDS_MAX: Final = 4096
"""No slice begins behind this many records: half a megabyte, which disks and followers take in milliseconds.

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
        self._envelopes: dict[int, Envelope] = {}
        self._audit = AuditTrail(controller.state.config.audit.api_keys)
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
        self._audit.begin_step(wall_ms)
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
            self._envelopes.pop(event.request_id, None)
            if self._controller.client_left(event.request_id):
                self._end_audit(event.request_id, None)
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
        try:
            if isinstance(event, ClientRequest):
                step = self._prepare(event, now_ms, wall_ms)
            else:
                step = self._before_decoding(event.request_id, event.context, event.head)
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005
            envelope = self._envelopes.get(event.request_id)
            context, request = event.context, event.request
            if envelope is not None and not context.envelope:
                context, request = envelope.context, envelope.request
            self._begin_audit(event.request_id, context, request)
            self._respond(event.request_id, self._controller.refuse_failed(context, request, error))
            return
        if isinstance(step, events.RequestReceived):
            envelope = self._envelopes.get(event.request_id)
            context = event.context if envelope is None else envelope.context
            self._begin_audit(event.request_id, context, step.request)
            self._step_raft(step, now_ms, wall_ms)
        elif isinstance(step, PreparedRequest):
            self._begin_audit(event.request_id, step.context, step.request)
            base_offset = self._raft.end_offset
            self._append(step.prepared, now_ms, wall_ms)
            self._audit.appended(event.request_id, base_offset, self._raft.end_offset)
            rest, response = step.prepared.rest, step.prepared.response
            if rest is not None:
                waiting = WaitingRequest(event.request_id, step.context, step.request)
                self._controller.continue_later(
                    rest,
                    waiting if response is None else None,
                    has_begun=step.prepared.changes_anything,
                )
            if rest is None or response is not None:
                self._answer(
                    event.request_id, step.context, step.request, response, now_ms, step.prepared.encoded
                )
        elif isinstance(step, DecodeBody):
            self._effects.append(step)
        elif isinstance(step, Message):
            self._begin_audit(event.request_id, event.context, event.request)
            self._respond(event.request_id, step)
        elif isinstance(step, str):
            self._begin_audit(event.request_id, event.context, event.request)
            self._close(event.request_id, Errors.INVALID_REQUEST, step)
        else:
            assert_never(step)

    def _prepare(self, event: ClientRequest, now_ms: int, wall_ms: int) -> NextStep:
        """What to do with a request whose body, or at least whose envelope, is decoded."""
        context, request = event.context, event.request
        error = self._controller.why_refused(context)
        if error is None and context.api.owner == Owner.NODE:
            assert isinstance(request, EnvelopeRequest)
            opened = open_envelope(context, request)
            if isinstance(opened, ApiError):
                self._controller.note_refusal("an envelope", opened)
                return EnvelopeResponse(response_data=None, error_code=opened.code)
            self._envelopes[event.request_id] = opened
            context, request = opened.context, opened.request
            if opened.undecoded is not None:
                undecoded, opened.undecoded = opened.undecoded, None
                return self._before_decoding(event.request_id, context, undecoded)
            error = self._controller.why_refused(context)
        if error is not None and error.error == Errors.NOT_CONTROLLER and concerns_loggers_only(request):
            error = None  # any controller changes the levels of its own loggers
        error = error or self._controller.state.node_principals.why_refused(context, request)
        if error is not None:
            return PreparedRequest(context, request, self._controller.refused(context, request, error))
        if context.api.owner == Owner.RAFT:
            return request_of_raft(event.request_id, context, request)
        self._inform_controller()
        prepared = self._controller.prepare_request(context, request, self._moment(now_ms, wall_ms))
        return PreparedRequest(context, request, prepared)

    def _before_decoding(self, request_id: int, context: RequestContext, head: RequestHead) -> NextStep:
        """What the header decides: whether the body is worth decoding."""
        error = self._controller.why_refused(context, logs_grant=False)
        if error is None:
            return DecodeBody(request_id, context, head)
        if context.envelope and error.error == Errors.NOT_CONTROLLER:
            self._envelopes.pop(request_id)
            return EnvelopeResponse(response_data=None, error_code=error.code)
        try:
            request = body_to_refuse(head)
        except DecodeError as damage:
            return f"{error.error.name}, and {damage}"
        return PreparedRequest(context, request, self._controller.refused(context, request, error))

    def _body_refused(self, event: BodyRefused) -> None:
        self._close(event.request_id, event.error, event.reason)

    def _close(self, request_id: int, error: Errors, reason: str) -> None:
        """A request that cannot be answered: the connection ends, or its envelope is answered."""
        self._end_audit(request_id, None)
        if self._envelopes.pop(request_id, None) is None:
            self._effects.append(CloseConnection(request_id, reason))
            return
        refusal = ApiError(error, reason)
        self._controller.note_refusal("an envelope", refusal)
        self._effects.append(effects.Respond(request_id, EnvelopeResponse(None, refusal.code)))

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

    def _answer(
        self,
        request_id: int,
        context: RequestContext,
        request: Message,
        response: Message | None,
        now_ms: int,
        encoded: SharedResponse | None,
    ) -> None:
        assert response is not None, "every request has an answer"
        if request_id in self._envelopes:
            encoded = None  # it is encoded once more, into the answer around it
        if not self._controller.park(request_id, context, request, response, now_ms, encoded):
            self._respond(request_id, response, encoded)

    def _begin_audit(self, request_id: int, context: RequestContext, request: Message) -> None:
        image, raft = self._controller.image, self._raft
        self._audit.begin(request_id, context, request, image, epoch=raft.epoch, end_offset=raft.end_offset)

    def _end_audit(self, request_id: int, response: Message | None) -> None:
        if not self._audit.awaits(request_id):
            return
        raft = self._raft
        entry = self._audit.answered(
            request_id, response, high_watermark=raft.high_watermark, voters_offset=raft.voters_offset
        )
        if entry is not None:
            self._effects.append(Audited(entry))

    def _respond(
        self, request_id: int, response: Message | None, encoded: SharedResponse | None = None
    ) -> None:
        self._end_audit(request_id, response)
        envelope = self._envelopes.pop(request_id, None)
        if envelope is not None:
            response, encoded = wrap_answer(envelope, response, self._controller.failures), None
        if response is None:
            self._effects.append(CloseConnection(request_id))
        else:
            assert encoded is None or encoded.response is response, "the answer is what was encoded"
            self._effects.append(effects.Respond(request_id, response, encoded))

    # Raft's effects.

    def _carry_out(self, raft_effects: list[effects.RaftEffect], now_ms: int) -> None:
        """Handle what concerns the node itself, and pass on everything else, in order."""
        for effect in raft_effects:
            # Not `match`, here and below: see ADR 8. An AlterPartition in the core takes 4 % less.
            if isinstance(effect, effects.Respond):
                self._respond(effect.request_id, effect.response)
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

    def _release(self, parked: list[ParkedResponse]) -> None:
        for entry in parked:
            self._respond(entry.request_id, entry.response, entry.encoded)

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
        """Returns the moment of a request or a timer, with fewer units beside long work: a hundred may come
        together.
        """
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
        piece = self._controller.prepare_slice(moment)
        waiting = piece.waiting
        self._work_spent = piece.spent
        if piece.prepared is None:
            if waiting is not None:
                self._respond(waiting.request_id, piece.response)
            return
        base_offset = self._raft.end_offset
        self._append(piece.prepared, now_ms, wall_ms)
        if waiting is not None:
            self._audit.appended(waiting.request_id, base_offset, self._raft.end_offset)
            if piece.prepared.rest is None:
                self._answer(
                    waiting.request_id,
                    waiting.context,
                    waiting.request,
                    piece.response,
                    now_ms,
                    piece.prepared.encoded,
                )

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
