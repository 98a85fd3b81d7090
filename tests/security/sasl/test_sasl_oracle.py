"""Kafka's own sides of PLAIN and SCRAM as the other side: the same users, the same refusals."""

from __future__ import annotations

import base64
import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS
from kraftctl_protocol.scram import MECHANISM_NAMES, ScramCredential
from kraftctl_security.sasl.mechanism import SaslAuthenticationError, SaslClient, SaslServer
from kraftctl_security.sasl.plain import PlainClient, PlainServer, PlainUsers
from kraftctl_security.sasl.scram_client import ScramClient
from kraftctl_security.sasl.scram_server import ScramServer
from tests.security.sasl.known_users import WALL_MS, KnownUsers, made
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "SaslOracle.java"

NAMES = (
    *(
        "alice",
        "a,b",
        "a=b",
        "=2C",
        ",,==",
        "CN=kafka,O=Example",
        "é",
        "日本",
        "\U0001f600",
        "a b",
        "\x01\x7f",
    ),
    "x" * 300,
)
PASSWORDS = (
    *("alice-secret", "p,=q", "ünï", "日本", "\U0001f600", " ", "ﬁ", "\u212b", "a\u00adb"),
    "y" * 500,
)
PLAIN_PARTS = (b"", b"", b"alice", b"alice", b"p", b"p", b"x", b"\xff", b"\xc3\xa9")


class Kafka:
    """Both sides of Kafka, in one JVM."""

    def __init__(self) -> None:
        command = [kafka().java, *QUICK_JAVA_OPTIONS, "-Xmx256m", "-cp", kafka().classpath, str(ORACLE)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self._count = 0

    def ask(self, *words: str) -> list[str]:
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(" ".join(words) + "\n")
        stdin.flush()
        answer = stdout.readline().split()
        assert answer, "the oracle has ended"
        return answer

    def side(self, *words: str) -> str:
        """A new server or client; returns its id."""
        self._count += 1
        name = f"{words[0]}-{self._count}"
        assert self.ask(words[0], name, *words[1:]) == ["ok"]
        return name

    def close(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        stdin.close()
        self._process.wait()


@pytest.fixture(scope="module")
def theirs() -> Iterator[Kafka]:
    oracle = Kafka()
    yield oracle
    oracle.close()


def encoded(data: str | bytes) -> str:
    return base64.b64encode(data.encode() if isinstance(data, str) else data).decode() or "-"


def decoded(text: str) -> bytes:
    return b"" if text == "-" else base64.b64decode(text)


def our_client_with_their_server(theirs: Kafka, client: SaslClient) -> str | None:
    """The principal's name, None if either refuses."""
    side = theirs.side("server", client.mechanism)
    token = client.evaluate(b"")
    while token is not None:
        answer = theirs.ask("evaluate", side, encoded(token))
        if answer[0] == "refused":
            return None
        name = decoded(answer[2]).decode() if answer[0] == "done" else None
        token = None if client.is_complete else client.evaluate(decoded(answer[1]))
    assert client.is_complete
    return name


def their_client_with_our_server(
    theirs: Kafka, server: SaslServer, mechanism: str, name: str, password: str, *, token_auth: bool = False
) -> str | None:
    """The principal's name, None if either refuses."""
    side = theirs.side("client", mechanism, encoded(name), encoded(password), str(token_auth).lower())
    challenge = b""
    while server.authenticated is None:
        answer = theirs.ask("evaluate", side, encoded(challenge))
        if answer[0] == "refused":
            return None
        try:
            challenge = server.evaluate(decoded(answer[1]), WALL_MS)
        except SaslAuthenticationError:
            return None
    if mechanism != "PLAIN":
        assert theirs.ask("evaluate", side, encoded(challenge)) == ["done", "-"]
    return server.authenticated.principal.name


def random_text(rng: random.Random, some: tuple[str, ...]) -> str:
    if rng.random() < 0.5:
        return rng.choice(some)
    return "".join(rng.choices("ab,=\\ ;é日\U0001f600", k=rng.randint(1, 12)))


def users(count: int) -> Iterator[tuple[int, str, str, int]]:
    """Mechanism, name, password and iterations."""
    rng = random.Random(FIRST_SEED)
    for _ in range(count):
        iterations = rng.choice((4_096, 4_096, 5_000, 16_384))
        yield rng.choice((1, 2)), random_text(rng, NAMES), random_text(rng, PASSWORDS), iterations


def is_ascii(name: str) -> bool:
    """Kafka's servers refuse other names."""
    return name.isascii()


def test_our_clients_authenticate_to_their_servers(theirs: Kafka) -> None:
    for mechanism, name, password, iterations in users(scaled(24)):
        scram = MECHANISM_NAMES[mechanism]
        theirs.ask("user", scram, encoded(name), encoded(password), str(iterations))
        right = ScramClient(mechanism, name, password, nonce="abc", token_auth=False)
        assert our_client_with_their_server(theirs, right) == (name if is_ascii(name) else None)
        wrong = ScramClient(mechanism, name, password + "x", nonce="abc", token_auth=False)
        assert our_client_with_their_server(theirs, wrong) is None
        theirs.ask("plain-user", encoded(name), encoded(password))
        assert our_client_with_their_server(theirs, PlainClient(name, password)) == name
        assert our_client_with_their_server(theirs, PlainClient(name, password + "x")) is None


def test_their_clients_authenticate_to_our_servers(theirs: Kafka) -> None:
    """With credentials that Kafka has made: here are the salt and the keys of its log."""
    for mechanism, name, password, iterations in users(scaled(24)):
        scram = MECHANISM_NAMES[mechanism]
        made_by_kafka = theirs.ask("user", scram, encoded(name), encoded(password), str(iterations))
        salt, stored_key, server_key = map(decoded, made_by_kafka)
        known = KnownUsers()
        known.users[mechanism, name] = ScramCredential(
            salt=salt, stored_key=stored_key, server_key=server_key, iterations=iterations
        )

        def server(mechanism: int = mechanism, known: KnownUsers = known) -> ScramServer:
            return ScramServer(mechanism, known, nonce="abc")

        assert their_client_with_our_server(theirs, server(), scram, name, password) == (
            name if is_ascii(name) else None
        )
        assert their_client_with_our_server(theirs, server(), scram, name, password + "x") is None
        plain = PlainServer(PlainUsers({f"user_{name}": password}))
        assert their_client_with_our_server(theirs, plain, "PLAIN", name, password) == name


def test_credentials_made_here_are_theirs(theirs: Kafka) -> None:
    for mechanism, name, password, iterations in users(scaled(24)):
        credential = made(mechanism, password, iterations)
        keys = (credential.salt, credential.stored_key, credential.server_key)
        scram = MECHANISM_NAMES[mechanism]
        theirs.ask("credential", scram, encoded(name), *map(encoded, keys), str(iterations))
        client = theirs.side("client", scram, encoded(name), encoded(password), "false")
        server = theirs.side("server", scram)
        challenge = theirs.ask("evaluate", client, "-")[1]
        for side in (server, client, server):
            answer = theirs.ask("evaluate", side, challenge)
            if answer[0] == "refused":
                assert not is_ascii(name)
                break
            challenge = answer[1]


def test_tokens_authenticate_their_owners(theirs: Kafka) -> None:
    for mechanism in (1, 2):
        scram = MECHANISM_NAMES[mechanism]
        theirs.ask("token", scram, encoded("id-1"), encoded("hmac"), encoded("owner"))
        client = ScramClient(mechanism, "id-1", "hmac", nonce="abc", token_auth=True)
        assert our_client_with_their_server(theirs, client) == "owner"
        known = KnownUsers()
        known.add_token(mechanism, "id-1", "hmac", "owner", WALL_MS + 1)
        known.add(mechanism, "id-1", "of a user")
        server = ScramServer(mechanism, known, nonce="abc")
        owner = their_client_with_our_server(theirs, server, scram, "id-1", "hmac", token_auth=True)
        assert owner == "owner"
        assert server.authenticated is not None
        assert server.authenticated.principal.token_authenticated
        server = ScramServer(mechanism, known, nonce="abc")
        assert their_client_with_our_server(theirs, server, scram, "id-1", "hmac") is None


PIECES = (
    *(
        "n,",
        "y,",
        ",",
        "a=alice,",
        "a=bob,",
        "m=x,",
        "n=alice",
        "n=",
        "n=a=2Cb",
        "n=a=3D",
        "n=a=2",
        "n==",
        "r=x",
        "r=",
    ),
    *(
        ",tokenauth=true",
        ",x=y",
        ",1=y",
        ",x=",
        ",",
        "c=biws",
        "c=",
        ",p=AAAA",
        ",p=",
        ",p=A",
        "é",
        "\0",
        " ",
        "\n",
        "\x7f",
    ),
)


def messages(count: int) -> Iterator[bytes]:
    """First messages, half of them nearly well-formed."""
    rng = random.Random(FIRST_SEED)
    for _ in range(count):
        parts = rng.choices(PIECES, k=rng.randint(0, 4))
        if rng.random() < 0.6:
            parts = ["n,", rng.choice((",", ",", "a=alice,", "a=bob,")), "n=alice,r=x", *parts]
        yield "".join(parts).encode()


def verdict(server: SaslServer, token: bytes) -> str:
    try:
        server.evaluate(token, WALL_MS)
    except SaslAuthenticationError:
        return "refused"
    return "more"


def test_first_messages_have_the_same_verdict(theirs: Kafka) -> None:
    """Users that Kafka knows. It ignores `m=`, which the RFC forbids."""
    theirs.ask("user", "SCRAM-SHA-256", encoded("alice"), encoded("p"), "4096")
    theirs.ask("user", "SCRAM-SHA-256", encoded("a,b"), encoded("p"), "4096")
    theirs.ask("user", "SCRAM-SHA-256", encoded("a="), encoded("p"), "4096")
    theirs.ask("token", "SCRAM-SHA-256", encoded("alice"), encoded("p"), encoded("alice"))
    known = KnownUsers()
    answered = 0
    for token in messages(scaled(4_000)):
        answer = theirs.ask("evaluate", theirs.side("server", "SCRAM-SHA-256"), encoded(token))[0]
        found = verdict(ScramServer(1, known, nonce="abc"), token)
        assert found == answer or (found == "refused" and b"m=x," in token), token
        answered += found == "more"
    assert answered > scaled(500)


def test_plain_messages_have_the_same_verdict(theirs: Kafka) -> None:
    rng = random.Random(FIRST_SEED)
    theirs.ask("plain-user", encoded("alice"), encoded("p"))
    theirs.ask("plain-user", encoded("x"), "-")
    users = PlainUsers({"user_alice": "p", "user_x": ""})
    accepted = 0
    for _ in range(scaled(2_000)):
        token = b"\0".join(rng.choices(PLAIN_PARTS, k=rng.choice((2, 3, 3, 3, 4))))
        answer = theirs.ask("evaluate", theirs.side("server", "PLAIN"), encoded(token))[0]
        server = PlainServer(users)
        found = verdict(server, token)
        assert (found != "refused") == (answer == "done"), token
        accepted += server.authenticated is not None
    assert accepted > scaled(10)


FINAL_CHANGES = (
    *(
        (b"c=biws", b"c="),
        (b"r=", b"r=x"),
        (b",p=", b",x=y,p="),
        (b",p=", b",p=AAAA"),
        (b"c=", b"d="),
        (b"=", b""),
    ),
    *(
        (b"c=biws,", b""),
        (b"r=clients", b"r=Clients"),
        (b"p=", b"q="),
        (b"c=biws", b"c=biws,m=x"),
        (b"", b""),
    ),
)


def test_last_messages_that_kafka_refuses_are_refused(theirs: Kafka) -> None:
    """The other way round not: Kafka does not compare the channel binding."""
    theirs.ask("user", "SCRAM-SHA-512", encoded("alice"), encoded("p"), "4096")
    known = KnownUsers()
    known.add(2, "alice", "p")
    accepted = 0
    for old, new in FINAL_CHANGES:
        client = ScramClient(2, "alice", "p", nonce="clients", token_auth=False)
        side, first = theirs.side("server", "SCRAM-SHA-512"), client.evaluate(b"")
        assert first is not None
        final = client.evaluate(decoded(theirs.ask("evaluate", side, encoded(first))[1]))
        assert final is not None
        answer = theirs.ask("evaluate", side, encoded(final.replace(old, new, 1)))[0]
        client = ScramClient(2, "alice", "p", nonce="clients", token_auth=False)
        server = ScramServer(2, known, nonce="abc")
        final = client.evaluate(server.evaluate(client.evaluate(b"") or b"", WALL_MS))
        assert final is not None
        found = verdict(server, final.replace(old, new, 1))
        assert found == "refused" or answer == "done", (old, new)
        accepted += server.authenticated is not None
    assert accepted == 1
