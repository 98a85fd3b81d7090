"""Kafka's own controller and kraftctl answer every cell of the table of rights alike.

Both have the same entries, broker and topics. Principals come with a certificate, or behind a broker.
"""

from __future__ import annotations

import random
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.dev.settings import CONTROLLER_LISTENER
from kraftctl.metadata.config_definitions.generated.topic_config_data import TOPIC_CONFIG_KEYS
from kraftctl_protocol.acl_operation import AclOperation
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_acls_request import CreateAclsRequest
from kraftctl_protocol.generated.create_acls_response import CreateAclsResponse
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.unregister_broker_request import UnregisterBrokerRequest
from kraftctl_protocol.generated.unregister_broker_response import UnregisterBrokerResponse
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import KafkaPrincipal, serialize_principal
from tests.support.certificates import Authority, Identity, properties_of
from tests.support.processes.kafka import Cluster, await_result, kafka, random_id
from tests.support.rights.asking import CELLS, Answer, ask, asked, forward, names, prepare, user
from tests.support.rights.grants import Grant
from tests.support.rights.row import SUPER, Cell, World, errors_of, refusal_of, shape
from tests.support.wire.controller_client import ControllerClient

pytestmark = pytest.mark.interop

SETTINGS = {
    "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SSL",
    "listener.name.controller.ssl.client.auth": "requested",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": f"User:CN={SUPER};User:CN=controller",
    "delegation.token.secret.key": "secret",
    "broker.session.timeout.ms": "3600000",
}


class SslDoor:
    """The listener of a running controller; each principal keeps a connection."""

    def __init__(self, port: int, authority: Authority, identities: dict[str, Path]) -> None:
        self._port = port
        self._ca = authority.pem
        self._identities = identities
        self._clients: dict[str, ControllerClient] = {}

    def ask(self, principal: KafkaPrincipal, request: Message, version: int | None = None) -> Message | None:
        used = request.HIGHEST_VERSION if version is None else version
        client = self._clients.get(principal.name)
        if client is None:
            client = ControllerClient(self._port, ssl_context=self._context(principal.name))
            self._clients[principal.name] = client
        try:
            return client.call(request, used, Message)
        except OSError:
            self._clients.pop(principal.name).close()
            return None

    def close(self) -> None:
        for client in self._clients.values():
            client.close()

    def _context(self, name: str) -> ssl.SSLContext:
        context = ssl.create_default_context(cadata=self._ca)
        if name in self._identities:
            context.load_cert_chain(self._identities[name])
        return context


@dataclass(frozen=True)
class Side:
    door: SslDoor
    world: World

    def lets_in(self, principal: KafkaPrincipal) -> bool:
        """Whether the authorizer has an entry for it: Kafka's has it a moment after it is committed."""
        answer = forward(self.door, principal, UNREGISTRATION, 0, address=ADDRESSES[0]).response
        assert isinstance(answer, UnregisterBrokerResponse)
        return answer.error_code == Errors.BROKER_ID_NOT_REGISTERED


Sides = dict[str, Side]


@pytest.fixture(scope="module")
def sides(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sides]:
    """One controller of each kind."""
    directory = tmp_path_factory.mktemp("rights")
    authority = Authority()
    keystore = properties_of(
        authority.issue("CN=controller"), authority, directory, "listener.name.controller."
    )
    identities = {name: write_identity(directory, name, authority.issue(name)) for name in names()}
    cluster_id = random_id()
    clusters = {
        kind: Cluster(
            kafka("4.4.0"),
            directory / kind,
            brokers=0,
            java_controller=kind == "Kafka",
            cluster_id=cluster_id,
            release_version="4.3",
            controller_settings={**SETTINGS, **keystore},
        )
        for kind in ("Kafka", "kraftctl")
    }
    found: Sides = {}
    try:
        for cluster in clusters.values():
            cluster.format()
            cluster.controller.start(wait=False)
        for kind, cluster in clusters.items():
            cluster.controller.await_ready()
            door = SslDoor(cluster.controller.port, authority, identities)
            found[kind] = Side(door, prepare(door, cluster_id))
        yield found
    finally:
        for side in found.values():
            side.door.close()
        for cluster in clusters.values():
            cluster.stop()


def write_identity(directory: Path, name: str, identity: Identity) -> Path:
    path = directory / f"{name}.pem"
    path.write_text(identity.pem())
    return path


def both(sides: Sides, question: Callable[[Side], object]) -> str | None:
    """What the two answer, if it is not the same."""
    theirs, ours = question(sides["Kafka"]), question(sides["kraftctl"])
    return None if theirs == ours else f"\n  Kafka    {theirs}\n  kraftctl {ours}"


def answer_to(cell: Cell, version: int | None, envelope: bool) -> Callable[[Side], object]:
    def answered(side: Side) -> object:
        answer = ask(side.door, side.world, cell, envelope=envelope, version=version)
        return seen(answer, cell, version)

    return answered


def seen(answer: Answer, cell: Cell, version: int | None) -> object:
    """Without the configurations of topics that are new in Kafka 4.4."""
    response = answer.response
    if response is None:
        return answer.error
    if cell.row.has_loggers:
        return refusal_of(response)
    if cell.row.errors_only:
        return errors_of(response)
    if isinstance(response, CreateTopicsResponse):
        for topic in response.topics:
            topic.configs = [one for one in topic.configs or [] if one.name in TOPIC_CONFIG_KEYS]
    return shape(response, response.HIGHEST_VERSION if version is None else version)


def test_every_cell(sides: Sides) -> None:
    differences: list[str] = []
    for envelope in (False, True):
        for cell in CELLS:
            if cell.is_token and not envelope:
                continue  # the same as without a token: no certificate says that there was one
            difference = both(sides, answer_to(cell, None, envelope))
            if difference is not None:
                differences.append(f"{'envelope ' if envelope else ''}{cell.id}{difference}")
    assert not differences, "\n".join(differences)


def test_refusals_in_every_version(sides: Sides) -> None:
    differences: list[str] = []
    for cell in CELLS:
        if cell.who != "without":
            continue
        api = API_TABLE[cell.row.request(World("")).API_KEY]
        # Kafka 4 has no AlterPartition of versions 0 and 1.
        lowest = 2 if api.key == ApiKey.ALTER_PARTITION else api.lowest
        for version in range(lowest, api.highest + 1):
            difference = both(sides, answer_to(cell, version, False))
            if difference is not None:
                differences.append(f"{cell.id} version {version}{difference}")
    assert not differences, "\n".join(differences)


UNREGISTRATION = UnregisterBrokerRequest(broker_id=77)

HOSTED = user("hosted")
"""It may alter the cluster, but only from one address."""

ADDRESSES = [
    b"\x0a\0\0\1",
    bytes(10) + b"\xff\xff\x0a\0\0\1",
    bytes(12) + b"\x0a\0\0\1",
    b"\x0a\0\0\2",
    b"",
    b"\x0a\0\0",
    b"\x0a\0\0\1\0",
    bytes(17),
]

TYPES = ["User", "Group", "user", "", "User:CN=hosted", "User:CN", "Üser"]


UNREADABLE = (int(Errors.PRINCIPAL_DESERIALIZATION_FAILURE), None)


def damaged_principals() -> Iterator[bytes]:
    rng = random.Random(7)
    intact = serialize_principal(KafkaPrincipal("User", "CN=hosted", True))
    yield from (b"", b"\0", intact + b"\0", intact[:-1], b"\xff\xff" + intact[2:], b"\0\1" + intact[2:])
    for _ in range(100):
        data = bytearray(intact)
        for _ in range(rng.randint(1, 3)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        yield bytes(data[: rng.choice([len(data), rng.randrange(len(data))])])


def test_what_an_envelope_says_of_its_sender(sides: Sides) -> None:
    """Damaged principals, addresses, and types that no rule knows.

    Bytes after a principal and bytes that are no UTF-8 are refused here; Kafka ignores or replaces them.
    """
    entry = Grant(AclOperation.ALTER).entry(str(HOSTED))
    entry.host = "10.0.0.1"
    for side in sides.values():
        asked(side.door, user(SUPER), CreateAclsRequest(creations=[entry]), CreateAclsResponse)
        await_result(partial(side.lets_in, HOSTED), "the entry is in force")
    cases = [
        *[(HOSTED, address, None) for address in ADDRESSES],
        *[(KafkaPrincipal(kind, "CN=hosted"), ADDRESSES[0], None) for kind in TYPES],
        *[(KafkaPrincipal(kind, f"CN={SUPER}"), ADDRESSES[0], None) for kind in TYPES],
        *[(HOSTED, ADDRESSES[0], data) for data in damaged_principals()],
    ]
    found = set()
    for principal, address, data in cases:
        answers = [
            forward(side.door, principal, UNREGISTRATION, 0, address=address, principal_bytes=data)
            for side in sides.values()
        ]
        theirs, ours = [
            (answer.error, None if answer.response is None else errors_of(answer.response))
            for answer in answers
        ]
        if data is None or ours != UNREADABLE:
            assert theirs == ours, (principal, address, data)
        found.add(str(theirs))
    # Refused, let in, and three errors of the envelope.
    assert len(found) >= 4, found
