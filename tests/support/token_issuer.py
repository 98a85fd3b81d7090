"""An issuer of tokens: keys, their JWKS, and JWTs that it signs."""

from __future__ import annotations

import base64
import json
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from jwt.algorithms import get_default_algorithms

CURVES: Final = {"ES256": ec.SECP256R1(), "ES384": ec.SECP384R1(), "ES512": ec.SECP521R1()}


def private_key(algorithm: str, rsa_bits: int = 2_048) -> Any:
    """A new key that can sign with `algorithm`."""
    if algorithm in CURVES:
        return ec.generate_private_key(CURVES[algorithm])
    if algorithm == "EdDSA":
        return ed25519.Ed25519PrivateKey.generate()
    return rsa.generate_private_key(65_537, rsa_bits)


class SigningKey:
    """A key of an issuer. `published` overrides or removes (None) parameters in the JWKS."""

    def __init__(
        self, key_id: str | None, algorithm: str = "ES256", key: Any = None, **published: Any
    ) -> None:
        self.id = key_id
        self.algorithm = algorithm
        self.key = private_key(algorithm) if key is None else key
        public = json.loads(get_default_algorithms()[algorithm].to_jwk(self.key.public_key()))
        parameters = public | {"kid": key_id, "alg": algorithm, "use": "sig"} | published
        self.published = {name: value for name, value in parameters.items() if value is not None}

    def sign(self, claims: dict[str, Any] | bytes, **header: Any) -> str:
        """A JWT; `header` overrides or removes (None) its parameters."""
        payload = claims if isinstance(claims, bytes) else json.dumps(claims).encode()
        parameters = {"alg": self.algorithm, "kid": self.id, "typ": "JWT"} | header
        parameters = {name: value for name, value in parameters.items() if value is not None}
        signed = f"{encoded(json.dumps(parameters).encode())}.{encoded(payload)}"
        algorithm = get_default_algorithms()[self.algorithm]
        return f"{signed}.{encoded(algorithm.sign(signed.encode(), self.key))}"


def jwks(*keys: SigningKey) -> bytes:
    return json.dumps({"keys": [each.published for each in keys]}).encode()


def encoded(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def claims_of(name: str, now_seconds: int, /, **others: Any) -> dict[str, Any]:
    """Claims of an hour; `others` overrides or removes (None) some."""
    found = {"sub": name, "iat": now_seconds, "exp": now_seconds + 3_600} | others
    return {name: value for name, value in found.items() if value is not None}


def hmac_token(claims: dict[str, Any], secret: bytes, **header: Any) -> str:
    """What an attacker makes who knows `secret`, for example the public key."""
    signing = get_default_algorithms()["HS256"]
    parameters = {"alg": "HS256", "typ": "JWT"} | header
    text = f"{encoded(json.dumps(parameters).encode())}.{encoded(json.dumps(claims).encode())}"
    return f"{text}.{encoded(signing.sign(text.encode(), secret))}"
