"""The modules around the pure core that `setup.py` compiles, as pyproject.toml names them."""

from __future__ import annotations

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def compiled_rim() -> frozenset[str]:
    """A folder means all of its modules but those that `interpreted-rim` names."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["kraftctl"]
    modules: set[str] = set()
    for name in settings["compiled-rim"]:
        path = ROOT / name.replace(".", "/")
        inside = {f"{name}.{file.stem}" for file in path.glob("*.py") if file.stem != "__init__"}
        modules |= inside or {name}
    left_out = set(settings["interpreted-rim"])
    assert left_out <= modules, f"interpreted-rim names what no folder has: {sorted(left_out - modules)}"
    return frozenset(modules - left_out)
