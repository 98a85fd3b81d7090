"""CreateAcls, DeleteAcls, DescribeAcls (KIP-140, KIP-290, KIP-801): access control entries in the log."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.error_responses import error_response
from kraftctl.controller.results.excessive_requests import has_too_many, too_many_records, why_too_many_items
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.results.response_entries import ResponseEntries
from kraftctl.controller.security.acl_filter import ALLOW, LITERAL, AclFilter
from kraftctl.controller.security.acl_scan import AclScan
from kraftctl.controller.state.authorization import CLUSTER_NAME, ResourceType
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.acl_entry import AclEntry
from kraftctl.image.acl_index import PREFIXED
from kraftctl.image.network_host import network_of
from kraftctl.metadata import features
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.access_control_entry_record import AccessControlEntryRecord
from kraftctl_protocol.generated.create_acls_request import AclCreation, CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import AclCreationResult, CreateAclsResponse
from kraftctl_protocol.generated.delete_acls_request import DeleteAclsFilter, DeleteAclsRequest
from kraftctl_protocol.generated.delete_acls_response import (
    DeleteAclsFilterResult,
    DeleteAclsMatchingAcl,
    DeleteAclsResponse,
)
from kraftctl_protocol.generated.describe_acls_request import DescribeAclsRequest
from kraftctl_protocol.generated.describe_acls_response import (
    AclDescription,
    DescribeAclsResource,
    DescribeAclsResponse,
)
from kraftctl_protocol.generated.remove_access_control_entry_record import RemoveAccessControlEntryRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.uuids import Uuid, random_uuid

DELETIONS_PER_REQUEST_MAX: Final = 10_000
"""Kafka has the same limit of deleted entries, whatever number of filters matches them."""

LISTED_PER_REQUEST_MAX: Final = 100_000
"""The response lists an entry for each filter that matches it; this many take 30 ms."""

COMPARISONS_PER_REQUEST_MAX: Final = 500_000
"""The comparisons of entries with filters. A filter that names neither a resource nor a principal is
compared with every entry of its type."""

FILTERS_PER_REQUEST_MAX: Final = 25_000
"""The filters of one DeleteAcls. This many that match nothing take 25 ms."""

DENY: Final = 2


def create_acls(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Creates entries; an entry that exists already is a success without a record."""
    assert isinstance(request, CreateAclsRequest)
    if not state.authorizer.configured:
        return _disabled(context, request)
    refusal = why_too_many_items(context, request, len(request.creations))
    if refusal is not None:
        return refusal
    index, level = state.image.acls.index, state.image.features.metadata_version
    created: set[AclEntry] = set()
    records: list[RecordAndVersion] = []
    results: list[AclCreationResult] = []
    for creation in request.creations:
        error = why_acl_invalid(creation) or why_host_invalid(creation.host, level)
        if error is not None:
            results.append(AclCreationResult(error_code=error.code, error_message=error.message))
            continue
        entry = _entry(creation)
        if entry not in created and not index.contains(entry):
            created.add(entry)
            records.append(_record(random_uuid(state.rng), entry))
            if has_too_many(records):
                return too_many_records(context, request)
        results.append(AclCreationResult())
    return ControllerResult.atomic_of(records, CreateAclsResponse(results=results))


def why_acl_invalid(creation: AclCreation) -> ApiError | None:
    """Returns INVALID_REQUEST with the first thing that is wrong."""
    reason: str | None = None
    if not ResourceType.TOPIC <= creation.resource_type <= ResourceType.USER:
        reason = f"Invalid resourceType {creation.resource_type}"
    elif creation.resource_pattern_type not in (LITERAL, PREFIXED):
        reason = f"Invalid patternType {creation.resource_pattern_type}"
    elif not AclOperation.ALL <= creation.operation <= AclOperation.TWO_PHASE_COMMIT:
        reason = f"Invalid operation {creation.operation}"
    elif creation.permission_type not in (DENY, ALLOW):
        reason = f"Invalid permissionType {creation.permission_type}"
    elif creation.resource_type == ResourceType.CLUSTER and creation.resource_name != CLUSTER_NAME:
        reason = f"The resource of type CLUSTER is named {CLUSTER_NAME}"
    elif not creation.resource_name:
        reason = "Invalid empty resource name"
    elif ":" not in creation.principal:
        reason = f"the principal {creation.principal!r} has no colon after its type"
    return None if reason is None else ApiError(Errors.INVALID_REQUEST, reason)


def why_host_invalid(host: str, metadata_version: int) -> ApiError | None:
    """Returns what is wrong with the host of an entry, which is looked at last (KIP-1276)."""
    if not host:
        reason = "the host of the entry is empty. Next step: name an address, or `*` for all"
        return ApiError(Errors.INVALID_REQUEST, reason)
    if "/" not in host:
        return None
    if not features.is_cidr_host_supported(metadata_version):
        needed = features.metadata_version_name(features.IBP_4_4_IV1)
        reason = f"the host {host!r} is a network, which needs metadata.version {needed}"
        return ApiError(Errors.UNSUPPORTED_VERSION, reason)
    if network_of(host) is None:
        reason = f"the host {host!r} is no network in CIDR notation, such as 10.0.0.0/8 or 2001:db8::/32"
        return ApiError(Errors.INVALID_REQUEST, reason)
    return None


def delete_acls(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Deletes every entry that one of the filters matches, in one atomic batch; nothing if that is too
    much.
    """
    assert isinstance(request, DeleteAclsRequest)
    if not state.authorizer.configured:
        return _disabled(context, request)
    if len(request.filters) > FILTERS_PER_REQUEST_MAX:
        return _refused(context, request, f"Cannot use {len(request.filters)} filters in one operation.")
    filters = [_deletion_filter(wanted) for wanted in request.filters]
    scan = AclScan(state.image.acls.index, filters)
    doomed: dict[Uuid, DeleteAclsMatchingAcl] = {}
    listed = 0
    results: list[DeleteAclsFilterResult] = []
    for acl_filter in filters:
        if acl_filter.unknown:
            error = int(Errors.INVALID_REQUEST)
            results.append(DeleteAclsFilterResult(error_code=error, error_message="Unknown filter."))
            continue
        candidates = scan.candidates(acl_filter)
        if scan.comparisons > COMPARISONS_PER_REQUEST_MAX:
            reason = f"Cannot compare {len(request.filters)} filters with that many acls in one operation."
            return _refused(context, request, reason)
        matching: list[DeleteAclsMatchingAcl] = []
        for acl_id, entry in candidates:
            if not acl_filter.matches(entry):
                continue
            deleted = doomed.get(acl_id)
            if deleted is None:
                deleted = _deleted(entry)
                doomed[acl_id] = deleted
            matching.append(deleted)
            if len(doomed) > DELETIONS_PER_REQUEST_MAX:
                reason = f"Cannot remove more than {DELETIONS_PER_REQUEST_MAX} acls in a single operation."
                return _refused(context, request, reason)
        listed += len(matching)
        if listed > LISTED_PER_REQUEST_MAX:
            reason = f"The filters match the same acls again and again: {LISTED_PER_REQUEST_MAX} are listed."
            return _refused(context, request, reason)
        results.append(DeleteAclsFilterResult(error_message=None, matching_acls=matching))
    records = [RecordAndVersion(RemoveAccessControlEntryRecord(id=acl_id), 0) for acl_id in doomed]
    return ControllerResult.atomic_of(records, DeleteAclsResponse(filter_results=results))


def describe_acls(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Returns the entries that match, grouped by resource pattern."""
    assert isinstance(request, DescribeAclsRequest)
    if not state.authorizer.configured:
        return _disabled(context, request)
    acl_filter = AclFilter(
        resource_type=request.resource_type_filter,
        resource_name=request.resource_name_filter,
        pattern_type=request.pattern_type_filter,
        principal=request.principal_filter,
        host=request.host_filter,
        operation=request.operation,
        permission_type=request.permission_type,
    )
    resources: dict[tuple[int, str, int], DescribeAclsResource] = {}
    entries = ResponseEntries()
    for _, entry in acl_filter.candidates(state.image.acls.index):
        if not acl_filter.matches(entry):
            continue
        key = (entry.resource_type, entry.resource_name, entry.pattern_type)
        resource = resources.get(key)
        if resource is None:
            entries.add_items(1)
            resource = DescribeAclsResource(resource_type=key[0], resource_name=key[1], pattern_type=key[2])
            resources[key] = resource
        entries.add(1)
        resource.acls.append(
            AclDescription(
                principal=entry.principal,
                host=entry.host,
                operation=entry.operation,
                permission_type=entry.permission_type,
            )
        )
    return ControllerResult.of([], DescribeAclsResponse(resources=list(resources.values())))


def _deletion_filter(wanted: DeleteAclsFilter) -> AclFilter:
    return AclFilter(
        resource_type=wanted.resource_type_filter,
        resource_name=wanted.resource_name_filter,
        pattern_type=wanted.pattern_type_filter,
        principal=wanted.principal_filter,
        host=wanted.host_filter,
        operation=wanted.operation,
        permission_type=wanted.permission_type,
    )


def _disabled(context: RequestContext, request: Message) -> ControllerResult:
    error = Errors.SECURITY_DISABLED
    reason = "No Authorizer is configured."
    return ControllerResult.of([], error_response(context.api_key, request, context.version, error, reason))


def _refused(context: RequestContext, request: Message, reason: str) -> ControllerResult:
    error = Errors.INVALID_REQUEST
    refusal = error_response(context.api_key, request, context.version, error, reason)
    return ControllerResult.atomic_of([], refusal)


def _entry(creation: AclCreation) -> AclEntry:
    return AclEntry(
        resource_type=creation.resource_type,
        resource_name=creation.resource_name,
        pattern_type=creation.resource_pattern_type,
        principal=creation.principal,
        host=creation.host,
        operation=creation.operation,
        permission_type=creation.permission_type,
    )


def _record(acl_id: Uuid, entry: AclEntry) -> RecordAndVersion:
    record = AccessControlEntryRecord(
        id=acl_id,
        resource_type=entry.resource_type,
        resource_name=entry.resource_name,
        pattern_type=entry.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission_type,
    )
    return RecordAndVersion(record, 0)


def _deleted(entry: AclEntry) -> DeleteAclsMatchingAcl:
    return DeleteAclsMatchingAcl(
        error_message=None,
        resource_type=entry.resource_type,
        resource_name=entry.resource_name,
        pattern_type=entry.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission_type,
    )
