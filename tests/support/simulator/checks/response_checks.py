"""What a response says is what some state says that was there between its request and it.

Refusals are checked by `refusal_reasons`, reads by `read_rules`, what the raft layer says by
`raft_response_rules`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from kraftctl.apis.api import Owner
from kraftctl.apis.api_table import API_TABLE
from kraftctl.node.events import ClientRequest, NodeEffect, NodeEvent
from kraftctl.raft.effects import AppendBatch, Respond
from kraftctl.raft.events import RequestCancelled
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.update_raft_voter_request import UpdateRaftVoterRequest
from kraftctl_protocol.message import Message
from tests.support.simulator.checks import raft_response_rules
from tests.support.simulator.checks.asked_requests import AskedRequest
from tests.support.simulator.checks.checked_replica import CheckedReplica
from tests.support.simulator.checks.invariants import broken
from tests.support.simulator.checks.leaving import leaving_of
from tests.support.simulator.checks.log_history import LogHistory
from tests.support.simulator.checks.process_view import ProcessView
from tests.support.simulator.checks.quorum_checks import QuorumChecks
from tests.support.simulator.checks.read_rules import READS
from tests.support.simulator.checks.refusal_reasons import NOT_OF_THE_STATE, REASONS
from tests.support.simulator.checks.refusals_of import refusals_of
from tests.support.simulator.checks.window import Window
from tests.support.simulator.reference.reference import Reference

NOT_CONTROLLER = Errors.NOT_CONTROLLER
TRANSACTION = ("transaction",)


class ResponseChecks:
    """`counts` says of each API and code how it was checked: what nothing checks can be seen there."""

    def __init__(self, quorum: QuorumChecks, reference: Reference) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        """API, code or "read", and "checked", "of the request", "not checked", or "on another branch"."""
        self.handlers_may_fail = False
        """Whether failures are planted in them."""
        self._quorum = quorum
        self._history: LogHistory = quorum.history
        self._reference = reference
        self._asked: dict[tuple[int, int, int], AskedRequest] = {}
        self._acknowledged_end = 0
        self._of_step: AskedRequest | None = None
        self._updates: dict[int, AskedRequest] = {}
        """By node id, an UpdateRaftVoter that its last step has carried out."""

    def stepped(self, process: ProcessView, event: NodeEvent) -> None:
        """After the step of a request, before its effects."""
        self.forget_step(process)
        replica = self._quorum.running[process.node_id]
        if isinstance(event, ClientRequest):
            asked = self._of_step = AskedRequest(replica, event, self._acknowledged_end)
            if asked.api_key in API_TABLE:
                self._asked[process.node_id, process.life, event.request_id] = asked
        elif isinstance(event, RequestCancelled):
            self._asked.pop((process.node_id, process.life, event.request_id), None)

    def forget_step(self, process: ProcessView) -> None:
        """The step of another event: what is appended is not of the last request."""
        self._of_step = None
        if self._updates:
            self._check_update(process)

    def _check_update(self, process: ProcessView) -> None:
        """Everything that the last step appended is in the log now."""
        asked = self._updates.pop(process.node_id, None)
        replica = self._quorum.running[process.node_id]
        if asked is not None and asked.epoch == replica.epoch:
            raft_response_rules.check_update(self._quorum, replica, asked)

    def appending(self, effect: NodeEffect) -> None:
        """Of this step."""
        assert isinstance(effect, AppendBatch)
        if self._of_step is not None:
            self._of_step.own_end = effect.last_offset + 1

    def ended(self, process: ProcessView) -> None:
        """Nothing more is answered."""
        self._updates.pop(process.node_id, None)
        for key in [key for key in self._asked if key[0] == process.node_id]:
            del self._asked[key]

    def responding(self, process: ProcessView, effect: NodeEffect) -> None:
        """Before the response is sent."""
        assert isinstance(effect, Respond)
        asked = self._asked.pop((process.node_id, process.life, effect.request_id), None)
        if asked is None:
            return
        replica = self._quorum.running[process.node_id]
        response = asked.response_in(effect.response)
        if response is None:
            self._check_envelope(replica, asked, effect.response)
            return
        if API_TABLE[asked.api_key].owner == Owner.NOBODY:
            self._count(asked, getattr(response, "error_code", 0), "of the request")
            return
        if API_TABLE[asked.api_key].owner == Owner.RAFT:
            self._check_raft(replica, asked, response)
            return
        read = READS.get(asked.api_key)
        if read is not None and not getattr(response, "error_code", 0):
            self._check_read(replica, asked, response)
        self._check_refusals(replica, asked, response)
        if not getattr(response, "error_code", 0):
            self._acknowledged_end = max(self._acknowledged_end, asked.own_end)

    def _count(self, asked: AskedRequest, what: int | str, how: str) -> None:
        name = what if isinstance(what, str) else Errors(what).name
        self.counts[API_TABLE[asked.api_key].name, name, how] += 1

    def _check_raft(self, replica: CheckedReplica, asked: AskedRequest, response: Message) -> None:
        for code in raft_response_rules.check(self._quorum, replica, asked, response):
            if code in raft_response_rules.REFUSALS:
                self._count(asked, code, "checked")
            else:
                known = code in raft_response_rules.NOT_OF_THE_LOG
                self._count(asked, code, "of the request" if known else "not checked")
        if type(asked.request) is UpdateRaftVoterRequest and not getattr(response, "error_code", 0):
            self._updates[replica.node_id] = asked
        if type(asked.request) in raft_response_rules.GRANTS and not getattr(response, "error_code", 0):
            self._count(asked, "NONE", "checked")

    # Refusals.

    def _check_envelope(self, replica: CheckedReplica, asked: AskedRequest, response: Message) -> None:
        """Only a standby refuses an envelope as a whole."""
        code = getattr(response, "error_code", 0)
        if code == NOT_CONTROLLER:
            self._check_not_controller(replica, asked)
        else:
            self._count(asked, code, "of the request")

    def _check_refusals(self, replica: CheckedReplica, asked: AskedRequest, response: Message) -> None:
        for code, item in refusals_of(asked.request, response):
            key = (type(asked.request), code)
            if code == Errors.UNKNOWN_SERVER_ERROR:
                self._check_failure(replica, asked)
            elif code == NOT_CONTROLLER and (
                item is None or key not in REASONS or self._was_standby(replica, asked)
            ):
                self._check_not_controller(replica, asked)
            elif key in REASONS:
                self._check_reason(replica, asked, code, item)
            elif code in NOT_OF_THE_STATE:
                self._count(asked, code, "of the request")
            else:
                self._count(asked, code, "not checked")

    def _check_failure(self, replica: CheckedReplica, asked: AskedRequest) -> None:
        """No handler fails; but before the ACLs are loaded, this is what who asks has to repeat."""
        self._count(asked, Errors.UNKNOWN_SERVER_ERROR, "checked")
        if asked.acls_are_loaded and not self.handlers_may_fail:
            broken("RefusalIsJustified", f"{replica.name} fails to answer {asked.request!r}")

    def _was_standby(self, replica: CheckedReplica, asked: AskedRequest) -> bool:
        """At some time between the request and now."""
        is_active = asked.was_active and replica.active and replica.controller.active
        return not is_active or replica.renounced_count != asked.renounced

    def _check_not_controller(self, replica: CheckedReplica, asked: AskedRequest) -> None:
        self._count(asked, NOT_CONTROLLER, "checked")
        if asked.acls_are_loaded and not self._was_standby(replica, asked):
            broken(
                "RefusalIsJustified",
                f"{replica.name} answers {asked.request.NAME} with NOT_CONTROLLER, and was the active"
                f" controller of epoch {replica.epoch} all the time",
            )

    def _check_reason(self, replica: CheckedReplica, asked: AskedRequest, code: int, item: object) -> None:
        with self._as_in_log_of(replica, is_leader=asked.was_active) as last_end:
            if last_end < 0:
                self._count(asked, code, "on another branch")
                return
            first_end = asked.log_end if asked.was_active else asked.image_end
            leaving = asked.leaving.union(leaving_of(replica.controller))
            window = Window(self._reference.rows, first_end, last_end, leaving)
            self._count(asked, code, "checked")
            if not REASONS[type(asked.request), code](asked.request, item, window):
                broken(
                    "RefusalIsJustified",
                    f"{replica.name} answers {asked.request.NAME} of {item} with {Errors(code).name}, and no"
                    f" state from {window.first_end} to {last_end} justifies that: {asked.request!r}",
                )

    @contextmanager
    def _as_in_log_of(self, replica: CheckedReplica, *, is_leader: bool) -> Iterator[int]:
        """The reference has what the log of a leader has, too; yields its end, -1 on another branch.

        Who does not lead has replayed what is committed, and no more.
        """
        if not is_leader:
            yield min(replica.controller.next_replay_offset, self._reference.end_offset)
            return
        committed, log = self._history.committed, replica.log
        count = len(committed)
        if count and not log.holds(committed[-1]):
            last = log.last()
            yield -1 if last is None or not self._history.is_committed(last) else log.end
            return
        records = (
            (offset, record)
            for batch in log.batches[count:]
            for offset, record in enumerate(batch.messages, batch.base_offset)
        )
        with self._reference.extended(records):
            yield log.end

    # Reads.

    def _stable_end(self, end_offset: int) -> int:
        """Where the metadata transaction begins that is open at `end_offset`, else that."""
        *_, state = self._reference.rows.between(end_offset, self._history.committed_end, TRANSACTION)
        start: int = state.get(TRANSACTION, end_offset)
        return start

    def _check_read(self, replica: CheckedReplica, asked: AskedRequest, response: Message) -> None:
        """Of the active controller: all that was acknowledged to anybody. Others: what they have replayed,
        but for a metadata transaction that was open.
        """
        rule = READS[asked.api_key]
        first_end = asked.acknowledged_end if rule.is_of_leader else self._stable_end(asked.committed_end)
        window = Window(self._reference.rows, first_end, self._history.committed_end)
        self._count(asked, "read", "checked")
        difference = ""
        for state in window.states(tables=rule.tables):
            difference = rule.difference(asked, response, state, window.last_end)
            if not difference:
                return
        broken(
            "ReadsSeeCommittedData",
            f"{replica.name} answers {asked.request.NAME} with what no state from {window.first_end} to"
            f" {window.last_end} says: {difference}",
        )
