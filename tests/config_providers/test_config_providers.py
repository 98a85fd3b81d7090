"""Values from config providers: where they are used, what is refused, and that no error shows one."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl.cli import main
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.start import load_config
from kraftctl.config.controller_config import STANDARD_AUTHORIZER, ConfigException, ControllerConfig
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl_security.config_providers.providers import DIRECTORY, ENV_VAR, FILE
from kraftctl_security.config_providers.resolve import refuse_variables, resolve_properties
from kraftctl_security.config_providers.variables import find_variables
from kraftctl_spark.log.client_config import ObserverConfig, parse_client_options, read_command_config
from tests.support.controller_properties import controller_properties
from tests.support.planted_secrets import PlantedSecrets

ENV = {"config.providers": "env", "config.providers.env.class": ENV_VAR}
FILES = {"config.providers": "file", "config.providers.file.class": FILE}
DIRECTORIES = {"config.providers": "dir", "config.providers.dir.class": DIRECTORY}
ALLOWLIST = "config.providers.env.param.allowlist.pattern"
ALLOWED_PATHS = "config.providers.file.param.allowed.paths"

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
JAAS = "listener.name.controller.plain.sasl.jaas.config"
CONTROLLER = controller_properties(static=True)
WITH_SASL = {
    **CONTROLLER,
    "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "PLAIN",
    "sasl.mechanism.controller.protocol": "PLAIN",
}


def written(directory: Path, properties: dict[str, str], name: str = "test.properties") -> Path:
    file = directory / name
    escaped = {key: value.replace("\\", "\\\\").replace("\n", "\\n") for key, value in properties.items()}
    file.write_text("".join(f"{key}={value}\n" for key, value in escaped.items()))
    return file


def refused(properties: dict[str, str], environment: dict[str, str] | None = None) -> list[str]:
    with pytest.raises(ConfigException) as caught:
        resolve_properties(properties, environment or {})
    return caught.value.errors


# Where they are used.


def test_a_password_of_a_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also with --override, which may set the provider, too."""
    monkeypatch.setenv("ADMIN_PW", "s3cret")
    (tmp_path / "token").write_text("t0ken\n")
    jaas = f'{PLAIN} required username="admin" password="${{env:ADMIN_PW}}" user_admin="${{env:ADMIN_PW}}";'
    properties = {**WITH_SASL, **ENV, JAAS: jaas}
    overrides = [
        "config.providers=env,dir",
        f"config.providers.dir.class={DIRECTORY}",
        f"delegation.token.secret.key=${{dir:{tmp_path}:token}}",
    ]
    config = load_config(written(tmp_path, properties), overrides)
    assert config.sasl["CONTROLLER"].mechanisms["PLAIN"].options["user_admin"] == "s3cret"
    assert config.controller_sasl is not None
    assert config.controller_sasl.options["password"] == "s3cret"
    assert config.delegation_token_secret_key == "t0ken"
    assert config.unused_keys == []


def test_numbers_and_lists_of_a_controller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ID", "3000")
    (tmp_path / "hosts.properties").write_text("voters=3000@localhost:9093,3001@other:9093\n")
    properties = {
        **CONTROLLER,
        **ENV,
        **FILES,
        "config.providers": "env,file",
        "node.id": "${env:ID}",
        "controller.quorum.voters": f"${{file:{tmp_path}/hosts.properties:voters}}",
    }
    config = load_config(written(tmp_path, properties), [])
    assert config.node_id == 3000
    assert sorted(config.controller_quorum_voters) == [3000, 3001]
    assert config.originals["node.id"] == "3000"


@pytest.mark.parametrize("command", ["start", "format", "quorum"])
def test_no_command_takes_the_text_of_a_variable(
    tmp_path: Path, command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(written(tmp_path, {**CONTROLLER, "delegation.token.secret.key": "${file:/etc/secrets:key}"}))
    arguments = {
        "start": [file],
        "format": ["-t", "q1Sh-9_ISia_zwGINzRvyQ", "-c", file, "--standalone"],
        "quorum": ["--bootstrap-controller", "127.0.0.1:1", "--command-config", file, "describe", "--status"],
    }
    assert main([command, *arguments[command]]) == 1
    error = capsys.readouterr().err
    assert "Configuration delegation.token.secret.key: no provider resolves ${file:...}" in error
    assert "config.providers is not set" in error
    assert "/etc/secrets" not in error
    assert "Traceback" not in error


def test_a_format_and_a_tool_use_values(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DATA", str(tmp_path / "data"))
    properties = {key: value for key, value in CONTROLLER.items() if key != "controller.quorum.voters"}
    properties |= {"controller.quorum.bootstrap.servers": "localhost:9093", "log.dirs": "${env:DATA}"}
    file = str(written(tmp_path, {**properties, **ENV}))
    assert main(["format", "-t", "q1Sh-9_ISia_zwGINzRvyQ", "-c", file, "--standalone"]) == 0
    assert (tmp_path / "data" / "meta.properties").exists()
    flags = ["--bootstrap-controller", "127.0.0.1:1", "--command-config", file, "add-controller", "--dry-run"]
    capsys.readouterr()
    assert main(["quorum", *flags]) == 0
    assert "3000" in capsys.readouterr().out


def test_the_client_file_of_the_exporter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each process resolves it for itself; what Spark sees is the name of the file."""
    monkeypatch.setenv("ADA", "s3cret")
    jaas = f'{PLAIN} required username="ada" password="${{env:ADA}}";'
    keys = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": jaas}
    config = read_command_config(written(tmp_path, {**keys, **ENV}))
    new_client = config.read_security().new_sasl_client
    assert new_client is not None
    assert new_client().evaluate(b"") == b"\0ada\0s3cret"
    assert "s3cret" not in repr(config)
    monkeypatch.delenv("ADA")
    with pytest.raises(ValueError, match=r"test.properties: .*\$\{env:ADA\}.* has no variable ADA"):
        config.read_security()
    with pytest.raises(ValueError, match=r"sasl.jaas.config: no provider resolves \$\{env:...\}"):
        read_command_config(written(tmp_path, keys))


def test_options_of_spark_are_not_resolved() -> None:
    with pytest.raises(ValueError, match=r"client.id: it has \$\{env:...\}"):
        parse_client_options({"client.id": "${env:HOME}"}, ObserverConfig())


# What is refused, with which words.


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        pytest.param(
            {"k": "${env:PW}"},
            "Configuration k: no provider resolves ${env:...}: config.providers is not set."
            " Next step: add env"
            " there and set config.providers.env.class, or write the value itself",
            id="no-providers",
        ),
        pytest.param(
            {**ENV, "k": "${vault:secret:pw}"},
            "Configuration k: no provider resolves ${vault:...}: config.providers has env"
            " only. Next step: add"
            " vault there and set config.providers.vault.class, or write the value itself",
            id="other-provider",
        ),
        pytest.param(
            {**ENV, "k": "x${env:PW"},
            "Configuration k: nothing replaces ${env:..., which has no brace at its end. Next step: add it",
            id="no-brace",
        ),
        pytest.param(
            {**ENV, "k": "${env:PW}"},
            "Configuration k: ${env:PW} has no value: the environment has no variable PW",
            id="no-variable",
        ),
        pytest.param(
            {**ENV, ALLOWLIST: "A.*", "k": "${env:PW}"},
            f"Configuration k: ${{env:PW}} has no value: {ALLOWLIST} does not allow PW",
            id="allowlist",
        ),
        pytest.param(
            {**ENV, "k": "${env:/p:PW}"},
            "Configuration k: ${env:/p:PW} has no value: EnvVarConfigProvider takes no path, here /p",
            id="path-of-a-variable",
        ),
        pytest.param(
            {**FILES, "k": "${file:/no/such:pw}"},
            "Configuration k: ${file:/no/such:pw} has no value: cannot read /no/such: No"
            " such file or directory",
            id="no-file",
        ),
        pytest.param(
            {**FILES, "k": "${file:/dev/null:pw}"},
            "Configuration k: ${file:/dev/null:pw} has no value: cannot read /dev/null: it"
            " is a device, and has to be a file",
            id="device",
        ),
        pytest.param(
            {**FILES, ALLOWED_PATHS: "/usr", "k": "${file:/etc/passwd:pw}"},
            f"Configuration k: ${{file:/etc/passwd:pw}} has no value: {ALLOWED_PATHS} does"
            f" not allow /etc/passwd",
            id="allowed-paths",
        ),
        pytest.param(
            {**FILES, "k": "${file:pw}"},
            "Configuration k: ${file:pw} has no value: FileConfigProvider needs a path before the key",
            id="no-path",
        ),
        pytest.param(
            {**DIRECTORIES, "k": "${dir:/no/such:pw}"},
            "Configuration k: ${dir:/no/such:pw} has no value: cannot list /no/such: No such"
            " file or directory",
            id="no-directory",
        ),
        pytest.param(
            {"config.providers": "vault", "config.providers.vault.class": "com.example.Vault"},
            "Invalid value com.example.Vault for configuration config.providers.vault.class:"
            " a Java class cannot"
            " be loaded here; there are EnvVarConfigProvider, FileConfigProvider, DirectoryConfigProvider of"
            " org.apache.kafka.common.config.provider",
            id="class",
        ),
        pytest.param(
            {"config.providers": "env"},
            "Configuration config.providers names 'env', but there is no"
            " config.providers.env.class. Next step:"
            " set config.providers.env.class",
            id="no-class",
        ),
        pytest.param(
            {**ENV, "config.providers": "env "},
            "Configuration config.providers names 'env ', but there is no config.providers.env .class. Next"
            " step: remove the blank beside the name",
            id="blank",
        ),
        pytest.param(
            {**ENV, "config.providers": "env,"},
            "config.providers has an empty item.",
            id="empty",
        ),
        pytest.param(
            {**FILES, "config.providers.file.param.allowed.path": "/x"},
            "Configuration config.providers.file.param.allowed.path is not known: FileConfigProvider has"
            " config.providers.file.param.allowed.paths only",
            id="misspelt-parameter",
        ),
        pytest.param(
            {**FILES, "config.providers.file.parm.allowed.paths": "/x"},
            "Configuration config.providers.file.parm.allowed.paths is not known: FileConfigProvider has",
            id="misspelt-param",
        ),
        pytest.param(
            {**FILES, ALLOWED_PATHS: "/no/such"},
            f"Invalid value /no/such for configuration {ALLOWED_PATHS}: Path /no/such does not exist",
            id="no-allowed-path",
        ),
        pytest.param(
            {**ENV, ALLOWLIST: "${env:X}"},
            f"Invalid value ${{env:X}} for configuration {ALLOWLIST}: parameters of a provider are not"
            " resolved. Next step: write the value itself",
            id="variable-in-a-parameter",
        ),
    ],
)
def test_errors(properties: dict[str, str], error: str) -> None:
    errors = refused(properties)
    assert errors[0].startswith(error)


def test_all_errors_are_said_together() -> None:
    errors = refused({**ENV, "a": "${env:A}${env:B}", "b": "${vault:x}"})
    assert [error.partition(":")[0] for error in errors] == ["Configuration a"] * 2 + ["Configuration b"]


def test_a_name_may_be_the_beginning_of_another() -> None:
    of_both = {
        "config.providers": "a,a.b",
        "config.providers.a.class": ENV_VAR,
        "config.providers.a.b.class": FILE,
    }
    properties = {**of_both, "config.providers.a.b.param.allowed.paths": "/", "k": "${a:PW}"}
    assert resolve_properties(properties, {"PW": "s3cret"})["k"] == "s3cret"


def test_a_fifo_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (error,) = refused({**FILES, "k": f"${{file:{tmp_path}/fifo:pw}}"})
    assert "it is a FIFO, and has to be a file" in error


def test_a_file_has_a_limit(tmp_path: Path) -> None:
    file = tmp_path / "large"
    file.write_bytes(b"pw=" + b"x" * (1024 * 1024))
    (error,) = refused({**FILES, "k": f"${{file:{file}:pw}}"})
    assert "it has more than 1,048,576 bytes" in error
    (error,) = refused({**DIRECTORIES, "k": f"${{dir:{tmp_path}:large}}"})
    assert "it has more than 1,048,576 bytes" in error


def test_what_is_behind_an_unknown_provider_is_not_shown() -> None:
    """It may be a password that looks like a variable."""
    (error,) = refused({**ENV, "k": 'user="a" password="pa${55:hunter2}"'})
    assert "${55:...}" in error
    assert "hunter2" not in error


@pytest.mark.parametrize(
    "value",
    [
        "pa${ss",
        "pa${ss}word",
        'user_a="pa${ss" user_b="x:y";',
        "RULE:^CN=(.*?),.*$/$1/L",
        "a$b:c}",
        "${}",
        "$",
    ],
)
def test_other_text_stays(value: str) -> None:
    assert resolve_properties({"k": value}, {}) == {"k": value}
    assert resolve_properties({**ENV, "k": value}, {})["k"] == value


def test_the_property_of_the_jvm_has_an_error_of_its_own() -> None:
    name = "org.apache.kafka.automatic.config.providers"
    (error,) = refused({**ENV, "k": "x"}, {"KAFKA_OPTS": f"-Dx=y -D{name}=none"})
    assert error.endswith(f"{name} in KAFKA_OPTS does not allow it. Next step: add it there")


@given(st.text(alphabet="${}:ab\n", max_size=40))
def test_variables_are_those_of_kafkas_pattern(text: str) -> None:
    pattern = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")
    expected = [
        (match.span(), match.group(1), match.group(3) or "", match.group(4))
        for match in pattern.finditer(text)
    ]
    assert [
        ((each.start, each.end), each.provider, each.path, each.key) for each in find_variables(text)
    ] == expected


def test_dynamic_configs_have_no_variables() -> None:
    """CVE-2024-31141: who may alter them must not read the environment and the files of a controller."""
    with pytest.raises(ConfigException) as caught:
        refuse_variables({"a": "x", "ssl.keystore.password": "${env:HOME}", "b": "${file:/etc/x:y}z"})
    assert [error.partition(": it has")[0] for error in caught.value.errors] == [
        "Invalid value [hidden] for configuration b",
        "Invalid value [hidden] for configuration ssl.keystore.password",
    ]


# No error shows a value.


def planted_values(secrets: PlantedSecrets, key: str) -> Iterator[str]:
    """As they might be written for some other key."""
    one, two = secrets.text(f"{key}-1"), secrets.text(f"{key}-2")
    yield from (
        one,
        f"{one},{two}",
        f" {one} ; {two}\n",
        f"{one}:{two}",
        f"{one}://{two}:9093",
        f"User={one}",
    )
    yield f'{PLAIN} required password="{one}" {two}'
    yield f"RULE:^CN=({one}/{two}/L"


def test_no_error_shows_a_value() -> None:
    """All keys of Kafka, with and without the prefix of a listener, each with two kinds of values in turn."""
    refused_count = 0
    with_ssl = {**WITH_SASL, "listener.security.protocol.map": "CONTROLLER:SASL_SSL"}
    names = [*BROKER_CONFIG_KEYS, "kraftctl.node.principals", "kraftctl.audit.log.max.bytes"]
    for at, name in enumerate([*names, *(f"listener.name.controller.{name}" for name in names), JAAS]):
        secrets = PlantedSecrets()
        for value in list(planted_values(secrets, name.replace(".", "-")))[at % 4 :: 4]:
            given_properties = {**with_ssl, **ENV, name: "${env:VALUE}"}
            if name.startswith("config.providers"):
                continue
            resolved = resolve_properties(given_properties, {"VALUE": value})
            try:
                ControllerConfig(resolved)
            except ConfigException as error:
                shown = str(error)
                refused_count += "[hidden]" in shown
                assert secrets.in_("the error", shown) == [], shown
    assert refused_count > 150


def test_a_hidden_value_leaves_the_reason() -> None:
    for key, value, reason in (
        ("process.roles", "broker,controller", "it must be 'controller'"),
        ("node.id", "hunter2", "it is no INT"),
    ):
        resolved = resolve_properties({**CONTROLLER, **ENV, key: "${env:VALUE}"}, {"VALUE": value})
        with pytest.raises(ConfigException) as caught:
            ControllerConfig(resolved)
        error = caught.value.errors[0]
        assert error.startswith(f"Invalid value [hidden] for configuration {key}: ")
        assert error.endswith(reason)


@pytest.mark.parametrize(
    "key", ["request.timeout.ms", "security.protocol", "sasl.jaas.config", "ssl.keystore.key", "node.id"]
)
def test_no_error_of_a_tool_shows_a_value(
    tmp_path: Path, key: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VALUE", "planted-hunter2")
    keys = {
        **CONTROLLER,
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{PLAIN} required username="ada" password="x";',
        **ENV,
        key: "${env:VALUE}",
    }
    flags = ["--bootstrap-controller", "127.0.0.1:1", "--command-config", str(written(tmp_path, keys))]
    assert main(["quorum", *flags, "add-controller", "--dry-run"]) == 1
    assert key in (error := capsys.readouterr().err)
    assert "planted" not in error
    keys = {name: keys[name] for name in keys if name not in CONTROLLER or name == key}
    with pytest.raises(ValueError) as caught:
        read_command_config(written(tmp_path, keys))
    assert "planted" not in str(caught.value)


def test_a_value_around_what_a_provider_gave_is_hidden_with_it() -> None:
    given_properties = {**CONTROLLER, **ENV, "super.users": "User:ann;x${env:NAME}y", "node.id": "${env:ID}"}
    given_properties["authorizer.class.name"] = STANDARD_AUTHORIZER
    resolved = resolve_properties(given_properties, {"NAME": "hunter2", "ID": "55"})
    with pytest.raises(ConfigException) as caught:
        ControllerConfig(resolved)
    node_id, super_users = caught.value.errors[-2:]
    assert node_id.startswith("Invalid value 3000@localhost:9093 for configuration controller.quorum.voters")
    assert super_users == (
        "Invalid value [hidden] for configuration super.users: expected Type:name entries, got '[hidden]'"
    )
    assert resolved.hide("User:ann has no right") == "User:ann has no right"


def test_what_the_file_says_is_shown_without_providers() -> None:
    with pytest.raises(ConfigException, match=r"Invalid value x1 for configuration node\.id"):
        ControllerConfig({**CONTROLLER, "node.id": "x1"})


def test_an_empty_key_of_tokens_is_none() -> None:
    """As in Kafka: with an empty one, everybody could make tokens."""
    assert (
        ControllerConfig({**CONTROLLER, "delegation.token.secret.key": " "}).delegation_token_secret_key
        is None
    )


def test_a_file_that_is_read_once(tmp_path: Path) -> None:
    file = written(tmp_path, {**CONTROLLER, "a": "b"})
    assert read_config_file(file, ["a=c"])["a"] == "c"
