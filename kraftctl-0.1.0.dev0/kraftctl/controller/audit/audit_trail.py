"""AuditTrail: one entry for each request that asks for a change, once its result is known.

An entry begins when the request is about to be carried out or refused, while the image still has what it
replaces. It ends with the response: when the records of the request are committed, when it is refused, or
when leadership is lost. The trail changes nothing else, and a failure of its own is an entry without
description.
"""

from __future__ import annotations

from typing import Final

from kraftctl.apis.api import Owner
from kraftctl.controller.audit.change_list import Change, ChangeList
from kraftctl.controller.audit.described_change import describe, is_validation
from kraftctl.controller.audit.response_errors import ResponseErrors
from kraftctl.controller.results.failures import reason_of
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message

NO_OFFSET: Final = -1

COMMITTED: Final = "committed"
"""A majority of the voters has the records: they are there to stay."""

APPENDED: Final = "appended"
"""Answered before that, as the request or its API demands: UpdateRaftVoter, or AddRaftVoter on request."""

UNCHANGED: Final = "unchanged"
"""No error, and no record: nothing had to be changed, or the request only validates."""

DENIED: Final = "denied"
"""Nothing is changed; a right is missing."""

REFUSED: Final = "refused"
"""Nothing is changed, for another reason."""

FAILED: Final = "failed"
"""Nothing is changed, because of an error of the controller's own."""

LOST: Final = "lost"
"""Leadership was lost before the records were committed: the next leader may have them or not."""

TIMED_OUT: Final = "timed_out"
"""The response is REQUEST_TIMED_OUT, and the records may still be committed."""

ELSEWHERE: Final = (Errors.NOT_CONTROLLER, Errors.NOT_LEADER_OR_FOLLOWER)
"""Ask another controller: if that is all, that one has the entry."""


class AuditEntry:
    """One request and its result. `outcome` is one of the above; offsets are inclusive, -1 for no records.

    It begins in step number `step`. What is in the log before `end_offset` is not of the request.
    """

    def __init__(
        self,
        context: RequestContext,
        *,
        received_wall_ms: int,
        leader_epoch: int,
        validate_only: bool,
        described: ChangeList,
        step: int = 0,
        end_offset: int = 0,
    ) -> None:
        self.context = context
        self.received_wall_ms = received_wall_ms
        self.leader_epoch = leader_epoch
        self.validate_only = validate_only
        self.changes: list[Change] = described.changes
        self.changes_left_out_count = described.left_out_count
        self.first_offset = NO_OFFSET
        self.last_offset = NO_OFFSET
        self.answered_wall_ms = received_wall_ms
        self.outcome = ""
        self.results: list[dict[str, object]] = []
        self.failure: str | None = None
        """Why the description or the results are missing."""
        self.step = step
        self.end_offset = end_offset

    def appended(self, base_offset: int, end_offset: int) -> None:
        """Records of the request, all of them or a slice, are appended from `base_offset` to `end_offset`.

        Between two slices are records of others.
        """
        if end_offset > base_offset:
            if self.first_offset == NO_OFFSET:
                self.first_offset = base_offset
            self.last_offset = end_offset - 1


class AuditTrail:
    """Begins and finishes entries. The caller keeps them, and knows which requests get one."""

    def __init__(self) -> None:
        self._step = 0
        self._wall_ms = 0

    def begin_step(self, wall_ms: int) -> None:
        """The wall clock, for all entries of this step."""
        self._step += 1
        self._wall_ms = wall_ms

    def begin(
        self,
        context: RequestContext,
        request: Message,
        image: MetadataImage,
        *,
        epoch: int,
        end_offset: int,
    ) -> AuditEntry:
        """The entry of a request that is about to be carried out or refused: nothing of it is appended."""
        described, failure, validate_only = ChangeList(), None, False
        try:
            validate_only = is_validation(request)
            described = describe(context.api.key, request, image)
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005: the request does not depend on it
            failure = reason_of(error)
        entry = AuditEntry(
            context,
            received_wall_ms=self._wall_ms,
            leader_epoch=epoch,
            validate_only=validate_only,
            described=described,
            step=self._step,
            end_offset=end_offset,
        )
        entry.failure = failure
        return entry

    def finish(
        self, entry: AuditEntry, response: Message | None, *, high_watermark: int, voters_offset: int
    ) -> bool:
        """Add the result to an entry. Returns whether it belongs in the log of this controller.

        `response` is None if the connection is closed instead. `voters_offset` is that of the last record of
        the voters: a change of them is appended by raft, some steps after the request came.
        """
        entry.answered_wall_ms = self._wall_ms
        if entry.context.api.owner == Owner.RAFT and voters_offset >= entry.end_offset:
            entry.first_offset = entry.last_offset = voters_offset
        if response is None:
            entry.outcome = FAILED
            return True
        try:
            errors = ResponseErrors(response)
            if entry.step == self._step and _is_elsewhere(entry, errors):
                return False
            entry.results = errors.results()
            entry.outcome = _outcome(entry, errors, high_watermark)
        except Exception as error:  # noqa: BLE001 - see docs/adr/0005: the response does not depend on it
            entry.failure = reason_of(error)
            entry.outcome = FAILED if entry.first_offset == NO_OFFSET else COMMITTED
        return True


def _is_elsewhere(entry: AuditEntry, errors: ResponseErrors) -> bool:
    """Whether nothing was done here, and the sender asks another controller."""
    return entry.first_offset == NO_OFFSET and any(errors.has(error) for error in ELSEWHERE)


def _outcome(entry: AuditEntry, errors: ResponseErrors, high_watermark: int) -> str:
    if entry.first_offset != NO_OFFSET:
        if any(errors.has(error) for error in ELSEWHERE):
            return LOST
        if errors.has(Errors.REQUEST_TIMED_OUT):
            return TIMED_OUT
        return COMMITTED if entry.last_offset < high_watermark else APPENDED
    if all(code == Errors.NONE for code in errors.counts):
        return UNCHANGED
    if any(name.endswith("AUTHORIZATION_FAILED") for name in errors.names()):
        return DENIED
    return FAILED if errors.has(Errors.UNKNOWN_SERVER_ERROR) else REFUSED
