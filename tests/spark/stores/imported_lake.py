"""What every run of an export imports: its process is a copy of one that has it."""

from __future__ import annotations

import deltalake  # noqa: F401
import pyiceberg.catalog.sql
import pyiceberg.io.pyarrow  # noqa: F401

import kraftctl_spark.commands.run
import kraftctl_spark.history.history_tables
import kraftctl_spark.publish.publisher
import kraftctl_spark.tables.compaction
import kraftctl_spark.tables.stored_output  # noqa: F401
