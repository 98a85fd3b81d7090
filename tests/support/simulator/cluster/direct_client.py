"""Requests to one simulated controller as bytes, without a network between."""

from __future__ import annotations

from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.simulator.cluster.lifetime import Lifetime
from tests.support.simulator.cluster.process import ControllerProcess

CLIENT_ID = "test"
CORRELATION_ID = 1


class DirectCall:
    """One request on a connection of its own; `respond` is the server's."""

    def __init__(self, client: DirectClient, call_id: int, api_key: int, version: int) -> None:
        self._client = client
        self._call_id = call_id
        self._api_key = api_key
        self._version = version

    def respond(self, payload: bytes | None) -> None:
        if payload is None:
            self._client.closed.add(self._call_id)
            return
        assert self._call_id not in self._client.answers, "a request is answered once"
        self._client.answers[self._call_id] = decode_response(payload, self._api_key, self._version)[1]


class DirectClient:
    """`answers` maps the ids that `send` returns to responses, in the order in which they were given.

    `closed` has the ids of requests whose connection was closed instead.
    """

    def __init__(self, process: ControllerProcess) -> None:
        self.process = process
        self.answers: dict[int, Message] = {}
        self.closed: set[int] = set()
        self._calls = 0
        self._received: dict[int, tuple[Lifetime, int]] = {}

    def send(
        self, request: Message, version: int | None = None, principal: KafkaPrincipal = ANONYMOUS
    ) -> int:
        """The process, which must be running, has received it when this returns."""
        used = request.HIGHEST_VERSION if version is None else version
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=used,
            correlation_id=CORRELATION_ID,
            client_id=CLIENT_ID,
        )
        return self.send_payload(encode_request(header, request), request.API_KEY, used, principal)

    def send_payload(
        self, payload: bytes, api_key: int, version: int, principal: KafkaPrincipal = ANONYMOUS
    ) -> int:
        """The same, of an encoded request."""
        lifetime = self.process.lifetime
        assert lifetime is not None
        self._calls += 1
        call = DirectCall(self, self._calls, api_key, version)
        request_id = self.process.receive(payload, call, principal)
        self._received[self._calls] = (lifetime, request_id)
        return self._calls

    def cancel(self, call_id: int) -> None:
        """Close the connection of this request."""
        self.process.cancel(*self._received[call_id])
