"""What bounds delegation tokens: every authenticated client may create them, and renew its own.

Each is in the memory of all nodes and in each snapshot, and each renewal is a record in the log. Kafka has no
such limits.
"""

from __future__ import annotations

from typing import Final

from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.controller.state.controller_state import ControllerState
from kraftctl.image.delegation_tokens_image import DelegationToken
from kraftctl_protocol.api_error import ApiError
from kraftctl_protocol.errors import Errors

RENEWERS_MAX: Final = 100

NAMES_BYTES_MAX: Final = 4 * 1024
"""The limit of owner, requester and renewers of one token together."""


STEP: Final = "let clients renew tokens, and expire those that they do not use; or raise the key"


def why_too_much(state: ControllerState, token: DelegationToken) -> ApiError | None:
    """Checks a new token. Those that have expired count until the next check of
    `delegation.token.expiry.check.interval.ms` removes them.
    """
    limits, tokens = state.config.token_limits, state.image.delegation_tokens
    if len(token.renewers) > RENEWERS_MAX:
        return _excess(f"{len(token.renewers)} renewers are more than {RENEWERS_MAX}, which no key changes")
    names_bytes = sum([len(name.encode()) for name in (token.owner, token.requester, *token.renewers)])
    if names_bytes > NAMES_BYTES_MAX:
        return _excess(f"names of {names_bytes} bytes are more than {NAMES_BYTES_MAX}, which no key changes")
    if tokens.count_of(token.owner) >= limits.per_owner_max:
        reason = f"the owner has {limits.per_owner_max} tokens already ({limits.per_owner_key})"
        return _excess(f"{reason}. Next step: {STEP}")
    if len(tokens.tokens) >= limits.all_max:
        return _excess(f"there are {limits.all_max} tokens already ({limits.all_key}). Next step: {STEP}")
    return None


def _excess(reason: str) -> ApiError:
    return ApiError(Errors.POLICY_VIOLATION, reason)


QUOTA_REASON: Final = "its quota controller_mutation_rate is used up, and has room again"

QUOTA_STEP: Final = "let it ask less often, or raise the quota (kafka-configs.sh --entity-type users)"


class TokenCharge:
    """What `controller_mutation_rate` says about a request that writes one record (KIP-599)."""

    def __init__(self, state: ControllerState, context: RequestContext, moment: Moment) -> None:
        quota = state.mutation_quotas.quota_for(
            state.image.client_quotas, context, strict=True, now_ms=moment.now_ms
        )
        error = quota.admit(1)
        if error is not None:
            reason = f"{QUOTA_REASON} in {quota.throttle_time_ms} ms. Next step: {QUOTA_STEP}"
            error = ApiError(error.error, reason)
        self.error = error
        self.throttle_time_ms = quota.throttle_time_ms
