"""The meta.properties file: which cluster, node and directory this is (KIP-631, KIP-858)."""

from __future__ import annotations

import random
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from kraftctl.metadata.directory_id import is_reserved
from kraftctl.storage.durable_files import create_directory, replace_file
from kraftctl.storage.errors import StorageError
from kraftctl.storage.java_properties import PropertiesError, format_properties, read_properties
from kraftctl_protocol.uuids import random_uuid, uuid_from_string, uuid_to_string

FILE_NAME = "meta.properties"


class MetaProperties:
    """`directory_id` is None in files older than Kafka 3.7; version 0 may lack the other two as well."""

    def __init__(
        self, cluster_id: str | None, node_id: int | None, directory_id: bytes | None, version: int = 1
    ) -> None:
        self.cluster_id = cluster_id
        self.node_id = node_id
        self.directory_id = directory_id
        self.version = version

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MetaProperties) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash(self._fields())

    def __repr__(self) -> str:
        directory = "none" if self.directory_id is None else uuid_to_string(self.directory_id)
        return (
            f"MetaProperties(version={self.version}, cluster.id={self.cluster_id}, node.id={self.node_id},"
            f" directory.id={directory})"
        )

    def _fields(self) -> tuple[str | None, int | None, bytes | None, int]:
        return self.cluster_id, self.node_id, self.directory_id, self.version


def read_meta_properties(log_dir: Path) -> MetaProperties | None:
    """None when `log_dir` has not been formatted. Raises StorageError when the file is no good."""
    path = log_dir / FILE_NAME
    try:
        properties = read_properties(path)
    except FileNotFoundError:
        return None
    except (OSError, PropertiesError) as error:
        raise _unusable(path, str(error)) from error
    try:
        return _parse(properties)
    except ValueError as error:
        raise _unusable(path, str(error)) from error


def _parse(properties: dict[str, str]) -> MetaProperties:
    version_text = properties.get("version", "0")
    if version_text not in ("0", "1"):
        raise ValueError(f"version {version_text} is not supported, 0 and 1 are")
    version = int(version_text)
    node_key = "node.id" if version >= 1 else "broker.id"
    node_text = properties.get(node_key)
    if version >= 1 and (node_text is None or "cluster.id" not in properties):
        raise ValueError(f"{node_key if node_text is None else 'cluster.id'} is missing")
    node_id = None
    if node_text is not None:
        try:
            node_id = int(node_text)
        except ValueError as error:
            raise ValueError(f"{node_key} {node_text!r} is not a number") from error
    directory_text = properties.get("directory.id")
    directory_id = None if directory_text is None else uuid_from_string(directory_text)
    return MetaProperties(properties.get("cluster.id"), node_id, directory_id, version)


def write_meta_properties(log_dir: Path, meta: MetaProperties, wall_ms: int) -> None:
    """Replace the file, creating `log_dir` if need be. Raises OSError."""
    assert meta.cluster_id is not None
    assert meta.node_id is not None
    create_directory(log_dir)
    properties = {"node.id": str(meta.node_id)}
    if meta.directory_id is not None:
        properties["directory.id"] = uuid_to_string(meta.directory_id)
    properties["version"] = str(meta.version)
    properties["cluster.id"] = meta.cluster_id
    written = datetime.fromtimestamp(wall_ms / 1000, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
    replace_file(log_dir / FILE_NAME, format_properties(properties, ["", written]).encode())


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
        """Refuse, with StorageError, directories that belong to different clusters, nodes, or to each other.

        None stands for "whatever the first directory says".
        """
        owners: dict[bytes, Path] = {}
        for log_dir, meta in self.formatted.items():
            path = log_dir / FILE_NAME
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
                f"{log_dir / FILE_NAME} has the reserved directory.id {name}. Next step: restore the file."
            )
        if directory_id in owners:
            raise StorageError(
                f"{owners[directory_id]} and {log_dir} have the same directory.id {name}. Next step: one is a"
                " copy of the other; remove the copy."
            )
        owners[directory_id] = log_dir

    def unused_directory_id(self, rng: random.Random) -> bytes:
        """A fresh id that no directory of this node has."""
        taken = {meta.directory_id for meta in self.formatted.values()}
        while True:
            directory_id = random_uuid(rng)
            if directory_id not in taken:
                return directory_id


def load_meta_properties(
    log_dir: Path, node_id: int, rng: random.Random, wall_ms: int
) -> tuple[MetaProperties, bytes]:
    """At start: the checked properties of `log_dir` and its directory id, which is added when missing.

    Raises StorageError when the directory is not formatted or belongs to another node.
    """
    ensemble = MetaPropertiesEnsemble([log_dir])
    if log_dir in ensemble.unreadable:
        raise StorageError(ensemble.unreadable[log_dir])
    if log_dir not in ensemble.formatted:
        raise StorageError(f"{log_dir} has not been formatted. Next step: run `kraftctl format`.")
    ensemble.verify(None, node_id)
    meta = ensemble.formatted[log_dir]
    if meta.cluster_id is None or meta.version == 0:
        raise StorageError(
            f"{log_dir / FILE_NAME} is of version 0, from a cluster that was not in KRaft mode. Next step:"
            " format a new directory."
        )
    if meta.directory_id is None:
        meta.directory_id = ensemble.unused_directory_id(rng)
        write_meta_properties(log_dir, meta, wall_ms)
    return meta, meta.directory_id


def _unusable(path: Path, reason: str) -> StorageError:
    return StorageError(
        f"{path} cannot be used: {reason}. Next step: restore the file or format the directory."
    )
