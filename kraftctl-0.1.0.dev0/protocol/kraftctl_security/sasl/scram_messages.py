"""The four messages of SCRAM (RFC 5802, section 7) with what Kafka accepts of them.

As in Kafka, they are ASCII; a client without channel binding says `n`, never `y`; and extensions are ignored
except `tokenauth=true` in the first message: the name is the id of a delegation token (KIP-48). A mandatory
extension `m=` is refused, as RFC 5802 demands.
"""

from __future__ import annotations

import base64
import re
from typing import Final

TOKEN_AUTH: Final = "tokenauth"

GS2_HEADER: Final = "n,,"
"""The header of a client that uses neither channel binding nor an authorization id."""

CHANNEL_BINDING: Final = base64.b64encode(GS2_HEADER.encode()).decode()

_SASL_NAME = re.compile(r"(?:[^\x00=,]|=2C|=3D)++")
_ESCAPES = re.compile(r"=2C|=3D")
_NONCE = re.compile(r"[\x21-\x7e]++")
_EXTENSION = re.compile(r"([A-Za-z]++)=([^\x00]++)")
_BASE64 = re.compile(r"(?:[a-zA-Z0-9/+]{4})*+(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?")
_ITERATIONS = re.compile(r"[0-9]{1,10}")


class ScramFormatError(Exception):
    """A message is malformed; the text shows nothing of it."""


class ClientFirst:
    """The message `n,,n=alice,r=nonce`.

    `sasl_name` is the name with its escapes, `name` without; `bare` is the part that is signed.
    """

    def __init__(
        self,
        *,
        gs2_header: str,
        authorization_id: str,
        sasl_name: str,
        nonce: str,
        token_auth: bool,
        bare: str,
    ) -> None:
        self.gs2_header = gs2_header
        self.authorization_id = authorization_id
        self.sasl_name = sasl_name
        self.name = _ESCAPES.sub(lambda found: "," if found[0] == "=2C" else "=", sasl_name)
        self.nonce = nonce
        self.token_auth = token_auth
        self.bare = bare


class ServerFirst:
    """The message `r=nonce,s=salt,i=iterations`, as it was received."""

    def __init__(self, *, nonce: str, salt: bytes, iterations: int, text: str) -> None:
        self.nonce = nonce
        self.salt = salt
        self.iterations = iterations
        self.text = text


class ClientFinal:
    """The message `c=biws,r=nonce,p=proof`; `without_proof` is the part that is signed."""

    def __init__(self, *, channel_binding: bytes, nonce: str, proof: bytes, without_proof: str) -> None:
        self.channel_binding = channel_binding
        self.nonce = nonce
        self.proof = proof
        self.without_proof = without_proof


def escape_name(name: str) -> str:
    """Returns a name as SCRAM sends it."""
    return name.replace("=", "=3D").replace(",", "=2C")


def client_first_bare(name: str, nonce: str, *, token_auth: bool) -> str:
    return f"n={escape_name(name)},r={nonce}" + (f",{TOKEN_AUTH}=true" if token_auth else "")


def server_first(nonce: str, salt: bytes, iterations: int) -> str:
    return f"r={nonce},s={base64.b64encode(salt).decode()},i={iterations}"


def parse_client_first(token: bytes) -> ClientFirst:
    """Parses the message. Raises ScramFormatError."""
    fields = _fields(token)
    if len(fields) < 4 or fields[0] != "n":
        raise ScramFormatError("the first message of a client must begin with n, and have a name and a nonce")
    authorization_id = "" if fields[1] == "" else _attribute(fields[1], "a", _SASL_NAME)
    extensions = _extensions(fields[4:])
    return ClientFirst(
        gs2_header=f"n,{fields[1]},",
        authorization_id=authorization_id,
        sasl_name=_attribute(fields[2], "n", _SASL_NAME),
        nonce=_attribute(fields[3], "r", _NONCE),
        token_auth=extensions.get(TOKEN_AUTH, "").lower() == "true",
        bare=",".join(fields[2:]),
    )


def parse_server_first(token: bytes) -> ServerFirst:
    """Parses the message. Raises ScramFormatError."""
    fields = _fields(token)
    if len(fields) < 3:
        raise ScramFormatError("the first message of a server must have a nonce, a salt and iterations")
    _extensions(fields[3:])
    return ServerFirst(
        nonce=_attribute(fields[0], "r", _NONCE),
        salt=base64.b64decode(_attribute(fields[1], "s", _BASE64)),
        iterations=int(_attribute(fields[2], "i", _ITERATIONS)),
        text=",".join(fields),
    )


def parse_client_final(token: bytes) -> ClientFinal:
    """Parses the message. Raises ScramFormatError."""
    fields = _fields(token)
    if len(fields) < 3:
        raise ScramFormatError(
            "the last message of a client must have a channel binding, a nonce and a proof"
        )
    _extensions(fields[2:-1])
    return ClientFinal(
        channel_binding=base64.b64decode(_attribute(fields[0], "c", _BASE64)),
        nonce=_attribute(fields[1], "r", _NONCE),
        proof=base64.b64decode(_attribute(fields[-1], "p", _BASE64)),
        without_proof=",".join(fields[:-1]),
    )


def parse_server_final(token: bytes) -> bytes:
    """Returns the server's signature. Raises ScramFormatError, also for an error of the server."""
    fields = _fields(token)
    if fields[0].startswith("e="):
        raise ScramFormatError("the server answers with an error")
    _extensions(fields[1:])
    return base64.b64decode(_attribute(fields[0], "v", _BASE64))


def _fields(token: bytes) -> list[str]:
    try:
        return token.decode("ascii").split(",")
    except UnicodeDecodeError:
        raise ScramFormatError("a message has bytes that are not ASCII") from None


def _attribute(field: str, name: str, value: re.Pattern[str]) -> str:
    found = field.removeprefix(f"{name}=")
    if found == field or value.fullmatch(found) is None:
        raise ScramFormatError(f"the attribute {name}= is missing or malformed")
    return found


def _extensions(fields: list[str]) -> dict[str, str]:
    """Returns the extensions; the last of a repeated one decides, as in Kafka."""
    found: dict[str, str] = {}
    for field in fields:
        matched = _EXTENSION.fullmatch(field)
        if matched is None:
            raise ScramFormatError("an extension is malformed")
        found[matched[1]] = matched[2]
    return found
