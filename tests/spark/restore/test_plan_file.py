"""A plan is a text that a person may edit: it is read as it was written, and what is wrong has a place."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftctl_protocol.generated.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_spark.restore.changes import _creatable
from kraftctl_spark.restore.cluster_state import ClusterState
from kraftctl_spark.restore.operations import CreateTopic
from kraftctl_spark.restore.plan import Plan, plan_of
from kraftctl_spark.restore.plan_file import PlanError, _value, parse_plan, plan_text, read_plan
from kraftctl_spark.tables.manifest import ExportRefusedError
from tests.spark.restore.restored_states import SMALL, random_state

SEEDS = range(100)


def plan(state: ClusterState = SMALL, *, with_replicas: bool = True) -> Plan:
    return plan_of(state, offset=7, time="2026-11-21T12:00:00.000Z", with_replicas=with_replicas)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_plan_is_read_as_it_was_written(seed: int) -> None:
    state = random_state(seed)
    assert parse_plan(plan_text(plan(state))) == plan(state)


def test_each_thing_is_a_line() -> None:
    lines = plan_text(plan()).splitlines()
    for line in (
        ", replication_factor = 2, replicas = [[1, 2], [2, 3], [3, 1]] },",
        '    { resource_type = "BROKER", resource_name = "", key = "log.retention.ms", value = "86400000" },',
        '    { entity = { user = "alice" }, default = ["client-id"], key = "producer_byte_rate", value',
    ):
        assert any(line in each for each in lines), line
    assert '{ name = "orders", partitions = 3, replication_factor = 2 }' in plan_text(
        plan(with_replicas=False)
    )


def test_what_cannot_be_restored_has_a_reason() -> None:
    assert [one.what for one in plan().not_restored] == [
        "config BROKER 1 ssl.keystore.password",
        "SCRAM credential keeper SCRAM-SHA-256 with 4096 iterations",
        "feature metadata.version at level 29",
        "delegation token token",
    ]
    assert all(one.reason for one in plan().not_restored)


def test_a_list_that_was_deleted_is_empty() -> None:
    text = plan_text(plan())
    assert parse_plan(text[: text.index("\nconfigs = [")]).topics == plan().topics


@pytest.mark.parametrize(
    ("before", "after", "complaint"),
    [
        pytest.param("format = 1", "format = 2", "its format is 2, and this release reads 1", id="format"),
        pytest.param(
            "partitions = 3", "partitons = 3", "entry 1 of topics needs partitions", id="typing-error"
        ),
        pytest.param("value = 1024.5", "value = 1, valeu = 2", "entry 1 of quotas has 'valeu'", id="unknown"),
        pytest.param(", [3, 1]]", "]", "entry 1 of topics needs replicas = [[1, 2], ...]", id="replicas"),
        pytest.param(
            "partitions = 3", "partitions = 0", "needs 1 partition and 1 replica at least", id="none"
        ),
        pytest.param(
            'default = ["client-id"]', 'default = ["user"]', "each type of entity once", id="entity"
        ),
        pytest.param("acls = [", "acls = [ 5,", "entry 1 of acls is not of the form", id="form"),
        pytest.param('"READ"', '"REED"', "entry 1 of acls: operation 'REED' is none of ALL, READ", id="acl"),
        pytest.param(
            '"TOPIC", resource_name = "orders", k',
            '"T", resource_name = "orders", k',
            "resource_type 'T' is none of TOPIC, BROKER",
            id="resource",
        ),
        pytest.param("acls = [", "acls = 5\nmore = [", "acls is not a list", id="list"),
        pytest.param(
            "acls = [", "topic = 5\nacls = [", "the plan has 'topic', which is not known", id="head"
        ),
        pytest.param("format = 1", "format =", "Invalid value", id="toml"),
    ],
)
def test_a_wrong_entry_is_named(before: str, after: str, complaint: str, tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    assert before in plan_text(plan())
    file.write_text(plan_text(plan()).replace(before, after, 1))
    with pytest.raises(ExportRefusedError) as refused:
        read_plan(file)
    assert str(refused.value).startswith(f"--apply {file}: ")
    assert complaint in str(refused.value)


REPLICAS = "replication_factor = 2, replicas = [[1, 2], [2, 3], [3, 1]]"


@pytest.mark.parametrize(
    ("edited", "complaint"),
    [
        pytest.param("replication_factor = 3, replicas = [[1, 2], [2, 3], [3, 1]]", "= 3, and 2", id="more"),
        pytest.param("replication_factor = 1, replicas = [[1, 2], [2, 3], [3, 1]]", "= 1, and 2", id="fewer"),
        pytest.param("replication_factor = 2, replicas = [[1, 1], [2, 3], [3, 1]]", "twice", id="repeated"),
    ],
)
def test_replicas_that_do_not_fit_are_refused(edited: str, complaint: str) -> None:
    """A factor that was edited beside them would be ignored."""
    with pytest.raises(PlanError, match=complaint):
        parse_plan(plan_text(plan()).replace(REPLICAS, edited))


def numbers_in(value: object, path: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from numbers_in(one, (*path, key))
    elif isinstance(value, (int, float)):
        yield path


NUMBERS = list(numbers_in(tomllib.loads(plan_text(plan()))))


def test_each_kind_of_number_is_in_the_plan() -> None:
    names = {str([part for part in path if isinstance(part, str)][-1]) for path in NUMBERS}
    assert names == {"format", "offset", "partitions", "replication_factor", "replicas", "value"}


@pytest.mark.parametrize(
    "number", [2**15, 2**31, 2**63, 10**400, -(10**400)], ids=["int16", "int32", "int64", "float", "negative"]
)
@pytest.mark.parametrize("path", NUMBERS, ids=lambda path: ".".join(map(str, path)))
def test_a_number_that_no_request_has_room_for_is_refused(path: tuple[str | int, ...], number: int) -> None:
    """Or it is read, and can be sent."""
    found = tomllib.loads(plan_text(plan()))
    inner: Any = found
    for part in path[:-1]:
        inner = inner[part]
    inner[path[-1]] = number
    try:
        read = parse_plan(written(found))
    except PlanError:
        return
    for topic in (*read.topics, *(one._replace(replicas=None) for one in read.topics)):
        created = CreateTopicsRequest(topics=[_creatable(CreateTopic(topic, ()))])
        added = CreatePartitionsTopic(name=topic.name, count=topic.partitions, assignments=None)
        for message in (created, CreatePartitionsRequest(topics=[added])):
            message.encode(message.HIGHEST_VERSION)
    assert -(2**63) < read.offset < 2**63
    assert all(isinstance(one.value, float) for one in read.quotas)


def written(found: dict[str, Any]) -> str:
    """The plan again, with numbers of any size."""
    return "\n".join(f"{name} = {_value(value)}" for name, value in found.items())


def test_a_thing_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "plan.toml"
    lines = plan_text(plan()).splitlines()
    topic = next(line for line in lines if "orders" in line)
    file.write_text("\n".join([*lines[: lines.index(topic)], topic, *lines[lines.index(topic) :]]))
    with pytest.raises(ExportRefusedError, match="topics has orders twice"):
        read_plan(file)
