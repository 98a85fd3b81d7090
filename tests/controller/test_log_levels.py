"""BROKER_LOGGER on a controller (KIP-412, KIP-919): what is listed, what is set, what is refused."""

from __future__ import annotations

import random

import pytest

from kraftctl.config.controller_config import STANDARD_AUTHORIZER
from kraftctl.controller.configuration_control.alter_log_levels import CHANGES_PER_REQUEST_MAX
from kraftctl.controller.configuration_control.incremental_alter_configs import (
    APPEND,
    DELETE,
    SET,
    SUBTRACT,
)
from kraftctl.controller.state import authorizer_log
from kraftctl.controller.state.log_levels import LogLevels
from kraftctl.metadata.config_definitions import config_source
from kraftctl_protocol.config_resource import BROKER, BROKER_LOGGER
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from tests.support.active_controller import NODE_ID, ActiveController

OWN = str(NODE_ID)
LEVELS: dict[str, str | None] = {
    "root": "INFO",
    "kraftctl": None,
    "kraftctl.raft": None,
    "kraftctl.server": "WARN",
    "kraftctl.server.ssl": None,
    "kafka.authorizer.logger": "OFF",
}

Change = tuple[str, int, str | None]


@pytest.fixture
def active() -> ActiveController:
    controller = ActiveController()
    controller.controller.state.log_levels = LogLevels(dict(LEVELS))
    return controller


def resource(name: str, *changes: Change, kind: int = BROKER_LOGGER) -> AlterConfigsResource:
    configs = [AlterableConfig(name=key, config_operation=op, value=value) for key, op, value in changes]
    return AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)


def alter(active: ActiveController, *resources: AlterConfigsResource, validate_only: bool = False):
    request = IncrementalAlterConfigsRequest(resources=list(resources), validate_only=validate_only)
    return [(answer.error_code, answer.error_message) for answer in active.request(request).responses]


def levels(active: ActiveController, *keys: str) -> dict[str, str | None]:
    asked = DescribeConfigsResource(
        resource_type=BROKER_LOGGER, resource_name=OWN, configuration_keys=list(keys)
    )
    result = active.request(DescribeConfigsRequest(resources=[asked])).results[0]
    assert result.error_code == 0
    for config in result.configs:
        assert config.config_source == config_source.DYNAMIC_BROKER_LOGGER_CONFIG
        assert not config.is_sensitive
        assert not config.read_only
        assert config.synonyms == []
    return {config.name: config.value for config in result.configs}


def test_every_logger_is_listed_with_the_level_that_applies(active: ActiveController) -> None:
    assert levels(active) == {
        "root": "INFO",
        "kraftctl": "INFO",
        "kraftctl.raft": "INFO",
        "kraftctl.server": "WARN",
        "kraftctl.server.ssl": "WARN",
        "kafka.authorizer.logger": "OFF",
    }
    assert levels(active, "kraftctl.raft", "no.such.logger") == {"kraftctl.raft": "INFO"}


def test_levels_are_set_at_once_and_not_through_the_log(active: ActiveController) -> None:
    end_offset = active.end_offset
    change = resource(OWN, ("kraftctl.raft", SET, "TRACE"), ("root", SET, "ERROR"))
    assert alter(active, change) == [(0, None)]
    assert levels(active, "kraftctl.raft", "kraftctl") == {"kraftctl.raft": "TRACE", "kraftctl": "ERROR"}
    assert active.end_offset == end_offset
    state = active.controller.state
    assert state.log_levels.take_changes() == {"kraftctl.raft": "TRACE", "root": "ERROR"}
    assert state.log_levels.take_changes() == {}
    assert alter(active, resource(OWN, ("kraftctl.raft", DELETE, None))) == [(0, None)]
    assert levels(active, "kraftctl.raft") == {"kraftctl.raft": "ERROR"}
    assert state.log_levels.take_changes() == {"kraftctl.raft": None}


def test_validate_only_changes_nothing(active: ActiveController) -> None:
    assert alter(active, resource(OWN, ("root", SET, "DEBUG")), validate_only=True) == [(0, None)]
    assert alter(active, resource(OWN, ("root", SET, "LOUD")), validate_only=True)[0][0] == 40
    assert levels(active, "root") == {"root": "INFO"}
    assert active.controller.state.log_levels.take_changes() == {}


REFUSED = [
    pytest.param(resource("", ("root", SET, "INFO")), 42, " is no node id", id="no-id"),
    pytest.param(resource("x", ("root", SET, "INFO")), 42, "x is no node id", id="no-number"),
    pytest.param(
        resource("3001", ("root", SET, "INFO")),
        42,
        "Unexpected node id. Expected 3000, but received 3001",
        id="another-node",
    ),
    pytest.param(
        resource(OWN, ("kafka.server", SET, "INFO")), 40, "Logger kafka.server does not exist!", id="unknown"
    ),
    pytest.param(resource(OWN, ("", SET, "INFO")), 40, "Logger  does not exist!", id="no-name"),
    pytest.param(
        resource(OWN, ("nope", DELETE, None)), 40, "Logger nope does not exist!", id="delete-unknown"
    ),
    pytest.param(
        resource(OWN, ("root", DELETE, None)),
        42,
        "the logger root needs a level: set another one",
        id="delete-root",
    ),
    pytest.param(
        resource(OWN, ("root", APPEND, "INFO")),
        42,
        "APPEND operation is not allowed for the BROKER_LOGGER resource",
        id="append",
    ),
    pytest.param(
        resource(OWN, ("nope", SUBTRACT, "INFO")),
        42,
        "SUBTRACT operation is not allowed for the BROKER_LOGGER resource",
        id="subtract",
    ),
    *[
        pytest.param(
            resource(OWN, ("root", SET, level)),
            40,
            f"{level} is no level for the logger root. Levels are DEBUG, ERROR, FATAL, INFO, TRACE, WARN",
            id=f"level-{level!r}",
        )
        for level in ("info", "OFF", "ALL", "WARNING", "CRITICAL", "", " INFO", "10")
    ],
]


@pytest.mark.parametrize(("change", "code", "message"), REFUSED)
def test_refused(active: ActiveController, change: AlterConfigsResource, code: int, message: str) -> None:
    assert alter(active, change) == [(code, message)]
    assert active.controller.state.log_levels.take_changes() == {}


@pytest.mark.parametrize("operation", [-1, 4, 127])
def test_unknown_operations_and_null_are_refused(active: ActiveController, operation: int) -> None:
    """Kafka answers UNKNOWN_SERVER_ERROR, by accident."""
    assert alter(active, resource(OWN, ("root", operation, "INFO")))[0][0] == Errors.INVALID_REQUEST
    assert alter(active, resource(OWN, ("root", SET, None)))[0][0] == Errors.INVALID_CONFIG


def test_one_bad_change_refuses_its_resource_alone(active: ActiveController) -> None:
    bad = resource(OWN, ("root", SET, "DEBUG"), ("nope", SET, "DEBUG"))
    good = resource("+3000", ("kraftctl.raft", SET, "DEBUG"))
    configs = resource(OWN, ("max.connections", SET, "9"), kind=BROKER)
    assert [code for code, _ in alter(active, bad, configs, good)] == [0, 40, 0], "loggers come last"
    assert levels(active, "root", "kraftctl.raft") == {"root": "INFO", "kraftctl.raft": "DEBUG"}


def test_the_last_change_of_a_logger_counts(active: ActiveController) -> None:
    first = resource(OWN, ("root", SET, "DEBUG"), ("root", SET, "ERROR"))
    second = resource(OWN, ("kraftctl.raft", SET, "DEBUG"), ("kraftctl.raft", DELETE, None))
    assert alter(active, first, second, second) == [(0, None)] * 3
    assert levels(active, "root", "kraftctl.raft") == {"root": "ERROR", "kraftctl.raft": "ERROR"}


def test_one_request_changes_so_many_levels_at_most(active: ActiveController) -> None:
    many = [("root", SET, "DEBUG")] * CHANGES_PER_REQUEST_MAX
    assert alter(active, resource(OWN, *many)) == [(0, None)]
    more = resource(OWN, *many), resource(OWN, ("kraftctl.raft", SET, "DEBUG"))
    assert [code for code, _ in alter(active, *more)] == [0, Errors.POLICY_VIOLATION]
    assert levels(active, "kraftctl.server") == {"kraftctl.server": "WARN"}


def test_alter_configs_has_no_loggers(active: ActiveController) -> None:
    config = legacy.AlterableConfig(name="root", value="DEBUG")
    asked = legacy.AlterConfigsResource(resource_type=BROKER_LOGGER, resource_name=OWN, configs=[config])
    answer = active.request(legacy.AlterConfigsRequest(resources=[asked])).responses[0]
    assert (answer.error_code, answer.error_message) == (42, "Unexpected resource type BROKER_LOGGER.")


def test_the_authorizer_makes_the_lines_that_its_logger_writes() -> None:
    active = ActiveController(authorizer_class_name=STANDARD_AUTHORIZER, super_users="User:ANONYMOUS")
    state = active.controller.state
    state.log_levels = LogLevels(dict(LEVELS))
    name = "kafka.authorizer.logger"
    for level, threshold in (("DEBUG", authorizer_log.DEBUG), ("TRACE", authorizer_log.TRACE), ("WARN", 30)):
        assert alter(active, resource(OWN, (name, SET, level))) == [(0, None)]
        assert state.authorizer.log.threshold == threshold
    alter(active, resource(OWN, (name, DELETE, None)))
    assert state.authorizer.log.threshold == authorizer_log.INFO, "of root"


def test_the_level_that_applies_is_that_of_the_next_above() -> None:
    """Compared with Python's own rule, for random trees."""
    import logging

    rng = random.Random(7)
    numbers = {"TRACE": 5, "DEBUG": 10, "INFO": 20, "WARN": 30, "ERROR": 40, "FATAL": 50}
    for _ in range(200):
        manager = logging.Manager(logging.RootLogger(20))
        levels: dict[str, str | None] = {"root": "INFO"}
        for _ in range(rng.randrange(1, 8)):
            name = ".".join(rng.choice("ab") for _ in range(rng.randrange(1, 4)))
            levels[name] = rng.choice([None, *numbers])
            manager.getLogger(name).setLevel(numbers.get(levels[name] or "", 0))
        found = LogLevels(levels)
        for name in found.names():
            of = manager.root if name == "root" else manager.getLogger(name)
            assert numbers[found.level(name)] == of.getEffectiveLevel() == found.number(name)
