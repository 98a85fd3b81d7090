"""The partitions of a large topic, made in several slices and written together in the end.

A topic is one batch of the log, so nothing of a draft is in the log or in the image before all of it is.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.replication_control.replica_assignment import NewPartitions
from kraftctl.controller.results.record_checks import EncodedRecord, RecordEncoder
from kraftctl.controller.state.leaving_brokers import LeavingBrokers
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata.broker_registration import BrokerRegistration
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid

DRAFTED_PARTITIONS_MIN: Final = 500
"""Topics of fewer partitions are made in one slice."""

PARTITIONS_PER_UNIT: Final = 2
"""This many records are made and encoded in the time of one that is also appended and replayed."""

DROPPED_DRAFTS_MAX: Final = 3
"""After this many dropped drafts, a topic is made in one slice: the broker set may keep changing."""


class TopicDraft:
    """Its `records` are complete after some calls of `make`, as long as it `is_current`."""

    def __init__(
        self, topic_id: Uuid, replicas: list[list[int]], image: MetadataImage, leaving: LeavingBrokers
    ) -> None:
        self.topic_id = topic_id
        self.replicas = replicas
        """The replicas of each partition."""
        self.records: list[RecordAndVersion] = []
        self._metadata_version = image.features.metadata_version
        self._brokers = _brokers(image, leaving)
        self._encoder = RecordEncoder(self._metadata_version)

    @property
    def is_complete(self) -> bool:
        return len(self.records) == len(self.replicas)

    def is_current(self, image: MetadataImage, leaving: LeavingBrokers) -> bool:
        """Returns whether the replicas would still be placed, and their records written, as they were."""
        return self._metadata_version == image.features.metadata_version and self._brokers == _brokers(
            image, leaving
        )

    def make(self, new_partitions: NewPartitions, units: int) -> int:
        """Makes the next records, for about that many units. Returns what they cost."""
        begin = len(self.records)
        end = min(len(self.replicas), begin + max(1, units) * PARTITIONS_PER_UNIT)
        for index in range(begin, end):
            entry = new_partitions.record(self.topic_id, index, self.replicas[index])
            value = self._encoder.encode(entry)
            self.records.append(EncodedRecord(entry.record, entry.version, value))
        return 1 + (end - begin) // PARTITIONS_PER_UNIT


def _brokers(image: MetadataImage, leaving: LeavingBrokers) -> list[tuple[BrokerRegistration, bool]]:
    """Returns all brokers, and which will be fenced. A change of a registration replaces it."""
    return [
        (registration, leaving.has(broker_id, registration.epoch))
        for broker_id, registration in image.cluster.brokers.items()
    ]
