"""A damaged page of a Parquet file is an error that names the file, and never other rows."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from kraftctl_spark.commands.history import RegularHistory
from kraftctl_spark.history import version_files
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.history.reader import read_versions
from kraftctl_spark.history.schema import SCHEMAS
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables import table_files
from kraftctl_spark.tables.checked_file import CheckedFile
from kraftctl_spark.tables.compaction import RegularCompaction, compact
from kraftctl_spark.tables.manifest import ExportRefusedError
from kraftctl_spark.tables.output import Output
from kraftctl_spark.tables.parquet_options import parquet_options
from kraftctl_spark.tables.progress import progress
from kraftctl_spark.tables.reader import read_table
from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import EPOCH, History, generate
from tests.spark.typed_export import content, exporting
from tests.support.effort import FIRST_SEED, scaled

SOURCES = Path(version_files.__file__).parents[1]
TYPED_DAMAGE = "is damaged: restore it from a backup, or export to a new directory"
HISTORY_DAMAGE = "is damaged: kraftctl-export history --rebuild computes it again"


def export(made: History, raw: Path) -> None:
    """Three batches; the history has two of them."""
    quorum = FakeQuorum()
    controller = FakeController(quorum, 1)
    quorum.append(*made.batches)
    try:
        with exporting(raw, controller.endpoint) as exporter:
            for end in (150, 300, made.end):
                exporter.export_to(end, EPOCH)
                if end < made.end:
                    HistoryTables(raw, raw / "history").catch_up()
    finally:
        controller.close()


@pytest.fixture(scope="module")
def raw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Typed tables, and their history."""
    directory = tmp_path_factory.mktemp("tables")
    export(generate(26, 400, snapshots=()), directory)
    return directory


def typed_rows(raw: Path) -> Any:
    return [read_table(raw, table) for table in table_schemas()]


def rows_of_history(raw: Path) -> Any:
    return [read_versions(raw / "history", table) for table in SCHEMAS]


def computed_history(raw: Path) -> Any:
    HistoryTables(raw, raw / "computed").catch_up()
    return content(raw / "computed")


def merged_history(raw: Path) -> Any:
    HistoryTables(raw, raw / "history").merge()
    return content(raw / "history")


def continued_history(raw: Path) -> Any:
    HistoryTables(raw, raw / "history").catch_up()
    return rows_of_history(raw)


def compacted(raw: Path) -> Any:
    compact(Output(raw), grace_ms=0)
    return content(raw)


READS: dict[str, tuple[Callable[[Path], Any], str, str]] = {
    "typed-tables": (typed_rows, "*/*", TYPED_DAMAGE),
    "history-computed": (computed_history, "*/*", TYPED_DAMAGE),
    "compaction": (compacted, "*/*", TYPED_DAMAGE),
    "versions": (rows_of_history, "history/*/*", HISTORY_DAMAGE),
    "history-continued": (continued_history, "history/*/open-*", HISTORY_DAMAGE),
    "merge": (merged_history, "history/*/*", HISTORY_DAMAGE),
}
"""What reads, which files it reads, and what it says of a damaged one."""

TIMES = 8


def pages(path: Path) -> Iterator[range]:
    """The bytes of the pages of each column, with their headers."""
    metadata = pq.ParquetFile(path).metadata
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            start = column.dictionary_page_offset or column.data_page_offset
            yield range(start, start + column.total_compressed_size)


def flip(path: Path, position: int, bits: int) -> None:
    with path.open("r+b") as file:
        file.seek(position)
        damaged = file.read(1)[0] ^ bits
        file.seek(position)
        file.write(bytes([damaged]))


def outcome(read: Callable[[Path], Any], directory: Path) -> Any:
    """What was read, or why it was refused."""
    try:
        return read(directory)
    except ExportRefusedError as error:
        return str(error)


@pytest.mark.parametrize("name", READS)
def test_a_damaged_page_is_an_error_and_never_other_rows(raw: Path, tmp_path: Path, name: str) -> None:
    """Any byte, in any file that is read. A header has bytes that do not matter."""
    read, files, damage = READS[name]
    sound = tmp_path / "sound"
    shutil.copytree(raw, sound)
    expected = read(sound)
    rng = random.Random(FIRST_SEED)
    refused = 0
    for number in range(scaled(TIMES)):
        directory = tmp_path / f"damaged-{number}"
        shutil.copytree(raw, directory)
        path = rng.choice([one for one in sorted(directory.glob(f"{files}.parquet")) if list(pages(one))])
        position, bits = rng.choice(rng.choice(list(pages(path)))), rng.randrange(1, 256)
        flip(path, position, bits)
        which = f"seed {FIRST_SEED}, damage {number}: {path.relative_to(directory)}, {position} ^ {bits}"
        found = outcome(read, directory)
        assert found in (expected, f"{path} {damage}"), which
        refused += found != expected
        shutil.rmtree(directory)
    assert refused


def test_every_column_of_every_file_has_checksums(raw: Path, tmp_path: Path) -> None:
    """Of each, the last byte of its last page."""
    directory = tmp_path / "tables"
    shutil.copytree(raw, directory)
    columns = 0
    for path in sorted(directory.rglob("*.parquet")):
        for column in pages(path):
            flip(path, column[-1], 1)
            with pytest.raises(ExportRefusedError, match="is damaged"):
                CheckedFile(path).read()
            flip(path, column[-1], 1)
            columns += 1
        CheckedFile(path).read()
    assert columns > 400


def test_a_damaged_name_is_no_column_of_another_release(raw: Path, tmp_path: Path) -> None:
    """Which would have no values. Names have no checksum, but are there twice."""
    path = tmp_path / "damaged.parquet"
    for file in sorted(raw.rglob("*.parquet")):
        path.write_bytes(file.read_bytes().replace(b"cluster_id", b"cluster-id"))
        assert "cluster-id" in pq.read_schema(path).names
        with pytest.raises(ExportRefusedError, match="is damaged"):
            CheckedFile(path)
        path.unlink()


def test_what_is_damaged_ends_no_export(raw: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """What follows a batch can wait: the next batches are written."""
    directory = tmp_path / "tables"
    shutil.copytree(raw, directory)
    for path in sorted(directory.glob("*/*.parquet")):
        for column in pages(path):
            flip(path, column[-1], 1)
    RegularHistory(HistoryTables(directory, tmp_path / "history")).after_batch()
    RegularCompaction(Output(directory), 1, 0).after_batch()
    with pytest.raises(ExportRefusedError, match=TYPED_DAMAGE):
        progress(Output(directory))
    for warning in ("the history is not continued for now", "small files are not merged for now"):
        (text,) = [one.getMessage() for one in caplog.records if one.getMessage().startswith(warning)]
        assert text.endswith(TYPED_DAMAGE)


def test_files_of_older_releases_have_none_and_are_read(
    raw: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is merged or computed again has them."""
    made = generate(26, 400, snapshots=())
    directory = tmp_path / "tables"
    with monkeypatch.context() as older:
        for module in (table_files, version_files):
            older.setattr(
                module,
                "parquet_options",
                lambda schema: {**parquet_options(schema), "write_page_checksum": False},
            )
        export(made, directory)
    assert content(directory) != content(raw)
    assert typed_rows(directory) == typed_rows(raw)
    assert rows_of_history(directory) == rows_of_history(raw)
    both = [tmp_path / "older", tmp_path / "newer"]
    for source, copy in zip((directory, raw), both, strict=True):
        shutil.copytree(source, copy)
        compact(Output(copy), grace_ms=0)
        HistoryTables(copy, copy / "history").merge()
    assert content(both[0]) == content(both[1])


def test_no_module_reads_without_them() -> None:
    """`CheckedFile` does; what the encodings of a schema are, no file has to say."""
    for path in sorted(SOURCES.rglob("*.py")):
        if path.name not in ("checked_file.py", "parquet_options.py"):
            text = path.read_text()
            for name in ("ParquetFile(", "read_table(", "read_schema(", "parquet_dataset("):
                assert f"pq.{name}" not in text, path
