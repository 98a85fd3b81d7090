"""The principal inside an ENVELOPE (KIP-590), in the bytes of Kafka's DefaultKafkaPrincipalBuilder."""

from __future__ import annotations

from librt.strings import read_i16_be

from kraftctl_protocol.generated.default_principal_data import DefaultPrincipalData
from kraftctl_protocol.primitives import DecodeError

USER_TYPE = "User"


class KafkaPrincipal:
    """The sender of a request. A token-authenticated one may not create further delegation tokens
    (KIP-48).
    """

    def __init__(self, type: str, name: str, token_authenticated: bool = False) -> None:
        self.type = type
        self.name = name
        self.token_authenticated = token_authenticated

    def __eq__(self, other: object) -> bool:
        """Compares type and name, as Kafka does, and not `token_authenticated`."""
        if not isinstance(other, KafkaPrincipal):
            return False
        return self.type == other.type and self.name == other.name

    def __hash__(self) -> int:
        return hash((self.type, self.name))

    def __str__(self) -> str:
        return f"{self.type}:{self.name}"

    def __repr__(self) -> str:
        return f"KafkaPrincipal({self.type!r}, {self.name!r}, token_authenticated={self.token_authenticated})"


ANONYMOUS = KafkaPrincipal(USER_TYPE, "ANONYMOUS")


def parse_principal(text: str) -> KafkaPrincipal:
    """Parses a text such as `User:alice`; DecodeError without a colon."""
    kind, colon, name = text.partition(":")
    if not colon or not kind:
        raise DecodeError(f"expected a principal of the form type:name, but got {text!r}")
    return KafkaPrincipal(kind, name)


def serialize_principal(principal: KafkaPrincipal) -> bytes:
    """Returns the bytes that Kafka's default principal builder can read."""
    version = DefaultPrincipalData.HIGHEST_VERSION
    data = DefaultPrincipalData(
        type=principal.type, name=principal.name, token_authenticated=principal.token_authenticated
    )
    return version.to_bytes(2, "big") + data.encode(version)


def deserialize_principal(data: bytes) -> KafkaPrincipal:
    """Returns the principal in `data`; DecodeError when it is of another builder or damaged."""
    if len(data) < 2:
        raise DecodeError("principal without a version")
    version = int(read_i16_be(data, 0))
    if version < DefaultPrincipalData.LOWEST_VERSION or version > DefaultPrincipalData.HIGHEST_VERSION:
        raise DecodeError(f"principal of unknown version {version}")
    decoded = DefaultPrincipalData.decode(data[2:], version)
    return KafkaPrincipal(decoded.type, decoded.name, decoded.token_authenticated)
