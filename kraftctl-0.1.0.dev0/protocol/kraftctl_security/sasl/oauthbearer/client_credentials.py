"""The credentials that a client shows the token endpoint: a secret, or a signed assertion (KIP-1139,
KIP-1258).
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Final, TypeAlias
from urllib.parse import quote_plus

from kraftctl_security.sasl.oauthbearer.assertion_config import (
    CLAIM_ISS,
    FILE,
    AssertionFile,
    SignedAssertion,
    read_assertion,
)
from kraftctl_security.sasl.oauthbearer.oauthbearer_values import OAuthBearerValues

PREFIX: Final = "sasl.oauthbearer.client.credentials.client."

CLIENT_ASSERTION_TYPE: Final = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
JWT_BEARER: Final = "urn:ietf:params:oauth:grant-type:jwt-bearer"

HEADERS: Final = {
    "Accept": "application/json",
    "Cache-Control": "no-cache",
    "Content-Type": "application/x-www-form-urlencoded",
}


class ClientSecret:
    """RFC 6749 section 4.4: a name and a secret."""

    assertion: None = None

    def __init__(self, *, client_id: str, client_secret: str, scope: str | None, url_encoded: bool) -> None:
        self.client_id = client_id
        self.client_secret = client_secret
        self.scope = scope
        self.url_encoded = url_encoded


class ClientAssertion:
    """RFC 7523 section 2.2: an assertion instead of the secret."""

    def __init__(
        self, *, client_id: str | None, scope: str | None, assertion: SignedAssertion | AssertionFile
    ) -> None:
        self.client_id = client_id
        self.scope = scope
        self.assertion = assertion


class JwtBearer:
    """RFC 7523 section 2.1: an assertion is exchanged for a token."""

    def __init__(self, *, scope: str | None, assertion: SignedAssertion | AssertionFile) -> None:
        self.scope = scope
        self.assertion = assertion


Credentials: TypeAlias = ClientSecret | ClientAssertion | JwtBearer


def read_credentials(
    values: OAuthBearerValues, jaas_options: Mapping[str, str], *, jwt_bearer: bool
) -> Credentials | None:
    """Returns None if something is wrong, which is noted. A key precedes its JAAS option, now deprecated."""
    scope = _read(values, jaas_options, "sasl.oauthbearer.scope", "scope")
    if jwt_bearer:
        assertion = read_assertion(values)
        return None if assertion is None else JwtBearer(scope=scope, assertion=assertion)
    client_id = _read(values, jaas_options, f"{PREFIX}id", "clientId")
    if values.has(CLAIM_ISS) or values.has(FILE):
        assertion = read_assertion(values)
        return (
            None
            if assertion is None
            else ClientAssertion(client_id=client_id, scope=scope, assertion=assertion)
        )
    client_secret = _read(values, jaas_options, f"{PREFIX}secret", "clientSecret")
    url_encoded = values.boolean("sasl.oauthbearer.header.urlencode", False)
    for name, value in (("id", client_id), ("secret", client_secret)):
        if value is None:
            values.missing(f"{PREFIX}{name}", "it is what a client authenticates with at the token endpoint")
    if client_id is None or client_secret is None:
        return None
    return ClientSecret(
        client_id=client_id, client_secret=client_secret, scope=scope, url_encoded=url_encoded
    )


def token_request(credentials: Credentials, assertion: str | None) -> tuple[dict[str, str], bytes]:
    """Returns headers and body, as Kafka's formatters write them. `assertion` is that of the credentials, if
    any.
    """
    if isinstance(credentials, ClientSecret):
        return _secret_request(credentials)
    assert assertion is not None
    if isinstance(credentials, JwtBearer):
        pairs = {"grant_type": JWT_BEARER, "assertion": assertion, "scope": credentials.scope}
    else:
        pairs = {
            "client_assertion_type": CLIENT_ASSERTION_TYPE,
            "client_assertion": assertion,
            "grant_type": "client_credentials",
            "client_id": credentials.client_id,
            "scope": credentials.scope,
        }
    body = "&".join(f"{name}={_encoded(text)}" for name, text in pairs.items() if text is not None)
    return dict(HEADERS), body.encode()


def _secret_request(credentials: ClientSecret) -> tuple[dict[str, str], bytes]:
    name, secret, scope = credentials.client_id, credentials.client_secret, credentials.scope
    if credentials.url_encoded:
        name, secret = _encoded(name), _encoded(secret)
        scope = None if scope is None else _encoded(scope)
    basic = base64.b64encode(f"{name}:{secret}".encode()).decode()
    body = "grant_type=client_credentials" + ("" if scope is None else f"&scope={scope}")
    return {**HEADERS, "Authorization": f"Basic {basic}"}, body.encode()


def _read(values: OAuthBearerValues, jaas_options: Mapping[str, str], key: str, option: str) -> str | None:
    text = values.text(key, "") if values.has(key) else jaas_options.get(option, "")
    return text.strip() or None


def _encoded(text: str) -> str:
    """Encodes a text as Java's URLEncoder does."""
    return quote_plus(text, safe="*").replace("~", "%7E")
