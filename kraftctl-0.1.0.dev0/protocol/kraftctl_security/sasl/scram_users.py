"""Users of SCRAM as text, as in Kafka's --add-scram: `SCRAM-SHA-512=[name=alice,password=alice-secret]`.

`kraftctl format` takes them for the metadata log (KIP-900). A controller takes a file of them, one per line,
for users that it knows before it can read that log: those by which controllers authenticate to each other.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Mapping
from typing import Final

from kraftctl_protocol.java_base64 import decode_base64
from kraftctl_protocol.java_values import parse_integer, trim
from kraftctl_protocol.scram import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    MECHANISM_NUMBERS,
    ScramCredential,
    credential,
    salt_password,
)
from kraftctl_security.sasl.scram_salts import Examples, derived_salt, new_salt
from kraftctl_security.sasl.scram_server import ScramCredentials, TokenCredential

KEYS: Final = ("name", "salt", "iterations", "password", "saltedpassword")

NEXT_STEP: Final = "Next step: give a password; a shell variable that is not set is empty."

USERS_MAX: Final = 1_000
"""The limit of a file, because making the credential of each user takes milliseconds."""

ScramUsers = Mapping[tuple[int, str], ScramCredential]
"""The users by the number of the mechanism in the log, and the name."""


class ScramUserError(Exception):
    """A text cannot be parsed. The error repeats no value, because passwords are among them."""


class ScramUser:
    """A user; `mechanism` is its number in the log."""

    def __init__(self, mechanism: int, name: str, credential: ScramCredential) -> None:
        self.mechanism = mechanism
        self.name = name
        self.credential = credential


class LocalUsersFirst:
    """Finds users in a file, then in the metadata log. Tokens are in the log only."""

    def __init__(self, users: ScramUsers, others: ScramCredentials) -> None:
        self.unknown_secret = others.unknown_secret
        self._users = users
        self._others = others

    def examples(self, mechanism: int) -> Examples:
        """Returns users of the log: those of the file have the form that is the default."""
        return self._others.examples(mechanism)

    def user(self, mechanism: int, name: str) -> ScramCredential | None:
        """Looks in the file first: the log may not be known yet."""
        return self._users.get((mechanism, name)) or self._others.user(mechanism, name)

    def token(self, mechanism: int, token_id: str) -> TokenCredential | None:
        return self._others.token(mechanism, token_id)


def parse_scram_users(text: str, unknown_secret: bytes = b"") -> ScramUsers:
    """Returns the users of a file. Empty lines and those that begin with `#` are left out.

    A salt that is not in the file is the one that an unknown user of that name would get.

    Raises ScramUserError, which names the line.
    """
    users: dict[tuple[int, str], ScramCredential] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.strip().startswith("#"):
            continue
        try:
            user = parse_scram_user(line, lambda *of: derived_salt(unknown_secret, *of))
        except ScramUserError as error:
            raise ScramUserError(f"line {number}: {error}") from None
        if not user.name:
            raise ScramUserError(f"line {number}: The 'name' value is empty: no client can log in with it.")
        if (user.mechanism, user.name) in users:
            raise ScramUserError(f"line {number}: the user is there twice with this mechanism.")
        users[user.mechanism, user.name] = user.credential
        if len(users) > USERS_MAX:
            raise ScramUserError(f"line {number}: there may be {USERS_MAX:,} users.")
    return users


def parse_scram_user(text: str, salt_of: Callable[[int, str], bytes] = lambda *_: new_salt()) -> ScramUser:
    """Accepts the same as Kafka (ScramParser), but no empty password. A user with an empty name has no
    effect.

    This takes milliseconds. Raises ScramUserError.
    """
    if not is_utf8(text):
        raise ScramUserError("The text is not UTF-8.")
    mechanism, fields = _parse(text)
    name = fields.get("name")
    if name is None:
        raise ScramUserError("You must supply 'name'.")
    iterations = _iterations(fields.get("iterations"))
    salt = salt_of(mechanism, name) if "salt" not in fields else _base64(fields, "salt")
    salted_password = _salted_password(fields, mechanism, salt, iterations)
    found = credential(mechanism, salt=salt, salted_password=salted_password, iterations=iterations)
    return ScramUser(mechanism, name, found)


def is_utf8(text: str) -> bool:
    """Returns False for an argument that is not UTF-8; Python keeps such bytes as surrogates."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def _parse(text: str) -> tuple[int, dict[str, str]]:
    mechanism, equals, rest = trim(text).partition("=")
    if not equals:
        raise ScramUserError("There is no equals sign: expected MECHANISM=[name=...].")
    if mechanism not in MECHANISM_NUMBERS:
        raise ScramUserError(f"The mechanism is not supported; {' and '.join(MECHANISM_NUMBERS)} are.")
    if not (rest.startswith("[") and rest.endswith("]")):
        raise ScramUserError("The part after the mechanism must start with [ and end with ].")
    fields: dict[str, str] = {}
    for component in _components(rest[1:-1]):
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


def _components(text: str) -> list[str]:
    """Splits as Java's `split` does: empty components at the end do not count."""
    components = text.split(",")
    while len(components) > 1 and not components[-1]:
        components.pop()
    return components


def _iterations(text: str | None) -> int:
    if text is None:
        return ITERATIONS_MIN
    number = parse_integer(text, 32)
    if number is None or not ITERATIONS_MIN <= number <= ITERATIONS_MAX:
        raise ScramUserError(f"iterations must be from {ITERATIONS_MIN} to {ITERATIONS_MAX}.")
    return number


def _salted_password(fields: dict[str, str], mechanism: int, salt: bytes, iterations: int) -> bytes:
    password = fields.get("password")
    if password is not None:
        if not password:
            raise ScramUserError(_empty("password"))
        return salt_password(mechanism, password.encode(), salt, iterations)
    if "saltedpassword" not in fields:
        raise ScramUserError("Neither password nor saltedpassword is given.")
    if "salt" not in fields:
        raise ScramUserError("saltedpassword is given without its salt.")
    salted_password = _base64(fields, "saltedpassword")
    if not salted_password:
        raise ScramUserError(_empty("saltedpassword"))
    if hmac.compare_digest(salted_password, salt_password(mechanism, b"", salt, iterations)):
        raise ScramUserError(f"The 'saltedpassword' value is that of an empty password. {NEXT_STEP}")
    return salted_password


def _empty(key: str) -> str:
    return f"The '{key}' value is empty: anybody who knows the name could log in. {NEXT_STEP}"


def _base64(fields: dict[str, str], key: str) -> bytes:
    decoded = decode_base64(fields[key])
    if decoded is None:
        raise ScramUserError(f"The '{key}' value is not base64.")
    return decoded
