"""docs/limits.md promises figures: those of the constants, and defaults of the keys, that its rows name."""

from __future__ import annotations

import importlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.config.own_keys import OWN_KEYS
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from tests.support.active_controller import BASE_PROPERTIES

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "limits.md").read_text()

NAME = re.compile(r"`([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)`")
FIGURE = re.compile(
    r"(\d[\d,]*(?:\.\d+)?|\b(?:one|two|three|five|half)\b)\s?(KiB|MiB|GiB|bytes|ms|s\b|second)?",
    re.IGNORECASE,
)
WORDS = {"half": 0.5, "one": 1, "two": 2, "three": 3, "five": 5}
UNITS = {"kib": 1 << 10, "mib": 1 << 20, "gib": 1 << 30, "bytes": 1, "ms": 10**6, "s": 10**9, "second": 10**9}

NO_FIGURES = {
    "GROUPS": "names curves",
    "KAFKA_OPTS": "of the environment",
    "O_NONBLOCK": "of the system",
}

NO_KEYS = {"cluster.id": "of meta.properties", "directory.id": "the same", "kraftctl.stderr": "a logger"}

SHOWN_BY = {
    "CHAIN_BYTES_MAX": "server/security/test_client_certificates.py::test_a_chain_has_ten_certificates",
    "EARLY_RESPONSE_MS": "raft/test_hostile_leader.py::test_a_follower_of_a_hostile_leader",
    "EARLY_MS_MAX": "raft/test_hostile_leader.py::test_a_follower_of_a_hostile_leader",
    "HANDSHAKE_RECORD_BYTES": "server/security/test_ssl_records.py::test_a_handshake_has_limited_bytes_and",
    "HELD_WHILE_BUSY_BYTES_MAX": "server/listeners/test_listener_limits.py::test_later_requests_are_not_read",
    "NODES_MAX": "cli/test_hostile_nodes.py::test_a_node_without_a_usable_response",
    "OBSERVER_RESPONSES_PER_SECOND_MAX": "raft/test_observer_wakes.py::test_many_observers_ask_less_often",
    "RENEWERS_MAX": "controller/test_token_limits.py::test_renewers_have_limits",
    "ROOM_SECONDS": "server/loop/test_response_reads.py::test_while_clients_have_answers_to_read_a_pause",
    "ROUND_INTERVAL_MS": "raft/test_leadership_rounds.py::test_who_asks_before_any_voter_is_informed",
    "STARTS_MAX": "spark/test_hostile_controllers.py::test_a_hostile_controller_alone",
    "SERVER_HANDSHAKE_BYTES_MAX": "clients/test_hostile_ssl_nodes.py::test_a_handshake_without_end_ends",
    "SUBJECT_ATTRIBUTES_MAX": "server/security/test_client_certificates.py::test_a_subject_has_twenty_parts",
    "UNSENT_BYTES_MAX": "server/connections/test_budgets.py::test_eight_of_the_largest_answers_wait",
}
"""Tests that show a limit without its name."""


class Promise(NamedTuple):
    """`text` is what the row says before the constant, up to the one before it."""

    name: str
    text: str


def promises() -> Iterator[Promise]:
    for row in PAGE.splitlines():
        if not row.startswith("| "):
            continue
        begins = 0
        for part in re.finditer(r"\([^()]*\)", row):
            names = NAME.findall(part.group())
            if names:
                yield from (Promise(name, row[begins : part.start()] + part.group()) for name in names)
                begins = part.end()


@cache
def constants() -> dict[str, list[str]]:
    """The modules that define a constant of the product, by its name."""
    found: dict[str, list[str]] = {}
    for package in (ROOT / "kraftctl", ROOT / "protocol", ROOT / "spark"):
        for path in sorted(package.rglob("*.py")):
            if "generated" in path.parts:
                continue
            above = ROOT if package.name == "kraftctl" else package
            module = ".".join(path.relative_to(above).with_suffix("").parts)
            for name in re.findall(r"^([A-Z][A-Z0-9_]+)(?:: [^=\n]+)? = ", path.read_text(), re.MULTILINE):
                found.setdefault(name, []).append(module)
    return found


def values_of(name: str) -> list[Any]:
    return [getattr(importlib.import_module(module), name) for module in constants().get(name, [])]


def figures(text: str) -> set[float]:
    """Bytes, nanoseconds, and numbers without a unit."""
    found = set()
    for number, unit in FIGURE.findall(text):
        value = WORDS.get(number.lower()) or float(number.replace(",", ""))
        found.add(value * UNITS.get(unit.lower(), 1))
    return found


def is_promised(name: str, value: Any, promised: set[float]) -> bool:
    if isinstance(value, Mapping):
        return all(is_promised(name, each, promised) for each in value.values())
    scale = 10**9 if "SECONDS" in name else 10**6 if name.endswith(("_MS", "_MS_MAX")) else 1
    return round(value * scale, 6) in {round(each, 6) for each in promised}


PROMISES = list(promises())


def test_all_constants_of_the_page_are_found() -> None:
    in_tables = {name for row in PAGE.splitlines() if row.startswith("| ") for name in NAME.findall(row)}
    assert in_tables - {each.name for each in PROMISES} - set(NO_FIGURES) == set()
    assert len(PROMISES) > 45


@pytest.mark.parametrize(
    "promise", [each for each in PROMISES if each.name not in NO_FIGURES], ids=lambda each: each.name
)
def test_the_figure_is_that_of_the_constant(promise: Promise) -> None:
    values = values_of(promise.name)
    assert values, "the product has no such constant"
    assert any(is_promised(promise.name, each, figures(promise.text)) for each in values), values


KEYS = sorted(set(re.findall(r"`([a-z]+(?:\.[a-z]+)+)`", PAGE)))


def test_keys_exist() -> None:
    known = {*OWN_KEYS, *BROKER_CONFIG_KEYS, *NO_KEYS}
    assert [key for key in KEYS if key not in known] == []


def test_defaults_are_those_of_the_keys() -> None:
    promised = {
        key: figures(figure)
        for key, figure in re.findall(r"`([a-z.]+)`, ((?:\d[\d,]*|ten) \w+)", PAGE)
        if key in BROKER_CONFIG_KEYS
    }
    promised["connections.max.idle.ms"] = {600_000 * 10**6}
    assert "`connections.max.idle.ms`, ten minutes" in PAGE
    assert len(promised) == 3
    for key, found in promised.items():
        default = float(str(BROKER_CONFIG_KEYS[key].default))
        assert default * (10**6 if key.endswith(".ms") else 1) in found, key
    config = ControllerConfig(BASE_PROPERTIES)
    limits, interval_ms = config.token_limits, config.observer_fetch_interval_ms
    assert f"`{limits.per_owner_key}`, {limits.per_owner_max:,}" in PAGE
    assert f"`{limits.all_key}`, {limits.all_max:,}" in PAGE
    assert f"`kraftctl.observer.fetch.interval.ms`, {interval_ms} ms" in PAGE


def test_each_limit_is_in_a_test() -> None:
    tests = ROOT / "tests"
    named = set()
    for path in tests.rglob("*.py"):
        if path != Path(__file__):
            named.update(re.findall(r"\b[A-Z][A-Z0-9_]+\b", path.read_text()))
    for name in sorted({each.name for each in PROMISES}):
        file, _, test = SHOWN_BY.get(name, "").partition("::")
        is_shown = f"def {test}" in (tests / file).read_text() if file else name in named
        assert is_shown, f"{name}: name the test that shows it in SHOWN_BY"
