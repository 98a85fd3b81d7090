"""Planted faults in the tables of versions, and in what they are made from."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

EXPORTER = "tests/spark/test_exporter.py"
VERSIONS = "tests/spark/history/test_versions.py"
HISTORY = "spark/kraftctl_spark/history"

FAULTS = (
    PlantedFault(
        "every-record-begins-a-batch",
        "spark/kraftctl_spark/rows/metadata_rows.py",
        "        self.batch_offsets += [batch.header.base_offset] * len(records)\n",
        "        self.batch_offsets += [record.offset for record in records]\n",
        (f"{EXPORTER}::test_every_row_has_its_cluster_and_the_first_offset_of_its_batch",),
        "What one request changed looks like many changes.",
    ),
    PlantedFault(
        "offsets-have-dictionaries",
        "spark/kraftctl_spark/tables/parquet_options.py",
        '        "use_dictionary": [path for path in _leaves(schema) if path not in rising],\n'
        '        "column_encoding": dict.fromkeys(rising, "DELTA_BINARY_PACKED"),\n',
        "",
        ("tests/spark/test_parquet_options.py::test_they_are_read_back_and_are_small",),
        "The tables are a third larger.",
    ),
)
