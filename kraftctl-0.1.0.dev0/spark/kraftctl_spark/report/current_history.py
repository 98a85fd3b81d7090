"""A history that goes as far as the typed tables: the one beside them, continued if necessary."""

from __future__ import annotations

import errno
import logging
from pathlib import Path

from kraftctl_spark.history.history_manifest import HistoryBusyError, HistoryManifest, read_manifest
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.stores.durable import Hook, no_hook
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.output_state import raw_start

NOT_WRITABLE = (errno.EACCES, errno.EPERM, errno.EROFS)

BUSY_WAIT_S = 60.0
"""Another process may write it this long before a report is made without its last batch."""

log = logging.getLogger(__name__)


def current_history(tables: Path, history: Path, scratch: Path, hook: Hook = no_hook) -> Path:
    """Returns its path: in `history`, or in `scratch` if nothing can be written there. Where it cannot be
    computed in `scratch` either, because records have expired, it is returned as it is.

    ExportRefusedError without a committed batch, or for the history of other tables.
    """
    batches = Output(tables).manifests()
    if not batches:
        raise ExportRefusedError(f"{tables} holds no tables of kraftctl-export: run that first")
    manifest = read_manifest(history)
    if manifest is not None and _is_complete(history, manifest, batches):
        return history
    if manifest is None:
        log.info("%s has no history: it is computed first, which takes longer", tables)
    else:
        log.info("the history goes up to offset %d: it is continued first", manifest.end)
    try:
        return _continued(tables, history, hook)
    except OSError as error:
        if error.errno not in NOT_WRITABLE:
            raise
        if manifest is not None and _has_expired(history, manifest, batches):
            log.warning(
                "%s cannot be written, and is not computed elsewhere, because records before offset %d have "
                "expired; the report ends at offset %d",
                *(history, raw_start(batches), manifest.end - 1),
            )
            return history
        log.info("%s cannot be written: the history is computed in a temporary directory", history)
        return _continued(tables, scratch / "history", hook)


def _is_complete(history: Path, manifest: HistoryManifest, batches: list[Manifest]) -> bool:
    return manifest.end == batches[-1].end and _is_of(history, manifest, batches)


def _has_expired(history: Path, manifest: HistoryManifest, batches: list[Manifest]) -> bool:
    """Returns whether only this history has what it says: it is whole, and some of its records are gone."""
    is_behind = 0 < raw_start(batches) <= manifest.end <= batches[-1].end
    return is_behind and _is_of(history, manifest, batches)


def _is_of(history: Path, manifest: HistoryManifest, batches: list[Manifest]) -> bool:
    return manifest.cluster_id == batches[-1].cluster_id and all(
        (history / file.path).is_file() for file in manifest.files
    )


def _continued(tables: Path, history: Path, hook: Hook) -> Path:
    """Waits for another process that writes it, for a limited time."""
    try:
        manifest = HistoryTables(tables, history, hook).catch_up(BUSY_WAIT_S)
    except HistoryBusyError as error:
        so_far = read_manifest(history)
        if so_far is None:
            raise
        log.warning("%s; the report ends at offset %d", error, so_far.end - 1)
    else:
        log.info("the history goes up to offset %d", manifest.end)
    return history
