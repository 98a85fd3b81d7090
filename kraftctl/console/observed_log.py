"""ObservedLog: a replayed log with marks for a whole cluster, and with its events in words."""

from __future__ import annotations

from kraftctl.console.event_stream import EventStream
from kraftctl.console.event_words import EventWords, event_words
from kraftctl.console.page_paths import page_path
from kraftctl.console.trouble_marks import TroubleMarks
from kraftctl.explain.mark import Mark
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import RecordBatch


class ObservedLog(ReplayedLog):
    """Replays a log, and keeps marks for the whole cluster and events in words since the first snapshot."""

    def __init__(self) -> None:
        super().__init__()
        self.trouble_marks = TroubleMarks()
        self.marks = self.trouble_marks
        self.events = EventStream()
        self.records_count = 0
        """The number of records since the snapshot began, those in it included."""
        self.last_epoch = 0
        """The epoch of the last batch."""

    def apply(self, record: Message, mark: Mark) -> None:
        """Replays one record that is not part of a transaction."""
        self.records_count += 1
        if not mark.is_latest_possible:
            for words in event_words(self.image, record):
                self.events.add(words, mark)
        super().apply(record, mark)

    def follow(self, batch: RecordBatch, end_offset: int) -> None:
        """Replays one batch behind what was read, up to `end_offset`."""
        leader_epoch = self.leader_epoch
        self.replay_batches([batch], end_offset)
        self.last_epoch = max(self.last_epoch, batch.header.partition_leader_epoch)
        if self.leader_epoch != leader_epoch and self.leader_mark is not None:
            what = f"Controller {self.leader_id} leads the quorum, in epoch {self.leader_epoch}"
            self.events.add(EventWords(what, path=page_path("controller", self.leader_id)), self.leader_mark)
        self.trouble_marks.sweep(self.image)
