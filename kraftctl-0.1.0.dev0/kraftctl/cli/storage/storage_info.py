"""What `kraftctl storage info` prints: the directories of a node, their identity and what is wrong with them.

It looks at the directories one by one, as kafka-storage does, and reports all that is wrong.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from kraftctl.storage.errors import StorageError
from kraftctl.storage.meta_properties import read_meta_properties
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.log_file_names import META_PROPERTIES
from kraftctl_protocol.meta_properties import MetaProperties


@dataclass(frozen=True)
class StorageInfo:
    """The directories that exist, by name, the first meta.properties that is usable, and the problems."""

    directories: tuple[str, ...]
    metadata: MetaProperties | None
    problems: tuple[str, ...]

    def text(self) -> str:
        """Returns the text of kafka-storage, which ends with an empty line."""
        parts: list[str] = []
        if self.directories:
            plural = "directory" if len(self.directories) == 1 else "directories"
            parts += _list(f"Found log {plural}:", self.directories)
        if self.metadata is not None:
            pairs = ", ".join(f"{key}={value}" for key, value in sorted(self.metadata.properties().items()))
            parts += [f"Found metadata: {{{escaped(pairs)}}}", ""]
        if self.problems:
            plural = "problem" if len(self.problems) == 1 else "problems"
            parts += _list(f"Found {plural}:", self.problems)
        return "\n".join(parts)

    def value(self) -> dict[str, object]:
        """Returns the same for JSON."""
        return {
            "directories": list(self.directories),
            "metadata": None if self.metadata is None else self.metadata.properties(),
            "problems": list(self.problems),
        }


def storage_info(metadata_log_dir: str, log_dirs: list[str]) -> StorageInfo:
    found: list[str] = []
    problems: list[str] = []
    first: MetaProperties | None = None
    for log_dir in sorted({metadata_log_dir, *log_dirs}):
        directory = Path(log_dir)
        if not directory.is_dir():
            missing = "is not a directory" if directory.exists() else "does not exist"
            problems.append(f"{directory} {missing}")
            continue
        found.append(str(directory))
        try:
            meta = read_meta_properties(directory)
        except StorageError as error:
            problems.append(str(error))
            continue
        if meta is None:
            problems.append(f"{directory} is not formatted.")
        elif first is None:
            first = meta
        else:
            problems += _contradiction(directory, meta, first)
    if first is not None and first.version == 0:
        problems.append(
            f"{META_PROPERTIES} is of version 0, which nodes of a cluster with ZooKeeper have written. Next"
            " step: name another directory in log.dirs."
        )
    return StorageInfo(tuple(found), first, tuple(map(escaped, problems)))


def _contradiction(directory: Path, meta: MetaProperties, first: MetaProperties) -> list[str]:
    """Returns at most one problem, as Kafka's tool does."""
    if meta.cluster_id != first.cluster_id:
        return [f"{directory} is of the cluster {meta.cluster_id}, not of {first.cluster_id}."]
    if meta.node_id != first.node_id:
        return [f"{directory} is of the node {meta.node_id}, not of {first.node_id}."]
    return []


def _list(title: str, lines: tuple[str, ...]) -> list[str]:
    return [title, *(f"  {line}" for line in lines), ""]
