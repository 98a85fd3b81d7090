"""Painter computes the picture and the answers to questions on a thread of its own: the loop sends bytes."""

from __future__ import annotations

import json
import queue
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import Any, Final

from kraftctl.console.event_stream import EventStream
from kraftctl.console.live_log import LiveLog
from kraftctl.console.picture import Picture, empty_picture, picture_of
from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.explain.as_of import as_of_json, as_of_text
from kraftctl.explain.evidence import ClusterEvidence, NoLeaderView
from kraftctl.explain.why_quorum import explain_no_leader
from kraftctl.server.process.clock import Clock
from kraftctl_protocol.uuids import ZERO_UUID

PAINT_MS: Final = 1_000
"""The picture is computed this often; less often if that takes more than a quarter of the time."""
REST_FACTOR: Final = 3
ASK_SECONDS: Final = 1.0
"""The pause between two rounds of questions to the controllers."""

STALE_MS: Final = 15_000
STALE: Final = "The controllers have said nothing for {} s: what the leader knows of replicas may be old"

QUESTIONS_MAX: Final = 32
"""More questions that wait are refused."""

FAILED: Final = (
    "The page is not computed ({}), and shows what was known before. Next step: see the output of the"
    " console, and report it"
)
ASKING: Final = "The controllers have not answered yet"
READING_FIRST: Final = "the snapshot is being read: ask again in a moment"

Answer = Callable[[ClusterEvidence, EventStream, NoLeaderView | None], Any]


class NotReadError(Exception):
    """Nothing is known yet; the text says why."""


class BusyError(Exception):
    """Too many questions wait already."""


@dataclass(frozen=True)
class Painting:
    """One picture: as JSON, and as the parts of the page. `number` grows with each."""

    number: int
    json: bytes
    parts: bytes
    took_ms: int


class Painter:
    """Paints from `start` to `stop`; `on_change` is called on its thread after each picture."""

    def __init__(
        self,
        live: LiveLog,
        ask: Callable[[], QuorumReading],
        draw: Callable[[Picture], bytes],
        clock: Clock,
        *,
        is_directory: bool = False,
        static_voters: Sequence[int] = (),
        connection: str | None = None,
    ) -> None:
        """Takes `ask`, which asks the controllers and may take seconds, and `draw`, which makes the page.

        A directory may be a copy, so that its newest record is now; no snapshot has its `static_voters`.
        `connection` has the flags with which a command reaches the controllers.
        """
        self._is_directory = is_directory
        self._static_voters = static_voters
        self._connection = connection
        self._live = live
        self._ask = ask
        self._draw = draw
        self._clock = clock
        self._stop = threading.Event()
        self._questions: queue.Queue[tuple[Answer, Future[Any]]] = queue.Queue(QUESTIONS_MAX)
        self._threads = [
            threading.Thread(target=self._ask_controllers, name="ask controllers", daemon=True),
            threading.Thread(target=self._paint, name="paint", daemon=True),
        ]
        self._reading = QuorumReading(problem=ASKING)
        self._asked_ms = clock.now_ms()
        self._shown: Picture = {}
        self._printed = ""
        self.on_change: Callable[[], None] = lambda: None
        self.painting = self._painted(0)

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Ends the threads after what they wait for."""
        self._stop.set()

    def question(self, answer: Answer) -> Future[Any]:
        """Has `answer` computed while the log does not change. Raises BusyError.

        The result is what it returns; its exceptions are passed on, and NotReadError while nothing is read.
        """
        asked: Future[Any] = Future()
        try:
            self._questions.put_nowait((answer, asked))
        except queue.Full:
            raise BusyError("too many questions wait") from None
        return asked

    def _ask_controllers(self) -> None:
        while not self._stop.is_set():
            self._reading = self._ask()
            self._asked_ms = self._clock.now_ms()
            self._stop.wait(ASK_SECONDS)

    def _paint(self) -> None:
        next_ms = 0
        while not self._stop.is_set():
            left_s = max(0.0, (next_ms - self._clock.now_ms()) / 1000)
            try:
                self._respond(*self._questions.get(timeout=left_s))
            except queue.Empty:
                pass
            if self._clock.now_ms() >= next_ms:
                self.painting = self._next()
                self.on_change()
                next_ms = self._clock.now_ms() + max(PAINT_MS, REST_FACTOR * self.painting.took_ms)

    def _next(self) -> Painting:
        """Returns the next picture; one that cannot be computed is the one before with a problem."""
        number = self.painting.number + 1
        try:
            painting = self._painted(number)
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005: the next picture may be computed
            self._print(error)
            # Its own number stays that of the picture before: by that, a browser says that it is not live.
            failed = {**self._shown, "problems": [FAILED.format(type(error).__name__)]}
            return Painting(number, json.dumps(failed).encode(), self._draw(failed), 0)
        self._printed = ""
        return painting

    def _print(self, error: Exception) -> None:
        """Prints an error once, and not each second."""
        if repr(error) != self._printed:
            self._printed = repr(error)
            traceback.print_exception(error)

    def _respond(self, answer: Answer, asked: Future[Any]) -> None:
        if not asked.set_running_or_notify_cancel():
            return
        with self._live.lock:
            log = self._live.log
            if log is None:
                asked.set_exception(NotReadError(self._why_not_read()))
                return
            try:
                asked.set_result(answer(self._evidence(), log.events, self._reading.no_leader))
            except Exception as error:  # noqa: BLE001 - it is raised where the question was asked
                asked.set_exception(error)

    def _why_not_read(self) -> str:
        no_leader, problem = self._reading.no_leader, self._live.reading().problem
        if no_leader is not None:
            explanation = explain_no_leader(no_leader)
            causes = "; ".join(cause.text for cause in explanation.causes)
            return f"{explanation.statement.text}: {causes}. Next step: {explanation.next_step}"
        return problem or READING_FIRST

    def _evidence(self) -> ClusterEvidence:
        log, reading = self._live.log, self._reading
        assert log is not None
        if not log.voters and self._static_voters:
            log.voters = dict.fromkeys(self._static_voters, ZERO_UUID)
        now_ms = log.last_timestamp_ms if self._is_directory else self._clock.wall_ms()
        found = ClusterEvidence(log, now_ms, reading.view, reading.contacts, reading.left_out_contacts)
        return found if self._connection is None else replace(found, connection=self._connection)

    def _painted(self, number: int) -> Painting:
        began_ms = self._clock.now_ms()
        with self._live.lock:
            picture = self._picture()
        silent_ms = began_ms - self._asked_ms
        if silent_ms > STALE_MS:
            picture["problems"].append(STALE.format(silent_ms // 1000))
        picture["number"] = number
        parts, content = self._draw(picture), json.dumps(picture).encode()
        self._shown = picture
        return Painting(number, content, parts, self._clock.now_ms() - began_ms)

    def _picture(self) -> Picture:
        log, reading, read = self._live.log, self._reading, self._live.reading()
        if log is None:
            return empty_picture(read, reading, self._clock.wall_ms())
        picture = picture_of(self._evidence(), reading, read, log.events)
        picture["as_of"] = {"text": as_of_text(log), **as_of_json(log)} if self._is_directory else None
        return picture
