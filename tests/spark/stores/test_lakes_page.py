"""Each block of spark/LAKES.md about object stores runs, with a server in place of the one that it names."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.stores import create_probe
from kraftctl_spark.stores.object_store import PART_BYTES
from kraftctl_spark.stores.open_store import SCHEMES, TIMEOUT
from kraftctl_spark.tables.uploads import ATTEMPT_SECONDS_MAX, LEFTOVER_SECONDS
from tests.spark.log_directory import LogDirectory
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import StoreServer
from tests.spark.stores.stored_export import run_export

PAGE = (Path(__file__).parents[3] / "spark" / "LAKES.md").read_text()
SECTION = PAGE[: PAGE.index("## Delta and Iceberg")]
COMMANDS, WITH_OPTIONS, CODE = re.findall(r"```\w*\n(.*?)```", SECTION, re.DOTALL)
URL = "s3://metadata/prod"


@pytest.mark.spark
def test_each_block_runs(
    one_server: StoreServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    client_of(monkeypatch, one_server.endpoint)
    monkeypatch.chdir(tmp_path)
    log = LogDirectory(tmp_path / "log")
    log.append(50)
    log.append_voters([1])
    log.close()
    here = f"--directory {log.path} --assume-committed --master local[1]"
    first, *commands = COMMANDS.replace("--bootstrap-controllers localhost:9093", here).splitlines()
    assert first.startswith("export AWS_REGION=")
    for command in commands:
        program, *arguments = shlex.split(command)
        assert program == "kraftctl-export"
        if arguments[0] == "run":
            run_export(arguments)
        else:
            assert main(arguments) == 0
    assert (tmp_path / "report.html").exists()
    for name in ("AWS_ENDPOINT_URL", "AWS_ALLOW_HTTP"):
        monkeypatch.delenv(name)
    with_options = WITH_OPTIONS.replace("http://localhost:9000", one_server.endpoint)
    assert main(shlex.split(with_options)[1:]) == 0
    client_of(monkeypatch, one_server.endpoint)
    capsys.readouterr()
    exec(CODE, {})
    assert int(capsys.readouterr().out) > 0


def test_numbers_and_names_are_those_of_the_code() -> None:
    for said in (
        f"{create_probe.WRITERS}\n  writers at a time in {create_probe.ROUNDS} rounds",
        f"takes {create_probe.REQUESTS} requests",
        f"over {PART_BYTES // 1024**2} MiB",
        f"(of one request, {TIMEOUT})",
    ):
        assert said in PAGE
    assert (LEFTOVER_SECONDS, ATTEMPT_SECONDS_MAX) == (4 * 3_600, 3 * 3_600), "four hours, and three"
    assert set(re.findall(r"`(\w+)://", PAGE)) <= {*SCHEMES, "file"}
