"""A unit costs about the same whatever it is: the next turn has up to twice as many as the one before."""

from __future__ import annotations

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.node.events import TakeTurn
from kraftctl.node.long_work import SNAPSHOT
from kraftctl.node.snapshot_generation import SnapshotInProgress
from kraftctl.server.process.turn_pace import TURN_NS, TurnPace
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import read_batch_header

PER_TOPIC = 10
PARTITIONS = 6_000
WRITING_NS, FREEING_NS = 2_000, 100
"""The costs of a record of a snapshot and of an old value, on a slow machine."""


class ChangingImage:
    """All partitions change while a snapshot is written, so that it keeps an old value of each."""

    def __init__(self) -> None:
        self.image = MetadataImage()
        self.end_offset = 0
        self._replay(FeatureLevelRecord(name="metadata.version", feature_level=30))
        for number in range(PARTITIONS // PER_TOPIC):
            topic_id = number.to_bytes(16, "big")
            self._replay(TopicRecord(name=f"topic-{number}", topic_id=topic_id))
            for index in range(PER_TOPIC):
                record = PartitionRecord(
                    partition_id=index, topic_id=topic_id, replicas=[1], isr=[1], leader=1
                )
                self._replay(record)
        self.image.journal.commit_to(self.end_offset)

    def change_all(self) -> None:
        for number in range(PARTITIONS // PER_TOPIC):
            topic_id = number.to_bytes(16, "big")
            for index in range(PER_TOPIC):
                self._replay(PartitionChangeRecord(partition_id=index, topic_id=topic_id, leader=-1))
        self.image.journal.commit_to(self.end_offset)

    def snapshot(self) -> SnapshotInProgress:
        snapshot_id = OffsetAndEpoch(self.end_offset, 1)
        return SnapshotInProgress(self.image, snapshot_id, wall_ms=0, kraft_version=0, voters=None)

    def _replay(self, record: Message) -> None:
        replay(self.image, record, self.end_offset)
        self.end_offset += 1


def records_in(batches: list[bytes]) -> int:
    return sum(read_batch_header(batch, 0).records_count for batch in batches)


def old_values(snapshot: SnapshotInProgress) -> int:
    groups = snapshot._writer._view._groups
    return sum(len(members) for topics in groups.values() for members in topics.values())


class PacedSnapshots:
    """Snapshots in turns whose time is that of the work in them, counted."""

    def __init__(self, changing: ChangingImage) -> None:
        self._changing = changing
        self._now_ns = 0
        self._pace = TurnPace(lambda: self._now_ns)

    def write_one(self) -> list[tuple[int, int]]:
        """Returns what its turns have written, and what they have freed."""
        snapshot = self._changing.snapshot()
        self._changing.change_all()
        turns: list[tuple[int, int]] = []
        self._pace.asked(TakeTurn(SNAPSHOT, 0))
        is_over = False
        while not is_over:
            units = self._pace.begin(SNAPSHOT)
            kept = old_values(snapshot)
            is_over = snapshot.write_slice(units)
            turns.append((records_in(snapshot.take_part()[1]), kept - old_values(snapshot)))
            self._now_ns += turns[-1][0] * WRITING_NS + turns[-1][1] * FREEING_NS
            if not is_over:
                self._pace.asked(TakeTurn(SNAPSHOT, units))
        return turns


def test_freeing_what_a_snapshot_has_kept_does_not_lengthen_the_turns_of_the_next_one() -> None:
    snapshots = PacedSnapshots(ChangingImage())
    for _ in range(2):
        turns = snapshots.write_one()
        assert sum(freed for _, freed in turns) == PARTITIONS
        assert sum(written for written, _ in turns) > PARTITIONS
        assert max(written for written, _ in turns) <= TURN_NS // WRITING_NS
        assert sum(freed > 0 for _, freed in turns) == 1, "a turn has time for 40,000"
