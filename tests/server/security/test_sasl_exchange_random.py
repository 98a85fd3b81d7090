"""Frames in any order, whole and damaged: the right token alone authenticates, and nothing raises."""

from __future__ import annotations

import random

import pytest

from kraftctl.server.security.sasl_exchange import SaslExchange, Session
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.generated.sasl_authenticate_request import SaslAuthenticateRequest
from kraftctl_protocol.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.principal import KafkaPrincipal
from kraftctl_security.sasl.mechanism import SaslAuthenticationError
from tests.server.security.naming_servers import NamingServer, NamingServers
from tests.server.serving import request_bytes
from tests.support.effort import seeds

SECRET = b"alice"
CONVERSATIONS_COUNT = 100
SESSIONS_MIN = 10
"""Otherwise the frames are not worth sending."""
ALICE = Session(KafkaPrincipal("User", "alice"), "NAMING", 1_000, is_renewable=True)

VERSIONS = [
    request_bytes(ApiVersionsRequest(client_software_name="c", client_software_version="1"), version)
    for version in range(5)
]
HANDSHAKES = {
    (name, version): request_bytes(SaslHandshakeRequest(name), version)
    for name in ("NAMING", "ASKING", "OTHER")
    for version in (0, 1)
}
TOKENS = [request_bytes(SaslAuthenticateRequest(SECRET), version) for version in (0, 1, 2)]
OTHERS = [
    request_bytes(SaslAuthenticateRequest(b"wrong"), 2),
    request_bytes(VoteRequest(), 0),
    request_bytes(FetchRequest(), 12),
    b"",
]
FRAMES = [*VERSIONS, *HANDSHAKES.values(), *TOKENS, *OTHERS, SECRET]


class OneUser(NamingServers):
    """Knows alice, and notes whether she has proven who she is."""

    def __init__(self) -> None:
        super().__init__(session_ms_max=1_000)
        self.proven = False

    def server(self, mechanism: str) -> NamingServer:
        servers = self

        class Server(NamingServer):
            def evaluate(self, token: bytes, wall_ms: int) -> bytes:
                if token != SECRET:
                    raise SaslAuthenticationError("no")
                challenge = super().evaluate(token, wall_ms)
                servers.proven = self.authenticated is not None
                return challenge

        return Server(self.mechanisms.index(mechanism), None)


def damaged(rng: random.Random, frame: bytes) -> bytes:
    data = bytearray(frame)
    for _ in range(rng.randrange(1, 4)):
        kind = rng.randrange(3)
        place = rng.randrange(len(data) + 1)
        if kind == 0 and data:
            data[place % len(data)] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
        elif kind == 1:
            del data[place:]
        else:
            data[place:place] = rng.randbytes(rng.randrange(1, 9))
    return bytes(data)


def conversation(rng: random.Random) -> list[bytes]:
    """One that succeeds, with some frames more, others, or damaged."""
    name, version = rng.choice(("NAMING", "ASKING")), rng.choice((0, 1))
    token = rng.choice(TOKENS) if version else SECRET
    frames = [*rng.sample(VERSIONS, rng.randrange(2)), HANDSHAKES[name, version], token, token]
    for _ in range(rng.randrange(3)):
        place = rng.randrange(len(frames))
        kind = rng.randrange(3)
        if kind == 0:
            frames[place] = damaged(rng, frames[place])
        elif kind == 1:
            frames[place] = rng.choice(FRAMES)
        else:
            frames.insert(place, rng.choice(FRAMES))
    return frames


@pytest.mark.parametrize("seed", seeds(20))
def test_only_the_right_token_authenticates(seed: int) -> None:
    rng = random.Random(seed)
    sessions = 0
    for _ in range(CONVERSATIONS_COUNT):
        servers = OneUser()
        exchange = SaslExchange(servers, rng.choice((None, ALICE)))
        for frame in conversation(rng):
            received = exchange.receive(frame)
            if isinstance(received, str):
                break
            if isinstance(received.parsed.body, ApiVersionsRequest) and not exchange.expects_tokens:
                continue
            outcome = exchange.answer(received, 0)
            if outcome.response is not None:
                received.encode_response(outcome.response)
            assert (outcome.session is not None) <= servers.proven
            assert outcome.session is None or outcome.failure is None
            if outcome.session is not None or outcome.failure is not None:
                sessions += outcome.session is not None
                break
    assert sessions >= SESSIONS_MIN
