"""A plan as a text file, in TOML: one line for each thing, which a person may edit or delete."""

from __future__ import annotations

import json
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from kraftctl_spark.restore.cluster_state import NamedAcl, QuotaKey, ResourceConfig
from kraftctl_spark.restore.plan import NotRestored, Plan, PlannedConfig, PlannedQuota, PlannedTopic
from kraftctl_spark.restore.wire_numbers import ACL_FIELDS, acl_number, resource_number
from kraftctl_spark.tables.manifest import ExportRefusedError

FORMAT: Final = 1

INT16_MAX, INT32_MAX, INT64_MAX = (2**bits - 1 for bits in (15, 31, 63))
"""The largest numbers of factors, of partitions and brokers, and of offsets, in Kafka's requests."""

FLOAT_MAX: Final = sys.float_info.max

HEAD: Final = """\
# What a cluster had, and what `kraftctl-export restore --apply` gives to another one that lacks it.
#
# Each line between brackets is one thing, independent of all others: edit it, or delete it. What the other
# cluster has already is left as it is, so a plan may be applied again, also after it was interrupted.
# Nothing is ever deleted. Without --change-existing, what differs is left, and a cluster that has topics is
# given missing topics only.
#
# topics        without `replicas`, the cluster chooses the brokers; with it, they are the brokers of each
#               partition, and are chosen where one of them does not exist
# configs       dynamic ones of a TOPIC, a BROKER (the name "" is the default of all), GROUP, CLIENT_METRICS
# acls          need an authorizer
# quotas        `default` names types of which the entity is the default one
# not_restored  is for you to read; it is not used
#
# Not in a plan at all: data and offsets of consumers, ids of topics and producers, secrets.
"""

T = TypeVar("T")


def plan_text(plan: Plan) -> str:
    """Returns the file; the same plan is the same text."""
    parts = [
        HEAD,
        f"format = {FORMAT}",
        f"cluster_id = {_text(plan.cluster_id)}",
        f"offset = {plan.offset}",
        f"time = {_text(plan.time)}",
        *_list("topics", map(_topic, plan.topics)),
        *_list("configs", map(_config, plan.configs)),
        *_list("acls", (_table(acl._asdict()) for acl in plan.acls)),
        *_list("quotas", map(_quota, plan.quotas)),
        *_list("not_restored", (_table(one._asdict()) for one in plan.not_restored)),
    ]
    return "\n".join(parts) + "\n"


def _list(name: str, lines: Iterable[str]) -> list[str]:
    return ["", f"{name} = [", *(f"    {line}," for line in lines), "]"]


def _topic(topic: PlannedTopic) -> str:
    return _table({name: value for name, value in topic._asdict().items() if value is not None})


def _config(one: PlannedConfig) -> str:
    return _table({**one.config._asdict(), "value": one.value})


def _quota(one: PlannedQuota) -> str:
    entity = {kind: name for kind, name in one.quota.entity if name is not None}
    default = [kind for kind, name in one.quota.entity if name is None]
    found: dict[str, object] = {"entity": entity} if entity else {}
    return _table(
        found | ({"default": default} if default else {}) | {"key": one.quota.key, "value": one.value}
    )


def _table(values: Mapping[str, object]) -> str:
    return "{ " + ", ".join(f"{_key(name)} = {_value(value)}" for name, value in values.items()) + " }"


def _key(name: str) -> str:
    is_bare = name.isascii() and name.replace("_", "").replace("-", "").isalnum()
    return name if is_bare else _text(name)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, Mapping):
        return _table(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_value, value)) + "]"
    assert isinstance(value, (int, float)), value
    return repr(value)


def _text(text: str) -> str:
    """Returns a basic string: TOML has the escapes of JSON, and allows no DEL."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read_plan(file: Path) -> Plan:
    """Reads a plan; ExportRefusedError names the list and the entry that is wrong. OSError."""
    try:
        return parse_plan(file.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, PlanError) as error:
        raise ExportRefusedError(f"--apply {file}: {error}. Correct it, or write the plan again.") from error


class PlanError(Exception):
    """An entry of a plan is wrong; the text says which one and why."""


def parse_plan(text: str) -> Plan:
    """Parses the text; PlanError or tomllib.TOMLDecodeError."""
    found = tomllib.loads(text)
    head = _Entry("the plan", found)
    version = head.take("format", int)
    if version != FORMAT:
        raise PlanError(f"its format is {version}, and this release reads {FORMAT}")
    plan = Plan(
        head.take("cluster_id", str),
        head.take_number("offset", INT64_MAX),
        head.take("time", str),
        _unique("topics", _entries(found, "topics", _read_topic), lambda one: one.name),
        _unique("configs", _entries(found, "configs", _read_config), lambda one: one.config),
        _unique("acls", _entries(found, "acls", _read_acl), lambda one: one),
        _unique("quotas", _entries(found, "quotas", _read_quota), lambda one: one.quota),
        _entries(found, "not_restored", lambda e: NotRestored(e.take("what", str), e.take("reason", str))),
    )
    head.check_empty(beside=("topics", "configs", "acls", "quotas", "not_restored"))
    return plan


class _Entry:
    """One table of the file, whose values are taken by name."""

    def __init__(self, where: str, values: object) -> None:
        if not isinstance(values, dict):
            raise PlanError(f"{where} is not of the form {{ name = value }}")
        self.where = where
        self._values = dict(values)

    def has(self, name: str) -> bool:
        return name in self._values

    def take(self, name: str, kind: type[T]) -> T:
        value = self._values.pop(name, None)
        if kind is float and type(value) is int and abs(value) <= FLOAT_MAX:
            value = float(value)
        if type(value) is not kind:
            raise PlanError(f"{self.where} needs {name}, of type {kind.__name__}")
        return value

    def take_number(self, name: str, number_max: int) -> int:
        """Returns a whole number that a request has room for."""
        value = self.take(name, int)
        if not -number_max <= value <= number_max:
            raise PlanError(f"{self.where} has {name} = {value}, and {number_max} is the largest possible")
        return value

    def check(self, name: str, number_of: Callable[[str], int], value: str) -> None:
        try:
            number_of(value)
        except ValueError as error:
            raise PlanError(f"{self.where}: {name} {error}") from error

    def check_empty(self, beside: tuple[str, ...] = ()) -> None:
        for name in self._values:
            if name not in beside:
                raise PlanError(f"{self.where} has {name!r}, which is not known")


def _entries(found: dict[str, Any], name: str, read: Callable[[_Entry], T]) -> tuple[T, ...]:
    values = found.get(name, [])
    if not isinstance(values, list):
        raise PlanError(f"{name} is not a list")

    def all_of() -> Iterator[T]:
        for number, value in enumerate(values, start=1):
            entry = _Entry(f"entry {number} of {name}", value)
            yield read(entry)
            entry.check_empty()

    return tuple(all_of())


def _unique(name: str, entries: tuple[T, ...], key_of: Callable[[T], object]) -> tuple[T, ...]:
    seen: set[object] = set()
    for entry in entries:
        key = key_of(entry)
        if key in seen:
            raise PlanError(f"{name} has {key} twice")
        seen.add(key)
    return entries


def _read_topic(entry: _Entry) -> PlannedTopic:
    name, partitions = entry.take("name", str), entry.take_number("partitions", INT32_MAX)
    factor = entry.take_number("replication_factor", INT16_MAX)
    if partitions < 1 or factor < 1:
        raise PlanError(f"{entry.where} needs 1 partition and 1 replica at least")
    if not entry.has("replicas"):
        return PlannedTopic(name, partitions, factor)
    replicas = entry.take("replicas", list)
    is_right = len(replicas) == partitions and all(
        isinstance(one, list) and one and all(map(_is_broker, one)) for one in replicas
    )
    if not is_right:
        raise PlanError(f"{entry.where} needs replicas = [[1, 2], ...], with the brokers of each partition")
    if any(len(set(one)) < len(one) for one in replicas):
        raise PlanError(f"{entry.where} has replicas with a broker twice for one partition")
    longest = max(map(len, replicas))
    if longest != factor:
        raise PlanError(
            f"{entry.where} has replication_factor = {factor}, and {longest} brokers in its longest list of"
            " replicas: change both, or delete replicas, and the cluster chooses the brokers"
        )
    return PlannedTopic(name, partitions, factor, tuple(tuple(one) for one in replicas))


def _is_broker(value: object) -> bool:
    return type(value) is int and 0 <= value <= INT32_MAX


def _read_config(entry: _Entry) -> PlannedConfig:
    config = ResourceConfig(*(entry.take(name, str) for name in ResourceConfig._fields))
    entry.check("resource_type", resource_number, config.resource_type)
    return PlannedConfig(config, entry.take("value", str))


def _read_acl(entry: _Entry) -> NamedAcl:
    """A node closes the connection for a name without a number, so all ACLs of a request would fail."""
    acl = NamedAcl(*(entry.take(name, str) for name in NamedAcl._fields))
    for name in ACL_FIELDS:
        entry.check(name, partial(acl_number, name), getattr(acl, name))
    return acl


def _read_quota(entry: _Entry) -> PlannedQuota:
    entity: dict[str, object] = entry.take("entity", dict) if entry.has("entity") else {}
    default: list[object] = entry.take("default", list) if entry.has("default") else []
    found: dict[str, str | None] = {}
    for kind, name in [*entity.items(), *((kind, None) for kind in default)]:
        if not isinstance(kind, str) or kind in found or not (name is None or isinstance(name, str)):
            raise PlanError(f"{entry.where} needs names of type str, and each type of entity once")
        found[kind] = name
    if not found:
        raise PlanError(f"{entry.where} needs an entity")
    quota = QuotaKey(tuple(sorted(found.items())), entry.take("key", str))
    return PlannedQuota(quota, entry.take("value", float))
