"""Users and tokens that a listener knows, for exchanges of SCRAM without a server."""

from __future__ import annotations

from dataclasses import dataclass

from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_protocol.scram import ScramCredential, credential, salt_password
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from kraftctl_security.sasl.scram_server import ScramServer

SHA_256, SHA_512 = 1, 2
SALT = b"a salt"
WALL_MS = 1_000
SECRET = b"of a listener"


@dataclass
class KnownToken:
    credential: ScramCredential
    owner: KafkaPrincipal
    expires_at_ms: int


class KnownUsers:
    """`ScramCredentials` of a test."""

    def __init__(self, unknown_secret: bytes = SECRET) -> None:
        self.unknown_secret = unknown_secret
        self.users: dict[tuple[int, str], ScramCredential] = {}
        self.tokens: dict[tuple[int, str], KnownToken] = {}

    def examples(self, mechanism: int) -> dict[str, ScramCredential]:
        return {name: each for (of_mechanism, name), each in self.users.items() if of_mechanism == mechanism}

    def user(self, mechanism: int, name: str) -> ScramCredential | None:
        return self.users.get((mechanism, name))

    def token(self, mechanism: int, token_id: str) -> KnownToken | None:
        return self.tokens.get((mechanism, token_id))

    def add(self, mechanism: int, name: str, password: str, iterations: int = 4_096) -> None:
        self.users[mechanism, name] = made(mechanism, password, iterations)

    def add_token(self, mechanism: int, token_id: str, password: str, owner: str, expires_at_ms: int) -> None:
        principal = KafkaPrincipal("User", owner)
        self.tokens[mechanism, token_id] = KnownToken(made(mechanism, password), principal, expires_at_ms)


def made(mechanism: int, password: str, iterations: int = 4_096) -> ScramCredential:
    salted = salt_password(mechanism, password.encode(), SALT, iterations)
    return credential(mechanism, salt=SALT, salted_password=salted, iterations=iterations)


def server(users: KnownUsers, mechanism: int = SHA_256, *, nonce: str = "servers") -> ScramServer:
    return ScramServer(mechanism, users, nonce=nonce)


def refusal(side: ScramServer, token: bytes, wall_ms: int = WALL_MS) -> SaslAuthenticationError:
    """Why the token is not answered."""
    try:
        side.evaluate(token, wall_ms)
    except SaslAuthenticationError as error:
        assert side.authenticated is None
        return error
    raise AssertionError(f"answered: {token!r}")
