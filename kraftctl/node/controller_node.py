"""A controller node: raft and the metadata state machine behind one method, `step(event) -> effects`."""

from __future__ import annotations

from typing import Final, assert_never

from kraftctl.apis.api import Owner, WaitsFor
from kraftctl.controller.failed_requests import refuse_failed
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.batch_limits import total_bytes
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.notice_sources import CONTROLLER, REGISTRATION
from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.node.deadlines import earlier
from kraftctl.node.events import (
    AuthorizerLines,
    BodyRefused,
    ClientRequest,
    DecodeBody,
    LogRead,
    NodeEffect,
    NodeEvent,
    RefusalNoted,
    RequestFailed,
    SnapshotRead,
    TurnTaken,
    UndecodedRequest,
)
from kraftctl.node.kraft_version_upgrader import NO_LEVEL, RaftKRaftVersionUpgrader
from kraftctl.node.long_work import LOADING, SLICES, SNAPSHOT
from kraftctl.node.metadata_loader import MetadataLoader
from kraftctl.node.outbox import Outbox
from kraftctl.node.registration import NodeRegistration
from kraftctl.node.request_gate import RequestGate
from kraftctl.node.request_outcomes import Close, RefuseEnvelope
from kraftctl.node.response_delivery import ResponseDelivery
from kraftctl.node.setting_changes import SettingChanges
from kraftctl.node.sliced_turns import SlicedTurns
from kraftctl.node.snapshot_generation import SnapshotGenerator, SnapshotPolicy
from kraftctl.raft import effects, events
from kraftctl.raft.raft_node import RaftNode

NO_EPOCH: Final = -1

NEVER_ASKED: Final = -1
"""The round of what is refused by its header: that depends on no one else."""


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
        self._outbox = Outbox()
        self._turns = SlicedTurns(raft, controller, self._outbox)
        self._gate = RequestGate(controller)
        self._responses = ResponseDelivery(raft, controller, self._outbox)
        self._registration = NodeRegistration()
        self._settings = SettingChanges()
        self._upgrader = RaftKRaftVersionUpgrader(raft)
        controller.state.kraft_version_upgrader = self._upgrader
        self._loader = MetadataLoader(raft, controller, self._generator)
        self._is_loading = False
        self._led_epoch = NO_EPOCH
        self._led_epoch_start = 0
        self.leaders_count = 0
        """How often another leader has become known."""
        self._appended_wall_ms = -1

    @property
    def raft(self) -> RaftNode:
        """To look at; only `step` may change it."""
        return self._raft

    @property
    def controller(self) -> QuorumController:
        """To look at; only `step` may change it."""
        return self._controller

    @property
    def last_record_wall_ms(self) -> int:
        """The timestamp of the newest batch in the image; -1 before the first."""
        return self._appended_wall_ms if self._controller.active else self._loader.last_record_wall_ms

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
        """Returns what must be done, in this order, because `event` happened."""
        self._responses.audit.begin_step(wall_ms)
        if isinstance(event, (ClientRequest, UndecodedRequest)):
            self._client_request(event, now_ms, wall_ms)
        elif isinstance(event, BodyRefused):
            self._responses.body_refused(event)
        elif isinstance(event, (LogRead, SnapshotRead)):
            self._outbox.add_all(self._loader.load(event))
        elif isinstance(event, TurnTaken):
            self._take_turn(event, now_ms, wall_ms)
        elif isinstance(event, events.ResponseReceived):
            if self._registration.is_waiting_for(event.send_id):
                self._outbox.add_all(self._registration.answered(event.response, now_ms))
            else:
                self._step_raft(event, now_ms, wall_ms)
        elif isinstance(event, events.RequestCancelled):
            self._responses.client_left(event.request_id)
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
        if self._controller.undo_failure is not None:
            raise self._controller.undo_failure
        return self._outbox.take()

    def _step_raft(self, event: events.RaftEvent, now_ms: int, wall_ms: int) -> None:
        self._carry_out(self._raft.step(event, now_ms, wall_ms), now_ms)

    def _advance(self, now_ms: int, wall_ms: int, *, is_deadline: bool) -> None:
        """Do what has become possible or due. After most events nothing has: no list is made for that."""
        if not self._loader.is_idle:
            self._outbox.add_all(self._loader.advance(now_ms))
            self._report_loading(now_ms, wall_ms)
        self._claim_if_caught_up(now_ms, wall_ms)
        if is_deadline:
            self._run_due_tasks(now_ms, wall_ms)
            self._responses.release(self._controller.waited_too_long(now_ms))
        if self._generator.is_due(now_ms):
            self._outbox.add_all(self._generator.begin(now_ms, wall_ms))
        self._turns.ask()
        self._register(now_ms)
        if changes := self._settings.take_changes(self._controller):
            self._outbox.add_all(changes)
        for notice in self._controller.take_notices():
            self._notice(CONTROLLER, notice)
        for line in self._controller.take_refusals():
            self._outbox.add(effects.Notice(CONTROLLER, effects.DEBUG, line))
        for refusal in self._controller.state.take_noted_refusals():
            self._outbox.add(RefusalNoted(refusal))
        authorizer_log = self._controller.state.authorizer.log
        if lines := authorizer_log.take():
            self._outbox.add(AuthorizerLines(lines, authorizer_log.take_left_out_count()))
        failures = self._controller.failures
        for source, line in failures.take_lines():
            self._outbox.add(effects.Notice(source, effects.ERROR, line))
        for line in failures.take_request_lines():
            self._outbox.add(RequestFailed(CONTROLLER, line))

    def _report_loading(self, now_ms: int, wall_ms: int) -> None:
        is_loading = self._loader.is_loading
        if is_loading != self._is_loading:
            self._is_loading = is_loading
            self._step_raft(events.LoadingChanged(is_loading), now_ms, wall_ms)

    def _register(self, now_ms: int) -> None:
        try:
            registration = self._registration.take_due(self._controller, self._raft, now_ms)
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005: a timer as any other
            retry_ms = self._registration.failed(now_ms) - now_ms
            outcome = f"tried again in {retry_ms} ms"
            self._controller.failures.note("Asking to be registered", outcome, error, REGISTRATION)
            return
        if registration is not None:
            self._outbox.add(registration)

    # Requests.

    def _client_request(self, event: ClientRequest | UndecodedRequest, now_ms: int, wall_ms: int) -> None:
        """Handle a request. A failure before the first append, or before raft, fails this request alone."""
        pending = self._responses.received(event)
        has_begun = False
        try:
            decision = self._gate.decide(pending)
            if decision is None:
                self._inform_controller()
                # The audit entry has the values before: prepared records are in the image.
                self._responses.begin(pending, pending.context, pending.request)
                has_begun = True
                decision = self._controller.prepare_request(pending, self._turns.moment(now_ms, wall_ms))
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005
            if not has_begun:
                self._responses.begin(pending, pending.context, pending.request)
            refuse_failed(pending, self._controller.failures, error)
            self._responses.respond(pending)
            return
        if isinstance(decision, PreparedResult):
            if not has_begun:
                self._responses.begin(pending, pending.context, pending.request)
                pending.round = NEVER_ASKED
            self._carry_through(pending, decision, now_ms, wall_ms)
        elif isinstance(decision, events.RequestReceived):
            self._responses.begin(pending, pending.context, pending.request)
            self._step_raft(decision, now_ms, wall_ms)
        elif isinstance(decision, DecodeBody):
            self._responses.await_body(pending)
            self._outbox.add(decision)
        elif isinstance(decision, RefuseEnvelope):
            self._responses.begin(pending, event.context, event.request)
            self._responses.refuse_envelope(pending, decision.error)
        elif isinstance(decision, Close):
            self._responses.begin(pending, event.context, event.request)
            self._responses.close(pending, decision)
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
            self._answer(pending, prepared, now_ms, wall_ms)

    def _answer(self, pending: PendingRequest, prepared: PreparedResult, now_ms: int, wall_ms: int) -> None:
        """Answer once what the response reports is committed, and if that is nothing, this still leads."""
        pending.forget_partitions()
        has_to_ask = self._raft.leads_others and self._controller.active
        if has_to_ask and _may_not_wait(pending, prepared):
            pending.round, raft_effects = self._raft.confirm_leadership(now_ms, wall_ms)
            self._carry_out(raft_effects, now_ms)
        self._responses.answer(pending, now_ms)

    def _inform_controller(self) -> None:
        raft = self._raft
        self._controller.follow_quorum(raft.leader_id, raft.kraft_version, raft.voter_set.voter_ids())

    def _append(self, prepared: PreparedResult, now_ms: int, wall_ms: int) -> None:
        """Append the prepared batches one by one.

        Nothing in here may fail: what is in the log may be committed, so it must also be in the image.
        """
        self._controller.begin_append(prepared)
        level = self._upgrader.take_requested()
        if level != NO_LEVEL:
            self._carry_out(self._raft.upgrade_kraft_version(level, now_ms, wall_ms), now_ms)
        self._appended_wall_ms = wall_ms
        for batch in prepared.batches:
            base_offset, effects_of_append = self._raft.append(batch.values, now_ms, wall_ms)
            self._controller.replay(batch.records, base_offset, prepared.response is not None)
            self._generator.note(total_bytes(batch.values))
            self._carry_out(effects_of_append, now_ms)

    # Raft's effects.

    def _carry_out(self, raft_effects: list[effects.RaftEffect], now_ms: int) -> None:
        """Handle what concerns the node itself, and pass on everything else, in order."""
        for effect in raft_effects:
            # Not `match`, here and below: see ADR 8. An AlterPartition in the core takes 4 % less.
            if isinstance(effect, effects.Respond):
                self._responses.raft_answered(effect)
            elif isinstance(effect, effects.HighWatermarkUpdated):
                self._outbox.add(effect)
                if self._controller.active:
                    self._responses.release(self._controller.committed(effect.offset))
            elif isinstance(effect, effects.LeadershipConfirmed):
                if self._controller.active:
                    self._responses.release(self._controller.confirmed(effect.round))
            elif isinstance(effect, effects.BecameLeader):
                self._led_epoch = effect.epoch
                self._led_epoch_start = effect.epoch_start_offset
            elif isinstance(effect, effects.LeadershipLost):
                self._led_epoch = NO_EPOCH
                if self._controller.active:
                    self._notice(CONTROLLER, f"Renouncing the leadership of epoch {effect.epoch}")
                    self._responses.release(self._controller.renounce())
            elif isinstance(effect, effects.LeaderChanged):
                if effect.leader_id >= 0:
                    self.leaders_count += 1
                self._inform_controller()
                self._registration.leader_changed(now_ms)
            elif isinstance(effect, effects.StartOver):
                self._outbox.add_all(self._generator.abandon())
                self._outbox.add(effect)
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
                self._outbox.add(effect)
            else:
                assert_never(effect)

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
            self._outbox.add(effects.Halt(unsupported))
            return
        epoch = self._led_epoch
        self._notice(CONTROLLER, f"Becoming the active controller in epoch {epoch}, at offset {loaded}.")
        self._inform_controller()
        for prepared in self._controller.claim(epoch, Moment(now_ms, wall_ms, loaded)):
            self._append(prepared, now_ms, wall_ms)

    def _run_due_tasks(self, now_ms: int, wall_ms: int) -> None:
        while True:
            prepared = self._controller.prepare_due_task(self._turns.moment(now_ms, wall_ms))
            if prepared is None:
                return
            self._append(prepared, now_ms, wall_ms)
            if prepared.rest is not None:
                self._controller.continue_later(prepared.rest, None)

    # Long work, a slice in each turn.

    def _take_turn(self, event: TurnTaken, now_ms: int, wall_ms: int) -> None:
        if event.work == SLICES:
            if self._turns.begin(event.units):
                self._take_slice(now_ms, wall_ms)
        elif event.work == SNAPSHOT:
            self._outbox.add_all(self._generator.continue_for(event.units, now_ms))
        else:
            assert event.work == LOADING, event.work
            self._outbox.add_all(self._loader.take_turn(event.units, now_ms))

    def _take_slice(self, now_ms: int, wall_ms: int) -> None:
        progress = self._controller.take_work()
        pending = progress.pending
        prepared = self._controller.prepare_slice(progress, self._turns.whole_moment(now_ms, wall_ms))
        self._turns.spent = progress.work.spent
        if prepared is None:
            if pending is not None:
                self._responses.respond(pending)
            return
        base_offset = self._raft.end_offset
        self._append(prepared, now_ms, wall_ms)
        if pending is not None:
            if pending.audit is not None:
                pending.audit.appended(base_offset, self._raft.end_offset)
            if prepared.rest is None:
                self._answer(pending, prepared, now_ms, wall_ms)

    def _notice(self, source: str, text: str) -> None:
        self._outbox.add(effects.Notice(source, effects.INFO, text))


def _may_not_wait(pending: PendingRequest, prepared: PreparedResult) -> bool:
    """Returns whether nothing may be committed for the response, though it promises to be the leader's.

    A heartbeat may report nothing of its own records: its broker's partitions are changed slice by slice.
    """
    api = pending.context.api
    is_of_leader = api.owner == Owner.ACTIVE and pending.round != NEVER_ASKED
    return is_of_leader and (not prepared.batches or api.waits_for == WaitsFor.READS)
