"""What is decoded draws from a budget of memory before it is allocated, and gives others a turn."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import TypeVar

import pytest

from kraftctl_protocol import primitives
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.decoding_limits import (
    ARRAY_LENGTH_MAX,
    PAUSE_WIRE_BYTES,
    TAGGED_FIELDS_MAX,
    UNLIMITED,
)
from kraftctl_protocol.generated.alter_client_quotas_request import AlterClientQuotasRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import DecodeError, OverBudgetError, Reader
from kraftctl_protocol.requests import RequestHead, decode_request_head
from tests.support.worst_requests import WORST_REQUESTS, WorstRequest, uvarint

COMPILED = not (primitives.__file__ or "").endswith(".py")
SOME = 3_000

T = TypeVar("T")


def head_of(worst: WorstRequest, count: int = SOME) -> RequestHead:
    return decode_request_head(worst.payload(count))


def allocated(call: Callable[[], T]) -> tuple[int, T]:
    """The bytes that the result takes, and the result."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        result = call()
        return tracemalloc.get_traced_memory()[0] - before, result
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("worst", WORST_REQUESTS, ids=lambda worst: worst.name)
def test_a_budget_is_drawn_before_the_elements_are_read(worst: WorstRequest) -> None:
    head = head_of(worst)
    body = head.decode_body()
    needed = head.drawn_bytes
    assert needed > 64 * SOME
    assert head.decode_body(needed) == body
    turns: list[int] = []
    with pytest.raises(OverBudgetError):
        head.decode_body(needed // 2, lambda: turns.append(1))
    assert turns == []


@pytest.mark.parametrize("worst", WORST_REQUESTS, ids=lambda worst: worst.name)
def test_the_budget_counts_all_that_is_allocated(worst: WorstRequest) -> None:
    head = head_of(worst)
    taken, body = allocated(head.decode_body)
    assert isinstance(body, Message)
    if not COMPILED:
        return  # objects of interpreted classes take several times as much
    assert taken <= head.drawn_bytes * 1.02 + 2048
    assert head.drawn_bytes <= 2 * taken + 2048


@pytest.mark.parametrize(
    "text", ["ab", "a" * 100, "é" * 50, "a" * 1000 + "\U0001f600"], ids=["two", "ascii", "latin", "one-emoji"]
)
def test_strings_count_with_the_width_of_their_characters(text: str) -> None:
    raw = text.encode()
    data = uvarint(len(raw) + 1) + raw
    reader = Reader(data, 0, 1 << 30)
    taken, read = allocated(reader.read_compact_string)
    assert read == text
    assert taken <= (1 << 30) - reader.budget_bytes + 256


def test_bytes_count() -> None:
    data = uvarint(1001) + bytes(1000)
    assert Reader(data, 0, 1048).read_compact_bytes() == bytes(1000)
    with pytest.raises(OverBudgetError):
        Reader(data, 0, 1047).read_compact_bytes()


def test_arrays_of_a_million_elements_and_no_more() -> None:
    data = bytes(ARRAY_LENGTH_MAX + 5)
    at_most, one_more = uvarint(ARRAY_LENGTH_MAX + 1), uvarint(ARRAY_LENGTH_MAX + 2)
    assert Reader(at_most + data).read_compact_array_length(1, 8) == ARRAY_LENGTH_MAX
    with pytest.raises(OverBudgetError, match="1000001 elements"):
        Reader(one_more + data).read_compact_array_length(1, 8)
    with pytest.raises(OverBudgetError, match="1000001 elements"):
        Reader((ARRAY_LENGTH_MAX + 1).to_bytes(4, "big") + data).read_nullable_array_length(1, 8)


def test_ten_thousand_tagged_fields_and_no_more() -> None:
    fields = b"".join(uvarint(100 + tag) + b"\x00" for tag in range(TAGGED_FIELDS_MAX + 1))
    reader = Reader(uvarint(TAGGED_FIELDS_MAX) + fields)
    assert len(reader.read_unknown_tagged_fields() or []) == TAGGED_FIELDS_MAX
    with pytest.raises(OverBudgetError, match="10001 tagged fields"):
        Reader(uvarint(TAGGED_FIELDS_MAX + 1) + fields).read_unknown_tagged_fields()


def test_unknown_tagged_fields_draw_too() -> None:
    vote = VoteRequest().encode(2)
    tags = b"".join(uvarint(100 + tag) + b"\x00" for tag in range(1000))
    header = WorstRequest(ApiKey.VOTE, 2, b"").header()
    head = decode_request_head(header + vote[:-1] + uvarint(1000) + tags)
    assert len(head.decode_body(256 * 1024).unknown_tagged_fields or []) == 1000
    with pytest.raises(OverBudgetError):
        head.decode_body(128 * 1024)


def test_a_header_has_a_budget() -> None:
    start = WorstRequest(ApiKey.VOTE, 2, b"").header()[:-1]
    fields = b"".join(uvarint(tag) + b"\x00" for tag in range(TAGGED_FIELDS_MAX))
    with pytest.raises(OverBudgetError):
        decode_request_head(start + uvarint(TAGGED_FIELDS_MAX) + fields)


def test_others_get_a_turn_every_few_kilobytes() -> None:
    worst = next(each for each in WORST_REQUESTS if each.api_key == ApiKey.ALTER_CLIENT_QUOTAS)
    head = head_of(worst, 20_000)
    turns: list[int] = []
    head.decode_body(UNLIMITED, lambda: turns.append(1))
    assert len(turns) == 60_000 // PAUSE_WIRE_BYTES


def test_damage_is_found_as_before() -> None:
    whole = AlterClientQuotasRequest().encode(1)
    header = WorstRequest(ApiKey.ALTER_CLIENT_QUOTAS, 1, b"").header()
    for end in range(len(whole)):
        with pytest.raises(DecodeError):
            decode_request_head(header + whole[:end]).decode_body(1 << 20)
