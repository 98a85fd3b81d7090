"""Record batches, and whole directories, with damage that no checksum shows."""

from __future__ import annotations

import asyncio
import random
import shutil
import struct
import tempfile
from collections.abc import Iterator
from pathlib import Path

from kraftctl.cli.start import open_directory
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.metadata import features
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.batch_framing import ATTRIBUTES_POSITION, CRC_POSITION, HEADER_BYTES
from kraftctl_protocol.control_record import decode_control_record
from kraftctl_protocol.crc32c import crc32c
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.record_batch import encode_batch, encode_control_batch, read_batches
from tests.support.active_controller import NODE_ID
from tests.support.controller_properties import controller_properties
from tests.support.simulator.cluster.virtual_time_loop import WALL_START_MS, VirtualTimeLoop
from tests.support.wire.fuzz_outcomes import Outcomes
from tests.support.wire.hosted_cluster import PROPERTIES, Population
from tests.support.wire.hosted_controller import HostedController
from tests.support.wire.mutated_blocks import Base, MutatedBlocks
from tests.support.wire.mutated_bytes import MutatedBytes
from tests.support.wire.random_records import RandomRecords

SHARED_MEMORY = Path("/dev/shm")

DAMAGED_PER_BATCH = 300
DIRECTORIES = 4
"""Undamaged ones, of static and of dynamic quorums."""

FILE_BYTES_MAX = 1_000_000
ACTIVE_SECONDS_MAX = 30
"""Virtual time."""

DIRECTORY_PROPERTIES = controller_properties(node_id=NODE_ID)

PREFIX = struct.Struct(">qi")


def with_checksum(batch: bytes) -> bytes:
    """`batch` with the length and the checksum of its bytes, as if it had been written like that."""
    if len(batch) < HEADER_BYTES:
        return batch
    base_offset, _ = PREFIX.unpack_from(batch)
    checksum = struct.pack(">I", crc32c(batch[ATTRIBUTES_POSITION:]))
    start = PREFIX.pack(base_offset, len(batch) - PREFIX.size) + batch[PREFIX.size : CRC_POSITION]
    return start + checksum + batch[ATTRIBUTES_POSITION:]


def batches_of(log: bytes) -> list[bytes]:
    """The batches in the bytes of an undamaged log or snapshot."""
    found = []
    position = 0
    while position < len(log):
        size = PREFIX.size + PREFIX.unpack_from(log, position)[1]
        found.append(log[position : position + size])
        position += size
    return found


class FuzzedBatches:
    """Random batches of data and control records, and damaged copies with and without a new checksum."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._bytes = MutatedBytes(rng)
        self._copies = MutatedBlocks(rng)
        self._records = RandomRecords(rng)

    def blocks(self) -> Iterator[list[bytes]]:
        batch = self.batch(self._rng.randint(0, 1 << 20), 5)
        if len(batch) > FILE_BYTES_MAX:
            return
        yield [batch]
        damaged = self._copies.copies([Base(batch)], DAMAGED_PER_BATCH)
        unchecked = len(damaged) // 5
        yield damaged[:unchecked] + [with_checksum(copy) for copy in damaged[unchecked:]]

    def batch(self, base_offset: int, epoch: int) -> bytes:
        """Undamaged, but any content."""
        rng = self._rng
        values = [self._value() for _ in range(rng.choice((1, 1, 2, 5, 200)))]
        if rng.random() < 0.2:
            controls = [(rng.randint(-1, 8), value) for value in values]
            return encode_control_batch(base_offset, epoch, WALL_START_MS, controls)
        return encode_batch(base_offset, epoch, WALL_START_MS, values)

    def _value(self) -> bytes:
        while True:
            try:
                value = self._records.value()
            except EncodeError:
                continue
            return self._bytes.mutated(value) if self._rng.random() < 0.2 else value

    def feed(self, block: list[bytes], outcomes: Outcomes) -> None:
        for data in block:
            outcomes.counts[self._read(data)] += 1

    def _read(self, data: bytes) -> str:
        """Reads the batch and every record in it."""
        unknown = 0
        try:
            for batch in read_batches(data):
                for record in batch.records:
                    try:
                        if batch.header.is_control:
                            decode_control_record(record.key, record.value)
                        else:
                            decode_metadata_record(record.value or b"")
                    except DecodeError:
                        unknown += 1
        except DecodeError:
            return "refused"
        return "with_unknown_records" if unknown else "decoded"

    def close(self) -> None:
        """Nothing is held."""


class FuzzedDirectories:
    """Starts a controller in copies of a directory, one file of which is damaged or has corrupt content.

    It starts, or refuses with an error that names the next step; anything else ends with a traceback.
    """

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._bytes = MutatedBytes(rng)
        self._batches = FuzzedBatches(rng)
        self._undamaged: dict[int, dict[str, bytes]] = {}
        self._place = tempfile.TemporaryDirectory(
            prefix="fuzz-", dir=SHARED_MEMORY if SHARED_MEMORY.is_dir() else None
        )

    def blocks(self) -> Iterator[list[bytes]]:
        """Each: the number of an undamaged directory, the length and name of a file, and its content."""
        for _ in range(20):
            number = self._rng.randrange(DIRECTORIES)
            files = self._files(number)
            name = self._rng.choice(sorted(files))
            data = self._damaged(name, files[name])
            if len(data) <= FILE_BYTES_MAX:
                yield [bytes([number, len(name)]) + name.encode() + data]

    def feed(self, block: list[bytes], outcomes: Outcomes) -> None:
        for data in block:
            outcomes.counts[self._started(data)] += 1

    def _started(self, data: bytes) -> str:
        number, end = data[0], 2 + data[1]
        name, content = data[2:end].decode(), data[end:]
        directory = Path(self._place.name) / "damaged"
        for file, undamaged in self._files(number).items():
            path = directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if file == name else undamaged)
        try:
            with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
                return runner.run(self._start(directory, number))
        except (StorageError, PropertiesError):
            return "refused"
        finally:
            shutil.rmtree(directory)

    def close(self) -> None:
        self._place.cleanup()

    def _damaged(self, name: str, data: bytes) -> bytes:
        rng = self._rng
        if not name.endswith((".log", ".checkpoint")) or rng.random() < 0.1:
            return self._bytes.mutated(data)
        batches = batches_of(data)
        place = rng.randrange(len(batches))
        base_offset = PREFIX.unpack_from(batches[place])[0]
        epoch = struct.unpack_from(">i", batches[place], PREFIX.size)[0]
        match rng.randrange(4):
            case 0:
                batches[place] = with_checksum(self._bytes.mutated(batches[place]))
            case 1:
                batches[place] = self._batches.batch(base_offset, epoch)
            case 2:
                end_offset = base_offset + struct.unpack_from(">i", batches[-1], 23)[0] + 1
                batches.append(self._batches.batch(end_offset, epoch))
            case _:
                batches.insert(place, rng.choice(batches))
        return b"".join(batches)

    def _hosted(self, directory: Path, number: int) -> HostedController:
        return HostedController(
            directory,
            random.Random(number),
            dynamic=number % 2 == 0,
            metadata_version=features.LATEST_PRODUCTION,
            properties={**PROPERTIES, "metadata.log.max.record.bytes.between.snapshots": "5000"},
        )

    def _files(self, number: int) -> dict[str, bytes]:
        """Those of an undamaged directory with a log and a snapshot: the same for the same number."""
        files = self._undamaged.get(number)
        if files is None:
            directory = Path(self._place.name) / "undamaged"
            with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
                runner.run(self._live(directory, number))
            files = self._undamaged[number] = {
                path.relative_to(directory).as_posix(): path.read_bytes()
                for path in sorted(directory.rglob("*"))
                if path.is_file() and path.stat().st_size
            }
            shutil.rmtree(directory)
        return files

    async def _live(self, directory: Path, number: int) -> None:
        directory.mkdir()
        hosted = self._hosted(directory, number)
        hosted.start()
        population = Population(hosted, random.Random(number))
        await population.settle_in()
        for _ in range(10):
            await population.keep_alive()
        await asyncio.sleep(1.0)
        await hosted.stop()

    async def _start(self, directory: Path, number: int) -> str:
        _, lock = open_directory(ControllerConfig({**DIRECTORY_PROPERTIES, "log.dirs": str(directory)}))
        lock.release()
        hosted = self._hosted(directory, number)
        hosted.start()
        try:
            for _ in range(ACTIVE_SECONDS_MAX * 10):
                failed = hosted.driver.failed
                if failed.done():
                    error = failed.exception()
                    assert error is not None
                    raise error
                if hosted.active:
                    return "started"
                await asyncio.sleep(0.1)
            return "without_a_leader"
        finally:
            await hosted.stop()
