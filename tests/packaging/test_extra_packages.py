"""The command that installs an extra: one line, of packages of an index, for the environment that runs."""

from __future__ import annotations

import shlex
import sys
import tomllib
from pathlib import Path

import pytest

from kraftctl_protocol.extra_packages import install_command

ROOT = Path(__file__).resolve().parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
REQUIRED = [f'{each}; extra == "{name}"' for name, all_of in EXTRAS.items() for each in all_of]


@pytest.mark.parametrize("extra", ["completion", "console", "delta", "export", "iceberg", "report", "spark"])
def test_an_extra_is_its_packages(extra: str) -> None:
    """Those of an extra that it includes, too: no index has kraftctl."""
    words = shlex.split(install_command(extra, ["unused"], REQUIRED))
    assert words[:4] == [sys.executable, "-m", "pip", "install"]
    own = [each for each in EXTRAS[extra] if not each.startswith("kraftctl")]
    more = [] if own == EXTRAS[extra] else EXTRAS["export"]
    assert words[4:] == sorted({*own, *more})


def test_sources_name_what_is_missing() -> None:
    """They have no metadata."""
    assert install_command("console", ["uvicorn"], []) == f"{sys.executable} -m pip install uvicorn"


def test_an_environment_without_pip_is_named_to_another_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraftctl_protocol.extra_packages.distributions", lambda name: iter(()))
    assert install_command("report", ["a"], []) == f"pip --python {sys.executable} install a"
