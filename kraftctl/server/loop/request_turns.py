"""RequestTurns: measures the time of requests and of SSL and SASL in each turn; without time left, they wait.

In one turn of the loop, requests of many connections may be read: of a hundred brokers that have lost the
same replica, of administrators, or of a crowd. Decoding 64 KiB takes up to 10 ms, and a slice of long work a
few more. All of them together would hold up a heartbeat that is read behind them, or comes meanwhile.

So requests begin in a turn until TURN_NS is spent, at least one; the others wait as their connections
received them. The time is that of decoding, of the node, of effects and of encoding. Short requests of
heartbeats and raft do not wait for these, only for a crowd of their own kind: those that are read after
TURN_NS of them wait for a share of the next turn, which no other request has.

Steps of SSL handshakes, SASL tokens and SSL records have the same time: a millisecond with a key of RSA 2048
bits, six with 4096, and a client chooses its part. Of what waits, the address that has used least goes first,
whatever it was used for; of equals, the one that waits longest. One that comes counts as if it had had its
part of the time until now, so that no supply of addresses without end keeps another waiting.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

from librt.strings import read_i16_be

from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.apis.request_size import LARGE_REQUESTS_MEMORY_BYTES_MAX
from kraftctl.server.loop.executor_protocols import Scheduler
from kraftctl.server.loop.turn_queue import AddressTimes, TurnQueue
from kraftctl.server.loop.urgent_requests import UrgentRequests
from kraftctl_protocol.api_keys import ApiKey

SASL_HANDSHAKE_KEY: Final = int(ApiKey.SASL_HANDSHAKE)
SASL_API_KEYS: Final = {int(ApiKey.SASL_AUTHENTICATE), SASL_HANDSHAKE_KEY}

URGENT_API_KEYS: Final = (
    RAFT_API_KEYS | SASL_API_KEYS | {int(ApiKey.API_VERSIONS), int(ApiKey.BROKER_HEARTBEAT)}
)
"""Sessions, commits and elections depend on these, and no short request of them takes long. SASL tokens are
steps, which have their time."""

URGENT_MUST_WAIT: Final = -2
MUST_WAIT: Final = -1
URGENT: Final = 0

URGENT_BYTES_MAX: Final = 4 * 1024
"""A longer request is not urgent: those of brokers and controllers take some hundred bytes."""

TURN_NS: Final = 4_000_000
"""As a slice of long work: heartbeats wait for this, and for one request more."""

CHARGED_NS: Final = 10_000
"""What the node does in less time than this, outside of requests' turns, is not charged."""

RETRY_SECONDS: Final = 0.02
"""Requests that wait for memory look for it in this interval."""


class DecodedRequests(Protocol):
    """The network, which knows the memory of decoded requests that wait for responses."""

    @property
    def decoded_bytes(self) -> int: ...


class RequestTurns:
    """Keeps what waits for time. Nothing has a turn while an effect is being stored, as `is_paused` says."""

    def __init__(
        self,
        now_ns: Callable[[], int],
        scheduler: Scheduler,
        requests: DecodedRequests,
        is_paused: Callable[[], bool],
    ) -> None:
        self._now_ns = now_ns
        self._scheduler = scheduler
        self._requests = requests
        self._is_paused = is_paused
        self._times = AddressTimes()
        self._begun: TurnQueue[Callable[[], None]] = TurnQueue(self._times)
        self._new: TurnQueue[Callable[[], None]] = TurnQueue(self._times)
        self._steps: TurnQueue[Callable[[], None]] = TurnQueue(self._times)
        self._urgent = UrgentRequests(now_ns, TURN_NS)
        self._spent_ns = 0
        self._spent_before_ns = 0
        self._is_asked = False
        self._retries = False
        self._has_turn = False
        self._runs = False
        """Whether what waited has its turn: it is charged with all that it causes."""

    def begin(self, frame: bytes, *, busy: bool) -> int:
        """Returns MUST_WAIT, URGENT_MUST_WAIT or URGENT, or the time at which the request begins, which
        `end` takes.

        `busy`: the node is processing another event, so that the request would wait decoded.
        """
        has_turn, self._has_turn = self._has_turn, False
        if _is_urgent(frame):
            return URGENT if has_turn else self._begin_urgent()
        if not has_turn and (busy or self._new or self.is_spent or not self._has_memory):
            return MUST_WAIT
        self._ask()
        self._spent_before_ns = self._spent_ns
        return self._now_ns()

    def _begin_urgent(self) -> int:
        """Returns URGENT, and URGENT_MUST_WAIT once urgent requests have filled this turn."""
        if self._urgent.is_full:
            return URGENT_MUST_WAIT
        if self._urgent.count():
            self._ask()
        return URGENT

    def end(self, address: bytes, began_ns: int) -> None:
        """Charges a request of `address` that began at `began_ns`, with what it caused within."""
        self._charge(address, self._spent_before_ns, began_ns)

    def begin_records(self) -> int:
        """Returns the time at which SSL records begin to be read, which `end_records` takes."""
        self._ask()
        return self._now_ns()

    def end_records(self, address: bytes, began_ns: int) -> None:
        """Charges the reading of records."""
        self._charge(address, self._spent_ns, began_ns)

    def wait(self, address: bytes, step: Callable[[], None]) -> None:
        """Calls `step`, of a handshake or to read records, when there is time. It needs no memory."""
        self._steps.add(address, step)
        self._ask()

    def charge(self, duration_ns: int) -> None:
        """Charges a step of the node, or an effect."""
        self._ask()
        self._spent_ns += duration_ns

    def must_wait(self, api_key: int) -> bool:
        """Returns whether a response to this API has no time left in this turn."""
        return self.is_spent and api_key not in URGENT_API_KEYS

    def has_waiting(self) -> bool:
        """Returns whether something waits for the next turn, which takes its whole time then."""
        return bool(self._begun) or bool(self._new) or bool(self._urgent.waiting)

    @property
    def is_spent(self) -> bool:
        """Returns whether this turn has no time left."""
        return self._spent_ns >= TURN_NS

    def continue_later(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call` when there is time, before new requests: it ends what holds memory already."""
        self._begun.add(address, call)
        self._ask()

    def begin_later(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call`, which begins a request, when there is time and memory."""
        self._new.add(address, call)
        self._ask()

    def begin_soon(self, address: bytes, call: Callable[[], None]) -> None:
        """Calls `call`, which begins an urgent request, in the next turn that has time for it."""
        self._urgent.waiting.add(address, call)
        self._ask()

    def resume(self) -> None:
        """Continues after a pause of the executor."""
        if self.has_waiting():
            self._ask()

    def clear(self) -> None:
        """Drops what waits: nothing is processed any more."""
        self._begun.clear()
        self._new.clear()
        self._steps.clear()
        self._urgent.waiting.clear()

    def _ask(self) -> None:
        """Begins the next turn once connections were served."""
        if not self._is_asked:
            self._is_asked = True
            self._scheduler.call_soon(self._take_turn)

    def _take_turn(self) -> None:
        self._is_asked = False
        self._spent_ns = 0
        urgent = self._urgent
        urgent.begin_turn()
        try:
            while urgent.waiting and not self.is_spent and not self._is_paused():
                self._run_urgent()
            self._spent_ns = 0
            while not self.is_spent:
                queue = self._next_queue()
                if queue is None:
                    break
                self._run(queue)
        finally:
            self._ask_again()

    def _next_queue(self) -> TurnQueue[Callable[[], None]] | None:
        """Returns the queue that has the next turn. Requests that have begun are before new ones."""
        requests: TurnQueue[Callable[[], None]] | None = None
        if not self._is_paused():
            if self._begun:
                requests = self._begun
            elif self._new and self._has_memory:
                requests = self._new
        if self._steps and (requests is None or self._steps.first() < requests.first()):
            return self._steps
        return requests

    def _run(self, queue: TurnQueue[Callable[[], None]]) -> None:
        """Makes the first call of the queue, and charges its address."""
        address, call = queue.take()
        began_ns, spent_ns = self._now_ns(), self._spent_ns
        self._runs, self._has_turn = True, queue is self._new
        try:
            call()
        finally:
            self._runs = self._has_turn = False
            self._charge(address, spent_ns, began_ns)

    def _run_urgent(self) -> None:
        """Makes the first call of urgent requests, with which no address is charged."""
        _, call = self._urgent.waiting.take()
        began_ns, spent_ns = self._now_ns(), self._spent_ns
        self._has_turn = True
        try:
            call()
        finally:
            self._has_turn = False
            self._spent_ns = spent_ns + self._now_ns() - began_ns

    def _charge(self, address: bytes, spent_before_ns: int, began_ns: int) -> None:
        duration_ns = self._now_ns() - began_ns
        self._spent_ns = spent_before_ns + duration_ns
        waiting = len(self._begun) + len(self._new) + len(self._steps)
        if waiting and not self._runs:
            self._times.charge(address, duration_ns, waiting)

    def _ask_again(self) -> None:
        """Asks for the next turn if something waits; after a pause, `resume` does."""
        if self._steps:
            self._ask()
        elif not self.has_waiting():
            self._times.clear()
        elif self._is_paused():
            return
        elif self._begun or self._urgent.waiting or self._has_memory:
            self._ask()
        elif not self._retries:
            self._retries = True
            self._scheduler.call_later(RETRY_SECONDS, self._retry)

    def _retry(self) -> None:
        self._retries = False
        self._ask()

    @property
    def _has_memory(self) -> bool:
        return self._requests.decoded_bytes < LARGE_REQUESTS_MEMORY_BYTES_MAX


def _is_urgent(frame: bytes) -> bool:
    """Returns whether this is a short request of heartbeats or raft.

    An envelope counts as what it is: brokers forward only what administrators ask for.
    """
    return 2 <= len(frame) <= URGENT_BYTES_MAX and int(read_i16_be(frame, 0)) in URGENT_API_KEYS
