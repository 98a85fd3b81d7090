"""`kraftctl-export expire` removes old raw records; everything else works as before, or says what is gone."""

from __future__ import annotations

import errno
import json
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.commands.expire import _before_ms
from kraftctl_spark.history import DIRECTORY
from kraftctl_spark.history.history_manifest import FORMAT, OLD_MANIFEST, locked
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.tables import commit_log
from kraftctl_spark.tables.commit import EXPIRED, HISTORY, MERGE, Commit, HistoryChange
from kraftctl_spark.tables.commit_log import commit_name
from kraftctl_spark.tables.compaction import compact
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.progress import progress
from kraftctl_spark.tables.reader import read_table
from kraftctl_spark.tables.verification import verify
from tests.spark.expired_tables import expire, export_up_to, exported, time_behind, versions
from tests.spark.metadata_histories import History, generate
from tests.spark.rewritten import rewrite, rewrite_commits
from tests.spark.test_verification import change_a_byte

ENDS = (60, 120, 180, 240)
EXPIRED_BATCHES = 2


@pytest.fixture(scope="module")
def history() -> History:
    return generate(7, 300, snapshots=())


@pytest.fixture(scope="module")
def kept(history: History, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four batches, not merged, and their history; there are states after every second commit."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(commit_log, "COMMITS_PER_STATE", 2)
        return exported(history, tmp_path_factory.mktemp("kept") / "tables", ENDS)


@pytest.fixture
def tables(kept: Path, tmp_path: Path) -> Path:
    return shutil.copytree(kept, tmp_path / "tables")


@pytest.fixture
def expired(tables: Path) -> Path:
    """Without the records of the first two batches."""
    assert expire(tables, time_behind(tables, EXPIRED_BATCHES), "--execute") == 0
    return tables


def raw_start(kept: Path) -> int:
    return Output(kept).manifests()[EXPIRED_BATCHES - 1].end


def test_without_execute_nothing_is_done(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = {path: path.stat().st_mtime_ns for path in tables.rglob("*.*") if path.is_file()}
    end = raw_start(tables)
    assert expire(tables, time_behind(tables, EXPIRED_BATCHES)) == 0
    lines = capsys.readouterr().out.splitlines()
    records = len([one for one in read_table(tables, "records")["offset"].to_pylist() if one < end])
    assert lines[0].startswith(f"would remove offsets 0 to {end - 1}: {records} records, all before ")
    assert lines[1].startswith(f"raw records begin at offset {end} then, ")
    kept = sum(len(one.files) for one in Output(tables).manifests()[EXPIRED_BATCHES:])
    assert lines[2].startswith(f"{kept} files stay: of batches with records from ")
    assert lines[3:] == [
        "the history stays, and cannot be computed again",
        "nothing was done: --execute does it",
    ]
    assert {path: path.stat().st_mtime_ns for path in tables.rglob("*.*") if path.is_file()} == before


def test_old_records_go_in_one_commit_and_the_history_stays(
    kept: Path, tables: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end, history = raw_start(kept), versions(kept / DIRECTORY)
    before = time_behind(tables, EXPIRED_BATCHES)
    assert expire(tables, before, "--execute") == 0
    commit = Commit.from_bytes((tables / commit_name(Output(tables).commit_number)).read_bytes())
    assert (commit.kind, commit.number) == (EXPIRED, Output(kept).commit_number + 1)
    (batch,) = commit.batches
    assert (batch.start, batch.end, batch.files) == (0, end, ())
    assert batch.expired is not None
    assert batch.expired.in_history
    gone = [one for one in Output(kept).manifests() if one.end <= end]
    assert batch.expired.counts["records"] == sum(one.counts["records"] for one in gone)
    assert not any((tables / file.path).exists() for one in gone for file in one.files)
    rows = read_table(kept, "records")
    assert read_table(tables, "records").to_pylist() == [
        row for row in rows.to_pylist() if row["offset"] >= end
    ]
    assert versions(tables / DIRECTORY) == history
    capsys.readouterr()
    assert main(["verify", "--output", str(tables)]) == 0
    assert "replaced" not in capsys.readouterr().out


def test_a_file_with_one_younger_record_stays(kept: Path, tables: Path) -> None:
    """And everything behind it."""
    first, second, *_ = Output(kept).manifests()
    times = read_table(kept, "records")["timestamp"].to_pylist()
    assert times[second.start] < times[second.end - 1]
    assert expire(tables, times[second.end - 1].isoformat(), "--execute") == 0
    assert Output(tables).raw_start == first.end


def test_one_batch_is_the_last(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compact(Output(tables), grace_ms=0)
    assert expire(tables, "1d", "--execute") == 0
    said = capsys.readouterr().out
    assert (
        said
        == "nothing to remove: the only batch has the end of the log, and stays however old its records are\n"
    )


def test_the_first_batch_is_younger(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert expire(tables, "1970-01-01", "--execute") == 0
    said = "nothing to remove: each batch but the last has a record from 1970-01-01T00:00:00.000Z or later\n"
    assert capsys.readouterr().out == said


def test_without_a_batch_there_is_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "_commits").mkdir()
    assert expire(tmp_path, "1d", "--execute", "--without-history") == 0
    assert capsys.readouterr().out == "nothing to remove: there is no batch\n"


def test_the_last_batch_stays(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert expire(tables, "1d", "--execute") == 0
    kept = len(Output(tables).manifests()[-1].files)
    assert f"{kept} files stay: of the batch with the end of the log\n" in capsys.readouterr().out
    assert Output(tables).raw_start == Output(tables).manifests()[-1].start > 0
    assert progress(Output(tables)).last_timestamp_ms is not None


def test_it_can_be_repeated_for_a_later_time(kept: Path, expired: Path) -> None:
    before = Output(expired).commit_number
    assert expire(expired, time_behind(kept, EXPIRED_BATCHES), "--execute") == 0
    assert Output(expired).commit_number == before, "there is nothing more to remove"
    assert expire(expired, time_behind(kept, 3), "--execute") == 0
    first, last = Output(expired).manifests()
    gone = Output(kept).manifests()[:3]
    assert (first.start, first.end, last.start) == (0, gone[-1].end, gone[-1].end)
    assert first.expired is not None
    assert first.expired.counts["records"] == sum(one.counts["records"] for one in gone)
    assert first.batches == 3
    assert verify(expired).problems == []


def test_what_is_removed_is_kept_for_a_while(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = time_behind(tables, EXPIRED_BATCHES)
    assert expire(tables, before, "--execute", "--keep-removed", "1 hour") == 0
    assert "0 files are deleted now" in capsys.readouterr().out
    found = verify(tables)
    assert found.problems == []
    assert any("kept for scans that are open" in note for note in found.notes)
    compact(Output(tables), grace_ms=0)
    assert verify(tables).notes == []


def test_the_export_its_history_and_compactions_continue(
    history: History, expired: Path, tmp_path: Path
) -> None:
    whole = exported(history, tmp_path / "whole", (*ENDS, history.end))
    end = raw_start(whole)
    export_up_to(history, expired, history.end)
    HistoryTables(expired, expired / DIRECTORY).catch_up()
    compact(Output(expired), grace_ms=0)
    assert [one.start for one in Output(expired).manifests()] == [0, end]
    HistoryTables(expired, expired / DIRECTORY).merge()
    assert versions(expired / DIRECTORY) == versions(whole / DIRECTORY)
    assert verify(expired).problems == []
    assert read_table(expired, "records").num_rows == sum(
        offset >= end for offset in read_table(whole, "records")["offset"].to_pylist()
    )


def test_status_says_from_where_on_records_are_there(
    kept: Path, expired: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    end = raw_start(kept)
    capsys.readouterr()
    for tables, start in ((kept, 0), (expired, end)):
        assert main(["status", "--output", str(tables), "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["raw_start"] == start
        first = read_table(tables, "records")["timestamp"][0].as_py().timestamp()
        assert found["raw_start_timestamp_ms"] == round(first * 1000)
        assert found["last_commit_at_ms"] == progress(Output(kept)).last_commit_at_ms, "that is no news"
        assert found["batches"] == len(ENDS)
        assert (found["expired"] is None) == (not start)
    assert found["expired"]["records"] > 0
    assert main(["status", "--output", str(expired)]) == 0
    (line,) = [one for one in capsys.readouterr().out.splitlines() if one.startswith("raw records")]
    assert f"from offset {end} on, " in line
    assert f"{found['expired']['records']} before " in line


def test_status_keeps_gaps_and_secrets(kept: Path, tables: Path) -> None:
    first, second, third, _ = Output(kept).manifests()
    changed: dict[int, dict[str, Any]] = {
        first.end: {"secrets": True},
        second.end: {"snapshot": True},
        third.end: {"secrets": True},
    }
    rewrite(tables, lambda one: replace(one, **changed.get(one.end, {})))
    for batches in (0, 2, 3):
        if batches:
            assert expire(tables, time_behind(kept, batches), "--execute") == 0
            assert Output(tables).raw_start == Output(kept).manifests()[batches - 1].end
        found = progress(Output(tables))
        assert found.gaps == found.snapshots == [(second.start, second.end)]
        assert found.with_secrets == [(0, first.end), (third.start, third.end)]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2999-01-01", "is in the future"),
        ("yesterday", "is not a time"),
        ("2026-08-31T00:00:00", "has no zone"),
        ("2026-02-31", "day is out of range"),
        ("3 fortnights", "write it like"),
    ],
)
def test_other_times_are_refused(tables: Path, caplog: pytest.LogCaptureFixture, text: str, why: str) -> None:
    assert expire(tables, text, "--execute") == 2
    assert why in caplog.text
    assert "in the future" in why or "an age such as 90d" in caplog.text


def test_forms_of_times() -> None:
    assert _before_ms("1970-01-02") == _before_ms("1970-01-02T01:00:00+01:00") == 86_400_000
    assert abs(_before_ms("90d") - _before_ms("90 days")) < 60_000
    assert _before_ms("99999999d") == 0


def test_without_a_history_nothing_goes_unless_that_is_wanted(
    history: History, tmp_path: Path, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    tables, other = tmp_path / "alone", tmp_path / "other"
    export_up_to(history, tables, *ENDS)
    before = time_behind(tables, EXPIRED_BATCHES)
    assert expire(tables, before, "--execute", "--history", str(other)) == 2
    assert f"{other} has no history of this release; if it is elsewhere, --history DIR" in caplog.text
    assert "--without-history" in caplog.text
    assert Output(tables).raw_start == 0
    assert expire(tables, before, "--execute", "--without-history") == 0
    assert "no history has these records" in capsys.readouterr().out
    with pytest.raises(ExportRefusedError, match="have expired"):
        HistoryTables(tables, other).catch_up()
    assert verify(tables).problems == []


@pytest.mark.parametrize("made", ["now", "as-another-release", "as-an-earlier-release", "apart"])
def test_without_history_is_refused_where_there_is_one(
    tables: Path, made: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Of whatever release, in the commits of the tables or in its directory; a mistyped one hides none."""
    beside = tables / DIRECTORY
    if made == "as-another-release":
        rewrite_commits(
            tables, lambda one: replace(one, history=one.history and _of_later_format(one.history))
        )
    elif made != "now":
        shutil.rmtree(tables)
        export_up_to(generate(7, 300, snapshots=()), tables, *ENDS)
        beside.mkdir()
    if made == "as-an-earlier-release":
        (beside / OLD_MANIFEST).write_text("{}")
    elif made == "apart":
        (beside / commit_log.COMMITS).mkdir()
        HistoryTables(tables, beside).catch_up()
    files = sorted(tables.rglob("*.parquet"))
    before = time_behind(tables, EXPIRED_BATCHES)
    with pytest.raises(SystemExit):
        expire(tables, before, "--history", str(tables.parent / "mistyped"), "--without-history", "--execute")
    assert expire(tables, before, "--without-history", "--execute") == 2
    assert "omit --without-history" in caplog.text
    assert Output(tables).raw_start == 0
    assert sorted(tables.rglob("*.parquet")) == files


def _of_later_format(history: HistoryChange) -> HistoryChange:
    return replace(history, format=FORMAT + 1)


def test_a_history_that_is_behind_or_damaged_is_not_enough(
    history: History, tables: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    before = time_behind(tables, EXPIRED_BATCHES)
    other = tmp_path / "other"
    early = exported(history, tmp_path / "early", ENDS[:1])
    HistoryTables(early, other).catch_up()
    assert expire(tables, before, "--execute", "--history", str(other)) == 2
    assert "lacks records before offset" in caplog.text
    HistoryTables(tables, other).catch_up()
    change_a_byte(next((other / "topics").glob("*.parquet")))
    assert expire(tables, before, "--execute", "--history", str(other)) == 2
    assert "is missing or damaged" in caplog.text
    assert Output(tables).raw_start == 0
    HistoryTables(tables, other).rebuild()
    assert expire(tables, before, "--execute", "--history", str(other)) == 0


def test_no_history_is_computed_without_the_first_records(
    expired: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Not again, not elsewhere, and not where a file is lost: what is there stays."""
    files = sorted((expired / DIRECTORY).rglob("*.parquet"))
    for flags in (("--rebuild",), ("--output", str(tmp_path / "elsewhere"))):
        assert main(["history", "--tables", str(expired), *flags]) == 2
    files.pop(0).unlink()
    assert main(["history", "--tables", str(expired)]) == 2
    assert caplog.text.count("have expired") == 3
    assert sorted((expired / DIRECTORY).rglob("*.parquet")) == files
    assert "is computed again" not in caplog.text


def test_who_may_not_write_gets_what_the_history_has(
    history: History,
    expired: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """And no advice to restore a history that is whole."""
    end = Output(expired).position().offset
    export_up_to(history, expired, history.end)

    @contextmanager
    def read_only(output: Path, wait_s: float) -> Iterator[None]:
        if output.is_relative_to(expired):
            raise PermissionError(errno.EROFS, "Read-only file system")
        with locked(output, wait_s):
            yield

    monkeypatch.setattr("kraftctl_spark.history.history_manifest.locked", read_only)
    flags, plan = ["--output", str(expired)], tmp_path / "plan"
    assert main(["report", *flags, "--to", str(tmp_path / "report.html")]) == 0
    assert main(["restore", *flags, "--plan", str(plan), "--as-of", str(end - 1)]) == 0
    assert plan.exists()
    assert main(["restore", *flags, "--plan", str(tmp_path / "other")]) == 2, "it is not known"
    said = f"before offset {Output(expired).raw_start} have expired; the report ends at offset {end - 1}"
    assert caplog.text.count(said) == 3
    assert "backup" not in caplog.text


def test_commits_that_would_lose_something_are_refused(expired: Path) -> None:
    output = Output(expired)
    gone, *live = output.manifests()
    history = output.log.state().history
    assert history is not None
    change = HistoryChange(history.format, history.cluster_id, history.end, gone.end - 1, (), (), ())
    with pytest.raises(ExportRefusedError, match="cannot be continued"):
        output.log.append(Commit(HISTORY, history=change))
    whole = replace(live[0], start=0)
    with pytest.raises(ExportRefusedError, match="have expired"):
        output.log.append(Commit(MERGE, (whole,)))
    emptied = replace(gone, start=live[0].start, end=live[0].end)
    with pytest.raises(ExportRefusedError, match="has expired, or has files"):
        output.log.append(Commit(EXPIRED, (emptied,), live[0].files))
    with pytest.raises(ExportRefusedError, match="has expired, or has files"):
        output.log.append(Commit(MERGE, (emptied,), live[0].files))
    ahead = replace(gone, end=live[-1].end)
    change = HistoryChange(history.format, history.cluster_id, history.end, gone.end, (), (), ())
    output.log.append(Commit(HISTORY, history=change))
    with pytest.raises(ExportRefusedError, match="does not have everything before"):
        output.log.append(Commit(EXPIRED, (ahead,), tuple(file for one in live for file in one.files)))


def test_a_log_needs_the_first_records(
    expired: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert main(["log", "--output", str(expired), "--to", str(tmp_path / "log")]) == 2
    assert "a log has no whole state" in caplog.text
    assert not (tmp_path / "log").exists()


def test_the_page_shows_it(tables: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each line of OPERATIONS.md, with a time that fits these records."""
    page = (Path(__file__).parents[2] / "spark" / "OPERATIONS.md").read_text()
    (block,) = re.findall(r"^```\n(kraftctl-export expire .*?)^```", page, re.MULTILINE | re.DOTALL)
    shown, done = block.splitlines()
    for line in (shown, done):
        placed = line.replace("/data/metadata", str(tables)).replace("90d", time_behind(tables, 2))
        assert Output(tables).raw_start == 0
        assert main(placed.split()[1:]) == 0
    assert Output(tables).raw_start > 0
    assert "done in commit" in capsys.readouterr().out
