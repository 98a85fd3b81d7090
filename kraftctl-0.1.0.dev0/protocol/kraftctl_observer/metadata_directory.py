"""A node's directory with its metadata log: its files and its owner. Nothing in it is changed.

Kafka and kraftctl use the same layout: `meta.properties` and `__cluster_metadata-0` with segments (KIP-595),
checkpoints (KIP-630) and `quorum-state`.
"""

from __future__ import annotations

import json
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from kraftctl_observer.log_reader import ObserverError
from kraftctl_observer.reading import reading
from kraftctl_protocol.java_properties import decode_properties
from kraftctl_protocol.log_file_names import (
    META_PROPERTIES,
    PARTITION_DIRECTORY,
    QUORUM_STATE,
    checkpoint_file_name,
    parse_checkpoint_file_name,
    parse_segment_file_name,
)
from kraftctl_protocol.meta_properties import MetaProperties, parse_meta_properties
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID, OffsetAndEpoch


@dataclass(frozen=True)
class LogFiles:
    """The files at one moment; both lists are ascending."""

    segments: tuple[int, ...]
    """The segments by their base offsets."""
    checkpoints: tuple[OffsetAndEpoch, ...]

    @property
    def snapshots(self) -> tuple[OffsetAndEpoch, ...]:
        """The checkpoints that replace part of the log."""
        return tuple(checkpoint for checkpoint in self.checkpoints if checkpoint != BOOTSTRAP_SNAPSHOT_ID)


class MetadataDirectory:
    """`path` is a metadata.log.dir, an entry of log.dirs, or the partition's directory in it."""

    def __init__(self, path: Path) -> None:
        self.path = path.parent if path.name == PARTITION_DIRECTORY else path
        self.partition = self.path / PARTITION_DIRECTORY
        if not self._is_there():
            raise ObserverError(
                f"{self.path} holds no {PARTITION_DIRECTORY}: name the metadata.log.dir of a controller, or"
                " the first of its log.dirs"
            )

    def _is_there(self) -> bool:
        try:
            with reading(self.partition):
                return stat.S_ISDIR(self.partition.stat().st_mode)
        except FileNotFoundError:
            return False

    def files(self) -> LogFiles:
        """Returns the finished files; unfinished and deleted ones have other names."""
        with reading(self.partition):
            names = os.listdir(self.partition)
        segments = sorted(base for name in names if (base := parse_segment_file_name(name)) is not None)
        checkpoints = sorted(found for name in names if (found := parse_checkpoint_file_name(name)))
        return LogFiles(tuple(segments), tuple(checkpoints))

    def checkpoint_path(self, checkpoint: OffsetAndEpoch) -> Path:
        return self.partition / checkpoint_file_name(checkpoint)

    def meta_properties(self) -> MetaProperties:
        """Returns the properties; empty if the file does not exist."""
        path = self.path / META_PROPERTIES
        try:
            with reading(path):
                return parse_meta_properties(decode_properties(path.read_bytes()))
        except FileNotFoundError:
            return MetaProperties(None, None, None)
        except ValueError as error:
            raise ObserverError(f"{path} cannot be understood: {error}") from error

    def static_voters(self) -> list[int] | None:
        """Returns the voters of a quorum of kraft.version 0, from quorum-state; None for other quorums."""
        path = self.partition / QUORUM_STATE
        try:
            with reading(path):
                state = json.loads(path.read_text(encoding="utf-8"))
            if state["data_version"] != 0:
                return None
            return [int(voter["voterId"]) for voter in state.get("currentVoters") or []] or None
        except (FileNotFoundError, ValueError, KeyError, TypeError, AttributeError):
            return None
