"""Planted faults in questions that are asked the other way round, of nothing, or of what is not known."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

QUESTIONS = "spark/kraftctl_spark/history/questions"
ASKED = "tests/spark/history/test_asked_any_way.py"

FAULTS = (
    PlantedFault(
        "a-difference-backwards-is-none",
        f"{QUESTIONS}/questions.py",
        "AND (valid_from_offset > :{other} OR valid_to_offset <= :{other})",
        "AND valid_to_offset <= :{other}",
        (f"{ASKED}::test_a_difference_backwards_is_the_other_one_turned[acls]",),
        "Nothing seems to differ between two states.",
    ),
    PlantedFault(
        "a-window-that-ends-before-it-begins-has-outages",
        f"{QUESTIONS}/outages_between.sql",
        "      AND :from_time <= :until_time\n",
        "",
        (f"{ASKED}::test_a_window_that_ends_before_it_begins_has_no_answer[outages]",),
        "Outages of 0 ms in a window that is none.",
    ),
    PlantedFault(
        "a-window-that-ends-before-it-begins-is-not-known-for-less-than-nothing",
        f"{QUESTIONS}/availability.sql",
        "      AND :from_time <= :until_time\n",
        "",
        (f"{ASKED}::test_a_window_that_ends_before_it_begins_has_no_answer[availability]",),
        "The time that is not known is negative.",
    ),
    PlantedFault(
        "a-time-is-known-twice",
        f"{QUESTIONS}/availability.sql",
        "greatest(start_ms, coalesce(before_ms, start_ms))",
        "start_ms",
        (f"{ASKED}::test_no_time_of_a_window_is_known_twice",),
        "Where a clock went backwards, an unknown time is counted as a known one.",
    ),
    PlantedFault(
        "a-minimum-that-is-not-known-is-that-of-no-configuration",
        f"{QUESTIONS}/under_min_isr.sql",
        "CASE WHEN is_known = 1 THEN coalesce(t.replicas, of_cluster.replicas, 1) END",
        "coalesce(t.replicas, of_cluster.replicas, 1)",
        (f"{ASKED}::test_the_minimum_is_null_where_the_configurations_are_not_known",),
        "Every partition seems to have enough replicas in sync.",
    ),
    PlantedFault(
        "a-right-that-is-spelled-otherwise-is-none",
        f"{QUESTIONS}/who_could.sql",
        "upper(replace(:of_operation, '_', '')) AS wanted",
        "replace(:of_operation, '_', '') AS wanted",
        (f"{ASKED}::test_rights_are_asked_for_as_kafkas_tools_name_them",),
        "An audit finds that a user could not do what the user could.",
    ),
)
