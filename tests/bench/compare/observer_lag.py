"""How long after the response to a change observers have it: the price of waking them less often."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tests.bench.compare.scripts import Notes


def lags_ms(
    begin_offset: int, records: int, answered_s: Notes, observers: Sequence[Notes]
) -> Iterator[float]:
    """For each change and observer; 0 if it has it before the client has the response.

    Change number i has written `records` records from offset begin_offset + i * records on, and nothing else
    writes. An observer has noted offsets (exclusive) and times in turn. What it has not seen does not count.
    """
    for seen in observers:
        at = 0
        for number, answer_s in enumerate(answered_s):
            end_offset = begin_offset + (number + 1) * records
            while at < len(seen) and seen[at] < end_offset:
                at += 2
            if at == len(seen):
                break
            yield 1e3 * max(0.0, seen[at + 1] - answer_s)
