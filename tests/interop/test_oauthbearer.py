"""Controllers and brokers that authenticate by tokens of an issuer, which rotates its keys."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import kraftctl_command, run_to_the_end
from kraftctl.dev.processes import ProcessFailedError
from kraftctl.dev.settings import BROKER_LISTENER, CONTROLLER_LISTENER, write_properties
from kraftctl_security.sasl.oauthbearer.issuer_url import ALLOWED_URLS
from tests.support.certificates import Authority, properties_of
from tests.support.https_issuer import AUDIENCE, ISSUER, HttpsIssuer
from tests.support.processes.clients import consume, create_topic, produce
from tests.support.processes.cluster import JAVA_CONTROLLER, all_follow, await_live
from tests.support.processes.kafka import Cluster, await_result, kafka

pytestmark = pytest.mark.interop

PACKAGE = "org.apache.kafka.common.security.oauthbearer."
MECHANISM = "listener.name.controller.oauthbearer."
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
CLIENTS = {"broker": "broker-secret", "controller": "controller-secret", "admin": "a secret", "guest": "x"}

LIFETIME_S = 15
"""Of a token: brokers and controllers authenticate again, on the same connections, while the test runs."""


def login(issuer: HttpsIssuer, name: str, prefix: str = "") -> dict[str, str]:
    """How a client gets its tokens."""
    return {
        f"{prefix}sasl.jaas.config": f"{PACKAGE}OAuthBearerLoginModule required {issuer.jaas_options()};",
        f"{prefix}sasl.login.callback.handler.class": f"{PACKAGE}OAuthBearerLoginCallbackHandler",
        f"{prefix}sasl.oauthbearer.token.endpoint.url": issuer.token_url,
        f"{prefix}sasl.oauthbearer.client.credentials.client.id": name,
        f"{prefix}sasl.oauthbearer.client.credentials.client.secret": CLIENTS[name],
        ALLOWED_URLS: f"{issuer.token_url},{issuer.jwks_url}",
    }


class Secured:
    """The cluster, its issuer, and files of admins: one with rights, one without, one with a wrong secret."""

    def __init__(
        self, directory: Path, issuer: HttpsIssuer, *, java_controllers: int = 0, brokers_count: int = 3
    ) -> None:
        """Three controllers, of which the first are Kafka's."""
        self.issuer = issuer
        authority = Authority()
        shared = {
            "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SASL_SSL,{BROKER_LISTENER}:PLAINTEXT",
            "sasl.mechanism.controller.protocol": "OAUTHBEARER",
            "authorizer.class.name": STANDARD_AUTHORIZER,
        }
        controllers = {
            **shared,
            **properties_of(authority.issue("CN=c"), authority, directory / "c", "listener.name.controller."),
            **login(issuer, "controller", MECHANISM),
            "listener.name.controller.sasl.enabled.mechanisms": "OAUTHBEARER",
            f"{MECHANISM}sasl.server.callback.handler.class": f"{PACKAGE}OAuthBearerValidatorCallbackHandler",
            f"{MECHANISM}sasl.oauthbearer.jwks.endpoint.url": issuer.jwks_url,
            f"{MECHANISM}sasl.oauthbearer.expected.audience": AUDIENCE,
            f"{MECHANISM}sasl.oauthbearer.expected.issuer": ISSUER,
            f"{MECHANISM}sasl.oauthbearer.clock.skew.seconds": "2",
            f"{MECHANISM}connections.max.reauth.ms": "3600000",
            "super.users": "User:broker;User:controller;User:admin;User:ANONYMOUS",
        }
        truststore = properties_of(authority.issue("CN=b"), authority, directory / "b")
        brokers = {
            **shared,
            **truststore,
            **login(issuer, "broker", MECHANISM),
            "super.users": "User:broker;User:ANONYMOUS",
        }
        self.files = {name: directory / f"{name}.properties" for name in ("admin", "guest", "impostor")}
        for name, file in self.files.items():
            settings = login(issuer, "guest" if name == "guest" else "admin")
            if name == "impostor":
                settings["sasl.oauthbearer.client.credentials.client.secret"] = "guessed"
            client = {"security.protocol": "SASL_SSL", "sasl.mechanism": "OAUTHBEARER", **truststore}
            write_properties(file, {**client, **settings})
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

    def quorum(self, admin: str, *arguments: str, controllers: str | None = None) -> str:
        """The output of `kraftctl quorum`, which asks the controllers."""
        flags = ("--bootstrap-controller", controllers or self.cluster.bootstrap_controllers)
        command = kraftctl_command("quorum", *flags, "--command-config", str(self.files[admin]), *arguments)
        return run_to_the_end(command, "asking the quorum")

    def is_asked(self, controller: str) -> bool:
        """Whether this one accepts a new token. One with a new key makes it read the keys first."""
        try:
            return "LeaderId" in self.quorum("admin", "describe", "--status", controllers=controller)
        except ProcessFailedError:
            return False

    def all_follow(self) -> bool:
        """Whether there is a leader, which all other controllers and brokers fetch from."""
        described = self.quorum("admin", "describe", "--replication")
        return all_follow(described, self.cluster)


@contextmanager
def issuing(directory: Path) -> Iterator[HttpsIssuer]:
    with HttpsIssuer(directory, CLIENTS) as issuer, pytest.MonkeyPatch.context() as environment:
        issuer.lifetime_s = LIFETIME_S
        # Kafka's own nodes and tools have the list as a property of their JVM.
        environment.setenv("JAVA_TOOL_OPTIONS", f"-D{ALLOWED_URLS}={issuer.token_url},{issuer.jwks_url}")
        yield issuer


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    directory = tmp_path_factory.mktemp("oauthbearer")
    with issuing(directory) as issuer:
        found = Secured(directory, issuer)
        with found.cluster:
            yield found


def test_brokers_and_controllers_are_known_by_their_tokens(secured: Secured) -> None:
    await_live(secured.cluster, {1, 2, 3})
    await_result(secured.all_follow, "all replicas follow the leader", 60.0)
    create_topic(secured.cluster.bootstrap_servers, "before", partitions=3, replicas=3)


def test_who_may_ask_a_controller(secured: Secured) -> None:
    assert re.search(r"LeaderId: +300[0-2]", secured.quorum("admin", "describe", "--status"))
    with pytest.raises(ProcessFailedError, match="CLUSTER_AUTHORIZATION_FAILED"):
        secured.quorum("guest", "describe", "--replication")
    with pytest.raises(ProcessFailedError, match="answers 401: invalid_client"):
        secured.quorum("impostor", "describe", "--replication")
    status = secured.cluster.tools().output(
        "kafka-metadata-quorum",
        *("--bootstrap-controller", secured.cluster.bootstrap_controllers),
        *("--command-config", str(secured.files["admin"]), "describe", "--status"),
    )
    assert "LeaderId" in status


def test_keys_are_rotated_and_sessions_are_renewed(secured: Secured) -> None:
    """Old tokens are used up, and new ones are signed with a key that no controller has read yet."""
    issuer, cluster = secured.issuer, secured.cluster
    read = issuer.requests.count("/jwks")
    asked = issuer.requests.count("/token")
    issuer.rotate("second")
    issuer.await_requests("/token", asked + 6, 60.0)
    for controller in cluster.controllers:
        await_result(partial(secured.is_asked, controller.address), "a new token is accepted", 60.0)
    issuer.await_requests("/jwks", read + 3)
    produce(cluster.bootstrap_servers, "before", [b"x"] * 100)
    await_result(secured.all_follow, "all replicas follow the leader", 60.0)
    await_live(cluster, {1, 2, 3})


@pytest.mark.long
def test_all_controllers_are_killed_and_come_back(secured: Secured) -> None:
    cluster = secured.cluster
    processes = [broker.process for broker in cluster.brokers]
    for controller in cluster.controllers:
        controller.kill()
    produce(cluster.bootstrap_servers, "before", [b"meanwhile"] * 100)
    cluster.start_controllers()
    await_result(secured.all_follow, "all replicas follow the leader", 60.0)
    create_topic(cluster.bootstrap_servers, "after", partitions=3, replicas=3)
    produce(cluster.bootstrap_servers, "after", [b"after"] * 100)
    assert len(consume(cluster.bootstrap_servers, "before", 200)) == 200
    await_live(cluster, {1, 2, 3})
    assert [broker.process for broker in cluster.brokers] == processes
    assert all(broker.running for broker in cluster.brokers)


@pytest.mark.long
@pytest.mark.parametrize("java_controllers", [1, 2])
def test_controllers_of_kafka_may_be_among_them(java_controllers: int, tmp_path: Path) -> None:
    """Each kind accepts the tokens of the other, longer than one token is valid, and after a start."""
    with issuing(tmp_path) as issuer:
        secured = Secured(tmp_path, issuer, java_controllers=java_controllers, brokers_count=1)
        with secured.cluster as cluster:
            for controller in cluster.controllers:
                await_result(secured.all_follow, "all replicas follow the leader", 60.0)
                controller.kill()
                controller.start()
            asked = issuer.requests.count("/token")
            issuer.await_requests("/token", asked + 8, 60.0)
            await_result(secured.all_follow, "all replicas follow the leader", 60.0)
