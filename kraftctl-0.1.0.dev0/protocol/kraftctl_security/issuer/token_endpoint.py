"""A token for a client: from the issuer's token endpoint (RFC 6749 section 4.4), or from a file."""

from __future__ import annotations

from typing import Final

from kraftctl_protocol.file_errors import file_error
from kraftctl_security.issuer.assertions import UnusableAssertionError, make_assertion
from kraftctl_security.issuer.https_exchange import BODY_BYTES_MAX, ExchangeError, https_exchange
from kraftctl_security.sasl.oauthbearer.access_token import AccessToken, JwtValidatorError
from kraftctl_security.sasl.oauthbearer.client_credentials import Credentials, token_request
from kraftctl_security.sasl.oauthbearer.client_token import read_client_token
from kraftctl_security.sasl.oauthbearer.json_object import JsonObject, JsonObjectError, parse_json_object
from kraftctl_security.sasl.oauthbearer.oauthbearer_config import OAuthBearerClientConfig
from kraftctl_security.small_files import read_small_file

TOKEN_NAMES: Final = ("access_token", "id_token")
"""The response may use either name, as in Kafka's JwtResponseParser: the first that is there counts."""

ERROR_NAMES: Final = (("error", "error_description"), ("errorCode", "errorSummary"))
"""The names of errors in RFC 6749 section 5.2, and deviations of issuers. Nothing else of a response is
shown."""

REFUSALS: Final = frozenset(
    (400, 401, 402, 403, 404, 405, 406, 407, 409, 410, 411, 412, 413, 414, 415, 501, 505)
)
"""Kafka's HttpJwtRetriever does not retry these: the same request would fail again."""

ERROR_CHARACTERS_MAX: Final = 300


class TokenEndpointError(Exception):
    """No new token; the text has no secret. `retriable` says whether the same request may succeed soon."""

    def __init__(self, reason: str, *, retriable: bool) -> None:
        super().__init__(reason)
        self.retriable = retriable


class ClientToken:
    """A token as it is sent, and its claims."""

    def __init__(self, text: str, token: AccessToken) -> None:
        self.text = text
        self.token = token


def fetch_token(config: OAuthBearerClientConfig) -> ClientToken:
    """Asks once and blocks: not for the loop. Raises TokenEndpointError."""
    text = _from_file(config) if config.credentials is None else _from_endpoint(config, config.credentials)
    try:
        token = read_client_token(
            text, scope_claim_name=config.scope_claim_name, sub_claim_name=config.sub_claim_name
        )
    except JwtValidatorError as error:
        raise TokenEndpointError(
            f"{config.url.text} has a token that is not valid: {error}", retriable=True
        ) from error
    return ClientToken(text, token)


def _from_endpoint(config: OAuthBearerClientConfig, credentials: Credentials) -> str:
    try:
        assertion = None if credentials.assertion is None else make_assertion(credentials.assertion)
        headers, body = token_request(credentials, assertion)
        answer = https_exchange(
            config.url,
            config.ssl,
            method="POST",
            headers=headers,
            body=body,
            connect_timeout_ms=config.connect_timeout_ms,
            read_timeout_ms=config.read_timeout_ms,
        )
    except UnusableAssertionError as error:
        raise TokenEndpointError(f"no assertion: {error}", retriable=True) from error
    except ExchangeError as error:
        raise TokenEndpointError(f"{config.url.text}: {error}", retriable=True) from error
    try:
        content = parse_json_object(answer.body)
    except JsonObjectError:
        content = {}
    if answer.status not in (200, 201):
        raise TokenEndpointError(
            f"{config.url.text} answers {answer.status}{_error(content)}",
            retriable=answer.status not in REFUSALS,
        )
    for name in TOKEN_NAMES:
        text = content.get(name)
        if isinstance(text, str) and text.strip():
            return text.strip()
    raise TokenEndpointError(f"the response of {config.url.text} has no {TOKEN_NAMES[0]}", retriable=True)


def _error(content: JsonObject) -> str:
    for name, description in ERROR_NAMES:
        if name in content:
            return f": {content[name]} - {content.get(description)}"[:ERROR_CHARACTERS_MAX]
    return ""


def _from_file(config: OAuthBearerClientConfig) -> str:
    try:
        content = read_small_file(config.url.path or "", BODY_BYTES_MAX)
    except OSError as error:
        text = file_error("read", config.url.text, error, named_by="sasl.oauthbearer.token.endpoint.url")
        raise TokenEndpointError(text, retriable=True) from error
    return content.decode(errors="replace").strip()
