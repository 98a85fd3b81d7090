"""Whatever Kafka 4.4 refuses to decode, kraftctl refuses: too many elements, too many tagged fields."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.dev.cluster import Cluster
from kraftctl_protocol.decoding_limits import ARRAY_LENGTH_MAX, TAGGED_FIELDS_MAX
from kraftctl_protocol.generated.index import request_class
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.headers import request_header_version
from kraftctl_protocol.message import Message
from kraftctl_protocol.primitives import Writer, write_uvarint
from kraftctl_protocol.requests import encode_request
from tests.support.processes.kafka import kafka
from tests.support.wire.controller_client import ControllerClient

pytestmark = [pytest.mark.interop, pytest.mark.long]

FRAME_BYTES_MAX = 30_000_000
"""Kafka's own limit of a frame is 100 MiB; an array of larger elements than these is not tried."""

FLEXIBLE_HEADER = 2


def uvarint(value: int) -> bytes:
    writer = Writer()
    write_uvarint(writer, value)
    return writer.getvalue()


def payload(message: Message, version: int) -> bytes:
    header = RequestHeader(
        request_api_key=message.API_KEY, request_api_version=version, correlation_id=1, client_id="c"
    )
    return encode_request(header, message)


def requests() -> Iterator[tuple[str, type[Message], int]]:
    for api in API_TABLE.values():
        kind = request_class(api.key)
        assert kind is not None
        for version in sorted({api.lowest, api.highest}):
            yield f"{api.name} v{version}", kind, version


def long_arrays() -> Iterator[tuple[str, bytes]]:
    """Each array at the top of a request, one element too long, with all its bytes."""
    for name, kind, version in requests():
        for field in kind.FIELDS:
            if not field.in_version(version) or field.tagged_in(version) or field.struct is None:
                continue
            if not isinstance(getattr(kind(), field.name), list):
                continue
            none, one = (payload(kind(**{field.name: [field.struct()] * count}), version) for count in (0, 1))
            at = next(place for place, (a, b) in enumerate(zip(none, one, strict=False)) if a != b)
            element = one[at + 1 : at + 1 + len(one) - len(none)]
            is_compact = request_header_version(kind.API_KEY, version) >= FLEXIBLE_HEADER
            count = ARRAY_LENGTH_MAX + 1
            length = uvarint(count + 1) if is_compact else count.to_bytes(4, "big")
            start = none[:at] if is_compact else none[: at - 3]
            if len(element) * count < FRAME_BYTES_MAX:
                yield f"{name} {field.name}", start + length + element * count + none[at + 1 :]


def tagged_fields() -> Iterator[tuple[str, bytes]]:
    """The last tagged section of each flexible request, with a count that is refused."""
    fields = b"".join(uvarint(1_000 + tag) + b"\0" for tag in range(TAGGED_FIELDS_MAX + 1))
    for name, kind, version in requests():
        if request_header_version(kind.API_KEY, version) < FLEXIBLE_HEADER:
            continue
        start = payload(kind(), version)[:-1]
        yield f"{name} too many tags", start + uvarint(TAGGED_FIELDS_MAX + 1) + fields
        yield f"{name} negative count", start + b"\xff\xff\xff\xff\x0f"
        yield f"{name} more tags than bytes", start + uvarint(3)
        yield f"{name} size of a tag", start + uvarint(1) + uvarint(1_000) + uvarint(9) + b"x"
        yield f"{name} negative size", start + uvarint(1) + uvarint(1_000) + b"\xff\xff\xff\xff\x0f"


def closes(port: int, body: bytes) -> bool:
    with ControllerClient(port) as client:
        try:
            return client.is_closed_after(body)
        except ConnectionError:  # while the body was sent
            return True


def test_kraftctl_refuses_what_kafka_refuses(tmp_path: Path) -> None:
    cases = [*long_arrays(), *tagged_fields()]
    with (
        Cluster(kafka("4.4.0"), tmp_path / "java", brokers=0, java_controller=True) as java,
        Cluster(kafka("4.4.0"), tmp_path / "kraftctl", brokers=0) as kraftctl,
    ):
        refused = [name for name, body in cases if closes(java.controller.port, body)]
        accepted = [
            name for name, body in cases if name in refused and not closes(kraftctl.controller.port, body)
        ]
        assert len(refused) >= MANY_REFUSED, sorted({name for name, _ in cases} - set(refused))
        assert accepted == []
        assert java.controller.running
        assert kraftctl.controller.running


MANY_REFUSED = 150
