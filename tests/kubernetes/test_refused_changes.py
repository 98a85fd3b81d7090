"""What `helm upgrade` refuses and keeps of a release that is there, as an API server shows its objects."""

from __future__ import annotations

import copy
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kubernetes.api_server import api_server
from tests.kubernetes.kubernetes_tools import CHART, CLUSTER_ID, helm, rendered, with_values
from tests.kubernetes.pods import Document, documents, only
from tests.kubernetes.test_chart_files import keys

pytestmark = [pytest.mark.long, pytest.mark.timeout(1900)]

TLS = {"tls": {"enabled": True, "secretName": "own"}}
OTHER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
DASH_ID = "-ArJXrP-SvO-8BiUSZQmHw"
SASL = {**TLS, "sasl": {"mechanism": "PLAIN", "secretName": "users"}}
SCRAM = {**TLS, "sasl": {"mechanism": "SCRAM-SHA-512", "secretName": "users"}}
OPEN = {"networkPolicy": {"enabled": False}}


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


def volume(name: str, release: str = "kraftctl", cluster_id: str = "", joined: str = "") -> dict[str, Any]:
    """Those of earlier charts have no cluster id, and those that begin a quorum have not joined one."""
    labels = {"app.kubernetes.io/name": "kraftctl", "app.kubernetes.io/instance": release}
    given = {"kraftctl/cluster-id": cluster_id, "kraftctl/existing-quorum": joined}
    annotations = {key: value for key, value in given.items() if value}
    metadata: dict[str, Any] = {"name": name, "labels": labels, "annotations": annotations}
    return {"kind": "PersistentVolumeClaim", "apiVersion": "v1", "metadata": metadata}


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
        pytest.param(SASL, SCRAM, "by PLAIN, and those that listen by SCRAM-SHA-512", id="with-scram"),
        pytest.param(
            {}, {"ports": {"controller": 9094}}, "leave clusterDomain and ports.controller", id="port"
        ),
        pytest.param({}, {"clusterDomain": "other"}, "leave clusterDomain and ports.controller", id="domain"),
    ],
)
def test_a_change_is_refused(
    before: dict[str, Any], after: dict[str, Any], next_step: str, tmp_path: Path
) -> None:
    files = only("ConfigMap", documents(rendered(tmp_path, before)))
    assert next_step in upgrade(tmp_path, after, installed(tmp_path, before), files)


@pytest.mark.parametrize(("before", "after"), [(5, 4), (5, 3), (4, 3), (3, 2), (3, 1)])
def test_an_upgrade_does_not_scale_down(before: int, after: int, tmp_path: Path) -> None:
    """It would also restart those that stay: the highest of them stops beside the one that goes."""
    fewer = before - 1
    there = installed(tmp_path, {"replicas": before})
    said = upgrade(tmp_path, {"replicas": after}, there)
    assert f"kubectl -n kafka scale statefulset kraftctl --replicas={fewer}, wait until the pod " in said
    assert f"the pod kraftctl-{2999 + before} is gone" in said
    assert "remove-controller -i and -d as describe --status has them" in said
    assert "once all that are voters are ready" in said
    assert "a pod that never started is no voter: scale it away, and remove nothing" in said
    assert f"then helm upgrade with --reset-then-reuse-values --set replicas={fewer}" in said
    there["spec"]["replicas"] = fewer
    assert upgrade(tmp_path, {"replicas": fewer}, there) == ""


def test_one_of_two_voters_is_no_majority(tmp_path: Path) -> None:
    said = upgrade(tmp_path, {"replicas": 1}, installed(tmp_path, {"replicas": 2}))
    assert "set replicas=2 or more" in said
    assert "scale statefulset" not in said


def test_a_quorum_that_exists_is_named_until_all_have_joined(tmp_path: Path) -> None:
    """Otherwise the first one, on a volume that is not formatted yet, begins a quorum of its own."""
    there = installed(tmp_path, {"existingQuorum": ["c:1", "d:1"], **OPEN})
    for ready in (None, 2):
        there["status"] = {} if ready is None else {"readyReplicas": ready}
        assert "set existingQuorum={c:1,d:1} until all are ready" in upgrade(tmp_path, {}, there)
    assert upgrade(tmp_path, {"existingQuorum": ["d:1"], **OPEN}, there) == ""
    there["status"] = {"readyReplicas": 3}
    assert upgrade(tmp_path, {}, there) == ""


CHANGED: dict[str, Any] = {
    "clusterId": OTHER_ID,
    "replicas": 2,
    "firstNodeId": 2999,
    "existingQuorum": ["c:1"],
    "image.repository": "other",
    "image.tag": "2",
    "image.digest": "sha256:" + 64 * "0",
    "image.pullPolicy": "Always",
    "image.pullSecrets": ["registry"],
    "fullnameOverride": "other",
    "clusterDomain": "other",
    "ports.controller": 9094,
    "ports.operate": 9098,
    "config": {"min.insync.replicas": 2},
    "secretName": "values",
    "tls.enabled": False,
    "tls.secretName": "other",
    "tls.issuerRef": {"name": "ca"},
    "sasl.mechanism": "SCRAM-SHA-512",
    "sasl.secretName": "other",
    "storage.size": "20Gi",
    "storage.className": "fast",
    "resources": {"limits": {"memory": "2Gi"}},
    "restartGate.waitSeconds": 0,
    "fixedUser": False,
    "hostAntiAffinity": "preferred",
    "nodeSelector": {"disk": "ssd"},
    "tolerations": [{"operator": "Exists"}],
    "priorityClassName": "high",
    "podLabels": {"a": "b"},
    "podAnnotations": {"a": "b"},
    "networkPolicy.enabled": False,
    "networkPolicy.clients": [],
    "networkPolicy.monitoring": [{"podSelector": {}}],
    "serviceMonitor.enabled": True,
    "serviceMonitor.labels": {"a": "b"},
    "serviceMonitor.interval": "1m",
    "prometheusRule.enabled": True,
    "prometheusRule.labels": {"a": "b"},
}
"""Another value for each path of a release that has certificates and passwords."""

TOGETHER: dict[str, dict[str, Any]] = {
    "tls.enabled": {"tls": {}, "sasl": {}},
    "existingQuorum": {"networkPolicy": {"enabled": False}},
}
"""What changes with it: otherwise other rules refuse it."""

STAYS = [
    *("clusterId", "replicas", "firstNodeId", "fullnameOverride", "clusterDomain", "ports.controller"),
    *("tls.enabled", "sasl.mechanism", "storage.size", "storage.className"),
]
"""Values with which an upgrade would stop two voters at a time, begin a second quorum, or be refused."""


def test_each_value_is_one_that_may_change_or_stays() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    assert set(keys(values)) == CHANGED.keys()


def identity(found: list[Document]) -> tuple[Any, ...]:
    """Which voters these are, where they are reached, how, and who begins a quorum."""
    controllers = only("StatefulSet", found)
    (pod,) = controllers["spec"]["template"]["spec"]["initContainers"]
    variables = {each["name"]: each.get("value") for each in pod["env"]}
    (mounted,) = [each for each in controllers["spec"]["template"]["spec"]["volumes"] if "configMap" in each]
    (files,) = [each["data"] for each in found if each["metadata"]["name"] == mounted["configMap"]["name"]]
    wire = re.findall(
        "(?:security.protocol.map|mechanism.controller.protocol)=.*", files["controller.properties"]
    )
    claims = controllers["spec"]["volumeClaimTemplates"]
    names = ("CLUSTER_ID", "FIRST_NODE_ID", "CONTROLLERS", "OTHER_CONTROLLERS")
    spec = {name: controllers["spec"][name] for name in ("serviceName", "replicas", "ordinals", "selector")}
    return controllers["metadata"]["name"], spec, claims, [variables[each] for each in names], wire


@pytest.mark.parametrize("path", CHANGED)
def test_a_change_leaves_the_voters_or_is_refused(path: str, tmp_path: Path) -> None:
    """A change of each value: it is refused, or all pods are the same voters at the same addresses."""
    before = documents(rendered(tmp_path, SASL))
    after: dict[str, Any] = {**SASL, **TOGETHER.get(path, {})}
    value = CHANGED[path]
    first, _, second = path.partition(".")
    after[first] = {**after.get(first, {}), second: value} if second else value
    found = [only("StatefulSet", before), only("ConfigMap", before)]
    done = asked(tmp_path, after, *found)
    assert (done.returncode != 0) == (path in STAYS), done.stderr
    if path in STAYS:
        assert "Next step: " in done.stderr
    else:
        assert identity(documents(done.stdout)) == identity(before)


@pytest.mark.parametrize("values", [{}, TLS, SASL, {"fullnameOverride": "own", "firstNodeId": 7}])
def test_other_changes_are_made(values: dict[str, Any], tmp_path: Path) -> None:
    more = {"replicas": 5, "image": {"tag": "2"}, "config": {"min.insync.replicas": 2}}
    files = only("ConfigMap", documents(rendered(tmp_path, values)))
    assert upgrade(tmp_path, {**values, **more}, installed(tmp_path, values), files) == ""


def test_other_releases_do_not_matter(tmp_path: Path) -> None:
    other = installed(tmp_path, {"fullnameOverride": "own", "firstNodeId": 7})
    other["metadata"]["labels"]["app.kubernetes.io/instance"] = "other"
    unlabelled = {"kind": "StatefulSet", "apiVersion": "apps/v1", "metadata": {"name": "a"}, "spec": {}}
    variables = other["spec"]["template"]["spec"]["initContainers"][0]["env"]
    (cluster,) = [each for each in variables if each["name"] == "CLUSTER_ID"]
    cluster["value"] = OTHER_ID
    volumes = [volume("data-own-7", "other"), volume("data-own-8", "other", OTHER_ID)]
    assert upgrade(tmp_path, {}, other, unlabelled, *volumes) == ""


def test_another_release_begins_no_second_quorum_of_the_cluster(tmp_path: Path) -> None:
    """Beside controllers of the same cluster, or their volumes, whatever the names of the releases are."""
    other = installed(tmp_path, {"fullnameOverride": "own"})
    other["metadata"]["labels"]["app.kubernetes.io/instance"] = "other"
    assert "begin a second, empty quorum of it. Next step: helm upgrade other;" in upgrade(
        tmp_path, {}, other
    )
    left = [volume("data-own-3000", "other", CLUSTER_ID), volume("data-own-3001", "other", CLUSTER_ID)]
    assert "volumes data-own-3000, data-own-3001 of an earlier" in upgrade(tmp_path, {}, *left)
    assert upgrade(tmp_path, {"fullnameOverride": "own"}, *left) == ""
    joins = {"existingQuorum": ["own-3000.own.kafka.svc.cluster.local:9093"], **OPEN}
    assert upgrade(tmp_path, joins, other, *left) == ""
    ours = installed(tmp_path, joins)
    ours["status"] = {"readyReplicas": 3}
    assert upgrade(tmp_path, {}, ours, volume("data-kraftctl-3000"), other, *left) == ""


def test_volumes_have_the_id_of_their_cluster(tmp_path: Path) -> None:
    """An annotation, as an id may begin with a dash; a StatefulSet of an earlier chart stays without."""

    def annotations(*objects: dict[str, Any]) -> Any:
        done = asked(tmp_path, {"clusterId": DASH_ID}, *objects)
        assert done.stderr == ""
        (claim,) = only("StatefulSet", documents(done.stdout))["spec"]["volumeClaimTemplates"]
        return claim["metadata"].get("annotations")

    now = installed(tmp_path, {"clusterId": DASH_ID})
    earlier = copy.deepcopy(now)
    del earlier["spec"]["volumeClaimTemplates"][0]["metadata"]["annotations"]
    joined = installed(tmp_path, {"clusterId": DASH_ID, "existingQuorum": ["c:1"], **OPEN})
    joined["status"] = {"readyReplicas": 3}
    assert [annotations(), annotations(now), annotations(earlier), annotations(joined)] == [
        {"kraftctl/cluster-id": DASH_ID},
        {"kraftctl/cluster-id": DASH_ID},
        None,
        {"kraftctl/cluster-id": DASH_ID, "kraftctl/existing-quorum": "c:1"},
    ]


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


@pytest.mark.parametrize(
    ("values", "release", "next_step"),
    [
        pytest.param({"replicas": 1}, "kraftctl", "replicas=3 and firstNodeId=3000", id="one"),
        pytest.param({"replicas": 2}, "kraftctl", "replicas=3 and firstNodeId=3000", id="two"),
        pytest.param({"replicas": 1}, "other", "replicas=3 and firstNodeId=3000", id="of-another-release"),
        pytest.param({"firstNodeId": 3001}, "kraftctl", "replicas=3 and firstNodeId=3000", id="later"),
        pytest.param({"firstNodeId": 2999}, "kraftctl", "replicas=4 and firstNodeId=2999", id="earlier"),
        pytest.param({}, "kraftctl", "", id="the-same"),
        pytest.param({"replicas": 5}, "kraftctl", "", id="five"),
    ],
)
def test_without_their_set_all_volumes_are_begun_with(
    values: dict[str, Any], release: str, next_step: str, tmp_path: Path
) -> None:
    """A repair deletes the StatefulSet: one of three voters is no majority, or begins a second quorum."""
    left = [volume(f"data-kraftctl-{number}", release, CLUSTER_ID) for number in (3000, 3001, 3002)]
    said = upgrade(tmp_path, values, *left)
    assert (said != "") == bool(next_step)
    if next_step:
        before, _, after = said.partition("Next step: ")
        assert next_step in after
        assert "delete the volumes of voters that were removed" in after
        used = range(
            values.get("firstNodeId", 3000), values.get("firstNodeId", 3000) + values.get("replicas", 3)
        )
        unused = [f"data-kraftctl-{number}" for number in (3000, 3001, 3002) if number not in used]
        assert f"the volumes {', '.join(unused)} are" in before


def test_a_removed_voter_may_leave_its_volume_beside_a_set(tmp_path: Path) -> None:
    left = [volume(f"data-kraftctl-{number}") for number in (3000, 3001, 3002, 3003)]
    assert upgrade(tmp_path, {}, installed(tmp_path, {}), *left) == ""


def test_without_their_set_volumes_know_the_quorum_that_they_join(tmp_path: Path) -> None:
    """Otherwise the first one, with an empty volume, begins a second quorum."""
    joins = {"existingQuorum": ["c:1", "d:1"], **OPEN}
    (claim,) = installed(tmp_path, joins)["spec"]["volumeClaimTemplates"]
    assert claim["metadata"]["annotations"]["kraftctl/existing-quorum"] == "c:1,d:1"
    left = [volume(f"data-kraftctl-{number}", joined="c:1,d:1") for number in (3001, 3002)]
    said = upgrade(tmp_path, {}, *left)
    assert "volumes data-kraftctl-3001, data-kraftctl-3002 are of controllers that join" in said
    assert "set existingQuorum={c:1,d:1}" in said.partition("Next step: ")[2]
    assert upgrade(tmp_path, joins, *left) == ""
    there = installed(tmp_path, joins)
    there["status"] = {"readyReplicas": 3}
    assert upgrade(tmp_path, {}, there, *left) == ""


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
