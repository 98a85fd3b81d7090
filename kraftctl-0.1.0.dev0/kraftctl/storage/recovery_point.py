"""The `metadata-recovery-point` file: the promises of this replica, stored apart from the log.

It lies beside meta.properties, not in __cluster_metadata-0, so that it is still there when that directory was
moved away. It records how far the log was flushed and in which epoch this replica last took part; a log or a
quorum-state that ends earlier was lost, truncated or replaced (docs/adr/0006). It also records up to where
the log was known to be committed: nothing below that is ever truncated.

Two blocks, each with a line of a fixed length, which has a checksum. The line with the higher sequence is
valid. The one that was flushed last is not overwritten before the other one is flushed, too: however a write
ends, one good line remains, also on a disk that tears 4,096 bytes. A line is of the lowest version
that can say what it has to, so that an older release can mostly read the file: it reads the first block, and
takes the second line of that, about what is committed, for a damaged one.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Final, NamedTuple

from crc32c import crc32c

from kraftctl.raft.election_state import NOT_VOTED, ElectionState
from kraftctl.raft.replica_key import NO_DIRECTORY_ID
from kraftctl.storage.durable_files import replace_file, write_all_at
from kraftctl.storage.errors import StorageError, cannot
from kraftctl_protocol.uuids import uuid_from_string, uuid_to_string

FILE_NAME = "metadata-recovery-point"

VERSION = 2
"""Version 1 has neither the directory of a vote nor `elected` nor `log_is_whole`."""

LINE_BYTES = 512
"""A line is one sector: a power failure leaves the old line or the new one."""

BLOCK_BYTES = 4096
"""The largest sector of disks: what damages one block leaves the other as it was."""

LINE_POSITIONS: Final = (0, LINE_BYTES, BLOCK_BYTES)
"""The places of lines. An earlier release has its second line right behind the first."""

COMMITTED_POSITIONS: Final = (LINE_BYTES, BLOCK_BYTES + LINE_BYTES)

FORCE_INTERVAL_MS = 1_000
"""The offset may be this old after a power failure. A killed process leaves the exact one."""

INT32_MAX = (1 << 31) - 1
INT64_MAX = (1 << 63) - 1

NO_PROMISES = "This node must not make promises that it could lose."

VOTING = "voting"
RECOVERING = "recovering"
RECOVERING_VOTES = "recovering-votes"
RECOVERING_LOG = "recovering-log"
STATES: Final[dict[str, tuple[bool, bool | None]]] = {
    VOTING: (False, None),
    RECOVERING: (True, None),
    RECOVERING_VOTES: (True, True),
    RECOVERING_LOG: (True, False),
}
"""Maps the written states to `recovering` and `log_is_whole`."""


class RecoveryPoint(NamedTuple):
    """The promises of the replica `directory_id`, as in meta.properties. All zero: it never took part in
    the quorum.
    """

    directory_id: bytes
    quorum_epoch: int = 0
    """The highest epoch that this replica took part in: its quorum-state is never of an earlier one."""

    voted_id: int = NOT_VOTED
    """The candidate that it voted for in that epoch."""

    log_epoch: int = 0
    """The epoch of the record before `end_offset`."""

    end_offset: int = 0
    """Up to here (exclusive) the log has been forced to the disk."""

    recovering: bool = False
    """The replica lost its log or its votes, and has not yet fetched again what it may have acknowledged."""

    stopped: bool = False
    """The log ended at `end_offset` when this replica stopped: another program wrote everything after it."""

    voted_directory_id: bytes = NO_DIRECTORY_ID
    """The directory of the candidate, where it is known (KIP-853)."""

    elected: bool = False
    """Whether this replica led `quorum_epoch`: it must not lead in it again (KAFKA-10527)."""

    log_is_whole: bool | None = None
    """Whether a replica that is `recovering` has lost its votes alone. None: version 1 did not say."""

    committed_epoch: int = 0
    """The epoch of the record before `committed_end`: a log that has another one there was changed since."""

    committed_end: int = 0
    """Up to here (exclusive) the log was known to be committed when the line was written; it never falls, and
    is never beyond `end_offset`. An older line does not make it less true."""

    @property
    def has_taken_part(self) -> bool:
        return self.quorum_epoch > 0 or self.end_offset > 0 or self.recovering

    def with_election(self, state: ElectionState, *, elected: bool) -> RecoveryPoint:
        """Returns the point with the epoch of `state`, unless this one is later. A vote of the same epoch
        stays.

        `elected`: the leader in `state` is this replica. quorum-state has no vote of a leader.
        """
        if state.epoch < self.quorum_epoch:
            return self
        later = self
        if state.epoch > self.quorum_epoch:
            later = self._replace(
                quorum_epoch=state.epoch,
                voted_id=NOT_VOTED,
                voted_directory_id=NO_DIRECTORY_ID,
                elected=False,
            )
        if state.voted_id != NOT_VOTED:
            later = later._replace(voted_id=state.voted_id, voted_directory_id=state.voted_directory_id)
        return later._replace(elected=True) if elected else later

    def election(self, node_id: int) -> ElectionState:
        """Returns the quorum-state of this replica, with the id `node_id`; of leaders it knows only
        itself.
        """
        data_version = 0 if self.voted_directory_id == NO_DIRECTORY_ID else 1
        if self.elected:
            return ElectionState(epoch=self.quorum_epoch, leader_id=node_id, data_version=data_version)
        return ElectionState(
            epoch=self.quorum_epoch,
            voted_id=self.voted_id,
            voted_directory_id=self.voted_directory_id,
            data_version=data_version,
        )


class RecoveryPointFile:
    """The file, which threads may share. `point` is None until `begin`, when the directory has no file
    of this replica.
    """

    def __init__(self, log_dir: Path, now_ms: Callable[[], int]) -> None:
        self.path = log_dir / FILE_NAME
        self.point: RecoveryPoint | None = None
        self.former: RecoveryPoint | None = None
        """What the file says, if it is of another replica: it proves nothing about this one."""
        self._now_ms = now_ms
        self._lock = threading.Lock()
        self._descriptor = -1
        self._sequence = 0
        self._around_end = ("", "", "")
        """The encoded parts of `point` around the end of the log."""
        self._free_block = 0
        self._lines = b""
        """The lines that were written last."""
        self._forced_ms = 0

    @classmethod
    def open(cls, log_dir: Path, directory_id: bytes, now_ms: Callable[[], int]) -> RecoveryPointFile:
        """Reads the file, if it is of the replica `directory_id`. Raises StorageError when it is damaged."""
        file = cls(log_dir, now_ms)
        found = _read(file.path)
        if found is not None and found[1].directory_id == directory_id:
            file._sequence, file.point = found
        elif found is not None:
            file.former = found[1]
        return file

    def expect(self, point: RecoveryPoint) -> None:
        """Takes `point` without writing it: until `begin`, the file says what it said."""
        self.point = point

    def begin(self, point: RecoveryPoint) -> None:
        """Creates the file, or updates it, durably. Raises StorageError, as all methods below."""
        with self._lock:
            self.point = point
            self._around_end = _around_end(point)
            replace_file(self.path, _content(self._sequence + 1, point), note=NO_PROMISES)
            try:
                if self._descriptor >= 0:
                    os.close(self._descriptor)
                self._descriptor = os.open(self.path, os.O_RDWR)
            except OSError as error:
                raise self._not_written(error) from error
            self._sequence += 2
            self._free_block = 0
            self._forced_ms = self._now_ms()

    def note_election(self, state: ElectionState, *, elected: bool = False) -> None:
        """Notes durably that this replica takes part in the epoch of `state`, which is already in
        quorum-state.

        `elected`: as in `RecoveryPoint.with_election`.
        """
        with self._lock:
            point = self._begun()
            noted = point.with_election(state, elected=elected)
            if noted != point:
                self._write(noted)
                self._force()

    def note_durable(
        self, log_epoch: int, end_offset: int, committed_epoch: int = 0, committed_end: int = 0
    ) -> None:
        """Notes that the log is on the disk up to `end_offset`, and known to be committed up to
        `committed_end`, which is not beyond that. The file itself is forced once a second at most.
        """
        with self._lock:
            point = self._begun()
            if committed_end <= point.committed_end:
                if (log_epoch, end_offset) == (point.log_epoch, point.end_offset):
                    return
                committed_epoch, committed_end = point.committed_epoch, point.committed_end
            self._write_end(_ending_at(point, log_epoch, end_offset, committed_epoch, committed_end))
            if self._now_ms() - self._forced_ms >= FORCE_INTERVAL_MS:
                self._force()

    def force(self) -> None:
        """Makes durable what was noted last."""
        with self._lock:
            self._write(self._begun())
            self._force()

    def note_cut(self, log_epoch: int, end_offset: int) -> None:
        """Notes durably that the log will be truncated to `end_offset`, or just was: never below what is
        committed.
        """
        with self._lock:
            point = self._begun()
            assert end_offset >= point.committed_end, f"{point.committed_end} is committed, not {end_offset}"
            self._write(point._replace(log_epoch=log_epoch, end_offset=end_offset))
            self._force()

    def note_recovered(self) -> None:
        """Notes durably that this replica votes, in both lines, so that neither says it is recovering."""
        with self._lock:
            for _ in range(2):
                self._write(self._begun()._replace(recovering=False, log_is_whole=None))
                self._force()

    def close(self, *, stopped: bool) -> None:
        """Closes it durably. Without `stopped`, the log may end elsewhere than the file states."""
        with self._lock:
            if self._descriptor < 0:
                return
            try:
                self._write(self._begun()._replace(stopped=stopped))
                self._force()
            finally:
                os.close(self._descriptor)
                self._descriptor = -1

    def _begun(self) -> RecoveryPoint:
        assert self.point is not None
        return self.point

    def _write(self, point: RecoveryPoint) -> None:
        self._around_end = _around_end(point)
        self._write_end(point)

    def _write_end(self, point: RecoveryPoint) -> None:
        """Writes a `point` that differs from the last one in the end of the log, and of what is committed,
        alone.
        """
        self._sequence += 1
        line = _line(self._sequence, self._around_end, point.log_epoch, point.end_offset)
        self._lines = line + _committed_line(point.committed_epoch, point.committed_end)
        try:
            write_all_at(self._descriptor, self._lines, self._free_block * BLOCK_BYTES)
        except OSError as error:
            raise self._not_written(error) from error
        self.point = point

    def _force(self) -> None:
        """Forces the block that was written. Then the other one gets the same lines: an earlier release
        reads the first block alone, and finds the last vote there after a kill, too.
        """
        try:
            os.fdatasync(self._descriptor)
            self._free_block = 1 - self._free_block
            write_all_at(self._descriptor, self._lines, self._free_block * BLOCK_BYTES)
        except OSError as error:
            raise self._not_written(error) from error
        self._forced_ms = self._now_ms()

    def _not_written(self, error: OSError) -> StorageError:
        return cannot("write", self.path, error, NO_PROMISES)


def _ending_at(
    point: RecoveryPoint, log_epoch: int, end_offset: int, committed_epoch: int, committed_end: int
) -> RecoveryPoint:
    """Returns a copy with other ends. It avoids a call of `RecoveryPoint`, which is interpreted and
    takes 0.6 us more.
    """
    return tuple.__new__(
        RecoveryPoint,
        (
            point.directory_id,
            point.quorum_epoch,
            point.voted_id,
            log_epoch,
            end_offset,
            point.recovering,
            point.stopped,
            point.voted_directory_id,
            point.elected,
            point.log_is_whole,
            committed_epoch,
            committed_end,
        ),
    )


def create_recovery_point(log_dir: Path, directory_id: bytes) -> None:
    """Writes the file of a replica that never took part, replacing an existing one. Raises StorageError."""
    replace_file(log_dir / FILE_NAME, _content(1, RecoveryPoint(directory_id)))


def read_recovery_point(log_dir: Path) -> RecoveryPoint | None:
    """Returns None without a file: an older version, or Kafka. Raises StorageError when it is damaged."""
    found = _read(log_dir / FILE_NAME)
    return None if found is None else found[1]


def _read(path: Path) -> tuple[int, RecoveryPoint] | None:
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise cannot("read", path, error) from error
    lines = [content[position : position + LINE_BYTES] for position in LINE_POSITIONS]
    readable = [found for line in lines if (found := _decode(line)) is not None]
    newer = max(_version(line) if not readable or _is_whole(line) else 0 for line in lines)
    if newer > VERSION:
        raise StorageError(
            f"{path} is of version {newer}, {VERSION} is supported: a newer release wrote it. Next step:"
            " start a controller of that release on this directory instead."
        )
    if not readable:
        raise StorageError(
            f"{path} is damaged: neither of its two lines has a matching checksum. Next step: if"
            " __cluster_metadata-0 is as this node left it, and this node was not recovering, move the file"
            " to another place: it is made again from log and quorum-state. Otherwise restore a backup of the"
            " directory."
        )
    sequence, point = max(readable, key=_sequence_of)
    point = _with_committed(point, content)
    _check_values(path, point)
    return sequence, point


def _check_values(path: Path, point: RecoveryPoint) -> None:
    """Checks the values of a line with the right checksum: a damaged line would not have been read."""
    ranges = {
        "quorum.epoch": (point.quorum_epoch, 0, INT32_MAX),
        "voted.id": (point.voted_id, NOT_VOTED, INT32_MAX),
        "log.epoch": (point.log_epoch, 0, INT32_MAX),
        "end.offset": (point.end_offset, 0, INT64_MAX),
        "committed.epoch": (point.committed_epoch, 0, INT32_MAX),
        "committed.end": (point.committed_end, 0, INT64_MAX),
    }
    for name, (value, low, high) in ranges.items():
        if not low <= value <= high:
            raise StorageError(
                f"{path} cannot be used: {name} {value} is not from {low} to {high}, and kraftctl never"
                " writes that. Next step: restore a backup of the directory, or replace this replica"
                " (docs/operations/lost-disk.md)."
            )


def _version(line: bytes) -> int:
    """Returns the version that a line claims, readable or not; 0 when it claims none."""
    found = re.match(rb"version=(\d{1,9}) ", line)
    return 0 if found is None else int(found.group(1))


def _is_whole(line: bytes) -> bool:
    """Returns whether the line has the checksum of its text, whatever that says."""
    text, _, checksum = line.rstrip().rpartition(b" crc32c=")
    return checksum == b"%08x" % crc32c(text)


def _sequence_of(found: tuple[int, RecoveryPoint]) -> int:
    return found[0]


def _with_committed(point: RecoveryPoint, content: bytes) -> RecoveryPoint:
    """Returns the point with the latest that either block says: what was committed once remains so."""
    for position in COMMITTED_POSITIONS:
        epoch, end = _decode_committed(content[position : position + LINE_BYTES])
        if end > point.committed_end:
            point = point._replace(committed_epoch=epoch, committed_end=end)
    return point


def _committed_line(epoch: int, end: int) -> bytes:
    text = f"committed.epoch={epoch} committed.end={end}".encode()
    return (b"%s crc32c=%08x" % (text, crc32c(text))).ljust(LINE_BYTES - 1) + b"\n"


def _decode_committed(line: bytes) -> tuple[int, int]:
    """Returns an end of 0 unless `line` is exactly what `_committed_line` makes."""
    found = re.match(rb"committed\.epoch=(\d{1,10}) committed\.end=(\d{1,19}) ", line)
    if found is None:
        return 0, 0
    epoch, end = int(found.group(1)), int(found.group(2))
    return (epoch, end) if _committed_line(epoch, end) == line else (0, 0)


def _content(sequence: int, point: RecoveryPoint) -> bytes:
    """Returns a whole file, with the point in both blocks."""
    committed = _committed_line(point.committed_epoch, point.committed_end)
    blocks = [_encode(each, point) + committed for each in (sequence, sequence + 1)]
    return b"".join(block.ljust(BLOCK_BYTES - 1) + b"\n" for block in blocks)


def _encode(sequence: int, point: RecoveryPoint) -> bytes:
    return _line(sequence, _around_end(point), point.log_epoch, point.end_offset)


def _version_of(point: RecoveryPoint) -> int:
    """Returns the lowest version that can express the point."""
    has_vote_in_directory = point.voted_directory_id != NO_DIRECTORY_ID
    return 2 if has_vote_in_directory or point.elected or point.log_is_whole is not None else 1


def _around_end(point: RecoveryPoint) -> tuple[str, str, str]:
    """Returns the version, and the text before and after the end of the log."""
    version = _version_of(point)
    before = (
        f"directory.id={uuid_to_string(point.directory_id)} quorum.epoch={point.quorum_epoch}"
        f" voted.id={point.voted_id}"
    )
    if version > 1:
        before += (
            f" voted.directory.id={uuid_to_string(point.voted_directory_id)}"
            f" elected={'yes' if point.elected else 'no'}"
        )
    return str(version), before, f"state={_state_of(point)} stopped={'yes' if point.stopped else 'no'}"


def _state_of(point: RecoveryPoint) -> str:
    if not point.recovering:
        return VOTING
    if point.log_is_whole is None:
        return RECOVERING
    return RECOVERING_VOTES if point.log_is_whole else RECOVERING_LOG


def _line(sequence: int, around_end: tuple[str, str, str], log_epoch: int, end_offset: int) -> bytes:
    """Encodes a line, for which every commit waits: what stays the same is not encoded again (2.2 us,
    not 2.8).
    """
    version, before, after = around_end
    end = f"log.epoch={log_epoch} end.offset={end_offset}"
    text = f"version={version} sequence={sequence} {before} {end} {after}".encode()
    line = b"%s crc32c=%08x" % (text, crc32c(text))
    assert len(line) < LINE_BYTES
    return line.ljust(LINE_BYTES - 1) + b"\n"


def _decode(line: bytes) -> tuple[int, RecoveryPoint] | None:
    """Returns None unless `line` is exactly what `_encode` makes of its values."""
    try:
        fields = dict(word.split("=", 1) for word in line.decode("ascii").split())
        directory_id = fields.get("voted.directory.id")
        recovering, log_is_whole = STATES[fields["state"]]
        point = RecoveryPoint(
            directory_id=uuid_from_string(fields["directory.id"]),
            quorum_epoch=int(fields["quorum.epoch"]),
            voted_id=int(fields["voted.id"]),
            log_epoch=int(fields["log.epoch"]),
            end_offset=int(fields["end.offset"]),
            recovering=recovering,
            stopped=fields["stopped"] == "yes",
            voted_directory_id=NO_DIRECTORY_ID if directory_id is None else uuid_from_string(directory_id),
            elected=fields.get("elected") == "yes",
            log_is_whole=log_is_whole,
        )
        sequence = int(fields["sequence"])
    except (ValueError, KeyError):
        return None
    return (sequence, point) if _encode(sequence, point) == line else None
