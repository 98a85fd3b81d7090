"""A request about many things, which are decided on one after the other, in as many turns as that takes.

Each slice decides from the image of its own moment, as if its things were a request of their own. What
refuses the whole request does so before the first record: where more records than one request may have are
possible, all of it is rehearsed first, in slices that write nothing.
"""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.batch_limits import (
    BATCH_BYTES_MAX,
    RECORD_OVERHEAD_BYTES,
    RECORDS_PER_BATCH_MAX,
)
from kraftctl.controller.results.controller_result import ControllerResult, SlicedWork
from kraftctl.controller.results.excessive_requests import excessive, too_many_records
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.record_checks import EncodedRecord
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.request_deadline import timed_out
from kraftctl_protocol.batch_framing import HEADER_BYTES
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record

LOOKS_PER_UNIT: Final = 16
"""Looks at partitions that need nothing, in the time of one change."""

ALL_UNITS: Final = 1 << 30
"""All of the request in one slice."""

NOT_ATOMIC: Final = 0
"""Batches of the log end anywhere between two records."""

ATOMIC_IF_SHORT: Final = 1
"""All records are one batch if they fit into one slice."""

ATOMIC_SLICES: Final = 2
"""Each slice is one batch, so that nothing of several records is written by halves."""


@mypyc_attr(allow_interpreted_subclasses=True)
class SlicedRequest(SlicedWork):
    """`rehearses`: it may need more records than it may have. `atomicity` is one of the above."""

    def __init__(
        self,
        context: RequestContext,
        request: Message,
        *,
        rehearses: bool = False,
        atomicity: int = NOT_ATOMIC,
    ) -> None:
        super().__init__(f"carry out {request.NAME}")
        self.context = context
        self.whole_request = request
        self.rehearsing = rehearses
        self._atomicity = atomicity
        self._has_slices = False
        self._has_written = False
        self._rehearsed_count = 0
        self._rehearsed_bytes = HEADER_BYTES

    # What an API adds.

    def begin_slice(self, moment: Moment) -> ControllerResult | None:
        """Looks again at what decides. A result answers the request: nothing that is left can be done."""
        raise AssertionError("every API looks at the image")

    def has_next(self) -> bool:
        """Whether something is left to decide on."""
        raise AssertionError("every API knows its end")

    def next_records_max(self) -> int:
        """How many records the next thing may need at most."""
        return 1

    def decide_next(self, units: int) -> list[RecordAndVersion]:
        """Returns the records of the next things, for about this many units: added to `spent`."""
        raise AssertionError("every API decides")

    def rewind(self) -> None:
        """The rehearsal is over: begin again."""
        raise AssertionError("nothing is rehearsed")

    def answer(self) -> Message:
        """The response, once everything is decided."""
        raise AssertionError("every request has a response")

    def refusals(self) -> list[str]:
        """Reasons that the response has no room for."""
        return []

    # The slices.

    def next_slice(self, moment: Moment) -> ControllerResult:
        self.spent = 0
        if not self._has_written and (self.rehearsing or self.has_next()):
            late = timed_out(self.context, self.whole_request, moment)
            if late is not None:
                return late
        result = self.begin_slice(moment)
        if result is not None:
            return result
        records: list[RecordAndVersion] = []
        while self.rehearsing or self.has_next():
            if self.spent >= moment.units or self._is_full(records):
                self._has_slices = True
                return ControllerResult(records, None, self._atomicity == ATOMIC_SLICES, rest=self)
            if not self.has_next():
                self.rehearsing = False
                self.rewind()
                continue
            decided = self.decide_next(moment.units - self.spent)
            if not self.rehearsing:
                self._has_written = True
                records += decided
                continue
            refusal = self._why_too_much(decided)
            if refusal is not None:
                return refusal
        is_atomic = self._atomicity == ATOMIC_SLICES
        if self._atomicity == ATOMIC_IF_SHORT:
            is_atomic = not self._has_slices
        return ControllerResult(records, self.answer(), is_atomic, None, self.refusals())

    def _why_too_much(self, decided: list[RecordAndVersion]) -> ControllerResult | None:
        """The refusal once all that is decided so far is more than one request may write."""
        self._rehearsed_count += len(decided)
        if self._rehearsed_count > RECORDS_PER_BATCH_MAX:
            return too_many_records(self.context, self.whole_request)
        if self._atomicity != ATOMIC_SLICES:
            return None
        for entry in decided:
            if isinstance(entry, EncodedRecord):
                value = entry.value
            else:
                value = encode_metadata_record(entry.record, entry.version)
            self._rehearsed_bytes += RECORD_OVERHEAD_BYTES + len(value)
        if self._rehearsed_bytes <= BATCH_BYTES_MAX:
            return None
        why = f"a batch of more than {BATCH_BYTES_MAX} bytes is needed"
        return excessive(self.context, self.whole_request, why)

    def _is_full(self, records: list[RecordAndVersion]) -> bool:
        if self._atomicity != ATOMIC_SLICES or not records:
            return False
        return len(records) + self.next_records_max() > RECORDS_PER_BATCH_MAX


class Runs:
    """Walks lists in a list, `lengths` of them, in runs: from `first` to `end`, exclusive, of list `outer`.

    An empty list is one run, too: it has a place in the response.
    """

    def __init__(self, lengths: list[int]) -> None:
        self._lengths = lengths
        self.outer = -1
        self.first = 0
        self.end = 0
        self.rewind()

    def rewind(self) -> None:
        """Before the first run."""
        self.outer = -1
        self.first = self.end = 0

    def has_next(self) -> bool:
        """Whether there is another run."""
        if self.outer >= 0 and self.end < self._lengths[self.outer]:
            return True
        return self.outer + 1 < len(self._lengths)

    def take(self, length_max: int) -> int:
        """Go to the next run, of one element at least. Returns what it costs."""
        if self.outer >= 0 and self.end < self._lengths[self.outer]:
            self.first = self.end
        else:
            self.outer += 1
            self.first = 0
        self.end = min(self._lengths[self.outer], self.first + max(1, length_max))
        return max(1, self.end - self.first)
