"""Formats directories: writes the files of a node's first start (KIP-631, KIP-853, KIP-1022).

Written per directory in this order: bootstrap.checkpoint, the 0-0 checkpoint with the first voters (only for
a dynamic quorum), the recovery point of a replica that never took part (these two only where the metadata log
will live), and last meta.properties, whose presence means "formatted". A crash in between leaves a directory
that can simply be formatted again.

That is the layout of Kafka up to 4.3; Kafka 4.4, whose own is another (KIP-1170), reads it as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from kraftctl.metadata import features
from kraftctl.metadata.bootstrap_metadata import feature_level_records
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.voter_set import VoterSet
from kraftctl.storage.bootstrap_checkpoint import write_bootstrap_checkpoint
from kraftctl.storage.durable_files import create_directory
from kraftctl.storage.errors import StorageError
from kraftctl.storage.log_directories import LogDirectories, refuse_log_elsewhere, refuse_to_begin_again
from kraftctl.storage.meta_properties import MetaPropertiesEnsemble, write_meta_properties
from kraftctl.storage.metadata_evidence import shows_partition
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT_NAME
from kraftctl.storage.recovery_point import create_recovery_point, read_recovery_point
from kraftctl.storage.snapshots import SnapshotStore
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID
from kraftctl_protocol.uuids import uuid_to_string


class Formatter:
    """Decides which file goes where. `format` checks everything before it writes anything."""

    def __init__(
        self,
        *,
        cluster_id: str,
        node_id: int,
        log_dirs: list[Path],
        metadata_log_dir: Path,
        has_dynamic_quorum: bool,
        initial_voters: VoterSet | None = None,
        release_version: int | None = None,
        feature_levels: dict[str, int] | None = None,
        scram_records: list[RecordAndVersion] | None = None,
        unstable_feature_versions: bool = False,
        ignore_formatted: bool = False,
        log_is_lost: bool = False,
        chosen_by: str | None = None,
    ) -> None:
        """Takes `chosen_by`, the key and value that choose `metadata_log_dir`.

        `log_is_lost`: an operator has said so, and that this node begins again.
        """
        self.chosen_by = chosen_by or f"metadata.log.dir={metadata_log_dir}"
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.log_dirs = sorted({*log_dirs, metadata_log_dir})
        self.metadata_log_dir = metadata_log_dir
        self.has_dynamic_quorum = has_dynamic_quorum
        self.initial_voters = initial_voters
        self.ignore_formatted = ignore_formatted
        self.log_is_lost = log_is_lost
        self.metadata_version = effective_metadata_version(
            release_version, feature_levels or {}, unstable_feature_versions
        )
        self.levels = effective_feature_levels(
            self.metadata_version, feature_levels or {}, has_dynamic_quorum
        )
        if scram_records and not features.is_scram_supported(self.metadata_version):
            name = features.metadata_version_name(features.IBP_3_5_IV2)
            raise StorageError(f"A SCRAM credential needs {features.METADATA_VERSION} {name} or later.")
        self.records = feature_level_records(self.metadata_version, self.levels) + (scram_records or [])

    def format(self, rng: random.Random, wall_ms: int, say: Callable[[str], None]) -> None:
        """Formats every directory that is not formatted yet. Raises StorageError."""
        ensemble = MetaPropertiesEnsemble(self.log_dirs)
        self._check(ensemble)
        for log_dir, reason in ensemble.unreadable.items():
            say(f"Ignoring {log_dir}: {reason}")
        if not ensemble.empty:
            say("All directories of log.dirs have been formatted before.")
        for log_dir in ensemble.empty:
            directory_id = self._directory_id(log_dir, ensemble, rng)
            meta = MetaProperties(self.cluster_id, self.node_id, directory_id)
            self._write(log_dir, meta, wall_ms)
            ensemble.formatted[log_dir] = meta
            version = features.metadata_version_name(self.metadata_version)
            say(
                f"Formatted {self._description(log_dir)} {log_dir} with metadata.version {version},"
                f" directory.id {uuid_to_string(directory_id)}."
            )

    def _check(self, ensemble: MetaPropertiesEnsemble) -> None:
        self._refuse_another_cluster(ensemble)
        ensemble.verify(self.cluster_id, self.node_id)
        directories = LogDirectories(self.metadata_log_dir, self.log_dirs, self.chosen_by)
        refuse_log_elsewhere(directories)
        if self.ignore_formatted and not self.log_is_lost:
            refuse_to_begin_again(directories)
        if ensemble.formatted and not self.ignore_formatted:
            first = min(ensemble.formatted)
            raise StorageError(
                f"{first} has been formatted before. Next step: format the directories beside it with"
                " --ignore-formatted."
            )
        if self.metadata_log_dir in ensemble.unreadable:
            raise StorageError(ensemble.unreadable[self.metadata_log_dir])
        if ensemble.unreadable and not ensemble.empty and not ensemble.formatted:
            raise StorageError("No directory of log.dirs can be formatted: see the lines above.")
        for log_dir in ensemble.empty:
            if shows_partition(log_dir):
                raise StorageError(
                    f"{log_dir} holds a metadata log although it has no meta.properties. Formatting it would"
                    " give the log to another replica. Next step: restore meta.properties, or format another"
                    " directory that is empty (docs/operations/lost-disk.md)."
                )
        if self.metadata_log_dir in ensemble.empty and not self.has_dynamic_quorum:
            self._refuse_lost_votes()

    def _refuse_another_cluster(self, ensemble: MetaPropertiesEnsemble) -> None:
        """Refuses an operator who formats again with another generated id."""
        found = {meta.cluster_id for meta in ensemble.formatted.values()}
        if len(found) == 1 and found.isdisjoint((None, self.cluster_id)):
            (cluster_id,) = found
            raise StorageError(
                f"Log directory {min(ensemble.formatted)} is already formatted, for the cluster {cluster_id},"
                f" not {self.cluster_id}. Next step: kraftctl start, if that is this node; for another node"
                " name directories that are empty."
            )

    def _refuse_lost_votes(self) -> None:
        """Refuses a static voter: its node id identifies it, and a new directory id would not make it
        another voter.
        """
        point = read_recovery_point(self.metadata_log_dir)
        if point is not None and point.quorum_epoch > 0:
            raise StorageError(
                f"{self.metadata_log_dir / RECOVERY_POINT_NAME} is of a voter that took part in epoch"
                f" {point.quorum_epoch}. In a static quorum a formatted directory would let it vote twice in"
                " one epoch. Next step: restore meta.properties, with directory.id="
                f"{uuid_to_string(point.directory_id)}; without its log it then recovers before it votes"
                " (docs/operations/lost-disk.md). For a new cluster use an empty directory."
            )

    def _directory_id(self, log_dir: Path, ensemble: MetaPropertiesEnsemble, rng: random.Random) -> bytes:
        if log_dir == self.metadata_log_dir and self.initial_voters is not None:
            voter = self.initial_voters.nodes.get(self.node_id)
            if voter is not None:
                return voter.key.directory_id
        return ensemble.unused_directory_id(rng)

    def _description(self, log_dir: Path) -> str:
        if log_dir != self.metadata_log_dir:
            return "data directory"
        if self.initial_voters is None:
            return "metadata directory"
        if self.node_id in self.initial_voters.nodes:
            return "dynamic metadata voter directory"
        return "dynamic metadata directory"

    def _write(self, log_dir: Path, meta: MetaProperties, wall_ms: int) -> None:
        create_directory(log_dir)
        write_bootstrap_checkpoint(log_dir, self.records, wall_ms)
        if log_dir == self.metadata_log_dir and self.initial_voters is not None:
            batches = SnapshotBatches(BOOTSTRAP_SNAPSHOT_ID.epoch, wall_ms)
            header = batches.header(
                wall_ms, self.levels[features.KRAFT_VERSION], self.initial_voters.to_record()
            )
            store = SnapshotStore.open(log_dir / PARTITION_DIRECTORY)
            store.write(BOOTSTRAP_SNAPSHOT_ID, [header, batches.footer()])
        if log_dir == self.metadata_log_dir:
            assert meta.directory_id is not None
            create_recovery_point(log_dir, meta.directory_id)
        write_meta_properties(log_dir, meta, wall_ms)


def effective_metadata_version(
    release_version: int | None, feature_levels: dict[str, int], unstable_feature_versions: bool
) -> int:
    """Returns the level asked for by --release-version or --feature, else the default one, which is the
    newest where unstable levels may be used. Raises StorageError.
    """
    newest = features.LATEST_TESTING if unstable_feature_versions else features.LATEST_PRODUCTION
    default = features.LATEST_TESTING if unstable_feature_versions else features.DEFAULT_METADATA_VERSION
    level = feature_levels.get(features.METADATA_VERSION)
    if level is None:
        level = release_version if release_version is not None else default
    elif release_version is not None:
        raise StorageError(
            f"--release-version and --feature {features.METADATA_VERSION}=LEVEL say the same: give one."
        )
    if level not in features.METADATA_VERSION_NAMES:
        raise StorageError(
            f"There is no {features.METADATA_VERSION} of level {level}; levels go from"
            f" {features.MINIMUM_METADATA_VERSION} to {newest}."
        )
    if level > newest:
        raise StorageError(
            f"{features.METADATA_VERSION} {features.metadata_version_name(level)} is not yet stable."
        )
    return level


def effective_feature_levels(
    metadata_version: int, asked: dict[str, int], has_dynamic_quorum: bool
) -> dict[str, int]:
    """Returns every feature's level: as asked for, else the default of the release. Raises StorageError."""
    for name in asked:
        if name not in features.SUPPORTED_FEATURES:
            raise StorageError(
                f"Unsupported feature: {name}. Supported features are:"
                f" {', '.join(sorted(features.SUPPORTED_FEATURES))}"
            )
    levels = {features.METADATA_VERSION: metadata_version}
    for name, supported in features.SUPPORTED_FEATURES.items():
        if name == features.METADATA_VERSION:
            continue
        if name == features.KRAFT_VERSION:
            levels[name] = _effective_kraft_version(asked.get(name), has_dynamic_quorum)
        else:
            levels[name] = asked.get(name, features.default_level(name, metadata_version))
        if not supported.min <= levels[name] <= supported.max:
            raise StorageError(
                f"No feature {name} with feature level {levels[name]}; levels go from {supported.min} to"
                f" {supported.max}."
            )
        required = features.required_metadata_version(name, levels[name])
        if levels[name] > 0 and metadata_version < required:
            raise StorageError(f"{name} {levels[name]} needs {features.METADATA_VERSION} {required} or later")
    return levels


def _effective_kraft_version(asked: int | None, has_dynamic_quorum: bool) -> int:
    """Returns the level, which the kind of quorum decides; asking for the other one is a contradiction
    (KIP-853).
    """
    if asked is None:
        return 1 if has_dynamic_quorum else 0
    if asked == 0 and has_dynamic_quorum:
        raise StorageError(
            "kraft.version 0 is for static voters, and controller.quorum.voters is empty. Next step: leave"
            " --feature kraft.version out."
        )
    if asked > 0 and not has_dynamic_quorum:
        raise StorageError(
            f"Cannot set kraft.version to {asked} unless controller.quorum.voters is empty. For a dynamic"
            " quorum remove controller.quorum.voters and use --standalone, --initial-controllers or"
            " --no-initial-controllers."
        )
    return asked
