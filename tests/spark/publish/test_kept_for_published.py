"""While a publication is behind, the files that it names stay, however old and whatever is asked for."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pytest
from deltalake import DeltaTable

from kraftctl_spark.cli import main
from kraftctl_spark.publish.publication_state import PublicationState, note
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.tables import output as output_module
from kraftctl_spark.tables.kept_removed import NOTES, PUBLICATIONS
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.publish.published_tables import target_in
from tests.spark.typed_export import exporting, mixed_batches

COMPACT = ["compact", "--keep-removed", "0 days", "--output"]


@pytest.fixture
def output(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> Path:
    quorum.append(*mixed_batches(0, 60))
    with exporting(tmp_path / "tables", controller.endpoint) as exporter:
        for end in (20, 40, 60):
            exporter.export_to(end, 1)
    return tmp_path / "tables"


def publish(output: Path) -> None:
    Publisher(Output(output), target_in(output, "delta")).publish()


def rows(output: Path) -> int:
    return DeltaTable(str(output / "records")).to_pyarrow_table().num_rows


def files(output: Path) -> int:
    return len(list((output / "records").glob("*.parquet")))


def test_files_of_the_published_version_stay_until_it_is_replaced(output: Path) -> None:
    publish(output)
    assert main([*COMPACT, str(output)]) == 0
    assert rows(output) == 60
    assert files(output) == 4
    publish(output)
    assert main([*COMPACT, str(output)]) == 0
    assert files(output) == 1
    assert rows(output) == 60


def test_the_format_that_is_furthest_behind_decides(output: Path) -> None:
    publish(output)
    store = Output(output).log.store
    note(store, "Iceberg", PublicationState(20, 1, commit=0))
    assert main([*COMPACT, str(output)]) == 0
    publish(output)
    assert main([*COMPACT, str(output)]) == 0
    assert files(output) == 4
    note(store, "Iceberg", PublicationState(60, 1, commit=Output(output).commit_number))
    assert main([*COMPACT, str(output)]) == 0
    assert files(output) == 1


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"Delta": {"offset": 60, "published_at_ms": 5}}', id="of-an-earlier-release"),
        pytest.param('{"Delta": {"failing_since_ms": 5, "failure": "x"}}', id="never"),
        pytest.param("5", id="damaged"),
    ],
)
def test_nothing_is_deleted_where_it_is_not_known_what_is_published(output: Path, text: str) -> None:
    (output / PUBLICATIONS).write_text(text)
    assert main([*COMPACT, str(output)]) == 0
    assert files(output) == 4
    (output / PUBLICATIONS).unlink()
    assert main([*COMPACT, str(output)]) == 0
    assert files(output) == 1, "as the warning advises"


def test_it_warns_of_files_that_are_kept_for_longer_than_a_day(
    output: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(output)
    assert main([*COMPACT, str(output)]) == 0
    caplog.clear()
    caplog.set_level(logging.WARNING)
    opened = Output(output)
    removed = opened.log.state().removed
    opened.remove_replaced(0)
    assert caplog.text == "", "it is younger"
    monkeypatch.setattr(
        output_module.time, "time_ns", lambda: (removed[0].at_ms + 50 * 3_600_000) * 1_000_000
    )
    for _ in range(3):
        assert opened.remove_replaced(86_400_000) == 0
    (line,) = (one.getMessage() for one in caplog.records)
    assert f"{output} keeps 9 replaced files for readers of Delta, the oldest for 50 hours" in line
    assert f"delete {NOTES['Delta']}" in line


def test_the_note_has_the_commit(output: Path) -> None:
    publish(output)
    noted = json.loads((output / NOTES["Delta"]).read_text())
    assert noted["Delta"]["commit"] == Output(output).commit_number
