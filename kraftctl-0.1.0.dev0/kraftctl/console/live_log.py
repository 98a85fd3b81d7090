"""LiveLog follows a metadata log on a thread of its own, as an observer without a replica id."""

from __future__ import annotations

import threading
from typing import Final

from kraftctl.console.observed_log import ObservedLog
from kraftctl.console.quorum_reading import LogReading
from kraftctl.server.process.clock import let_others_run
from kraftctl_observer.log_reader import LogChangedError, LogReader, ObserverError, OffsetsGoneError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.primitives import DecodeError

POLL_SECONDS: Final = 0.5
"""As often as a follower fetches: the leader answers from memory."""

ENDED: Final = (
    "The log is not followed any more: see the output of the console. Next step: start the console again"
)


class LiveLog:
    """Has what is committed. `lock` is held by a thread that looks at `log`, and during a replay."""

    def __init__(self, reader: LogReader) -> None:
        self._reader = reader
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="follow the log", daemon=True)
        self._begun: ObservedLog | None = None
        """What a snapshot is being read into; `log` is the state before it, until it is whole."""
        self._begins_again = False
        """Whether `log` is of a log that was replaced, or the leader has deleted what follows it."""
        self._behind = 0
        self._problem = ""
        self.lock = threading.Lock()
        self.log: ObservedLog | None = None

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Ends the thread after the request that it waits for."""
        self._stop.set()

    def reading(self) -> LogReading:
        """Returns how far it has come."""
        begun, log = self._begun, self.log
        shown = begun or log
        return LogReading(
            is_reading_snapshot=log is None,
            records_count=0 if shown is None else shown.records_count,
            behind=self._behind,
            problem=self._problem,
        )

    def _run(self) -> None:
        try:
            while not self._stop.is_set():
                try:
                    self._follow()
                    self._problem = ""
                except (OffsetsGoneError, LogChangedError) as error:
                    self._problem, self._begins_again = escaped(str(error)), True
                except (ObserverError, DecodeError) as error:
                    self._problem = escaped(str(error))
                self._stop.wait(POLL_SECONDS)
        finally:
            self._problem = self._problem if self._stop.is_set() else ENDED
            self._reader.close()

    def _follow(self) -> None:
        """Reads what has been committed since the last call."""
        log = self.log
        if log is None or self._begins_again:
            self._begin()
            return
        position = self._reader.position(log.end_offset, log.last_epoch)
        if position.snapshot is not None:
            self._begin()
            return
        self._replay(log, position.high_watermark)

    def _begin(self) -> None:
        """Reads everything, from the newest snapshot on, and has it shown when it is whole."""
        position = self._reader.position(0, 0)
        log = self._begun = ObservedLog()
        try:
            if position.snapshot is not None:
                log.replay_snapshot(self._reader.read_snapshot(position.snapshot), position.snapshot)
                log.last_epoch = position.snapshot.epoch
            self._replay(log, position.high_watermark)
        finally:
            self._begun = None
        with self.lock:
            self.log, self._begins_again = log, False

    def _replay(self, log: ObservedLog, high_watermark: int) -> None:
        self._behind = max(0, high_watermark - log.end_offset)
        if not self._behind:
            return
        for batch in self._reader.read(log.end_offset, log.last_epoch, high_watermark):
            with self.lock:
                log.follow(batch, high_watermark)
            let_others_run()
            self._behind = max(0, high_watermark - log.end_offset)
            if self._stop.is_set():
                return
