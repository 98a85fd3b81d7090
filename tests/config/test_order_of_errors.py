"""Everything that is wrong with a file is named once, and first what Kafka's exception names."""

from __future__ import annotations

import pytest

from kraftctl.config.controller_config import ConfigException, ControllerConfig
from tests.config.named_cases import GOOD


def errors_of(changes: dict[str, str]) -> list[str]:
    with pytest.raises(ConfigException) as caught:
        ControllerConfig({**GOOD, **changes})
    return caught.value.errors


def test_the_order_is_that_of_kafkas_definitions() -> None:
    wrong = {"ssl.client.auth": "x", "num.partitions": "0", "broker.rack": "fine", "num.io.threads": "x"}
    assert errors_of(wrong) == [
        "Invalid value x for configuration num.io.threads: it is no INT",
        "Invalid value 0 for configuration num.partitions: it must be at least 1",
        "Invalid value x for configuration ssl.client.auth: String must be one of: required, requested, none",
    ]


def test_keys_precede_what_they_mean_together_and_what_only_a_controller_knows() -> None:
    wrong = {
        "listener.security.protocol.map": "CONTROLLER:SSL",
        "inter.broker.listener.name": "EXTERNAL",
        "log.roll.ms": "0",
        "background.threads": "-1",
    }
    first, second, third, last = errors_of(wrong)
    assert first == "Invalid value -1 for configuration background.threads: it must be at least 1"
    assert second.startswith("Invalid value 0 for configuration log.roll.ms: 1 ms is the least")
    assert third.startswith("Listener with name EXTERNAL defined in inter.broker.listener.name not found in")
    assert last.startswith('Missing required configuration "ssl.keystore.location": listener CONTROLLER uses')


def test_a_key_is_named_once() -> None:
    wrong = {
        "num.partitions": "x",
        "listeners": "CONTROLLER//h:1",
        "queued.max.requests": "",
        "log.dirs": "a,,b",
    }
    assert len(errors_of(wrong)) == len(wrong)


def test_a_password_is_in_no_error() -> None:
    wrong = {"ssl.keystore.password": "hunter2", "sasl.jaas.config": "hunter2", "num.partitions": "x"}
    assert not any("hunter2" in error for error in errors_of(wrong))
