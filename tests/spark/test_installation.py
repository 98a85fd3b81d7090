"""The exporter installed by itself: what it requires, and what it does not."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]

WITHOUT = """
import importlib, pkgutil, sys
sys.modules["uvloop"] = None
import kraftctl_spark
for found in pkgutil.walk_packages(kraftctl_spark.__path__, "kraftctl_spark."):
    importlib.import_module(found.name)
print("kraftctl" in sys.modules)
"""


def test_the_extra_accepts_a_range_of_pyspark() -> None:
    """One exact version cannot be installed beside a Spark cluster of another one."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    (pyspark,) = [each for each in extras["spark"] if each.startswith("pyspark")]
    assert pyspark == "pyspark>=4.2,<4.4", "an export ran on 4.2.0 and 4.3.0: try others first"


def test_the_exporter_needs_no_uvloop_and_nothing_of_the_service() -> None:
    made = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert made.stdout == "False\n", made.stderr
