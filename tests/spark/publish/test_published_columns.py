"""Published tables gain the columns of a later release; older files have null there, inside lists, too."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from kraftctl_spark.publish.live_tables import live_tables
from kraftctl_spark.publish.publication import publish
from kraftctl_spark.rows import tables
from kraftctl_spark.tables.output import Output
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import (
    FORMATS,
    assert_published,
    catalog_in,
    published,
    target_in,
    write_again,
)
from tests.spark.typed_export import exporting

TABLE = "register_broker_record"


def earlier_schemas() -> dict[str, pa.Schema]:
    """This release's without a time, a list, and a field inside a list."""
    schemas = dict(tables.table_schemas())
    schema = schemas[TABLE]
    for name in ("log_dirs", "timestamp"):
        schema = schema.remove(schema.get_field_index(name))
    place = schema.get_field_index("end_points")
    inner = list(schema.field(place).type.value_field.type)[:-1]
    fewer = pa.list_(pa.field("element", pa.struct(inner)))
    return {**schemas, TABLE: schema.set(place, pa.field("end_points", fewer))}


@pytest.mark.parametrize("kind", FORMATS)
def test_columns_of_a_later_release_are_added(
    controller: FakeController, quorum: FakeQuorum, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    quorum.append(*generate(5, 200, snapshots=()).batches)
    output = tmp_path / "tables"
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(100, 1)
    older = earlier_schemas()
    with monkeypatch.context() as patch:
        patch.setattr("kraftctl_spark.publish.live_tables.table_schemas", lambda: older)
        write_again(output, TABLE, lambda table: pa.Table.from_pylist(table.to_pylist(), schema=older[TABLE]))
        publish(Output(output), target_in(tmp_path, kind))
        assert_published(tmp_path, kind, output, 15)
    with exporting(output, controller.endpoint) as exporter:
        exporter.export_to(200, 1)
    assert publish(Output(output), target_in(tmp_path, kind)) > 5
    assert_published(tmp_path, kind, output, 15)
    (table,) = (one for one in live_tables(Output(output)) if one.name == TABLE)
    found = published(catalog_in(tmp_path) if kind == "iceberg" else None, table)
    assert found.schema.field("timestamp").type == pa.timestamp("us", tz="UTC")
    assert 0 < pc.sum(pc.is_null(found.column("log_dirs"))).as_py() < found.num_rows
    assert publish(Output(output), target_in(tmp_path, kind)) == 0
    if kind == "iceberg":
        fields = catalog_in(tmp_path).load_table(f"kraft.{TABLE}").schema().fields
        assert not any(field.required for field in fields)
