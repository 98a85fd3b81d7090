"""Every attack, smaller, on a compiled controller: what `make attack` does in full.

The limit for heartbeats is wider than there: other tests run on the same processors.
"""

from __future__ import annotations

import math
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


SIMILAR = 9
"""Of dense bodies and of crowds, this part is sent in each run of CI; all are in the long one."""


def similar(attack: Attack) -> bool:
    """Returns whether another dense body, or another crowd, represents this one."""
    for kind in ("dense ", "crowd: "):
        of_its_kind = [one.name for one in ATTACKS if one.name.startswith(kind) and one.name != "dense crowd"]
        if attack.name in of_its_kind and of_its_kind.index(attack.name) % SIMILAR != 0:
            return True
    return False


@pytest.mark.parametrize(
    "attack",
    [
        pytest.param(
            attack, id=attack.name.replace(" ", "-"), marks=[pytest.mark.long] if similar(attack) else []
        )
        for attack in ATTACKS
    ],
)
def test_an_attack_is_withstood(attack: Attack, template: Template, place: Path) -> None:
    if not attack.over_ssl_only and attack.with_authorizer_only <= template.authorizer:
        withstand(attack, template, place)


@pytest.mark.long
@pytest.mark.parametrize(
    "name",
    [
        *("handshakes", "unfinished handshakes", "unread responses", "slow connections"),
        *("finite fields", "changes of keys", "records of a byte"),
    ],
)
def test_an_attack_over_ssl_is_withstood(name: str, place: Path) -> None:
    template = Template(Path(tempfile.mkdtemp(dir=place)) / "template", authorizer=False, over_ssl=True)
    template.make()
    withstand(next(attack for attack in ATTACKS if attack.name == name), template, place)


def withstand(attack: Attack, template: Template, place: Path) -> None:
    """Again, if nothing but a heartbeat was late: an attack delays it each time, a busy machine does not."""
    for _ in range(2):
        measured = measure(attack, template, QUICK, Path(tempfile.mkdtemp(dir=place)) / "attacked")
        if measured.failures(math.inf):
            break
        if not measured.failures(HEARTBEAT_MS_MAX):
            return
    assert measured.failures(HEARTBEAT_MS_MAX) == [], measured
