"""Requests that ask for more than one batch of the log can hold: refused as a whole, before the work is done.

As in Kafka, whose lists of records are bounded (BoundedListTooLongException is answered with
POLICY_VIOLATION), with two differences. Kafka's reassignments, DeleteTopics and CreatePartitions do what fits
in the batch, and answer the rest with UNKNOWN_SERVER_ERROR: here nothing is done by halves. What
changes nothing is bounded as well: no heartbeat is answered while all that a request names is looked at.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseEntries, ResponseTooLongError
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

ITEMS_PER_REQUEST_MAX: Final = 20_000
"""What one request may name of what it changes: twice as much as it can change."""

PARTITIONS_PER_REQUEST_MAX: Final = 20_000
"""The same for partitions."""


def why_too_many_items(context: RequestContext, request: Message, count: int) -> ControllerResult | None:
    """The refusal of a request that names `count` items; None if it may.

    ResponseTooLongError if even the refusal, which names each of them, would be too long.
    """
    ResponseEntries().add_items(count)
    if count <= ITEMS_PER_REQUEST_MAX:
        return None
    return excessive(context, request, f"{count} items are more than {ITEMS_PER_REQUEST_MAX}")


def check_partition_count(count: int) -> None:
    """Raises ResponseTooLongError, whose response has no list, if a request names too many partitions."""
    if count > PARTITIONS_PER_REQUEST_MAX:
        raise ResponseTooLongError(f"it names {count} partitions, more than {PARTITIONS_PER_REQUEST_MAX}")


def has_too_many(records: list[RecordAndVersion]) -> bool:
    """Whether the records, which belong together, are more than one batch can hold."""
    return len(records) > RECORDS_PER_BATCH_MAX


def too_many_records(context: RequestContext, request: Message) -> ControllerResult:
    """The refusal of a request whose records `has_too_many` has found to be too many."""
    return excessive(context, request, f"more than {RECORDS_PER_BATCH_MAX} records are needed")


def excessive(context: RequestContext, request: Message, why: str) -> ControllerResult:
    """POLICY_VIOLATION for all that the request names, and a line for the log."""
    reason = f"The request asks for too much: {why}."
    error = ApiError(Errors.POLICY_VIOLATION, reason)
    response = error_response(context.api_key, request, context.version, error.error, error.message)
    return ControllerResult.refused(response, f"{request.NAME} of {shortened(str(context.principal))}", error)
