"""Published tables do not grow without bound: old snapshots of Iceberg end, Delta forgets removed files."""

from __future__ import annotations

import time
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import DeltaTable
from pyiceberg.table import Table

from kraftctl_spark.publish import delta, iceberg_expiry
from kraftctl_spark.publish.iceberg_expiry import expire
from kraftctl_spark.publish.live_tables import LiveTable
from kraftctl_spark.publish.publication import OFFSET
from tests.spark.publish.published_tables import catalog_in

DAY_MS = 86_400_000
ROWS = pa.table({"n": [1, 2, 3]})


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A table of five appends."""
    (tmp_path / "warehouse").mkdir()
    catalog = catalog_in(tmp_path)
    catalog.create_namespace("kraft")
    found = catalog.create_table("kraft.t", ROWS.schema)
    for number in range(5):
        found.append(ROWS, snapshot_properties={OFFSET: str(number)})
    return found


def now_ms() -> int:
    return time.time_ns() // 1_000_000


def files(table: Table) -> Counter[str]:
    directory = Path(table.location().removeprefix("file://")) / "metadata"
    return Counter(
        (path.name.partition("-")[0] == "snap" and "list") or path.suffix for path in directory.iterdir()
    )


def test_old_snapshots_end_with_their_lists(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(iceberg_expiry, "CLOCKS_DIFFER_MS", -DAY_MS)  # All were written a moment ago.
    assert files(table)["list"] == 5
    before = table.scan().to_arrow()
    assert expire(table, keep_ms=DAY_MS, now_ms=now_ms() + 3 * DAY_MS) == 4
    assert len(table.metadata.snapshots) == 1
    assert files(table) == {"list": 1, ".avro": 5, ".json": files(table)[".json"]}, "all manifests are in use"
    table.overwrite(ROWS, snapshot_properties={OFFSET: "9"})
    assert expire(table, keep_ms=0, now_ms=now_ms() + 3 * DAY_MS) >= 1
    manifests = {one.manifest_path for one in table.current_snapshot().manifests(table.io)}
    assert files(table)[".avro"] == len(manifests)
    assert before.num_rows == 15
    again = catalog_in(Path(table.location().removeprefix("file://")).parents[2]).load_table("kraft.t")
    assert again.scan().to_arrow().num_rows == ROWS.num_rows


@pytest.mark.parametrize(("days", "ended"), [(0.9, 0), (1.9, 0), (2.1, 4)])
def test_they_end_once_a_day(table: Table, days: float, ended: int) -> None:
    """When the oldest one is a day older than what is kept; what was written a moment ago stays."""
    before = files(table)
    assert expire(table, keep_ms=DAY_MS, now_ms=now_ms() + int(days * DAY_MS)) == ended
    assert {name: files(table)[name] for name in ("list", ".avro")} == {
        name: before[name] for name in ("list", ".avro")
    }


def test_the_last_offset_and_what_others_have_named_stay(table: Table) -> None:
    """Without an offset, an older state would replace a newer one."""
    first, _, _, _, last = (one.snapshot_id for one in table.metadata.snapshots)
    table.manage_snapshots().create_tag(first, "audit").commit()
    table.append(ROWS)
    assert expire(table, keep_ms=0, now_ms=now_ms() + 3 * DAY_MS) == 3
    assert {one.snapshot_id for one in table.metadata.snapshots} == {
        first,
        last,
        table.current_snapshot().snapshot_id,
    }
    assert table.scan(snapshot_id=first).to_arrow().num_rows == 3


def test_delta_names_removed_files_for_days(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables of an earlier release, which had a year, have the same from now on."""
    place, name = str(tmp_path / "t"), "delta.deletedFileRetentionDuration"
    live = LiveTable(
        name="t",
        location=place,
        schema=ROWS.schema,
        cluster_id="c",
        commit=1,
        position=1,
        exists=True,
        files={},
    )
    with monkeypatch.context() as earlier:
        earlier.setattr(delta, "CONFIGURATION", {name: "interval 365 days"})
        delta.DeltaTarget().open(live)
    assert DeltaTable(place).metadata().configuration[name] == "interval 365 days"
    for _ in range(2):
        delta.DeltaTarget().open(live)
    found = DeltaTable(place)
    assert found.metadata().configuration[name] == "interval 30 days"
    assert found.version() == 1
