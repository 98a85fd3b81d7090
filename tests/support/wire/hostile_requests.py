"""HostileRequests: payloads of request frames of every API and version: valid, hostile or damaged."""

from __future__ import annotations

import random
from typing import Any, Protocol

from kraftctl.apis.api_table import API_TABLE, RAFT_API_KEYS
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.metadata import features
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.broker_registration_request import BrokerRegistrationRequest
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_topic import METADATA_TOPIC, METADATA_TOPIC_ID
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.primitives import EncodeError
from kraftctl_protocol.principal import ANONYMOUS, KafkaPrincipal, serialize_principal
from kraftctl_protocol.requests import encode_request
from tests.support.active_controller import CLUSTER_ID, NODE_ID, registration, request_type
from tests.support.metadata_state import directory
from tests.support.wire.hostile_messages import STRINGS, HostileEdits, with_surrogates
from tests.support.wire.mutated_bytes import MutatedBytes
from tests.support.wire.random_messages import RandomMessages
from tests.support.wire.request_hints import NUMBERS, WORDS, hints

HOSTILE_CHANCE = 0.5
MUTATED_CHANCE = 0.2
ENVELOPE_CHANCE = 0.3

CORRELATION_ID = 77

ENVELOPE = int(ApiKey.ENVELOPE)


class Asked(Protocol):
    """What the requests need to know about the controller."""

    directory_id: bytes

    @property
    def image(self) -> MetadataImage: ...

    @property
    def end_offset(self) -> int: ...

    @property
    def epoch(self) -> int: ...

    @property
    def snapshot_ids(self) -> list[OffsetAndEpoch]: ...


REQUEST_BYTES_MAX = 4 * 1024 * 1024


class HostileRequest:
    """`payload` follows the frame's size. `inner` is set for an undamaged envelope."""

    def __init__(self, api_key: int, version: int, payload: bytes, inner: tuple[int, int] | None) -> None:
        self.api_key = api_key
        self.version = version
        self.payload = payload
        self.inner = inner

    @property
    def kind(self) -> str:
        """Its name, for reports."""
        api_key, version = self.inner or (self.api_key, self.version)
        name = request_type(api_key).NAME.removesuffix("Request")
        return f"{'Envelope of ' if self.inner else ''}{name} v{version}"


class HostileRequests:
    """`next` takes valid values from the controller."""

    def __init__(self, asked: Asked, rng: random.Random) -> None:
        self._asked = asked
        self._rng = rng
        self._edits = HostileEdits(rng)
        self._bytes = MutatedBytes(rng)
        self._api_keys = sorted(set(API_TABLE) - {ENVELOPE})

    def next(self) -> HostileRequest:
        """The next request. Those that the codec refuses, or that are too large for a round, are skipped."""
        while True:
            try:
                request = self._request()
            except EncodeError:
                continue
            if len(request.payload) <= REQUEST_BYTES_MAX:
                return request

    def _request(self) -> HostileRequest:
        rng = self._rng
        api_key = rng.choice(self._api_keys)
        api = API_TABLE[api_key]
        version = rng.randint(api.lowest, api.highest)
        message = self._message(api_key, version)
        if rng.random() < HOSTILE_CHANCE:
            message = self._edits.edited(message, version)
        payload = self._encoded(api_key, version, message)
        inner = None
        if rng.random() < (ENVELOPE_CHANCE if api.forwardable else 0.02):
            inner = (api_key, version)
            if rng.random() < MUTATED_CHANCE / 2:
                payload, inner = self._bytes.mutated(payload), None
            api_key, version = ENVELOPE, 0
            payload = self._encoded(api_key, version, self._envelope(payload))
        if rng.random() < MUTATED_CHANCE:
            payload, inner = self._bytes.mutated(payload), None
        return HostileRequest(api_key, version, payload, inner)

    def _message(self, api_key: int, version: int) -> Message:
        rng, asked, image = self._rng, self._asked, self._asked.image
        ids = [bytes(16), directory(1), directory(2, 1), asked.directory_id, *image.topics.topics]
        epochs = [broker.epoch for broker in image.cluster.brokers.values()]
        known = hints(image, asked.end_offset, rng)
        if api_key in RAFT_API_KEYS:
            known = raft_hints(asked)
        elif api_key == ApiKey.UPDATE_FEATURES:
            known |= {"feature": sorted(features.SUPPORTED_FEATURES), "max_version_level": [0, 1, 2, 20, 30]}
        elif api_key in (ApiKey.RENEW_DELEGATION_TOKEN, ApiKey.EXPIRE_DELEGATION_TOKEN):
            known |= {"principal_type": ["User"]}
        values = RandomMessages(rng, WORDS, ids, [*NUMBERS, *epochs, asked.end_offset, asked.epoch], known)
        message = values.message(request_type(api_key), version)
        if isinstance(message, BrokerRegistrationRequest) and rng.random() < 0.9:
            message.features = registration(1).features
        return message

    def _encoded(self, api_key: int, version: int, message: Message) -> bytes:
        header = RequestHeader(
            request_api_key=api_key,
            request_api_version=version,
            correlation_id=CORRELATION_ID,
            client_id=self._rng.choice(STRINGS) if self._rng.random() < 0.1 else "hostile",
        )
        return with_surrogates(encode_request(header, message))

    def _envelope(self, payload: bytes) -> EnvelopeRequest:
        rng = self._rng
        principal = ANONYMOUS
        if rng.random() < 0.3:
            type_ = rng.choice(("User", "User", *STRINGS))
            principal = KafkaPrincipal(type_, rng.choice(("alice", *STRINGS)), rng.random() < 0.2)
        return EnvelopeRequest(
            request_data=payload,
            request_principal=None if rng.random() < 0.02 else serialize_principal(principal),
            client_host_address=rng.choice((b"\x7f\0\0\1",) * 8 + (b"", b"\0" * 16, b"\0" * 5)),
        )


def raft_hints(asked: Asked) -> dict[str, list[Any]]:
    """Values that pass the first checks of raft requests, of this controller and of a missing one."""
    epoch, end_offset = asked.epoch, asked.end_offset
    epochs = [epoch, epoch, epoch, epoch + 1, epoch - 1]
    offsets = [end_offset, end_offset, end_offset - 1, 0, end_offset + 1]
    node_ids = [NODE_ID, 3_001, 1]
    directory_ids = [asked.directory_id, directory(1), bytes(16)]
    snapshots = asked.snapshot_ids
    return {
        "cluster_id": [CLUSTER_ID, None],
        "topic": [METADATA_TOPIC],
        "topic_name": [METADATA_TOPIC],
        "name": [METADATA_TOPIC, "CONTROLLER"],
        "topic_id": [METADATA_TOPIC_ID],
        "partition": [0],
        "partition_index": [0],
        "partition_max_bytes": [0, 1, 1 << 20],
        "max_bytes": [0, 1, 1 << 20],
        "max_wait_ms": [0, 500, 5_000],
        "timeout_ms": [0, 1_000, 30_000],
        "replica_id": node_ids,
        "voter_id": node_ids,
        "leader_id": node_ids,
        "candidate_id": node_ids,
        "replica_directory_id": directory_ids,
        "voter_directory_id": directory_ids,
        "candidate_directory_id": directory_ids,
        "replica_epoch": epochs,
        "leader_epoch": epochs,
        "current_leader_epoch": epochs,
        "last_fetched_epoch": epochs,
        "last_offset_epoch": epochs,
        "last_offset": offsets,
        "fetch_offset": offsets,
        "high_watermark": offsets,
        "end_offset": [snapshot.offset for snapshot in snapshots] or offsets,
        "epoch": [snapshot.epoch for snapshot in snapshots] or epochs,
        "position": [0, 0, 1, 100],
        "host": ["localhost", "127.0.0.1", ""],
        "min_supported_version": [0],
        "max_supported_version": [1],
    }
