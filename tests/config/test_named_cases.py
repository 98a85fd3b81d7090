"""Each key that Kafka defines is checked, and what Kafka demands of keys together, one case at a time."""

from __future__ import annotations

import pytest

from tests.config.named_cases import GOOD, NAMED_CASES, file_of
from tests.config.verdicts import SAME_KEYS, verdict


@pytest.mark.parametrize(
    ("changes", "key"), [pytest.param(*case, id=str(case[0]).replace("'", "")) for case in NAMED_CASES]
)
def test_the_key_that_kafka_refuses_is_refused(changes: dict[str, str | None], key: str | None) -> None:
    found = verdict(file_of(changes))
    if key is None:
        assert not found.error
    else:
        assert SAME_KEYS.get(key, key) in found.keys


def test_the_file_is_accepted_without_a_change() -> None:
    assert not verdict(file_of({})).error
    assert GOOD["process.roles"] == "controller"
