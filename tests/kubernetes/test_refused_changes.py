"""What `helm upgrade` refuses and keeps of a release that is there, as an API server shows its objects."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kubernetes.api_server import api_server
from tests.kubernetes.kubernetes_tools import CHART, helm, rendered, with_values
from tests.kubernetes.pods import documents, only

pytestmark = [pytest.mark.long, pytest.mark.timeout(1900)]

TLS = {"tls": {"enabled": True, "secretName": "own"}}
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
SASL = {**TLS, "sasl": {"mechanism": "PLAIN", "secretName": "users"}}


def installed(directory: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Returns the StatefulSet, without annotations: those of earlier charts have none."""
    found = only("StatefulSet", documents(rendered(directory, values)))
    found["metadata"].pop("annotations", None)
    return found


def config_map(name: str, instance: str = "kraftctl", owner: str = "kraftctl") -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "kraftctl", "app.kubernetes.io/instance": instance}
    annotations = {"meta.helm.sh/release-name": owner, "helm.sh/resource-policy": "keep"}
    metadata = {"name": name, "namespace": "kafka", "labels": labels, "annotations": annotations}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1\n'2'\n"}}


def volume(name: str, release: str = "kraftctl") -> dict[str, Any]:
    labels = {"app.kubernetes.io/name": "kraftctl", "app.kubernetes.io/instance": release}
    return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": {"name": name, "labels": labels}}


def asked(
    directory: Path, values: dict[str, Any], *objects: dict[str, Any]
) -> subprocess.CompletedProcess[str]:
    """Returns what Helm renders beside these objects."""
    with api_server(*objects) as address:
        flags = ["--dry-run=server", "--disable-openapi-validation", "--kube-apiserver", address]
        words = ["kraftctl", str(CHART), "--namespace", "kafka", *with_values(directory, values)]
        return helm("template", *words, *flags)


def upgrade(directory: Path, values: dict[str, Any], *objects: dict[str, Any]) -> str:
    """Returns the error; empty for none."""
    done = asked(directory, values, *objects)
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr


@pytest.mark.parametrize(
    ("before", "after", "next_step"),
    [
        pytest.param({}, {"fullnameOverride": "other"}, "set fullnameOverride=kraftctl", id="name"),
        pytest.param({}, {"firstNodeId": 3001}, "set firstNodeId=3000", id="node-ids"),
        pytest.param({}, {"clusterId": OTHER_ID}, "set clusterId=CLUSTER_ID_OF_22_CHARS", id="cluster-id"),
        pytest.param({}, TLS, "PLAINTEXT", id="with-tls"),
        pytest.param(TLS, {}, "SSL", id="without-tls"),
        pytest.param(TLS, SASL, "by SSL, and those that listen by SASL_SSL", id="with-sasl"),
    ],
)
def test_a_change_is_refused(
    before: dict[str, Any], after: dict[str, Any], next_step: str, tmp_path: Path
) -> None:
    assert next_step in upgrade(tmp_path, after, installed(tmp_path, before))


def test_an_upgrade_scales_down_by_one(tmp_path: Path) -> None:
    """Of five voters, three are no majority until the voters of the two that went are removed."""
    five = installed(tmp_path, {"replicas": 5})
    assert "set replicas=4, wait until the pod is gone" in upgrade(tmp_path, {"replicas": 3}, five)
    assert upgrade(tmp_path, {"replicas": 4}, five) == ""


@pytest.mark.parametrize("values", [{}, TLS, SASL, {"fullnameOverride": "own", "firstNodeId": 7}])
def test_other_changes_are_made(values: dict[str, Any], tmp_path: Path) -> None:
    more = {"replicas": 5, "image": {"tag": "2"}, "config": {"min.insync.replicas": 2}}
    assert upgrade(tmp_path, {**values, **more}, installed(tmp_path, values)) == ""


def test_other_releases_do_not_matter(tmp_path: Path) -> None:
    other = installed(tmp_path, {"fullnameOverride": "own", "firstNodeId": 7})
    other["metadata"]["labels"]["app.kubernetes.io/instance"] = "other"
    unlabelled = {"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"name": "a"}, "spec": {}}
    assert upgrade(tmp_path, {}, other, unlabelled, volume("data-own-7", "other")) == ""


@pytest.mark.parametrize(
    ("values", "is_refused"),
    [
        ({}, False),
        ({"replicas": 5}, False),
        ({"firstNodeId": 4000}, True),
        ({"fullnameOverride": "other"}, True),
    ],
)
def test_volumes_of_an_earlier_installation_are_begun_with(
    values: dict[str, Any], is_refused: bool, tmp_path: Path
) -> None:
    """The first one may be lost."""
    said = upgrade(tmp_path, values, volume("data-kraftctl-3001"), volume("data-kraftctl-3002"))
    assert ("data-kraftctl-3001, data-kraftctl-3002 of an earlier installation" in said) == is_refused
    assert (said != "") == is_refused


def test_files_of_the_past_stay_in_the_release(tmp_path: Path) -> None:
    """Otherwise a rollback finds one that the release does not know, and fails."""
    now = only("ConfigMap", documents(rendered(tmp_path, {})))
    past = [config_map("kraftctl"), {**config_map("kraftctl-0"), "immutable": True}]
    others = [config_map("a", instance="other"), config_map("b", owner="other")]
    done = asked(tmp_path, {}, config_map(now["metadata"]["name"]), *past, *others)
    assert done.stderr == ""
    for each in past:
        del each["metadata"]["annotations"]["meta.helm.sh/release-name"]
    found = [each for each in documents(done.stdout) if each["kind"] == "ConfigMap"]
    assert sorted(found, key=str) == sorted([now, *past], key=str)
