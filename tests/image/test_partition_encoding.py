"""PartitionEncoder writes, byte for byte, what the encoder of records writes."""

from __future__ import annotations

import random

import pytest

from kraftctl.metadata import features, partition_encoding
from kraftctl.metadata.partition_encoding import PartitionEncoder
from kraftctl.metadata.partition_registration import PartitionRegistration
from kraftctl_protocol.metadata_record import encode_metadata_record
from tests.support.effort import seeds
from tests.support.partition_registrations import partition_registration

VERSIONS = range(features.MINIMUM_METADATA_VERSION, features.LATEST_TESTING + 1)


def any_partition(rng: random.Random) -> PartitionRegistration:
    def brokers() -> tuple[int, ...]:
        return tuple(rng.sample((0, 1, 2, 127, 128, 2**31 - 1), rng.choice((0, 0, 1, 3))))

    replicas = tuple(rng.sample(range(200), rng.choice((1, 3, 130))))
    return partition_registration(
        replicas=replicas,
        directories=tuple(rng.randbytes(16) for _ in replicas),
        isr=replicas if rng.random() < 0.5 else brokers(),
        removing_replicas=brokers(),
        adding_replicas=brokers(),
        elr=brokers() if rng.random() < 0.2 else (),
        last_known_elr=brokers() if rng.random() < 0.2 else (),
        leader=rng.choice((-1, 0, 2**31 - 1)),
        leader_recovery_state=rng.choice((0, 0, 0, 1)),
        leader_epoch=rng.choice((0, 1, 2**31 - 1)),
        partition_epoch=rng.choice((0, 1, 2**31 - 1)),
    )


@pytest.mark.parametrize("elr_enabled", [True, False])
@pytest.mark.parametrize("seed", seeds(5))
def test_the_bytes_are_those_of_the_record(
    seed: int, elr_enabled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(seed)
    monkeypatch.setattr(partition_encoding, "LISTS_MAX", 7)
    for version in VERSIONS:
        encoder = PartitionEncoder(version, elr_enabled=elr_enabled)
        for _ in range(20):
            partition, topic_id, index = any_partition(rng), rng.randbytes(16), rng.choice((0, 2**31 - 1))
            entry = partition.to_record(topic_id, index, metadata_version=version, elr_enabled=elr_enabled)
            expected = encode_metadata_record(entry.record, entry.version)
            assert encoder.encode(topic_id, index, partition) == expected
