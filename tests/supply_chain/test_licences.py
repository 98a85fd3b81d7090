"""A licence that licences.toml does not allow is red."""

from __future__ import annotations

import tomllib
from email.message import Message
from importlib import metadata
from typing import Any

import pytest

from tests.supply_chain.licences import NEXT_STEP, RULES, findings, is_allowed, licence_of
from tests.supply_chain.locked_distributions import ROOT, Locked, read_lock

SPELLED = tomllib.loads(RULES.read_text())["spelled"]

ALLOWED = ("MIT", "BSD-3-Clause")


class Described(metadata.Distribution):
    """A distribution with these metadata."""

    def __init__(self, *fields: tuple[str, str]) -> None:
        self._fields = fields

    @property
    def metadata(self) -> Any:
        message = Message()
        for name, value in self._fields:
            message[name] = value
        return message

    def read_text(self, filename: str) -> str | None:
        return None

    def locate_file(self, path: Any) -> Any:
        return path


OSI = "License :: OSI Approved"


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        pytest.param([("License-Expression", "MIT"), ("License", "other")], "MIT", id="expression"),
        pytest.param([("License", "BSD-2-Clause")], "BSD-2-Clause", id="text-is-an-identifier"),
        pytest.param([("License", "Apache 2.0")], "Apache-2.0", id="text-is-spelled"),
        pytest.param([("License", "see LICENSE"), ("Classifier", f"{OSI} :: MIT License")], "MIT",
                     id="classifier"),
        pytest.param([("Classifier", f"{OSI} :: MIT License"), ("Classifier", f"{OSI} :: Other")],
                     "MIT AND Other", id="all-classifiers"),
        pytest.param([("License", "Do what\nyou want")], "Do what", id="free-text"),
        pytest.param([("Classifier", OSI)], "", id="none"),
        pytest.param([], "", id="nothing"),
    ],
)  # fmt: skip
def test_what_a_distribution_says_of_itself(fields: list[tuple[str, str]], licence: str) -> None:
    assert licence_of(Described(*fields), SPELLED) == licence


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("GPL-3.0-only", False),
        ("MIT OR GPL-3.0-only", True),
        ("MIT AND GPL-3.0-only", False),
        ("MIT AND (GPL-3.0-only OR BSD-3-Clause)", True),
        ("MIT WITH Classpath-exception-2.0", False),
        ("MIT AND Other", False),
        ("Proprietary", False),
        ("(MIT", False),
        ("", False),
    ],
)
def test_of_alternatives_one_is_enough(expression: str, allowed: bool) -> None:
    assert is_allowed(expression, ALLOWED) == allowed


def locked(name: str, version: str | None = None, *, wanted: bool = True) -> Locked:
    return Locked(name, version or metadata.version(name), ("0" * 64,), wanted)


def why(lock: list[Locked], **exceptions: dict[str, str]) -> list[str]:
    rules = {"allowed": ["MIT"], "spelled": SPELLED, "exceptions": exceptions}
    return [reason for _, _, reason in findings(lock, rules)]


HYPOTHESIS = {"licence": "MPL-2.0", "reason": "only tests use it"}


def test_others_need_an_exception_with_a_reason() -> None:
    assert why([locked("pluggy")]) == [""]
    refused = f"MPL-2.0 is not allowed. {NEXT_STEP}"
    assert why([locked("hypothesis")]) == [refused]
    assert why([locked("hypothesis")], hypothesis=HYPOTHESIS) == [""]
    assert why([locked("hypothesis")], hypothesis={**HYPOTHESIS, "licence": "MIT"}) == [refused]
    assert why([locked("hypothesis")], hypothesis={**HYPOTHESIS, "reason": ""}) == [refused]


def test_what_is_not_installed_is_not_known() -> None:
    unknown = ["it is not installed, so its licence is not known. Next step: `make setup`"]
    assert why([locked("hypothesis", "0.1")]) == unknown
    assert why([locked("no-such-distribution", "1", wanted=False)]) == unknown
    elsewhere = {"no-such-distribution": HYPOTHESIS}
    assert why([locked("no-such-distribution", "1")], **elsewhere) == unknown
    assert why([locked("no-such-distribution", "1", wanted=False)], **elsewhere) == [""]


def test_an_exception_for_nothing_is_red() -> None:
    (reason,) = why([], hypothesis=HYPOTHESIS)
    assert reason.startswith("it is not locked any more. Next step: remove its exception")


def test_all_that_is_locked_is_allowed() -> None:
    """The colours of `make licences`."""
    lock = read_lock(ROOT / "requirements-dev.lock")
    found = list(findings(lock, tomllib.loads(RULES.read_text())))
    assert len(found) == len(lock)
    assert [f"{title}: {reason}" for title, _, reason in found if reason] == []
