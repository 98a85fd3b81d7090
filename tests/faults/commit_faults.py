"""Planted faults in the numbered commits of an export: who writes one, and what it proves."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

STORES = "spark/kraftctl_spark/stores"
TABLES = "spark/kraftctl_spark/tables"
HISTORY = "spark/kraftctl_spark/history"
LOG = "tests/spark/test_commit_log.py"
VERIFICATION = "tests/spark/test_verification.py"
TAKE_OVER = "tests/spark/test_take_over.py"
CHANGES = f"{VERIFICATION}::test_what_was_changed_is_found"

FAULTS = (
    PlantedFault(
        "a-created-file-replaces-another-one",
        f"{STORES}/local_store.py",
        "        os.link(temporary, path)\n",
        "        temporary.rename(path)\n",
        ("tests/spark/test_stores.py::test_a_file_is_created_once",),
        "Of two writers, both believe that their commit is in the tables; one is not.",
    ),
    PlantedFault(
        "what-another-process-cleans-up-is-lost",
        f"{STORES}/local_store.py",
        "ATTEMPTS = 5\n",
        "ATTEMPTS = 1\n",
        ("tests/spark/test_stores.py::test_a_file_that_a_cleanup_deletes_is_written_again",),
        "A compaction that starts beside an export ends it with an error about a missing file.",
    ),
    PlantedFault(
        "a-batch-that-is-there-is-appended-again",
        f"{TABLES}/output_state.py",
        "                if batch.start != end or batch.end <= end:\n",
        "                if batch.start > end or batch.end <= end:\n",
        ("tests/spark/test_manifest.py::test_a_batch_that_does_not_follow_is_refused",),
        "Two exports that race write the same offsets twice.",
    ),
    PlantedFault(
        "a-merge-replaces-what-is-gone",
        f"{TABLES}/output_state.py",
        "        if gone != {file.path: file for file in commit.removed}:\n",
        "        if False:\n",
        (f"{LOG}::test_what_was_replaced_meanwhile_is_not_replaced_again",),
        "The second of two compactions replaces the files of the first, which nothing deletes any more.",
    ),
    PlantedFault(
        "the-chain-is-not-followed",
        f"{TABLES}/output_state.py",
        "        if (commit.number, commit.previous) != (self.number + 1, self.sha256):\n",
        "        if commit.number != self.number + 1:\n",
        (f"{LOG}::test_a_commit_that_follows_on_another_one_is_refused",),
        "An export continues commits of which one was edited.",
    ),
    PlantedFault(
        "every-state-is-trusted",
        f"{TABLES}/commit_log.py",
        "            if self._parsed(number, commit).state == hash_of(data):\n",
        "            if self._parsed(number, commit).state:\n",
        (f"{LOG}::test_a_state_is_trusted_where_its_commit_has_its_hash",),
        "A state that was edited changes the tables, and the commits do not show it.",
    ),
    PlantedFault(
        "a-lost-commit-is-the-end",
        f"{TABLES}/commit_log.py",
        "        if last > state.number:\n",
        "        if False:\n",
        ("tests/spark/test_manifest.py::test_a_lost_commit_is_noticed",),
        "After a commit was lost, an export writes what follows a second time.",
    ),
    PlantedFault(
        "a-state-of-many-batches-is-written-as-often",
        f"{TABLES}/commit_log.py",
        "max(COMMITS_PER_STATE, len(state.batches) // BATCHES_PER_COMMIT)",
        "COMMITS_PER_STATE",
        (f"{LOG}::test_states_of_many_batches_are_written_less_often",),
        "Without compactions, a batch costs more the more there are.",
    ),
    PlantedFault(
        "a-content-of-the-same-size-is-the-same",
        f"{TABLES}/verification.py",
        "                elif found != file.sha256:\n",
        "                elif False:\n",
        (CHANGES,),
        "A value that was edited in a file of the tables is verified.",
    ),
    PlantedFault(
        "a-replaced-file-may-have-any-content",
        f"{TABLES}/verification.py",
        "        if found not in (None, file.sha256):\n",
        "        if found is None:\n",
        ("tests/spark/publish/test_publish_commands.py",),
        "Rows that somebody changed are in scans that are open, and in those of the directory.",
    ),
    PlantedFault(
        "a-file-that-no-commit-names-is-fine",
        f"{TABLES}/verification.py",
        "            if name in live or self._store.size(name) is None:\n",
        "            if True:\n",
        (CHANGES,),
        "Rows that somebody added are in the tables of every reader of the directory.",
    ),
    PlantedFault(
        "an-export-beside-it-looks-like-damage",
        f"{TABLES}/verification.py",
        "for file in missing if file in still]",
        "for file in missing]",
        (f"{VERIFICATION}::test_an_export_may_go_on_meanwhile",),
        "An auditor who verifies a running export is shown damage that there is not.",
    ),
    PlantedFault(
        "manifests-are-deleted-before-the-commit",
        f"{HISTORY}/take_over.py",
        "            commit = commits.append(change)\n",
        "            [path.unlink() for path in hidden.iterdir()]\n"
        "            commit = commits.append(change)\n",
        (f"{TAKE_OVER}::test_killed_after_any_step_it_is_done_again",),
        "An output whose take-over was killed is lost.",
    ),
    PlantedFault(
        "an-earlier-release-finds-half-of-its-manifests",
        f"{HISTORY}/take_over.py",
        "            visible.rename(hidden)\n",
        "            pass\n",
        (f"{TAKE_OVER}::test_killed_after_any_step_it_is_done_again",),
        "An earlier release deletes the tables of a take-over that was killed.",
    ),
)
"""In the order of the modules."""
