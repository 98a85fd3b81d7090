"""What a handler returns: records to append, and the response that waits until they are committed."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.refusal_lines import refusal_line
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion


@mypyc_attr(allow_interpreted_subclasses=True)
class SoftChange:
    """A change of soft state that belongs to a result, made once the result can no longer be refused."""

    @property
    def appends_records(self) -> bool:
        """Whether it has raft append records of its own, before those of the result."""
        return False

    def make(self) -> None:
        """Change the soft state, just before the first record is appended."""


@mypyc_attr(allow_interpreted_subclasses=True)
class SlicedWork:
    """What is left of a result that is too long for one turn of the loop.

    Between two slices anything may happen: other requests for the same broker or topic, or a failover, after
    which the rest is never done here. So each slice leaves the cluster in a safe state, and looks again at
    what it changes. `name` completes "Continuing to"; `spent` is how many units the last slice took.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.spent = 0

    def next_slice(self, moment: Moment) -> ControllerResult:
        """About as much as `moment` allows. The last result has no `rest`, and the response if there is one.

        Whatever it raises fails this work alone: nothing of the slice is appended.
        """
        raise AssertionError(f"{self.name} has no slices")

    def failed(self, moment: Moment) -> None:
        """A slice has failed, and there is no further one. Changes soft state at most."""


NO_REFUSALS: Final[list[str]] = []


@mypyc_attr(acyclic=True, free_list_len=1)
class ControllerResult:
    """Records and response of one request.

    `is_atomic`: all records must land in one batch (or one metadata transaction). Otherwise the
    caller may cut the list between any two records. `response` is None for timer work. `refusals` are lines
    for the log with the reasons that the response has no room for. With a `rest` there is more to come: a
    request that has no response yet is answered with the last slice.
    """

    def __init__(
        self,
        records: list[RecordAndVersion],
        response: Message | None = None,
        is_atomic: bool = False,
        soft_change: SoftChange | None = None,
        refusals: list[str] = NO_REFUSALS,
        rest: SlicedWork | None = None,
    ) -> None:
        self.records = records
        self.response = response
        self.is_atomic = is_atomic
        self.soft_change = soft_change
        self.refusals = refusals
        self.rest = rest

    @staticmethod
    def of(
        records: list[RecordAndVersion],
        response: Message | None = None,
        soft_change: SoftChange | None = None,
        refusals: list[str] = NO_REFUSALS,
    ) -> ControllerResult:
        """Records that may be split over batches."""
        return ControllerResult(records, response, False, soft_change, refusals)

    @staticmethod
    def atomic_of(
        records: list[RecordAndVersion],
        response: Message | None = None,
        soft_change: SoftChange | None = None,
    ) -> ControllerResult:
        """Records that are all written or not at all."""
        return ControllerResult(records, response, True, soft_change)

    @staticmethod
    def begun(
        records: list[RecordAndVersion], rest: SlicedWork, soft_change: SoftChange | None = None
    ) -> ControllerResult:
        """Records that may be split over batches, and more work to come."""
        return ControllerResult(records, None, False, soft_change, rest=rest)

    @staticmethod
    def refused(response: Message, what: str, error: ApiError) -> ControllerResult:
        """No records: `response` refuses the whole request, `what`, and has no room for the reason."""
        return ControllerResult([], response, False, None, [refusal_line(what, error)])
