"""SCRAM credentials given to `kraftctl format --add-scram` (KIP-900), as bootstrap records.

A cluster whose brokers authenticate to one another with SCRAM cannot start without them: the credentials are
in the metadata that they protect.
"""

from __future__ import annotations

import base64
import binascii
import secrets

from kraftctl.storage.errors import StorageError
from kraftctl_protocol.metadata_record import RecordAndVersion
from kraftctl_protocol.scram import (
    ITERATIONS_MAX,
    ITERATIONS_MIN,
    MECHANISM_NUMBERS,
    credential_record,
    salt_password,
)

SALT_BYTES = 26
KEYS = ("name", "salt", "iterations", "password", "saltedpassword")


def scram_record(argument: str) -> RecordAndVersion:
    """The record for one argument such as `SCRAM-SHA-256=[name=alice,password=alice-secret]`.

    Raises StorageError when the argument is not understood; its message never repeats a password.
    """
    mechanism, fields = _parse(argument)
    name = fields.get("name")
    if name is None:
        raise StorageError("You must supply 'name' to --add-scram.")
    iterations = _iterations(fields.get("iterations"))
    salt = secrets.token_bytes(SALT_BYTES) if "salt" not in fields else _base64(fields, "salt")
    record = credential_record(
        name=name,
        mechanism=mechanism,
        salt=salt,
        salted_password=_salted_password(fields, mechanism, salt, iterations),
        iterations=iterations,
    )
    return RecordAndVersion(record, 0)


def _parse(argument: str) -> tuple[int, dict[str, str]]:
    mechanism_name, equals, text = argument.strip().partition("=")
    if not equals:
        raise StorageError(
            "There is no equals sign in an --add-scram argument: expected MECHANISM=[name=...]."
        )
    if mechanism_name not in MECHANISM_NUMBERS:
        raise StorageError(
            f"The --add-scram mechanism {mechanism_name} is not supported;"
            f" {' and '.join(MECHANISM_NUMBERS)} are."
        )
    if not (text.startswith("[") and text.endswith("]")):
        raise StorageError("The part after the mechanism of --add-scram must start with [ and end with ].")
    fields: dict[str, str] = {}
    for component in text[1:-1].split(","):
        key, equals, value = component.partition("=")
        if not equals:
            raise StorageError("There is no equals sign in a component of --add-scram: expected key=value.")
        quoted = len(value) >= 2 and value[0] == value[-1] == '"'
        fields[key] = value[1:-1] if quoted else value
    unknown = sorted(set(fields) - set(KEYS))
    if unknown:
        raise StorageError(
            f"Unknown SCRAM configurations: {', '.join(unknown)}; known are {', '.join(KEYS)}."
        )
    return MECHANISM_NUMBERS[mechanism_name], fields


def _iterations(text: str | None) -> int:
    if text is None:
        return ITERATIONS_MIN
    try:
        iterations = int(text)
    except ValueError as error:
        raise StorageError(f"The 'iterations' value of --add-scram is not a number: {text}") from error
    if not ITERATIONS_MIN <= iterations <= ITERATIONS_MAX:
        raise StorageError(
            f"The 'iterations' value of --add-scram must be from {ITERATIONS_MIN} to {ITERATIONS_MAX},"
            f" not {iterations}."
        )
    return iterations


def _salted_password(fields: dict[str, str], mechanism: int, salt: bytes, iterations: int) -> bytes:
    password = fields.get("password")
    if password is not None:
        return salt_password(mechanism, password.encode(), salt, iterations)
    if "saltedpassword" not in fields:
        raise StorageError("You must supply one of 'password' or 'saltedpassword' to --add-scram.")
    if "salt" not in fields:
        raise StorageError("You must supply 'salt' with 'saltedpassword' to --add-scram.")
    return _base64(fields, "saltedpassword")


def _base64(fields: dict[str, str], key: str) -> bytes:
    try:
        return base64.b64decode(fields[key], validate=True)
    except binascii.Error as error:
        raise StorageError(f"The '{key}' value of --add-scram is not base64.") from error
