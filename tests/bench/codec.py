"""Codec speed: one decode plus one encode, against kio and against our own sources uncompiled.

As a program (`codec.py`) it prints the times of our codec in this process as JSON: {label: seconds}.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl_protocol import primitives
from kraftctl_protocol.message import Message
from tests.bench.measure import best_time_s
from tests.bench.messages import record_messages, rpc_messages
from tests.bench.table import Row

ROOT = Path(__file__).resolve().parents[2]

KIO_MODULES = {
    "AlterPartitionRequest": "kio.schema.alter_partition.v3.request",
    "AlterPartitionResponse": "kio.schema.alter_partition.v3.response",
    "BrokerHeartbeatRequest": "kio.schema.broker_heartbeat.v1.request",
    "BrokerHeartbeatResponse": "kio.schema.broker_heartbeat.v1.response",
}

KIO_SPEEDUP_MIN = 10.0
COMPILED_SPEEDUP_MIN = 4.0


def compiled() -> bool:
    """Whether the protocol package in this process is compiled."""
    return not (primitives.__file__ or "").endswith(".py")


def our_times() -> dict[str, float]:
    """Message or record -> seconds for a decode and an encode."""
    return {
        message.NAME: _our_time(message, version) for message, version in rpc_messages() + record_messages()
    }


def _our_time(message: Message, version: int) -> float:
    payload = message.encode(version)
    kind = type(message)
    assert kind.decode(payload, version) == message

    def round_trip() -> bytes:
        return kind.decode(payload, version).encode(version)

    return best_time_s(round_trip)


def kio_times() -> dict[str, float]:
    """The same for kio, which knows RPCs but not metadata records; its bytes must be ours."""
    from kio.serial import entity_reader, entity_writer

    times = {}
    for message, version in rpc_messages():
        entity_type = getattr(import_module(KIO_MODULES[message.NAME]), message.NAME)
        reader, writer = entity_reader(entity_type), entity_writer(entity_type)
        payload = message.encode(version)

        def round_trip(reader=reader, writer=writer, payload=payload) -> bytes:
            entity, _ = reader(payload, 0)
            with io.BytesIO() as buffer:
                writer(buffer, entity)
                return buffer.getvalue()

        assert round_trip() == payload, f"kio and we disagree about {message.NAME}"
        times[message.NAME] = best_time_s(round_trip)
    return times


def uncompiled_times() -> dict[str, float]:
    """Ours again, in a process that sees the sources only."""
    sources = os.pathsep.join(str(root) for root in (ROOT, ROOT / "protocol", ROOT / "spark"))
    environment = {**os.environ, "PYTHONPATH": sources}
    done = subprocess.run(
        [sys.executable, __file__],
        env=environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=300,
    )
    measured = json.loads(done.stdout)
    assert not measured.pop("compiled")
    return {name: float(seconds) for name, seconds in measured.items()}


def run() -> list[Row]:
    """Rows for the report."""
    ours, kios, pure = our_times(), kio_times(), uncompiled_times()
    rows = [
        Row(
            f"{name}, decode + encode",
            ours[name] * 1e6,
            "us",
            "kio",
            kios[name] * 1e6,
            at_least=KIO_SPEEDUP_MIN,
        )
        for name in kios
    ]
    rows += [
        Row(
            f"{message.NAME}, decode + encode",
            ours[message.NAME] * 1e6,
            "us",
            "uncompiled",
            pure[message.NAME] * 1e6,
            at_least=COMPILED_SPEEDUP_MIN,
        )
        for message, _ in record_messages()
    ]
    return rows


if __name__ == "__main__":
    print(json.dumps({"compiled": compiled(), **our_times()}))
