"""The bootstrap.checkpoint file that formatting leaves in every log directory."""

from __future__ import annotations

from pathlib import Path

from kraftctl.metadata.bootstrap_metadata import (
    BootstrapMetadata,
    BootstrapMetadataError,
    default_bootstrap_metadata,
)
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl.storage.durable_files import replace_file
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.metadata_record import RecordAndVersion

FILE_NAME = "bootstrap.checkpoint"


def write_bootstrap_checkpoint(log_dir: Path, records: list[RecordAndVersion], wall_ms: int) -> None:
    """Replace the file in `log_dir`. Raises OSError."""
    batches = SnapshotBatches(0, wall_ms)
    content = [batches.header(0), *batches.records(records), batches.footer()]
    replace_file(log_dir / FILE_NAME, b"".join(content))


def read_bootstrap_checkpoint(log_dir: Path) -> BootstrapMetadata:
    """The records to start an empty cluster with; the default ones when there is no file.

    Raises StorageError when the file is damaged or lacks metadata.version.
    """
    path = log_dir / FILE_NAME
    if not path.exists():
        return default_bootstrap_metadata()
    try:
        return BootstrapMetadata(list(CheckpointReader(path).records()), str(path))
    except BootstrapMetadataError as error:
        raise StorageError(str(error)) from error
