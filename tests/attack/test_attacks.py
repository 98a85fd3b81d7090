"""Every attack, smaller, on a compiled controller: what `make attack` does in full.

The limit for heartbeats is wider than there: other tests run on the same processors.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.attack.attacked_controller import Template
from tests.attack.attacks import ATTACKS, QUICK, Attack
from tests.attack.run import DIRECTORIES, measure

HEARTBEAT_MS_MAX = 400.0

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def place() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(
        prefix="attack-", dir=DIRECTORIES if DIRECTORIES.is_dir() else None
    ) as name:
        yield Path(name)


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(False, id="no-authorizer", marks=pytest.mark.long),
        pytest.param(True, id="authorizer"),
    ],
)
def template(request: pytest.FixtureRequest, place: Path) -> Template:
    template = Template(place / f"template-{request.param}", authorizer=request.param)
    template.make()
    return template


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name.replace(" ", "-"))
def test_an_attack_is_withstood(attack: Attack, template: Template, place: Path) -> None:
    directory = Path(tempfile.mkdtemp(dir=place)) / "attacked"
    if template.authorizer or not attack.with_authorizer_only:
        measured = measure(attack, template, QUICK, directory)
        assert measured.failures(HEARTBEAT_MS_MAX) == [], measured
