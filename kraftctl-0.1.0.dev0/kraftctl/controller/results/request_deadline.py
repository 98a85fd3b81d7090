"""The time after which nothing of a request is begun: its client has given up (`timeoutMs`).

Kafka's controller has it for five of its APIs; `timeoutMs` of others says nothing to a controller. It counts
from the moment at which the request was received. What was begun before is carried out to its end.
"""

from __future__ import annotations

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.error_responses import ITEM_SHAPES
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
)
from kraftctl_protocol.generated.create_partitions_request import CreatePartitionsRequest
from kraftctl_protocol.generated.create_topics_request import CreateTopicsRequest
from kraftctl_protocol.generated.delete_topics_request import DeleteTopicsRequest
from kraftctl_protocol.generated.elect_leaders_request import ElectLeadersRequest
from kraftctl_protocol.message import Message


def timed_out(context: RequestContext, request: Message, moment: Moment) -> ControllerResult | None:
    """Returns REQUEST_TIMED_OUT for all of the request once its time is over; None before."""
    if not isinstance(
        request,
        (
            CreateTopicsRequest,
            DeleteTopicsRequest,
            CreatePartitionsRequest,
            ElectLeadersRequest,
            AlterPartitionReassignmentsRequest,
        ),
    ):
        return None
    waited_ms = 0 if context.received_ms is None else max(0, moment.now_ms - context.received_ms)
    if request.timeout_ms > 0 and waited_ms <= request.timeout_ms:
        return None
    response = ITEM_SHAPES[context.api_key](request, context.version, int(Errors.REQUEST_TIMED_OUT), None)
    line = (
        f"{request.NAME}: not begun, as its client waits {request.timeout_ms} ms and {waited_ms} ms are over"
    )
    return ControllerResult([], response, False, None, [line])
