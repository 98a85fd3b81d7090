"""The records of a log as kafka-dump-log prints them, in the form of exported rows."""

from __future__ import annotations

import base64
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kraftctl.dev.kafka_distribution import DEFAULT_KAFKA_VERSION
from kraftctl_protocol.message import Field, Message
from kraftctl_spark.rows.metadata_rows import TYPED_CLASSES
from kraftctl_spark.rows.record_names import column_name, field_name
from tests.support.processes.kafka import dump_log

BATCH_LINE = re.compile(r"^baseOffset: \d+ .*partitionLeaderEpoch: (-?\d+) .*isControl: (true|false) ")
RECORD_LINE = re.compile(
    r"^\| offset: (\d+) CreateTime: (-?\d+) keySize: -?\d+ valueSize: (-?\d+) .*?"
    r"headerKeys: \[\] (payload|[A-Za-z]+):? (\{.*)$"
)
CONTROL_LINE = re.compile(
    r"^\| offset: (\d+) CreateTime: (-?\d+) keySize: -?\d+ valueSize: (-?\d+) .*? "
    r"controlType: ([A-Z_]+)\(\d+\)$"
)
"""Before 4.0: the type of a control record without its content."""
CONTROL_NAMES = {
    "LeaderChange": "LeaderChangeMessage",
    "SnapshotHeader": "SnapshotHeaderRecord",
    "SnapshotFooter": "SnapshotFooterRecord",
    "KRaftVersion": "KRaftVersionRecord",
    "KRaftVoters": "VotersRecord",
}
CONTROL_TYPES = {
    "LEADER_CHANGE": "LeaderChangeMessage",
    "KRAFT_VERSION": "KRaftVersionRecord",
    "KRAFT_VOTERS": "VotersRecord",
}
CLASSES = {message.NAME: message for message in TYPED_CLASSES}
NAMES_IN_DUMP = {column_name(message).upper(): message.NAME for message in TYPED_CLASSES}
DIFFERENCES_MAX = 20


@dataclass(frozen=True)
class DumpedRecord:
    """One record as Kafka's own tool shows it."""

    offset: int
    epoch: int
    timestamp_ms: int
    is_control: bool
    value_size: int
    name: str
    version: int
    data: dict[str, Any]
    is_shown: bool = True
    """Whether the tool shows version and data."""


def read_dump(log_dir: Path, release: str = DEFAULT_KAFKA_VERSION) -> list[DumpedRecord]:
    """All records of the metadata log's segments, in order."""
    metadata_dir = log_dir / "__cluster_metadata-0"
    segments = sorted((metadata_dir if metadata_dir.is_dir() else log_dir).glob("*.log"))
    assert segments, f"no segments in {log_dir}"
    return parse_dump(dump_log(*segments, version=release))


def parse_dump(text: str) -> list[DumpedRecord]:
    """The records in the output of kafka-dump-log --cluster-metadata-decoder."""
    records: list[DumpedRecord] = []
    epoch, is_control = -1, False
    for line in text.splitlines():
        if batch := BATCH_LINE.match(line):
            epoch, is_control = int(batch[1]), batch[2] == "true"
        elif record := RECORD_LINE.match(line):
            name, version, data = _name_version_data(record[4], json.loads(record[5]))
            records.append(
                DumpedRecord(
                    int(record[1]), epoch, int(record[2]), is_control, int(record[3]), name, version, data
                )
            )
        elif control := CONTROL_LINE.match(line):
            name = CONTROL_TYPES[control[4]]
            records.append(
                DumpedRecord(
                    int(control[1]), epoch, int(control[2]), True, int(control[3]), name, 0, {}, False
                )
            )
        else:
            assert not line.startswith("| offset"), f"a line of the dump that cannot be parsed: {line}"
    return records


def _name_version_data(kind: str, content: dict[str, Any]) -> tuple[str, int, dict[str, Any]]:
    if kind == "payload":
        return NAMES_IN_DUMP[content["type"]], content["version"], content["data"]
    return CONTROL_NAMES[kind], content["version"], content


def expected_struct(message: type[Message], data: dict[str, Any], version: int) -> dict[str, Any]:
    """Kafka's JSON as the struct of a row: it omits fields at their default, a row has all fields."""
    return {field_name(field): _expected_value(field, data, version) for field in message.FIELDS}


def _expected_value(field: Field, data: dict[str, Any], version: int) -> Any:
    if not field.in_version(version):
        return None
    if field.wire_name in data:
        wire_name = field.wire_name
    else:
        wire_name = field.wire_name[0].lower() + field.wire_name[1:]
    if wire_name not in data:
        default = field.default
        return list(default) if field.type.startswith("[]") and default is not None else default
    value = data[wire_name]
    if value is None:
        return None
    if field.type.startswith("[]") and field.struct is not None:
        return [expected_struct(field.struct, element, version) for element in value]
    if field.struct is not None:
        return expected_struct(field.struct, value, version)
    if field.type == "bytes":
        return base64.b64decode(value)
    return value
