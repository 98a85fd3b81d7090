"""Each call on each file of a controller fails: the text has path, action and a step that loses nothing."""

from __future__ import annotations

import contextlib
import errno
import io
import logging
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.start import load_config, open_directory
from kraftctl.config.controller_config import ConfigException
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.election_state import ElectionState
from kraftctl.server.controller_server import open_partition, peers_context
from kraftctl.server.logs.log_files import LogFiles
from kraftctl.server.process.clock import Clock
from kraftctl.server.process.snapshot_downloads import SnapshotDownloads
from kraftctl.server.security.local_users import read_local_users
from kraftctl.storage.bootstrap_checkpoint import read_bootstrap_checkpoint
from kraftctl.storage.control_history import read_control_history
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl_observer.directory_reader import DirectoryReader
from kraftctl_observer.log_reader import ObserverError
from kraftctl_protocol.file_errors import NEXT_STEPS, OTHERWISE, file_error, unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.log_file_names import CHECKPOINT_SUFFIX, INDEX_SUFFIX, LOG_SUFFIX, PARTITION_DIRECTORY
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_security.sasl.jaas_file import read_jaas_file
from kraftctl_security.tls.store_error import StoreError
from tests.storage.batches import batch
from tests.storage.log_dirs_cases import CLUSTER_ID, NODE_ID
from tests.support.certificates import Authority, properties_of
from tests.support.controller_properties import controller_properties
from tests.support.failing_files import Call, FailingFiles

NUMBERS = (
    *(errno.ENOSPC, errno.EACCES, errno.EROFS, errno.EIO, errno.ELOOP, errno.ENOTDIR, errno.EISDIR),
    *(errno.EPERM, errno.EDQUOT, errno.ENXIO, errno.EMFILE, errno.ENAMETOOLONG, errno.EFBIG, errno.ESTALE),
)
OF_FORMAT = ("-t", CLUSTER_ID, "--standalone", "-c")
LISTED = os.listdir
"""As it is when nothing fails."""
REFUSALS = (StorageError, ConfigException, StoreError, PropertiesError)
BAD_ADVICE = re.compile(
    r"\b(re)?formats?\b|\bdelet|\bremove|\bwipe|\bclean|\berase|\brm\b|\bempty\b", re.IGNORECASE
)

TOLERATED = {
    ("open", "b/metadata-log-dir"): "it is written again",
    ("read", "b/metadata-log-dir"): "it is written again",
    ("stat", "stores/keystore.pem"): "to notice changes only: it is opened next",
    ("stat", "stores/truststore.pem"): "to notice changes only: it is opened next",
    ("fsync", "audit.log"): "its last lines may be lost with the machine, not with the process",
}


@pytest.fixture(scope="module")
def origin(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a controller has before its start; it is copied to `root` of each test."""
    root = tmp_path_factory.mktemp("origin") / "node"
    root.mkdir()
    authority = Authority()
    stores = properties_of(authority.issue("CN=a"), authority, root / "stores")
    (root / "users").write_text("SCRAM-SHA-512=[name=controller,password=hunter2]\n")
    (root / "users").chmod(0o600)
    (root / "jaas.conf").write_text("")
    properties = {
        **controller_properties(f"{root}/a,{root}/b", node_id=NODE_ID),
        "listener.security.protocol.map": "CONTROLLER:SSL",
        "kraftctl.audit.log.path": str(root / "audit.log"),
        "kraftctl.scram.users.path": str(root / "users"),
        "internal.metadata.log.segment.bytes": "300",
        **stores,
    }
    (root / "controller.properties").write_text(
        "".join(f"{key}={value}\n" for key, value in properties.items())
    )
    return root


@pytest.fixture(scope="module")
def lived(origin: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """After two lives: its files are there, and it has stopped."""
    root = copied(origin, tmp_path_factory.mktemp("lived") / "node")
    assert command("format", *OF_FORMAT, f"{root}/controller.properties") == ""
    for _ in range(2):
        live(root)
    return root


def command(*arguments: str) -> str:
    """What `kraftctl` writes to standard error, or what it says that it ignores."""
    printed = io.StringIO()
    said = io.StringIO()
    with contextlib.redirect_stderr(printed), contextlib.redirect_stdout(said):
        status = main(list(arguments))
    assert (status == 0) is (printed.getvalue() == "")
    ignored = [line for line in said.getvalue().splitlines() if line.startswith("Ignoring")]
    return printed.getvalue() or "\n".join(ignored)


def live(root: Path) -> None:
    """Everything that a controller does with files, on this thread."""
    config = load_config(root / "controller.properties", [])
    read_jaas_file({"KAFKA_OPTS": f"-Djava.security.auth.login.config={root}/jaas.conf"})
    meta, lock = open_directory(config)
    try:
        read_local_users(config)
        peers_context(config)
        with LogFiles(config.audit, CLUSTER_ID, NODE_ID, Clock()):
            read_bootstrap_checkpoint(root / "a")
            with contextlib.closing(open_partition(config, meta, lambda: 10**12)) as partition:
                run(partition)
    finally:
        lock.release()


def run(partition: MetadataPartition) -> None:
    """An election, appends into several segments, a snapshot, retention, a truncation, a download."""
    read_control_history(partition.log, partition.snapshots)
    state = partition.read_quorum_state()
    epoch = 1 if state is None else state.epoch + 1
    partition.write_quorum_state(ElectionState(epoch=epoch, leader_id=NODE_ID, data_version=1))
    first = partition.log.end_offset
    for _ in range(6):
        partition.log.append(batch(partition.log.end_offset, epoch, value=b"x" * 100))
        partition.flush()
    partition.log.read(first, 1_000)
    content = SnapshotBatches(epoch, 0)
    snapshot_id = OffsetAndEpoch(partition.log.end_offset - 2, epoch)
    partition.write_snapshot_part(snapshot_id, [content.header(0)], 0)
    partition.write_snapshot(snapshot_id, [content.footer()], len(content_of(partition)))
    partition.read_snapshot_slice(snapshot_id, 0, 100)
    partition.clean(10**12, retention_bytes=1, retention_ms=1)
    partition.truncate_log(partition.log.end_offset - 1)
    downloads = SnapshotDownloads(partition.snapshots)
    data = partition.read_snapshot_slice(snapshot_id, 0, 10_000)
    beyond = OffsetAndEpoch(partition.log.end_offset + 5, epoch)
    downloads.save(beyond, 0, data)
    downloads.finish(beyond)
    partition.start_over_at(beyond)


def content_of(partition: MetadataPartition) -> bytes:
    writer = partition.snapshots._unfinished
    assert writer is not None
    return b"x" * writer.size_bytes


def copied(origin: Path, root: Path) -> Path:
    if root.exists():
        shutil.rmtree(root)
    shutil.copytree(origin, root)
    file = root / "controller.properties"
    file.write_text(file.read_text().replace(str(origin), str(root)))
    return root


def calls_of(act: Callable[[Path], object], origin: Path, root: Path) -> list[Call]:
    """All that it makes when nothing fails."""
    files = FailingFiles(copied(origin, root))
    with files.active():
        act(root)
    return files.seen


def problem(act: Callable[[Path], str], origin: Path, root: Path, call: Call, number: int) -> str | None:
    """What is wrong with the text that the operator gets; None when nothing is."""
    files = FailingFiles(copied(origin, root))
    with files.active(call, number):
        try:
            text = act(root)
        except OSError as error:
            text = f"a bare {error!r}"
    assert files.has_failed, call
    why = why_unhelpful(text, root, call, number)
    return None if why is None else f"{call} with {errno.errorcode[number]}: {why}: {text}"


def why_unhelpful(text: str, root: Path, call: Call, number: int) -> str | None:
    said, _, step = text.replace(str(root), "ROOT").partition("Next step: ")
    path = call.path.removesuffix(".tmp")
    if not text and (path.endswith(INDEX_SUFFIX) or (call.name, path) in TOLERATED):
        return None  # An index is a hint for the exporter.
    if not re.search(r"\b(cannot|is in use|are the same|has not been)\b", said):
        return "no action"
    if "ROOT/" not in said or not any(part in said for part in (path, str(Path(path).parent))):
        return "no path"
    if "Errno" in text:
        return "the number of an error"
    if "is in use" not in said and os.strerror(number) not in said:
        return "another reason"
    if not step:
        return "no next step"
    found = BAD_ADVICE.search(step)
    return None if found is None else f"advises '{found.group()}'"


def said_by_a_life(root: Path) -> str:
    """Why it ended, else what it has logged."""
    logged = Logged()
    logger = logging.getLogger("kraftctl")
    logger.addHandler(logged)
    try:
        live(root)
    except REFUSALS as error:
        return str(error)
    finally:
        logger.removeHandler(logged)
    return "\n".join(logged.lines)


class Logged(logging.Handler):
    """Warnings and errors."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())


def chosen(calls: list[Call]) -> list[Call]:
    """The first and the last on each kind of file: they differ in what the controller does then."""
    first = {kind_of(call): call for call in reversed(calls)}
    last = {kind_of(call): call for call in calls}
    return sorted({*first.values(), *last.values()}, key=calls.index)


def kind_of(call: Call) -> tuple[str, str]:
    """All segments are one, and so are all checkpoints."""
    return call.name, re.sub(r"\d{5,}", "N", call.path)


def problems_of(
    act: Callable[[Path], str], origin: Path, root: Path, calls: list[Call], numbers: tuple[int, ...]
) -> list[str]:
    """Each call with one of `numbers`, in turn."""
    tried = [(call, numbers[at % len(numbers)]) for at, call in enumerate(calls)]
    found = [problem(act, origin, root, call, number) for call, number in tried]
    return [each for each in found if each is not None]


@pytest.mark.prevents("advice-that-deletes")
def test_each_call_of_a_life(lived: Path, tmp_path: Path) -> None:
    root = tmp_path / "node"
    calls = chosen(calls_of(live, lived, root))
    assert len(calls) > 120
    found = problems_of(said_by_a_life, lived, root, calls, NUMBERS)
    assert not found, "\n".join(found)


@pytest.mark.long
@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: errno.errorcode[number])
def test_each_call_of_a_life_with_each_errno(lived: Path, tmp_path: Path, number: int) -> None:
    root = tmp_path / "node"
    calls = calls_of(live, lived, root)
    found = problems_of(said_by_a_life, lived, root, calls, (number,))
    assert not found, "\n".join(found)


def said_by_format(root: Path) -> str:
    return command("format", *OF_FORMAT, f"{root}/controller.properties")


def said_by_dump(root: Path) -> str:
    """Of the directory, its segments and its checkpoints."""
    directory = f"{root}/a/{PARTITION_DIRECTORY}"
    names = sorted(LISTED(directory))
    said = command("dump", "directory", f"{root}/a")
    for kind, suffix in (("log", LOG_SUFFIX), ("snapshot", CHECKPOINT_SUFFIX)):
        files = [f"{directory}/{name}" for name in names if name.endswith(suffix)]
        said += command("dump", "--batches-only", kind, *files)
    return said


def said_by_the_exporter(root: Path) -> str:
    """Which reads all that is committed."""
    try:
        reader = DirectoryReader(root / "a", assume_committed=True)
        position = reader.position(0, 0)
        assert position.snapshot is not None
        batches = list(reader.read_snapshot(position.snapshot))
        batches += reader.read(position.snapshot.offset, position.snapshot.epoch, position.high_watermark)
    except ObserverError as error:
        return f"{error}"
    assert len(batches) > 4
    return ""


@pytest.fixture(scope="module")
def readable(lived: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its log has several segments behind a snapshot."""
    root = copied(lived, tmp_path_factory.mktemp("readable") / "node")
    config = load_config(root / "controller.properties", [])
    meta, lock = open_directory(config)
    with contextlib.closing(open_partition(config, meta, lambda: 10**12)) as partition:
        state = partition.read_quorum_state()
        assert state is not None
        for _ in range(4):
            partition.log.append(batch(partition.log.end_offset, state.epoch, value=b"x" * 100))
            partition.flush()
    lock.release()
    return root


@pytest.mark.parametrize(
    ("act", "directory", "calls_min"),
    [
        pytest.param(said_by_format, "origin", 30, id="format"),
        pytest.param(said_by_dump, "readable", 15, id="dump"),
        pytest.param(said_by_the_exporter, "readable", 15, id="exporter"),
    ],
)
def test_each_call_of_a_command(
    request: pytest.FixtureRequest, tmp_path: Path, act: Callable[[Path], str], directory: str, calls_min: int
) -> None:
    root, origin = tmp_path / "node", request.getfixturevalue(directory)
    calls = chosen(calls_of(act, origin, root))
    assert len(calls) > calls_min
    for numbers in (NUMBERS, NUMBERS[5:] + NUMBERS[:5]):
        found = problems_of(act, origin, root, calls, numbers)
        assert not found, "\n".join(found)


ALL_NUMBERS = sorted({*errno.errorcode, *NEXT_STEPS})


@pytest.mark.prevents("advice-that-deletes")
@pytest.mark.parametrize("number", ALL_NUMBERS, ids=lambda number: errno.errorcode.get(number, f"{number}"))
def test_each_errno_of_the_system_has_a_next_step(number: int) -> None:
    error = OSError(number, os.strerror(number))
    text = file_error("write", "/a/quorum-state", error, note="It may hold a vote.", named_by="log.dirs")
    said, _, step = text.partition("Next step: ")
    assert said == f"cannot write /a/quorum-state: {os.strerror(number)}. It may hold a vote. "
    assert step.endswith(".")
    assert BAD_ADVICE.search(step) is None
    assert (NEXT_STEPS.get(number) or OTHERWISE) in step


def test_an_error_that_nobody_has_described_keeps_its_path() -> None:
    error = OSError(errno.EIO, os.strerror(errno.EIO), "/a/b")
    assert unplaced_error(error).startswith("cannot use /a/b: Input/output error. Next step: ")
    assert unplaced_error(OSError("no free port")) == "no free port"
