"""Planted faults in object stores: who wins a commit, what is retried, what is deleted, and what is said."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

STORES = "spark/kraftctl_spark/stores"
TABLES = "spark/kraftctl_spark/tables"
TESTS = "tests/spark/stores"
OBJECTS = f"{TESTS}/test_object_store.py"
PROBE = f"{TESTS}/test_create_probe.py"
OPENED = f"{TESTS}/test_open_store.py"
OUTPUT = f"{TESTS}/test_stored_output.py"
NESTED = f"{TESTS}/test_nested_outputs.py"
READS = f"{TESTS}/test_failed_reads.py"
FIELDS = "tests/spark/test_commit_fields.py"
LOST = f"{TESTS}/test_lost_answers.py"

FAULTS = (
    PlantedFault(
        "an-object-is-created-over-another",
        f"{STORES}/object_store.py",
        'mode="create", use_multipart=False',
        'mode="overwrite", use_multipart=False',
        (f"{OBJECTS}::test_an_object_is_created_once[moto]",),
        "Two exporters overwrite each other's commits.",
    ),
    PlantedFault(
        "a-lost-answer-is-a-lost-race",
        f"{STORES}/object_store.py",
        "                is_in_doubt = True\n",
        "                is_in_doubt = False\n",
        (f"{OBJECTS}::test_what_fails_for_a_while_is_done_once[moto-1-answer-lost]",),
        "An export ends, and names its own commit as that of another process.",
    ),
    PlantedFault(
        "whatever-is-there-after-a-lost-answer-is-ours",
        f"{STORES}/object_store.py",
        "return self.read(name) == data and is_in_doubt",
        "return is_in_doubt",
        (f"{OBJECTS}::test_the_object_of_another_writer_is_not_taken_for_ours[moto]",),
        "Two exporters both believe that they have the same commit.",
    ),
    PlantedFault(
        "every-409-is-an-object",
        f"{STORES}/object_store.py",
        "if not is_in_doubt and _CONFLICT not in str(error):",
        "if not is_in_doubt:",
        (f"{OBJECTS}::test_a_conflict_without_an_object_is_repeated[moto]",),
        "The only exporter ends because S3 was busy with its own request.",
    ),
    PlantedFault(
        "a-missing-bucket-is-a-missing-object",
        f"{STORES}/object_store.py",
        "if name is None or (code is not None and code[1] not in MISSING):",
        "if name is None:",
        (f"{OPENED}::test_a_missing_bucket_is_no_missing_object",),
        "An output in a bucket with a wrong name looks like one without commits.",
    ),
    PlantedFault(
        "the-probe-does-not-race",
        f"{STORES}/create_probe.py",
        "    if len(won) != 1:\n",
        "    if not won:\n",
        (f"{PROBE}::test_others_are_refused_by_name_with_a_next_step",),
        "A server that looks and writes afterwards loses commits.",
    ),
    PlantedFault(
        "the-probe-believes-what-is-ignored",
        f"{STORES}/create_probe.py",
        '    if store.create(name, b"second"):\n',
        "    if False:\n",
        (f"{PROBE}::test_others_are_refused_by_name_with_a_next_step",),
        "A server that ignores conditions is found in a race only.",
    ),
    PlantedFault(
        "the-probe-of-another-process-is-removed",
        f"{STORES}/create_probe.py",
        "oldest = int(time.time()) - LEFTOVER_SECONDS",
        "oldest = int(time.time()) + LEFTOVER_SECONDS",
        (f"{PROBE}::test_what_a_killed_probe_left_is_removed_when_it_cannot_run_any_more",),
        "Of two exports that start together, one refuses a store that is right.",
    ),
    PlantedFault(
        "a-secret-is-an-option",
        f"{STORES}/open_store.py",
        "if SECRET.search(key) and key not in _NO_SECRETS:",
        "if False:",
        (f"{OPENED}::test_a_secret_is_no_option_and_is_not_repeated",),
        "Every account of the machine can list the secret.",
    ),
    PlantedFault(
        "an-error-shows-what-the-client-says",
        f"{STORES}/store_error.py",
        "{reason}{code_of(error)}. Next step",
        "{reason}{error}. Next step",
        (f"{OPENED}::test_answers_of_other_servers",),
        "A signature of Azure is in the log.",
    ),
    PlantedFault(
        "young-files-are-leftovers",
        f"{TABLES}/stored_output.py",
        "oldest = time.time() - LEFTOVER_SECONDS",
        "oldest = time.time() + LEFTOVER_SECONDS",
        (f"{OUTPUT}::test_leftovers_are_deleted_once_no_attempt_can_commit_them[moto]",),
        "The files of an export that runs are deleted, and it commits their names.",
    ),
    PlantedFault(
        "an-attempt-is-never-too-old",
        f"{TABLES}/stored_output.py",
        "if time.time() - oldest > ATTEMPT_SECONDS_MAX:",
        "if False:",
        (f"{OUTPUT}::test_leftovers_are_deleted_once_no_attempt_can_commit_them[moto]",),
        "A commit names files that another start has deleted as leftovers.",
    ),
    PlantedFault(
        "a-failed-upload-leaves-the-others",
        f"{TABLES}/uploads.py",
        "        failed.callback(lambda: store.delete(name for _, name in named))\n",
        "",
        (f"{OUTPUT}::test_an_upload_that_fails_ends_the_batch_and_leaves_nothing[moto]",),
        "Each failed batch leaves objects for a day.",
    ),
    PlantedFault(
        "what-a-commit-may-name-is-deleted",
        f"{TABLES}/stored_output.py",
        "        self._pending -= ours\n",
        "",
        (
            f"{LOST}::test_files_of_a_batch_are_kept_where_the_answer_to_its_commit_is_lost",
            f"{LOST}::test_files_of_a_merge_are_kept_where_the_answer_to_its_commit_is_lost",
        ),
        "Where a store does not answer for a minute, the files of a commit are lost.",
    ),
    PlantedFault(
        "what-was-refused-stays",
        f"{TABLES}/stored_output.py",
        "            self._pending |= ours\n",
        "",
        (f"{LOST}::test_files_of_a_batch_that_is_refused_are_deleted",),
        "Each lost race leaves objects for a day.",
    ),
    PlantedFault(
        "files-of-an-output-within-are-leftovers",
        f"{TABLES}/stored_output.py",
        "for name in self._our_files() if name not in named",
        'for name in self._objects.names("") if name not in named',
        (f"{NESTED}::test_old_files_of_an_output_within_it_stay",),
        "Each start of one export deletes the live files of another below its prefix.",
    ),
    PlantedFault(
        "an-output-may-be-around-another",
        f"{TABLES}/nested_outputs.py",
        "    if inner is not None:\n",
        "    if False:\n",
        (f"{NESTED}::test_an_output_around_another_does_not_begin",),
        "An earlier release of the outer one deletes the files of the inner one.",
    ),
    PlantedFault(
        "an-output-may-be-within-another",
        f"{TABLES}/nested_outputs.py",
        "            if one.size(FIRST) is not None:\n",
        "            if False:\n",
        (f"{NESTED}::test_an_output_within_another_is_refused",),
        "An earlier release of the outer one deletes the files of the inner one.",
    ),
    PlantedFault(
        "a-path-leads-anywhere",
        f"{TABLES}/table_files.py",
        "    if not is_ours or ",
        "    if ",
        (
            f"{FIELDS}::test_a_path_outside_of_the_tables_is_refused",
            f"{FIELDS}::test_a_changed_commit_deletes_nothing_outside",
        ),
        "Who can write one commit has files of the exporter's machine deleted.",
    ),
    PlantedFault(
        "a-failed-request-is-damage",
        f"{TABLES}/checked_file.py",
        "        except (ObjectStoreError, FileNotFoundError):\n",
        "        except MemoryError:\n",
        (
            f"{READS}::test_a_failed_request_is_no_damage",
            f"{READS}::test_a_file_that_a_compaction_deleted_is_missing",
        ),
        "A busy store is a reason to restore a backup.",
    ),
    PlantedFault(
        "one-worker-is-looked-at",
        f"{TABLES}/stored_output.py",
        "self._check_uploaded(one_of_each_attempt(done))",
        "self._check_uploaded(done[:1])",
        (f"{OUTPUT}::test_what_one_of_several_workers_uploads_elsewhere_is_not_committed[moto]",),
        "A batch is committed whose files are in the store of another environment.",
    ),
    PlantedFault(
        "a-state-that-is-not-written-fails-the-commit",
        f"{TABLES}/commit_log.py",
        "        except OSError as error:\n            log.warning(",
        "        except ZeroDivisionError as error:\n            log.warning(",
        (f"{LOST}::test_a_state_that_cannot_be_written_fails_no_commit",),
        "An export ends with an error after a commit, which it takes for not made.",
    ),
    PlantedFault(
        "only-a-start-deletes-leftovers",
        f"{TABLES}/compaction.py",
        "    output.remove_old_uploads()\n",
        "",
        ("tests/spark/stores/test_old_uploads.py::test_old_uploads_go_and_young_ones_stay[moto-compact]",),
        "An export that runs for months keeps what killed compactions have uploaded.",
    ),
)
