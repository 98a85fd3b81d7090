"""Controllers, brokers and clients that authenticate by SASL over SSL, and have the rights of their users."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.dev.nodes import KraftctlController
from kraftctl.dev.settings import BROKER_LISTENER, CONTROLLER_LISTENER, write_properties
from kraftctl.dev.tools import ToolFailedError
from kraftctl.storage.properties_file import read_properties
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.message import Message
from kraftctl_security.blocking_connection import BlockingConnection
from kraftctl_security.client_config import read_client_security
from kraftctl_security.config_values import ConfigValues
from tests.support.certificates import Authority, properties_of
from tests.support.processes.clients import consume, create_topic, produce
from tests.support.processes.cluster import JAVA_CONTROLLER, all_follow, await_live
from tests.support.processes.kafka import Cluster, await_result, kafka

pytestmark = pytest.mark.interop

STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
PROTOCOLS = f"{CONTROLLER_LISTENER}:SASL_SSL,{BROKER_LISTENER}:PLAINTEXT"
LISTENER = f"listener.name.{CONTROLLER_LISTENER.lower()}."
SCRAM = "SCRAM-SHA-512"
TIMEOUT_SECONDS = 10.0
SESSION_MS = 2_500
"""All connections of the cluster are authenticated again and again meanwhile (KIP-368)."""
PASSWORDS = {name: f"{name}-secret" for name in ("broker", "ada", "guest")}


def plain_jaas(name: str, users: dict[str, str]) -> str:
    options = "".join(f' user_{user}="{password}"' for user, password in users.items())
    module = "org.apache.kafka.common.security.plain.PlainLoginModule"
    return f'{module} required username="{name}" password="{users[name]}"{options};'


def scram_jaas(name: str, password: str) -> str:
    module = "org.apache.kafka.common.security.scram.ScramLoginModule"
    return f'{module} required username="{name}" password="{password}";'


class Secured:
    """The cluster, and files of admins: one with rights, one without, one with a wrong password."""

    def __init__(self, directory: Path, *, java_controllers: int = 0, brokers_count: int = 3) -> None:
        """Three controllers, of which the first are Kafka's.

        They authenticate to each other by SCRAM, with a user of a file; by PLAIN beside those of Kafka.
        """
        authority = Authority()
        (directory / "users").write_text(f"{SCRAM}=[name=controller,password=c-secret]\n")
        (directory / "users").chmod(0o600)
        shared = {
            "listener.security.protocol.map": PROTOCOLS,
            "authorizer.class.name": STANDARD_AUTHORIZER,
        }
        controllers = {
            **shared,
            **properties_of(authority.issue("CN=controller"), authority, directory / "c", LISTENER),
            f"{LISTENER}sasl.enabled.mechanisms": f"PLAIN,{SCRAM}",
            f"{LISTENER}plain.sasl.jaas.config": plain_jaas("controller", {"controller": "c-secret"}),
            f"{LISTENER}scram-sha-512.sasl.jaas.config": scram_jaas("controller", "c-secret"),
            "sasl.mechanism.controller.protocol": "PLAIN" if java_controllers else SCRAM,
            "kraftctl.scram.users.path": str(directory / "users"),
            "connections.max.reauth.ms": str(SESSION_MS),
            "controller.performance.sample.period.ms": "500",
            "super.users": "User:broker;User:controller;User:ada",
            "delegation.token.secret.key": "token-secret",
        }
        trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(directory / "ca.pem")}
        (directory / "ca.pem").write_text(authority.pem)
        brokers = {
            **shared,
            **{LISTENER + key: value for key, value in trust.items()},
            "sasl.mechanism.controller.protocol": SCRAM,
            f"{LISTENER}scram-sha-512.sasl.jaas.config": scram_jaas("broker", PASSWORDS["broker"]),
            "super.users": "User:broker;User:ANONYMOUS",
            "delegation.token.secret.key": "token-secret",
        }
        self.files: dict[str, Path] = {}
        self._directory, self._trust = directory, trust
        for name, password in {**PASSWORDS, "wrong": "wrong"}.items():
            self.write_client(name, scram_jaas("ada" if name == "wrong" else name, password))
        self.cluster = Cluster(
            kafka(),
            directory / "cluster",
            controllers=3,
            brokers=brokers_count,
            controller_kafkas=[kafka()] * java_controllers,
            java_controller=JAVA_CONTROLLER,
            controller_settings=controllers,
            broker_settings=brokers,
        )
        for controller in self.cluster.controllers:
            controller.scram_credentials = [
                f"{SCRAM}=[name={name},password={password}]" for name, password in PASSWORDS.items()
            ]

    def write_client(self, name: str, jaas: str) -> None:
        self.files[name] = self._directory / f"{name}.properties"
        keys = {"security.protocol": "SASL_SSL", "sasl.mechanism": SCRAM, "sasl.jaas.config": jaas}
        write_properties(self.files[name], {**keys, **self._trust})

    def ask_leader(self, user: str, request: Message) -> Message:
        """The response of the controller that does not refuse with NOT_CONTROLLER."""
        security = read_client_security(ConfigValues(read_properties(self.files[user])))
        answers = []
        for controller in self.cluster.controllers:
            connection = BlockingConnection(
                ("localhost", controller.port),
                client_id="test",
                software=("test", "1"),
                security=security,
                setup_timeout_s=TIMEOUT_SECONDS,
                timeout_s=TIMEOUT_SECONDS,
            )
            answers.append(connection.ask(request, TIMEOUT_SECONDS))
            connection.close()
        return next(each for each in answers if getattr(each, "error_code", 0) != Errors.NOT_CONTROLLER)

    def tool(self, tool: str, user: str, *arguments: str) -> str:
        """The output of a tool of Kafka that asks the controllers as `user`."""
        where = ("--bootstrap-controller", self.cluster.bootstrap_controllers)
        credentials = ("--command-config", str(self.files[user]))
        return self.cluster.tools().output(tool, *where, *credentials, *arguments)

    def all_follow(self) -> bool:
        """Whether there is a leader, which all other controllers and brokers fetch from."""
        described = self.tool("kafka-metadata-quorum", "ada", "describe", "--replication")
        return all_follow(described, self.cluster)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    found = Secured(tmp_path_factory.mktemp("sasl"))
    with found.cluster:
        yield found


def test_brokers_authenticate_as_users_of_the_metadata_log(secured: Secured) -> None:
    await_live(secured.cluster, {1, 2, 3})
    await_result(secured.all_follow, "all replicas follow the leader", 60.0)
    rule = ("--add", "--allow-principal", "User:ANONYMOUS", "--operation", "All", "--topic", "*", "--force")
    secured.tool("kafka-acls", "ada", *rule)
    create_topic(secured.cluster.bootstrap_servers, "topic", partitions=3, replicas=3)
    produce(secured.cluster.bootstrap_servers, "topic", [b"before"] * 100)


def test_rights_are_those_of_the_user(secured: Secured) -> None:
    assert re.search(
        r"LeaderId: +300[0-2]", secured.tool("kafka-metadata-quorum", "ada", "describe", "--status")
    )
    for user, expected in {
        "guest": "ClusterAuthorizationException",
        "wrong": "invalid credentials for SCRAM-SHA-512",
    }.items():
        with pytest.raises(ToolFailedError, match=expected):
            secured.tool("kafka-metadata-quorum", user, "describe", "--status")


def test_a_client_of_kafka_authenticates_with_a_token(secured: Secured) -> None:
    """KIP-48: as the owner of the token, whom no controller has asked for a password."""
    created = secured.ask_leader("ada", CreateDelegationTokenRequest())
    assert isinstance(created, CreateDelegationTokenResponse)
    assert created.error_code == 0
    password = base64.b64encode(created.hmac).decode()
    jaas = scram_jaas(created.token_id, password).replace(";", ' tokenauth="true";')
    secured.write_client("token", jaas)
    assert "LeaderId" in secured.tool("kafka-metadata-quorum", "token", "describe", "--status")
    refused = secured.ask_leader("token", CreateDelegationTokenRequest())
    assert isinstance(refused, CreateDelegationTokenResponse)
    assert refused.error_code == Errors.DELEGATION_TOKEN_REQUEST_NOT_ALLOWED


@pytest.mark.prevents("kafka-dev#106")
def test_all_controllers_are_killed_and_come_back(secured: Secured) -> None:
    cluster = secured.cluster
    processes = [broker.process for broker in cluster.brokers]
    for controller in cluster.controllers:
        controller.kill()
    produce(cluster.bootstrap_servers, "topic", [b"meanwhile"] * 100)
    cluster.start_controllers()
    await_result(secured.all_follow, "all replicas follow the leader", 60.0)
    create_topic(cluster.bootstrap_servers, "after", partitions=3, replicas=3)
    assert len(consume(cluster.bootstrap_servers, "topic", 200)) == 200
    await_live(cluster, {1, 2, 3})
    assert [broker.process for broker in cluster.brokers] == processes
    assert all(broker.running for broker in cluster.brokers)


def test_sessions_are_renewed_on_their_connections(secured: Secured) -> None:
    """Those of brokers and of controllers: none expires, whichever controller led meanwhile."""
    logs = [
        each.log_file.read_text()
        for each in secured.cluster.controllers
        if isinstance(each, KraftctlController)
    ]
    assert any("successful-reauthentication-total" in text for text in logs)
    assert not any("expired-connections-killed-count" in text for text in logs)
    assert not any("failed-reauthentication-total" in text for text in logs)


@pytest.mark.long
@pytest.mark.parametrize("java_controllers", [1, 2])
def test_controllers_of_kafka_may_be_among_them(java_controllers: int, tmp_path: Path) -> None:
    """Each kind authenticates to the other, whichever of them is killed and comes back."""
    secured = Secured(tmp_path, java_controllers=java_controllers, brokers_count=1)
    with secured.cluster as cluster:
        for controller in cluster.controllers:
            await_result(secured.all_follow, "all replicas follow the leader", 60.0)
            controller.kill()
            controller.start()
        await_result(secured.all_follow, "all replicas follow the leader", 60.0)
