"""QuorumController: the metadata state machine behind one quorum node (KIP-631).

A standby replays what is committed. When its node leads the quorum it claims: from then on it replays its own
records immediately, and answers each request once everything that the request saw is committed. When it loses
leadership it renounces: uncommitted changes are undone, and waiting requests are refused with NOT_CONTROLLER.

The caller carries out these steps, without anything else in between:

1. `prepare_request`, `prepare_due_task` or `prepare_slice` returns a prepared result, and a failure up to
   here concerns that request or task alone. Its records are in the image already: one that does not fit
   would end one controller after the other, once it is in the log. `claim` returns results, too.
2. `begin_append`; then for each batch: append its values to the log, `replay` it at its base offset.
3. `park` says whether the response of a request must wait; `committed` returns the requests to answer.

One `PendingRequest` goes along: the prepared response, its bytes and a refusal are put into it.
"""

from __future__ import annotations

import random
from typing import Final

from kraftctl.apis.api import NO_CLUSTER_RIGHT, Owner, WaitsFor
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.cluster_control.local_registration import local_registration
from kraftctl.controller.cluster_control.register_controller import needs_registration, registration_request
from kraftctl.controller.committed_replay import CommittedReplay
from kraftctl.controller.failed_requests import refuse_failed
from kraftctl.controller.features.activation import Activation
from kraftctl.controller.own_replay import OwnReplay
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.controller.periodic_tasks import PeriodicTasks
from kraftctl.controller.request_handlers import HANDLERS, READS
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.excessive_requests import excessive, has_too_many, too_many_records
from kraftctl.controller.results.failures import Failures, shortened
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.noted_refusal import refused_envelope
from kraftctl.controller.results.prepared_result import PreparedResult, prepare_result
from kraftctl.controller.results.refusal_lines import refusal_line
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.sliced_works import SlicedWorks, WorkInProgress
from kraftctl.controller.state.broker_heartbeat_manager import BrokerHeartbeatManager
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.controller.state.standard_authorizer import configured_authorizer
from kraftctl.controller.waiting_responses import WaitingResponses
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.token_secrets import TokenSecrets
from kraftctl.metadata import features
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.controller_registration_request import ControllerRegistrationRequest
from kraftctl_protocol.generated.no_op_record import NoOpRecord
from kraftctl_protocol.generated.unregister_broker_record import UnregisterBrokerRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, checkpoint_file_name
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.shared_response import encoded_once

NO_OFFSET: Final = -1


class QuorumController:
    """One controller's state machine. Offsets named `last_...` are inclusive, `..._end`, `next_...` are not.

    `bootstrap_records` are the first records of an empty log; `endpoints` has host and port of each listener.
    """

    def __init__(
        self,
        config: ControllerConfig,
        cluster_id: str,
        rng: random.Random,
        bootstrap_records: list[RecordAndVersion],
        endpoints: dict[str, tuple[str, int]],
    ) -> None:
        key = config.delegation_token_secret_key
        self._token_secrets = None if key is None else TokenSecrets(key)
        self.image = self._new_image()
        self.state = ControllerState(config, cluster_id, self.image, rng)
        self.state.authorizer = configured_authorizer(config, self.image)
        self.own_registration = local_registration(config, endpoints, rng)
        self.failures = Failures()
        self._supported_features = features.supported_features(config.unstable_feature_versions_enable)
        self._own_replay = OwnReplay(self._supported_features)
        self._activation = Activation(
            config.metadata_log_dir, bootstrap_records, self._supported_features, config.min_insync_replicas
        )
        self._works = SlicedWorks()
        self._tasks: PeriodicTasks | None = None
        self._waiting = WaitingResponses(config.controller_quorum_request_timeout_ms)
        self._next_replay_offset = 0
        self._last_change_offset = NO_OFFSET
        self._committed_end = 0

    # State.

    @property
    def active(self) -> bool:
        """Whether this is the active controller."""
        return self.state.active

    @property
    def next_replay_offset(self) -> int:
        """The first offset that is not in the image; after `renounce` the log is read again from here."""
        return self._next_replay_offset

    @property
    def last_stable_offset(self) -> int:
        """The last offset that is committed and in no open metadata transaction (KIP-868)."""
        end = self._committed_end
        start = self.image.journal.unstable_start(end)
        return (end if start is None else min(end, start)) - 1

    @property
    def next_deadline_ms(self) -> int | None:
        """When `prepare_due_task` or `waited_too_long` has something to do; None on a standby."""
        if self._tasks is None:
            return None
        task_ms, read_ms = self._tasks.next_deadline_ms, self._waiting.next_deadline_ms
        return task_ms if read_ms is None else min(task_ms, read_ms)

    def follow_quorum(self, leader_id: int, kraft_version: int, voter_ids: list[int]) -> None:
        """Note the state of the quorum that responses depend on. Without a leader, -1, the last one stays."""
        if leader_id >= 0:
            self.state.leader_id = leader_id
        self.state.kraft_version = kraft_version
        self.state.voter_ids = voter_ids

    @property
    def undo_failure(self) -> Exception | None:
        """If this is not None, the image is not what the log says, and the process has to end."""
        return self._own_replay.undo_failure

    # Reading the log on a standby.

    def replay_of_log(self) -> CommittedReplay:
        """To replay what others, or this one in an earlier epoch, have committed; then `skip_to`."""
        assert not self.active, "the active controller replays what it appends"
        return CommittedReplay(self.image, self._supported_features)

    def replay_of_snapshot(self, snapshot_id: OffsetAndEpoch) -> CommittedReplay:
        """To replay a snapshot into an image of its own, for `use_image`."""
        image = self._new_image()
        return CommittedReplay(image, self._supported_features, snapshot_id.offset - 1)

    def _new_image(self) -> MetadataImage:
        image = MetadataImage()
        image.journal.enabled = False
        image.delegation_tokens.use_secrets(self._token_secrets)
        return image

    def use_image(self, image: MetadataImage, end_offset: int) -> None:
        """From now on everything before `end_offset` is as in `image`, which a snapshot holds whole."""
        assert not self.active, "an active controller has everything already"
        self.image = image
        self.state.use_image(image)
        self.state.authorizer.follow_image(image)
        self._next_replay_offset = end_offset
        self._committed_end = end_offset
        self.state.keep_committed(self.last_stable_offset + 1)

    def skip_to(self, end_offset: int) -> None:
        """Everything before `end_offset` is committed and in the image; control batches do not change it."""
        self._next_replay_offset = max(self._next_replay_offset, end_offset)
        self._committed_end = max(self._committed_end, end_offset)
        self.state.keep_committed(self.last_stable_offset + 1)

    def caught_up(self) -> None:
        """Note that every record that is known to be committed is in the image."""
        if not self.state.metadata_loaded:
            self.state.loaded()
            self.state.keep_committed(self.last_stable_offset + 1)
        self.state.authorizer.metadata_loaded()

    def file_of_snapshot(self, snapshot_id: OffsetAndEpoch) -> str:
        """The name of its checkpoint, for messages."""
        name = checkpoint_file_name(snapshot_id)
        return f"{self.state.config.metadata_log_dir}/{PARTITION_DIRECTORY}/{name}"

    # Claiming and renouncing leadership.

    def why_not_claim(self) -> str | None:
        """Why this controller must not write the first records of its epoch; None if it may."""
        return self._activation.why_not_claim(self.image)

    def claim(self, epoch: int, moment: Moment) -> list[PreparedResult]:
        """Become the active controller of quorum `epoch`; the results are to be written, in order.

        The image must have every record before the next offset of `moment`, and all of them must be
        committed; only control batches of the new epoch may not be yet.
        """
        assert not self.active, "already active"
        assert moment.next_offset >= self._next_replay_offset, "the image is ahead of the log"
        self._next_replay_offset = moment.next_offset
        self.caught_up()
        self.image.journal.enabled = True
        self.image.journal.commit_to(self._committed_end)
        state = self.state
        state.claim_epoch = epoch
        state.begin_sessions(moment.now_ms)
        self._name_unusable_values()
        self._tasks = PeriodicTasks(state, self.own_registration, moment.now_ms)
        return [self.prepare(result) for result in self._activation.results(self.image)]

    def _name_unusable_values(self) -> None:
        state = self.state
        try:
            state.notices += state.unusable_values.notices(self.image, state.config)
        except Exception as error:  # noqa: BLE001 - these are only lines for the log
            self.failures.note("Looking for stored values that cannot be used", "they are not named", error)

    def renounce(self) -> list[PendingRequest]:
        """Stop being active: uncommitted changes are undone, and every waiting response becomes a refusal."""
        assert self.active, "not active"
        self.state.claim_epoch = -1
        self._tasks = None
        self.image.journal.rollback_to(self._committed_end)
        self.image.journal.enabled = False
        self._next_replay_offset = self._committed_end
        self._last_change_offset = NO_OFFSET
        self.state.dynamic_config.renounced()
        self.state.heartbeats = BrokerHeartbeatManager(self.state.config.broker_session_timeout_ms)
        failed = self._waiting.take_all() + self._works.drop_all()
        for pending in failed:
            pending.refuse(Errors.NOT_CONTROLLER)
        return failed

    # Requests and timers.

    def why_refused(
        self, context: RequestContext, logs_grant: bool = True, logs_denial: bool = True
    ) -> ApiError | None:
        """Why a request may not be handled here; None if it may. Independent of its body."""
        api = context.api
        if api.refusal is not None:
            return ApiError(api.refusal)
        if context.envelope:
            forwarded = self.state.envelope_principals.why_refused(context)
            if forwarded is not None:
                self.state.noted_refusals.append(refused_envelope(context, forwarded))
                return forwarded
        operation = api.cluster_operation
        if operation != NO_CLUSTER_RIGHT and not self.state.authorizer.allows_on_cluster(
            context, operation, logs_grant, logs_denial
        ):
            if self.state.authorizer.ready:
                return ApiError(Errors.CLUSTER_AUTHORIZATION_FAILED)
            # A fetching broker ends its process after that error; it retries these.
            sent_again = api.owner == Owner.ACTIVE or api.owner == Owner.NODE
            error = Errors.NOT_CONTROLLER if sent_again else Errors.UNKNOWN_SERVER_ERROR
            return ApiError(error, "the ACLs are not loaded yet")
        if api.owner == Owner.ACTIVE and not self.active:
            return ApiError(Errors.NOT_CONTROLLER)
        return None

    def refused(self, pending: PendingRequest, error: ApiError) -> PreparedResult:
        """A result that refuses the whole request."""
        context, request = pending.context, pending.request
        line = refusal_line(f"{request.NAME} of {shortened(str(context.principal))}", error)
        response = error_response(context.api_key, request, context.version, error.error, error.message)
        pending.response = response
        return PreparedResult([], response, None, [], [line])

    def note_refusal(self, what: str, error: ApiError) -> None:
        """Note for the log that the caller refuses `what`."""
        self.state.refusals.append(refusal_line(what, error))

    def handle(self, context: RequestContext, request: Message, moment: Moment) -> ControllerResult:
        """Records and response of a request that `why_refused` has let pass."""
        return HANDLERS[context.api.key](self.state, context, request, moment)

    def prepare_request(self, pending: PendingRequest, moment: Moment) -> PreparedResult:
        """Handles the request, encodes the result and replays it: all that can fail before the first append.

        An exception is a bug on our side and concerns this request alone: `refuse_failed` answers it.
        """
        state, context, request = self.state, pending.context, pending.request
        state.mutation_quotas.begin_request()
        try:
            result = self.handle(context, request, moment)
            if result.is_atomic and has_too_many(result.records):
                result = too_many_records(context, request)
            prepared = self.prepare(result)
            too_large = prepared.why_too_large()
            if too_large is not None:
                prepared = self.prepare(excessive(context, request, too_large))
            response = prepared.response
            assert response is not None or prepared.rest is not None, "every request has a response"
            pending.response = response
            if response is not None and prepared.batches:
                # What is committed must be answered: a response that cannot be encoded has to fail now.
                pending.encoded = encoded_once(response, context.version)
            self._replay_ahead(prepared, moment.next_offset)
        except Exception:
            state.mutation_quotas.refund_request()
            raise
        return prepared

    def prepare_due_task(self, moment: Moment) -> PreparedResult | None:
        """Records of at most one task that is due, None when nothing is; call again once they are replayed.

        A task that fails is counted and retried after a growing pause; the others run as before.
        """
        tasks = self._tasks
        if tasks is None:
            return None
        while (task := tasks.take_due(moment.now_ms)) is not None:
            try:
                result = tasks.run(task, moment)
                prepared = None if result is None else self.prepare(result)
                assert prepared is None or prepared.why_too_large() is None, prepared.why_too_large()
                if prepared is not None:
                    self._replay_ahead(prepared, moment.next_offset)
            except Exception as error:  # noqa: BLE001 - nothing is appended yet: the task alone fails
                what, retry_ms = tasks.failed(task, moment.now_ms)
                self.failures.note(what, f"tried again in {retry_ms - moment.now_ms} ms", error)
                continue
            tasks.succeeded(task)
            if prepared is not None and (prepared.batches or prepared.rest is not None):
                return prepared
        return None

    # Long work.

    @property
    def has_work(self) -> bool:
        """Whether `prepare_slice` has something to do."""
        return len(self._works) > 0

    def continue_later(
        self, rest: SlicedWork, pending: PendingRequest | None, *, has_begun: bool = True
    ) -> None:
        """Take `rest` in slices, as the first slice of the result is appended; then answer `pending`.

        `has_begun` says whether that slice has changed something.
        """
        self._works.add(WorkInProgress(rest, pending, has_begun))

    def client_left(self, request_id: int) -> bool:
        """Drop the work of a client that left. Returns False, and keeps it, if it has changed something."""
        return self._works.drop_unbegun(request_id)

    def take_work(self) -> WorkInProgress:
        """The work whose turn it is, for `prepare_slice`."""
        return self._works.take()

    def prepare_slice(self, progress: WorkInProgress, moment: Moment) -> PreparedResult | None:
        """The next slice of `progress`; with the last one its request has a response.

        A slice that fails ends its work alone: the result is None, and the request is refused.
        """
        work, pending = progress.work, progress.pending
        self.state.mutation_quotas.begin_request()
        try:
            prepared = self.prepare(work.next_slice(moment))
            too_large = prepared.why_too_large()
            assert too_large is None, too_large
            response = prepared.response
            if pending is not None and response is not None:
                pending.response = response
                pending.encoded = encoded_once(response, pending.context.version)
            assert (response is not None) == (pending is not None and prepared.rest is None)
            self._replay_ahead(prepared, moment.next_offset)
        except Exception as error:  # noqa: BLE001 - nothing of the slice is appended: this work alone fails
            self.state.mutation_quotas.refund_request()
            work.failed(moment)
            if pending is not None:
                refuse_failed(pending, self.failures, error)
            else:
                self.failures.note(f"Continuing to {work.name}", "the rest is left to a later attempt", error)
            return None
        if prepared.rest is not None:
            progress.has_begun = progress.has_begun or prepared.changes_anything
            self._works.add(progress)
        return prepared

    # Writing.

    def prepare(self, result: ControllerResult) -> PreparedResult:
        """The result with its records encoded, checked and cut into batches. Nothing changes."""
        return prepare_result(self.image, result)

    def begin_append(self, prepared: PreparedResult) -> None:
        """The result is about to be appended: from here on it cannot be refused."""
        if prepared.soft_change is not None:
            prepared.soft_change.make()
        if prepared.notices:
            self.state.notices += prepared.notices
        if prepared.refusals:
            self.state.refusals += prepared.refusals

    def replay(self, records: list[RecordAndVersion], base_offset: int, is_answered: bool = False) -> None:
        """Apply own records, which may never be committed; those of a prepared result are in the image.

        A response waits for a NoOpRecord, too.
        """
        assert self.active, "a standby replays committed records"
        assert base_offset >= self._next_replay_offset, f"{base_offset} was replayed before"
        self._next_replay_offset = base_offset + len(records)
        if self._own_replay.appended_topics(len(records), base_offset):
            self._last_change_offset = self._next_replay_offset - 1
            return
        for offset, entry in enumerate(records, base_offset):
            record = entry.record
            registration = self._own_replay.appended(self.image, record, offset)
            if is_answered or not isinstance(record, NoOpRecord):
                self._last_change_offset = offset
            if registration is not None:
                self.state.heartbeats.follow(registration, record)
            elif isinstance(record, UnregisterBrokerRecord):
                self.state.heartbeats.remove(record.broker_id)
            elif isinstance(record, ConfigRecord):
                self.state.dynamic_config.appended(record, self._next_replay_offset)
            elif isinstance(record, AbortTransactionRecord):  # one of the first records of this claim
                self.state.begin_sessions(self.state.heartbeats.activated_ms)

    def _replay_ahead(self, prepared: PreparedResult, base_offset: int) -> None:
        """Replay the records, once nothing else can fail; see `OwnReplay.replay_ahead`."""
        if prepared.batches:
            assert base_offset >= self._next_replay_offset, f"{base_offset} was replayed before"
            self._own_replay.replay_ahead(self.image, prepared, base_offset)

    def take_notices(self) -> list[str]:
        """Lines for the log about the latest changes; each is returned once."""
        notices = self.state.notices
        if notices:
            self.state.notices = []
        return notices

    def take_refusals(self) -> list[str]:
        """Lines for the log with the reasons of refusals; each is returned once."""
        refusals = self.state.refusals
        if refusals:
            self.state.refusals = []
        return refusals

    # Answering.

    def park(self, pending: PendingRequest, now_ms: int) -> bool:
        """Keep the request until everything that its response may have seen is stable.

        Returns False if that is stable already, and its round confirmed: answer it now.
        """
        api, response = pending.context.api, pending.response
        stable_offset = self.last_stable_offset
        if api.waits_for == WaitsFor.NOTHING:
            return False
        if not self.active or self._last_change_offset <= stable_offset:
            return self._waiting.add_unconfirmed(pending)
        offset = self._last_change_offset
        if api.waits_for == WaitsFor.READS and not _may_stop(response):
            containers, key = READS[api.key](self.image, pending.request)
            changed = self.image.journal.last_change(containers, key, stable_offset + 1)
            if changed is None:
                return self._waiting.add_unconfirmed(pending)
            offset = changed
        self._waiting.add(offset, pending)
        if api.owner == Owner.EVERY and api.waits_for == WaitsFor.READS:
            self._waiting.add_deadline(pending, now_ms)
        return True

    def committed(self, high_watermark: int) -> list[PendingRequest]:
        """Note that everything before `high_watermark` is committed. Returns the requests to answer now."""
        if high_watermark <= self._committed_end:
            return []
        self._committed_end = high_watermark
        stable_offset = self.last_stable_offset
        self.state.keep_committed(stable_offset + 1)
        self.image.journal.commit_to(high_watermark)
        return self._waiting.take_up_to(stable_offset)

    def confirmed(self, round: int) -> list[PendingRequest]:
        """Note that this led when `round` was asked for. Returns the requests to answer now."""
        return self._waiting.take_confirmed(round)

    def waited_too_long(self, now_ms: int) -> list[PendingRequest]:
        """Reads whose offset was not committed in time: each is answered with REQUEST_TIMED_OUT."""
        return self._waiting.give_up_reads(now_ms)

    # Other controllers.

    def registration_to_send(self) -> ControllerRegistrationRequest | None:
        """The request that a standby sends to the active controller until its registration is committed."""
        if self.active or not needs_registration(self.image, self.own_registration):
            return None
        return registration_request(self.own_registration)


def _may_stop(response: Message | None) -> bool:
    """Returns whether this is the response to a broker's last heartbeat.

    That depends on partitions and on other brokers, too: it waits for all that was appended, as in Kafka.
    """
    return isinstance(response, BrokerHeartbeatResponse) and response.should_shut_down
