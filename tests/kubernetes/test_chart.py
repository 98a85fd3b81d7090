"""The chart in deploy/kubernetes/: what it renders and refuses, by Helm and the schemas of Kubernetes."""

from __future__ import annotations

import itertools
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.kubernetes_tools import (
    CHART,
    PLAIN,
    helm,
    judged,
    plain_manifests,
    rendered,
    with_values,
)
from tests.kubernetes.pods import documents, only

pytestmark = [pytest.mark.long, pytest.mark.timeout(1900)]

PAGE = Path(__file__).parents[2] / "docs" / "operations" / "kubernetes.md"

EVERYTHING: dict[str, Any] = {
    "replicas": 5,
    "firstNodeId": 1_000_000,
    "existingQuorum": ["c1.example:9093", "c2.example:9093"],
    "image": {"digest": "sha256:" + 64 * "0", "pullSecrets": ["registry"]},
    "fullnameOverride": "controllers-of-the-orders-cluster",
    "clusterDomain": "example.internal",
    "config": {
        "min.insync.replicas": 2,
        "metadata.max.retention.bytes": 104857600000,
        "a.b": "${secrets:/etc/kraftctl-secrets:d}",
    },
    "secretName": "passwords",
    "tls": {
        "enabled": True,
        "issuerRef": {"name": "ca", "kind": "ClusterIssuer", "group": "cert-manager.io"},
    },
    "sasl": {"mechanism": "SCRAM-SHA-512", "secretName": "users"},
    "storage": {"className": "fast", "size": "20Gi"},
    "fixedUser": False,
    "hostAntiAffinity": "preferred",
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"key": "kafka", "operator": "Exists"}],
    "priorityClassName": "system-cluster-critical",
    "podLabels": {"team": "data"},
    "podAnnotations": {"note": "yes"},
    "networkPolicy": {
        "clients": [{"namespaceSelector": {"matchLabels": {"kafka": "brokers"}}}],
        "monitoring": [{"namespaceSelector": {"matchLabels": {"name": "monitoring"}}}],
    },
    "serviceMonitor": {"enabled": True, "labels": {"release": "prometheus"}},
    "prometheusRule": {"enabled": True},
}

TLS = {"tls": {"enabled": True, "secretName": "own"}}

VALUES = [
    pytest.param({}, id="default"),
    pytest.param(EVERYTHING, id="everything"),
    pytest.param({"replicas": 1, "networkPolicy": {"enabled": False}}, id="one"),
    pytest.param(TLS, id="tls-of-ones-own"),
    pytest.param({"restartGate": {"waitSeconds": 0}}, id="no-gate"),
]


@pytest.mark.parametrize("values", VALUES)
def test_the_schemas_accept_it(values: dict[str, Any], tmp_path: Path) -> None:
    linted = helm("lint", str(CHART), "--strict", *with_values(tmp_path, values))
    assert linted.returncode == 0, linted.stdout + linted.stderr
    assert judged(rendered(tmp_path, values)) == []


def test_everything_is_in_what_is_rendered(tmp_path: Path) -> None:
    found = documents(rendered(tmp_path, EVERYTHING))
    kinds = {"NetworkPolicy", "PodDisruptionBudget", "ConfigMap", "Service", "StatefulSet"}
    assert {each["kind"] for each in found} == {*kinds, "ServiceMonitor", "PrometheusRule", "Certificate"}
    properties = only("ConfigMap", found)["data"]["controller.properties"].splitlines()
    assert "min.insync.replicas=2" in properties
    assert "metadata.max.retention.bytes=104857600000" in properties
    assert only("StatefulSet", found)["spec"]["ordinals"]["start"] == 1_000_000
    (servers,) = [each for each in properties if each.startswith("controller.quorum.bootstrap.servers=")]
    assert servers.count(":9093") == 7
    domain = "controllers-of-the-orders-cluster.kafka.svc.example.internal"
    assert f"controllers-of-the-orders-cluster-1000004.{domain}:9093" in servers


def test_a_cluster_may_assign_users_and_groups(tmp_path: Path) -> None:
    """OpenShift refuses pods that choose their own."""
    ids = {"runAsUser", "runAsGroup", "fsGroup"}
    for is_fixed in (True, False):
        found_set = only("StatefulSet", documents(rendered(tmp_path, {"fixedUser": is_fixed})))
        found = found_set["spec"]["template"]["spec"]["securityContext"].keys()
        assert found & ids == (ids if is_fixed else set())
        assert {"runAsNonRoot", "seccompProfile"} < found


def test_each_release_has_a_job_of_its_own(tmp_path: Path) -> None:
    """The alerts and the board take the controllers of one job for one cluster."""
    jobs = []
    for namespace, name in itertools.product(["a", "b", "a-b", "b-a"], ["c", "b-c", "a-c", "a-b-c"]):
        values = {"fullnameOverride": name, "serviceMonitor": {"enabled": True}}
        flags = ["--namespace", namespace, *with_values(tmp_path, values)]
        done = helm("template", "kraftctl", str(CHART), "--show-only", "templates/monitoring.yaml", *flags)
        (endpoint,) = only("ServiceMonitor", documents(done.stdout))["spec"]["endpoints"]
        jobs += [each["replacement"] for each in endpoint["relabelings"] if each["targetLabel"] == "job"]
    assert len(set(jobs)) == len(jobs) == 16
    assert {job.startswith("kafka-controller-") for job in jobs} == {True}


def notes_of(directory: Path) -> str:
    """What Helm prints after the installation of a release whose objects are named own."""
    flags = ["--namespace", "kafka", "--dry-run=client", *with_values(directory, {"fullnameOverride": "own"})]
    return helm("install", "kraftctl", str(CHART), *flags).stdout.partition("NOTES:")[2]


def plain_words(text: str) -> str:
    return " ".join(text.replace("`", "").replace("*", "").lower().split())


def test_an_upgrade_keeps_the_other_values(tmp_path: Path) -> None:
    """Helm resets them to the defaults as soon as one is set, unless it has the flag or the same file."""
    flag = "--reset-then-reuse-values"
    assert f" {flag} " in helm("upgrade", "--help").stdout
    texts = [PAGE.read_text(), *(each.read_text() for each in (CHART / "templates").iterdir())]
    upgrades = [each for text in texts for each in re.findall(r"helm upgrade\b[^`,;.]*?--set[^`,;]*", text)]
    assert [each for each in upgrades if flag not in each] == []
    assert f"helm upgrade RELEASE CHART {flag} --set replicas=5" in upgrades
    assert f"helm upgrade RELEASE CHART {flag} --set replicas=4" in upgrades
    assert re.findall(r"`--set replicas[^`]*`", texts[0]) == []
    assert "helm upgrade again with the same values file, replicas and existingquorum above" in plain_words(
        notes_of(tmp_path)
    )
    assert "with the same values, replicas and existingquorum above all" in plain_words(texts[0])


def test_notes_and_page_upgrade_beside_a_pod_that_is_not_ready(tmp_path: Path) -> None:
    """An update may stop another one: both say what is left then."""
    for text in (notes_of(tmp_path), PAGE.read_text()):
        assert "only if the ready pods without one more are still a majority" in plain_words(text)
        assert "an update may stop" in plain_words(text)


def test_notes_and_page_repair_what_an_upgrade_does_not(tmp_path: Path) -> None:
    """Without a majority no pod is ready, and an update waits for the first one; pods go with their set."""
    notes = notes_of(tmp_path)
    assert "kubectl -n kafka delete statefulset own\n" in notes
    assert "kubectl delete statefulset NAME" in PAGE.read_text()
    for text in (notes, PAGE.read_text()):
        assert "not with --cascade=orphan" in plain_words(text)
    spec = only("StatefulSet", documents(rendered(tmp_path, {})))["spec"]
    assert spec["persistentVolumeClaimRetentionPolicy"] == {"whenDeleted": "Retain", "whenScaled": "Retain"}


def test_another_configuration_has_another_name(tmp_path: Path) -> None:
    """Pods that are not restarted yet keep theirs, which an upgrade does not delete or change."""
    names = set()
    for values in ({}, {"config": {"a": "b"}}, {"podLabels": {"team": "data"}}):
        found = documents(rendered(tmp_path, values))
        config = only("ConfigMap", found)
        volumes = only("StatefulSet", found)["spec"]["template"]["spec"]["volumes"]
        assert [each["configMap"]["name"] for each in volumes if "configMap" in each] == [
            config["metadata"]["name"]
        ]
        assert config["immutable"] is True
        assert config["metadata"]["annotations"] == {"helm.sh/resource-policy": "keep"}
        names.add(config["metadata"]["name"])
    assert len(names) == 2


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("podManagementPolicy: Parallel", "podManagmentPolicy: Parallel"),
        ("failureThreshold: 8640", "failureThreshold: never"),
        ("readOnlyRootFilesystem: true", "readOnlyRootFileSystem: true"),
        ("maxUnavailable: 1", "maxUnavailible: 1"),
    ],
)
def test_a_wrong_field_is_seen(old: str, new: str) -> None:
    text = PLAIN.read_text()
    assert old in text
    assert len(judged(text.replace(old, new))) > 0


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("- targetLabel: job", "- targetLable: job", "targetLable: no such field"),
        ("interval: 15s", "interval: soon", "interval"),
        ("rotationPolicy: Always", "rotationPolicy: Sometimes", "rotationPolicy"),
        ("- type: CombinedPEM", "- typ: CombinedPEM", "type"),
        ("secretName: controllers", "secrtName: controllers", "secretName"),
        ("  groups:", "  group:", "group: no such field"),
    ],
)
def test_a_wrong_field_of_a_custom_resource_is_seen(old: str, new: str, named: str, tmp_path: Path) -> None:
    text = "\n---\n".join(
        each
        for each in rendered(tmp_path, EVERYTHING).split("\n---\n")
        if "coreos.com" in each or "cert-m" in each
    )
    assert judged(text) == []
    assert old in text
    assert named in "\n".join(judged(text.replace(old, new, 1)))


def test_the_plain_manifests_are_those_of_the_chart(tmp_path: Path) -> None:
    assert PLAIN.read_text() == plain_manifests(tmp_path)


def test_the_commands_of_the_page_run() -> None:
    text = "".join(re.findall(r"^```console\n(.*?)^```", PAGE.read_text(), re.MULTILINE | re.DOTALL))
    commands = [shlex.split(line.removeprefix("$ ")) for line in text.splitlines()]
    assert [words[:2] for words in commands] == [["helm", "lint"], ["helm", "template"]]
    for _, *words in commands:
        done = helm(*(str(CHART) if word == "deploy/kubernetes/chart" else word for word in words))
        assert done.returncode == 0, done.stdout + done.stderr
