"""Every record type and API is in the workload, or has a reason why not; the count says what is missing."""

from __future__ import annotations

from collections import Counter

import pytest

from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_response import (
    AlterPartitionResponse,
    PartitionData,
    TopicData,
)
from kraftctl_protocol.record_types import RECORD_TYPES, WRITER
from kraftctl_protocol.shared_response import SharedResponse
from tests.support.simulator import coverage

DONE = [f"response {name} NONE" for name in coverage.api_names() if name not in coverage.NEVER_DONE]
REFUSED = [
    f"response {name} INVALID_REQUEST" for name in coverage.api_names() if name not in coverage.NEVER_REFUSED
]
COMMITTED = [f"record {name}" for name in coverage.record_names() if name not in coverage.RECORDS_NEVER]


def complete() -> Counter[str]:
    return Counter([*DONE, *REFUSED, *COMMITTED])


def test_every_record_type_has_a_writer_or_a_reason() -> None:
    assert sorted([*coverage.RECORDS, *coverage.RECORDS_NEVER]) == sorted(coverage.record_names())


def test_what_the_service_never_writes_has_a_reason() -> None:
    never = {row.message.NAME for row in RECORD_TYPES if WRITER in row.left_out}
    assert never <= coverage.RECORDS_NEVER.keys()


def test_every_api_has_a_sender() -> None:
    assert sorted(coverage.APIS) == sorted(coverage.api_names())
    assert {*coverage.NEVER_DONE, *coverage.NEVER_REFUSED} <= coverage.APIS.keys()
    assert not coverage.NEVER_DONE.keys() & coverage.NEVER_REFUSED.keys()


def test_nothing_is_missing_where_everything_was_seen() -> None:
    assert coverage.missing(complete()) == []


@pytest.mark.parametrize("name", [*DONE, *REFUSED, *COMMITTED])
def test_what_stays_at_0_is_named(name: str) -> None:
    counts = complete()
    del counts[name]
    (found,) = coverage.missing(counts)
    assert name.split()[1] in found


@pytest.mark.parametrize(
    "name",
    [
        *[f"record {name}" for name in coverage.RECORDS_NEVER],
        *[f"response {name} NONE" for name in coverage.NEVER_DONE],
        *[f"response {name} INVALID_REQUEST" for name in coverage.NEVER_REFUSED],
    ],
)
def test_a_reason_that_does_not_hold_is_named(name: str) -> None:
    (found,) = coverage.missing(complete() + Counter([name]))
    assert f"{name.split()[1]} is " in found


def test_who_leads_is_no_refusal() -> None:
    counts = complete()
    del counts["response CreateTopics INVALID_REQUEST"]
    counts["response CreateTopics NOT_CONTROLLER"] = 9
    assert coverage.missing(counts) == ["CreateTopics refused"]


def test_a_response_counts_once_for_each_error_in_it() -> None:
    errors = (Errors.NONE, Errors.FENCED_LEADER_EPOCH, Errors.FENCED_LEADER_EPOCH)
    partitions = [PartitionData(error_code=error) for error in errors]
    response = AlterPartitionResponse(topics=[TopicData(partitions=partitions)])
    counts: Counter[str] = Counter()
    coverage.count_response(counts, response)
    coverage.count_response(counts, SharedResponse(response))
    assert counts == {
        "response AlterPartition NONE": 2,
        "response AlterPartition FENCED_LEADER_EPOCH": 2,
    }
