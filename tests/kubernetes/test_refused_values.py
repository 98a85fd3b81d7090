"""Values whose pods could not start are refused by the chart, with the value and the next step."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.kubernetes.kubernetes_tools import CHART, helm, rendered, with_values
from tests.kubernetes.pods import Document, documents, only
from tests.kubernetes.test_chart import EVERYTHING, TLS
from tests.kubernetes.test_chart_files import keys

pytestmark = [pytest.mark.long, pytest.mark.timeout(1900)]

ISSUER = {"tls": {"enabled": True, "issuerRef": {"name": "ca"}}}
SASL = {**TLS, "sasl": {"mechanism": "PLAIN", "secretName": "users"}}
AUTHORIZER = {"authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer"}
OPEN = {"networkPolicy": {"enabled": False}}
OUTSIDE = {"clients": [{"podSelector": {}}, {"ipBlock": {"cidr": "10.0.0.0/8"}}]}
NAMESPACE = {"clients": [{"namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": "kafka"}}}]}
OVERRIDABLE = {"ssl.client.auth"}
"""Keys that the chart writes unless `config` has them."""


def refused(directory: Path, values: dict[str, Any], release: str = "kraftctl") -> str:
    """Returns what Helm says; empty if it renders the chart."""
    flags = ["--namespace", "kafka", *with_values(directory, values)]
    done = helm("template", release, str(CHART), *flags)
    assert (done.returncode == 0) == (done.stderr == "")
    return done.stderr


def memory(limit: str, request: str) -> dict[str, Any]:
    return {"resources": {"limits": {"memory": limit}, "requests": {"memory": request}}}


@pytest.mark.parametrize(
    ("values", "named"),
    [
        pytest.param({"clusterId": ""}, "/clusterId", id="no-cluster"),
        pytest.param({"replicaCount": 3}, "replicaCount", id="a-key-of-other-charts"),
        pytest.param({"replicas": 0}, "/replicas", id="no-controller"),
        pytest.param({"firstNodeId": 2_147_483_640}, "/firstNodeId", id="no-node-id"),
        pytest.param({"image": {"tga": "1"}}, "tga", id="a-typing-error"),
        pytest.param({"image": {"digest": "sha256:1"}}, "/image/digest", id="no-digest"),
        pytest.param({"image": {"repository": "a/kraftctl:1"}}, "/image/repository", id="two-tags"),
        pytest.param({"image": {"repository": "a/b@sha256:0"}}, "/image/repository", id="two-digests"),
        pytest.param({"image": {"tag": "a:1"}}, "/image/tag", id="no-tag"),
        pytest.param({"image": {"tag": 1}}, "/image/tag", id="a-number-for-a-tag"),
        pytest.param({"hostAntiAffinity": "soft"}, "/hostAntiAffinity", id="no-such-choice"),
        pytest.param({"clusterDomain": "cluster.local."}, "/clusterDomain", id="two-dots"),
        pytest.param({"ports": {"controller": 80}}, "/ports/controller", id="a-port-of-root"),
        pytest.param({"storage": {"size": "10 GB"}}, "/storage/size", id="no-size"),
        pytest.param({"restartGate": {"waitSeconds": 4000}}, "/restartGate/waitSeconds", id="a-long-gate"),
        pytest.param({"existingQuorum": ["c1"]}, "/existingQuorum", id="no-port"),
        pytest.param({"existingQuorum": ["c1:65536"]}, "/existingQuorum", id="a-port-too-high"),
        pytest.param({"existingQuorum": ["c1:0"]}, "/existingQuorum", id="port-zero"),
        pytest.param({"existingQuorum": ["http://c1:1"]}, "/existingQuorum", id="a-url"),
        pytest.param({"config": {"a": "b\nnode.id=1"}}, "/config/a", id="two-lines"),
        pytest.param({"config": {"a": "b\\"}}, "/config/a", id="a-line-that-continues"),
        pytest.param({"config": {"a b": "c"}}, "/config", id="a-key-with-a-space"),
        pytest.param({"tls": {"enabled": True, "issuerRef": {"kind": "I"}}}, "/tls/issuerRef", id="no-name"),
        pytest.param({**TLS, "sasl": {"mechanism": "GSSAPI"}}, "/sasl/mechanism", id="no-mechanism"),
        pytest.param({"secretName": "No Secret"}, "/secretName", id="no-secret"),
        pytest.param({"podLabels": {"a": 1}}, "/podLabels/a", id="a-number-for-a-label"),
        pytest.param({"podLabels": {"app.kubernetes.io/name": "a"}}, "/podLabels", id="a-label-of-the-chart"),
        pytest.param({"networkPolicy": {"clients": [{}]}}, "/networkPolicy/clients", id="an-empty-peer"),
        pytest.param({"serviceMonitor": {"interval": "15"}}, "/serviceMonitor/interval", id="no-unit"),
    ],
)
def test_a_value_alone_is_refused(values: dict[str, Any], named: str, tmp_path: Path) -> None:
    """By the schema, which names the path of the value."""
    assert named in refused(tmp_path, values)


@pytest.mark.parametrize(
    ("values", "named", "next_step"),
    [
        pytest.param(
            {"tls": {"enabled": True}},
            "tls.enabled needs",
            "tls.secretName=kraftctl-tls",
            id="no-certificate",
        ),
        pytest.param({"tls": {"secretName": "a"}}, "tls.secretName", "tls.enabled=true", id="clear-text"),
        pytest.param(
            {"sasl": {"mechanism": "PLAIN", "secretName": "u"}},
            "sasl.mechanism",
            "tls.enabled=true",
            id="no-tls",
        ),
        pytest.param({**TLS, "sasl": {"mechanism": "PLAIN"}}, "sasl.secretName", "make one", id="no-users"),
        pytest.param(
            {**TLS, "sasl": {"secretName": "u"}}, "sasl.secretName", "sasl.mechanism=PLAIN", id="no-passwords"
        ),
        pytest.param({"ports": {"operate": 9093}}, "ports.operate", "another ports.operate", id="one-port"),
        pytest.param({"fullnameOverride": "9.kafka"}, "fullnameOverride", "another name", id="no-service"),
        pytest.param(
            {"existingQuorum": ["kraftctl-3000.kraftctl.kafka.svc.cluster.local:9093"]},
            "existingQuorum",
            "existingQuorum=[]",
            id="a-pod-of-its-own",
        ),
        pytest.param({"existingQuorum": ["kraftctl.kafka:1"]}, "existingQuorum", "[]", id="its-own-service"),
        pytest.param({"existingQuorum": ["c:1"]}, "networkPolicy.clients", "brokers", id="not-reached"),
        pytest.param(
            {"existingQuorum": ["c:1"], "networkPolicy": {"clients": []}},
            "networkPolicy.clients",
            "kubernetes.io/metadata.name: kafka",
            id="reached-by-none",
        ),
        pytest.param(
            {"config": {"a": "${secrets:/etc/kraftctl-secrets:a}"}},
            "config.a",
            "secretName",
            id="no-provider",
        ),
        pytest.param({"config": {"a": "${vault:b}"}}, "config.a", "the value itself", id="another-provider"),
        pytest.param({"config": {"a": "${sasl:b:c}"}}, "config.a", "sasl.mechanism", id="no-sasl"),
        pytest.param(
            {"secretName": "s", "config": {"a": "1 ${secrets:/etc/other:a}"}},
            "config.a",
            "${secrets:/etc/kraftctl-secrets:KEY}",
            id="another-directory",
        ),
        pytest.param(
            {"config": {"kraftctl.audit.log.path": "/var/log/audit"}},
            "config.kraftctl.audit.log.path",
            "/var/lib/kraftctl/audit.log",
            id="a-file-on-a-root-that-is-read-only",
        ),
        pytest.param({**TLS, "config": AUTHORIZER}, "config.super.users", "User:CN=NAME", id="no-super-user"),
        pytest.param(
            {"config": {**AUTHORIZER, "super.users": "User:a"}},
            "User:ANONYMOUS",
            "tls.enabled",
            id="anonymous",
        ),
        pytest.param(memory("1Gi", "2Gi"), "resources.limits.memory", "2Gi or more", id="less-memory"),
        pytest.param(memory("64Mi", "1Mi"), "resources.limits.memory", "128Mi", id="little-memory"),
        pytest.param(
            memory("1 GB", "1Gi"),
            "resources.limits.memory is 1 GB",
            "write resources.limits.memory so",
            id="no-quantity",
        ),
        pytest.param(
            {"resources": {"limits": {"cpu": 0.1}}},
            "resources.limits.cpu",
            "250m or more",
            id="less-processor",
        ),
    ],
)
def test_values_that_do_not_fit_each_other_are_refused(
    values: dict[str, Any], named: str, next_step: str, tmp_path: Path
) -> None:
    before, _, after = refused(tmp_path, values).partition("Next step: ")
    assert named in before
    assert next_step in after


@pytest.mark.parametrize(
    "values",
    [
        pytest.param({**OPEN, "existingQuorum": ["kraftctl.kafka.example:1"]}, id="a-name-that-begins-so"),
        pytest.param({"existingQuorum": ["c:1"], "networkPolicy": OUTSIDE}, id="controllers-outside"),
        pytest.param({"existingQuorum": ["c:1"], "networkPolicy": NAMESPACE}, id="controllers-inside"),
        pytest.param({**TLS, "config": {"ssl.client.auth": "requested"}}, id="who-shows-certificates"),
        pytest.param({**TLS, "config": {**AUTHORIZER, "super.users": "User:CN=a"}}, id="rights"),
        pytest.param({"config": {**AUTHORIZER, "super.users": "User:a;User:ANONYMOUS"}}, id="anonymous"),
        pytest.param(
            {**OPEN, "config": AUTHORIZER, "existingQuorum": ["c:1"]}, id="acls-of-a-quorum-that-exists"
        ),
        pytest.param({"config": {**AUTHORIZER, "allow.everyone.if.no.acl.found": True}}, id="everyone"),
        pytest.param({"config": {"kraftctl.audit.log.path": "/var/lib/kraftctl/audit.log"}}, id="audit"),
        pytest.param({"resources": {"limits": {"cpu": 1, "memory": "0.5Gi"}}}, id="quantities"),
        pytest.param({"image": {"repository": "registry.example:5000/a/kraft-ctl"}}, id="a-registry"),
        pytest.param({"firstNodeId": 2_147_483_639, "replicas": 9}, id="the-last-node-ids"),
    ],
)
def test_values_that_fit_are_rendered(values: dict[str, Any], tmp_path: Path) -> None:
    assert refused(tmp_path, values) == ""


def test_a_release_whose_name_no_service_can_have_is_refused(tmp_path: Path) -> None:
    assert "set fullnameOverride" in refused(tmp_path, {}, "3.kafka")
    assert refused(tmp_path, {"fullnameOverride": "kafka"}, "3.kafka") == ""


def test_no_value_but_the_storage_class_may_be_null(tmp_path: Path) -> None:
    """Helm removes a default that is null, and templates would render nothing in its place."""
    accepted = []
    for path in keys(yaml.safe_load((CHART / "values.yaml").read_text())):
        values: Any = None
        for name in reversed(path.split(".")):
            values = {name: values}
        if not refused(tmp_path, values) and not path.startswith("resources."):
            accepted.append(path)
    assert accepted == ["storage.className"]


def properties(found: list[Document], name: str = "controller.properties") -> dict[str, str]:
    lines = only("ConfigMap", found)["data"][name].splitlines()
    pairs = [line.partition("=")[::2] for line in lines]
    assert len(dict(pairs)) == len(pairs), "a key twice"
    return dict(pairs)


def test_each_key_that_the_chart_writes_is_refused_in_config(tmp_path: Path) -> None:
    """Of every variant; the name of the listener before it makes no difference."""
    written: set[str] = set()
    for values in (EVERYTHING, TLS, {}):
        written |= properties(documents(rendered(tmp_path, values))).keys()
    for key in sorted(written - OVERRIDABLE - EVERYTHING["config"].keys()):
        for name in (key, f"listener.name.controller.{key.removeprefix('listener.name.controller.')}"):
            said = refused(tmp_path, {**SASL, "config": {name: "1"}})
            assert f"config has {name}, which the chart writes" in said, name
            place = instead_of(key)
            assert (f"leave it out, and set {place}" if place else "leave it out: no value") in said, name


INSTEAD = {
    r"ssl[.](key|trust)store[.].*": "tls.secretName",
    r"controller[.]quorum[.](bootstrap[.]servers|voters)": "existingQuorum",
    r"(node|broker)[.]id": "firstNodeId",
    r"(advertised[.])?listeners": "ports.controller",
    r"listener[.]security[.]protocol[.]map": "tls.enabled",
    r"kraftctl[.]operate[.]listeners": "ports.operate",
    r"sasl[.](enabled[.]mechanisms|mechanism[.]controller[.]protocol)": "sasl.mechanism",
    r"kraftctl[.]scram[.]users[.]path|.*[.]sasl[.]jaas[.]config": "sasl.secretName",
    r"config[.]providers.*": "secretName",
}
"""The value of the chart that has the place of a key."""


def instead_of(key: str) -> str:
    """Returns the path in the values; empty for a key that no value changes."""
    found = [value for pattern, value in INSTEAD.items() if re.fullmatch(pattern, key)]
    return found[0] if found else ""


def test_a_value_that_has_the_place_of_a_key_is_there() -> None:
    assert set(INSTEAD.values()) < set(keys(yaml.safe_load((CHART / "values.yaml").read_text())))


@pytest.mark.parametrize(
    "key", ["ssl.truststore.password", "controller.quorum.voters", "broker.id", "log.dir"]
)
def test_a_key_that_no_variant_writes_is_refused_so(key: str, tmp_path: Path) -> None:
    place = instead_of(key)
    said = refused(tmp_path, {"config": {key: "1"}})
    assert (f"leave it out, and set {place}" if place else "leave it out: no value") in said


def unsound(found: list[Document], given: set[str]) -> list[str]:
    """What pods with these manifests would wait for, or not find."""
    made = {each["spec"]["secretName"] for each in found if each["kind"] == "Certificate"}
    pod = only("StatefulSet", found)["spec"]["template"]["spec"]
    volumes = {each["name"]: each for each in pod["volumes"]}
    named = {each["secret"]["secretName"] for each in volumes.values() if "secret" in each}
    wrong = [f"no secret {name}" for name in sorted(named - made - given)]
    wrong += [f"{name} is read by no pod" for name in sorted((made | given) - named)]
    for container in (*pod["initContainers"], *pod["containers"]):
        mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
        wrong += [f"no volume {name}" for name in sorted(mounts.keys() - volumes.keys() - {"data"})]
        for file in ("controller.properties", "client.properties"):
            text = only("ConfigMap", found)["data"][file]
            places = re.findall(r"/etc/kraftctl-[a-z]+", text)
            wrong += [f"{place} is not mounted" for place in places if place not in mounts.values()]
            providers = properties(found, file).get("config.providers", "").split(",")
            wrong += [
                f"no provider {each}" for each in re.findall(r"[$]{([^:]+):", text) if each not in providers
            ]
    return wrong


TRUTH = [False, True]


@pytest.mark.parametrize("mechanism", ["", "PLAIN", "SCRAM-SHA-512"])
@pytest.mark.parametrize("is_enabled", TRUTH)
def test_certificates_and_passwords_are_whole_or_refused(
    is_enabled: bool, mechanism: str, tmp_path: Path
) -> None:
    """Every combination: pods have the secrets that they mount, and nothing that was given is left unused."""
    for has_secret, has_issuer, has_users, has_values in itertools.product(TRUTH, repeat=4):
        tls = {"enabled": is_enabled, "secretName": "own" if has_secret else ""}
        values: dict[str, Any] = {
            "tls": tls | {"issuerRef": {"name": "ca"} if has_issuer else {}},
            "sasl": {"mechanism": mechanism, "secretName": "users" if has_users else ""},
        }
        given = {name for name, has in (("own", has_secret), ("users", has_users)) if has}
        if has_values:
            values["secretName"] = "values"
            values["config"] = {"ssl.key.password": "${secrets:/etc/kraftctl-secrets:a}"}
            given.add("values")
        is_whole = (has_secret or has_issuer) == is_enabled and has_users == bool(mechanism)
        said = refused(tmp_path, values)
        assert (said == "") == (is_whole and (is_enabled or not mechanism)), values
        if said:
            assert "Next step: " in said
            continue
        found = documents(rendered(tmp_path, values))
        assert unsound(found, given) == [], values
        protocol = {True: "SASL_SSL" if mechanism else "SSL", False: "PLAINTEXT"}[is_enabled]
        assert properties(found)["listener.security.protocol.map"] == f"CONTROLLER:{protocol}"
        assert properties(found, "client.properties")["security.protocol"] == protocol


def test_the_commands_beside_a_controller_have_its_keys_of_ssl(tmp_path: Path) -> None:
    """The first pod asks the others by these, and the hook of each one that stops."""
    config = {
        "ssl.key.password": "${secrets:/etc/kraftctl-secrets:a}",
        "ssl.cipher.suites": "A",
        "listener.name.controller.ssl.cipher.suites": "B",
        "listener.name.controller.ssl.endpoint.identification.algorithm": "",
        "ssl.principal.mapping.rules": "DEFAULT",
    }
    found = properties(
        documents(rendered(tmp_path, {**SASL, "secretName": "values", "config": config})), "client.properties"
    )
    assert {
        name: value for name, value in found.items() if name.startswith("ssl.") and "store" not in name
    } == {
        "ssl.key.password": "${secrets:/etc/kraftctl-secrets:a}",
        "ssl.cipher.suites": "B",
        "ssl.endpoint.identification.algorithm": "",
    }
    assert found["config.providers"] == "secrets,sasl"
