"""StableLeadership: a replica takes refused connections for the end of a leader rarely, and not in a row.

One for each process.
"""

from __future__ import annotations

from collections import deque
from typing import Protocol

from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.states import Candidate, EpochState, Prospective
from tests.support.simulator.checks.invariants import broken

WINDOW_MS = 10_000
ATTEMPTS_MAX = 16
"""In a window: twice as many as the limit, whose intervals do not begin where a window does."""

LONG_AGO_MS = -(1 << 60)


class Electing(Protocol):
    """Of ControllerProcess."""

    node_id: int
    raft: RaftNode


class EarlyElectionChecks:
    """`after_step` with each event."""

    def __init__(self, process: Electing, fetch_timeout_ms: int) -> None:
        self._process = process
        self._fetch_timeout_ms = fetch_timeout_ms
        self._state: EpochState | None = None
        self._attempts: deque[tuple[int, int]] = deque()
        """(time, epoch) of the latest ones."""
        self._won_ms = LONG_AGO_MS

    def after_step(self, now_ms: int) -> None:
        state, before = self._process.raft._core.state, self._state
        if state is before:
            return
        self._state = state
        if _is_early(state):
            self._attempt(state.epoch, now_ms)
        elif isinstance(state, Candidate) and isinstance(before, Prospective) and _is_early(before):
            if not before.is_hint_only():
                return  # the leader has resigned
            if not before.election.is_won():
                self._broken(f"begins epoch {state.epoch} for refused connections without pre-votes")
            self._win(state.epoch, now_ms)

    def _attempt(self, epoch: int, now_ms: int) -> None:
        attempts = self._attempts
        attempts.append((now_ms, epoch))
        while attempts[0][0] <= now_ms - WINDOW_MS or attempts[0][1] != epoch:
            attempts.popleft()
        if len(attempts) > ATTEMPTS_MAX:
            self._broken(f"asks for early pre-votes in epoch {epoch} {len(attempts)} times in {WINDOW_MS} ms")

    def _win(self, epoch: int, now_ms: int) -> None:
        passed_ms = now_ms - self._won_ms
        self._won_ms = now_ms
        if passed_ms < self._fetch_timeout_ms:
            self._broken(f"begins epoch {epoch} for refused connections, and another {passed_ms} ms before")

    def _broken(self, text: str) -> None:
        broken("StableLeadership", f"node {self._process.node_id} {text}")


def _is_early(state: EpochState) -> bool:
    return (
        isinstance(state, Prospective) and state.interrupted is not None and state.interrupted.leader_refuses
    )
