"""An `EffectExecutor` without threads, files or sockets: a test decides when each call runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any

from kraftctl.raft.log_state import SnapshotInfo
from kraftctl.server.loop.effect_executor import EffectExecutor
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.message import Message


class World:
    """Everything around the executor. Every request is awaited, all from one address."""

    start_offset = 0
    time_ns = 0
    ended = False

    def __init__(self) -> None:
        self.waiting: list[tuple[str, Callable[[], Any], Callable[[Any], None]]] = []
        """(thread, call, done), in the order in which they were handed over."""
        self.timers: list[Callable[[], None]] = []
        self.soon: list[Callable[[], None]] = []
        self.responses: dict[int, Message | None] = {}
        self.failures: list[BaseException] = []
        self.resumed: list[object] = []
        self.offered: list[object] = []
        self.failing: dict[str, BaseException] = {}
        self.calls: list[tuple[Any, ...]] = []
        this: Any = self
        self.room = True
        self.executor = EffectExecutor(
            storage=this,
            downloads=this,
            network=this,
            clock=this,
            scheduler=this,
            notices=this,
            inbox=this,
            probe=TurnProbe(logging.getLogger("tests.executing"), lambda: 0.0),
            pace=this,
            retention_bytes=-1,
            retention_ms=-1,
        )

    def run_next(self) -> None:
        """Run the call that was handed over first, and report its end."""
        _, call, done = self.waiting.pop(0)
        finished: Future[Any] = Future()
        try:
            finished.set_result(call())
        except StorageError as error:
            finished.set_exception(error)
        done(finished)

    def run_all(self) -> None:
        while self.waiting:
            self.run_next()

    # Storage and its log.

    @property
    def log(self) -> World:
        return self

    def read_recent(self, *wanted: int) -> None:
        return None

    def read(self, *wanted: int) -> bytes:
        self._called("read", *wanted)
        return b"records"

    def read_snapshot_slice(self, *wanted: Any) -> bytes:
        self._called("read_snapshot_slice", *wanted)
        return b"slice"

    def write_quorum_state(self, state: object) -> None:
        self._called("write_quorum_state", state)

    def write_snapshot_part(self, snapshot_id: Any, batches: list[bytes], position: int) -> None:
        self._called("write_snapshot_part", snapshot_id, batches, position)

    def write_snapshot(self, snapshot_id: Any, batches: list[bytes], position: int) -> Any:
        self._called("write_snapshot", snapshot_id, batches, position)
        return SnapshotInfo(snapshot_id, 1)

    def abandon_snapshot(self) -> None:
        self._called("abandon_snapshot")

    def truncate_log(self, end_offset: int) -> None:
        self._called("truncate_log", end_offset)

    def start_over_at(self, snapshot_id: object) -> None:
        self._called("start_over_at", snapshot_id)

    def clean(self, *limits: Any) -> None:
        self._called("clean", *limits)

    def _called(self, *call: Any) -> None:
        self.calls.append(call)
        if call[0] in self.failing:
            raise self.failing[call[0]]

    # Network, clock.

    def awaits(self, request_id: int) -> bool:
        return request_id not in self.responses

    def address_of(self, request_id: int) -> bytes:
        return b"\x7f\x00\x00\x01"

    def is_voter(self, request_id: int) -> bool:
        return False

    def has_room(self) -> bool:
        return self.room

    def respond(self, request_id: int, response: Message | None) -> None:
        assert request_id not in self.responses
        self.responses[request_id] = response

    def now_ns(self) -> int:
        return self.time_ns

    def now_ms(self) -> int:
        return 0

    def wall_ms(self) -> int:
        return 0

    # Threads and timers.

    def run_on_storage_thread(self, call: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self.waiting.append(("storage", call, done))

    def run_on_snapshot_thread(self, call: Callable[[], Any], done: Callable[[Any], None]) -> None:
        self.waiting.append(("snapshot", call, done))

    def call_later(self, delay_seconds: float, call: Callable[[], None]) -> None:
        self.timers.append(call)

    def call_soon(self, call: Callable[[], None]) -> None:
        self.soon.append(call)

    # Turns.

    def begin(self, work: str) -> int:
        return 1

    def asked(self, effect: object) -> None:
        pass

    # The inbox.

    def offer(self, event: object) -> None:
        self.offered.append(event)

    def resume(self, next_event: object) -> None:
        self.resumed.append(next_event)

    def guarded(self, action: Callable[[], None]) -> None:
        action()

    def fail(self, error: BaseException) -> None:
        self.failures.append(error)
        self.ended = True

    def end(self) -> None:
        self.ended = True
