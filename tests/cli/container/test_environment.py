"""Variables become properties as in the apache/kafka image: tables, and what Kafka's class makes of them."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from kraftctl.cli.container.environment import (
    FOR_A_JVM,
    LEVELS,
    LOCATIONS,
    PASSWORDS,
    ignored_variables,
    log_level,
    overridden,
    property_lines,
    property_name,
    server_properties,
)
from kraftctl.cli.container.secrets import uses_ssl, with_secrets
from kraftctl_protocol.java_properties import decode_properties
from tests.support.processes.oracle import kafkas_answers

ORACLE = Path(__file__).parent / "WrapperOracle.java"

NAMES = {
    "KAFKA_NODE_ID": "node.id",
    "KAFKA_LISTENER_NAME_SASL__SSL_SSL_KEYSTORE_TYPE": "listener.name.sasl_ssl.ssl.keystore.type",
    "KAFKA_LISTENER_NAME_X_SCRAM___SHA___512_SASL_JAAS_CONFIG":
        "listener.name.x.scram-sha-512.sasl.jaas.config",
    "KAFKA_LISTENER_NAME_CONTROLPLANE___9090_SSL_CLIENT_AUTH":
        "listener.name.controlplane-9090.ssl.client.auth",
    "KAFKA_A____B": "a-.b",
    "KAFKA_A_____B": "a-_b",
    "KAFKA_A______B": "a--b",
    "KAFKA_": "",
    "KAFKA__": ".",
    "KAFKA_KAFKA_X": "kafka.x",
    "KAFKA_a_B": "a.b",
    "KAFKA_LOG4J_ROOT_LOGLEVEL_X": "log4j.root.loglevel.x",
}  # fmt: skip
"""Kafka's class has the same, as the test below shows."""

OWN_NAMES = {
    "KRAFTCTL_OPERATE_LISTENERS": "kraftctl.operate.listeners",
    "KRAFTCTL_AUDIT_LOG_PATH": "kraftctl.audit.log.path",
}

MOUNTED = (
    None,
    b"",
    b"\n \n",
    b"node.id=7\nlog.dirs=/data",
    b"node.id=7\nprocess.roles=controller\n",
)

VARIABLES: tuple[dict[str, str], ...] = (
    {},
    {"PATH": "/bin", "CLUSTER_ID": "x", "XKAFKA_NODE_ID": "1"},
    {name: f"value {number}" for number, name in enumerate(NAMES)},
    {"KAFKA_NODE_ID": "", "KAFKA_A": " spaced ", "KAFKA_B": "back\\slash\\\\ \\u0041", "KAFKA_C": "é=ü#!:"},
    {"KAFKA_A": "line\nnext=line"},
    {"KAFKA_A": "ends\\"},
    {**dict.fromkeys(FOR_A_JVM, "1"), "KAFKA_OPTS": "-Dx", "KAFKA_VERSION": "4.3.1", "KAFKA_NODE_ID": "3"},
    {"KAFKA_LOG4J_ROOT_LOGLEVEL": "DEBUG"},
    {**dict.fromkeys([*LOCATIONS, *PASSWORDS], "file"), "KAFKA_SSL_KEYSTORE_LOCATION": "/x"},
)

ONLY_KAFKAS = {"jmx.port", *(property_name(name) for name in (*LOCATIONS, *PASSWORDS))}
"""What the scripts of the image have read already: as properties, no version of Kafka knows them."""


@pytest.mark.parametrize(("variable", "key"), [*NAMES.items(), *OWN_NAMES.items()])
def test_the_name_of_a_variable_is_a_key(variable: str, key: str) -> None:
    assert property_lines({variable: "x"}) == [f"{key}=x"]


@pytest.mark.java
def test_kafkas_class_makes_the_same_properties() -> None:
    cases = [(mounted, variables) for mounted in MOUNTED for variables in VARIABLES]
    lines = [
        " ".join([_encoded(mounted), *(_encoded(f"{name}={value}".encode()) for name, value in each.items())])
        for mounted, each in cases
    ]
    for (mounted, variables), made in zip(cases, kafkas_answers(ORACLE, lines), strict=True):
        expected = decode_properties(base64.b64decode(made))
        ours = server_properties(mounted, variables)
        if not ours.strip():
            assert expected == {"is.default": "true"}
            continue
        kept = {key: value for key, value in expected.items() if key not in ONLY_KAFKAS}
        assert decode_properties(ours) == kept, (mounted, variables)


def _encoded(content: bytes | None) -> str:
    return "-" if content is None else base64.b64encode(content).decode()


def test_services_of_kubernetes_are_no_keys_of_ours() -> None:
    """A service named kraftctl adds variables to each pod, and an unknown key of kraftctl is an error."""
    names = (
        "SERVICE_HOST",
        "SERVICE_PORT",
        "SERVICE_PORT_PROBES",
        "PORT",
        "PORT_9093_TCP",
        "PORT_9093_TCP_ADDR",
    )
    for prefix in ("KRAFTCTL", "KRAFTCTL_BOOTSTRAP"):
        assert property_lines({f"{prefix}_{name}": "tcp://10.0.0.1:9093" for name in names}) == []


def test_variables_are_below_the_mounted_file() -> None:
    made = server_properties(b"node.id=1\nlog.dirs=/a", {"KAFKA_NODE_ID": "2"})
    assert decode_properties(made) == {"node.id": "2", "log.dirs": "/a"}


def test_arguments_replace_variables() -> None:
    assert overridden({"KAFKA_A": "1"}, ["KAFKA_A=2", "KAFKA_B=x=y"]) == {"KAFKA_A": "2", "KAFKA_B": "x=y"}
    for wrong in ("KAFKA_A", "=x", ""):
        with pytest.raises(ValueError, match="VARIABLE=VALUE"):
            overridden({}, [wrong])
    with pytest.raises(ValueError, match="argument 2 of 2 is not") as refused:
        overridden({}, ["A=b", "a-secret"])
    assert "a-secret" not in str(refused.value)


def test_what_only_a_jvm_uses_is_named_if_it_is_set() -> None:
    variables = {"KAFKA_HEAP_OPTS": "-Xmx1g", "KAFKA_JMX_PORT": "", "KAFKA_NODE_ID": "1"}
    assert ignored_variables(variables) == ["KAFKA_HEAP_OPTS"]


@pytest.mark.parametrize(("level", "ours"), LEVELS.items())
def test_levels_of_log4j(level: str, ours: str) -> None:
    assert log_level({"KAFKA_LOG4J_ROOT_LOGLEVEL": level.lower()}) == ours


def test_without_a_level_it_is_info() -> None:
    assert log_level({}) == log_level({"KAFKA_LOG4J_ROOT_LOGLEVEL": ""}) == "info"
    with pytest.raises(ValueError, match="use one of ALL, TRACE"):
        log_level({"KAFKA_LOG4J_ROOT_LOGLEVEL": "LOUD"})


PLAIN = {"controller.listener.names": "CONTROLLER"}
WITH_SSL = {**PLAIN, "listener.security.protocol.map": "CONTROLLER:SSL,PLAINTEXT:PLAINTEXT"}


def test_files_of_secrets(tmp_path: Path) -> None:
    (tmp_path / "store.p12").write_bytes(b"\0")
    (tmp_path / "password").write_text("se cret\n\n")
    named = {"KAFKA_SSL_KEYSTORE_FILENAME": "store.p12", "KAFKA_SSL_KEYSTORE_CREDENTIALS": "password"}
    assert property_lines(with_secrets(named, tmp_path, WITH_SSL)) == [
        f"ssl.keystore.location={tmp_path}/store.p12",
        "ssl.keystore.password=se cret",
    ]
    with pytest.raises(ValueError, match=r"KAFKA_SSL_KEY_CREDENTIALS names .*/none.*: mount it"):
        with_secrets({"KAFKA_SSL_KEY_CREDENTIALS": "none"}, tmp_path, WITH_SSL)


@pytest.mark.parametrize(
    ("properties", "used"),
    [
        pytest.param({}, False, id="nothing"),
        pytest.param(PLAIN, False, id="no-map"),
        pytest.param({"controller.listener.names": "ssl"}, True, id="a-name-is-a-protocol"),
        pytest.param(WITH_SSL, True, id="ssl"),
        pytest.param(WITH_SSL | {"controller.listener.names": "PLAINTEXT"}, False, id="of-another-listener"),
        pytest.param(
            WITH_SSL | {"controller.listener.names": "PLAINTEXT, controller"}, True, id="the-second"
        ),
        pytest.param(PLAIN | {"listener.security.protocol.map": "controller:sasl_ssl"}, True, id="sasl-ssl"),
        pytest.param(
            PLAIN | {"listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT,A:SSL"}, False, id="sasl"
        ),
    ],
)
def test_secrets_are_for_a_controller_with_ssl(properties: dict[str, str], used: bool) -> None:
    assert uses_ssl(properties) == used


@pytest.mark.parametrize("target", [*LOCATIONS.values(), *PASSWORDS.values()])
def test_secrets_do_not_replace_what_is_set(tmp_path: Path, target: str) -> None:
    """Neither as a variable nor in the mounted file; a file that is not used may be missing."""
    names = {value: name for name, value in (LOCATIONS | PASSWORDS).items()}
    given = {names[target]: "none", target: "of-the-user"}
    assert with_secrets(given, tmp_path, WITH_SSL | {property_name(target): "x"}) == given
    with pytest.raises(ValueError, match="mount it"):
        with_secrets(given, tmp_path, WITH_SSL)
