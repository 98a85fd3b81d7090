"""Kafka's controller and kraftctl side by side: they answer clients alike before these are authenticated.

A conversation runs over one connection to each; what is compared is whether it is closed, and the errors,
texts, mechanisms and lifetimes of its responses.
"""

from __future__ import annotations

import secrets
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kraftctl.dev.nodes import Controller, JavaController, KraftctlController
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections
from kraftctl.dev.settings import CONTROLLER_LISTENER, random_id
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import ApiVersionsResponse
from kraftctl_protocol.generated.describe_quorum_request import DescribeQuorumRequest
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_authenticate_response import SaslAuthenticateResponse
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response
from kraftctl_security.sasl.scram_client import ScramClient
from tests.interop.test_sasl import plain_jaas, scram_jaas
from tests.server.serving import request_bytes
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.interop

LISTENER = f"listener.name.{CONTROLLER_LISTENER.lower()}."
USERS = {"controller": "c-secret", "ada": "ada-secret", "bob": "bob-secret"}
KEYS = {
    "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SASL_PLAINTEXT",
    f"{LISTENER}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
    f"{LISTENER}plain.sasl.jaas.config": plain_jaas("controller", USERS),
    f"{LISTENER}scram-sha-512.sasl.jaas.config": scram_jaas("unused", "unused"),
    "sasl.mechanism.controller.protocol": "PLAIN",
    "connections.max.reauth.ms": "60000",
    "connection.failed.authentication.delay.ms": "50",
    "sasl.server.max.receive.size": "4096",
}
ADA = b"\0ada\0ada-secret"
CLOSED = "closed"
TIMEOUT_SECONDS = 10.0


class Talk:
    """One connection. Each method returns what is compared."""

    def __init__(self, controller: Controller) -> None:
        self._socket = socket.create_connection(("localhost", controller.port), TIMEOUT_SECONDS)

    def close(self) -> None:
        self._socket.close()

    def raw(self, payload: bytes) -> bytes | str:
        """The response to a frame with this content."""
        return self.send(encode_frame(payload))

    def send(self, data: bytes) -> bytes | str:
        try:
            self._socket.sendall(data)
            size = self._exactly(4)
            return CLOSED if size is None else self._exactly(struct.unpack(">i", size)[0]) or b""
        except (ConnectionError, BrokenPipeError):
            return CLOSED

    def ask(self, body: Message, version: int) -> Message | str:
        answer = self.raw(request_bytes(body, version))
        return answer if isinstance(answer, str) else decode_response(answer, body.API_KEY, version)[1]

    def versions(self, version: int = 4, name: str = "client") -> int | str:
        body = ApiVersionsRequest(client_software_name=name, client_software_version="1")
        answer = self.ask(body, version)
        return answer.error_code if isinstance(answer, ApiVersionsResponse) else CLOSED

    def handshake(self, mechanism: str = "PLAIN", version: int = 1) -> object:
        answer = self.ask(SaslHandshakeRequest(mechanism), version)
        if not isinstance(answer, SaslHandshakeResponse):
            return answer
        return answer.error_code, sorted(answer.mechanisms)

    def token(self, token: bytes, version: int = 2) -> object:
        answer = self.ask(SaslAuthenticateRequest(token), version)
        if not isinstance(answer, SaslAuthenticateResponse):
            return answer
        has_text = bool(answer.error_message)
        return answer.error_code, has_text, answer.auth_bytes, answer.session_lifetime_ms

    def served(self) -> object:
        """Whether a request of a client that has authenticated is answered."""
        answer = self.ask(DescribeQuorumRequest(), 0)
        return answer if isinstance(answer, str) else "answered"

    def vote(self) -> object:
        answer = self.ask(VoteRequest(), 0)
        return answer.error_code if isinstance(answer, VoteResponse) else answer

    def scram(self, name: str, password: str) -> object:
        client = ScramClient(2, name, password, nonce=secrets.token_urlsafe(12), token_auth=False)
        challenge = b""
        while (token := client.evaluate(challenge)) is not None:
            answer = self.ask(SaslAuthenticateRequest(token), 2)
            if not isinstance(answer, SaslAuthenticateResponse) or answer.error_code:
                # The words are our own.
                return answer if isinstance(answer, str) else (answer.error_code, bool(answer.error_message))  # type: ignore[attr-defined]
            challenge = answer.auth_bytes
        return "authenticated", answer.session_lifetime_ms

    def end(self) -> str:
        """Whether the other side closes without sending more."""
        try:
            return CLOSED if self._socket.recv(1) == b"" else "more"
        except ConnectionError:
            return CLOSED
        except TimeoutError:
            return "open"

    def _exactly(self, size: int) -> bytes | None:
        data = b""
        while len(data) < size:
            chunk = self._socket.recv(size - len(data))
            if not chunk:
                return None
            data += chunk
        return data


def renewed_twice(talk: Talk) -> list[object]:
    """The second time within a second it is a request as others."""
    done = [talk.handshake(), talk.token(ADA)]
    done += [talk.handshake(), talk.token(ADA), talk.served()]
    return [*done, talk.handshake(), talk.served()]


def renewed_after_a_second(talk: Talk) -> list[object]:
    done = [talk.handshake(), talk.token(ADA), talk.handshake(), talk.token(ADA)]
    threading.Event().wait(1.1)  # a session is renewed no more often
    return [*done, talk.handshake(), talk.token(ADA), talk.served()]


CONVERSATIONS: dict[str, Callable[[Talk], list[object]]] = {
    "plain": lambda t: [t.versions(), t.handshake(), t.token(ADA), t.served()],
    "no-versions": lambda t: [t.handshake(), t.token(ADA), t.served()],
    "versions-before-and-after": lambda t: [
        t.versions(0), t.handshake(), t.token(ADA), t.versions(3), t.served()
    ],
    "versions-twice": lambda t: [t.versions(), t.versions()],
    "versions-of-the-future": lambda t: [
        t.raw(struct.pack(">hhih", 18, 99, 1, -1) + b"\0")[:6],
        t.versions(),
        t.handshake(),
        t.token(ADA),
    ],
    "versions-without-software": lambda t: [t.versions(name="-"), t.versions(name=""), t.versions()],
    "versions-after-the-handshake": lambda t: [t.handshake(), t.versions(), t.end()],
    "authenticate-0": lambda t: [t.handshake(), t.token(ADA, 0), t.served()],
    "authenticate-1": lambda t: [t.handshake(), t.token(ADA, 1), t.served()],
    "authenticate-3": lambda t: [t.handshake(), t.raw(struct.pack(">hhih", 36, 3, 1, -1) + b"\0\1\0")],
    "handshake-2": lambda t: [t.raw(struct.pack(">hhih", 17, 2, 1, -1) + b"\0\5PLAIN")],
    "raw-tokens": lambda t: [t.handshake("PLAIN", 0), t.raw(ADA), t.served()],
    "raw-tokens-wrong": lambda t: [t.handshake("PLAIN", 0), t.raw(b"\0ada\0wrong")],
    "wrong-password": lambda t: [t.handshake(), t.token(b"\0ada\0wrong"), t.end()],
    "unknown-user": lambda t: [t.handshake(), t.token(b"\0eve\0ada-secret"), t.end()],
    "another-authorization-id": lambda t: [t.handshake(), t.token(b"bob\0ada\0ada-secret"), t.end()],
    "own-authorization-id": lambda t: [t.handshake(), t.token(b"ada\0ada\0ada-secret"), t.served()],
    "no-name": lambda t: [t.handshake(), t.token(b"\0\0ada-secret"), t.end()],
    "no-password": lambda t: [t.handshake(), t.token(b"\0ada\0"), t.end()],
    "one-part": lambda t: [t.handshake(), t.token(b"ada"), t.end()],
    "four-parts": lambda t: [t.handshake(), t.token(b"\0ada\0ada-secret\0"), t.end()],
    "no-token": lambda t: [t.handshake(), t.token(b""), t.end()],
    "unknown-mechanism": lambda t: [t.handshake("GSSAPI"), t.end()],
    "unknown-mechanism-0": lambda t: [t.versions(), t.handshake("plain", 0), t.end()],
    "metadata": lambda t: [t.ask(MetadataRequest(), 9)],
    "vote": lambda t: [t.versions(), t.vote()],
    "token-without-handshake": lambda t: [t.versions(), t.token(ADA)],
    "vote-among-tokens": lambda t: [t.handshake(), t.vote(), t.end()],
    "handshake-among-tokens": lambda t: [t.handshake(), t.handshake(), t.end()],
    "token-after-authentication": lambda t: [t.handshake(), t.token(ADA), t.token(ADA)[:1], t.served()],  # type: ignore[index]
    "http": lambda t: [t.send(b"GET / HTTP/1.1\r\n\r\n")],
    "gssapi": lambda t: [t.raw(b"\x60" + bytes(30))],
    "empty-frame": lambda t: [t.raw(b"")],
    "long-frame": lambda t: [t.send(struct.pack(">i", 4097) + bytes(10))],
    "longest-frame": lambda t: [t.handshake(), t.token(b"\0ada\0" + b"x" * 3000)],
    "negative-frame": lambda t: [t.send(struct.pack(">i", -1))],
    "scram": lambda t: [t.versions(), t.handshake("SCRAM-SHA-512"), t.scram("ada", "ada-secret"), t.served()],
    "scram-wrong": lambda t: [t.handshake("SCRAM-SHA-512"), t.scram("ada", "wrong"), t.end()],
    "scram-unknown": lambda t: [t.handshake("SCRAM-SHA-512"), t.scram("eve", "ada-secret"), t.end()],
    "scram-without-sense": lambda t: [t.handshake("SCRAM-SHA-512"), t.token(b"?"), t.end()],
    "scram-other-name": lambda t: [t.handshake("SCRAM-SHA-512"), t.token(b"n,a=bob,n=ada,r=x"), t.end()],
    "renewed": lambda t: [t.handshake(), t.token(ADA), t.served(), t.handshake(), t.token(ADA), t.served()],
    "renewed-twice": renewed_twice,
    "renewed-after-a-second": renewed_after_a_second,
    "renewed-as-another": lambda t: [
        t.handshake(), t.token(ADA), t.handshake(), t.token(b"\0bob\0bob-secret"), t.end()
    ],
    "renewed-wrongly": lambda t: [t.handshake(), t.token(ADA), t.handshake(), t.token(b"\0ada\0x"), t.end()],
    "renewed-by-scram-wrongly": lambda t: [
        t.handshake("SCRAM-SHA-512"),
        t.scram("ada", "ada-secret"),
        t.handshake("SCRAM-SHA-512"),
        t.scram("ada", "wrong"),
        t.end(),
    ],
    "renewed-by-another-mechanism": lambda t: [
        t.handshake(), t.token(ADA), t.handshake("SCRAM-SHA-512"), t.token(b"n,,n=ada,r=x"), t.end()
    ],
    "renewed-by-an-unknown-mechanism": lambda t: [
        t.handshake(), t.token(ADA), t.handshake("GSSAPI"), t.end()
    ],
    "renewed-with-requests-between": lambda t: [
        t.handshake(), t.token(ADA), t.handshake(), t.vote(), t.end()
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def controllers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Controller, Controller]]:
    directory: Path = tmp_path_factory.mktemp("compared")
    cluster_id = random_id()
    java = JavaController(kafka(), 3000, directory / "java", cluster_id, properties=KEYS)
    ours = KraftctlController(3000, directory / "ours", cluster_id, properties=KEYS)
    try:
        for controller in (java, ours):
            controller.scram_credentials = ["SCRAM-SHA-512=[name=ada,password=ada-secret]"]
            controller.format()
            controller.start(wait=False)
        for controller in (java, ours):
            controller.await_ready()
            await_result(lambda: accepts_connections(controller.port), "it listens")  # noqa: B023
            await_result(lambda: has_users(controller), "it has read the log", 30.0)  # noqa: B023
        yield java, ours
    finally:
        java.kill()
        ours.kill()


def has_users(controller: Controller) -> bool:
    talk = Talk(controller)
    try:
        talk.handshake("SCRAM-SHA-512")
        return talk.scram("ada", "ada-secret") == ("authenticated", 60_000)
    finally:
        talk.close()


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_both_answer_alike(name: str, controllers: tuple[Controller, Controller]) -> None:
    found = []
    for controller in controllers:
        talk = Talk(controller)
        try:
            found.append(CONVERSATIONS[name](talk))
        finally:
            talk.close()
    java, ours = found
    assert ours == java
