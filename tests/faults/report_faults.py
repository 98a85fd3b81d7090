"""Planted faults in the report of the exporter: what it asks, and what its page says."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

REPORT = "spark/kraftctl_spark/report"
QUERIES = "tests/spark/test_report_queries.py"
ANSWERS = "tests/spark/test_report_answers.py"
PAGE = "tests/spark/test_report_page.py"
CUTS = "tests/spark/test_report_cuts.py"
PRESENT = "tests/spark/test_report_present.py"
WHO = "tests/spark/test_report_who.py"
SCALES = "tests/spark/test_report_scales.py"
COMMAND = "tests/spark/test_report_command.py"

FAULTS = (
    PlantedFault(
        "an-orderly-stop-is-counted-as-a-fencing",
        f"{REPORT}/queries/fencing.py",
        "states.state = 'fenced' AND began.in_controlled_shutdown",
        "false",
        (f"{QUERIES}::test_an_orderly_stop_is_not_counted_as_a_fencing",),
        "A rolling restart looks like an outage of every broker.",
    ),
    PlantedFault(
        "the-report-is-made-of-a-history-that-is-behind",
        f"{REPORT}/current_history.py",
        "    if manifest is not None and _is_complete(history, manifest, batches):\n",
        "    if manifest is not None:\n",
        (f"{QUERIES}::test_a_history_is_computed_then_continued_and_then_left_alone",),
        "The page lacks what was exported last, and does not say so.",
    ),
    PlantedFault(
        "gaps-are-not-drawn",
        f"{REPORT}/section.py",
        "for gap in contents.gaps[:GAPS_DRAWN_MAX]",
        "for gap in contents.gaps[:0]",
        (f"{PAGE}::test_every_plot_over_time_has_the_same_axis_and_the_gaps",),
        "Where the log is not known, it looks as if nothing had happened.",
    ),
    PlantedFault(
        "lists-are-cut-without-a-word",
        f"{REPORT}/section.py",
        "    if shown >= listed.total:\n",
        "    if shown:\n",
        (f"{PAGE}::test_lists_that_were_cut_say_so", CUTS),
        "Forty changes look like all of them.",
    ),
    PlantedFault(
        "a-new-password-is-no-change",
        "spark/kraftctl_spark/history/versions/events.py",
        "again if old == new else changes",
        "changes if old == new else changes",
        (f"{ANSWERS}::test_a_password_that_is_set_again_is_a_change",),
        "With the same iterations it begins no version: the page does not show that a secret was replaced.",
    ),
    PlantedFault(
        "clocks-that-go-backwards-take-time-away",
        f"{REPORT}/clauses.py",
        'self.within(f"greatest({self.began_ms}, {self.ended_ms})")',
        "self.within(self.ended_ms)",
        (f"{QUERIES}::test_an_outage_that_ends_before_it_began_takes_no_time_from_others",),
        "An outage of 20 s is not shown at all when the clock of a new leader is 20 s behind in another one.",
    ),
    PlantedFault(
        "what-ended-by-another-clock-is-not-in-the-period",
        f"{REPORT}/clauses.py",
        'f"OR valid_from_time >= {moment(period.start_ms)}))"',
        'f"))"',
        (f"{QUERIES}::test_what_ended_before_the_period_by_another_clock_began_in_it",),
        "A broker was fenced after --from, but the clock of the next leader was before it: not counted.",
    ),
    PlantedFault(
        "the-report-ends-at-the-time-of-the-last-record",
        f"{REPORT}/queries/fetch.py",
        "max(known_ms, default=0) + 1",
        "end_ms(ranges[-1]) + 1",
        (f"{QUERIES}::test_a_report_of_everything_goes_from_the_smallest_time_to_the_greatest",),
        "What a leader wrote whose clock was ahead is cut from a report of everything.",
    ),
    PlantedFault(
        "names-can-turn-the-direction-of-writing",
        f"{REPORT}/section.py",
        "letter if letter.isprintable() else",
        "letter if letter else",
        (f"{PAGE}::test_letters_that_are_not_printable_are_shown_nowhere",),
        "A user whose name contains U+202E looks like another one.",
    ),
    PlantedFault(
        "directories-are-columns",
        f"{REPORT}/database.py",
        ", hive_partitioning = false",
        "",
        (f"{QUERIES}::test_a_path_that_looks_like_a_pattern_is_a_path",),
        "Below end_offset=77 the log ends at 77, and below env=prod there is no report.",
    ),
    PlantedFault(
        "the-page-lacks-changes-of-quotas",
        f"{REPORT}/queries/standing.py",
        '("acls", "quotas", "scram_credentials", "delegation_tokens", "features")',
        '("acls", "scram_credentials", "delegation_tokens", "features")',
        ("tests/spark/test_one_definition.py::test_page_and_file_count_the_same",),
        "The page shows fewer changes than the question security_audit.",
    ),
    PlantedFault(
        "ticks-of-small-counts-are-fractions",
        f"{REPORT}/section.py",
        "max(1, -(-most // SMALL_COUNT_TICKS))",
        "max(1, most) / SMALL_COUNT_TICKS",
        (f"{PAGE}::test_ticks_of_small_counts_are_whole_numbers",),
        "An axis of two elections has the labels 0, 0, 1, 1, 2.",
    ),
    PlantedFault(
        "states-that-were-cut-look-like-no-registration",
        f"{REPORT}/sections/broker_states.py",
        "return [(NOT_SHOWN, start_ms, end_ms)] if followed or preceded else []",
        "return []",
        (f"{PAGE}::test_only_a_broker_that_is_not_registered_has_no_color[between-listed-ones]",),
        "A broker with many short states looks as if it had been gone between the longest of them.",
    ),
    PlantedFault(
        "a-gap-of-the-log-looks-like-no-registration",
        f"{REPORT}/sections/broker_states.py",
        '(ended_by == "gap" or started_by == "snapshot")',
        '(ended_by == "gap" and started_by != "snapshot")',
        (f"{PAGE}::test_only_a_broker_that_is_not_registered_has_no_color[gap-of-the-log]",),
        "All brokers look as if they had been gone where the log is not known.",
    ),
    PlantedFault(
        "damaged-pages-of-the-history-are-shown",
        f"{REPORT}/database.py",
        "                open_file(file).check()\n",
        "                open_file(file)\n",
        (f"{COMMAND}::test_a_damaged_file_is_an_error_of_one_line",),
        "DuckDB compares no page with its checksum: the page shows other values.",
    ),
    PlantedFault(
        "damaged-pages-of-typed-tables-are-shown",
        f"{REPORT}/database.py",
        "                CheckedFile(file).check()\n",
        "                CheckedFile(file)\n",
        (f"{COMMAND}::test_a_damaged_file_is_an_error_of_one_line",),
        "The same for the records by type, and configurations.",
    ),
    PlantedFault(
        "the-report-waits-without-a-word",
        "spark/kraftctl_spark/history/history_manifest.py",
        "    if wait_s:\n",
        "    if wait_s < 0:\n",
        (f"{COMMAND}::test_it_says_at_once_which_process_it_waits_for",),
        "For a minute, nothing happens, and no line says why.",
    ),
    PlantedFault(
        "what-was-wrong-once-is-wrong-now",
        f"{REPORT}/queries/present.py",
        "HAVING count(*) > count(end_offset)",
        "",
        (f"{PRESENT}::test_a_healthy_cluster_has_one_line",),
        "The first lines of the page alarm of what has ended.",
    ),
    PlantedFault(
        "what-a-reassignment-adds-is-missing-now",
        f"{REPORT}/queries/present.py",
        "AND NOT list_contains(adding_replicas, one)",
        "",
        (f"{PRESENT}::test_what_a_reassignment_adds_is_not_missing",),
        "While partitions move, every new broker seems to be missing.",
    ),
    PlantedFault(
        "the-last-member-of-an-isr-is-no-cause",
        f"{REPORT}/queries/present.py",
        "OR kind = 'leaderless' AND list_contains(isr, broker_id)",
        "",
        (f"{PRESENT}::test_the_worst_is_first_with_names_times_and_causes",),
        "A partition has no leader, and the page has no reason although the history has it.",
    ),
    PlantedFault(
        "partitions-that-were-deleted-are-counted-in-silence",
        f"{REPORT}/queries/availability.py",
        "WHERE ended_by = 'removed'",
        "WHERE false",
        (f"{QUERIES}::test_partitions_that_were_deleted_are_not_those_of_the_cluster",),
        "173,036 partitions of a cluster that has 100,000.",
    ),
    PlantedFault(
        "a-line-that-is-being-written-ends-the-report",
        f"{REPORT}/database.py",
        "ignore_errors = true, columns",
        "columns",
        (f"{WHO}::test_every_change_has_the_request_that_asked_for_it",),
        "While a controller writes its audit log, there is no report.",
    ),
    PlantedFault(
        "sums-are-beyond-the-scale",
        f"{REPORT}/sections/churn.py",
        "max(count for row in changes for count in row if count is not None)",
        "max(count for count in changes[0] if count is not None)",
        (f"{SCALES}::test_no_count_is_beyond_the_scale_and_small_ones_differ",),
        "The row of others is as dark as can be, whatever it has.",
    ),
    PlantedFault(
        "the-kind-of-a-topic-is-repeated",
        f"{REPORT}/queries/config_changes.py",
        "THEN resource_name\n",
        "THEN 'topic ' || resource_name\n",
        (f"{SCALES}::test_a_topic_is_named_by_its_name_alone",),
        "The page says: topic topic-11149.",
    ),
    PlantedFault(
        "the-audit-log-of-another-cluster-names-who-asked",
        f"{REPORT}/database.py",
        'FROM audit_lines WHERE coalesce(cluster_id, {mine}) = {mine}")',
        'FROM audit_lines")',
        (f"{WHO}::test_every_change_has_the_request_that_asked_for_it",),
        "Offsets of two clusters are alike: the page accuses somebody who has done nothing.",
    ),
)
