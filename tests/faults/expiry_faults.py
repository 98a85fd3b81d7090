"""Planted faults where records expire: what goes, what must not, and what is still said of it."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

COMMANDS = "spark/kraftctl_spark/commands"
TABLES = "spark/kraftctl_spark/tables"
HISTORY = "spark/kraftctl_spark/history"
EXPIRE = "tests/spark/test_expire.py"
BESIDE = "tests/spark/test_expire_beside.py"
QUESTIONS = "tests/spark/history/test_expired_questions.py"
UNKNOWNS = "tests/spark/history/test_expired_unknowns.py"

FAULTS = (
    PlantedFault(
        "a-batch-with-a-younger-record-expires",
        f"{TABLES}/expiry.py",
        "        if newest is not None and newest >= before_ms * 1000:\n",
        "        if newest is not None and times[0].as_py() >= before_ms * 1000:\n",
        (f"{EXPIRE}::test_a_file_with_one_younger_record_stays",),
        "Records that are younger than the time are lost.",
    ),
    PlantedFault(
        "records-expire-that-a-history-lacks",
        f"{HISTORY}/history_tables.py",
        "        if manifest is None or manifest.end < end:\n",
        "        if manifest is None:\n",
        (f"{EXPIRE}::test_a_history_that_is_behind_or_damaged_is_not_enough",),
        "What these records did is lost: no history has them.",
    ),
    PlantedFault(
        "records-expire-whose-history-is-damaged",
        f"{HISTORY}/history_manifest.py",
        "            if found != file.sha256:\n",
        "            if not found:\n",
        (f"{EXPIRE}::test_a_history_that_is_behind_or_damaged_is_not_enough",),
        "A damaged history can never be computed again.",
    ),
    PlantedFault(
        "the-commit-trusts-the-check-of-the-history",
        f"{TABLES}/output_state.py",
        "        if expired is not None and expired.in_history and end < batch.end:\n",
        "        if False:\n",
        (f"{BESIDE}::test_a_history_that_is_cut_back_meanwhile_keeps_the_records",),
        "Records expire that a history lacks which was cut back at the same time.",
    ),
    PlantedFault(
        "a-history-is-cut-back-to-what-has-expired",
        f"{TABLES}/output_state.py",
        "            if commit.history.end < self.raw_start:\n",
        "            if False:\n",
        (f"{EXPIRE}::test_commits_that_would_lose_something_are_refused",),
        "A history loses what cannot be computed again.",
    ),
    PlantedFault(
        "a-history-begins-behind-what-has-expired",
        f"{HISTORY}/history_tables.py",
        "        if gone := raw_start(raw):\n",
        "        if (gone := raw_start(raw)) < 0:\n",
        (f"{EXPIRE}::test_no_history_is_computed_without_the_first_records",),
        "A rebuild replaces a whole history by one that lacks its beginning.",
    ),
    PlantedFault(
        "after-an-expiry-a-read-only-account-gets-nothing",
        "spark/kraftctl_spark/report/current_history.py",
        "        if manifest is not None and _has_expired(history, manifest, batches):\n",
        "        if False:\n",
        (f"{EXPIRE}::test_who_may_not_write_gets_what_the_history_has",),
        "A report fails, and advises to replace a whole history by an older one.",
    ),
    PlantedFault(
        "records-expire-beside-a-history-of-another-release",
        f"{HISTORY}/history_tables.py",
        "        return self._raw.log.state().history is not None or self._log.is_of_any_release()\n",
        "        return self.is_there()\n",
        (f"{EXPIRE}::test_without_history_is_refused_where_there_is_one",),
        "A history that an upgrade would have computed again can never be computed any more.",
    ),
    PlantedFault(
        "a-history-is-named-and-denied",
        f"{COMMANDS}/expire.py",
        "    of_history = parser.add_mutually_exclusive_group()\n",
        "    of_history = parser\n",
        (f"{EXPIRE}::test_without_history_is_refused_where_there_is_one",),
        "A mistyped directory is taken for a wish to have no history.",
    ),
    PlantedFault(
        "gaps-expire",
        f"{TABLES}/manifest.py",
        "            return self.expired.snapshots\n",
        "            return ()\n",
        (f"{EXPIRE}::test_status_keeps_gaps_and_secrets",),
        "A log with a gap looks whole when the records behind it have expired.",
    ),
    PlantedFault(
        "secrets-expire-with-their-records",
        f"{TABLES}/manifest.py",
        "            return self.expired.with_secrets\n",
        "            return ((self.start, self.end),) if self.secrets else ()\n",
        (f"{EXPIRE}::test_status_keeps_gaps_and_secrets",),
        "One batch with secrets makes all that has expired look as if it had some.",
    ),
    PlantedFault(
        "expired-unknowns-are-computed-again",
        f"{HISTORY}/history_tables.py",
        "                if cut < gone:\n",
        "                if False:\n",
        (f"{UNKNOWNS}::test_it_stays_unknown_and_is_said_once",),
        "A newer release ends the history at records that have expired.",
    ),
    PlantedFault(
        "records-expire-that-this-release-understands",
        f"{TABLES}/expiry.py",
        "        if is_due(one) and not has_files(output, one, is_later):\n",
        "        if False:\n",
        (f"{UNKNOWNS}::test_this_release_decodes_them_first",),
        "What an upgrade would have made known is unknown for ever.",
    ),
    PlantedFault(
        "an-expiry-is-a-new-batch",
        f"{TABLES}/expiry.py",
        "        batch_times_ms=recent_times_ms(replaced),\n",
        "",
        (f"{EXPIRE}::test_status_says_from_where_on_records_are_there",),
        "An export that has stopped looks alive when records expire.",
    ),
    PlantedFault(
        "expired-records-are-merged-away",
        f"{TABLES}/compaction.py",
        "        later = manifest.expired is not None or has_files(output, manifest, is_later)\n",
        "        later = has_files(output, manifest, is_later)\n",
        (f"{EXPIRE}::test_the_export_its_history_and_compactions_continue",),
        "After a compaction, tables claim to have records that expired; or compactions fail for ever.",
    ),
    PlantedFault(
        "the-last-batch-expires",
        f"{TABLES}/expiry.py",
        "    for number, batch in enumerate(live[:-1], 1):\n",
        "    for number, batch in enumerate(live, 1):\n",
        (f"{EXPIRE}::test_the_last_batch_stays",),
        "Views of `records` have no file, and fail.",
    ),
    PlantedFault(
        "without-execute-records-expire",
        f"{COMMANDS}/expire.py",
        "        if options.execute:\n            expire(",
        "        if True:\n            expire(",
        (f"{EXPIRE}::test_without_execute_nothing_is_done",),
        "Who only wanted to see what would go has lost it.",
    ),
    PlantedFault(
        "a-log-begins-behind-what-has-expired",
        f"{HISTORY}/log_files.py",
        "    if first.start and not first.snapshot:\n",
        "    if False:\n",
        (f"{EXPIRE}::test_a_log_needs_the_first_records",),
        "`kraftctl explain` shows a cluster without most of its topics.",
    ),
    PlantedFault(
        "a-restore-cuts-an-expired-batch",
        f"{HISTORY}/expired_point.py",
        '    begun = pc.coalesce(events.column("batch_offset"), events.column("offset"))\n',
        '    begun = events.column("offset")\n',
        (f"{QUESTIONS}::test_the_state_to_restore",),
        "A restore has half of what one request did.",
    ),
    PlantedFault(
        "a-time-in-an-expired-gap-is-known",
        f"{HISTORY}/expired_point.py",
        " and one.end_time_us < time_us\n",
        " and one.end_time_us < 0\n",
        (f"{QUESTIONS}::test_the_state_to_restore",),
        "A restore takes a state that may have been another one, and does not say so.",
    ),
    PlantedFault(
        "an-expiry-hides-what-it-keeps",
        f"{COMMANDS}/expire.py",
        "    yield _kept(expiry, before_ms)\n",
        "",
        (f"{EXPIRE}::test_the_last_batch_stays",),
        "Who expects all old files to go does not learn that some stay.",
    ),
)
"""In the order of what is done."""
