"""The rows of an export as ready Arrow tables, and one pyarrow process that writes them.

As a program, `export_ready.py files|tables READY OUTPUT`, it is that process: it writes the same files as the
export, or one file per table; zstd, the same row groups, forced to the disk; and prints the time as JSON.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from kraftctl_spark.stores.durable import fsync
from kraftctl_spark.tables.parquet_options import parquet_options
from kraftctl_spark.tables.table_files import ROWS_PER_GROUP


def make_ready(exported: Path, ready: Path) -> int:
    """Files of an export as Arrow files, which are mapped into memory; returns how many records there are."""
    records = 0
    for path in sorted(exported.glob("[a-z]*/*.parquet")):
        table = pq.read_table(path, partitioning=None)
        target = ready / path.parent.name / f"{path.stem}.arrow"
        target.parent.mkdir(parents=True, exist_ok=True)
        with pa.ipc.new_file(target, table.schema) as writer:
            writer.write_table(table)
        records += table.num_rows if path.parent.name == "records" else 0
    return records


def alone(way: str, ready: Path, output: Path) -> dict[str, float]:
    """The times of another process that writes ready rows to a directory, which is gone afterwards."""
    command = [sys.executable, __file__, way, str(ready), str(output)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    shutil.rmtree(output)
    took: dict[str, float] = json.loads(done.stdout)
    return took


def ready_table(path: Path) -> pa.Table:
    return pa.ipc.open_file(pa.memory_map(str(path))).read_all()


def ranges(ready: Path) -> list[str]:
    """Names of the ranges of offsets, in order."""
    return sorted(path.stem for path in (ready / "records").iterdir())


def tables_of(ready: Path, name: str) -> Iterator[tuple[str, pa.Table]]:
    """The tables of one range."""
    for directory in sorted(ready.iterdir()):
        path = directory / f"{name}.arrow"
        if path.exists():
            yield directory.name, ready_table(path)


def write_files(ready: Path, output: Path) -> None:
    """The files of an export: one per table and range."""
    for name in ranges(ready):
        for table, rows in tables_of(ready, name):
            path = output / table / f"{name}.parquet"
            path.parent.mkdir(exist_ok=True)
            pq.write_table(rows, path, row_group_size=max(1, rows.num_rows), **parquet_options(rows.schema))
            fsync(path)


def write_one_file_per_table(ready: Path, output: Path) -> None:
    """The simplest way to write rows that are all in memory, without safety against crashes."""
    for directory in sorted(ready.iterdir()):
        path = output / f"{directory.name}.parquet"
        writer: pq.ParquetWriter | None = None
        for source in sorted(directory.iterdir()):
            table = ready_table(source)
            writer = writer or pq.ParquetWriter(path, table.schema, **parquet_options(table.schema))
            writer.write_table(table, row_group_size=min(max(1, table.num_rows), ROWS_PER_GROUP))
        assert writer is not None
        writer.close()
        fsync(path)


def touch(ready: Path) -> None:
    """Read into memory, so that reading is not measured."""
    for path in ready.rglob("*.arrow"):
        path.read_bytes()


WAYS = {"files": write_files, "tables": write_one_file_per_table}


def main(way: str, ready: Path, output: Path) -> dict[str, float]:
    output.mkdir()
    touch(ready)
    started, used = time.perf_counter(), time.process_time()
    WAYS[way](ready, output)
    for directory in [output, *(path for path in output.iterdir() if path.is_dir())]:
        fsync(directory)
    return {"wall_s": time.perf_counter() - started, "cpu_s": time.process_time() - used}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))))
