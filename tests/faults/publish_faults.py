"""Planted faults in what is published, and in histories of object stores: rows twice, or none."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

PUBLISH = "spark/kraftctl_spark/publish"
HISTORY = "spark/kraftctl_spark/history"
TABLES = "spark/kraftctl_spark/tables"
PUBLICATION = "tests/spark/publish/test_publication.py"
COMMANDS = "tests/spark/publish/test_publish_commands.py"
KEPT = "tests/spark/publish/test_kept_for_published.py"
STORED = "tests/spark/stores/test_stored_history.py"
STORED_PUBLICATIONS = "tests/spark/stores/test_stored_publications.py"

REST = "tests/spark/publish/rest_catalog/test_rest_catalog.py"

ERRORS = "tests/spark/publish/test_client_errors.py"

FAULTS = (
    PlantedFault(
        "the-text-of-a-client-is-noted",
        f"{PUBLISH}/publication.py",
        "{client_error(error, place)}",
        "{type(error).__name__}: {error}",
        (f"{ERRORS}::test_the_log_the_status_and_the_note_have_no_secret",),
        "A log and the output of a shared lake have the key and what a signature is made of.",
    ),
    PlantedFault(
        "a-password-of-a-catalog-is-an-argument",
        "spark/kraftctl_spark/commands/publish_flags.py",
        " or SECRET_IN_VALUE.search(value)",
        "",
        (f"{ERRORS}::test_a_secret_is_no_argument",),
        "Every account of the machine can list the password of the database.",
    ),
    PlantedFault(
        "one-publisher-writes-the-note-of-another",
        f"{PUBLISH}/publication_state.py",
        "store.put(NOTES[name], json.dumps({name: asdict(state)}, indent=1)",
        "before = {one: asdict(each) for one, each in publication_states(store).items()}\n"
        "    store.put(PUBLICATIONS, json.dumps({**before, name: asdict(state)}, indent=1)",
        (f"{ERRORS}::test_of_two_publishers_each_has_its_note",),
        "A format that is published is not in `status`, and `forget` leaves its tables as they are.",
    ),
    PlantedFault(
        "replaced-files-stay-published",
        f"{PUBLISH}/publication.py",
        "        if name not in table.files or name in added:\n",
        "        if name in added:\n",
        (f"{PUBLICATION}::test_each_batch_is_published_and_so_are_merged_files[delta]",),
        "After a merge, readers of Delta find every row twice.",
    ),
    PlantedFault(
        "a-state-of-before-is-published",
        f"{PUBLISH}/publication.py",
        "            table = _now(output, table)\n",
        "",
        (f"{PUBLICATION}::test_what_was_merged_while_the_table_was_opened_is_published_as_it_is_now[delta]",),
        "Files that another publisher has replaced are published again, and deleted a day later.",
    ),
    PlantedFault(
        "an-older-output-replaces-what-is-published",
        f"{PUBLISH}/publication.py",
        "    if published.position is not None and published.position > table.position:\n",
        "    if False:\n",
        (f"{PUBLICATION}::test_an_output_that_is_behind_what_is_published_is_refused[delta]",),
        "A restored backup removes rows from the tables of everybody.",
    ),
    PlantedFault(
        "delta-has-no-position",
        f"{PUBLISH}/delta.py",
        "app_transactions=[Transaction(APP, change.position)]",
        "app_transactions=[]",
        (f"{PUBLICATION}::test_an_output_that_is_behind_what_is_published_is_refused[delta]",),
        "A restored backup replaces what is newer, and nothing says how far a table goes.",
    ),
    PlantedFault(
        "iceberg-repeats-a-commit-on-a-newer-snapshot",
        f"{PUBLISH}/iceberg.py",
        "            raise LostRaceError(str(error)) from error\n\n    catalog.commit_table",
        "            raise\n\n    catalog.commit_table",
        (f"{PUBLICATION}::test_of_racing_publishers_exactly_one_publishes[iceberg]",),
        "Two publishers add the same files, and every row is there twice.",
    ),
    PlantedFault(
        "the-files-of-a-refused-commit-are-deleted",
        f"{PUBLISH}/iceberg.py",
        "raise LostRaceError(str(error)) from error\n\n    catalog.commit_table",
        "raise ValidationException(str(error)) from error\n\n    catalog.commit_table",
        ("tests/spark/publish/test_repeated_commit.py",),
        "Where a client or a gateway repeats a request, the table loses its manifests, and all reads fail.",
    ),
    PlantedFault(
        "a-rest-catalog-is-asked-for-few-snapshots",
        f"{PUBLISH}/iceberg.py",
        "        catalog.properties.pop(SNAPSHOT_LOADING_MODE, None)",
        "        ",
        (f"{REST}::test_old_snapshots_end",),
        "Snapshots of a table never end where a catalog sends only those of branches and tags.",
    ),
    PlantedFault(
        "a-namespace-that-is-there-is-made",
        f"{PUBLISH}/iceberg.py",
        "            return create()\n        except NoSuchNamespaceError as",
        "            raise NoSuchNamespaceError\n        except NoSuchNamespaceError as",
        (f"{REST}::test_a_namespace_that_is_there_is_not_made",),
        "Nothing is published where a catalog lets its administrators alone make namespaces.",
    ),
    PlantedFault(
        "a-catalog-is-waited-for-without-end",
        f"{PUBLISH}/iceberg.py",
        "        session.__class__ = _BoundedSession\n",
        "",
        (f"{COMMANDS}::test_a_catalog_that_never_answers_is_a_warning",),
        "An export stops without a word where a catalog accepts connections and is silent.",
    ),
    PlantedFault(
        "publishing-does-not-say-that-files-stay",
        f"{PUBLISH}/publisher.py",
        "        if not states:\n",
        "        if False:\n",
        (f"{STORED_PUBLICATIONS}::test_each_batch_and_each_merge_is_published[moto-delta]",),
        "Readers of the bare directory find rows twice for a day, and nothing says since when.",
    ),
    PlantedFault(
        "files-of-the-published-version-are-deleted",
        f"{TABLES}/output.py",
        "published is not None and one.number > published]",
        "False]",
        (
            f"{KEPT}::test_files_of_the_published_version_stay_until_it_is_replaced",
            f"{KEPT}::test_nothing_is_deleted_where_it_is_not_known_what_is_published",
        ),
        "While a catalog fails, or between two publications, every query of published tables fails.",
    ),
    PlantedFault(
        "the-newest-publication-decides-what-is-kept",
        f"{TABLES}/output.py",
        "min(commits.values(), default=None)",
        "max(commits.values(), default=None)",
        (f"{KEPT}::test_the_format_that_is_furthest_behind_decides",),
        "Delta is published, and readers of Iceberg miss files.",
    ),
    PlantedFault(
        "the-endpoint-is-not-passed-on",
        "spark/kraftctl_spark/commands/publish_flags.py",
        '"endpoint": "s3.endpoint"',
        '"endpoint": ""',
        (f"{STORED_PUBLICATIONS}::test_the_place_of_the_store_is_passed_on",),
        "Iceberg's metadata is looked for at Amazon, where the bucket belongs to somebody else.",
    ),
    PlantedFault(
        "files-of-a-history-are-leftovers",
        f"{TABLES}/stored_output.py",
        "        named.update(() if state.history is None else state.history.files)\n",
        "",
        (f"{STORED}::test_replaced_files_stay_for_open_scans_and_leftovers_until_they_are_old[moto]",),
        "A day after it was written, the history is deleted.",
    ),
    PlantedFault(
        "leftovers-of-open-versions-stay",
        f"{TABLES}/uploads.py",
        "(?:snapshot-|open-)?",
        "(?:snapshot-)?",
        (f"{STORED}::test_replaced_files_stay_for_open_scans_and_leftovers_until_they_are_old[moto]",),
        "Every killed export leaves files of the history for ever.",
    ),
    PlantedFault(
        "files-of-a-history-are-never-deleted",
        f"{TABLES}/output_state.py",
        "for file in (*commit.removed, *of_history))",
        "for file in commit.removed)",
        (f"{STORED}::test_it_has_the_files_of_a_history_in_a_directory[moto]",),
        "Each batch leaves the files of open versions that it replaced.",
    ),
    PlantedFault(
        "a-report-deletes-kept-files-of-the-tables",
        f"{HISTORY}/history_manifest.py",
        "self.root.remove_replaced(keep_ms, self._prefix)",
        "self.root.remove_replaced(keep_ms)",
        (f"{COMMANDS}::test_a_history_deletes_its_own_files_alone",),
        "Scans of the tables fail, because somebody asks for a report.",
    ),
    PlantedFault(
        "a-replaced-name-is-free",
        f"{HISTORY}/history_manifest.py",
        "return files.publish(taken | {",
        "return files.publish({",
        (f"{COMMANDS}::test_a_name_is_not_given_again_while_its_replaced_file_is_kept",),
        "A scan that is open reads other rows, and the new file is deleted as the replaced one.",
    ),
)
