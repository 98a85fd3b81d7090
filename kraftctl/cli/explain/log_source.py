"""Reads the whole of a metadata log, from a quorum or from a directory, for `kraftctl explain`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from kraftctl import __version__
from kraftctl.cli.admin.client_config import ClientConfig
from kraftctl.explain.replayed_log import ReplayedLog
from kraftctl_observer.directory_reader import DirectoryReader
from kraftctl_observer.log_reader import LogReader, OffsetsGoneError
from kraftctl_observer.metadata_directory import MetadataDirectory
from kraftctl_observer.observer import QuorumObserver
from kraftctl_protocol.uuids import ZERO_UUID
from kraftctl_security.blocking_connection import Endpoint

SOFTWARE: Final = "kraftctl", __version__

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
    directory: Path, is_watched: Callable[[str], bool], *, assume_committed: bool
) -> ReplayedLog:
    """Reads the log of a controller's directory. Raises ObserverError, DecodeError."""
    log = _read(DirectoryReader(directory, assume_committed=assume_committed), is_watched)
    if not log.voters:
        # No snapshot has those of a static quorum.
        static = MetadataDirectory(directory).static_voters() or []
        log.voters = dict.fromkeys(static, ZERO_UUID)
    return log


def _read(reader: LogReader, is_watched: Callable[[str], bool]) -> ReplayedLog:
    attempts = ATTEMPTS
    while True:
        attempts -= 1
        try:
            return _replayed(reader, is_watched)
        except OffsetsGoneError:
            if attempts == 0:
                raise


def _replayed(reader: LogReader, is_watched: Callable[[str], bool]) -> ReplayedLog:
    log = ReplayedLog(is_watched)
    position = reader.position(0, 0)
    epoch = 0
    if position.snapshot is not None:
        log.replay_snapshot(reader.read_snapshot(position.snapshot), position.snapshot)
        epoch = position.snapshot.epoch
    if position.high_watermark > log.end_offset:
        batches = reader.read(log.end_offset, epoch, position.high_watermark)
        log.replay_batches(batches, position.high_watermark)
    return log
