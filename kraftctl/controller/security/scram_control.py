"""AlterUserScramCredentials (KIP-554, KIP-900): credentials of SCRAM users (RFC 5802)."""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.excessive_requests import excessive, why_too_many_items
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.metadata import features
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_user_scram_credentials_request import (
    AlterUserScramCredentialsRequest,
    ScramCredentialDeletion,
    ScramCredentialUpsertion,
)
from kraftctl_protocol.generated.alter_user_scram_credentials_response import (
    AlterUserScramCredentialsResponse,
    AlterUserScramCredentialsResult,
)
from kraftctl_protocol.generated.remove_user_scram_credential_record import RemoveUserScramCredentialRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.scram import HASHES, ITERATIONS_MAX, ITERATIONS_MIN, credential_record

UPSERTIONS_PER_REQUEST_MAX: Final = 5_000
"""The hashes that the log keeps of a credential take 10 us."""


def alter_user_scram_credentials(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Does one deletion or one upsertion per user in a request, or neither."""
    assert isinstance(request, AlterUserScramCredentialsRequest)
    refusal = why_too_many_items(context, request, len(request.deletions) + len(request.upsertions))
    if refusal is not None:
        return refusal
    if len(request.upsertions) > UPSERTIONS_PER_REQUEST_MAX:
        why = f"{len(request.upsertions)} credentials are more than {UPSERTIONS_PER_REQUEST_MAX}"
        return excessive(context, request, why)
    errors: dict[str, ApiError] = {}
    records: dict[str, RecordAndVersion] = {}
    named = [deletion.name for deletion in request.deletions]
    named += [upsertion.name for upsertion in request.upsertions]
    seen: set[str] = set()
    for name in named:
        if name in seen:
            reason = "a user's credentials can be altered once in a request"
            errors[name] = ApiError(Errors.DUPLICATE_RESOURCE, reason)
        seen.add(name)
    for deletion in request.deletions:
        _add(
            deletion.name, _why_deletion_refused(state, deletion), _deletion_record(deletion), errors, records
        )
    for upsertion in request.upsertions:
        error = _why_upsertion_refused(state, upsertion)
        record = None if error is not None else _upsertion_record(upsertion)
        _add(upsertion.name, error, record, errors, records)
    done = [AlterUserScramCredentialsResult(user=name, error_message=None) for name in records]
    refused = [
        AlterUserScramCredentialsResult(user=name, error_code=error.code, error_message=error.message)
        for name, error in errors.items()
    ]
    response = AlterUserScramCredentialsResponse(results=done + refused)
    return ControllerResult.atomic_of(list(records.values()), response)


def _add(
    name: str,
    error: ApiError | None,
    record: RecordAndVersion | None,
    errors: dict[str, ApiError],
    records: dict[str, RecordAndVersion],
) -> None:
    if name in errors:
        return
    if error is not None:
        errors[name] = error
    elif record is not None:
        records[name] = record


def _why_refused(state: ControllerState, name: str, mechanism: int) -> ApiError | None:
    if not features.is_scram_supported(state.image.features.metadata_version):
        return ApiError(Errors.UNSUPPORTED_VERSION, "The current metadata.version does not support SCRAM")
    if not name:
        return ApiError(Errors.UNACCEPTABLE_CREDENTIAL, "Username must not be empty")
    if mechanism not in HASHES:
        return ApiError(Errors.UNSUPPORTED_SASL_MECHANISM, "Unknown SCRAM mechanism")
    return None


def _why_deletion_refused(state: ControllerState, deletion: ScramCredentialDeletion) -> ApiError | None:
    error = _why_refused(state, deletion.name, deletion.mechanism)
    if error is None and state.image.scram.credential(deletion.mechanism, deletion.name) is None:
        return ApiError(Errors.RESOURCE_NOT_FOUND, "the user has no credential of that mechanism")
    return error


def _why_upsertion_refused(state: ControllerState, upsertion: ScramCredentialUpsertion) -> ApiError | None:
    error = _why_refused(state, upsertion.name, upsertion.mechanism)
    if error is None and upsertion.iterations < ITERATIONS_MIN:
        return ApiError(Errors.UNACCEPTABLE_CREDENTIAL, "Too few iterations")
    if error is None and upsertion.iterations > ITERATIONS_MAX:
        return ApiError(Errors.UNACCEPTABLE_CREDENTIAL, "Too many iterations")
    if error is None and not upsertion.salted_password:
        # Kafka fails on it, as Java makes no key of it.
        return ApiError(Errors.UNACCEPTABLE_CREDENTIAL, "The salted password is empty")
    return error


def _deletion_record(deletion: ScramCredentialDeletion) -> RecordAndVersion:
    record = RemoveUserScramCredentialRecord(name=deletion.name, mechanism=deletion.mechanism)
    return RecordAndVersion(record, 0)


def _upsertion_record(upsertion: ScramCredentialUpsertion) -> RecordAndVersion:
    record = credential_record(
        name=upsertion.name,
        mechanism=upsertion.mechanism,
        salt=upsertion.salt,
        salted_password=upsertion.salted_password,
        iterations=upsertion.iterations,
    )
    return RecordAndVersion(record, 0)
