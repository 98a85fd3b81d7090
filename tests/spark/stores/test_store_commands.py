"""`kraftctl-export` with an object store: from the first batch to the report, and what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from tests.spark.log_directory import LogDirectory
from tests.spark.stores.conftest import client_of
from tests.spark.stores.servers import ACCESS_KEY, BUCKET, SECRET_KEY, StoreServer
from tests.spark.stores.stored_export import run_export


@pytest.fixture
def log(tmp_path: Path):
    directory = LogDirectory(tmp_path / "log")
    directory.append(50)
    yield directory
    directory.close()


@pytest.mark.spark
def test_from_the_first_batch_to_the_report(
    server: StoreServer, url: str, log: LogDirectory, tmp_path: Path, monkeypatch, capsys, caplog
) -> None:
    client_of(monkeypatch, server.endpoint)
    run = ["run", "--directory", str(log.path), "--assume-committed", "--available-now", "--output", url]
    said = ""
    for _ in range(2):
        said += run_export([*run, "--master", "local[1]", "--interval", "1 second"])
        log.append(25)
    assert f"{url} has atomic conditional writes: " in said
    assert "committed offsets 0 to 49" in said
    assert main(["status", "--output", url, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["batches"], found["offset"]) == (
        2,
        found["total"]["rows"] and found["tables"]["records"]["rows"],
    )
    assert main(["compact", "--output", url]) == 0
    assert main(["verify", "--output", url]) == 0
    assert "no commit and no file was changed, removed or added" in capsys.readouterr().out
    page = tmp_path / "report.html"
    assert main(["report", "--output", url, "--to", str(page)]) == 0
    assert page.stat().st_size > 1_000_000
    for secret in (SECRET_KEY, ACCESS_KEY):
        assert secret not in said + caplog.text
        assert secret not in page.read_text()


def test_a_changed_object_is_found(server: StoreServer, url: str, monkeypatch, capsys) -> None:
    from tests.spark.stores.stored_export import stored_output

    client_of(monkeypatch, server.endpoint)
    with stored_output(url) as output:
        output.log.store.create("_commits/none", b"{}")
    assert main(["verify", "--output", url]) == 2


REFUSED = [
    pytest.param(["status", "--output", f"s3://{BUCKET}/nothing-here"], "holds no tables of", id="no-tables"),
    pytest.param(["status", "--output", "s3://no-such-bucket"], "does not exist (404 NoSuch", id="no-bucket"),
    pytest.param(
        [
            *("run", "--directory", "LOG", "--output", f"s3://{BUCKET}/a"),
            *("--publish", "delta", "--store-option", "skip_signature=true"),
        ],
        "--store-option skip_signature cannot be passed on to deltalake",
        id="option-that-a-format-lacks",
    ),
    pytest.param(
        ["status", "--output", f"s3://{BUCKET}/a", "--store-option", "secret_access_key=x"],
        "Set it in the environment",
        id="secret-option",
    ),
    pytest.param(
        ["status", "--output", "tables", "--store-option", "region=x"],
        "--store-option is for object stores, and tables is a directory",
        id="directory-with-options",
    ),
]


@pytest.mark.parametrize(("arguments", "said"), REFUSED)
def test_refused(
    arguments: list[str], said: str, one_server: StoreServer, log: LogDirectory, monkeypatch, caplog
) -> None:
    client_of(monkeypatch, one_server.endpoint)
    given = [str(log.path) if one == "LOG" else one for one in arguments]
    assert main(given) in (1, 2)
    assert said in caplog.text
    assert "Traceback" not in caplog.text


@pytest.mark.parametrize("command", ["history", "macros", "log"])
def test_other_commands_need_a_directory(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main([command, "--tables", "s3://bucket/a", "--output", "s3://bucket/a"])
    assert "s3: is not supported" in capsys.readouterr().err
