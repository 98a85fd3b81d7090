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
from kraftctl_protocol.java_hash_order import in_hash_order
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.scram import HASHES, ITERATIONS_MAX, ITERATIONS_MIN, credential_record

UPSERTIONS_PER_REQUEST_MAX: Final = 5_000
"""The hashes that the log keeps of a credential take 10 us."""

TWICE: Final = ApiError(Errors.DUPLICATE_RESOURCE, "a user's credentials can be altered once in a request")


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
    deletions: dict[str, ScramCredentialDeletion] = {}
    upsertions: dict[str, ScramCredentialUpsertion] = {}
    for deletion in request.deletions:
        name = deletion.name
        if name in errors:
            continue
        error = TWICE if deletions.pop(name, None) else _why_deletion_refused(state, deletion)
        if error is None:
            deletions[name] = deletion
        else:
            errors[name] = error
    for upsertion in request.upsertions:
        name = upsertion.name
        if name in errors:
            continue
        is_named = deletions.pop(name, None) is not None or upsertions.pop(name, None) is not None
        error = TWICE if is_named else _why_upsertion_refused(state, upsertion)
        if error is None:
            upsertions[name] = upsertion
        else:
            errors[name] = error
    for name in [name for name, upsertion in upsertions.items() if not upsertion.salted_password]:
        # Kafka fails on it, as Java makes no key of it.
        errors[name] = ApiError(Errors.UNACCEPTABLE_CREDENTIAL, "The salted password is empty")
        del upsertions[name]
    return _result(deletions, upsertions, errors)


def _result(
    deletions: dict[str, ScramCredentialDeletion],
    upsertions: dict[str, ScramCredentialUpsertion],
    errors: dict[str, ApiError],
) -> ControllerResult:
    """Returns the records and results in Kafka's order: what is deleted, what is altered, what is refused."""
    deleted, altered = in_hash_order(list(deletions)), in_hash_order(list(upsertions))
    records = [_deletion_record(deletions[name]) for name in deleted]
    records += [_upsertion_record(upsertions[name]) for name in altered]
    results = [AlterUserScramCredentialsResult(user=name, error_message=None) for name in deleted + altered]
    for name in in_hash_order(list(errors)):
        error = errors[name]
        results.append(
            AlterUserScramCredentialsResult(user=name, error_code=error.code, error_message=error.message)
        )
    return ControllerResult.atomic_of(records, AlterUserScramCredentialsResponse(results=results))


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
