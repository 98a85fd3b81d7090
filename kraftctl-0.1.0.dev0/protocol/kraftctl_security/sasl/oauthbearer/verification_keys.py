"""The public keys of an issuer (JWKS, RFC 7517), and which of them may have signed a token."""

from __future__ import annotations

import base64
import hashlib
from typing import Any, Final, TypeAlias

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from kraftctl_security.sasl.oauthbearer.json_object import JsonObject, JsonObjectError, parse_json_object

PublicKey: TypeAlias = Any
"""A public key of `cryptography`, of the type that its algorithm needs."""

KEY_TYPES: Final = {
    **dict.fromkeys(("RS256", "RS384", "RS512", "PS256", "PS384", "PS512"), "RSA"),
    **dict.fromkeys(("ES256", "ES384", "ES512"), "EC"),
    "EdDSA": "OKP",
}
"""The type of the keys of each algorithm of jose4j, without `none` and without HMAC.

A reader of the JWKS could sign with a symmetric key in it."""

CURVES: Final = {
    "ES256": ("P-256",),
    "ES384": ("P-384",),
    "ES512": ("P-521",),
    "EdDSA": ("Ed25519", "Ed448"),
}

PUBLIC_PARAMETERS: Final = {"RSA": ("n", "e"), "EC": ("crv", "x", "y"), "OKP": ("crv", "x")}
"""The parameters of the public key; private ones are not read."""

RSA_BITS_MIN: Final = 2_048
"""RFC 7518 section 3.3 demands it, and so does jose4j."""

KEYS_MAX: Final = 1_000
"""An issuer has a few keys, so this is a limit for damage only."""


class VerificationKeysError(Exception):
    """The document is not a JWKS."""


class VerificationKey:
    """A public key of the issuer. Properties that the issuer leaves open are None."""

    def __init__(self, parameters: JsonObject) -> None:
        """Raises VerificationKeysError for a key that cannot be used."""
        self.type = _text(parameters, "kty") or ""
        self.id = _text(parameters, "kid")
        self.use = _text(parameters, "use")
        self.algorithm = _text(parameters, "alg")
        self.curve = _text(parameters, "crv")
        self.operations = _texts(parameters, "key_ops")
        self.public_key = _public_key(parameters, self.type)
        self.x5t, self.x5t_s256 = _thumbprints(parameters, self.public_key)

    def may_verify(self, header: JsonObject, algorithm: str) -> bool:
        """Returns whether jose4j uses this key for a token with this header. Raises VerificationKeysError."""
        key_id, x5t, x5t_s256 = (_text(header, name) for name in ("kid", "x5t", "x5t#S256"))
        return (
            self.type == KEY_TYPES[algorithm]
            and (key_id is None or self.id == key_id)
            and self.use in (None, "sig")
            and (self.operations is None or "verify" in self.operations)
            and (x5t is None or self.x5t in (None, x5t))
            and (x5t_s256 is None or self.x5t_s256 in (None, x5t_s256))
        )


class VerificationKeys:
    """The keys that can verify signatures, in the order of the issuer."""

    def __init__(self, keys: list[VerificationKey]) -> None:
        self.keys = keys
        self.ids = frozenset(each.id for each in keys if each.id is not None)

    def select(self, header: JsonObject, algorithm: str) -> VerificationKey | None:
        """Returns the key for a token with this header, by the rules of jose4j's VerificationJwkSelector.

        Nothing of the header is used as a key: `jku`, `jwk`, `x5u` and `x5c` are ignored. Raises
        VerificationKeysError when the header has a key id that is not a string.
        """
        found = [each for each in self.keys if each.may_verify(header, algorithm)]
        if len(found) > 1:
            found = [each for each in found if each.algorithm in (None, algorithm)]
        if len(found) > 1 and algorithm in CURVES:
            found = [each for each in found if each.curve in CURVES[algorithm]]
        return found[0] if found else None


def parse_verification_keys(document: bytes) -> VerificationKeys:
    """A key that cannot be used is left out, as in Kafka. Raises VerificationKeysError."""
    try:
        listed = parse_json_object(document).get("keys")
    except JsonObjectError as error:
        raise VerificationKeysError(f"it is no JWKS: {error}") from error
    if not isinstance(listed, list):
        raise VerificationKeysError("it is no JWKS: it has no list of keys")
    if len(listed) > KEYS_MAX:
        raise VerificationKeysError(f"it has {len(listed)} keys, and at most {KEYS_MAX} are read")
    keys: list[VerificationKey] = []
    for parameters in listed:
        try:
            keys.append(VerificationKey(parameters))
        except VerificationKeysError:
            continue
    if not keys:
        raise VerificationKeysError(f"none of its {len(listed)} keys can verify a signature")
    return VerificationKeys(keys)


def _public_key(parameters: JsonObject, kind: str) -> PublicKey:
    names = PUBLIC_PARAMETERS.get(kind)
    if names is None or any(_text(parameters, name) is None for name in names):
        raise VerificationKeysError("a key is neither RSA, EC nor OKP")
    try:
        key = PyJWK({"kty": kind, **{name: parameters[name] for name in names}}).key
    except (PyJWTError, ValueError, TypeError) as error:
        raise VerificationKeysError("a key has parameters that cannot be used") from error
    if isinstance(key, rsa.RSAPublicKey) and key.key_size < RSA_BITS_MIN:
        raise VerificationKeysError(f"a key of RSA has less than {RSA_BITS_MIN} bits")
    return key


def _thumbprints(parameters: JsonObject, key: PublicKey) -> tuple[str | None, str | None]:
    """Returns the thumbprints of a key's certificate, calculated where the issuer gives the certificate
    only.
    """
    x5t, x5t_s256 = _text(parameters, "x5t"), _text(parameters, "x5t#S256")
    chain = _texts(parameters, "x5c")
    if not chain:
        return x5t, x5t_s256
    try:
        der = base64.b64decode(chain[0], validate=True)
        certified = x509.load_der_x509_certificate(der).public_key()
    except (ValueError, UnsupportedAlgorithm) as error:
        raise VerificationKeysError("a key has a certificate that cannot be read") from error
    if certified != key:
        raise VerificationKeysError("a key is not that of its certificate")
    # The name of a certificate, not a signature.
    return (
        x5t or _encoded(hashlib.sha1(der, usedforsecurity=False).digest()),
        x5t_s256 or _encoded(hashlib.sha256(der).digest()),
    )


def _encoded(digest: bytes) -> str:
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()


def _text(parameters: JsonObject, name: str) -> str | None:
    if not isinstance(parameters, dict):
        raise VerificationKeysError("a key is not an object")
    value = parameters.get(name)
    if value is not None and not isinstance(value, str):
        raise VerificationKeysError(f"{name} is not a string")
    return value


def _texts(parameters: JsonObject, name: str) -> list[str] | None:
    value = parameters.get(name)
    if value is None:
        return None
    if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
        raise VerificationKeysError(f"{name} is not a list of strings")
    return [each for each in value if isinstance(each, str)]
