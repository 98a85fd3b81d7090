"""Every fact in `schemas/` matches Kafka's released jars, checked without the code that merges releases."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from functools import cache
from typing import Any

import pytest

from kraftctl_codegen.__main__ import REPOSITORY, load_schemas
from kraftctl_codegen.messages.import_schemas import NEWEST, OLDER, import_all, jar_path, read_release
from kraftctl_codegen.messages.spec import FieldSpec, MessageSpec, parse_message
from kraftctl_codegen.messages.versions import Versions

pytestmark = pytest.mark.java

OURS = [pytest.param(folder, message, id=message.name) for folder, message in load_schemas()]


@cache
def release(version: str) -> dict[str, dict[str, dict[str, Any]]]:
    return read_release(version)


def their_message(version: str, folder: str, name: str) -> MessageSpec | None:
    raw = release(version)[folder].get(name)
    if raw is None or raw["validVersions"] == "none":
        return None
    return parse_message(raw)


def facts(fields: tuple[FieldSpec, ...], version: int, path: str = "") -> Iterator[tuple[Any, ...]]:
    """All that one version of a message says, in the order of the bytes."""
    for field in fields:
        if version not in field.versions:
            continue
        yield (
            path + field.name,
            field.type,
            version in field.nullable,
            field.tag if version in field.tagged else None,
            field.flexible,
            repr(field.default),
            field.ignorable,
            field.map_key,
            field.entity_type,
            field.zero_copy,
        )
        if field.struct is not None:
            yield from facts(field.struct.fields, version, f"{path}{field.name}.")


@pytest.mark.parametrize(("folder", "ours"), OURS)
def test_every_version_says_what_kafka_says(folder: str, ours: MessageSpec) -> None:
    new, old = their_message(NEWEST, folder, ours.name), their_message(OLDER, folder, ours.name)
    for version in range(ours.valid.lowest, ours.valid.highest + 1):
        theirs = new if new is not None and version in new.valid else old
        assert theirs is not None
        assert version in theirs.valid
        assert list(facts(ours.fields, version)) == list(facts(theirs.fields, version)), version
        assert (version in ours.flexible) == (version in theirs.flexible)
    assert ours.valid == union(new.valid if new else None, old.valid if old else None)


@pytest.mark.parametrize(("folder", "ours"), OURS)
def test_what_is_not_per_version(folder: str, ours: MessageSpec) -> None:
    theirs = their_message(NEWEST, folder, ours.name) or their_message(OLDER, folder, ours.name)
    assert theirs is not None
    assert ours.type == theirs.type
    assert ours.api_key == theirs.api_key
    assert ours.listeners == theirs.listeners
    assert ours.latest_version_unstable == theirs.latest_version_unstable
    assert ours.deprecated == theirs.deprecated


BETWEEN = "4.3.1"


@pytest.mark.parametrize(("folder", "ours"), OURS)
def test_the_release_between_has_no_other_facts(folder: str, ours: MessageSpec) -> None:
    """The reference of most tests is neither the newest release nor the oldest."""
    theirs = their_message(BETWEEN, folder, ours.name)
    if theirs is not None:
        for version in range(theirs.valid.lowest, theirs.valid.highest + 1):
            assert list(facts(ours.fields, version)) == list(facts(theirs.fields, version)), version
            assert (version in ours.flexible) == (version in theirs.flexible)


def union(*ranges: Versions | None) -> Versions:
    known = [one for one in ranges if one is not None]
    return Versions(min(one.lowest for one in known), max(one.highest for one in known))


def test_nothing_a_controller_listens_to_is_left_out() -> None:
    there = {message.name for _, message in load_schemas()}
    for version in (NEWEST, OLDER):
        messages = release(version)["message"]
        for name, raw in messages.items():
            if raw["type"] == "request" and "controller" in raw.get("listeners", ()):
                assert name in there
                assert name.replace("Request", "Response") in there
        records = {
            name for name, raw in release(version)["metadata"].items() if raw["validVersions"] != "none"
        }
        assert records <= there


def test_importing_again_changes_nothing() -> None:
    for name, text in import_all().items():
        assert (REPOSITORY / "schemas" / name).read_text(encoding="utf-8") == text, name


def test_the_jars_are_those_that_were_imported() -> None:
    source = tomllib.loads((REPOSITORY / "schemas/SOURCE.toml").read_text(encoding="utf-8"))
    assert source["kafka_version"] == NEWEST
    assert len(source["jar"]) == 6
    for jar in source["jar"]:
        _, artifact, version = jar["coordinate"].split(":")
        assert hashlib.sha256(jar_path(artifact, version).read_bytes()).hexdigest() == jar["sha256"]
