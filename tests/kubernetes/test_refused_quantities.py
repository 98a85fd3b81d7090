"""Quantities of Kubernetes in values, in each of its spellings, and the volumes that no upgrade changes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.kubernetes_tools import CHART, helm, with_values
from tests.kubernetes.test_refused_changes import installed, upgrade
from tests.kubernetes.test_refused_values import memory, refused

pytestmark = [pytest.mark.long, pytest.mark.timeout(1900)]

SMALLER = [
    "268435456",
    "2.68435456e+08",
    "268435456e0",
    "0.25Gi",
    "268435456000m",
    "1M",
    "1u",
    "1n",
    "1k",
    "1Ki",
]
LARGER = ["1G", "1Gi", "1T", "1Ti", "1P", "1Pi", "1E", "1Ei", "1e9", "1E9"]


@pytest.mark.parametrize("larger", LARGER)
def test_each_spelling_is_compared(larger: str, tmp_path: Path) -> None:
    """The suffixes of Kubernetes, and its exponents."""
    assert refused(tmp_path, memory(larger, "999M")) == ""
    assert "requests.memory is 999M" not in refused(tmp_path, memory(larger, larger))
    assert f"set a limit of {larger} or more" in refused(tmp_path, memory("999M", larger))


@pytest.mark.parametrize("smaller", SMALLER)
def test_a_smaller_request_is_rendered(smaller: str, tmp_path: Path) -> None:
    assert refused(tmp_path, memory("512Mi", smaller)) == ""


@pytest.mark.parametrize("key", ["requests", "limits"])
def test_no_quantity_is_refused_with_its_key(key: str, tmp_path: Path) -> None:
    both: dict[str, Any] = {"requests": {"memory": "1Gi"}, "limits": {"memory": "1Gi"}}
    for text in ("1 GB", "1Zi", "-1", "", "1ee", "Gi"):
        said = refused(tmp_path, {"resources": {**both, key: {"memory": text}}})
        assert f"resources.{key}.memory is {text}, and a quantity" in said, text
        for suffix in ["n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"]:
            assert re.search(rf"\b{suffix}\b", said), suffix
        assert "Next step: write resources" in said


def test_a_whole_number_is_written_in_full(tmp_path: Path) -> None:
    """As a file of values has it: Helm reads it as a floating-point number."""
    whole = {"requests": {"memory": 268435456}, "limits": {"memory": 536870912}}
    assert refused(tmp_path, {"resources": whole}) == ""
    said = refused(tmp_path, {"resources": {**whole, "limits": {"memory": 134217728}}})
    assert "requests.memory is 268435456 and resources.limits.memory 134217728" in said
    assert "a limit of 268435456 or more" in said
    said = refused(tmp_path, {"resources": {"limits": {"memory": 1000000}, "requests": {"memory": 1}}})
    assert "resources.limits.memory is 1000000:" in said


@pytest.mark.parametrize("size", ["0Gi", "50Mi", "99Mi", "1M", "100k"])
def test_little_storage_is_refused_at_an_installation_alone(size: str, tmp_path: Path) -> None:
    values = {"storage": {"size": size}}
    before, _, after = refused(tmp_path, values).partition("Next step: ")
    assert f"storage.size is {size}" in before
    assert "set storage.size=10Gi, or 100Mi or more" in after
    flags = ["--is-upgrade", "--namespace", "kafka", *with_values(tmp_path, values)]
    assert helm("template", "kraftctl", str(CHART), *flags).stderr == ""
    there = installed(tmp_path, {})
    there["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"] = size
    assert upgrade(tmp_path, values, there) == ""


@pytest.mark.parametrize(
    ("before", "after", "next_step"),
    [
        ({}, {"size": "20Gi"}, "leave storage.size=10Gi, and grow the PersistentVolumeClaims themselves"),
        ({}, {"size": "5Gi"}, "leave storage.size=10Gi, and grow the PersistentVolumeClaims themselves"),
        ({}, {"className": "fast"}, "leave storage.className=null"),
        ({"className": "slow"}, {"className": "fast"}, "leave storage.className=slow"),
        ({"className": "slow"}, {}, "leave storage.className=slow"),
        ({}, {"size": "10240Mi"}, ""),
        ({"className": "slow", "size": "1.5Gi"}, {"className": "slow", "size": "1536Mi"}, ""),
    ],
)
def test_volumes_of_a_release_stay(
    before: dict[str, Any], after: dict[str, Any], next_step: str, tmp_path: Path
) -> None:
    """Kubernetes refuses another template of volumes, and compares sizes as numbers."""
    said = upgrade(tmp_path, {"storage": after}, installed(tmp_path, {"storage": before}))
    assert (said != "") == bool(next_step)
    assert next_step in said
