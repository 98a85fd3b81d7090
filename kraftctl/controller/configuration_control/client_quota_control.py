"""AlterClientQuotas (KIP-546, KIP-612): limits per user, client id or address."""

from __future__ import annotations

import math
import re
from ipaddress import ip_address
from typing import Final

from kraftctl.controller.results.batch_limits import RECORDS_PER_BATCH_MAX
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseEntries
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.client_quotas_image import QuotaEntity, quota_entity_key
from kraftctl.image.metadata_image import MetadataImage
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_client_quotas_response as wire
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

ENTITIES_PER_REQUEST_MAX: Final = 20_000
"""The limit is twice the number of changes. A refusal for each of them takes 3 us."""

PARTS_PER_REQUEST_MAX: Final = 60_000
"""The names and quotas of all entities: a user's client has two names, and no entity more than four
quotas."""

CLIENT_KEYS: Final = {
    "producer_byte_rate": "LONG",
    "consumer_byte_rate": "LONG",
    "request_percentage": "DOUBLE",
    "controller_mutation_rate": "DOUBLE",
}
IP_KEYS: Final = {"connection_creation_rate": "INT"}

NUMBER_MAX: Final = {"LONG": (1 << 63) - 1, "INT": (1 << 31) - 1}

WHOLE_NUMBER_TOLERANCE: Final = 1e-6

HOST_NAME = re.compile(r"(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?(?:\.[A-Za-z0-9-]+)*\.?")


def alter_client_quotas(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Alters each entity as a whole or not at all. POLICY_VIOLATION for too many entities, or changes."""
    assert isinstance(request, AlterClientQuotasRequest)
    ResponseEntries().add_items(len(request.entries))
    if len(request.entries) > ENTITIES_PER_REQUEST_MAX:
        return _too_much(context, request, f"{len(request.entries)} entities")
    if sum([len(entry.entity) + len(entry.ops) for entry in request.entries]) > PARTS_PER_REQUEST_MAX:
        return _too_much(context, request, f"more than {PARTS_PER_REQUEST_MAX} names and quotas")
    entities = [_entity(entry) for entry in request.entries]
    counts: dict[QuotaEntity, int] = {}
    for entity in entities:
        counts[entity] = counts.get(entity, 0) + 1
    records: list[RecordAndVersion] = []
    response = wire.AlterClientQuotasResponse()
    for entry, entity in zip(request.entries, entities, strict=True):
        error = _why_refused(entry, entity)
        if len({op.key for op in entry.ops}) != len(entry.ops):
            error = ApiError(Errors.INVALID_REQUEST, "the request alters one quota of this entity twice")
        if counts[entity] > 1:
            error = ApiError(Errors.INVALID_REQUEST, "the request alters this entity twice")
        if error is None:
            records += _records(state.image, entity, entry.ops)
            if len(records) > RECORDS_PER_BATCH_MAX:
                return _too_much(context, request, f"more than {RECORDS_PER_BATCH_MAX} quotas")
        response.entries.append(
            wire.EntryData(
                error_code=0 if error is None else error.code,
                error_message=None if error is None else error.message,
                entity=[wire.EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            )
        )
    return ControllerResult.atomic_of([] if request.validate_only else records, response)


def _too_much(context: RequestContext, request: AlterClientQuotasRequest, what: str) -> ControllerResult:
    reason = f"Unable to alter {what} in one operation."
    error = Errors.POLICY_VIOLATION
    return ControllerResult.of([], error_response(context.api_key, request, context.version, error, reason))


def _entity(entry: EntryData) -> QuotaEntity:
    parts: list[tuple[str, str | None]] = [(part.entity_type, part.entity_name) for part in entry.entity]
    parts.sort(key=quota_entity_key)
    return tuple(parts)


def _why_refused(entry: EntryData, entity: QuotaEntity) -> ApiError | None:
    kinds = [kind for kind, _ in entity]
    if not kinds or len(set(kinds)) != len(kinds):
        return ApiError(Errors.INVALID_REQUEST, "an entity has each of its types once, and at least one")
    for kind, name in entity:
        if kind not in (USER, CLIENT_ID, IP):
            return ApiError(Errors.INVALID_REQUEST, f"unknown entity type {kind}")
        if name == "":
            return ApiError(Errors.INVALID_REQUEST, f"the {kind} is empty; null means the default")
    if IP in kinds and len(kinds) > 1:
        return ApiError(Errors.INVALID_REQUEST, "an entity with an ip has no other types")
    if IP in kinds and not _is_address(entity[0][1]):
        return ApiError(Errors.INVALID_REQUEST, f"{entity[0][1]} is neither an IP address nor a host name")
    keys = IP_KEYS if IP in kinds else CLIENT_KEYS
    for op in entry.ops:
        reason = _why_op_invalid(op, keys)
        if reason is not None:
            return ApiError(Errors.INVALID_REQUEST, reason)
    return None


def _is_address(name: str | None) -> bool:
    """Returns whether it is an address; null is the default. Only brokers resolve host names: nothing
    here may wait for DNS.
    """
    if name is None or HOST_NAME.fullmatch(name) is not None:
        return True
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _why_op_invalid(op: OpData, keys: dict[str, str]) -> str | None:
    kind = keys.get(op.key)
    if kind is None:
        return f"Invalid configuration key {op.key}"
    if op.remove:
        return None
    if not op.value > 0 or math.isinf(op.value):
        return f"{op.key} must be more than 0"
    if kind == "DOUBLE":
        return None
    if abs(op.value - round(op.value)) > WHOLE_NUMBER_TOLERANCE:
        return f"{op.key} must be a whole number"
    if round(op.value) > NUMBER_MAX[kind]:
        return f"the value of {op.key} is too big"
    return None


def _records(image: MetadataImage, entity: QuotaEntity, ops: list[OpData]) -> list[RecordAndVersion]:
    """Returns one record per key whose value changes."""
    present = image.client_quotas.quota(entity)
    records: list[RecordAndVersion] = []
    for op in ops:
        if op.remove and op.key not in present:
            continue
        if not op.remove and present.get(op.key) == op.value:
            continue
        record = ClientQuotaRecord(
            entity=[EntityData(entity_type=kind, entity_name=name) for kind, name in entity],
            key=op.key,
            value=0.0 if op.remove else op.value,
            remove=op.remove,
        )
        records.append(RecordAndVersion(record, 0))
    return records
