"""Other values of the chart, run as processes: with certificates, and beside a controller of Kafka's own."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.dev.settings import random_id
from tests.kubernetes.kubernetes_tools import rendered
from tests.kubernetes.pods import Pods, await_ready, ended, runnable, start, voters
from tests.support.certificates import Authority
from tests.support.processes.kafka import JavaController, kafka

TLS = {"tls": {"enabled": True, "secretName": "certificates"}}

pytestmark = [pytest.mark.long, pytest.mark.timeout(1900)]


def test_with_certificates_and_a_secret(tmp_path: Path) -> None:
    config = {"ssl.principal.mapping.rules": "${secrets:/etc/kraftctl-secrets:rules}"}
    values = {**TLS, "secretName": "given", "config": config}
    with ended(Pods(tmp_path / "pods", runnable(rendered(tmp_path, values), random_id()))) as pods:
        authority = Authority()
        for pod in pods.by_ordinal.values():
            identity = authority.issue("CN=controller", (f"*.{pods.domain}",))
            (pod.mounted("/etc/kraftctl-tls") / "tls-combined.pem").write_text(identity.pem())
            (pod.mounted("/etc/kraftctl-tls") / "ca.crt").write_text(authority.pem)
            (pod.mounted("/etc/kraftctl-secrets") / "rules").write_text("DEFAULT")
        start(pods)
        first, *others = pods.by_ordinal.values()
        await_ready(first, *others)
        assert sorted(voters(first)) == pods.ordinals
        assert first.stop() == 0
        without = others[0].run("quorum", "--bootstrap-controller", first.addresses, "describe", "--status")
        assert without.returncode != 0
        assert "security.protocol" in without.stderr


LOGIN_MODULES = {
    "PLAIN": 'plain.PlainLoginModule required username="controller" password="secret"'
    ' user_controller="secret";',
    "SCRAM-SHA-512": 'scram.ScramLoginModule required username="controller" password="secret";',
}


@pytest.mark.parametrize("mechanism", LOGIN_MODULES)
def test_with_passwords(mechanism: str, tmp_path: Path) -> None:
    """They begin, and begin again after a stop of all; who has no password is refused."""
    config = {
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:controller",
    }
    sasl = {"mechanism": mechanism, "secretName": "users"}
    values = {**TLS, "sasl": sasl, "config": config}
    with ended(Pods(tmp_path / "pods", runnable(rendered(tmp_path, values), random_id()))) as pods:
        authority = Authority()
        for pod in pods.by_ordinal.values():
            identity = authority.issue("CN=controller", (f"*.{pods.domain}",))
            (pod.mounted("/etc/kraftctl-tls") / "tls-combined.pem").write_text(identity.pem())
            (pod.mounted("/etc/kraftctl-tls") / "ca.crt").write_text(authority.pem)
            secret = pod.mounted("/etc/kraftctl-sasl")
            module = f"org.apache.kafka.common.security.{LOGIN_MODULES[mechanism]}"
            (secret / "jaas.config").write_text(f"{module}\n")
            (secret / "users").write_text("SCRAM-SHA-512=[name=controller,password=secret]\n")
        start(pods)
        first, *others = pods.by_ordinal.values()
        await_ready(first, *others)
        assert sorted(voters(first)) == pods.ordinals
        assert first.stop() == 0
        for pod in others:
            pod.kill()
        start(pods)
        await_ready(first, *others)
        wrong = first.mounted("/etc/kraftctl-sasl") / "jaas.config"
        wrong.write_text(wrong.read_text().replace('password="secret"', 'password="other"'))
        refused = first.run(
            *("quorum", "--bootstrap-controller", first.addresses, "--command-config"),
            *("/etc/kraftctl/client.properties", "describe", "--status"),
        )
        assert refused.returncode != 0
        assert "uthentication failed" in refused.stderr


@pytest.mark.interop
def test_beside_a_controller_of_kafkas_own(tmp_path: Path) -> None:
    cluster_id = random_id()
    java = JavaController(kafka(), 1, tmp_path / "java", cluster_id)
    values = {"existingQuorum": [java.address], "networkPolicy": {"enabled": False}}
    with ended(Pods(tmp_path / "pods", runnable(rendered(tmp_path, values), cluster_id))) as pods:
        java.environment["JDK_JAVA_OPTIONS"] = f"-Djdk.net.hosts.file={pods.hosts}"
        java.format()
        try:
            java.start()
            start(pods)
            await_ready(*pods.by_ordinal.values())
            assert sorted(voters(pods.by_ordinal[pods.ordinals[0]])) == [1, *pods.ordinals]
        finally:
            java.kill()
