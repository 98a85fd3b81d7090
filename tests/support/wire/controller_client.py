"""A client of the controller's own port that speaks as brokers do, one request at a time."""

from __future__ import annotations

import socket
import ssl
import struct
from collections.abc import Mapping
from types import TracebackType
from typing import TypeVar

from kraftctl.dev.polling import await_result
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.frames import encode_frame
from kraftctl_protocol.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftctl_protocol.generated.broker_heartbeat_response import BrokerHeartbeatResponse
from kraftctl_protocol.generated.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from kraftctl_protocol.generated.broker_registration_response import BrokerRegistrationResponse
from kraftctl_protocol.generated.create_topics_request import CreatableTopic, CreateTopicsRequest
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import decode_response, encode_request

M = TypeVar("M", bound=Message)

FEATURES_OF_4_3 = {
    "eligible.leader.replicas.version": (0, 1),
    "group.version": (0, 1),
    "kraft.version": (0, 1),
    "metadata.version": (7, 30),
    "share.version": (0, 1),
    "streams.version": (0, 1),
    "transaction.version": (0, 2),
}
"""The features of a 4.3 broker."""

FEATURES_OF_4_4 = {**FEATURES_OF_4_3, "metadata.version": (7, 33), "share.version": (0, 2)}

HEARTBEAT_VERSION = 1

FAR_AHEAD = 2**40
"""A metadata offset that is beyond every registration: the broker claims to be caught up."""


class ControllerClient:
    """One connection, with SSL if there is a context."""

    def __init__(
        self,
        port: int,
        *,
        client_id: str = "test",
        timeout_s: float = 30.0,
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._socket = socket.create_connection(("localhost", port), timeout=timeout_s)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if ssl_context is not None:
            self._socket = ssl_context.wrap_socket(self._socket, server_hostname="localhost")
        self._client_id = client_id
        self._correlation_id = 0

    def call(self, request: Message, version: int, answer: type[M]) -> M:
        """Sends the request and returns its response. Raises OSError when the connection ends instead."""
        self.send(request, version)
        return self.receive(request.API_KEY, version, answer)

    def send(self, request: Message, version: int) -> None:
        """`receive` has to follow."""
        self._correlation_id += 1
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=version,
            correlation_id=self._correlation_id,
            client_id=self._client_id,
        )
        self._socket.sendall(encode_frame(encode_request(header, request)))

    def receive(self, api_key: int, version: int, answer: type[M]) -> M:
        """The response to the request that was sent last."""
        (size,) = struct.unpack(">i", self._receive(4))
        correlation_id, response = decode_response(self._receive(size), api_key, version)
        assert correlation_id == self._correlation_id
        assert isinstance(response, answer)
        return response

    def is_closed_after(self, payload: bytes) -> bool:
        """Whether the controller closes the connection instead of a response."""
        self._socket.sendall(encode_frame(payload))
        try:
            self._receive(4)
        except ConnectionError:
            return True
        return False

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> ControllerClient:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def _receive(self, count: int) -> bytes:
        parts = bytearray()
        while len(parts) < count:
            part = self._socket.recv(count - len(parts))
            if not part:
                raise ConnectionError("the controller has closed the connection")
            parts += part
        return bytes(parts)


def log_directory_of(broker_id: int) -> bytes:
    """The id of the only log directory of a stand-in broker."""
    return (100 + broker_id).to_bytes(2, "big") * 8


class StandInBroker:
    """Registers and sends heartbeats like a broker."""

    def __init__(
        self,
        client: ControllerClient,
        broker_id: int,
        cluster_id: str,
        features: Mapping[str, tuple[int, int]] = FEATURES_OF_4_3,
    ) -> None:
        self._client = client
        self._features = features
        self.broker_id = broker_id
        self._cluster_id = cluster_id
        self.broker_epoch = -1

    def register(self) -> bool:
        """A new incarnation with one log directory; False if the controller is not active."""
        request = BrokerRegistrationRequest(
            broker_id=self.broker_id,
            cluster_id=self._cluster_id,
            incarnation_id=self.broker_id.to_bytes(2, "big") * 8,
            listeners=[Listener(name="PLAINTEXT", host="localhost", port=9_000 + self.broker_id)],
            features=[
                Feature(name=name, min_supported_version=low, max_supported_version=high)
                for name, (low, high) in self._features.items()
            ],
            rack=None,
            log_dirs=[log_directory_of(self.broker_id)],
        )
        response = self._client.call(request, 4, BrokerRegistrationResponse)
        assert response.error_code in (Errors.NONE, Errors.NOT_CONTROLLER), response
        self.broker_epoch = response.broker_epoch
        return response.error_code == Errors.NONE

    def heartbeat(self) -> BrokerHeartbeatResponse:
        """Asks to be unfenced. Raises OSError when the controller is not active any more."""
        self.send_heartbeat()
        return self.receive_heartbeat()

    def send_heartbeat(self) -> None:
        request = BrokerHeartbeatRequest(
            broker_id=self.broker_id, broker_epoch=self.broker_epoch, current_metadata_offset=FAR_AHEAD
        )
        self._client.send(request, HEARTBEAT_VERSION)

    def receive_heartbeat(self) -> BrokerHeartbeatResponse:
        response = self._client.receive(
            BrokerHeartbeatRequest.API_KEY, HEARTBEAT_VERSION, BrokerHeartbeatResponse
        )
        if response.error_code == Errors.NOT_CONTROLLER:
            raise ConnectionError("the controller is not active any more")
        assert response.error_code == 0, response
        return response

    def is_unfenced(self) -> bool:
        """Sends a heartbeat; returns whether the response says that."""
        return not self.heartbeat().is_fenced


def create_topics(port: int, cluster_id: str, *names: str) -> None:
    """Topics of five partitions on a stand-in broker 1, by the active controller at `port`."""
    with ControllerClient(port) as client:
        broker = StandInBroker(client, 1, cluster_id, FEATURES_OF_4_4)
        await_result(broker.register, "the controller is active")
        await_result(broker.is_unfenced, "the broker is unfenced")
        for name in names:
            topic = CreatableTopic(name=name, num_partitions=5, replication_factor=1)
            response = client.call(CreateTopicsRequest(topics=[topic]), 7, CreateTopicsResponse)
            assert [entry.error_code for entry in response.topics] == [Errors.NONE], response
