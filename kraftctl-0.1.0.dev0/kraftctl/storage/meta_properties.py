"""Reads and writes meta.properties in every directory of a node; they must agree (KIP-631, KIP-858)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from kraftctl.metadata.directory_id import is_reserved
from kraftctl.storage.durable_files import create_directory, replace_file
from kraftctl.storage.errors import StorageError, cannot, shortened
from kraftctl.storage.metadata_evidence import Shows, find_evidence
from kraftctl.storage.properties_file import find_properties
from kraftctl.storage.recovery_point import read_recovery_point
from kraftctl_protocol.java_properties import format_properties
from kraftctl_protocol.log_file_names import META_PROPERTIES
from kraftctl_protocol.meta_properties import MetaProperties, parse_meta_properties
from kraftctl_protocol.uuids import random_uuid, uuid_to_string


def read_meta_properties(log_dir: Path) -> MetaProperties | None:
    """Returns None when `log_dir` has not been formatted. Raises StorageError when the file is unusable."""
    path = log_dir / META_PROPERTIES
    try:
        properties = find_properties(path)
        return None if properties is None else parse_meta_properties(properties)
    except OSError as error:
        raise cannot("read", path, error) from error
    except ValueError as damage:
        raise _unusable(path, str(damage)) from damage


def write_meta_properties(log_dir: Path, meta: MetaProperties, wall_ms: int) -> None:
    """Replaces the file, creating `log_dir` if need be. Raises StorageError."""
    assert meta.cluster_id is not None
    assert meta.node_id is not None
    create_directory(log_dir)
    written = datetime.fromtimestamp(wall_ms / 1000, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    replace_file(log_dir / META_PROPERTIES, format_properties(meta.properties(), ["", written]).encode())


class MetaPropertiesEnsemble:
    """The meta.properties of all directories of a node; `formatted` maps directory -> content.

    `unreadable` maps directory -> why, `empty` lists the directories that have not been formatted.
    """

    def __init__(self, log_dirs: Iterable[Path]) -> None:
        self.formatted: dict[Path, MetaProperties] = {}
        self.unreadable: dict[Path, str] = {}
        self.empty: list[Path] = []
        for log_dir in sorted(set(log_dirs)):
            try:
                meta = read_meta_properties(log_dir)
            except StorageError as error:
                self.unreadable[log_dir] = str(error)
                continue
            if meta is None:
                self.empty.append(log_dir)
            else:
                self.formatted[log_dir] = meta

    def verify(self, cluster_id: str | None, node_id: int | None) -> None:
        """Raises StorageError for directories of different clusters or nodes, or that do not fit each other.

        With None the value of the first directory applies.
        """
        owners: dict[bytes, Path] = {}
        for log_dir, meta in self.formatted.items():
            path = log_dir / META_PROPERTIES
            if meta.cluster_id is not None and cluster_id not in (None, meta.cluster_id):
                raise StorageError(
                    f"{path} belongs to another cluster: cluster.id {meta.cluster_id}, expected {cluster_id}."
                    " Next step: point the node at its own directories, or use the right cluster id."
                )
            if meta.node_id is not None and node_id not in (None, meta.node_id):
                raise StorageError(
                    f"{path} belongs to another node: node.id {meta.node_id}, expected {node_id}. Next step:"
                    " if the data was moved, configure its node.id; to make a new node, start with empty"
                    " directories."
                )
            cluster_id = meta.cluster_id if cluster_id is None else cluster_id
            node_id = meta.node_id if node_id is None else node_id
            self._verify_directory_id(log_dir, meta.directory_id, owners)

    def _verify_directory_id(
        self, log_dir: Path, directory_id: bytes | None, owners: dict[bytes, Path]
    ) -> None:
        if directory_id is None:
            return
        name = uuid_to_string(directory_id)
        if is_reserved(directory_id):
            raise StorageError(
                f"{log_dir / META_PROPERTIES} has the reserved directory.id {name}."
                " Next step: restore the file."
            )
        if directory_id in owners:
            raise StorageError(
                f"{owners[directory_id]} and {log_dir} have the same directory.id {name}: one is a copy of"
                " the other. Next step: find out which one this node has used last, and take the other one"
                " out of log.dirs."
            )
        owners[directory_id] = log_dir

    def unused_directory_id(self, rng: random.Random) -> bytes:
        """Returns a fresh id that no directory of this node has."""
        taken = {meta.directory_id for meta in self.formatted.values()}
        while True:
            directory_id = random_uuid(rng)
            if directory_id not in taken:
                return directory_id


def load_meta_properties(
    log_dir: Path, node_id: int, rng: random.Random, wall_ms: int
) -> tuple[MetaProperties, bytes]:
    """Loads, for a start, the checked properties of `log_dir` and its directory id, added when missing.

    A replica that has taken part keeps the id that its recovery point has. Raises StorageError when the
    directory is not formatted or belongs to another node.
    """
    ensemble = MetaPropertiesEnsemble([log_dir])
    if log_dir in ensemble.unreadable:
        raise StorageError(ensemble.unreadable[log_dir])
    if log_dir not in ensemble.formatted:
        raise StorageError(f"{log_dir} has not been formatted. Next step: run `kraftctl format`.")
    ensemble.verify(None, node_id)
    meta = ensemble.formatted[log_dir]
    refuse_version_0(log_dir, meta)
    if meta.directory_id is None:
        point = read_recovery_point(log_dir)
        if point is None or is_reserved(point.directory_id):
            meta.directory_id = ensemble.unused_directory_id(rng)
        else:
            meta.directory_id = point.directory_id
        write_meta_properties(log_dir, meta, wall_ms)
    return meta, meta.directory_id


def refuse_version_0(log_dir: Path, meta: MetaProperties) -> None:
    """Raises StorageError for a directory of a cluster with ZooKeeper, and for a file that lost its lines.

    To Kafka a file without `version` is of version 0: an empty one, too, which a power failure leaves.
    """
    if meta.cluster_id is not None and meta.version != 0:
        return
    path = log_dir / META_PROPERTIES
    is_whole = meta.cluster_id is not None and meta.node_id is not None
    if not is_whole or find_evidence(log_dir).shows > Shows.NOTHING:
        raise _unusable(path, f"{VERSION_0}, or it has lost its lines")
    raise StorageError(
        f"{path} is {VERSION_0}. Next step: name another directory in log.dirs for this controller; this one"
        " holds the data of a broker of that cluster."
    )


VERSION_0: Final = "of version 0, from a cluster that was not in KRaft mode"


def _unusable(path: Path, reason: str) -> StorageError:
    return StorageError(
        f"{path} cannot be used: {shortened(reason)}. It is the identity of what is in this directory. Next"
        " step: restore the file: version=1, cluster.id as on the other nodes, node.id as configured, and the"
        " directory.id that metadata-recovery-point or the voters of the quorum have"
        " (docs/operations/lost-disk.md)."
    )
