"""Frames of every API and version, damaged and dense, decoded as a controller decodes what clients send."""

from __future__ import annotations

import functools
import random
from collections.abc import Iterator

from kraftctl.apis.api import Api
from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.envelope import open_envelope
from kraftctl.controller.pending_request import PendingRequest
from kraftctl.server.loop.client_requests import ReceivedRequest, receive_request
from kraftctl.server.loop.connected_client import ConnectedClient
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Field, Message
from kraftctl_protocol.primitives import DecodeError, EncodeError
from kraftctl_protocol.requests import RequestHead, encode_request
from tests.attack.dense_bodies import DENSE, tags
from tests.attack.frames import envelope, request
from tests.support.active_controller import request_type
from tests.support.metadata_state import directory
from tests.support.wire.fuzz_outcomes import KIND_BYTES, Outcomes
from tests.support.wire.hostile_messages import HostileEdits, with_surrogates
from tests.support.wire.mutated_blocks import Base, MutatedBlocks
from tests.support.wire.random_messages import RandomMessages
from tests.support.wire.request_hints import NUMBERS, WORDS

BASES = 3
"""Of one API and version. A new message costs as much as a hundred damaged copies."""

COPIES = 1_500

DENSE_CHANCE = 0.015
"""Of each kind of dense frame, per block."""

DENSE_BYTES_MAX = 5_000_000
DENSE_BYTES = (60_000, 1_900_000, 2_900_000)
"""The last two are about a million entries, all that an array may have, of two and of three bytes."""

DENSE_TAGS_BYTES = 500_000
FRAME_BYTES_MAX = 6_000_000
ENTRIES_MAX = 30_000
ENVELOPE_CHANCE = 0.05

KINDS = [
    (api_key, version)
    for api_key, api in sorted(API_TABLE.items())
    for version in range(api.lowest, api.highest + 1)
]
"""Every API and version that is served; the fuzzers take them in turn."""


class RequestFrames:
    """Well-formed, hostile, dense and damaged requests. Everything is decided by `rng`."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._messages = RandomMessages(rng, WORDS, [bytes(16), directory(1)], NUMBERS, {})
        self._edits = HostileEdits(rng)
        self._copies = MutatedBlocks(rng)
        self._turn = rng.randrange(len(KINDS))

    def blocks(self, count: int) -> Iterator[list[bytes]]:
        """About `count` damaged copies of the next kind of request, after what they are copies of.

        Frames that are large are blocks of their own.
        """
        self._turn = (self._turn + 1) % len(KINDS)
        api_key, version = KINDS[self._turn]
        for payload in self._dense(api_key, version):
            if len(payload) <= FRAME_BYTES_MAX:
                yield [payload]
        payloads = []
        for _ in range(BASES):
            try:
                payload = self._payload(api_key, version)
            except EncodeError:
                continue
            if len(payload) <= FRAME_BYTES_MAX:
                payloads.append(payload)
        if not payloads:
            return
        yield payloads
        bases = [Base(payload) for payload in payloads]
        if self._rng.random() < ENVELOPE_CHANCE:
            wrapped = [Base(envelope(payload)) for payload in payloads]
            bases = [*wrapped, *(inside for base in wrapped if (inside := base.inside()) is not None)]
        yield self._copies.copies(bases, count)

    def _dense(self, api_key: int, version: int) -> Iterator[bytes]:
        rng = self._rng
        if rng.random() < DENSE_CHANCE:
            size_bytes = rng.choice((*DENSE_BYTES, rng.randint(1, DENSE_BYTES_MAX)))
            yield DENSE[rng.choice(sorted(DENSE))](size_bytes)
        if rng.random() < DENSE_CHANCE:
            section = _tags()[: rng.randint(1, DENSE_TAGS_BYTES)]
            section = rng.choice((section, _tags()))
            yield request(api_key, version, b"", tags=section) + rng.choice((b"", section))
        if rng.random() < DENSE_CHANCE:
            message = self._messages.message(request_type(api_key), version)
            self._repeat(message, version)
            try:
                yield self._encoded(api_key, version, message)
            except EncodeError:
                return

    def _payload(self, api_key: int, version: int) -> bytes:
        message = self._messages.message(request_type(api_key), version)
        if self._rng.random() < 0.5:
            message = self._edits.edited(message, version)
        return self._encoded(api_key, version, message)

    def _encoded(self, api_key: int, version: int, message: Message) -> bytes:
        header = RequestHeader(
            request_api_key=api_key, request_api_version=version, correlation_id=77, client_id="fuzz"
        )
        return with_surrogates(encode_request(header, message))

    def _repeat(self, message: Message, version: int) -> None:
        """One array of the message, at any depth, with as many empty entries as there may be."""
        arrays: list[tuple[Message, Field]] = []
        _find_arrays(message, version, arrays)
        if arrays:
            owner, field = self._rng.choice(arrays)
            assert field.struct is not None
            setattr(owner, field.name, [field.struct()] * self._rng.randint(1, ENTRIES_MAX))


@functools.cache
def _tags() -> bytes:
    """As many unknown tagged fields as fit: made once, as that takes longer than anything that is fed."""
    return tags(DENSE_TAGS_BYTES)


def _find_arrays(message: Message, version: int, found: list[tuple[Message, Field]]) -> None:
    for field in message.FIELDS:
        if field.struct is None or not field.in_version(version):
            continue
        value = getattr(message, field.name)
        if field.type.startswith("[]"):
            found.append((message, field))
            for entry in (value or [])[:2]:
                _find_arrays(entry, version, found)
        elif isinstance(value, Message):
            _find_arrays(value, version, found)


class DecodedRequests:
    """Decodes each frame with the budget of its API: as a connection does, or as is done beside the loop.

    What is in an envelope is decoded, too.
    """

    def __init__(self, rng: random.Random) -> None:
        self._frames = RequestFrames(rng)

    def blocks(self) -> Iterator[list[bytes]]:
        return self._frames.blocks(COPIES)

    def feed(self, block: list[bytes], outcomes: Outcomes) -> None:
        counts, kinds = outcomes.counts, outcomes.kinds
        for data in block:
            received = receive_request(data)
            if isinstance(received, str):
                counts["refused"] += 1
                continue
            content = received.take_content()
            if isinstance(content, RequestHead):
                counts[_beside_the_loop(content, received.api)] += 1
            elif isinstance(content, EnvelopeRequest):
                counts[_opened(received, content)] += 1
            else:
                counts["decoded"] += 1
            kinds[data[:KIND_BYTES]] += 1

    def close(self) -> None:
        """Nothing is held."""


def _beside_the_loop(head: RequestHead, api: Api) -> str:
    try:
        head.decode_body(api.size.memory_bytes_max)
    except DecodeError:
        return "refused_beside_the_loop"
    return "decoded_beside_the_loop"


def _opened(received: ReceivedRequest, content: EnvelopeRequest) -> str:
    pending = PendingRequest(0, received.context(ConnectedClient("CONTROLLER", "", bytes(4), "")), content)
    if open_envelope(pending) is not None:
        return "envelopes_refused"
    if pending.head is not None:
        return _beside_the_loop(pending.head, pending.context.api)
    return "envelopes_opened"
