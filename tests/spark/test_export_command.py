"""`kraftctl-export` before it starts Spark: what it says when something around it is missing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.errors import PySparkException

from kraftctl_spark.cli import main
from kraftctl_spark.datasource import query_run
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from tests.spark.log_directory import LogDirectory

RUN = ("run", "--directory", "none", "--output", "tables")


def test_it_has_a_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["--version"])
    assert ended.value.code == 0
    assert capsys.readouterr().out.startswith("kraftctl-export ")


def test_without_java_it_says_so_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """PySpark ends with a stack trace of 20 lines."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "none"))
    monkeypatch.delenv("PYSPARK_GATEWAY_PORT", raising=False)
    assert main(list(RUN)) == 2
    assert capsys.readouterr().err == (
        "kraftctl-export run needs Java 17 or later: install it, or set JAVA_HOME\n"
    )
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("master", ["locl", "local[]", "local[x]", "spark:/host", "localhost:7077"])
def test_an_unknown_master_is_refused_before_spark_starts(
    master: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as refused:
        main([*RUN, "--master", master])
    assert refused.value.code == 2
    assert f"{master!r} is no Spark master: local[2]," in capsys.readouterr().err


@pytest.mark.parametrize(
    "master", ["local", "local[2]", "local[*]", "local[*,4]", "local[2, 4]", "spark://a:7077,b:7077", "yarn"]
)
def test_known_masters_are_not(master: str, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    assert main(["run", "--directory", str(tmp_path), "--output", "x", "--master", master]) == 1
    assert "holds no __cluster_metadata-0" in caplog.text


def test_an_output_that_is_a_file_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "tables"
    file.write_text("mine")
    for output in (file, file / "below"):
        with pytest.raises(ExportRefusedError, match=f"cannot be the output: {file} is not a directory"):
            Output(output).locked().__enter__()
    assert file.read_text() == "mine"


def test_a_checkpoint_that_is_a_file_is_refused(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Spark would say so in three hundred lines of Java."""
    directory = LogDirectory(tmp_path / "log")
    directory.append(3)
    directory.close()
    file = tmp_path / "checkpoint"
    file.write_text("mine")
    where = ("--directory", str(directory.path), "--output", str(tmp_path / "tables"))
    assert main(["run", *where, "--checkpoint", str(file / "below")]) == 2
    assert f"{file / 'below'} cannot be the checkpoint: {file} is not a directory" in caplog.text


def test_what_spark_raises_is_logged_with_its_cause(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """An unknown host of a Spark cluster, for example."""

    class Stopped:
        def stop(self) -> None:
            log.append("stopped")

    def fail(spark: object) -> bool:
        raise PySparkException("java.net.UnknownHostException: nowhere\n\tat java.base/java.net.Socket\n")

    log: list[str] = []
    monkeypatch.setattr(query_run, "build_session", lambda master: Stopped())
    assert query_run.run_session("spark://nowhere:7077", fail) == 1
    assert caplog.messages[-1] == "the export ends because of UnknownHostException: nowhere"
    assert log == ["stopped"]


def test_an_output_that_is_not_writable_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # A superuser may write everywhere.
    with pytest.raises(ExportRefusedError, match=f"cannot be the output: {tmp_path} is not writable"):
        Output(tmp_path / "new" / "tables").locked().__enter__()
    assert list(tmp_path.iterdir()) == []
