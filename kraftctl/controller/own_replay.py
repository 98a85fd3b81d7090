"""Replays the records of the active controller onto its image, where possible before they are in the log.

A record that does not fit would end each controller that replays it, one after the other, while the client
sends its request again. So the records of a request are replayed when nothing else can fail, and appended
only after that. One that does not fit fails its request alone: the undo journal takes back what was replayed.
"""

from __future__ import annotations

from kraftctl.controller.results.prepared_result import PreparedResult
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl.metadata.endpoint import VersionRange
from kraftctl_protocol.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.generated.partition_change_record import PartitionChangeRecord
from kraftctl_protocol.generated.partition_record import PartitionRecord
from kraftctl_protocol.generated.register_broker_record import RegisterBrokerRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message


class OwnReplay:
    """Between `replay_ahead` and the `appended` or `appended_topics` of all of its records, nothing else is
    replayed.
    """

    def __init__(self, supported_features: dict[str, VersionRange]) -> None:
        self._supported = supported_features
        self._next_offset = 0
        self._end_offset = 0
        """The records from the one to the other offset are in the image, and not in the log."""
        self._are_topics = False
        """Whether all of them are of topics and partitions."""
        self._registrations: list[BrokerRegistration] = []
        """What these records have made of registrations, in their order."""
        self.undo_failure: Exception | None = None
        """If this is not None, the image is not what the log says, and the process has to end."""

    def replay_ahead(self, image: MetadataImage, prepared: PreparedResult, base_offset: int) -> None:
        """Replays the records that will be appended at `base_offset`.

        Raises whatever replaying one raises; the image is then as it was.
        """
        assert self._next_offset == self._end_offset, f"the records from {self._next_offset} on are lost"
        offset = base_offset
        self._are_topics = True
        try:
            for batch in prepared.batches:
                for entry in batch.records:
                    record = entry.record
                    kind = type(record)
                    if kind is PartitionChangeRecord or kind is PartitionRecord or kind is TopicRecord:
                        replay(image, record, offset)  # most records: no other check, and no registration
                    else:
                        self._are_topics = False
                        self._replay_one(image, record, offset)
                    offset += 1
        except Exception:
            self._undo(image, base_offset)
            raise
        soft_change = prepared.soft_change
        if soft_change is not None and soft_change.appends_records:
            # Others come first: these are replayed again, at the offsets that they get then.
            self._undo(image, base_offset)
        else:
            self._next_offset, self._end_offset = base_offset, offset

    def appended_topics(self, count: int, base_offset: int) -> bool:
        """Returns whether the next `count` records are of topics and partitions, and in the image already."""
        if not self._are_topics or self._next_offset == self._end_offset:
            return False
        assert base_offset == self._next_offset, f"{self._next_offset} is appended first, not {base_offset}"
        self._next_offset += count
        assert self._next_offset <= self._end_offset, f"nothing is replayed from {self._end_offset} on"
        return True

    def appended(self, image: MetadataImage, record: Message, offset: int) -> BrokerRegistration | None:
        """Replays the record, unless that is done. Returns what it has made of a broker's registration."""
        if self._next_offset == self._end_offset:
            return _replayed(image, record, offset)
        assert offset == self._next_offset, f"{self._next_offset} is appended first, not {offset}"
        self._next_offset += 1
        if self._registrations and isinstance(record, (RegisterBrokerRecord, BrokerRegistrationChangeRecord)):
            return self._registrations.pop(0)
        return None

    def _replay_one(self, image: MetadataImage, record: Message, offset: int) -> None:
        self._check(record)
        registration = _replayed(image, record, offset)
        if registration is not None:
            self._registrations.append(registration)

    def _check(self, record: Message) -> None:
        """Checks what the other controllers check beside replaying it (`committed_records`)."""
        if isinstance(record, FeatureLevelRecord):
            reason = features.why_level_unsupported(record.name, record.feature_level, self._supported)
            assert reason is None, reason

    def _undo(self, image: MetadataImage, base_offset: int) -> None:
        self._registrations.clear()
        try:
            image.journal.rollback_to(base_offset)
        except Exception as error:
            self.undo_failure = error
            raise


def _replayed(image: MetadataImage, record: Message, offset: int) -> BrokerRegistration | None:
    replay(image, record, offset)
    if isinstance(record, (RegisterBrokerRecord, BrokerRegistrationChangeRecord)):
        return image.cluster.brokers[record.broker_id]
    return None
