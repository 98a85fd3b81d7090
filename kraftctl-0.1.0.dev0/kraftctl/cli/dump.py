"""`kraftctl dump`: prints a log segment, a checkpoint or a directory, one JSON object per line.

It changes nothing, so it may read the directory of a running controller.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from kraftctl.storage.bootstrap_checkpoint import read_bootstrap_checkpoint
from kraftctl.storage.directory_entries import names_in, size_in_bytes
from kraftctl.storage.errors import StorageError
from kraftctl.storage.leader_epoch_checkpoint import read_leader_epochs
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery import scan_file
from kraftctl_protocol.batch_framing import BatchPlace, InvalidBatchError
from kraftctl_protocol.control_record import NewerReleaseError, decode_control_record
from kraftctl_protocol.file_errors import file_error
from kraftctl_protocol.generated.feature_level_record import FeatureLevelRecord
from kraftctl_protocol.json_converter import camel_case, to_json
from kraftctl_protocol.log_file_names import (
    LOG_SUFFIX,
    OFFSET_DIGITS,
    PARTITION_DIRECTORY,
    parse_checkpoint_file_name,
    parse_segment_file_name,
)
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.record_batch import Record, RecordBatch, read_batch
from kraftctl_protocol.secrets import REDACTED, SECRET_FIELDS, redact
from kraftctl_protocol.uuids import uuid_to_string

NAME = "dump"
PRINTS_ONLY = True

JsonObject = dict[str, object]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "kind",
        choices=["log", "snapshot", "directory"],
        help="what the files are; a snapshot may also be bootstrap.checkpoint",
    )
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="segments or checkpoints")
    parser.add_argument(
        "--show-secrets",
        action="store_true",
        help="print password hashes, and the values of configurations that may be secret",
    )
    parser.add_argument("--batches-only", action="store_true", help="leave the records out")


def run(args: argparse.Namespace) -> int:
    """Returns 0 when every file is undamaged to its end, else 1."""
    status = 0
    for path in args.files:
        try:
            for line in _directory_lines(path) if args.kind == "directory" else _file_lines(path, args):
                print(json.dumps(line, separators=(",", ":")))
        except BrokenPipeError:
            raise
        except (InvalidBatchError, DecodeError, StorageError) as error:
            print(f"{path}: {error}", file=sys.stderr)
            status = 1
        except OSError as unreadable:
            print(file_error("read", path, unreadable, named_by="the argument FILE"), file=sys.stderr)
            status = 1
    return status


def _directory_lines(log_dir: Path) -> Iterator[JsonObject]:
    """Yields identity, election state and files (names and sizes) of a log directory."""
    meta = read_meta_properties(log_dir)
    around = log_dir.absolute().parent
    if meta is None and read_meta_properties(around) is not None:
        raise StorageError(
            f"it is within the directory of a node. Next step: kraftctl dump directory {around}"
        )
    if meta is None:
        raise StorageError("there is no meta.properties: the directory has not been formatted")
    yield {
        "clusterId": meta.cluster_id,
        "nodeId": meta.node_id,
        "directoryId": None if meta.directory_id is None else uuid_to_string(meta.directory_id),
    }
    bootstrap = read_bootstrap_checkpoint(log_dir)
    features = [item.record for item in bootstrap.records if isinstance(item.record, FeatureLevelRecord)]
    yield {
        "bootstrapFeatures": {feature.name: feature.feature_level for feature in features},
        "bootstrapRecords": len(bootstrap.records),
    }
    directory = log_dir / PARTITION_DIRECTORY
    state = QuorumStateStore(directory).read()
    if state is not None:
        yield {
            "leaderEpoch": state.epoch,
            "leaderId": state.leader_id,
            "votedId": state.voted_id,
            "dataVersion": state.data_version,
        }
    yield {"leaderEpochs": dict(read_leader_epochs(directory) or [])}
    for path in map(directory.joinpath, names_in(directory)):
        snapshot_id = parse_checkpoint_file_name(path.name)
        if snapshot_id is not None:
            yield {
                "snapshot": path.name,
                "sizeInBytes": size_in_bytes(path),
                "endOffset": snapshot_id.offset,
                "epoch": snapshot_id.epoch,
            }
        elif path.suffix == LOG_SUFFIX:
            yield {"segment": path.name, "sizeInBytes": size_in_bytes(path), "baseOffset": _base_offset(path)}


def _file_lines(path: Path, args: argparse.Namespace) -> Iterator[JsonObject]:
    is_log, with_records = args.kind == "log", not args.batches_only
    descriptor = os.open(path, os.O_RDONLY)
    try:
        for place in scan_file(descriptor, _base_offset(path) if is_log else 0, 0):
            raw = os.pread(descriptor, place.size_bytes, place.position)
            batch = read_batch(raw, 0, verify_crc=False)
            yield _batch_line(path, place, batch)
            if with_records:
                for record in batch.records:
                    yield _readable_line(record, batch.header.is_control, place, args.show_secrets)
    finally:
        os.close(descriptor)


def _base_offset(path: Path) -> int:
    # As for Kafka's own tool, leading zeros may be missing.
    base_offset = parse_segment_file_name(path.name.rjust(OFFSET_DIGITS + len(LOG_SUFFIX), "0"))
    if base_offset is None:
        raise StorageError(
            "the name of a segment is its base offset in 20 digits and .log. Next step: for a snapshot use"
            " `kraftctl dump snapshot`; give a copied segment its name back."
        )
    return base_offset


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


def _readable_line(record: Record, is_control: bool, place: BatchPlace, show_secrets: bool) -> JsonObject:
    """Raises StorageError, with place and next step, for what this release cannot decode."""
    try:
        return _record_line(record, is_control, show_secrets)
    except DecodeError as error:
        where = f"at byte {place.position}, offset {record.offset}: {error}"
        what_follows = f"kraftctl {NAME} --batches-only prints what follows"
        if isinstance(error, NewerReleaseError):
            text = f"{where}: a newer release wrote it. Next step: use that release; {what_follows}"
        else:
            text = f"{where}. Next step: use the release that wrote it, if it is newer; {what_follows}"
        raise StorageError(text) from error


def _record_line(record: Record, is_control: bool, show_secrets: bool) -> JsonObject:
    line: JsonObject = {"offset": record.offset, "timestamp": record.timestamp_ms}
    if is_control:
        control = decode_control_record(record.key, record.value)
        return line | {"control": control.control_type.name, "data": to_json(control.message, 0)}
    decoded = decode_metadata_record(record.value or b"")
    redacted = not show_secrets and redact(decoded.record)
    data = to_json(decoded.record, decoded.version)
    if redacted:
        data |= {name: REDACTED for name in _secret_names(decoded.record) if data[name] is not None}
    return line | {"type": decoded.record.NAME, "version": decoded.version, "data": data}


def _secret_names(record: Message) -> list[str]:
    """Returns the secret fields of its type as JSON spells them."""
    secret = SECRET_FIELDS[record.API_KEY]
    return [camel_case(field.wire_name) for field in record.FIELDS if field.name in secret]
