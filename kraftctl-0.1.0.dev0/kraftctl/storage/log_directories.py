"""Checks the directories of a node together before anything is written to one of them.

The metadata log stays where it began. A start in another directory would begin an empty log: the records of
the real one would be gone, and this replica would vote a second time in epochs in which it has voted.
Kafka's controller refuses a start with `__cluster_metadata-0` in another of its directories, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from kraftctl.storage.data_directory_note import DataDirectoryNote, read_data_directory_note
from kraftctl.storage.errors import StorageError
from kraftctl.storage.meta_properties import MetaPropertiesEnsemble, read_meta_properties, refuse_version_0
from kraftctl.storage.metadata_evidence import Evidence, Shows, find_evidence
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl_protocol.java_values import split_list
from kraftctl_protocol.log_file_names import META_PROPERTIES, PARTITION_DIRECTORY
from kraftctl_protocol.uuids import uuid_to_string

METADATA_LOG_DIR: Final = "metadata.log.dir"
LOG_DIRS: Final = "log.dirs"
LOG_DIR: Final = "log.dir"

NOTHING_IS_WRITTEN: Final = "Nothing was written."
LOST_DISK_PAGE: Final = "docs/operations/lost-disk.md"
FORMAT: Final = (
    "run `kraftctl format` with the cluster id and the flags of its quorum (kraftctl format --help); if this"
    f" node was a controller before, see {LOST_DISK_PAGE} first."
)


class LogDirectories(NamedTuple):
    """The directories of the configuration; `chosen_by` has the key and value that choose
    `metadata_log_dir`.
    """

    metadata_log_dir: Path
    log_dirs: list[Path]
    chosen_by: str
    unused: tuple[Path, ...] = ()
    """The entries of a log.dir that log.dirs replaces: a log may have been in them before."""

    def all(self) -> list[Path]:
        """Returns each once, by name."""
        return sorted({self.metadata_log_dir, *self.log_dirs})

    def others(self) -> list[Path]:
        """Returns all but the directory of the metadata log."""
        return [log_dir for log_dir in self.all() if log_dir != self.metadata_log_dir]


def log_directories(
    properties: Mapping[str, str], metadata_log_dir: str, log_dirs: list[str]
) -> LogDirectories:
    """Returns the directories. Raises StorageError when two names lead to one, as Kafka does."""
    _refuse_same_directories([metadata_log_dir, *log_dirs])
    key = next((key for key in (METADATA_LOG_DIR, LOG_DIRS) if properties.get(key, "").strip()), LOG_DIR)
    unused = split_list(properties.get(LOG_DIR, ""))
    return LogDirectories(
        Path(metadata_log_dir),
        [Path(log_dir) for log_dir in log_dirs],
        f"{key}={properties.get(key, metadata_log_dir).strip()}",
        tuple(Path(name) for name in unused if name and name not in (metadata_log_dir, *log_dirs)),
    )


def check_directories(directories: LogDirectories, node_id: int) -> None:
    """Checks before a start: every directory is readable, formatted and of this node, and the log in the
    chosen one.

    Raises StorageError; nothing has been written then.
    """
    ensemble = MetaPropertiesEnsemble(directories.all())
    chosen = ensemble.formatted.get(directories.metadata_log_dir)
    ensemble.verify(None if chosen is None else chosen.cluster_id, node_id)
    refuse_log_elsewhere(directories)
    for reason in ensemble.unreadable.values():
        raise StorageError(reason)
    for log_dir in ensemble.empty:
        raise _not_formatted(log_dir, directories)
    for log_dir, meta in ensemble.formatted.items():
        if meta.version == 0:
            refuse_version_0(log_dir, meta)
        if meta.node_id is None or meta.cluster_id is None:
            raise StorageError(
                f"{log_dir / META_PROPERTIES} has no {'node.id' if meta.node_id is None else 'cluster.id'}."
                " Next step: take a directory of another kind of node out of log.dirs."
            )
    _refuse_data_directory(directories, ensemble)
    _refuse_unused_log_dir(directories, node_id)


def _refuse_same_directories(log_dirs: Iterable[str]) -> None:
    known: dict[str, str] = {}
    for log_dir in log_dirs:
        first = known.setdefault(os.path.realpath(log_dir), log_dir)
        if first != log_dir:
            raise StorageError(
                f"{first} and {log_dir} are the same directory. Next step: name it once in log.dirs, and in"
                " metadata.log.dir as it is named there."
            )


def refuse_log_elsewhere(directories: LogDirectories) -> None:
    """Raises StorageError when another directory than the chosen one shows a metadata log."""
    chosen = find_evidence(directories.metadata_log_dir)
    _refuse_renamed(chosen)
    found = [find_evidence(log_dir) for log_dir in directories.others()]
    enough = Shows.RENAMED if chosen.shows < Shows.LOG else Shows.CHOSEN
    found = [evidence for evidence in found if evidence.shows >= enough]
    if not found:
        return
    if chosen.shows is Shows.LOG or len(found) > 1:
        raise StorageError(_two_logs([chosen, *found] if chosen.shows is Shows.LOG else found))
    raise StorageError(_log_is_elsewhere(directories, found[0]))


def _refuse_renamed(chosen: Evidence) -> None:
    """Refuses a renamed log: without a recovery point, nothing else knows that this replica has voted."""
    if chosen.shows is Shows.RENAMED and not os.path.lexists(chosen.log_dir / RECOVERY_POINT):
        raise StorageError(
            f"{chosen.found} is a metadata log under another name, and {chosen.log_dir} has none under its"
            f" own: it would begin again without its records and votes. {NOTHING_IS_WRITTEN} Next step: if"
            f" this is the log of this node, give it its name {PARTITION_DIRECTORY} back; if not, move it"
            " to a place outside of this directory."
        )


def _log_is_elsewhere(directories: LogDirectories, found: Evidence) -> str:
    step = f"set metadata.log.dir={found.log_dir}"
    if found.shows is Shows.RENAMED:
        step = (
            f"if this is the log of this node, give {found.found} its name {PARTITION_DIRECTORY} back, and"
            f" {step}; if it is an old copy, move it to a place outside of log.dirs"
        )
    return (
        f"the metadata log of this node is in {found}, but {directories.chosen_by} puts it into"
        f" {directories.metadata_log_dir}: it would begin again without its records and votes."
        f" {NOTHING_IS_WRITTEN} Next step: {step}."
    )


def _two_logs(found: list[Evidence]) -> str:
    places = " and ".join(map(str, found))
    return (
        f"several directories show a metadata log: {places}. Only one of them is the log that is in"
        f" use. {NOTHING_IS_WRITTEN} Next step: find out which one it is (kraftctl dump directory"
        f" DIR). If {PARTITION_DIRECTORY} was moved, move it back to the {RECOVERY_POINT} that belongs to it."
        f" Otherwise set metadata.log.dir to that directory, move {PARTITION_DIRECTORY} and"
        f" {RECOVERY_POINT} of the other one to a place outside of log.dirs, and keep them until this node"
        " has all that the others have."
    )


def _not_formatted(log_dir: Path, directories: LogDirectories) -> StorageError:
    evidence = find_evidence(log_dir)
    if evidence.shows in (Shows.LOG, Shows.RENAMED):
        return StorageError(
            f"{log_dir} has no {META_PROPERTIES}, although it shows a metadata log: {evidence}."
            f" {NOTHING_IS_WRITTEN} Next step: restore {META_PROPERTIES}, with the directory.id that"
            f" {RECOVERY_POINT} has ({LOST_DISK_PAGE})."
        )
    if not os.path.isdir(log_dir):
        missing = "it does not exist. If its file system is not mounted, mount it"
    else:
        missing = f"it has no {META_PROPERTIES}. If the file system of its data is not mounted here, mount it"
    nested = _nested_log(log_dir)
    try:
        note = _note_of_log_in(log_dir, directories)
    except StorageError as unreadable:
        return StorageError(f"{log_dir} has not been formatted: {missing}. {unreadable}")
    if note is not None:
        step = (
            "without that, do not format it: it held the metadata log of this node at the last start"
            f" (directory.id {uuid_to_string(note.directory_id)}), as {note.path} says. If its disk is lost,"
            f" {LOST_DISK_PAGE} says what to do."
        )
    elif nested is not None:
        step = f"if the log of this node is {nested}, set metadata.log.dir={nested.log_dir}."
    else:
        step = f"if it is new, {FORMAT if log_dir == directories.metadata_log_dir else ADD_DIRECTORY}"
    return StorageError(f"{log_dir} has not been formatted: {missing}. Next step: {step}")


ADD_DIRECTORY: Final = (
    "run `kraftctl format --ignore-formatted` with the flags of the first time; or take it out of log.dirs,"
    " of which a controller uses only the one with the metadata log."
)


def _refuse_unused_log_dir(directories: LogDirectories, node_id: int) -> None:
    """Refuses a log in log.dir, which may have chosen the directory before log.dirs was set."""
    if find_evidence(directories.metadata_log_dir).shows is Shows.LOG:
        return
    for log_dir in directories.unused:
        try:
            meta = read_meta_properties(log_dir)
            evidence = find_evidence(log_dir)
        except StorageError:
            continue  # It is not in use.
        if meta is not None and meta.node_id == node_id and evidence.shows is Shows.LOG:
            raise StorageError(_log_is_elsewhere(directories, evidence))


def refuse_to_begin_again(directories: LogDirectories) -> None:
    """Protects a supervisor that formats before each start: the disk of the log may not be mounted.

    Raises StorageError when the chosen directory is not formatted, and another one has noted that the log
    was there.
    """
    log_dir = directories.metadata_log_dir
    note = None if (log_dir / META_PROPERTIES).exists() else _note_of_log_in(log_dir, directories)
    if note is not None:
        raise StorageError(
            f"{log_dir} has no {META_PROPERTIES}, and held the metadata log of this node at the last start"
            f" (directory.id {uuid_to_string(note.directory_id)}), as {note.path} says: this node would begin"
            f" again without its records and votes. {NOTHING_IS_WRITTEN} Next step: mount its file system. If"
            f" its disk is lost, do what {LOST_DISK_PAGE} says, and move {note.path} away before formatting."
        )


def _note_of_log_in(log_dir: Path, directories: LogDirectories) -> DataDirectoryNote | None:
    """Returns the note of another directory about a log that was in this one. Raises StorageError when one
    that cannot be read may say so.
    """
    for other in directories.all():
        note = None if other == log_dir else read_data_directory_note(other)
        if note is not None and note.metadata_log_dir == str(log_dir.absolute()):
            return note
    return None


def _nested_log(log_dir: Path) -> Evidence | None:
    """Finds a log in a directory below this one, or in the one above. Others, such as lost+found, may be
    unreadable.
    """
    try:
        below = [entry for entry in sorted(log_dir.iterdir()) if entry.is_dir()]
    except OSError:
        below = []
    for directory in [*below, log_dir.parent]:
        try:
            evidence = find_evidence(directory)
        except StorageError:
            continue
        if evidence.shows is Shows.LOG and evidence.found != directory:
            return evidence
    return None


def _refuse_data_directory(directories: LogDirectories, ensemble: MetaPropertiesEnsemble) -> None:
    """Refuses a missing data directory: it may have left log.dirs; the others have noted which one it was."""
    log_dir = directories.metadata_log_dir
    if find_evidence(log_dir).shows is Shows.LOG:
        return
    note = read_data_directory_note(log_dir)
    known = {meta.directory_id for meta in ensemble.formatted.values()}
    if note is None or note.directory_id in known:
        return
    raise StorageError(
        f"the metadata log of this node is in {note.metadata_log_dir} (directory.id"
        f" {uuid_to_string(note.directory_id)}), as {note.path} says, but {directories.chosen_by} puts it"
        f" into {log_dir}: it would begin again without its records and votes. {NOTHING_IS_WRITTEN} Next"
        f" step: set metadata.log.dir={note.metadata_log_dir}; if that disk is lost, {LOST_DISK_PAGE} says"
        " what to do."
    )
