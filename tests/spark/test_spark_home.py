"""The Spark that the export job uses."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from kraftctl_spark.datasource.spark_home import light_spark_home


def test_an_installed_spark_without_its_zip(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    with light_spark_home():
        home = Path(os.environ["SPARK_HOME"])
        assert (home / "bin" / "spark-submit").is_file()
        assert any((home / "jars").glob("spark-core_*.jar"))
        assert not list(home.rglob("pyspark.zip"))
    assert not home.exists()
    assert "SPARK_HOME" not in os.environ


@pytest.mark.parametrize("variable", ["SPARK_HOME", "PYSPARK_GATEWAY_PORT"])
def test_a_spark_that_somebody_chose_stays(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.delenv("SPARK_HOME", raising=False)
    monkeypatch.setenv(variable, "chosen")
    before = os.environ.get("SPARK_HOME")
    with light_spark_home():
        assert os.environ.get("SPARK_HOME") == before


@pytest.mark.parametrize(("chosen", "expected"), [(None, sys.executable), ("python3.99", "python3.99")])
def test_workers_run_the_python_that_has_the_package(
    monkeypatch: pytest.MonkeyPatch, chosen: str | None, expected: str
) -> None:
    """For an environment that is not on the path, Spark would run the system's python3."""
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    monkeypatch.setenv("PYSPARK_PYTHON", chosen or "")
    if chosen is None:
        monkeypatch.delenv("PYSPARK_PYTHON")
    with light_spark_home():
        assert os.environ["PYSPARK_PYTHON"] == expected
    monkeypatch.setenv("PYSPARK_GATEWAY_PORT", "1")
    monkeypatch.delenv("PYSPARK_PYTHON")
    with light_spark_home():
        assert "PYSPARK_PYTHON" not in os.environ, "spark-submit has decided that"
