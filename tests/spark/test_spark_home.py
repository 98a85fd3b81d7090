"""The Spark that the export job uses."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from kraftctl_spark.datasource.spark_home import JAVA_OPTIONS, PREFIX, light_spark_home


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


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(None, '"-Djava.io.tmpdir={home}/tmp"', id="none"),
        pytest.param("-Xss2m", '-Xss2m "-Djava.io.tmpdir={home}/tmp"', id="others"),
        pytest.param("-Djava.io.tmpdir=/x", "-Djava.io.tmpdir=/x", id="a-chosen-one"),
    ],
)
def test_temporary_files_of_the_jvm_are_in_it(
    monkeypatch: pytest.MonkeyPatch, given: str | None, expected: str
) -> None:
    """The JVM ignores TMPDIR, and those of one that is killed would stay."""
    for variable in ("SPARK_HOME", "PYSPARK_GATEWAY_PORT", JAVA_OPTIONS):
        monkeypatch.delenv(variable, raising=False)
    if given is not None:
        monkeypatch.setenv(JAVA_OPTIONS, given)
    with light_spark_home():
        home = Path(os.environ["SPARK_HOME"])
        assert os.environ[JAVA_OPTIONS] == expected.format(home=home)
        assert (home / "tmp").is_dir()
    assert os.environ.get(JAVA_OPTIONS) == given


@pytest.mark.spark
@pytest.mark.long
def test_the_jvm_starts_where_a_path_contains_a_space(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Without quotes, Java looks for a main class of the rest of the path."""
    directory = tmp_path / "a directory"
    directory.mkdir()
    for variable in ("SPARK_HOME", "PYSPARK_GATEWAY_PORT", JAVA_OPTIONS):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(directory))
    with light_spark_home():
        submit = Path(os.environ["SPARK_HOME"]) / "bin" / "spark-submit"
        assert directory in submit.parents
        started = subprocess.run([submit, "--version"], capture_output=True, text=True, timeout=60)
    assert (started.returncode, "version" in started.stderr) == (0, True), started.stderr


def test_spark_logs_errors_only(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("SPARK_HOME", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(variable, raising=False)
    with light_spark_home():
        text = (Path(os.environ["SPARK_HOME"]) / "conf" / "log4j2.properties").read_text()
    levels = [line for line in text.splitlines() if ".level" in line]
    assert levels == ["rootLogger.level = error", "logger.gateway.level = error"]


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


LONG_AGO = (1_000_000_000, 1_000_000_000)
HOLDER = """
import sys
from kraftctl_spark.datasource.spark_home import light_spark_home
with light_spark_home():
    print("ready", flush=True)
    sys.stdin.read()
"""


def test_the_home_of_a_killed_process_is_removed_at_the_next_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One of a running process is not, however old it is."""
    for variable in ("SPARK_HOME", "PYSPARK_GATEWAY_PORT"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", ":".join(sys.path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    command = [sys.executable, "-c", HOLDER]
    holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"ready\n"
    (home,) = tmp_path.glob(f"{PREFIX}*")
    os.utime(home, LONG_AGO)
    with light_spark_home():
        assert home.is_dir()
    holder.kill()
    holder.communicate()
    assert home.is_dir()
    with light_spark_home():
        assert not home.exists()
    assert list(tmp_path.iterdir()) == []
