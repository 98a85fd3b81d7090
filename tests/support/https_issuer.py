"""A small issuer over https: a JWKS, and a token endpoint for client credentials."""

from __future__ import annotations

import base64
import json
import ssl
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Final
from urllib.parse import parse_qs, unquote_plus

import jwt

from tests.support.certificates import Authority
from tests.support.token_issuer import SigningKey, claims_of, jwks

ISSUER: Final = "https://issuer.example"
AUDIENCE: Final = "kafka"

Answer = tuple[int, bytes]


class HttpsIssuer:
    """Serves until it is closed. `clients` is name -> secret; a token has the name of its client.

    Other clients sign assertions with `client_key`; `assertions` has the header and the claims of each.
    `override` may answer a path instead: with status and body, or by doing something to the connection and
    returning None. `requests` has the path of each request.
    """

    def __init__(self, directory: Path, clients: dict[str, str]) -> None:
        self.authority = Authority("CN=Authority of the issuer")
        self.truststore = directory / "issuer-ca.pem"
        self.truststore.write_text(self.authority.pem)
        self.clients = clients
        self.keys = [SigningKey("first")]
        self.client_key = SigningKey("client")
        self.assertions: list[dict[str, Any]] = []
        self.lifetime_s = 3_600
        self.override: dict[str, Callable[[BaseHTTPRequestHandler], Answer | None]] = {}
        self.requests: list[str] = []
        self.requested = threading.Condition()
        keystore = directory / "issuer.pem"
        keystore.write_text(self.authority.issue("CN=issuer", ("localhost",)).pem())
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(keystore)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler_of(self))
        self._server.daemon_threads = True
        # The handshake is on the thread of the request.
        self._server.socket = context.wrap_socket(
            self._server.socket, server_side=True, do_handshake_on_connect=False
        )
        self.port = self._server.server_port
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    def __enter__(self) -> HttpsIssuer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def url(self) -> str:
        return f"https://localhost:{self.port}"

    @property
    def jwks_url(self) -> str:
        return f"{self.url}/jwks"

    @property
    def token_url(self) -> str:
        return f"{self.url}/token"

    def jaas_options(self) -> str:
        """What trusts the certificate of this issuer, in an entry of OAuthBearerLoginModule."""
        return f'ssl.truststore.type="PEM" ssl.truststore.location="{self.truststore}"'

    def rotate(self, key_id: str) -> None:
        """A new key signs; the one before is still published, and no other."""
        self.keys = [SigningKey(key_id), self.keys[0]]

    def token(self, name: str, **claims: Any) -> str:
        now = int(time.time())
        good = {"iss": ISSUER, "aud": AUDIENCE, "exp": now + self.lifetime_s}
        return self.keys[0].sign(claims_of(name, now, **(good | claims)))

    def await_requests(self, path: str, count: int, timeout_s: float = 20.0) -> None:
        """Until a path was asked for that often."""
        with self.requested:
            assert self.requested.wait_for(lambda: self.requests.count(path) >= count, timeout_s), (
                self.requests
            )

    def hold(self, path: str) -> threading.Event:
        """Answers a path with 503, and not before the event is set."""
        held = threading.Event()

        def wait(handler: BaseHTTPRequestHandler) -> Answer:
            held.wait(60.0)
            return 503, b""

        self.override[path] = wait
        return held

    def answer(self, handler: BaseHTTPRequestHandler, body: bytes) -> Answer | None:
        path = handler.path.partition("?")[0]
        with self.requested:
            self.requests.append(path)
            self.requested.notify_all()
        if path in self.override:
            return self.override[path](handler)
        if path == "/jwks":
            return 200, jwks(*self.keys)
        if path == "/token":
            return self._token(handler.headers.get("Authorization", ""), body)
        return 404, b"{}"

    def _token(self, authorization: str, body: bytes) -> Answer:
        name, _, secret = base64.b64decode(authorization.removeprefix("Basic ")).decode().partition(":")
        parameters = parse_qs(body.decode())
        if assertion := parameters.get("assertion") or parameters.get("client_assertion"):
            return self._exchanged(assertion[0], parameters)
        if self.clients.get(unquote_plus(name)) != unquote_plus(secret):
            return 401, b'{"error": "invalid_client", "error_description": "unknown"}'
        if parameters["grant_type"] != ["client_credentials"]:
            return 400, b'{"error": "unsupported_grant_type"}'
        token = self.token(unquote_plus(name), scope=parameters.get("scope"))
        return 200, json.dumps({"access_token": token, "token_type": "Bearer"}).encode()

    def _exchanged(self, assertion: str, parameters: dict[str, list[str]]) -> Answer:
        """A token of the name in an assertion that the key of the client has signed."""
        try:
            key = self.client_key.key.public_key()
            claims = jwt.decode(assertion, key, ["RS256", "ES256"], audience=self.token_url)
        except jwt.PyJWTError as error:
            return 401, json.dumps({"error": "invalid_client", "error_description": str(error)}).encode()
        self.assertions.append(jwt.get_unverified_header(assertion) | {"claims": claims})
        token = self.token(claims["sub"], scope=parameters.get("scope"))
        return 200, json.dumps({"access_token": token}).encode()


def handler_of(issuer: HttpsIssuer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self._answer(b"")

        def do_POST(self) -> None:
            self._answer(self.rfile.read(int(self.headers["Content-Length"])))

        def log_message(self, *arguments: object) -> None:
            """Nothing on stderr."""

        def _answer(self, body: bytes) -> None:
            found = issuer.answer(self, body)
            if found is None:
                return
            status, content = found
            self.send_response(status)
            if 300 <= status < 400:
                self.send_header("Location", content.decode())
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def handle(self) -> None:
            try:
                super().handle()
            except (OSError, ValueError):
                self.close_connection = True

    return Handler
