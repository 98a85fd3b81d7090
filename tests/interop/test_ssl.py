"""Controllers and brokers that reach each other over SSL and have the rights of their certificates' names."""

from __future__ import annotations

import json
import re
import signal
import ssl
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import KafkaException
from cryptography import x509

from kraftctl.dev.nodes import Controller, Node, kraftctl_command, run_to_the_end
from kraftctl.dev.processes import ProcessFailedError
from kraftctl.dev.settings import BROKER_LISTENER, CONTROLLER_LISTENER, write_properties
from tests.support.certificates import Authority, properties_of
from tests.support.processes.clients import consume, create_topic, produce
from tests.support.processes.cluster import JAVA_CONTROLLER, all_follow, await_live
from tests.support.processes.kafka import Cluster, await_result, kafka
from tests.support.processes.steady_clients import SteadyClients

pytestmark = pytest.mark.interop

NODES = "OU=nodes,O=Example\\, Inc."
BROKERS, CONTROLLERS = f"CN=broker,{NODES}", f"CN=controller,{NODES}"
ADMIN = "CN=Ada,OU=people,O=Example"
PREFIX = "listener.name.controller."
STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
PROTOCOLS = f"{CONTROLLER_LISTENER}:SSL,{BROKER_LISTENER}:PLAINTEXT"


class Secured:
    """The cluster, and files of admins: one with rights, one without, one that no controller accepts."""

    def __init__(self, directory: Path, *, java_controllers: int = 0, brokers_count: int = 3) -> None:
        """Three controllers, of which the first are Kafka's."""
        self.authority = authority = Authority()
        self.directory = directory
        shared = {
            "listener.security.protocol.map": PROTOCOLS,
            "authorizer.class.name": STANDARD_AUTHORIZER,
        }
        controllers = {
            **shared,
            "listener.name.controller.ssl.client.auth": "required",
            "ssl.principal.mapping.rules": "RULE:^CN=(.*?),OU=people.*$/$1/L,DEFAULT",
            "super.users": f"User:{BROKERS};User:{CONTROLLERS};User:ada",
        }
        brokers = {
            **shared,
            **properties_of(authority.issue(BROKERS), authority, directory / "b"),
            "super.users": f"User:{BROKERS};User:ANONYMOUS",
        }
        self.files = {
            name: directory / f"{name}.properties" for name in ("admin", "guest", "stranger", "plain")
        }
        identities = {
            "admin": authority.issue(ADMIN),
            "guest": authority.issue("CN=Guest"),
            "stranger": Authority("CN=Other").issue(ADMIN),
        }
        for name, identity in identities.items():
            stores = properties_of(identity, authority, directory / name)
            write_properties(self.files[name], {"security.protocol": "SSL", **stores})
        write_properties(self.files["plain"], {"default.api.timeout.ms": "3000"})
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
            stores = properties_of(
                authority.issue(CONTROLLERS), authority, self.stores_of(controller), PREFIX
            )
            controller.properties |= stores
            controller.properties["kraftctl.audit.log.path"] = str(self.audit_log_of(controller))

    def audit_log_of(self, node: Node) -> Path:
        return node.directory.parent / f"{node.name}-audit.log"

    def audited(self, api: str) -> list[dict[str, Any]]:
        """The lines of all controllers about an API."""
        files = [self.audit_log_of(controller) for controller in self.cluster.controllers]
        lines = [json.loads(line) for file in files for line in file.read_text().splitlines()]
        return [line for line in lines if line["api"] == api]

    def stores_of(self, node: Node) -> Path:
        """Where its keystore.pem and truststore.pem are; brokers share theirs."""
        return self.directory / (node.name if isinstance(node, Controller) else "b")

    def renew_admin(self, name: str, authority: Authority, *trusted: Authority) -> None:
        """Its certificate is of this authority; it trusts the others."""
        stores = properties_of(authority.issue(ADMIN), authority, self.directory / name)
        (self.directory / name / "truststore.pem").write_text("".join(each.pem for each in trusted))
        write_properties(self.files[name], {"security.protocol": "SSL", **stores})

    def quorum(self, admin: str, *arguments: str) -> str:
        """The output of `kraftctl quorum`, which asks the controllers."""
        flags = ("--bootstrap-controller", self.cluster.bootstrap_controllers)
        command = kraftctl_command("quorum", *flags, "--command-config", str(self.files[admin]), *arguments)
        return run_to_the_end(command, "asking the quorum")

    def all_follow(self) -> bool:
        """Whether there is a leader, which all other controllers and brokers fetch from."""
        described = self.quorum("admin", "describe", "--replication")
        return all_follow(described, self.cluster)


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    found = Secured(tmp_path_factory.mktemp("ssl"))
    with found.cluster:
        yield found


def test_brokers_and_controllers_are_known_by_their_certificates(secured: Secured) -> None:
    await_live(secured.cluster, {1, 2, 3})
    await_result(secured.all_follow, "all replicas follow the leader", 60.0)


def test_rights_of_a_client_behind_a_broker_are_those_of_its_own_name(secured: Secured) -> None:
    """The envelope has the right of the broker that sends it; the request in it has that of its client."""
    servers = secured.cluster.bootstrap_servers
    with pytest.raises(KafkaException, match="TOPIC_AUTHORIZATION_FAILED"):
        create_topic(servers, "denied", partitions=1, replicas=3)
    controllers = ("--bootstrap-controller", secured.cluster.bootstrap_controllers)
    admin = ("--command-config", str(secured.files["admin"]))
    rule = ("--add", "--allow-principal", "User:ANONYMOUS", "--operation", "All", "--topic", "*", "--force")
    secured.cluster.tools().output("kafka-acls", *controllers, *admin, *rule)
    create_topic(servers, "allowed", partitions=3, replicas=3)
    produce(servers, "allowed", [b"before"] * 100)


def test_who_asked_is_in_the_audit_log(secured: Secured) -> None:
    """A broker forwards the client's name and address; the records are where the line says."""
    denied, allowed = secured.audited("CreateTopics")[:2]
    for line in (denied, allowed):
        assert (line["principal"], line["address"]) == ("User:ANONYMOUS", "127.0.0.1")
        broker = line["forwarded_by"]
        assert (broker["principal"], broker["client_id"] in "123") == (f"User:{BROKERS}", True)
    assert (denied["outcome"], denied["first_offset"]) == ("denied", None)
    assert denied["results"] == [{"error": "TOPIC_AUTHORIZATION_FAILED", "count": 1, "resources": ["denied"]}]
    assert (allowed["outcome"], allowed["changes"][0]["topic"]) == ("committed", "allowed")
    assert allowed["last_offset"] == allowed["first_offset"] + 3, "a topic and three partitions"
    (acls,) = secured.audited("CreateAcls")
    assert (acls["principal"], acls["forwarded_by"], acls["outcome"]) == ("User:ada", None, "committed")
    registered = {line["changes"][0]["broker_id"] for line in secured.audited("BrokerRegistration")}
    assert registered == {1, 2, 3}
    leader = next(each for each in secured.cluster.controllers if each.node_id == denied["node_id"])
    assert re.search(
        r"INFO Principal = User:ANONYMOUS is Denied operation = CREATE from host = 127.0.0.1"
        r" on resource = Topic:LITERAL:denied for request = CreateTopics with resourceRefCount = 1"
        r" based on rule DefaultDeny \(kafka.authorizer.logger\)",
        leader.log_file.read_text(),
    )


def test_who_may_ask_a_controller(secured: Secured) -> None:
    assert re.search(r"LeaderId: +300[0-2]", secured.quorum("admin", "describe", "--status"))
    for admin, expected in {
        "guest": "CLUSTER_AUTHORIZATION_FAILED",
        "stranger": "check ssl.keystore",
        "plain": "the node has closed the connection",
    }.items():
        with pytest.raises(ProcessFailedError, match=expected):
            secured.quorum(admin, "describe", "--replication")
    status = secured.cluster.tools().output(
        "kafka-metadata-quorum",
        "--bootstrap-controller",
        secured.cluster.bootstrap_controllers,
        "--command-config",
        str(secured.files["admin"]),
        "describe",
        "--status",
    )
    assert "LeaderId" in status


@pytest.mark.long
def test_all_controllers_are_killed_and_come_back(secured: Secured) -> None:
    """test_sasl.py has the same of controllers that cannot know their clients before the log is read."""
    cluster = secured.cluster
    processes = [broker.process for broker in cluster.brokers]
    for controller in cluster.controllers:
        controller.kill()
    produce(cluster.bootstrap_servers, "allowed", [b"meanwhile"] * 100)
    cluster.start_controllers()
    await_result(secured.all_follow, "all replicas follow the leader", 60.0)
    create_topic(cluster.bootstrap_servers, "after", partitions=3, replicas=3)
    produce(cluster.bootstrap_servers, "after", [b"after"] * 100)
    assert len(consume(cluster.bootstrap_servers, "allowed", 200)) == 200
    await_live(cluster, {1, 2, 3})
    assert [broker.process for broker in cluster.brokers] == processes
    assert all(broker.running for broker in cluster.brokers)


@pytest.mark.long
def test_keys_and_the_authority_are_replaced_without_a_restart(secured: Secured) -> None:
    """The steps of docs/security.md, in each of the ways to reload; then the old certificates are refused."""
    cluster, old, new = secured.cluster, secured.authority, Authority("CN=Next CA,O=kraftctl")
    started = [controller.process for controller in cluster.controllers]
    for node in (*cluster.controllers, cluster.brokers[0]):
        swap(secured.stores_of(node) / "truststore.pem", old.pem + new.pem)
    swap(secured.stores_of(cluster.brokers[0]) / "keystore.pem", new.issue(BROKERS).pem())
    for controller in cluster.controllers:
        controller.await_log("and trusts 2 certificates")
    secured.renew_admin("admin", new, old, new)
    secured.renew_admin("stranger", old, old, new)
    for broker in cluster.brokers:
        assert broker.process is not None
        broker.process.signal(signal.SIGTERM)
    for broker in cluster.brokers:
        broker.stop()
        broker.start(wait=False)
    for broker in cluster.brokers:
        broker.await_ready()
    with SteadyClients(cluster.bootstrap_servers) as clients:
        clients.await_progress()
        for renew, controller in zip(
            (by_itself, on_sighup, by_dynamic_config), cluster.controllers, strict=True
        ):
            renew(secured, controller, new.issue(CONTROLLERS).pem())
            await_result(partial(shows, controller, new), f"{controller.name} shows the new one", 30.0)
            clients.await_progress()

        for controller in cluster.controllers:
            swap(secured.stores_of(controller) / "truststore.pem", new.pem)
        for controller in cluster.controllers:
            controller.await_log("and trusts 1 certificates")
        with pytest.raises(ProcessFailedError, match=r"check ssl\.keystore"):
            secured.quorum("stranger", "describe", "--status")
        assert [controller.process for controller in cluster.controllers] == started
        leader = re.search(r"LeaderId: +(\d+)", secured.quorum("admin", "describe", "--status"))
        assert leader is not None
        led = next(each for each in cluster.controllers if each.node_id == int(leader[1]))
        # A start begins with the properties file, also where dynamic configs have been used since.
        swap(secured.stores_of(led) / "keystore.pem", new.issue(CONTROLLERS).pem())
        led.stop()
        clients.await_progress()
        led.start()
        await_result(secured.all_follow, "all replicas follow the leader", 60.0)
        clients.await_progress()
        clients.check()


def swap(path: Path, text: str) -> None:
    fresh = path.with_suffix(".new")
    fresh.write_text(text)
    fresh.rename(path)


def by_itself(secured: Secured, controller: Controller, pem: str) -> None:
    swap(secured.stores_of(controller) / "keystore.pem", pem)


def on_sighup(secured: Secured, controller: Controller, pem: str) -> None:
    assert controller.process is not None
    swap(secured.stores_of(controller) / "keystore.pem", pem)
    controller.process.signal(signal.SIGHUP)


def by_dynamic_config(secured: Secured, controller: Controller, pem: str) -> None:
    location = secured.stores_of(controller) / "dynamic.pem"
    location.write_text(pem)
    controllers = ("--bootstrap-controller", secured.cluster.bootstrap_controllers)
    entity = ("--alter", "--entity-type", "brokers", "--entity-name", str(controller.node_id))
    secured.cluster.tools().output(
        "kafka-configs",
        *controllers,
        *("--command-config", str(secured.files["admin"]), *entity),
        *("--add-config", f"{PREFIX}ssl.keystore.location={location}"),
    )


def shows(controller: Controller, authority: Authority) -> bool:
    """Whether it has issued the certificate that new connections are shown."""
    pem = ssl.get_server_certificate(("localhost", controller.port), timeout=10.0)
    return x509.load_pem_x509_certificate(pem.encode()).issuer == authority.subject


@pytest.mark.long
@pytest.mark.parametrize("java_controllers", [1, 2])
def test_controllers_of_kafka_may_be_among_them(java_controllers: int, tmp_path: Path) -> None:
    """Each kind reaches the other, whichever of them is killed and comes back."""
    secured = Secured(tmp_path, java_controllers=java_controllers, brokers_count=1)
    with secured.cluster as cluster:
        for controller in cluster.controllers:
            await_result(secured.all_follow, "all replicas follow the leader", 60.0)
            controller.kill()
            controller.start()
        await_result(secured.all_follow, "all replicas follow the leader", 60.0)
        described = secured.cluster.tools().output(
            "kafka-metadata-quorum",
            *("--bootstrap-controller", cluster.bootstrap_controllers),
            *("--command-config", str(secured.files["admin"]), "describe", "--status"),
        )
        assert "LeaderId" in described
