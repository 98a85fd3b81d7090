"""Kafka's controller and kraftctl side by side: random changes of configs are shown alike.

Each is asked over its own port, in random versions. The codes of changes are compared, too; a change that
kraftctl alone refuses, for a reason that is listed here, or does not obey, is taken back at the other.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.config.dynamic_keys import LIMIT_KEYS, TRUST_KEYS
from kraftctl.controller.state.effective_configs import OBEYED_CONFIGS
from kraftctl.dev.nodes import Controller, JavaController, KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.settings import random_id
from kraftctl.metadata.config_definitions.config_keys import config_keys
from kraftctl_codegen.config_definitions.dump import KAFKA_VERSION
from kraftctl_protocol.config_resource import BROKER
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from kraftctl_protocol.generated.incremental_alter_configs_response import IncrementalAlterConfigsResponse
from tests.controller.test_describe_configs_oracle import (
    DYNAMIC_KEYS,
    OTHER_KEYS,
    PREFIXES,
    RESOURCES,
    changes_of,
    is_without_effect,
    some_value,
)
from tests.support.effort import seeds
from tests.support.processes.kafka import kafka
from tests.support.wire.controller_client import ControllerClient, create_topics

pytestmark = [pytest.mark.interop, pytest.mark.long]

CALLS = 400
STRICTER = (*OBEYED_CONFIGS, *LIMIT_KEYS, *TRUST_KEYS)
"""kraftctl refuses values of these that it could not obey, and truststores."""

Shown = list[tuple[object, ...]]


class Side:
    """One of the two controllers."""

    def __init__(self, controller: Controller, cluster_id: str) -> None:
        self.controller = controller
        create_topics(controller.port, cluster_id, "t")
        self.client = ControllerClient(controller.port)

    def alter(self, kind: int, name: str, key: str, value: str | None) -> int:
        change = AlterableConfig(name=key, config_operation=0 if value is not None else 1, value=value)
        resource = AlterConfigsResource(resource_type=kind, resource_name=name, configs=[change])
        request = IncrementalAlterConfigsRequest(resources=[resource])
        return self.client.call(request, 1, IncrementalAlterConfigsResponse).responses[0].error_code

    def described(self, request: DescribeConfigsRequest, version: int) -> Shown:
        """The response without what is of this process alone: its port and its directories."""
        response = self.client.call(request, version, DescribeConfigsResponse)
        return [
            (result.error_code, result.resource_type, result.resource_name, *self._entries(result.configs))
            for result in response.results
        ]

    def _entries(self, configs) -> Shown:
        found: Shown = []
        for entry in sorted(configs, key=lambda each: each.name):
            if entry.name.endswith(LIMIT_KEYS):
                continue  # shown as in effect here, which it may not be there
            synonyms = [(each.name, self._same(each.value), each.source) for each in entry.synonyms]
            fields = (entry.config_source, entry.read_only, entry.is_sensitive, entry.config_type)
            found.append((entry.name, self._same(entry.value), *fields, tuple(synonyms)))
        return found

    def _same(self, value: str | None) -> str | None:
        if value is None:
            return None
        directory = str(self.controller.directory)
        return value.replace(directory, "DIRECTORY").replace(str(self.controller.port), "PORT")


@pytest.fixture
def sides(tmp_path: Path) -> Iterator[tuple[Side, Side]]:
    cluster_id = random_id()
    java = JavaController(kafka(KAFKA_VERSION), 3000, tmp_path / "java", cluster_id)
    ours = KraftctlController(3000, tmp_path / "ours", cluster_id)
    try:
        for controller in (java, ours):
            controller.release_version = "4.3"
            controller.format()
            controller.start(wait=False)
        for controller in (java, ours):
            controller.await_ready()
        yield Side(java, cluster_id), Side(ours, cluster_id)
    finally:
        java.kill()
        ours.kill()


def random_change(rng: random.Random) -> tuple[str, str, str | None]:
    scope = rng.choice(("cluster", "own", "cluster", "own", "topic", "group", "metrics"))
    kind, _ = RESOURCES[scope]
    if kind == BROKER:
        key = rng.choice([*DYNAMIC_KEYS, *OTHER_KEYS, "metric.reporters"])
        value = changes_of(key, rng)
        return scope, rng.choice(["", "", "", *PREFIXES]) + key, value
    key = rng.choice([*config_keys(kind), "no.such.key"])
    return scope, key, None if rng.random() < 0.2 else some_value(rng, config_keys(kind).get(key))


def random_question(rng: random.Random, keys: list[str], version: int) -> DescribeConfigsRequest:
    wanted = [*RESOURCES.values(), (2, "u"), (32, "other"), (8, "x"), (4, "3001"), (4, "+3000"), (16, "")]
    resources = [
        DescribeConfigsResource(kind, name, rng.choice([None, [], keys]))
        for kind, name in rng.sample(wanted, rng.randint(1, 4))
    ]
    if rng.random() < 0.05:
        resources.append(DescribeConfigsResource(77, "x", None))
    return DescribeConfigsRequest(
        resources=resources,
        include_synonyms=rng.random() < 0.7,
        include_documentation=version >= 3 and rng.random() < 0.3,
    )


@pytest.mark.parametrize("seed", seeds(1))
def test_both_show_the_same_after_each_change(seed: int, sides: tuple[Side, Side]) -> None:
    java, ours = sides
    rng = random.Random(seed)
    differences: list[str] = []
    changes: list[tuple[str, str, str | None]] = []
    for call in range(CALLS):
        scope, key, value = random_change(rng)
        kind, name = RESOURCES[scope]
        codes = [side.alter(kind, name, key, value) for side in (java, ours)]
        changes.append((scope, key, value))
        if codes[0] != codes[1]:
            if codes[0] == 0 and key.endswith(STRICTER):
                java.alter(kind, name, key, None)
                ours.alter(kind, name, key, None)
            else:
                differences.append(f"{call}: {scope} {key}={value!r}: Kafka {codes[0]}, here {codes[1]}")
        elif is_without_effect(scope, key):
            java.alter(kind, name, key, None)
        version = rng.randint(1, 4)
        question = random_question(rng, [key, "retention.ms", "node.id"], version)
        mine = ours.described(question, version)
        try:
            await_result(
                lambda: java.described(question, version) == mine,  # noqa: B023
                "both show the same",
                1.0,
                interval_s=0.02,
            )
        except TimeoutError:
            theirs = java.described(question, version)
            found = {part for result in mine for part in result}
            kafkas = {part for result in theirs for part in result}
            differences.append(
                f"{call}: {question.resources} after {changes[-1]}\n"
                f"  only here: {sorted(map(str, found - kafkas))[:6]}\n"
                f"  only Kafka: {sorted(map(str, kafkas - found))[:6]}"
            )
        if len(differences) > 5:
            break
    assert not differences, "\n".join(differences)
