"""KIP-1170: the bootstrap records that formatting writes, in bootstrap.checkpoint or in the 0-0 checkpoint.

Up to Kafka 4.3 they are in bootstrap.checkpoint of every log directory, and the 0-0 checkpoint of a dynamic
quorum has only control records. Kafka 4.4 puts them after those, into the 0-0 checkpoint that every
controller gets, and writes no bootstrap.checkpoint. kraftctl writes the older layout: Kafka 4.4 reads both.
"""

from __future__ import annotations

from pathlib import Path

from kraftctl.metadata.bootstrap_metadata import (
    BootstrapMetadata,
    BootstrapMetadataError,
    bootstrap_refusal,
    default_bootstrap_metadata,
    why_records_unsupported,
)
from kraftctl.metadata.endpoint import VersionRange
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl.storage.directory_entries import exists, names_in
from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.log_file_names import (
    BOOTSTRAP_CHECKPOINT,
    PARTITION_DIRECTORY,
    checkpoint_file_name,
    parse_checkpoint_file_name,
)
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID


def write_bootstrap_checkpoint(log_dir: Path, records: list[RecordAndVersion], wall_ms: int) -> None:
    """Replaces the file in `log_dir`. Raises StorageError."""
    batches = SnapshotBatches(0, wall_ms)
    content = [batches.header(0), *batches.records(records), batches.footer()]
    replace_file(log_dir / BOOTSTRAP_CHECKPOINT, b"".join(content))


def read_bootstrap_checkpoint(log_dir: Path) -> BootstrapMetadata:
    """Returns the records to start an empty cluster with; the default ones when no file has any.

    As in Kafka 4.4, the 0-0 checkpoint takes precedence over bootstrap.checkpoint, unless there is a newer
    snapshot: then the cluster is not empty, and neither is needed. Raises StorageError when a file is
    damaged or its records lack metadata.version.
    """
    bootstrap = _read_zero_checkpoint(log_dir) or _read_file(log_dir)
    return default_bootstrap_metadata() if bootstrap is None else bootstrap


def check_bootstrap(log_dir: Path, bootstrap: BootstrapMetadata, supported: dict[str, VersionRange]) -> None:
    """Checks the records that an empty log will begin with. Raises StorageError.

    Kafka 4.4 prefers the 0-0 checkpoint and silently ignores a bootstrap.checkpoint that differs. It is
    unknown which of them is right, and the users and levels of the other would be lost: the start is
    refused.
    """
    unsupported = why_records_unsupported(bootstrap.records, supported)
    if unsupported is not None:
        raise StorageError(bootstrap_refusal(bootstrap.source, unsupported))
    file = _read_file(log_dir)
    if file is not None and file.records != bootstrap.records:
        raise StorageError(
            f"{bootstrap.source} and {file.source} hold different bootstrap records. Next step: compare them"
            " with `kraftctl dump snapshot`, and move away the file that is older than the last format."
        )


def _read_zero_checkpoint(log_dir: Path) -> BootstrapMetadata | None:
    directory = log_dir / PARTITION_DIRECTORY
    found = [parse_checkpoint_file_name(name) for name in names_in(directory)]
    if max((id_ for id_ in found if id_ is not None), default=None) != BOOTSTRAP_SNAPSHOT_ID:
        return None
    path = directory / checkpoint_file_name(BOOTSTRAP_SNAPSHOT_ID)
    records = list(CheckpointReader(path).records())
    return _bootstrap_metadata(records, path) if records else None


def _read_file(log_dir: Path) -> BootstrapMetadata | None:
    path = log_dir / BOOTSTRAP_CHECKPOINT
    return _bootstrap_metadata(list(CheckpointReader(path).records()), path) if exists(path) else None


def _bootstrap_metadata(records: list[RecordAndVersion], path: Path) -> BootstrapMetadata:
    try:
        return BootstrapMetadata(records, str(path))
    except BootstrapMetadataError as error:
        raise StorageError(str(error)) from error
