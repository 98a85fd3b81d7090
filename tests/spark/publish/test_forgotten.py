"""Published tables that had a name are published again: no log, manifest or file has it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl_spark.cli import main
from kraftctl_spark.publish.publisher import Publisher
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.verification import verify
from tests.spark.forgotten_names import TOPIC, made_output, records
from tests.spark.page_bytes import places_of
from tests.spark.publish.published_tables import assert_published, catalog_properties, target_in


def catalog_flags(place: Path, kind: str) -> list[str]:
    if kind == "delta":
        return []
    rest = {"type": "rest", "uri": kind}
    properties = (catalog_properties(place) if kind == "iceberg" else rest).items()
    return ["--catalog", "test", *(f"--catalog-property={key}={value}" for key, value in properties)]


@pytest.mark.parametrize("kind", ["delta", "iceberg"])
def test_no_byte_of_a_published_name_is_left(
    tmp_path: Path, kind: str, capsys: pytest.CaptureFixture[str]
) -> None:
    place = tmp_path / "place"
    output = made_output(place / "tables", records())
    Publisher(Output(output), target_in(place, kind)).publish()
    before = places_of(TOPIC.encode(), tmp_path)
    assert kind == "delta" or any(one.endswith(".avro") for one in before)
    command = ["forget", "--output", str(output), "--topic", TOPIC, "--accept-present"]
    command += catalog_flags(place, kind)
    assert main(command) == 0
    assert f"remove these tables as {'delta' if kind == 'delta' else 'iceberg'}" in capsys.readouterr().out
    assert main([*command, "--execute"]) == 0
    assert places_of(TOPIC.encode(), tmp_path) == []
    assert_published(place, kind, output, 15)
    assert verify(output).problems == []


def test_a_catalog_is_asked_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    output = made_output(tmp_path / "tables", records())
    Publisher(Output(output), target_in(tmp_path, "iceberg")).publish()
    assert main(["forget", "--output", str(output), "--topic", TOPIC, "--accept-present", "--execute"]) == 2
    assert "--catalog" in caplog.text
