"""`kraftctl dump`: what a log segment or a checkpoint file contains, one JSON object per line."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kraftctl.storage.batch_scan import BatchPlace, InvalidBatchError
from kraftctl.storage.errors import StorageError
from kraftctl.storage.recovery import scan_file
from kraftctl.storage.segment import LOG_SUFFIX
from kraftctl_protocol.control_record import decode_control_record
from kraftctl_protocol.json_converter import to_json
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import Record, RecordBatch, read_batch

NAME = "dump"

REDACTED = "(redacted)"
SECRET_FIELDS = {"UserScramCredentialRecord": ("salt", "storedKey", "serverKey")}
SECRET_CONFIG_WORDS = ("password", "secret", "jaas", "credential", "key")

JsonObject = dict[str, object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        choices=["log", "snapshot"],
        help="what the files are; a snapshot may also be bootstrap.checkpoint",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="segments or checkpoints")
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        help="print password hashes and sensitive configurations as well",
    )
    parser.add_argument("--batches-only", action="store_true", help="leave the records out")


def run(args: argparse.Namespace) -> int:
    """0 when every file is sound to its end, else 1."""
    status = 0
    for path in args.files:
        try:
            for line in _lines(path, args.kind == "log", not args.batches_only, args.show_secrets):
                print(json.dumps(line, separators=(",", ":")))
        except (InvalidBatchError, DecodeError, StorageError, OSError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            status = 1
    return status


def _lines(path: Path, is_log: bool, with_records: bool, show_secrets: bool) -> Iterator[JsonObject]:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for place in scan_file(descriptor, _base_offset(path) if is_log else 0, 0):
            raw = os.pread(descriptor, place.size_bytes, place.position)
            batch = read_batch(raw, 0, verify_crc=False)
            yield _batch_line(path, place, batch)
            if with_records:
                for record in batch.records:
                    yield _record_line(record, batch.header.is_control, show_secrets)
    finally:
        os.close(descriptor)


def _base_offset(path: Path) -> int:
    if path.suffix != LOG_SUFFIX or not path.stem.isdigit():
        raise StorageError(
            "the name of a segment is its base offset in 20 digits and .log. Next step: for a snapshot use"
            " `kraftctl dump snapshot`; give a copied segment its name back."
        )
    return int(path.stem)


def _batch_line(path: Path, place: BatchPlace, batch: RecordBatch) -> JsonObject:
    return {
        "file": path.name,
        "position": place.position,
        "sizeInBytes": place.size_bytes,
        "baseOffset": place.base_offset,
        "lastOffset": place.last_offset,
        "partitionLeaderEpoch": place.epoch,
        "isControl": batch.header.is_control,
        "maxTimestamp": place.max_timestamp_ms,
        "count": len(batch.records),
    }


def _record_line(record: Record, is_control: bool, show_secrets: bool) -> JsonObject:
    line: JsonObject = {"offset": record.offset, "timestamp": record.timestamp_ms}
    if is_control:
        control = decode_control_record(record.key, record.value)
        return line | {"control": control.control_type.name, "data": to_json(control.message, 0)}
    decoded = decode_metadata_record(record.value or b"")
    name = decoded.record.NAME
    data = to_json(decoded.record, decoded.version)
    if not show_secrets:
        _redact(name, data)
    return line | {"type": name, "version": decoded.version, "data": data}


def _redact(name: str, data: JsonObject) -> None:
    for field in SECRET_FIELDS.get(name, ()):
        data[field] = REDACTED
    if name == "ConfigRecord" and data.get("value") is not None:
        key = str(data["name"]).lower()
        if any(word in key for word in SECRET_CONFIG_WORDS):
            data["value"] = REDACTED
