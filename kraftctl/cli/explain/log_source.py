"""Reads the whole of a metadata log, from a quorum or from a directory, for `kraftctl explain`."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from itertools import takewhile
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from kraftctl import SOFTWARE
from kraftctl.explain.as_of import AsOf, check_known
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl_admin.client_config import ClientConfig
from kraftctl_observer.directory_reader import DirectoryReader
from kraftctl_observer.log_reader import LogReader, ObserverError, OffsetsGoneError
from kraftctl_observer.metadata_directory import MetadataDirectory
from kraftctl_observer.observer import QuorumObserver
from kraftctl_protocol.uuids import ZERO_UUID
from kraftctl_security.blocking_connection import Endpoint

EXPORTER: Final = "kraftctl_spark.cli"

ATTEMPTS: Final = 3
"""The number of attempts when the leader deletes what is being read, and has a newer snapshot."""


def read_quorum(
    bootstrap: list[Endpoint], config: ClientConfig, timeout_s: float, is_watched: Callable[[str], bool]
) -> ReplayedLog:
    """Reads from the leader, which has `timeout_s` for each response. Raises ObserverError, DecodeError."""
    observer = QuorumObserver(
        bootstrap,
        client_id=config.client_id,
        software=SOFTWARE,
        timeout_s=timeout_s,
        say_after_s=2 * timeout_s,  # The error says the same.
        read_security=lambda: config.security,
    )
    try:
        return _read(observer, is_watched)
    finally:
        observer.close()


def read_directory(
    directory: Path,
    is_watched: Callable[[str], bool],
    *,
    assume_committed: bool,
    as_of: AsOf | None = None,
) -> ReplayedLog:
    """Reads the log of a controller's directory. Raises ObserverError, DecodeError, NotKnownError."""
    reader = DirectoryReader(directory, assume_committed=assume_committed)
    log = _read(reader, is_watched, as_of)
    log.held_back = reader.held_back
    if not log.voters:
        # No snapshot has those of a static quorum.
        static = MetadataDirectory(directory).static_voters() or []
        log.voters = dict.fromkeys(static, ZERO_UUID)
    log.is_assumed = assume_committed and len(log.voters) > 1
    return log


def read_history(tables: Path, is_watched: Callable[[str], bool], place: str | None) -> ReplayedLog:
    """Reads the tables of `kraftctl-export run`, which writes them as a log. Raises as `read_directory`.

    The exporter is another distribution's worth of libraries, so it is a process of its own.
    """
    with TemporaryDirectory(prefix="kraftctl-explain-") as scratch:
        log = Path(scratch) / "log"
        command = [sys.executable, "-m", EXPORTER, "log", "--output", str(tables), "--to", str(log)]
        command += [] if place is None else ["--as-of", place]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            reason = done.stderr.strip().rpartition("\n")[2] or f"status {done.returncode}"
            raise ObserverError(f"{tables} cannot be read: {reason}")
        replayed = read_directory(log, is_watched, assume_committed=True)
        replayed.is_assumed = False  # The exporter writes only what is committed.
        return replayed


def _read(reader: LogReader, is_watched: Callable[[str], bool], as_of: AsOf | None = None) -> ReplayedLog:
    attempts = ATTEMPTS
    while True:
        attempts -= 1
        try:
            return _replayed(reader, is_watched, as_of)
        except OffsetsGoneError:
            if attempts == 0:
                raise


def _replayed(reader: LogReader, is_watched: Callable[[str], bool], as_of: AsOf | None) -> ReplayedLog:
    log = ReplayedLog(is_watched)
    position = reader.position(0, 0)
    epoch = 0
    if position.snapshot is not None:
        log.replay_snapshot(reader.read_snapshot(position.snapshot), position.snapshot)
        epoch = position.snapshot.epoch
    end_offset = position.high_watermark
    if end_offset > log.end_offset:
        batches = reader.read(log.end_offset, epoch, end_offset)
        log.replay_batches(batches if as_of is None else takewhile(as_of.includes, batches), end_offset)
    if as_of is not None:
        check_known(log, as_of, position.high_watermark)
    return log
