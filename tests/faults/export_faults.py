"""Planted faults in the exporter: its source for Spark, its tables, and what it says."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

SOURCE = "spark/kraftctl_spark/datasource"
TABLES = "spark/kraftctl_spark/tables"
ENGINES = "tests/spark/test_other_engines.py"
PUSHED = "tests/spark/test_pushed_filters.py"

FAULTS = (
    PlantedFault(
        "a-filter-on-offsets-ends-one-too-early",
        f"{SOURCE}/pushed_filters.py",
        "end=highest + 1,",
        "end=highest,",
        (f"{PUSHED}::test_only_ranges_that_can_match_are_read",),
        "A read with a filter lacks a row that one without it has.",
    ),
    PlantedFault(
        "a-filter-on-offsets-is-not-used",
        f"{SOURCE}/batch_source.py",
        "        self._wanted = wanted_of(filters)\n",
        "",
        (f"{PUSHED}::test_only_ranges_that_can_match_are_read",),
        "A read of ten offsets reads the whole log.",
    ),
    PlantedFault(
        "a-filter-on-times-rounds-down",
        f"{SOURCE}/pushed_filters.py",
        "Bounds(-(-times_us.lowest // 1000), times_us.highest // 1000)",
        "Bounds(-(-times_us.lowest // 1000), (times_us.highest - 999) // 1000)",
        (f"{PUSHED}::test_batches_of_other_times_are_left_out",),
        "A read with a filter lacks the records of the last millisecond.",
    ),
    PlantedFault(
        "a-part-of-a-range-has-the-epoch-of-its-start",
        f"{SOURCE}/pushed_filters.py",
        "one.epoch if lowest == one.start else max(one.epoch, epoch)",
        "one.epoch",
        (f"{PUSHED}::test_a_part_of_a_range_is_read_with_an_epoch_of_its_log",),
        "A read with a filter fails: its leader says that the log has diverged.",
    ),
    PlantedFault(
        "every-reader-takes-filters",
        f"{SOURCE}/batch_source.py",
        "FilteredBatchReader if PUSHDOWN_WORKER in sys.modules else KraftBatchReader",
        "FilteredBatchReader",
        (f"{PUSHED}::test_a_reader_takes_filters_only_where_spark_asks_for_them",),
        "With Spark's defaults, every read fails.",
    ),
    PlantedFault(
        "spark-shows-the-traceback-of-its-planner",
        f"{SOURCE}/plain_errors.py",
        "        if _is_process_of_spark():\n",
        "        if False:\n",
        (f"{PUSHED}::test_only_spark_shows_an_error_without_its_traceback",),
        "An offset beyond the end is refused in twenty lines, of which one says so.",
    ),
    PlantedFault(
        "files-with-old-columns-stay-as-they-are",
        f"{TABLES}/compaction.py",
        "and any(_has_old_columns(output, one) for one in spared)",
        "and False",
        (f"{ENGINES}::test_a_compaction_writes_files_with_old_columns_anew",),
        "After an upgrade, DuckDB and pyarrow never find a new column.",
    ),
    PlantedFault(
        "a-file-is-replaced-under-its-name",
        f"{TABLES}/compaction.py",
        "    revision = first.revision + 1 if len(run) == 1 else 0\n",
        "    revision = 0\n",
        (f"{ENGINES}::test_killed_after_any_step_it_is_done_again",),
        "Killed between the file and its manifest, an export refuses its own tables as damaged.",
    ),
    PlantedFault(
        "the-first-revision-is-live",
        f"{TABLES}/manifest.py",
        "key=lambda one: (one.start, -one.end, -one.revision)",
        "key=lambda one: (one.start, -one.end, one.revision)",
        (f"{ENGINES}::test_readers_of_old_manifests_have_a_grace_period",),
        "Files that were written anew are deleted, or the old ones stay.",
    ),
)
