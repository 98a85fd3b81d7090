"""Users of SCRAM as text, as in Kafka's --add-scram: `SCRAM-SHA-512=[name=alice,password=alice-secret]`.

`kraftctl format` takes them for the metadata log (KIP-900). A controller takes a file of them, one per line,
for users that it knows before it can read that log: those by which controllers authenticate to each other.
"""

from __future__ import annotations

import base64
import binascii
import secrets
from collections.abc import Mapping
from typing import Final

from kraftctl_protocol.scram import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    MECHANISM_NUMBERS,
    ScramCredential,
    credential,
    salt_password,
)
from kraftctl_security.sasl.scram_server import ScramCredentials, TokenCredential

SALT_BYTES: Final = 26
KEYS: Final = ("name", "salt", "iterations", "password", "saltedpassword")

USERS_MAX: Final = 1_000
"""Of a file: making the credential of each takes milliseconds."""

ScramUsers = Mapping[tuple[int, str], ScramCredential]
"""By the number of the mechanism in the log, and the name."""


class ScramUserError(Exception):
    """A text that is not understood. It repeats no value, as passwords are among them."""


class ScramUser:
    """`mechanism` is the number in the log."""

    def __init__(self, mechanism: int, name: str, credential: ScramCredential) -> None:
        self.mechanism = mechanism
        self.name = name
        self.credential = credential


class LocalUsersFirst:
    """Users of a file, then those of the metadata log. Tokens are in the log only."""

    def __init__(self, users: ScramUsers, others: ScramCredentials) -> None:
        self._users = users
        self._others = others

    def user(self, mechanism: int, name: str) -> ScramCredential | None:
        """The log is not asked for users of the file: it may not be known yet."""
        return self._users.get((mechanism, name)) or self._others.user(mechanism, name)

    def token(self, mechanism: int, token_id: str) -> TokenCredential | None:
        return self._others.token(mechanism, token_id)


def parse_scram_users(text: str) -> ScramUsers:
    """The users of a file. Empty lines and those that begin with `#` are left out.

    Raises ScramUserError, which names the line.
    """
    users: dict[tuple[int, str], ScramCredential] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.strip().startswith("#"):
            continue
        try:
            user = parse_scram_user(line)
        except ScramUserError as error:
            raise ScramUserError(f"line {number}: {error}") from None
        if (user.mechanism, user.name) in users:
            raise ScramUserError(f"line {number}: the user is there twice with this mechanism.")
        users[user.mechanism, user.name] = user.credential
        if len(users) > USERS_MAX:
            raise ScramUserError(f"line {number}: there may be {USERS_MAX:,} users.")
    return users


def parse_scram_user(text: str) -> ScramUser:
    """Takes milliseconds with a password. Raises ScramUserError."""
    mechanism, fields = _parse(text)
    name = fields.get("name")
    if not name:
        raise ScramUserError("You must supply 'name'.")
    iterations = _iterations(fields.get("iterations"))
    salt = secrets.token_bytes(SALT_BYTES) if "salt" not in fields else _base64(fields, "salt")
    salted_password = _salted_password(fields, mechanism, salt, iterations)
    found = credential(mechanism, salt=salt, salted_password=salted_password, iterations=iterations)
    return ScramUser(mechanism, name, found)


def _parse(text: str) -> tuple[int, dict[str, str]]:
    mechanism, equals, rest = text.strip().partition("=")
    if not equals:
        raise ScramUserError("There is no equals sign: expected MECHANISM=[name=...].")
    if mechanism not in MECHANISM_NUMBERS:
        raise ScramUserError(f"The mechanism is not supported; {' and '.join(MECHANISM_NUMBERS)} are.")
    if not (rest.startswith("[") and rest.endswith("]")):
        raise ScramUserError("The part after the mechanism must start with [ and end with ].")
    fields: dict[str, str] = {}
    for component in rest[1:-1].split(","):
        key, equals, value = component.partition("=")
        if not equals:
            raise ScramUserError(
                "There is no equals sign in a component: expected key=value, and no comma in a value."
            )
        quoted = len(value) >= 2 and value[0] == value[-1] == '"'
        fields[key] = value[1:-1] if quoted else value
    if not fields.keys() <= set(KEYS):
        raise ScramUserError(f"Unknown SCRAM configuration; known are {', '.join(KEYS)}.")
    return MECHANISM_NUMBERS[mechanism], fields


def _iterations(text: str | None) -> int:
    if text is None:
        return ITERATIONS_MIN
    if not text.isdecimal() or not ITERATIONS_MIN <= int(text) <= ITERATIONS_MAX:
        raise ScramUserError(
            f"The 'iterations' value must be a number from {ITERATIONS_MIN} to {ITERATIONS_MAX}."
        )
    return int(text)


def _salted_password(fields: dict[str, str], mechanism: int, salt: bytes, iterations: int) -> bytes:
    password = fields.get("password")
    if password is not None:
        return salt_password(mechanism, password.encode(errors="replace"), salt, iterations)
    if "saltedpassword" not in fields:
        raise ScramUserError("You must supply one of 'password' or 'saltedpassword'.")
    if "salt" not in fields:
        raise ScramUserError("You must supply 'salt' with 'saltedpassword'.")
    return _base64(fields, "saltedpassword")


def _base64(fields: dict[str, str], key: str) -> bytes:
    try:
        return base64.b64decode(fields[key], validate=True)
    except (binascii.Error, ValueError):
        raise ScramUserError(f"The '{key}' value is not base64.") from None
