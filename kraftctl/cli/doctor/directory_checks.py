"""Checks the directories without a lock: identity, halt, owner, room, and how long the disk takes."""

from __future__ import annotations

import errno
import math
import os
import resource
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from kraftctl.cli.doctor.diagnosis import ERROR, UNKNOWN, WARN, Diagnosis, of_sentence, ok
from kraftctl.cli.doctor.subject import Subject
from kraftctl.operate.readiness import FREE_BYTES_MIN
from kraftctl.server.listeners.descriptors import CONNECTIONS_MIN, connections_max
from kraftctl.server.process.clock import Clock
from kraftctl.storage.directory_lock import FILE_NAME as LOCK_FILE
from kraftctl.storage.directory_lock import is_in_use
from kraftctl.storage.errors import StorageError
from kraftctl.storage.halt import FILE_NAME as HALT_FILE
from kraftctl.storage.leader_epoch_checkpoint import FILE_NAME as LEADER_EPOCHS
from kraftctl.storage.log_directories import check_directories, log_directories
from kraftctl.storage.partition_metadata import FILE_NAME as PARTITION_METADATA
from kraftctl.storage.readable_log import why_readable
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.counted_text import counted
from kraftctl_protocol.file_errors import file_error
from kraftctl_protocol.log_file_names import (
    BOOTSTRAP_CHECKPOINT,
    CHECKPOINT_SUFFIX,
    INDEX_SUFFIX,
    LOG_SUFFIX,
    META_PROPERTIES,
    PARTITION_DIRECTORY,
    QUORUM_STATE,
    TIME_INDEX_SUFFIX,
)
from kraftctl_protocol.uuids import uuid_to_string

LOG_DIR_KEY: Final = "metadata.log.dir"

READ_BESIDE: Final = (META_PROPERTIES, BOOTSTRAP_CHECKPOINT, RECOVERY_POINT, LOCK_FILE)
READ_NAMES: Final = (QUORUM_STATE, LEADER_EPOCHS, PARTITION_METADATA, WITNESS)
WRITTEN_SUFFIXES: Final = (LOG_SUFFIX, INDEX_SUFFIX, TIME_INDEX_SUFFIX)
"""A start is refused without these files of the directory and of its partition, if they are there."""

FREE_BYTES_WARNING: Final = 1024 * 1024 * 1024
"""A snapshot is written beside the one before, and Kafka's default keeps 100 MiB of log."""

FSYNCS_COUNT: Final = 50
FSYNC_BYTES: Final = 4096
FSYNC_SECONDS_MAX: Final = 5.0
NO_UNNAMED_FILES: Final = (errno.EOPNOTSUPP, errno.EISDIR)
"""NFS and overlays, and kernels before 3.11; a file with a name might remain in the directory."""
FSYNC_WARNING_MS: Final = 50.0
"""Each commit waits for a flush of a majority."""

CONNECTIONS_WARNING: Final = 512
ODD_OPEN_FILES: Final = 32
"""Descriptors that a process has open before its listeners."""


def check_identity(subject: Subject) -> Iterator[Diagnosis]:
    """Checks meta.properties of all directories as a start does, and whether this controller has halted."""
    config = subject.checked()
    try:
        directories = log_directories(config.originals, config.metadata_log_dir, config.log_dirs)
        check_directories(directories, config.node_id)
    except StorageError as error:
        yield of_sentence(ERROR, str(error), config.originals, key=LOG_DIR_KEY)
        return
    meta = subject.meta()
    if meta is not None:
        directory_id = "none yet" if meta.directory_id is None else uuid_to_string(meta.directory_id)
        yield ok(f"cluster.id {meta.cluster_id}, directory.id {directory_id}", LOG_DIR_KEY)
    halted = Path(config.metadata_log_dir) / HALT_FILE
    if halted.exists():
        yield Diagnosis(ERROR, f"{halted} says that it has halted", "kraftctl end-halt --help", LOG_DIR_KEY)


def check_access(subject: Subject) -> Iterator[Diagnosis]:
    """Checks owners and modes of the directory of the metadata log and of what is in it."""
    log_dir = Path(subject.checked().metadata_log_dir)
    if not os.path.lexists(log_dir):
        return  # The check of the identity says so, and how to format it.
    try:
        status = log_dir.stat()
        strangers = _of_other_owners(log_dir, status.st_uid)
    except OSError as error:
        yield of_sentence(ERROR, file_error("read", log_dir, error, named_by=LOG_DIR_KEY), (), LOG_DIR_KEY)
        return
    is_found = False
    if not os.access(log_dir, os.R_OK | os.W_OK | os.X_OK):
        text = f"this account cannot write to {log_dir}, whose owner is {status.st_uid}"
        yield Diagnosis(ERROR, text, "run as its owner, or chown it", LOG_DIR_KEY)
        is_found = True
    elif (unusable := _unusable(log_dir)) is not None:
        text = f"this account cannot read and write {unusable}"
        yield Diagnosis(ERROR, text, "run as its owner, or chmod u+rw (of a directory u+rwx)", LOG_DIR_KEY)
        is_found = True
    for path, owner in strangers[:3]:
        text = f"{path} belongs to account {owner}, and the directory to {status.st_uid}"
        yield Diagnosis(WARN, text, f"chown {status.st_uid} {path}", LOG_DIR_KEY)
        is_found = True
    readable = why_readable(log_dir)
    if readable is not None:
        yield of_sentence(WARN, readable, (), LOG_DIR_KEY)
    elif not is_found:
        yield ok(f"owner {status.st_uid}, mode {stat.S_IMODE(status.st_mode):04o}", LOG_DIR_KEY)


def check_room(subject: Subject) -> Iterator[Diagnosis]:
    """Checks the room on the disk of the metadata log."""
    log_dir = subject.checked().metadata_log_dir
    if not os.path.lexists(log_dir):
        return
    try:
        found = os.statvfs(log_dir)
    except OSError as error:
        yield of_sentence(UNKNOWN, file_error("look at", log_dir, error), (), LOG_DIR_KEY)
        return
    yield judged_room(log_dir, found.f_bavail * found.f_frsize)


def judged_room(log_dir: str, free_bytes: int) -> Diagnosis:
    """Judges the room on the disk of a directory."""
    text = f"{free_bytes // (1024 * 1024):,} MiB are free on the disk of {log_dir}"
    if free_bytes >= FREE_BYTES_WARNING:
        return ok(text, LOG_DIR_KEY)
    level = ERROR if free_bytes < FREE_BYTES_MIN else WARN
    return Diagnosis(level, text, "make room, and leave the files of the controller as they are", LOG_DIR_KEY)


def check_flushes(subject: Subject) -> Iterator[Diagnosis]:
    """Measures how long the disk takes to force 4 KiB, in a file that has no name.

    A running controller waits for the same disk, so nothing is measured beside one.
    """
    config = subject.checked()
    if not os.path.lexists(config.metadata_log_dir):
        return
    try:
        if is_in_use(Path(config.metadata_log_dir)):
            text = "not measured: a controller runs; see its metrics (kraftctl_disk_wait_seconds)"
            yield ok(text, LOG_DIR_KEY)
            return
        taken_ms = _flushes_ms(config.metadata_log_dir, subject.clock)
    except OSError as error:
        if error.errno in NO_UNNAMED_FILES:
            yield ok("not measured: this file system has no files without a name", LOG_DIR_KEY)
            return
        path = config.metadata_log_dir
        yield of_sentence(UNKNOWN, file_error("write to", path, error), (), LOG_DIR_KEY)
        return
    yield judged_flushes(taken_ms, config.controller_quorum_fetch_timeout_ms)


def judged_flushes(taken_ms: list[float], fetch_timeout_ms: int) -> Diagnosis:
    """Judges sorted durations: a leader whose flushes take as long as followers wait loses them."""
    p99_ms = taken_ms[math.ceil(0.99 * len(taken_ms)) - 1]
    median_ms = taken_ms[len(taken_ms) // 2]
    text = f"fsync of {counted(len(taken_ms), 'write')}: median {median_ms:.1f} ms, p99 {p99_ms:.1f} ms"
    if p99_ms < FSYNC_WARNING_MS:
        return ok(text, LOG_DIR_KEY)
    level = ERROR if p99_ms >= fetch_timeout_ms / 2 else WARN
    return Diagnosis(level, text, "use a disk of its own, without a network", LOG_DIR_KEY)


def check_open_files(subject: Subject) -> Iterator[Diagnosis]:
    """Checks how many connections the hard limit of open files allows."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield judged_limit(hard)


def judged_limit(hard: int) -> Diagnosis:
    """Judges the hard limit of open files, to which a start raises its own."""
    if hard == resource.RLIM_INFINITY:
        return ok("open files have no limit")
    allowed = connections_max(hard, ODD_OPEN_FILES, 0)
    text = f"the hard limit of open files is {hard}: it allows {counted(allowed, 'connection')}"
    if allowed >= CONNECTIONS_WARNING:
        return ok(text)
    level = ERROR if allowed <= CONNECTIONS_MIN else WARN
    return Diagnosis(level, text, "raise it: ulimit -Hn, LimitNOFILE of systemd")


def _flushes_ms(directory: str, clock: Clock) -> list[float]:
    """Returns the sorted durations. Raises OSError."""
    taken_ms: list[float] = []
    data = bytes(FSYNC_BYTES)
    began_ns = clock.now_ns()
    descriptor = os.open(directory, os.O_TMPFILE | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        while len(taken_ms) < FSYNCS_COUNT:
            before_ns = clock.now_ns()
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            now_ns = clock.now_ns()
            taken_ms.append((now_ns - before_ns) / 1e6)
            if now_ns - began_ns > FSYNC_SECONDS_MAX * 1e9:
                break
    return sorted(taken_ms)


def _unusable(log_dir: Path) -> Path | None:
    """Returns the first of what a controller reads and writes below its directory that this account may not;
    None without any. Files of others, such as a copy that root has made, do not matter to it.
    """
    partition = log_dir / PARTITION_DIRECTORY
    if partition.is_dir() and not os.access(partition, os.R_OK | os.W_OK | os.X_OK):
        return partition
    files = [log_dir / name for name in READ_BESIDE]
    files += sorted(partition.iterdir()) if partition.is_dir() else []
    for path in files:
        is_written = path.name == LOCK_FILE or path.suffix in WRITTEN_SUFFIXES
        is_read = path.parent == log_dir or path.name in READ_NAMES or path.suffix == CHECKPOINT_SUFFIX
        needed = os.R_OK | os.W_OK if is_written else os.R_OK
        if (is_written or is_read) and path.is_file() and not os.access(path, needed) and path.exists():
            return path
    return None


def _of_other_owners(log_dir: Path, owner: int) -> list[tuple[Path, int]]:
    """Returns files of a controller that belong to another account than the directory does."""
    partition = log_dir / PARTITION_DIRECTORY
    paths = [log_dir / META_PROPERTIES, partition]
    if partition.is_dir():
        paths += sorted(partition.iterdir())
    found: list[tuple[Path, int]] = []
    for path in paths:
        try:
            status = path.stat()
        except FileNotFoundError:
            continue  # a running controller has removed it
        if status.st_uid != owner:
            found.append((path, status.st_uid))
    return found
