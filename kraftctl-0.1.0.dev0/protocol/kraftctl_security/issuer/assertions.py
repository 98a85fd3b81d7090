"""Assertions that prove who a client is: signed with its private key, or read from a file."""

from __future__ import annotations

import base64
import json
import time
import uuid
from typing import Final

from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from jwt.algorithms import get_default_algorithms

from kraftctl_protocol.file_errors import file_error
from kraftctl_security.sasl.oauthbearer.assertion_config import (
    AssertionFile,
    SignedAssertion,
    assertion_claims,
    assertion_header,
)
from kraftctl_security.sasl.oauthbearer.json_object import JsonObject, JsonObjectError, parse_json_object
from kraftctl_security.small_files import read_small_file

FILE_BYTES_MAX: Final = 1024 * 1024

NAMED_BY: Final = "the files of sasl.oauthbearer.assertion.*"

KEY_TYPES: Final[dict[str, type]] = {"RS256": rsa.RSAPrivateKey, "ES256": ec.EllipticCurvePrivateKey}
P_256: Final = ec.SECP256R1.name
"""The curve of ES256."""


class UnusableAssertionError(Exception):
    """An assertion cannot be made; the text names the file, and no secret."""


def make_assertion(config: SignedAssertion | AssertionFile) -> str:
    """Makes an assertion; reads its files each time, so that keys may be replaced. Raises
    UnusableAssertionError.
    """
    if isinstance(config, AssertionFile):
        return _read(config.path).decode(errors="replace").strip()
    header, payload = _template(config.template_file)
    now_ms = time.time_ns() // 1_000_000
    parts = (
        assertion_header(config, header),
        assertion_claims(config, payload, now_ms=now_ms, id=str(uuid.uuid4())),
    )
    content = ".".join(_encoded(json.dumps(part, separators=(",", ":")).encode()) for part in parts)
    return f"{content}.{_encoded(_signature(config, content.encode()))}"


def _signature(config: SignedAssertion, content: bytes) -> bytes:
    path, passphrase = config.private_key_file, config.passphrase
    try:
        key = load_pem_private_key(_read(path), None if passphrase is None else passphrase.encode())
    except (ValueError, TypeError) as error:
        raise UnusableAssertionError(
            f"{path} has no private key that can be read. Next step: check its format, which is PEM, and"
            " sasl.oauthbearer.assertion.private.key.passphrase"
        ) from error
    algorithm = get_default_algorithms()[config.algorithm]
    fits = isinstance(key, KEY_TYPES[config.algorithm])
    if not fits or (isinstance(key, ec.EllipticCurvePrivateKey) and key.curve.name != P_256):
        raise UnusableAssertionError(f"the private key of {path} is not for {config.algorithm}")
    signature: bytes = algorithm.sign(content, key)
    return signature


def _template(path: str | None) -> tuple[JsonObject, JsonObject]:
    """Returns header and payload of the template; both are empty without a file."""
    if path is None:
        return {}, {}
    try:
        found = parse_json_object(_read(path))
    except JsonObjectError as error:
        raise UnusableAssertionError(f"the template {path}: {error}") from error
    header, payload = found.get("header", {}), found.get("payload", {})
    if not isinstance(header, dict) or not isinstance(payload, dict):
        raise UnusableAssertionError(f"the template {path}: header and payload have to be objects")
    return header, payload


def _read(path: str) -> bytes:
    try:
        return read_small_file(path, FILE_BYTES_MAX)
    except OSError as error:
        raise UnusableAssertionError(file_error("read", path, error, named_by=NAMED_BY)) from error


def _encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
