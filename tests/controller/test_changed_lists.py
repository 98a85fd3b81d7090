"""Lists in configs: APPEND and SUBTRACT have Kafka's result, in time that grows with the list alone."""

from __future__ import annotations

import random
import time

import pytest

from kraftctl.controller.configuration_control.config_alteration import CHARACTERS_PER_REQUEST_MAX
from kraftctl.controller.configuration_control.incremental_alter_configs import (
    APPEND,
    SUBTRACT,
    changed_list,
)
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl_protocol.config_resource import TOPIC
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.metadata_record import RecordAndVersion
from tests.support.active_controller import ActiveController
from tests.support.effort import seeds

REPLICAS = config_keys(TOPIC)["leader.replication.throttled.replicas"]


def one_by_one(present: str, operation: int, value: str) -> str:
    """As Kafka's ConfigurationControlManager does it (`test_changed_list_oracle.py` asks it)."""
    items = [item for item in present.split(",") if item]
    named = value.split(",")
    while value and named and not named[-1]:
        named.pop()
    for item in named:
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


def appends(topics: int) -> IncrementalAlterConfigsRequest:
    return IncrementalAlterConfigsRequest(
        resources=[
            AlterConfigsResource(
                resource_type=TOPIC,
                resource_name=f"t{topic}",
                configs=[AlterableConfig(name=REPLICAS.name, config_operation=APPEND, value="9:9")],
            )
            for topic in range(topics)
        ],
        validate_only=True,
    )


def test_one_request_alters_configs_of_a_limited_size() -> None:
    """What the resources have counts, too: a small request may concern any number of long lists."""
    active = ActiveController()
    active.start_brokers(1)
    long = ",".join(["1:1"] * 8_000)
    most = CHARACTERS_PER_REQUEST_MAX // (len(long) + len("9:9"))
    for topic in range(most + 1):
        active.create_topic(f"t{topic}")
        record = ConfigRecord(resource_type=TOPIC, resource_name=f"t{topic}", name=REPLICAS.name, value=long)
        active.write(ControllerResult.of([RecordAndVersion(record, 0)]))
    errors = [response.error_code for response in active.request(appends(most)).responses]
    assert set(errors) == {Errors.NONE}
    errors = [response.error_code for response in active.request(appends(most + 1)).responses]
    assert errors == [Errors.NONE] * most + [Errors.POLICY_VIOLATION]


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
