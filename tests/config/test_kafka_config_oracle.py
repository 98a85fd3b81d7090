"""Files of controllers are accepted and refused as by KafkaConfig, and the same key is refused first.

What may differ is in `STRICTER`, `STRICTER_AT_LAST` and `CLASS_KEYS` of `verdicts.py`, with the reasons.
"""

from __future__ import annotations

import re

import pytest

from tests.config.changed_files import LEFT_OUT, RULES, changed_file, odd_values
from tests.config.chart_files import CHART_FILES
from tests.config.controller_files import CONTROLLER_FILES
from tests.config.named_cases import NAMED_CASES, file_of
from tests.config.verdicts import STRICTER, STRICTER_AT_LAST, Verdict, difference, kafkas_verdicts, verdict
from tests.support.effort import seeds

pytestmark = pytest.mark.java

FILES = 1_200


def compared(files: dict[str, bytes]) -> list[tuple[Verdict, Verdict]]:
    """Kafka's verdict and ours on each file; fails with all that differ."""
    pairs = list(zip(kafkas_verdicts(list(files.values())), map(verdict, files.values()), strict=True))
    found = [
        f"{name}: {why}\n  Kafka: {kafkas.error}\n  here: {own.error}"
        for (name, file), (kafkas, own) in zip(files.items(), pairs, strict=True)
        if (why := difference(file, kafkas, own)) is not None
    ]
    assert not found, "\n".join(found[:20]) + f"\n{len(found)} of {len(files)} files"
    return pairs


def test_files_are_accepted_and_refused_as_by_kafka() -> None:
    files = {name: text.encode() for name, text in {**CONTROLLER_FILES, **CHART_FILES}.items()}
    files |= {f"case {case[0]}": file_of(case[0]) for case in NAMED_CASES}
    files |= {f"seed {seed}": changed_file(seed) for seed in seeds(FILES)}
    pairs = compared(files)
    accepted = sum(not kafkas.error for kafkas, _ in pairs)
    assert len(files) / 5 < accepted < len(files) * 4 / 5, "half of the changes are harmless"
    assert not any(error.error for pair in pairs[: len(CONTROLLER_FILES)] for error in pair)


@pytest.mark.long
def test_each_value_of_each_key_is_judged_as_by_kafka() -> None:
    files = {
        f"{key}={value!r}": file_of({key: value})
        for key in RULES
        if key not in LEFT_OUT
        for value in odd_values(key)
    }
    compared(files)


@pytest.mark.long
def test_many_files_and_no_exception_that_is_not_needed() -> None:
    pairs = compared({f"seed {seed}": changed_file(seed) for seed in range(10_000, 30_000)})
    refused = [own.error for _, own in pairs]
    refused_alone = [own.error for kafkas, own in pairs if not kafkas.error]
    for table, errors in ((STRICTER, refused), (STRICTER_AT_LAST, refused_alone)):
        for pattern in table:
            assert any(re.search(pattern, error) for error in errors), f"no longer needed: {pattern}"
