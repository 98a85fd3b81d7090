"""KIP-919: a standby registers with the active controller, and retries until its record is in the log."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.failures import pause_ms
from kraftctl.controller.results.notice_sources import REGISTRATION
from kraftctl.raft.effects import ERROR, INFO, Notice, SendRequest
from kraftctl.raft.limited_notices import LimitedNotices
from kraftctl.raft.peers import NOTHING_IN_FLIGHT
from kraftctl.raft.raft_node import RaftNode
from kraftctl_protocol.errors import Errors, error_of
from kraftctl_protocol.generated.controller_registration_response import ControllerRegistrationResponse
from kraftctl_protocol.message import Message

BACKOFF_MS: Final = 100
BACKOFF_MS_MAX: Final = 30_000

REPLAY_MS: Final = 2_000
"""How long the record may take to reach this node after a success, before the request is repeated."""

PASSING_ERRORS: Final = frozenset([Errors.NOT_CONTROLLER, Errors.UNKNOWN_SERVER_ERROR])
"""The leader is still loading, or is no longer the leader."""


class NodeRegistration:
    """When to send the registration next. Nothing is due on the active controller, or without one."""

    def __init__(self) -> None:
        self._send_id = NOTHING_IN_FLIGHT
        self._wanted = False
        self._send_at_ms = 0
        self._backoff_ms = BACKOFF_MS
        self._failure_count = 0
        self._not_before_ms = 0
        self._sent_ms = -BACKOFF_MS
        self._lines = LimitedNotices()

    @property
    def next_deadline_ms(self) -> int | None:
        return self._send_at_ms if self._wanted and not self._is_in_flight() else None

    def leader_changed(self, now_ms: int) -> None:
        """A new leader may be able to answer immediately. Who raises epochs is asked once a backoff."""
        self._send_at_ms = max(now_ms, self._sent_ms + BACKOFF_MS)
        self._backoff_ms = BACKOFF_MS

    def take_due(self, controller: QuorumController, raft: RaftNode, now_ms: int) -> SendRequest | None:
        """The request, if it is due now. When this raises, call `failed`."""
        if self._is_in_flight() or now_ms < self._not_before_ms:
            return None
        self._wanted = False
        if raft.leader_id < 0 or raft.leader_id == raft.node_id:
            return None
        address = raft.leader_address
        request = controller.registration_to_send()
        if address is None or request is None:
            return None
        self._wanted = True
        if now_ms < self._send_at_ms:
            return None
        self._send_id = raft.take_send_id()
        self._sent_ms = now_ms
        self._failure_count = 0
        host, port = address
        return SendRequest(self._send_id, raft.leader_id, host, port, request.API_KEY, request)

    def failed(self, now_ms: int) -> int:
        """The request could not be built. Returns when it is retried."""
        self._wanted = False
        self._failure_count += 1
        self._not_before_ms = now_ms + pause_ms(self._failure_count)
        return self._not_before_ms

    def is_waiting_for(self, send_id: int) -> bool:
        """Whether the response to this request is for `answered`."""
        return self._is_in_flight() and send_id == self._send_id

    def answered(self, response: Message | None, now_ms: int) -> list[Notice]:
        """The outcome of the request, for the log: few lines in an interval."""
        outcome = self._outcome(response, now_ms)
        left_out = self._lines.take_left_out(now_ms)
        lines = [outcome] if self._lines.admits() else []
        if left_out > 0:
            lines.append(Notice(REGISTRATION, INFO, f"{left_out} similar lines were left out (registration)"))
        return lines

    def _outcome(self, response: Message | None, now_ms: int) -> Notice:
        self._send_id = NOTHING_IN_FLIGHT
        if isinstance(response, ControllerRegistrationResponse) and response.error_code == Errors.NONE:
            self._send_at_ms = now_ms + REPLAY_MS
            return Notice(REGISTRATION, INFO, "The active controller has registered this controller")
        self._send_at_ms = now_ms + self._backoff_ms
        self._backoff_ms = min(2 * self._backoff_ms, BACKOFF_MS_MAX)
        if not isinstance(response, ControllerRegistrationResponse):
            return Notice(REGISTRATION, INFO, "The active controller did not answer ControllerRegistration")
        error = error_of(response.error_code)
        level = INFO if error in PASSING_ERRORS else ERROR
        text = f"ControllerRegistration failed with {error.name}: {response.error_message or error.message}"
        return Notice(REGISTRATION, level, text)

    def _is_in_flight(self) -> bool:
        return self._send_id != NOTHING_IN_FLIGHT
