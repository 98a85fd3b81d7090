"""APPEND and SUBTRACT of list items: Kafka's result, in time that grows with the list alone."""

from __future__ import annotations

import random
import time

import pytest

from kraftctl.controller.configuration_control.incremental_alter_configs import (
    APPEND,
    SUBTRACT,
    changed_list,
)
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl_protocol.config_resource import TOPIC
from tests.support.effort import seeds

REPLICAS = config_keys(TOPIC)["leader.replication.throttled.replicas"]


def one_by_one(present: str, operation: int, value: str) -> str:
    """As Kafka's ConfigurationControlManager does it."""
    items = [item for item in present.split(",") if item]
    for item in value.split(","):
        if operation == SUBTRACT:
            if item in items:
                items.remove(item)
        elif item not in items:
            items.append(item)
    return ",".join(items)


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
@pytest.mark.parametrize("seed", seeds(30))
def test_items_that_occur_several_times(seed: int, operation: int) -> None:
    rng = random.Random(seed)
    for _ in range(30):
        present, value = (
            ",".join(rng.choice(["0:1", "1:1", "2:1", ""]) for _ in range(rng.randint(0, 6)))
            for _ in range(2)
        )
        assert changed_list(present, REPLICAS, operation, value) == one_by_one(present, operation, value)


def seconds(operation: int, count: int) -> float:
    """Of processor time, the best of three."""
    present = ",".join(f"{item}:1" for item in range(count))
    value = ",".join(f"{item}:{2 if operation == APPEND else 1}" for item in reversed(range(count)))
    times = []
    for _ in range(3):
        start = time.process_time()
        changed_list(present, REPLICAS, operation, value)
        times.append(time.process_time() - start)
    return min(times)


@pytest.mark.parametrize("operation", [APPEND, SUBTRACT])
def test_the_time_grows_with_the_list(operation: int) -> None:
    """Sixteen times for sixteen times as many items; 256 times would be a comparison of all with all."""
    assert seconds(operation, 8_000) < 80 * seconds(operation, 500)
