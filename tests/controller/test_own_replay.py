"""OwnReplay refuses to take records for replayed that it has not replayed."""

from __future__ import annotations

import pytest

from kraftctl.controller.own_replay import OwnReplay
from kraftctl.controller.results.prepared_result import PreparedBatch, PreparedResult
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.metadata_record import RecordAndVersion


def test_more_topics_are_not_appended_than_were_replayed() -> None:
    record = RecordAndVersion(TopicRecord(name="orders", topic_id=b"orders.........."), 0)
    replay = OwnReplay({})
    replay.replay_ahead(
        MetadataImage(), PreparedResult([PreparedBatch([record], [b""])], None, None, [], []), 7
    )
    with pytest.raises(AssertionError, match="nothing is replayed from 8 on"):
        replay.appended_topics(2, 7)
