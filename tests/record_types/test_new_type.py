"""A record type or a field, added to a copy of the schemas, fails by name in every consumer without it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

TESTS = [f"tests/record_types/test_{name}.py" for name in ("service", "exporter")]

NEW_TYPE = {
    "apiKey": 99,
    "type": "metadata",
    "name": "InventedRecord",
    "validVersions": "0",
    "flexibleVersions": "0+",
    "fields": [
        {"name": "Id", "type": "int32", "versions": "0+"},
        {"name": "Text", "type": "string", "versions": "0+"},
    ],
}

GROWN_TYPE = "UnregisterBrokerRecord"

NEW_FIELD = {"name": "Reason", "type": "string", "versions": "1+"}

MADE_FROM_THE_SCHEMA = {"test_it_has_a_typed_table_with_every_field"}
"""Consumers that know a type as soon as its schema is there."""


NOTICE_A_FIELD = {
    "test_every_field_matters_to_the_image",
    "test_the_metadata_version_that_allows_each_version_is_known",
    "test_the_history_takes_every_field",
    "test_every_field_matters_to_the_history",
}


@pytest.fixture(scope="module")
def failed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, set[str]]:
    """Type -> the tests of the copy that fail for it."""
    copy = tmp_path_factory.mktemp("sources")
    for name in (
        "kraftctl",
        "kraftctl_codegen",
        "protocol",
        "spark",
        "schemas",
        "tests/record_types",
        "tests/support",
    ):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("build"))
    for name in ("pyproject.toml", "tests/conftest.py"):
        shutil.copy2(ROOT / name, copy / name)
    (copy / "schemas" / "metadata" / "InventedRecord.json").write_text(json.dumps(NEW_TYPE))
    grown = copy / "schemas" / "metadata" / f"{GROWN_TYPE}.json"
    schema = json.loads(grown.read_text())
    schema |= {"validVersions": "0-1", "fields": [*schema["fields"], NEW_FIELD]}
    grown.write_text(json.dumps(schema))
    run(copy, "-m", "kraftctl_codegen", status=0)
    chosen = ["-k", f"InventedRecord or {GROWN_TYPE}", *TESTS]
    printed = run(copy, "-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", *chosen, status=1)
    found: dict[str, set[str]] = {}
    for test, name in re.findall(r"^(?:FAILED|ERROR) \S+::(\w+)\[(\w+)\]", printed, re.MULTILINE):
        found.setdefault(name, set()).add(test)
    return found


def run(copy: Path, *arguments: str, status: int) -> str:
    """What Python printed, from the sources of the copy."""
    path = os.pathsep.join(str(copy / name) for name in (".", "protocol", "spark"))
    environment = {**os.environ, "PYTHONPATH": path, "KRAFTCTL_UNDER_TEST": "sources", "COLUMNS": "500"}
    ran = subprocess.run(
        [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, check=False
    )
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout


def test_every_consumer_fails_by_name(failed: dict[str, set[str]]) -> None:
    each = re.compile(r"^@EVERY_TYPE\ndef (test_\w+)", re.MULTILINE)
    consumers = {test for path in TESTS for test in each.findall((ROOT / path).read_text())}
    assert failed["InventedRecord"] == consumers - MADE_FROM_THE_SCHEMA


def test_a_new_field_is_noticed_by_name(failed: dict[str, set[str]]) -> None:
    assert failed[GROWN_TYPE] == NOTICE_A_FIELD
