"""The rows of an export as ready Arrow tables, and one pyarrow process that writes them.

As a program, `export_ready.py READY OUTPUT`, it is that process: it writes every table as one file, with the
row groups that the export writes, zstd, forced to the disk, and prints how long that took as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

COMPRESSION = "zstd"


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


def write_alone(ready: Path, output: Path) -> None:
    """Every table to one file: what somebody would write who has all rows at hand, and nothing to lose."""
    for directory in sorted(ready.iterdir()):
        path = output / f"{directory.name}.parquet"
        writer: pq.ParquetWriter | None = None
        for source in sorted(directory.iterdir()):
            table = ready_table(source)
            writer = writer or pq.ParquetWriter(path, table.schema, compression=COMPRESSION)
            writer.write_table(table, row_group_size=max(1, table.num_rows))
        assert writer is not None
        writer.close()
        descriptor = os.open(path, os.O_RDONLY)
        os.fsync(descriptor)
        os.close(descriptor)


def touch(ready: Path) -> None:
    """Into memory, so that reading is not part of any time."""
    for path in ready.rglob("*.arrow"):
        path.read_bytes()


def main(ready: Path, output: Path) -> dict[str, float]:
    output.mkdir()
    touch(ready)
    started, used = time.perf_counter(), time.process_time()
    write_alone(ready, output)
    return {"wall_s": time.perf_counter() - started, "cpu_s": time.process_time() - used}


if __name__ == "__main__":
    print(json.dumps(main(Path(sys.argv[1]), Path(sys.argv[2]))))
