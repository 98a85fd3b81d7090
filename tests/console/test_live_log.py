"""The thread that follows a log outlives all that a quorum does to it."""

from __future__ import annotations

from collections.abc import Iterator

from kraftctl.console.live_log import LiveLog
from kraftctl.dev.polling import await_result
from kraftctl_observer.log_reader import LogChangedError, LogPosition, ObserverError, OffsetsGoneError
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import RecordBatch


class EmptyLog:
    """A log without records, whose leader raises the errors, one for each question, before it answers."""

    def __init__(self, *errors: ObserverError | None) -> None:
        self.errors = list(errors)
        self.is_closed = False

    def cluster_id(self) -> str:
        return "cluster"

    def position(self, offset: int, epoch: int) -> LogPosition:
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return LogPosition(0, 1, None)

    def epoch_of(self, offset: int) -> int | None:
        return None

    def read(self, start_offset: int, epoch: int, end_offset: int) -> Iterator[RecordBatch]:
        return iter(())

    def read_snapshot(self, snapshot: OffsetAndEpoch) -> Iterator[RecordBatch]:
        return iter(())

    def close(self) -> None:
        self.is_closed = True


def test_a_log_that_was_replaced_is_read_again_when_a_leader_answers() -> None:
    """Between the two there may be no leader, or one with a newer snapshot."""
    none, gone = ObserverError("no controller leads"), OffsetsGoneError("it is deleted")
    reader = EmptyLog(None, LogChangedError("it was truncated"), none, LogChangedError("again"), gone)
    live = LiveLog(reader)
    live.start()
    try:
        first = await_result(lambda: live.log, "it is read", 10.0, 0.01)
        assert live.reading().problem in ("", "it was truncated")
        again = await_result(lambda: live.log is not first and live.log, "it is read again", 30.0, 0.01)
        assert again is not None
        await_result(lambda: not live.reading().problem, "nothing is wrong any more", 10.0, 0.01)
    finally:
        live.stop()
    await_result(lambda: reader.is_closed, "it ends", 10.0, 0.01)
