"""The state of kraftctl's own image as of offsets of a generated log, as the tables of versions have it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.uuids import uuid_to_string
from tests.spark.metadata_histories import History


def images_at(history: History, offsets: Iterable[int]) -> Iterator[tuple[int, MetadataImage]]:
    """The image after each offset, in order: the same object, changed in between."""
    image = MetadataImage()
    values = iter(sorted(one for one in history.values.items() if not _ends_transaction(one[1])))
    following = next(values, None)
    for offset in sorted(offsets):
        while following is not None and following[0] <= offset:
            replay(image, decode_metadata_record(following[1]).record, following[0])
            following = next(values, None)
        yield offset, image


def _ends_transaction(value: bytes) -> bool:
    """The records of a transaction that is completed are among the others; it begins nowhere."""
    return isinstance(decode_metadata_record(value).record, EndTransactionRecord)


def partitions_of(image: MetadataImage) -> list[dict[str, Any]]:
    return [
        {
            "topic_id": uuid_to_string(topic.topic_id),
            "topic": topic.name,
            "partition_id": number,
            "leader": partition.leader,
            "leader_epoch": partition.leader_epoch,
            "partition_epoch": partition.partition_epoch,
            "replicas": list(partition.replicas),
            "isr": list(partition.isr),
            "adding_replicas": list(partition.shared.adding_replicas),
            "removing_replicas": list(partition.shared.removing_replicas),
            "elr": list(partition.shared.elr),
        }
        for topic in image.topics.topics.values()
        for number, partition in topic.partitions.items()
    ]
