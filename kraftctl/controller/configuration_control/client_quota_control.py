"""AlterClientQuotas (KIP-546, KIP-612): limits per user, client id or address."""

from __future__ import annotations

import math
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
from kraftctl.image.network_host import may_have_quota
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_client_quotas_response as wire
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord, EntityData
from kraftctl_protocol.java_hash_order import can_be_ordered, hash_order, in_hash_order, map_hash
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion

USER: Final = "user"
CLIENT_ID: Final = "client-id"
IP: Final = "ip"

ENTITY_TYPES_COUNT: Final = 3

ENTITY_TYPE_CHARACTERS_MAX: Final = 16
"""Longer types, which are unknown, stay in the order of the request."""

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

NUMBER_MAX: Final = {"LONG": float(1 << 63), "INT": float((1 << 31) - 1)}
"""The largest doubles that Kafka takes for one."""

FRACTION_MAX: Final = 1e-6
"""Above a whole number; as in Kafka, just below one is not near enough."""


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
    results: dict[QuotaEntity, wire.EntryData] = {}
    orders: dict[tuple[str, ...], list[str]] = {}
    for entry, entity in zip(request.entries, entities, strict=True):
        error = _why_refused(entry, entity, is_stored=entity in state.image.client_quotas.quotas)
        if counts[entity] > 1:
            error = ApiError(Errors.INVALID_REQUEST, "the request alters this entity twice")
        if error is None:
            records += _records(state.image, entity, entry.ops)
            if len(records) > RECORDS_PER_BATCH_MAX:
                return _too_much(context, request, f"more than {RECORDS_PER_BATCH_MAX} quotas")
        results[entity] = _result(entry, entity, error, orders)
    response = wire.AlterClientQuotasResponse(entries=_in_kafkas_order(results))
    return ControllerResult.atomic_of([] if request.validate_only else records, response)


def _in_kafkas_order(results: dict[QuotaEntity, wire.EntryData]) -> list[wire.EntryData]:
    """Returns one result for each entity, as often as the request has it."""
    entries = list(results.values())
    if not can_be_ordered([name for entity in results for part in entity for name in part]):
        return entries
    return [entries[place] for place in hash_order([31 + map_hash(dict(entity)) for entity in results])]


def _result(
    entry: EntryData, entity: QuotaEntity, error: ApiError | None, orders: dict[tuple[str, ...], list[str]]
) -> wire.EntryData:
    """Returns the result with the types of the entity in Kafka's order; `orders` keeps those it has found."""
    names = dict(entity)
    given = tuple([part.entity_type for part in entry.entity])
    kinds = orders.get(given)
    if kinds is None:
        is_ordered = max(map(len, given), default=0) <= ENTITY_TYPE_CHARACTERS_MAX
        kinds = orders[given] = in_hash_order(list(given), len(given)) if is_ordered else list(names)
    return wire.EntryData(
        error_code=0 if error is None else error.code,
        error_message=None if error is None else error.message,
        entity=[wire.EntityData(entity_type=kind, entity_name=names[kind]) for kind in kinds],
    )


def _too_much(context: RequestContext, request: AlterClientQuotasRequest, what: str) -> ControllerResult:
    reason = f"Unable to alter {what} in one operation."
    error = Errors.POLICY_VIOLATION
    return ControllerResult.of([], error_response(context.api_key, request, context.version, error, reason))


def _entity(entry: EntryData) -> QuotaEntity:
    """Returns the types and names; of a type that is there twice, the last counts."""
    parts = list({part.entity_type: part.entity_name for part in entry.entity}.items())
    parts.sort(key=quota_entity_key)
    return tuple(parts)


def _why_refused(entry: EntryData, entity: QuotaEntity, *, is_stored: bool) -> ApiError | None:
    if not entity:
        return ApiError(Errors.INVALID_REQUEST, "an entity has at least one type")
    for kind, name in entity:
        if kind not in (USER, CLIENT_ID, IP):
            return ApiError(Errors.INVALID_REQUEST, f"unknown entity type {kind}")
        if name == "":
            return ApiError(Errors.INVALID_REQUEST, f"the {kind} is empty; null means the default")
    has_ip = IP in [kind for kind, _ in entity]
    if has_ip and len(entity) > 1:
        return ApiError(Errors.INVALID_REQUEST, "an entity with an ip has no other types")
    removes_all = is_stored and all(op.remove for op in entry.ops)
    if has_ip and not removes_all and not may_have_quota(entity[0][1]):
        what = f"{entity[0][1]} is no IP address. Next step: name the address of the host"
        return ApiError(Errors.INVALID_REQUEST, what)
    if len({op.key for op in entry.ops}) != len(entry.ops):
        return ApiError(Errors.INVALID_REQUEST, "the request alters one quota of this entity twice")
    keys = IP_KEYS if has_ip else CLIENT_KEYS
    for op in entry.ops:
        reason = None if op.remove else _why_value_invalid(op, keys)
        if reason is not None:
            return ApiError(Errors.INVALID_REQUEST, reason)
    return None


def _why_value_invalid(op: OpData, keys: dict[str, str]) -> str | None:
    """Returns why no quota may have that value. Before 4.4, Kafka takes what is not finite, too."""
    kind = keys.get(op.key)
    if kind is None:
        return f"Invalid configuration key {op.key}"
    if not op.value > 0 or math.isinf(op.value):
        return f"{op.key} must be more than 0"
    if kind == "DOUBLE":
        return None
    if op.value > NUMBER_MAX[kind]:
        return f"the value of {op.key} is too big"
    if math.fmod(op.value, 1.0) > FRACTION_MAX:
        return f"{op.key} must be a whole number"
    return None


def _records(image: MetadataImage, entity: QuotaEntity, ops: list[OpData]) -> list[RecordAndVersion]:
    """Returns one record per key whose value changes, in Kafka's order."""
    present = image.client_quotas.quota(entity)
    names = dict(entity)
    kinds = in_hash_order(list(names), ENTITY_TYPES_COUNT)
    by_key = {op.key: op for op in ops}
    records: list[RecordAndVersion] = []
    for key in in_hash_order(list(by_key), len(ops)):
        op = by_key[key]
        if op.remove and op.key not in present:
            continue
        if not op.remove and present.get(op.key) == op.value:
            continue
        record = ClientQuotaRecord(
            entity=[EntityData(entity_type=kind, entity_name=names[kind]) for kind in kinds],
            key=op.key,
            value=0.0 if op.remove else op.value,
            remove=op.remove,
        )
        records.append(RecordAndVersion(record, 0))
    return records
