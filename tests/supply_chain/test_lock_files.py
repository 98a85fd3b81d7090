"""Lock files pin everything by hash and name no index; lower bounds are the versions that are tested."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from itertools import chain

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from tests.supply_chain.locked_distributions import ROOT, read_lock

LOCKS = sorted(ROOT.glob("requirements*.lock"))

PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

EXTRAS = PYPROJECT["project"]["optional-dependencies"]

BOUNDED = [
    Requirement(text)
    for text in chain(
        PYPROJECT["build-system"]["requires"],
        PYPROJECT["project"]["dependencies"],
        *(EXTRAS[name] for name in ("build", "spark", "report", "console")),
    )
]
"""All that users install or build with."""


@cache
def versions(name: str) -> dict[str, str]:
    return {each.name: each.version for each in read_lock(ROOT / name)}


@pytest.mark.parametrize("lock", LOCKS, ids=lambda lock: lock.name)
def test_a_lock_file_has_versions_and_hashes_and_no_address(lock: object) -> None:
    text = (ROOT / str(lock)).read_text()
    assert not re.findall(r"://|^-|--(?!hash=sha256:[0-9a-f]{64}\b)", text, re.MULTILINE)
    assert read_lock(ROOT / str(lock))


@pytest.mark.parametrize("requirement", BOUNDED, ids=str)
def test_a_lower_bound_is_the_version_that_is_tested(requirement: Requirement) -> None:
    """test_lowest_versions.py installs that lock file."""
    (bound,) = [each for each in requirement.specifier if each.operator in (">=", "==")]
    tested = versions("requirements-lowest.lock")[canonicalize_name(requirement.name)]
    assert Version(bound.version) == Version(tested), "`make lock` resolves the lowest versions again"


@pytest.mark.parametrize("part", ["requirements.lock", "requirements-run.lock", "requirements-export.lock"])
def test_all_install_what_the_tests_run_with(part: str) -> None:
    assert versions(part).items() <= versions("requirements-dev.lock").items()
