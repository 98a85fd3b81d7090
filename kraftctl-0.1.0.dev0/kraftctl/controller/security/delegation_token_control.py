"""Creates, renews and expires delegation tokens (KIP-48, KIP-373, KIP-900).

The log has the data of a token; its secret is derived from the token id with delegation.token.secret.key,
which every node has. A client that authenticated with a token may not create tokens. The requests come from
brokers that forward them, or from clients that have authenticated, by a certificate or SASL.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.failures import shortened
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.noted_refusal import refused_token
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.security.token_limits import TokenCharge, why_too_much
from kraftctl.controller.state.authorization import ResourceType
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.delegation_tokens_image import DelegationToken
from kraftctl.image.token_secrets import TokenSecrets
from kraftctl.metadata import features
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.delegation_token_record import DelegationTokenRecord
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.expire_delegation_token_response import ExpireDelegationTokenResponse
from kraftctl_protocol.generated.remove_delegation_token_record import RemoveDelegationTokenRecord
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.generated.renew_delegation_token_response import RenewDelegationTokenResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.principal import ANONYMOUS, USER_TYPE, KafkaPrincipal
from kraftctl_protocol.uuids import random_uuid, uuid_to_string

OWNER_VERSION: Final = 3
"""From this request version on a token may have another owner than the requester (KIP-373)."""

NO_TIMESTAMP: Final = -1
"""The timestamp where the request itself is refused. Other refusals have zeros, as Kafka's."""

TIMESTAMP_MAX: Final = (1 << 63) - 1

TOKENS_PER_SWEEP_MAX: Final = 1_000
"""Kafka's DelegationTokenControlManager has the same limit: a sweep must not stall the log."""


def create_delegation_token(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Creates a token for the requester, or for an owner whose User resource allows CreateTokens."""
    assert isinstance(request, CreateDelegationTokenRequest)
    requester = context.principal
    owner = requester
    if request.owner_principal_name:
        owner = KafkaPrincipal(request.owner_principal_type or "", request.owner_principal_name)
    response = CreateDelegationTokenResponse(
        principal_type=owner.type,
        principal_name=owner.name,
    )
    if context.version >= OWNER_VERSION:
        response.token_requester_principal_type = requester.type
        response.token_requester_principal_name = requester.name
    error = _why_not_served(state, context)
    if error is None and request.owner_principal_name and request.owner_principal_type is None:
        error = ApiError(Errors.INVALID_PRINCIPAL_TYPE, "the owner has a name and no type")
    if error is None and owner != requester:
        error = _why_not_for_others(state, context, str(owner))
    if error is not None:
        response.issue_timestamp_ms = NO_TIMESTAMP
        response.expiry_timestamp_ms = NO_TIMESTAMP
        response.max_timestamp_ms = NO_TIMESTAMP
    error = error or _why_disabled(state)
    if error is None and any(renewer.principal_type != USER_TYPE for renewer in request.renewers):
        error = ApiError(Errors.INVALID_PRINCIPAL_TYPE, "the type of a renewer is not User")
    if error is not None:
        response.error_code = error.code
        return _refused(state, response, context, error, owner)
    lifetime_ms = state.config.delegation_token_max_lifetime_ms
    if request.max_lifetime_ms > 0:
        lifetime_ms = min(lifetime_ms, request.max_lifetime_ms)
    max_ms = min(moment.wall_ms + lifetime_ms, TIMESTAMP_MAX)
    token = DelegationToken(
        token_id=uuid_to_string(random_uuid(state.rng)),
        owner=str(owner),
        requester=str(requester),
        renewers=tuple(
            [f"{renewer.principal_type}:{renewer.principal_name}" for renewer in request.renewers]
        ),
        issue_timestamp_ms=moment.wall_ms,
        max_timestamp_ms=max_ms,
        expiration_timestamp_ms=min(max_ms, moment.wall_ms + state.config.delegation_token_expiry_time_ms),
    )
    error = why_too_much(state, token)
    if error is None:
        charge = TokenCharge(state, context, moment)
        error, response.throttle_time_ms = charge.error, charge.throttle_time_ms
    if error is not None:
        response.error_code = error.code
        return _refused(state, response, context, error, owner)
    response.issue_timestamp_ms = token.issue_timestamp_ms
    response.expiry_timestamp_ms = token.expiration_timestamp_ms
    response.max_timestamp_ms = token.max_timestamp_ms
    response.token_id = token.token_id
    response.hmac = token_hmac(state, token.token_id)
    return ControllerResult.atomic_of([_record(token, token.expiration_timestamp_ms)], response)


def renew_delegation_token(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Renews a token: its owner or a renewer may, up to the token's maximum timestamp."""
    assert isinstance(request, RenewDelegationTokenRequest)
    response = RenewDelegationTokenResponse()
    error = _why_not_served(state, context)
    if error is not None:
        response.error_code, response.expiry_timestamp_ms = error.code, NO_TIMESTAMP
        return _refused(state, response, context, error)
    token = _find(state, request.hmac)
    if not isinstance(token, ApiError):
        token = _why_expired(token, moment) or _why_not_renewer(token, context) or token
    if not isinstance(token, ApiError):
        charge = TokenCharge(state, context, moment)
        token, response.throttle_time_ms = charge.error or token, charge.throttle_time_ms
    if isinstance(token, ApiError):
        response.error_code = token.code
        return _refused(state, response, context, token)
    period_ms = state.config.delegation_token_expiry_time_ms
    if request.renew_period_ms > 0:
        period_ms = min(period_ms, request.renew_period_ms)
    response.expiry_timestamp_ms = min(token.max_timestamp_ms, moment.wall_ms + period_ms)
    return ControllerResult.atomic_of([_record(token, response.expiry_timestamp_ms)], response)


def expire_delegation_token(
    state: ControllerState, context: RequestContext, request: Message, moment: Moment
) -> ControllerResult:
    """Ends the token now for a negative period; another one sets when it ends."""
    assert isinstance(request, ExpireDelegationTokenRequest)
    response = ExpireDelegationTokenResponse()
    error = _why_not_served(state, context)
    if error is not None:
        response.error_code, response.expiry_timestamp_ms = error.code, NO_TIMESTAMP
        return _refused(state, response, context, error)
    token = _find(state, request.hmac)
    ends_now = request.expiry_time_period_ms < 0
    if not isinstance(token, ApiError):
        expired = None if ends_now else _why_expired(token, moment)
        token = _why_not_renewer(token, context) or expired or token
    if not isinstance(token, ApiError):
        charge = TokenCharge(state, context, moment)
        token, response.throttle_time_ms = charge.error or token, charge.throttle_time_ms
    if isinstance(token, ApiError):
        response.error_code = token.code
        return _refused(state, response, context, token)
    if ends_now:
        response.expiry_timestamp_ms = moment.wall_ms
        removal = RemoveDelegationTokenRecord(token_id=token.token_id)
        return ControllerResult.atomic_of([RecordAndVersion(removal, 0)], response)
    wanted_ms = moment.wall_ms + request.expiry_time_period_ms
    response.expiry_timestamp_ms = min(token.max_timestamp_ms, wanted_ms)
    return ControllerResult.atomic_of([_record(token, response.expiry_timestamp_ms)], response)


def _refused(
    state: ControllerState,
    response: Message,
    context: RequestContext,
    error: ApiError,
    owner: KafkaPrincipal | None = None,
) -> ControllerResult:
    what = f"{response.NAME.removesuffix('Response')} of {shortened(str(context.principal))}"
    if owner is not None and owner != context.principal:
        what += f" for {shortened(str(owner))}"
    state.noted_refusals.append(refused_token(context, what, error))
    return ControllerResult.refused(response, what, error)


def sweep_expired_tokens(state: ControllerState, moment: Moment) -> tuple[ControllerResult, bool]:
    """Removes expired tokens; True when there are more than one sweep removes."""
    expired = [
        token for token in state.image.delegation_tokens.tokens.values() if _expired(token, moment.wall_ms)
    ]
    records = [
        RecordAndVersion(RemoveDelegationTokenRecord(token_id=token.token_id), 0)
        for token in expired[:TOKENS_PER_SWEEP_MAX]
    ]
    return ControllerResult.of(records), len(expired) > TOKENS_PER_SWEEP_MAX


def token_hmac(state: ControllerState, token_id: str) -> bytes:
    """Returns the secret of a token, the same on every node of the cluster."""
    key = state.config.delegation_token_secret_key
    assert key is not None, "tokens are switched off"
    return TokenSecrets(key).secret_of(token_id)


def _why_not_served(state: ControllerState, context: RequestContext) -> ApiError | None:
    if context.principal.token_authenticated:
        reason = "it has authenticated by a token. Next step: let it authenticate as its user"
    elif not _is_authenticated(state, context):
        reason = "it is not authenticated. Next step: let it use a listener with SASL or client certificates"
    else:
        return None
    return ApiError(Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED, reason)


def _is_authenticated(state: ControllerState, context: RequestContext) -> bool:
    """Returns whether the client is authenticated, as in Kafka: over SSL by a certificate, or by SASL."""
    if context.envelope or context.listener in state.config.sasl:
        return True  # the broker has seen to it, or SASL
    return context.listener in state.config.ssl and context.principal != ANONYMOUS


def _why_not_for_others(state: ControllerState, context: RequestContext, owner: str) -> ApiError | None:
    if state.authorizer.allows(context, AclOperation.CREATE_TOKENS, ResourceType.USER, owner):
        return None
    reason = "it has no right to that. Next step: allow it CreateTokens on the owner (kafka-acls.sh"
    reason += " --operation CreateTokens --user-principal)"
    return ApiError(Errors.DELEGATION_TOKEN_AUTHORIZATION_FAILED, reason)


def _why_disabled(state: ControllerState) -> ApiError | None:
    if state.config.delegation_token_secret_key is None:
        reason = "delegation.token.secret.key is not set. Next step: set it, the same on all nodes"
        return ApiError(Errors.DELEGATION_TOKEN_AUTH_DISABLED, reason)
    level = state.image.features.metadata_version
    if not features.is_delegation_token_supported(level):
        reason = f"metadata.version {level} has no tokens. Next step: raise it; there is no way back"
        return ApiError(Errors.UNSUPPORTED_VERSION, reason)
    return None


def _find(state: ControllerState, secret: bytes) -> DelegationToken | ApiError:
    error = _why_disabled(state)
    if error is not None:
        return error
    reason = "no token has this secret: it was ended, has expired, or is another cluster's"
    found = state.image.delegation_tokens.token_of(secret)
    return found or ApiError(Errors.DELEGATION_TOKEN_NOT_FOUND, reason)


def _expired(token: DelegationToken, wall_ms: int) -> bool:
    return token.expires_at_ms < wall_ms


def _why_expired(token: DelegationToken, moment: Moment) -> ApiError | None:
    if not _expired(token, moment.wall_ms):
        return None
    reason = f"token {token.token_id} of {shortened(token.owner)} has expired"
    return ApiError(Errors.DELEGATION_TOKEN_EXPIRED, reason)


def _why_not_renewer(token: DelegationToken, context: RequestContext) -> ApiError | None:
    principal = context.principal
    # Stored names are of types without a colon: `A:b` called `c` is not `A` called `b:c`.
    name = str(principal)
    if ":" not in principal.type and (name == token.owner or name in token.renewers):
        return None
    reason = f"it is neither owner nor renewer of token {token.token_id} of {shortened(token.owner)}"
    return ApiError(Errors.DELEGATION_TOKEN_OWNER_MISMATCH, reason)


def _record(token: DelegationToken, expiration_timestamp_ms: int) -> RecordAndVersion:
    record = DelegationTokenRecord(
        owner=token.owner,
        requester=token.requester,
        renewers=list(token.renewers),
        issue_timestamp=token.issue_timestamp_ms,
        max_timestamp=token.max_timestamp_ms,
        expiration_timestamp=expiration_timestamp_ms,
        token_id=token.token_id,
    )
    return RecordAndVersion(record, 0)
