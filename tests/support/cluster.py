"""What a running cluster has written in its metadata log, as Kafka's own tool reads it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from tests.support.kafka import dump_log

RECORD_LINE = re.compile(r"^\| offset: (\d+) .* payload: (\{.*\})$")


@dataclass
class DumpedRecord:
    """One metadata record as kafka-dump-log prints it; `data` has Kafka's JSON names."""

    offset: int
    type: str
    version: int
    data: dict


def metadata_records(metadata_directory: Path) -> list[DumpedRecord]:
    """All data records of the segments in a `__cluster_metadata-0` directory, decoded by Kafka."""
    segments = sorted(metadata_directory.glob("*.log"))
    records = []
    for line in dump_log(*segments).splitlines():
        if found := RECORD_LINE.match(line):
            payload = json.loads(found.group(2))
            records.append(
                DumpedRecord(int(found.group(1)), payload["type"], payload["version"], payload["data"])
            )
    return records


def partition_epochs(records: list[DumpedRecord]) -> dict[tuple[str, int], tuple[int, int]]:
    """(topic id, partition) -> (leader epoch, partition epoch), as PartitionRegistration.merge counts them."""
    epochs: dict[tuple[str, int], tuple[int, int]] = {}
    for record in records:
        if record.type == "PARTITION_RECORD":
            key = (record.data["topicId"], record.data["partitionId"])
            epochs[key] = (record.data["leaderEpoch"], record.data["partitionEpoch"])
        elif record.type == "PARTITION_CHANGE_RECORD":
            key = (record.data["topicId"], record.data["partitionId"])
            leader_epoch, partition_epoch = epochs[key]
            moved = "leader" in record.data and record.data["leader"] != -2
            epochs[key] = (leader_epoch + moved, partition_epoch + 1)
        elif record.type == "REMOVE_TOPIC_RECORD":
            epochs = {key: value for key, value in epochs.items() if key[0] != record.data["topicId"]}
    return epochs
