"""AllocateProducerIds (KIP-730): brokers fetch producer ids in blocks."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.broker_epoch import why_epoch_stale
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.allocate_producer_ids_request import AllocateProducerIdsRequest
from kraftctl_protocol.generated.allocate_producer_ids_response import AllocateProducerIdsResponse
from kraftctl_protocol.generated.producer_ids_record import ProducerIdsRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

PRODUCER_ID_BLOCK_SIZE: Final = 1_000
"""The size of a block in Kafka's ProducerIdsBlock."""

PRODUCER_ID_MAX: Final = (1 << 63) - 1


def allocate_producer_ids(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Returns the next block of producer ids. No id is given out twice."""
    assert isinstance(request, AllocateProducerIdsRequest)
    error = why_epoch_stale(state.image.cluster, request.broker_id, request.broker_epoch)
    if error is not None:
        return _refused(request, error)
    start = max(state.image.producer_ids.next_producer_id, 0)
    if start > PRODUCER_ID_MAX - PRODUCER_ID_BLOCK_SIZE:
        return _refused(request, ApiError(Errors.UNKNOWN_SERVER_ERROR, "no producer id is left"))
    record = ProducerIdsRecord(
        broker_id=request.broker_id,
        broker_epoch=request.broker_epoch,
        next_producer_id=start + PRODUCER_ID_BLOCK_SIZE,
    )
    response = AllocateProducerIdsResponse(producer_id_start=start, producer_id_len=PRODUCER_ID_BLOCK_SIZE)
    return ControllerResult.of([RecordAndVersion(record, 0)], response)


def _refused(request: AllocateProducerIdsRequest, error: ApiError) -> ControllerResult:
    response = AllocateProducerIdsResponse(error_code=error.code)
    return ControllerResult.refused(response, f"AllocateProducerIds of broker {request.broker_id}", error)
