"""Defects of `make bench`: figures that look fine and are not those of correct answers."""

from __future__ import annotations

from tests.faults.planted_fault import PlantedFault

COMPARE = "tests/bench/test_compare.py"

FAULTS = (
    PlantedFault(
        "the-bench-takes-any-answer",
        "tests/bench/compare/scripts.py",
        "        if answer[ANSWER_BODY:] != self._expected:\n",
        "        if not answer:\n",
        (f"{COMPARE}::test_an_answer_that_differs_is_refused",),
        "A controller that refuses every heartbeat would be the fastest.",
    ),
    PlantedFault(
        "the-bench-compares-a-download-with-nothing",
        "tests/bench/compare/downloads.py",
        "    if not part or not whole.startswith(part, position):\n",
        "    if not part:\n",
        (f"{COMPARE}::test_a_part_of_a_download_is_compared_with_the_file",),
        "Snapshots with wrong bytes would count as transferred.",
    ),
    PlantedFault(
        "the-bench-counts-one-byte-of-an-epoch",
        "tests/bench/compare/counted.py",
        "        for byte, place in enumerate(self._slices):\n",
        "        for byte, place in list(enumerate(self._slices))[3:]:\n",
        (f"{COMPARE}::test_a_value_counts_on_in_encoded_bytes",),
        "After 256 changes every request would be refused.",
    ),
    PlantedFault(
        "the-bench-keeps-a-subject-that-has-failed",
        "tests/bench/compare/interleaved.py",
        "            prepared.remove(one)\n",
        "",
        (f"{COMPARE}::test_one_subject_that_fails_leaves_the_others",),
        "A JVM that cannot hold a million partitions would be in all later tables.",
    ),
)
