"""A million partitions: time to decode and replay them, and to load them; memory, pauses of the collector.

As a program (`replay.py TOPICS PARTITIONS BROKERS`) it measures in this process and prints JSON. Three
brokers have all partitions; of more, each partition has any three, so that few have the same.
"""

from __future__ import annotations

import gc
import json
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.append(str(Path(__file__).resolve().parents[2]))

from kraftctl.controller.committed_replay import CommittedReplay
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.metadata import features
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.metadata_record import decode_metadata_record, encode_metadata_record
from kraftctl_protocol.record_batch import encode_batch, read_batch_header
from tests.bench.measure import resident_bytes
from tests.bench.messages import partition_record
from tests.bench.table import Row

TOPICS = 10_000
PARTITIONS_PER_TOPIC = 100
BROKERS = 3
MANY_BROKERS = 100

REPLAY_MAX_US = 0.64
LOAD_MAX_US = 1.5
"""A snapshot of 2 million partitions is replayed in 3 seconds, so that a restart takes less than 6."""

LOAD_TURN_RECORDS = 5_000
MEMORY_PER_PARTITION_MAX_BYTES = 136.0
"""0.12 times that of Kafka's controller with 100,000 partitions."""

SPREAD_MEMORY_PER_PARTITION_MAX_BYTES = 250.0
COLLECTOR_PAUSE_MAX_MS = 100.0


class CollectorPauses:
    """Durations of the cyclic collector's runs."""

    def __init__(self) -> None:
        self.longest_s = 0.0
        self._started_s = 0.0
        gc.callbacks.append(self._observe)

    def _observe(self, phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            self._started_s = time.perf_counter()
        else:
            self.longest_s = max(self.longest_s, time.perf_counter() - self._started_s)


def topic_values(number: int, partitions: int, brokers: int) -> list[bytes]:
    """The encoded records of one topic."""
    topic_id = number.to_bytes(16, "big")
    values = [encode_metadata_record(TopicRecord(name=f"topic-{number}", topic_id=topic_id), 0)]
    rng = random.Random(number)
    for index in range(partitions):
        record = partition_record(topic_id, index)
        if brokers > BROKERS:
            record.replicas = rng.sample(range(1_000, 1_000 + brokers), len(record.replicas))
            record.isr = list(record.replicas)
            record.leader = record.replicas[0]
            record.directories = [replica.to_bytes(16, "big") for replica in record.replicas]
        values.append(encode_metadata_record(record, 2))
    return values


def measure(topics: int, partitions: int, brokers: int) -> dict[str, float]:
    """Figures by name; the times do not include creating the records."""
    image = MetadataImage()
    image.journal.enabled = False  # as when a log is loaded: everything in it is committed
    gc.collect()
    before_bytes = resident_bytes()
    pauses = CollectorPauses()
    decode_s, replay_s, offset = 0.0, 0.0, 0
    for number in range(1_000, 1_000 + topics):
        values = topic_values(number, partitions, brokers)
        start = time.perf_counter()
        records = [decode_metadata_record(value).record for value in values]
        decoded = time.perf_counter()
        for record in records:
            replay(image, record, offset)
            offset += 1
        replay_s += time.perf_counter() - decoded
        decode_s += decoded - start
    while_loading_s = pauses.longest_s
    gc.collect()
    count = topics * partitions
    assert image.topics.partition_count == count
    return {
        "decode_us": decode_s / count * 1e6,
        "replay_us": replay_s / count * 1e6,
        "bytes_per_partition": (resident_bytes() - before_bytes) / count,
        "longest_pause_ms": while_loading_s * 1e3,
        "full_collection_ms": pauses.longest_s * 1e3,
    }


def load_us(topics: int, partitions: int, brokers: int) -> float:
    """Time per partition to replay the batches of a snapshot, in turns."""
    image = MetadataImage()
    image.journal.enabled = False
    loading = CommittedReplay(image, features.supported_features(False))
    load_s, offset = 0.0, 0
    for number in range(1_000, 1_000 + topics):
        values = topic_values(number, partitions, brokers)
        batch = encode_batch(offset, 1, 0, values)
        offset += len(values)
        start = time.perf_counter()
        loading.begin(batch, 0, read_batch_header(batch, 0), "a snapshot")
        while not loading.replay_some(LOAD_TURN_RECORDS):
            pass
        load_s += time.perf_counter() - start
    assert image.topics.partition_count == topics * partitions
    return load_s / (topics * partitions) * 1e6


def run() -> list[Row]:
    """Rows for the report; measured in a separate process, whose memory is then the image's."""
    measured = _measured(BROKERS)
    spread = _measured(MANY_BROKERS)
    count = TOPICS * PARTITIONS_PER_TOPIC
    return [
        Row(f"decoding {count:,} PartitionRecords, each", measured["decode_us"], "us"),
        Row("replaying them, each", measured["replay_us"], "us", at_most=REPLAY_MAX_US),
        Row("loading them from a snapshot, each", measured["load_us"], "us", at_most=LOAD_MAX_US),
        Row(
            "memory per partition (3 replicas)",
            measured["bytes_per_partition"],
            "B",
            at_most=MEMORY_PER_PARTITION_MAX_BYTES,
        ),
        Row(
            f"the same, any 3 of {MANY_BROKERS} brokers",
            spread["bytes_per_partition"],
            "B",
            at_most=SPREAD_MEMORY_PER_PARTITION_MAX_BYTES,
        ),
        Row(
            "longest collector pause while loading",
            measured["longest_pause_ms"],
            "ms",
            at_most=COLLECTOR_PAUSE_MAX_MS,
        ),
        Row(
            "one full collection afterwards",
            measured["full_collection_ms"],
            "ms",
            at_most=COLLECTOR_PAUSE_MAX_MS,
        ),
    ]


def _measured(brokers: int) -> dict[str, Any]:
    command = [sys.executable, __file__, str(TOPICS), str(PARTITIONS_PER_TOPIC), str(brokers)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, timeout=900)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    size = (int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
    print(json.dumps(measure(*size) | {"load_us": load_us(*size)}))
