"""Planted faults in the tables of versions, and in what they are made from."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

EXPORTER = "tests/spark/test_exporter.py"
TABLES = "tests/spark/history/test_history_tables.py"
PAGES = "tests/spark/test_damaged_pages.py"
PARTITIONS = "tests/spark/history/test_partitions.py"
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
    PlantedFault(
        "pages-have-no-checksums",
        "spark/kraftctl_spark/tables/parquet_options.py",
        '        "write_page_checksum": True,\n',
        "",
        (f"{PAGES}::test_every_column_of_every_file_has_checksums",),
        "A damaged byte is read as another value.",
    ),
    PlantedFault(
        "checksums-of-pages-are-not-compared",
        "spark/kraftctl_spark/tables/checked_file.py",
        "page_checksum_verification=True",
        "page_checksum_verification=False",
        (f"{PAGES}::test_every_column_of_every_file_has_checksums",),
        "Files have checksums, and a damaged byte is read as another value all the same.",
    ),
    PlantedFault(
        "a-merged-batch-is-applied-from-its-start",
        f"{HISTORY}/history_state.py",
        "steps_of(tables, manifests, self.end)",
        "steps_of(tables, manifests)",
        (f"{TABLES}::test_continued_in_any_steps_and_merged_it_is_what_is_computed_anew[whole]",),
        "After a compaction of the typed tables, the history has changes twice.",
    ),
    PlantedFault(
        "what-has-ended-stays-in-the-file-of-open-versions",
        f"{HISTORY}/open_partitions.py",
        '            self._touched.add(found["values"])\n',
        "",
        (f"{TABLES}::test_a_change_costs_what_it_changes",),
        "A version is there twice: as ended, and as still valid.",
    ),
    PlantedFault(
        "every-batch-writes-all-that-is-open",
        f"{HISTORY}/open_partitions.py",
        "if everything or rows < most // 2}",
        "}",
        (f"{TABLES}::test_a_change_costs_what_it_changes",),
        "A batch costs as much as there are partitions.",
    ),
    PlantedFault(
        "an-unclean-election-is-an-election-like-any-other",
        f"{HISTORY}/partition_events.py",
        "pc.if_else(self._unclean(rows), _UNCLEAN, _CLEAN)",
        "pc.if_else(self._unclean(rows), _CLEAN, _CLEAN)",
        ("tests/spark/history/test_events.py::test_what_happened_in_words",),
        "The places where data may have been lost are not found.",
    ),
    PlantedFault(
        "an-unclean-election-during-recovery-is-clean",
        f"{HISTORY}/partition_events.py",
        "        if not len(again):\n            return unclean\n",
        "        if len(again):\n"
        "            return pc.and_not(unclean, pc.equal(old[recovery], RECOVERING))\n",
        ("tests/spark/history/test_events.py::test_what_happened_in_words",),
        "Of two unclean elections in a row, the second one is not found.",
    ),
    PlantedFault(
        "what-cannot-be-read-ends-the-export",
        "spark/kraftctl_spark/tables/checked_file.py",
        "        except (pa.ArrowInvalid, OSError) as error:\n",
        "        except OSError as error:\n",
        (f"{TABLES}::test_a_damaged_file_is_refused_with_its_name",),
        "One damaged file of the history ends the whole export, at every start.",
    ),
    PlantedFault(
        "a-damaged-typed-file-ends-the-export-by-its-history",
        "spark/kraftctl_spark/commands/history.py",
        "(ExportRefusedError, OSError, ArrowInvalid, AssertionError)",
        "(OSError, ArrowInvalid, AssertionError)",
        (f"{TABLES}::test_a_damaged_file_of_the_typed_tables_ends_no_export",),
        "One damaged file ends the export at the next batch, although what follows a batch can wait.",
    ),
    PlantedFault(
        "a-damaged-typed-file-ends-the-export-by-its-compaction",
        "spark/kraftctl_spark/tables/compaction.py",
        "            except (ExportRefusedError, OSError, pa.ArrowInvalid) as error:\n",
        "            except (OSError, pa.ArrowInvalid) as error:\n",
        (f"{TABLES}::test_a_damaged_file_of_the_typed_tables_ends_no_export",),
        "One damaged file ends the export when small files are merged.",
    ),
    PlantedFault(
        "files-of-others-are-deleted",
        f"{HISTORY}/history_manifest.py",
        "if OUR_NAMES.fullmatch(path.name) and",
        'if path.suffix in (".parquet", TEMPORARY_SUFFIX) and',
        (f"{TABLES}::test_files_of_others_stay",),
        "A history in a directory that has a table of the same name deletes the data of somebody else.",
    ),
    PlantedFault(
        "the-parts-of-a-snapshot-are-events",
        f"{HISTORY}/events.py",
        "        if at.in_snapshot:\n            continue\n",
        "",
        ("tests/spark/history/test_events.py::test_gaps_and_snapshots_are_events",),
        "After a gap, everything looks as if it had just been created.",
    ),
    PlantedFault(
        "a-record-that-changes-nothing-begins-a-version",
        f"{HISTORY}/partition_pass.py",
        "    effect = pc.invert(pc.or_(removes, sets))\n",
        "    effect = pc.invert(removes)\n",
        (f"{PARTITIONS}::test_as_columns_it_is_what_it_is_one_by_one",),
        "A partition has two versions in a row that are the same.",
    ),
    PlantedFault(
        "a-removed-partition-is-not-gone",
        f"{HISTORY}/partition_pass.py",
        "pc.and_not(_follows(rows), pc.equal(shifted(rows[ACT]), REMOVE))",
        "_follows(rows)",
        (f"{PARTITIONS}::test_as_columns_it_is_what_it_is_one_by_one",),
        "A topic that is created and removed twice in a step ends versions that had ended.",
    ),
    PlantedFault(
        "operations-are-not-in-the-order-of-the-log",
        f"{HISTORY}/partition_pass.py",
        "pc.add(stable_order(operations[PLACE]), pa.scalar(count, pa.uint64()))",
        "pc.add(row_numbers(len(operations[PLACE])), pa.scalar(count, pa.uint64()))",
        (f"{PARTITIONS}::test_as_columns_it_is_what_it_is_one_by_one",),
        "A partition that is created after a change of it in the same step begins with the change.",
    ),
    PlantedFault(
        "events-of-other-kinds-follow-those-of-partitions",
        f"{HISTORY}/event_columns.py",
        "    if len(parts) > 1:\n",
        "    if len(parts) > 2:\n",
        ("tests/spark/history/test_events.py::test_what_happened_in_words",),
        "The events are not in the order in which they happened.",
    ),
    PlantedFault(
        "a-step-goes-up-to-the-last-row-that-was-read",
        f"{HISTORY}/raw_records.py",
        "return _END if self._next is None else self._next.first_place - 1",
        "return _END",
        ("tests/spark/history/test_versions.py::test_records_of_all_types_come_in_the_order_of_the_log",),
        "Records of one type are applied before earlier ones of another type.",
    ),
    PlantedFault(
        "as-of-an-offset-has-what-ended-there",
        f"{HISTORY}/dialects.py",
        '"WHERE valid_from_offset <= :as_of AND (valid_to_offset IS NULL OR valid_to_offset > :as_of)\\n"',
        '"WHERE valid_from_offset <= :as_of AND (valid_to_offset IS NULL OR valid_to_offset >= :as_of)\\n"',
        ("tests/spark/history/test_questions.py::test_the_files_are_what_the_source_gives",),
        "A partition has two states at an offset at which it changes.",
    ),
    PlantedFault(
        "an-outage-ends-with-each-change",
        f"{HISTORY}/sql/duckdb/outages.sql",
        "coalesce(lag(valid_to_offset) OVER of_partition <> valid_from_offset\n"
        "                        OR lag(at_gap) OVER of_partition, true) AS begins,",
        "true AS begins,",
        ("tests/spark/history/test_questions.py::test_outages",),
        "One long outage is counted as many short ones.",
    ),
    PlantedFault(
        "views-read-records-that-the-history-lacks",
        "spark/kraftctl_spark/views/log.py",
        "        last = self.last.end - 1 if self.as_of is None else self.as_of\n",
        "        last = 2**62 if self.as_of is None else self.as_of\n",
        ("tests/spark/test_views_on_history.py::test_views_end_where_the_history_ends",),
        "Views have configurations from after the end of what they say of partitions.",
    ),
    PlantedFault(
        "views-of-a-history-of-another-cluster",
        "spark/kraftctl_spark/views/tables.py",
        "    if versions.cluster_id != last.cluster_id or versions.end > last.end:\n",
        "    if versions.end > last.end:\n",
        ("tests/spark/test_views_on_history.py::test_a_history_of_another_cluster_is_refused",),
        "With a wrong `history`, views mix two clusters.",
    ),
    PlantedFault(
        "trino-is-asked-with-functions-of-spark",
        f"{HISTORY}/sql/trino/under_min_isr.sql",
        "WHERE cardinality(isr) <",
        "WHERE size(isr) <",
        ("tests/spark/history/test_questions.py::test_trino_has_this_syntax",),
        "The question fails in Trino, which no test runs.",
    ),
)
