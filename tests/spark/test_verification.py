"""`kraftctl-export verify` finds whatever was changed, and says how."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.stores.local_store import LocalStore
from kraftctl_spark.tables import commit_log
from kraftctl_spark.tables.commit_log import COMMITS, STATES, commit_name, state_name
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.uploads import LEFTOVER_SECONDS
from kraftctl_spark.tables.verification import verify
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.rewritten import as_earlier_releases_left_it
from tests.spark.typed_export import exporting, mixed_batches

FILE = "topic_record/00000000000000000000-00000000000000000039.parquet"


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two batches, merged, then a third one, and a history: 5 commits, with states after 1 and 3."""
    directory = tmp_path_factory.mktemp("kept") / "tables"
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*mixed_batches(0, 60))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commit_log, "COMMITS_PER_STATE", 2)
        with exporting(directory, controller.endpoint) as exporter:
            for end in (20, 40):
                exporter.export_to(end, 1)
            compact(Output(directory), grace_ms=0)
            exporter.export_to(60, 1)
        HistoryTables(directory, directory / DIRECTORY).catch_up()
    controller.close()
    return directory


@pytest.fixture
def tables(kept: Path, tmp_path: Path) -> Path:
    return shutil.copytree(kept, tmp_path / "tables")


def verified(tables: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[str]]:
    status = main(["verify", "--output", str(tables), *arguments])
    return status, capsys.readouterr().out.splitlines()


def test_nothing_was_changed(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    status, lines = verified(tables, capsys)
    assert status == 0
    files = len(list(tables.rglob("*.parquet")))
    assert re.fullmatch(rf"5 commits, {files} files with \d+ bytes", lines[0])
    assert lines[1] == "no commit and no file was changed, removed or added"
    pair = lines[2].removeprefix("write this down elsewhere: ").split()
    assert pair[:3] == ["--at", "4", "--sha256"]
    with (tables / commit_name(4)).open("rb") as file:
        assert pair[3] == commit_log.hash_of(file.read())
    assert verified(tables, capsys, *pair)[0] == 0


def change_a_byte(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


def change_a_count(tables: Path) -> None:
    path = tables / commit_name(1)
    path.write_text(path.read_text().replace('"records": 20', '"records": 21'))


def exchange(tables: Path) -> None:
    first, second = tables / commit_name(0), tables / commit_name(1)
    first.rename(tables / "between")
    second.rename(first)
    (tables / "between").rename(second)


def forge_a_number(tables: Path) -> None:
    """Exchanged, and the numbers in them too."""
    exchange(tables)
    for number in (0, 1):
        path = tables / commit_name(number)
        path.write_text(json.dumps({**json.loads(path.read_text()), "number": number}))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        pytest.param(lambda at: change_a_byte(at / FILE), f"{FILE} has another content", id="byte-of-a-file"),
        pytest.param(
            lambda at: change_a_byte(next((at / DIRECTORY / "topics").glob("*"))),
            f"{DIRECTORY}/topics/.* has another content",
            id="byte-of-the-history",
        ),
        pytest.param(lambda at: (at / FILE).unlink(), f"{FILE} is missing", id="file-removed"),
        pytest.param(
            lambda at: (at / FILE).write_bytes(b""),
            f"{FILE} has 0 bytes, and was committed",
            id="file-emptied",
        ),
        pytest.param(
            lambda at: shutil.copy(at / FILE, at / "topic_record" / "x.parquet"),
            "no commit names topic_record/x.parquet",
            id="file-added",
        ),
        pytest.param(change_a_count, r"0001\.json was changed: commit 2 followed", id="commit-changed"),
        pytest.param(exchange, r"0000\.json is commit 1: commits were exchanged", id="commits-exchanged"),
        pytest.param(forge_a_number, r"0000\.json does not follow|was changed", id="exchange-hidden"),
        pytest.param(
            lambda at: (at / commit_name(2)).unlink(),
            r"0002\.json is missing, but there is",
            id="commit-removed",
        ),
        pytest.param(
            lambda at: (at / commit_name(2)).write_text("{"),
            r"0002\.json was changed, and is no",
            id="no-commit",
        ),
        pytest.param(
            lambda at: (at / COMMITS / "x.json").touch(), r"_commits/x\.json is no commit", id="commit-added"
        ),
        pytest.param(
            lambda at: change_a_byte(at / state_name(3)),
            r"_states/.*3\.json is not what commit 3",
            id="state",
        ),
    ],
)
def test_what_was_changed_is_found(
    tables: Path, capsys: pytest.CaptureFixture[str], change: Callable[[Path], None], found: str
) -> None:
    change(tables)
    status, lines = verified(tables, capsys)
    assert status == 1
    assert re.search(found, lines[0]), lines
    assert lines[-1] == f"problems: {len(lines) - 2}"


def test_an_end_that_was_cut_is_found_by_what_was_written_down(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without that, the output is one that was copied before its last commit."""
    before = verify(tables)
    (tables / commit_name(4)).unlink()
    shutil.rmtree(tables / DIRECTORY)
    assert verified(tables, capsys)[0] == 0
    status, lines = verified(tables, capsys, "--at", "4", "--sha256", before.sha256)
    assert status == 1
    assert lines[0].startswith("there is no intact commit 4, the last one is 3")


def test_a_last_commit_that_was_replaced_is_found_by_what_was_written_down(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = verify(tables)
    path = tables / commit_name(4)
    path.write_bytes(path.read_bytes().replace(b'"kind": "history"', b'"kind": "merge"'))
    assert verified(tables, capsys)[0] == 0
    status, lines = verified(tables, capsys, "--at", "4", "--sha256", before.sha256)
    assert (status, lines[0][:20]) == (1, "commit 4 has sha256 ")


def test_an_export_may_go_on_meanwhile(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it replaces is not missing, what it adds is not unknown."""
    from kraftctl_spark.tables.verification import _Verification

    check_files = _Verification._check_files

    def after_a_merge(self: _Verification) -> None:
        compact(Output(tables), grace_ms=0)
        HistoryTables(tables, tables / DIRECTORY).merge()
        check_files(self)

    monkeypatch.setattr(_Verification, "_check_files", after_a_merge)
    assert verify(tables).problems == []


def test_a_history_apart_has_commits_of_its_own(tables: Path) -> None:
    """Also where it is within the directory of the tables."""
    apart = tables / "apart"
    HistoryTables(tables, apart).catch_up()
    assert verify(tables).problems == verify(apart).problems == []
    change_a_byte(next((apart / "topics").glob("*")))
    assert verify(tables).problems == []
    assert len(verify(apart).problems) == 1


def test_logs_of_published_tables_are_not_checked_and_said_once(
    tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Delta writes a checkpoint after a hundred publications."""
    for table in ("records", "topic_record"):
        (tables / table / "_delta_log").mkdir()
        (tables / table / "_delta_log" / "00000000000000000100.checkpoint.parquet").touch()
    status, lines = verified(tables, capsys)
    assert status == 0
    assert lines[0] == "2 files in records/_delta_log and topic_record/_delta_log are Delta's: not checked"


def forge_the_last_state(tables: Path) -> None:
    """The last commit names a state in which a file is another one."""
    last = tables / commit_name(3)
    (tables / commit_name(4)).unlink()
    shutil.rmtree(tables / DIRECTORY)
    state = tables / state_name(3)
    forged = state.read_bytes().replace(b"topic_record/", b"other_record/", 1)
    assert forged != state.read_bytes()
    state.write_bytes(forged)
    last.write_text(json.dumps({**json.loads(last.read_text()), "state": commit_log.hash_of(forged)}))


def test_a_state_that_commits_do_not_add_up_to_is_found(tables: Path) -> None:
    forge_the_last_state(tables)
    (problem,) = verify(tables).problems
    assert problem.startswith(f"{commit_name(3)} names a state that the commits up to it do not add up to")


def test_a_state_beyond_the_last_commit_is_found(tables: Path) -> None:
    for number in (3, 4):
        (tables / commit_name(number)).unlink()
    problems = [one for one in verify(tables).problems if not one.startswith("no commit names")]
    assert len(problems) == 1
    assert problems[0].startswith(f"{state_name(3)} is there, and the last commit is 2")


def test_a_state_that_an_export_deletes_meanwhile_is_no_problem(tables: Path) -> None:
    class Deleting(LocalStore):
        def names(self, prefix: str, after: str = "") -> list[str]:
            found = super().names(prefix, after)
            if prefix == STATES:
                (tables / state_name(1)).unlink(missing_ok=True)
            return found

    assert verify(Deleting(tables)).problems == []


@pytest.mark.parametrize("directory", ["topic_record", "topic_record/more", DIRECTORY, f"{DIRECTORY}/topics"])
def test_commits_in_a_directory_of_ours_hide_nothing(tables: Path, directory: str) -> None:
    (tables / directory / COMMITS).mkdir(parents=True)
    (tables / directory / COMMITS / "x").touch()
    shutil.copy(tables / FILE, tables / directory / "x.parquet")
    (problem,) = verify(tables).problems
    assert problem.startswith(f"no commit names {directory}/x.parquet")


class ElsewhereStore:
    """A directory that is not taken for one."""

    def __init__(self, root: Path) -> None:
        self._store = LocalStore(root)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.mark.parametrize(
    ("age_s", "is_problem"), [(0, False), (LEFTOVER_SECONDS + 60, True), (-LEFTOVER_SECONDS - 60, True)]
)
def test_an_upload_that_may_be_committed_yet_is_no_problem(
    tables: Path, age_s: int, is_problem: bool
) -> None:
    began = int(time.time()) - age_s
    name = f"records/00000000000000000060-00000000000000000079-{began:08x}01234567.parquet"
    (tables / name).touch()
    store: Any = ElsewhereStore(tables)
    found = verify(store)
    assert bool(found.problems) == is_problem
    assert len(found.notes) == 1 - is_problem
    assert name in (found.problems + found.notes)[0]
    assert "remove it" not in str(found)
    assert len(verify(tables).problems) == 1, "in a directory, files have no such names"


def test_what_cannot_be_verified(tmp_path: Path, tables: Path, caplog: pytest.LogCaptureFixture) -> None:
    assert main(["verify", "--output", str(tmp_path / "nothing")]) == 2
    assert main(["verify", "--output", str(tables), "--at", "1"]) == 2
    assert "give both, or none" in caplog.text
    as_earlier_releases_left_it(tables)
    assert main(["verify", "--output", str(tables)]) == 2
    assert f"kraftctl-export take-over --output {tables}" in caplog.text
    with pytest.raises(SystemExit):
        main(["verify", "--output", str(tables), "--at", "1", "--sha256", "12"])
