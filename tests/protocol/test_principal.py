"""The principal of an ENVELOPE, in the bytes a real broker sent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.primitives import DecodeError
from kraftctl_protocol.principal import (
    ANONYMOUS,
    KafkaPrincipal,
    deserialize_principal,
    parse_principal,
    serialize_principal,
)
from kraftctl_protocol.requests import decode_request

FRAMES = Path(__file__).parents[1] / "data" / "kafka-4.3.1" / "broker-controller-frames.jsonl"


def test_principal_of_recorded_envelopes() -> None:
    recorded = [json.loads(line) for line in FRAMES.read_text().splitlines()]
    envelopes = [decode_request(bytes.fromhex(line["req"])).body for line in recorded if line["api"] == 58]
    assert envelopes
    for envelope in envelopes:
        principal = deserialize_principal(envelope.request_principal)
        assert principal == ANONYMOUS
        assert serialize_principal(principal) == envelope.request_principal


@given(st.text(min_size=1, max_size=20), st.text(max_size=300), st.booleans())
def test_read_back(kind: str, name: str, token_authenticated: bool) -> None:
    principal = KafkaPrincipal(kind, name, token_authenticated)
    read = deserialize_principal(serialize_principal(principal))
    assert (read.type, read.name, read.token_authenticated) == (kind, name, token_authenticated)


def test_identity_is_type_and_name() -> None:
    assert KafkaPrincipal("User", "a", True) == KafkaPrincipal("User", "a", False)
    assert len({KafkaPrincipal("User", "a"), KafkaPrincipal("User", "a"), KafkaPrincipal("User", "b")}) == 2
    assert str(parse_principal("User:CN=a:b")) == "User:CN=a:b"


@pytest.mark.parametrize("text", ["", "alice", ":alice"])
def test_not_a_principal(text: str) -> None:
    with pytest.raises(DecodeError):
        parse_principal(text)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"\0", id="half-a-version"),
        pytest.param(b"\0\1\5User\2a\0\0", id="unknown-version"),
        pytest.param(b"\0\0\5User\xff\1a\0\0", id="name-longer-than-the-rest"),
        pytest.param(b"\0\0\5User\2\xff\0\0", id="not-utf-8"),
        pytest.param(b"\0\0\5User\2a\0\0\0", id="trailing-byte"),
    ],
)
def test_damaged(data: bytes) -> None:
    with pytest.raises(DecodeError):
        deserialize_principal(data)
