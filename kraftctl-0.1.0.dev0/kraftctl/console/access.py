"""Guards the pages: who may read them, under which name of this host, and what a browser may do with them."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, Final
from urllib.parse import parse_qsl, quote, urlencode

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

POLICY: Final = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:;"
    " form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS: Final = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)

LOOPBACK_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")

COOKIE: Final = "kraftctl-console"
TOKEN_PARAMETER: Final = "token"
QUERY_BYTES_MAX: Final = 4_096
FORM: Final = b"application/x-www-form-urlencoded"
FORM_BYTES_MAX: Final = 16_384
"""A token has 4,096 bytes at most, and each may be escaped as three."""
FORM_SECONDS_MAX: Final = 10.0

ASSETS: Final = ("/console.css", "/console.js")
"""What the page that asks for the token needs."""


class Guard:
    """Lets requests pass to the pages that may."""

    def __init__(
        self,
        application: Application,
        *,
        token: bytes,
        is_loopback: bool,
        is_https: bool,
        login: bytes,
        wrong: bytes = b"",
        host: str = "localhost",
    ) -> None:
        """Takes `login`, the page for a browser without a token, and `wrong`, the one for a wrong token.

        Without a `token` everyone on loopback may read, but only under names of this host, and under `host`:
        so no page of others can read these under a name of its own (DNS rebinding). Such a page has no token
        and no cookie, so that with a token any name is served: a proxy may keep its own.
        """
        assert token or is_loopback, "a page that others reach needs a token"
        self._application = application
        self._token = token
        self._checks_host = is_loopback and not token
        self._names = (*LOOPBACK_NAMES, f"[{host}]" if ":" in host else host)
        self._login = login
        self._wrong = wrong
        self.port = 0
        """The port is a part of the name of the cookie: browsers share cookies between ports of a host."""
        self._is_https = is_https
        key = secrets.token_bytes(32)
        self._cookie = hmac.new(key, token, hashlib.sha256).hexdigest().encode()
        """What a browser keeps instead of the token: it is worth nothing after the end of this process."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        sender = _with_headers(send)
        headers = dict(scope["headers"])
        if scope["method"] == "POST" and self._token and scope["path"] == "/":
            await self._log_in(scope, headers, receive, sender)
        elif scope["method"] not in ("GET", "HEAD"):
            await _respond(sender, 405, b"GET and HEAD only\n", [(b"allow", b"GET, HEAD")])
        elif self._checks_host and not self._is_of_this_host(headers.get(b"host", b"")):
            await _respond(sender, 421, b"this host is not served under that name: use localhost\n")
        elif len(scope["query_string"]) > QUERY_BYTES_MAX:
            await _respond(sender, 414, b"the query is too long\n")
        elif self._token and scope["path"] not in ASSETS:
            await self._with_token(scope, headers, receive, sender)
        else:
            await self._application(scope, receive, sender)

    async def _with_token(
        self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send
    ) -> None:
        parameters = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        given = [value for name, value in parameters if name == TOKEN_PARAMETER]
        if given:
            await self._exchange(scope, given[0].strip(), parameters, send)
        elif self._is_bearer(headers) or self._has_cookie(headers):
            await self._application(scope, receive, send)
        else:
            await self._ask_for_token(send)

    async def _log_in(self, scope: Scope, headers: dict[bytes, bytes], receive: Receive, send: Send) -> None:
        """Takes the token of the form, which no address and no log of a proxy has then."""
        if headers.get(b"content-type", b"").partition(b";")[0].strip().lower() != FORM:
            await _respond(send, 415, b"only the form of the token is taken\n")
            return
        try:
            async with asyncio.timeout(FORM_SECONDS_MAX):
                body = await _body(receive)
        except TimeoutError:
            await _respond(send, 408, b"the form has not arrived in time\n", [(b"connection", b"close")])
            return
        if body is None:
            await _respond(send, 413, b"the form is too long\n", [(b"connection", b"close")])
            return
        given = dict(parse_qsl(body.decode("latin-1"), keep_blank_values=True)).get(TOKEN_PARAMETER, "")
        await self._exchange(scope, given.strip(), [], send)

    async def _exchange(
        self, scope: Scope, given: str, parameters: list[tuple[str, str]], send: Send
    ) -> None:
        """Gives a cookie for the token, and the address without it."""
        if not hmac.compare_digest(given.encode(), self._token):
            await self._ask_for_token(send, self._wrong)
            return
        left = urlencode([each for each in parameters if each[0] != TOKEN_PARAMETER])
        # A path that begins with two slashes would be another host.
        path = "/" + quote(scope["path"].lstrip("/"), safe="/") + (f"?{left}" if left else "")
        secure = "; Secure" if self._is_https else ""
        cookie = f"{self._cookie_name}={self._cookie.decode()}; Path=/; HttpOnly; SameSite=Strict{secure}"
        found = [(b"location", path.encode()), (b"set-cookie", cookie.encode())]
        await _respond(send, 303, b"", found)

    async def _ask_for_token(self, send: Send, page: bytes = b"") -> None:
        found = [(b"www-authenticate", b"Bearer")]
        await _respond(send, 401, page or self._login, found, b"text/html; charset=utf-8")

    @property
    def _cookie_name(self) -> str:
        return f"{COOKIE}-{self.port}"

    def _is_bearer(self, headers: dict[bytes, bytes]) -> bool:
        scheme, _, given = headers.get(b"authorization", b"").partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(given.strip(), self._token)

    def _has_cookie(self, headers: dict[bytes, bytes]) -> bool:
        """Returns whether the cookie is there; others of this host may be of any form."""
        for part in headers.get(b"cookie", b"").split(b";"):
            name, _, value = part.strip().partition(b"=")
            if name == self._cookie_name.encode() and hmac.compare_digest(value, self._cookie):
                return True
        return False

    def _is_of_this_host(self, host: bytes) -> bool:
        name = host.decode("latin-1").lower()
        if not name.endswith("]"):
            name = name.rpartition(":")[0] or name
        return name in self._names


async def _body(receive: Receive) -> bytes | None:
    """Returns the body of a request; None if it is too long, or its client has left."""
    body = b""
    while len(body) <= FORM_BYTES_MAX:
        message = await receive()
        if message["type"] != "http.request":
            return None
        body += message.get("body", b"")
        if not message.get("more_body", False):
            return body if len(body) <= FORM_BYTES_MAX else None
    return None


def _with_headers(send: Send) -> Send:
    async def sender(message: Message) -> None:
        if message["type"] == "http.response.start":
            given = [each for each in message.get("headers", []) if each[0].lower() != b"cache-control"]
            message["headers"] = [*given, *HEADERS]
        await send(message)

    return sender


async def _respond(
    send: Send,
    status: int,
    body: bytes,
    headers: list[tuple[bytes, bytes]] | None = None,
    content_type: bytes = b"text/plain; charset=utf-8",
) -> None:
    found = [(b"content-type", content_type), (b"content-length", str(len(body)).encode()), *(headers or [])]
    await send({"type": "http.response.start", "status": status, "headers": found})
    await send({"type": "http.response.body", "body": body})
