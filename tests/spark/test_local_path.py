"""Locations that users give: a URI never becomes a local directory that is named after its scheme."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.log.local_path import local_path
from kraftctl_spark.log.log_location import DirectoryLocation, parse_location
from kraftctl_spark.tables.commit_log import COMMITS


@pytest.mark.parametrize(
    ("given", "path"),
    [
        pytest.param("/data/metadata", "/data/metadata", id="absolute"),
        pytest.param("tables", "tables", id="relative"),
        pytest.param("a:b", "a:b", id="colon"),
        pytest.param("file:///data/metadata", "/data/metadata", id="file-uri"),
        pytest.param("file:/data/metadata", "/data/metadata", id="short-file-uri"),
        pytest.param("file://localhost/data", "/data", id="with-host"),
        pytest.param("file:///with%20space", "/with space", id="escaped"),
    ],
)
def test_paths_and_file_uris_are_paths(given: str, path: str) -> None:
    assert local_path(given) == Path(path)
    assert local_path(Path("/data")) == Path("/data")


@pytest.mark.parametrize(
    "given", ["hdfs://bucket/x", "hdfs:/x", "file://host/x", "file:////x", "abfss://c@a/x"]
)
def test_other_uris_are_refused(given: str) -> None:
    with pytest.raises(ValueError, match=r"Give a path, or file:///path"):
        local_path(given)
    with pytest.raises(ValueError, match=r"option directory: .* is not supported"):
        parse_location({"directory": given})


RUN = ("run", "--bootstrap-controllers", "localhost:1")


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param((*RUN, "--output", "x", "--checkpoint", "hdfs://b/x"), id="checkpoint"),
        pytest.param(("run", "--directory", "hdfs://b/x", "--output", "x"), id="directory"),
        pytest.param(("history", "--tables", "hdfs://b/x"), id="history"),
        pytest.param(("report", "--output", "x", "--to", "hdfs://b/x"), id="report"),
    ],
)
def test_a_flag_with_another_uri_is_refused_and_writes_nothing(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as refused:
        main(list(arguments))
    assert refused.value.code == 2
    assert "hdfs://b/x: hdfs: is not supported. Give a path" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_file_uri_is_the_directory_that_it_names(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / COMMITS).mkdir()
    assert main(["status", "--output", tmp_path.as_uri()]) == 0
    assert "nothing has been committed yet" in capsys.readouterr().out
    location = parse_location({"directory": tmp_path.as_uri()})
    assert location == DirectoryLocation(tmp_path)
