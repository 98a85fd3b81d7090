"""After a full disk or a failing fsync nothing is acknowledged any more, and the process stops."""

from __future__ import annotations

import asyncio
import errno
import os
import random
import resource
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.server.controller_server import run_controller
from kraftctl.storage.errors import StorageError
from kraftctl.storage.recovery_point import FILE_NAME as RECOVERY_POINT
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.file_errors import NEXT_STEPS
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from kraftctl_protocol.uuids import random_uuid
from tests.support.controller_properties import controller_properties
from tests.support.failing_files import Call, FailingFiles
from tests.support.wire.controller_client import ControllerClient, StandInBroker

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
ROOM_BYTES = 64 * 1024
TOPICS_MAX = 10_000


def topic(name: str) -> CreateTopicsRequest:
    return CreateTopicsRequest(topics=[CreatableTopic(name=name, num_partitions=20, replication_factor=1)])


def topics_on_disk(log_dir: Path) -> set[str]:
    """What a recovery would find, without a torn tail."""
    data = (log_dir / "__cluster_metadata-0" / f"{0:020d}.log").read_bytes()
    found: set[str] = set()
    for batch in read_batches(data, partial_tail=True):
        if not batch.header.is_control:
            decoded = [decode_metadata_record(entry.value or b"").record for entry in batch.records]
            found |= {record.name for record in decoded if isinstance(record, TopicRecord)}
    return found


def start_broker(client: ControllerClient, broker_id: int) -> None:
    """Registered and unfenced, as soon as the controller is active."""
    broker = StandInBroker(client, broker_id, CLUSTER_ID)
    await_result(broker.register, f"broker {broker_id} is registered", 30.0)
    await_result(broker.is_unfenced, f"broker {broker_id} is unfenced", 30.0)


def create_until_refused(port: int, before: Callable[[int], None]) -> set[str]:
    """The topics whose creation was acknowledged before the connection broke."""
    acknowledged: set[str] = set()
    with ControllerClient(port) as client:
        start_broker(client, 1)
        for number in range(TOPICS_MAX):
            before(number)
            name = f"topic-{number}"
            try:
                answer = client.call(topic(name), 7, CreateTopicsResponse)
            except OSError:
                return acknowledged
            assert answer.topics[0].error_code == Errors.NONE, answer
            acknowledged.add(name)
    raise AssertionError("nothing ever failed")


@pytest.mark.slow
def test_a_full_disk_stops_the_process_and_loses_nothing(tmp_path: Path) -> None:
    """A limit on the size of a file makes writes fail in the middle of a batch, as a full disk does."""
    node = KraftctlController(3000, tmp_path, CLUSTER_ID)
    node.format()
    node.start()
    process = node.process
    assert process is not None

    def fill(number: int) -> None:
        if number == 10:
            resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (ROOM_BYTES, ROOM_BYTES))

    acknowledged = create_until_refused(node.port, fill)
    assert process.wait(30.0) == 1
    assert "File too large" in process.tail()
    assert len(acknowledged) > 10
    assert acknowledged <= topics_on_disk(node.log_directory)

    node.start()
    with ControllerClient(node.port) as client:
        start_broker(client, 2)
        answer = client.call(topic(min(acknowledged)), 7, CreateTopicsResponse)
        assert answer.topics[0].error_code == Errors.TOPIC_ALREADY_EXISTS
    assert node.stop() == 0


def config_of(log_dir: Path, **properties: str) -> ControllerConfig:
    """Of a controller that is alone in its quorum."""
    port = free_port()
    address = f"localhost:{port}"
    return ControllerConfig(controller_properties(log_dir, address=address, static=True, more=properties))


@pytest.mark.prevents("KAFKA-13114", "KAFKA-13148")
async def test_a_failing_fsync_acknowledges_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = config_of(tmp_path)
    port = config.listeners[0].port
    meta = MetaProperties(CLUSTER_ID, 3000, random_uuid(random.Random(1)))
    fdatasync = os.fdatasync

    def fail(descriptor: int) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    def break_disk(number: int) -> None:
        if number == 10:
            monkeypatch.setattr(os, "fdatasync", fail)

    async def run() -> set[str]:
        serving = asyncio.create_task(run_controller(config, meta, asyncio.Event()))
        acknowledged = await asyncio.to_thread(create_when_up, port, break_disk)
        with pytest.raises((StorageError, OSError), match="fsync"):
            await serving
        return acknowledged

    acknowledged = await run()
    monkeypatch.setattr(os, "fdatasync", fdatasync)
    assert acknowledged == {f"topic-{number}" for number in range(10)}


def create_when_up(port: int, before: Callable[[int], None]) -> set[str]:
    def is_up() -> bool:
        try:
            ControllerClient(port).close()
        except OSError:
            return False
        return True

    await_result(is_up, "the controller listens", 30.0)
    return create_until_refused(port, before)


@pytest.mark.prevents("advice-that-deletes")
@pytest.mark.parametrize(
    ("call", "path", "number", "action"),
    [
        ("write", "quorum-state.tmp", errno.ENOSPC, "write"),
        ("fsync", "quorum-state.tmp", errno.EIO, "write"),
        ("open", "quorum-state.tmp", errno.EACCES, "write"),
        ("replace", "quorum-state.tmp", errno.EROFS, "write"),
        ("pwrite", f"{0:020d}.log", errno.ENOSPC, "write to"),
        ("pwrite", f"{0:020d}.log", errno.EDQUOT, "write to"),
        ("fdatasync", f"{0:020d}.log", errno.EIO, "force to the disk"),
        ("pwrite", f"../{RECOVERY_POINT}", errno.ENOSPC, "write"),
        ("fdatasync", f"../{RECOVERY_POINT}", errno.EIO, "write"),
        ("write", "leader-epoch-checkpoint.tmp", errno.ENOSPC, "write"),
        ("write", "*.checkpoint", errno.ENOSPC, "write the snapshot"),
        ("replace", "*.checkpoint", errno.EROFS, "write the snapshot"),
    ],
)
async def test_what_ends_a_running_controller_names_file_action_and_next_step(
    tmp_path: Path, call: str, path: str, number: int, action: str
) -> None:
    config = config_of(tmp_path, **{"metadata.log.max.record.bytes.between.snapshots": "1"})
    meta = MetaProperties(CLUSTER_ID, 3000, random_uuid(random.Random(1)))
    directory = "__cluster_metadata-0"
    files = FailingFiles(tmp_path)
    failing = Call(call, os.path.normpath(f"{directory}/{path}"), 1 if path.startswith("leader") else 0)

    async def run() -> None:
        # The first start writes some of the files before anything runs.
        with files.active(failing, number):
            await asyncio.wait_for(run_controller(config, meta, asyncio.Event()), 30.0)

    with pytest.raises(StorageError) as ended:
        await run()
    said, _, step = str(ended.value).partition("Next step: ")
    assert f"cannot {action} {tmp_path}/" in said
    assert os.strerror(number) in said
    assert "Errno" not in said
    assert NEXT_STEPS[number] in step
