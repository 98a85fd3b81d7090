"""A controller whose leader is hostile, as a process: it lives on, in little memory, time, log and disk."""

from __future__ import annotations

import itertools
import os
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import fetch_snapshot_response
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.fetch_response import (
    EpochEndOffset,
    FetchableTopicResponse,
    FetchResponse,
    LeaderIdAndEpoch,
    NodeEndpoint,
    PartitionData,
    SnapshotId,
)
from kraftctl_protocol.generated.fetch_snapshot_request import FetchSnapshotRequest
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.requests import ParsedRequest
from tests.attack.attacked_controller import NODE_ID, START_SECONDS_MAX, STOP_SECONDS_MAX, command
from tests.support.wire.hostile_node import HostileNode, Reply

pytestmark = [pytest.mark.slow, pytest.mark.long]

LEADER = 1
EPOCH = 3
SECONDS = 8.0
MEMORY_MB_MAX = 512.0
PROCESSOR_PART_MAX = 0.5
"""Of a core, also when a batch of a million records is decoded each second, uncompiled."""
REQUESTS_PER_SECOND_MAX = 120
LOG_BYTES_MAX = 200_000
DISK_BYTES_MAX = 64 * 1024 * 1024

Hostile = Callable[[ParsedRequest], Reply]

Change = Callable[[FetchRequest, FetchResponse], Reply]
"""What becomes of a response without records."""


def leader(change: Change, slice_: fetch_snapshot_response.PartitionSnapshot | None = None) -> Hostile:
    def reply(request: ParsedRequest) -> Reply:
        body = request.body
        if isinstance(body, FetchRequest):
            return change(body, answered())
        if isinstance(body, FetchSnapshotRequest):
            assert slice_ is not None
            slice_.position = body.topics[0].partitions[0].position
            topic = fetch_snapshot_response.TopicSnapshot(name=METADATA_TOPIC, partitions=[slice_])
            return FetchSnapshotResponse(topics=[topic])
        return VoteResponse(error_code=int(Errors.BROKER_NOT_AVAILABLE))

    return reply


PORTS: dict[str, int] = {}
"""Where the hostile leader listens, once it does."""


def answered() -> FetchResponse:
    partition = PartitionData(high_watermark=0, current_leader=LeaderIdAndEpoch(LEADER, EPOCH), records=b"")
    topic = FetchableTopicResponse(topic_id=METADATA_TOPIC_ID, partitions=[partition])
    node = NodeEndpoint(node_id=LEADER, host="127.0.0.1", port=PORTS["leader"])
    return FetchResponse(responses=[topic], node_endpoints=[node])


def says(**fields: object) -> Change:
    def change(request: FetchRequest, response: FetchResponse) -> Message:
        for name, value in fields.items():
            setattr(response.responses[0].partitions[0], name, value)
        return response

    return change


def raises_the_epoch() -> Change:
    epochs = itertools.count(EPOCH)

    def change(request: FetchRequest, response: FetchResponse) -> Message:
        partition = response.responses[0].partitions[0]
        partition.current_leader.leader_epoch = next(epochs)
        partition.error_code = int(Errors.FENCED_LEADER_EPOCH)
        return response

    return change


def takes_back(request: FetchRequest, response: FetchResponse) -> Message:
    partition = response.responses[0].partitions[0]
    if request.topics[0].partitions[0].fetch_offset == 0:
        partition.records = encode_batch(0, EPOCH, 0, [bytes(100_000)])
    else:
        partition.diverging_epoch = EpochEndOffset(epoch=0, end_offset=0)
    return response


def without_end(request: FetchRequest, response: FetchResponse) -> Iterator[bytes]:
    yield (100_000_000).to_bytes(4, "big")
    while True:
        yield bytes(1 << 16)


OFFERED = says(snapshot_id=SnapshotId(end_offset=100, epoch=EPOCH))


def piece(size: int, data: bytes) -> fetch_snapshot_response.PartitionSnapshot:
    return fetch_snapshot_response.PartitionSnapshot(
        snapshot_id=fetch_snapshot_response.SnapshotId(end_offset=100, epoch=EPOCH),
        current_leader=fetch_snapshot_response.LeaderIdAndEpoch(LEADER, EPOCH),
        size=size,
        unaligned_records=data,
    )


DENSE = encode_batch(7, EPOCH, 0, [b""] * 900_000)
"""8 MB, and not the next offset."""

KINDS = [
    pytest.param(leader(says()), id="nothing-at-once"),
    pytest.param(leader(raises_the_epoch()), id="an-epoch-that-grows"),
    pytest.param(leader(takes_back), id="records-that-are-taken-back"),
    pytest.param(leader(without_end), id="a-response-without-end"),
    pytest.param(leader(says(records=DENSE)), id="a-dense-batch"),
    pytest.param(leader(OFFERED, piece(1 << 62, bytes(1 << 20))), id="a-snapshot-of-exabytes"),
    pytest.param(leader(OFFERED, piece(1 << 20, b"s")), id="a-snapshot-byte-by-byte"),
]


def processor_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def memory_mb(pid: int) -> float:
    found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) / 1024 if found else 0.0


def formatted(directory: Path, hostile_port: int) -> Path:
    port = free_port()
    file = directory / "controller.properties"
    file.write_text(
        "process.roles=controller\n"
        f"node.id={NODE_ID}\n"
        f"listeners=CONTROLLER://127.0.0.1:{port}\n"
        "controller.listener.names=CONTROLLER\n"
        f"controller.quorum.voters={LEADER}@127.0.0.1:{hostile_port},{NODE_ID}@127.0.0.1:{port}\n"
        f"log.dirs={directory / 'log'}\n"
    )
    subprocess.run(
        command("format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", str(file)),
        check=True,
        cwd="/",
        stdout=subprocess.DEVNULL,
    )
    return file


@pytest.mark.parametrize("hostile", KINDS)
def test_a_follower_withstands_its_leader(hostile: Hostile, tmp_path: Path) -> None:
    with HostileNode(hostile) as node:
        PORTS["leader"] = node.endpoint[1]
        file = formatted(tmp_path, node.endpoint[1])
        out = tmp_path / "controller.out"
        with out.open("wb") as log:
            process = subprocess.Popen(
                command("start", str(file)), stdout=log, stderr=subprocess.STDOUT, cwd="/"
            )
        try:
            await_result(lambda: len(node.requests) > 0, "the leader is asked", START_SECONDS_MAX)
            began_s, asked = processor_seconds(process.pid), len(node.requests)
            threading.Event().wait(SECONDS)
            assert process.poll() is None, out.read_text()[-3000:]
            asked = len(node.requests) - asked
            took_s = processor_seconds(process.pid) - began_s
            held_mb = memory_mb(process.pid)
        finally:
            process.terminate()
            process.wait(STOP_SECONDS_MAX)
    disk_bytes = sum(each.stat().st_size for each in (tmp_path / "log").rglob("*") if each.is_file())
    print(
        f"{asked / SECONDS:.0f} requests/s, {took_s / SECONDS:.0%} of a core, {held_mb:.0f} MB,"
        f" {out.stat().st_size / 1000:.0f} kB of log, {disk_bytes / 1e6:.1f} MB on disk"
    )
    assert asked <= REQUESTS_PER_SECOND_MAX * SECONDS
    assert held_mb < MEMORY_MB_MAX
    assert took_s < PROCESSOR_PART_MAX * SECONDS
    assert out.stat().st_size < LOG_BYTES_MAX
    assert disk_bytes < DISK_BYTES_MAX
