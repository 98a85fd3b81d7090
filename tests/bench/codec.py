"""Codec speed, separately for decoding and encoding, compared with kio and with the uncompiled sources.

As a program (`codec.py`) it prints the times of the codec in this process as JSON: {label: seconds}.
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

KIO_SPEEDUP_MIN = {"decode": 3.0, "encode": 50.0}
COMPILED_SPEEDUP_MIN = 4.0


def compiled() -> bool:
    """Whether the protocol package in this process is compiled."""
    return not (primitives.__file__ or "").endswith(".py")


def our_times() -> dict[str, float]:
    """`<message> decode` and `<message> encode` -> seconds."""
    times = {}
    for message, version in rpc_messages() + record_messages():
        payload, kind = message.encode(version), type(message)
        assert kind.decode(payload, version) == message
        names = {"decode": kind.decode, "encode": message.encode, "payload": payload, "version": version}
        times[f"{message.NAME} decode"] = best_time_s("decode(payload, version)", names)
        times[f"{message.NAME} encode"] = best_time_s("encode(version)", names)
    return times


KIO_ENCODE = """
with BytesIO() as buffer:
    writer(buffer, entity)
    buffer.getvalue()
"""


def kio_times() -> dict[str, float]:
    """The same for kio, which knows RPCs but not metadata records; its bytes must be equal."""
    from kio.serial import entity_reader, entity_writer

    times = {}
    for message, version in rpc_messages():
        entity_type = getattr(import_module(KIO_MODULES[message.NAME]), message.NAME)
        reader, writer = entity_reader(entity_type), entity_writer(entity_type)
        payload = message.encode(version)
        entity, _ = reader(payload, 0)
        with io.BytesIO() as buffer:
            writer(buffer, entity)
            assert buffer.getvalue() == payload, f"kio and we disagree about {message.NAME}"
        names = {"reader": reader, "payload": payload}
        times[f"{message.NAME} decode"] = best_time_s("reader(payload, 0)", names)
        names = {"writer": writer, "entity": entity, "BytesIO": io.BytesIO}
        times[f"{message.NAME} encode"] = best_time_s(KIO_ENCODE, names)
    return times


def uncompiled_times() -> dict[str, float]:
    """The same codec in a process that imports the sources."""
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
        _row(what, ours[what], "kio", kios[what], KIO_SPEEDUP_MIN[what.rsplit(" ", 1)[1]]) for what in kios
    ]
    return rows + [
        _row(what, ours[what], "uncompiled", pure[what], COMPILED_SPEEDUP_MIN)
        for what in ours
        if what not in kios
    ]


def _row(what: str, ours_s: float, whose: str, theirs_s: float, at_least: float) -> Row:
    return Row(what, ours_s * 1e6, "us", whose, theirs_s * 1e6, at_least=at_least)


if __name__ == "__main__":
    print(json.dumps({"compiled": compiled(), **our_times()}))
