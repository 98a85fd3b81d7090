"""A controller's directory whose files have valid checksums and corrupt content, and a start on it.

`kraftctl start` runs in this process, until it refuses, ends, or is an active controller (or, if it cannot
become one, until a line of its log says that it runs); then SIGTERM stops it.
"""

from __future__ import annotations

import logging
import os
import random
import re
import shutil
import signal
import struct
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from typing import TextIO

from kraftctl.cli import main
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.storage.quorum_state_store import QuorumStateStore
from kraftctl.storage.recovery import scan_file
from kraftctl_protocol.batch_framing import ATTRIBUTES_POSITION, CRC_POSITION, MAGIC
from kraftctl_protocol.control_record import encode_control_record
from kraftctl_protocol.crc32c import crc32c
from kraftctl_protocol.generated.voters_record import Endpoint, KRaftVersionFeature, Voter, VotersRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, checkpoint_file_name, segment_file_name
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch
from kraftctl_protocol.uuids import random_uuid, uuid_from_string

NODE_ID = 3000
CLUSTER_ID = "q1Sh-9_ISia_zwGINzRvyQ"
RUNNING = "Becoming the active controller"
START_SECONDS_MAX = 60.0


def raw_batch(
    base_offset: int,
    epoch: int,
    body: bytes,
    *,
    count: int = 1,
    last_offset_delta: int | None = None,
    attributes: int = 0,
    timestamp_ms: int = 0,
) -> bytes:
    """A batch with a valid checksum around any content. `body` is what follows the header."""
    delta = count - 1 if last_offset_delta is None else last_offset_delta
    covered = (
        struct.pack(">hiqqqhii", attributes, delta, timestamp_ms, timestamp_ms, -1, -1, -1, count) + body
    )
    return struct.pack(">qiibI", base_offset, 9 + len(covered), epoch, MAGIC, crc32c(covered)) + covered


def with_checksum(batch: bytes) -> bytes:
    """The same batch, its checksum made valid."""
    data = bytearray(batch)
    data[CRC_POSITION:ATTRIBUTES_POSITION] = struct.pack(">I", crc32c(bytes(data[ATTRIBUTES_POSITION:])))
    return bytes(data)


def record(
    value: bytes | None, *, key: bytes | None = None, offset_delta: int = 0, headers: bytes = b"\0"
) -> bytes:
    """One record of a batch, with its length before it."""
    body = b"\0\0" + varint(offset_delta) + _field(key) + _field(value) + headers
    return varint(len(body)) + body


def _field(content: bytes | None) -> bytes:
    return varint(-1) if content is None else varint(len(content)) + content


def varint(value: int) -> bytes:
    """A zigzag varint."""
    rest = (value << 1) ^ (value >> 63)
    data = bytearray()
    while rest > 0x7F:
        data.append(rest & 0x7F | 0x80)
        rest >>= 7
    data.append(rest)
    return bytes(data)


def control_record(control_type: int, value: bytes | None, key_version: int = 0) -> bytes:
    return record(value, key=struct.pack(">hh", key_version, control_type))


def metadata_value(message: Message, version: int | None = None) -> bytes:
    return encode_metadata_record(message, message.HIGHEST_VERSION if version is None else version)


def voters_record(
    *voter_ids: int, directory: str = "bGzDaR4ySNmJaPXzonU2CA", listener: str | None = "CONTROLLER"
) -> VotersRecord:
    return VotersRecord(
        version=0,
        voters=[
            Voter(
                voter_id=voter_id,
                voter_directory_id=uuid_from_string(directory),
                endpoints=[] if listener is None else [Endpoint(name=listener, host="127.0.0.1", port=9)],
                kraft_version_feature=KRaftVersionFeature(min_supported_version=0, max_supported_version=1),
            )
            for voter_id in voter_ids
        ],
    )


class CorruptDirectory:
    """Change the files of `path`, a stopped controller's directory, then `start`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.partition = path / PARTITION_DIRECTORY
        self.segment = self.partition / segment_file_name(0)
        self.quorum_state = self.partition / "quorum-state"
        state = QuorumStateStore(self.partition).read()
        assert state is not None
        self.epoch = state.epoch
        self.end_offset = self._end_offset()

    def _end_offset(self) -> int:
        descriptor = os.open(self.segment, os.O_RDONLY)
        try:
            return max(place.last_offset + 1 for place in scan_file(descriptor, 0, 0))
        finally:
            os.close(descriptor)

    def append(self, data: bytes) -> None:
        """To the segment."""
        with self.segment.open("ab") as file:
            file.write(data)

    def append_records(self, *messages: Message) -> None:
        """A data batch of metadata records."""
        self.append_values(*[metadata_value(message) for message in messages])

    def append_values(self, *values: bytes) -> None:
        self.append(encode_batch(self.end_offset, self.epoch, 0, list(values)))
        self.end_offset += len(values)

    def append_control(self, *messages: Message) -> None:
        records = [encode_control_record(message) for message in messages]
        self.append(encode_control_batch(self.end_offset, self.epoch, 0, records))
        self.end_offset += len(records)

    def append_body(self, body: bytes, **header: int) -> None:
        self.append(raw_batch(self.end_offset, self.epoch, body, **header))

    def write(self, name: str, content: bytes | str) -> None:
        """A file of the directory, or of `__cluster_metadata-0` in it."""
        path = self.path / name
        path.unlink(missing_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)

    def replace(self, name: str, old: str, new: str) -> None:
        text = (self.path / name).read_text()
        assert re.search(old, text), f"{old} is not in {name}"
        self.write(name, re.sub(old, new, text))

    def snapshot(self, *batches: bytes, offset: int | None = None, epoch: int | None = None) -> Path:
        """A checkpoint that ends with the log, from these batches."""
        snapshot_id = OffsetAndEpoch(
            self.end_offset if offset is None else offset, self.epoch if epoch is None else epoch
        )
        name = checkpoint_file_name(snapshot_id)
        self.write(f"{PARTITION_DIRECTORY}/{name}", b"".join(batches))
        return self.partition / name


class Snapshot:
    """The batches of a checkpoint, in any order."""

    def __init__(self, epoch: int = 1) -> None:
        self.batches = SnapshotBatches(epoch, 0)
        self.epoch = epoch

    def header(self, kraft_version: int = 0, voters: VotersRecord | None = None) -> bytes:
        return self.batches.header(0, kraft_version, voters)

    def records(self, *values: bytes) -> bytes:
        return self.batches._data(list(values))

    def control(self, *messages: Message) -> bytes:
        return self.batches._control(list(messages))

    def footer(self) -> bytes:
        return self.batches.footer()


class Outcome:
    """How a start ended. `log` has its lines, `error` what was written to standard error."""

    def __init__(self, status: int, error: str, log: str, active: bool, late: bool) -> None:
        self.status = status
        self.error = error
        self.log = log
        self.active = active
        self.late = late

    def __repr__(self) -> str:
        return f"status {self.status!r}, active {self.active}\n{self.error}\n{self.log}"


class _Stopper(logging.Handler):
    """Sends SIGTERM to this process when a line of the log says that the controller runs."""

    def __init__(self, until: str) -> None:
        super().__init__()
        self.until = until
        self.lines: list[str] = []
        self.seen = False
        self.late = False

    def emit(self, entry: logging.LogRecord) -> None:
        line = f"{entry.levelname} {entry.getMessage()}"
        if entry.exc_info:
            line += " Traceback"
        self.lines.append(line)
        if not self.seen and self.until in line:
            self.seen = True
            os.kill(os.getpid(), signal.SIGTERM)

    def give_up(self) -> None:
        self.late = True
        os.kill(os.getpid(), signal.SIGTERM)


def start(
    file: Path, until: str = RUNNING, seconds_max: float = START_SECONDS_MAX, **overrides: str
) -> Outcome:
    """Run `kraftctl start`, until its log contains `until`. Raises what would end it with a traceback."""
    arguments = ["start", str(file)]
    for key, value in overrides.items():
        arguments += ["--override", f"{key.replace('_', '.')}={value}"]
    stopper = _Stopper(until)
    timer = threading.Timer(seconds_max, stopper.give_up)
    with _captured(stopper) as error:
        timer.start()
        try:
            status = main(arguments)
        finally:
            timer.cancel()
    return Outcome(status, error.getvalue(), "\n".join(stopper.lines), stopper.seen, stopper.late)


@contextmanager
def _captured(stopper: _Stopper) -> Iterator[StringIO]:
    """Logging, as `kraftctl start` configures it, goes to `stopper`; standard error is returned."""
    import kraftctl.cli.start as command

    root = logging.getLogger()
    handlers, level, hook, stderr = list(root.handlers), root.level, sys.excepthook, sys.stderr
    configure = command.configure_logging

    def to_stopper(node_id: int | None, level: str = "info", stream: TextIO | None = None) -> None:
        root.handlers[:] = [stopper]
        root.setLevel(logging.INFO)

    command.configure_logging = to_stopper
    sys.stderr = error = StringIO()
    previous = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        yield error
    finally:
        signal.signal(signal.SIGTERM, previous)
        command.configure_logging = configure
        sys.stderr = stderr
        root.handlers[:] = handlers
        root.setLevel(level)
        sys.excepthook = hook


def properties_file(tmp_path: Path, log_dir: Path, *, static: bool = False) -> Path:
    """Of a controller alone, on any port; `static`: its voters are configured."""
    quorum = "controller.quorum.voters" if static else "controller.quorum.bootstrap.servers"
    address = f"{NODE_ID}@127.0.0.1:9" if static else "127.0.0.1:9"
    file = tmp_path / "controller.properties"
    file.write_text(
        "process.roles=controller\n"
        f"node.id={NODE_ID}\n"
        "controller.listener.names=CONTROLLER\n"
        "listeners=CONTROLLER://127.0.0.1:0\n"
        "advertised.listeners=CONTROLLER://127.0.0.1:9\n"
        f"{quorum}={address}\n"
        f"log.dirs={log_dir}\n"
    )
    return file


def make_directory(tmp_path: Path, *, static: bool = False) -> CorruptDirectory:
    """Formatted, started once, and stopped."""
    log_dir = tmp_path / "data"
    file = properties_file(tmp_path, log_dir, static=static)
    arguments = ["format", "-c", str(file), "-t", CLUSTER_ID]
    assert main([*arguments, *([] if static else ["--standalone"])]) == 0
    outcome = start(file)
    assert (outcome.status, outcome.active) == (0, True), outcome
    return CorruptDirectory(log_dir)


def copy_of(directory: CorruptDirectory, target: Path) -> CorruptDirectory:
    shutil.copytree(directory.path, target)
    return CorruptDirectory(target)


def any_uuid(seed: int) -> bytes:
    return random_uuid(random.Random(seed))
