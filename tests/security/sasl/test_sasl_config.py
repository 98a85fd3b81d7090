"""The keys of SASL: Kafka's defaults and order of precedence, and errors that name the key and no secret."""

from __future__ import annotations

import pytest

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.sasl.jaas import LOGIN_MODULES
from kraftctl_security.sasl.login_configuration import (
    LoginConfiguration,
    login_configuration_file,
    parse_login_configuration,
)
from kraftctl_security.sasl.sasl_config import (
    SaslListenerConfig,
    SaslMechanismConfig,
    read_client_sasl_config,
    read_controller_sasl_config,
    read_listener_sasl_config,
)

PLAIN, SCRAM, OAUTH = LOGIN_MODULES
SECRET = "hunter2"
PREFIX = "listener.name.controller."
PLAIN_ENTRY = f'{PLAIN} required username="admin" password="{SECRET}" user_admin="{SECRET}";'
SCRAM_ENTRY = f'{SCRAM} required username="admin" password="{SECRET}";'
BOTH = {
    "sasl.enabled.mechanisms": "PLAIN, SCRAM-SHA-512",
    f"{PREFIX}plain.sasl.jaas.config": PLAIN_ENTRY,
    f"{PREFIX}scram-sha-512.sasl.jaas.config": SCRAM_ENTRY,
}
FILE = f"""
KafkaServer {{
  {PLAIN} required user_everywhere="{SECRET}";
  {SCRAM} required username="b" password="{SECRET}";
}};
controller.KafkaServer {{
  {PLAIN} required user_here="{SECRET}";
}};
KafkaClient {{ {SCRAM} required username="c" password="{SECRET}"; }};
"""


def file(text: str = FILE) -> LoginConfiguration:
    return parse_login_configuration("jaas.conf", text)


def read(
    properties: dict[str, str], configuration: LoginConfiguration | None = None
) -> tuple[SaslListenerConfig, list[str]]:
    values = ConfigValues(properties)
    return read_listener_sasl_config(values, "CONTROLLER", configuration), values.errors


def good(properties: dict[str, str], configuration: LoginConfiguration | None = None) -> SaslListenerConfig:
    config, errors = read(properties, configuration)
    assert errors == []
    return config


def controller(properties: dict[str, str]) -> tuple[SaslMechanismConfig | None, list[str]]:
    values = ConfigValues(properties)
    return read_controller_sasl_config(values, "CONTROLLER", None), values.errors


def client(
    properties: dict[str, str], configuration: LoginConfiguration | None = None
) -> tuple[SaslMechanismConfig | None, list[str]]:
    values = ConfigValues(properties)
    return read_client_sasl_config(values, configuration), values.errors


def test_a_listener_offers_its_mechanisms_in_their_order() -> None:
    config = good(BOTH)
    assert list(config.mechanisms) == ["PLAIN", "SCRAM-SHA-512"]
    assert config.mechanisms["PLAIN"].options["user_admin"] == SECRET
    assert config.receive_bytes_max == 524_288
    assert config.mechanisms["PLAIN"].reauth_ms_max == 0


def test_keys_with_the_name_of_the_listener_and_the_mechanism_come_first() -> None:
    config = good(
        BOTH
        | {
            "sasl.server.max.receive.size": "1000",
            f"{PREFIX}sasl.server.max.receive.size": "2000",
            "connections.max.reauth.ms": "1",
            f"{PREFIX}connections.max.reauth.ms": "2",
            f"{PREFIX}plain.connections.max.reauth.ms": "3",
            "listener.name.external.plain.connections.max.reauth.ms": "4",
        }
    )
    assert config.receive_bytes_max == 2_000
    assert {name: each.reauth_ms_max for name, each in config.mechanisms.items()} == {
        "PLAIN": 3,
        "SCRAM-SHA-512": 2,
    }
    assert config.mechanisms["PLAIN"].values.name("connections.max.reauth.ms") == (
        f"{PREFIX}plain.connections.max.reauth.ms"
    )


def test_the_mechanisms_of_a_listener_precede_those_of_all() -> None:
    config = good(BOTH | {f"{PREFIX}sasl.enabled.mechanisms": "PLAIN"})
    assert list(config.mechanisms) == ["PLAIN"]


def test_a_section_of_the_listener_precedes_that_of_all_listeners() -> None:
    config = good({"sasl.enabled.mechanisms": "PLAIN"}, file())
    assert config.mechanisms["PLAIN"].options == {"user_here": SECRET}
    general = file(FILE.replace("controller.KafkaServer", "external.KafkaServer"))
    config = good({"sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256"}, general)
    assert config.mechanisms["PLAIN"].options == {"user_everywhere": SECRET}
    assert config.mechanisms["SCRAM-SHA-256"].options["username"] == "b"


def test_a_property_precedes_the_file() -> None:
    config = good(BOTH, file())
    assert config.mechanisms["PLAIN"].options["user_admin"] == SECRET


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        pytest.param(
            {"sasl.enabled.mechanisms": "GSSAPI"},
            "Invalid value GSSAPI for configuration sasl.enabled.mechanisms: Kerberos is not supported;"
            " allowed are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512",
            id="kerberos",
        ),
        pytest.param(
            {"sasl.enabled.mechanisms": None},
            "Invalid value GSSAPI for configuration sasl.enabled.mechanisms: Kerberos, which is the default,"
            " is not supported; allowed are PLAIN, SCRAM-SHA-256, SCRAM-SHA-512",
            id="default",
        ),
        pytest.param(
            {"sasl.enabled.mechanisms": ""},
            'Missing required configuration "sasl.enabled.mechanisms": listener CONTROLLER uses SASL',
            id="none",
        ),
        pytest.param(
            {f"{PREFIX}sasl.enabled.mechanisms": "plain"},
            f"Invalid value plain for configuration {PREFIX}sasl.enabled.mechanisms: allowed are PLAIN",
            id="names-have-upper-case",
        ),
        pytest.param(
            {"plain.sasl.jaas.config": PLAIN_ENTRY, f"{PREFIX}plain.sasl.jaas.config": None},
            f'Missing required configuration "{PREFIX}plain.sasl.jaas.config": mechanism PLAIN needs the'
            f" login module {PLAIN}. Set it, or a section controller.KafkaServer or KafkaServer in a file"
            " that KAFKA_OPTS names: -Djava.security.auth.login.config=FILE",
            id="jaas-without-prefix",
        ),
        pytest.param(
            {f"{PREFIX}plain.sasl.jaas.config": SCRAM_ENTRY},
            f"Invalid value [hidden] for configuration {PREFIX}plain.sasl.jaas.config: mechanism PLAIN needs"
            f" the login module {PLAIN}",
            id="jaas-of-another-mechanism",
        ),
        pytest.param(
            {
                f"{PREFIX}plain.sasl.jaas.config": "com.sun.security.auth.module.JndiLoginModule required"
                f' x="{SECRET}";'
            },
            "the login module com.sun.security.auth.module.JndiLoginModule is not supported; allowed are"
            f" {PLAIN}, {SCRAM}, {OAUTH}",
            id="cve-2023-25194",
        ),
        pytest.param(
            {f"{PREFIX}plain.sasl.jaas.config": PLAIN_ENTRY * 2},
            "it has 2 login modules, and must have exactly one",
            id="two-modules",
        ),
        pytest.param(
            {f"{PREFIX}plain.sasl.jaas.config": PLAIN_ENTRY[:-1]},
            "a login module and its options must end with a semicolon",
            id="no-semicolon",
        ),
        pytest.param(
            {f"{PREFIX}plain.sasl.jaas.config": f"{PLAIN} required password=5{SECRET};"},
            "option 1 has no value: expected name=value; put it into double quotes",
            id="a-value-that-begins-with-a-digit",
        ),
        pytest.param(
            {f"{PREFIX}plain.sasl.jaas.config": f'{PLAIN} required password="{SECRET}"{SECRET}";'},
            "option 2 has no value: expected name=value",
            id="a-quote-too-many",
        ),
        pytest.param(
            {f"{PREFIX}plain.sasl.jaas.config": f'{PLAIN} password="{SECRET}";'},
            "after the login module, expected one of required, requisite, sufficient, optional",
            id="no-control-flag",
        ),
        pytest.param(
            {f"{PREFIX}plain.sasl.jaas.config": f"{PLAIN} required 5=a;"},
            "option 1 has no name",
            id="no-name",
        ),
        pytest.param({f"{PREFIX}plain.sasl.jaas.config": ""}, "it has no login module", id="empty-jaas"),
        pytest.param(
            {f"{PREFIX}plain.sasl.server.callback.handler.class": "com.example.Ldap"},
            f"value com.example.Ldap for configuration {PREFIX}plain.sasl.server.callback.handler.class"
            ": a Java class cannot be loaded here, and its checks would not be made; allowed is"
            " org.apache.kafka.common.security.plain.internals.PlainServerCallbackHandler",
            id="callback-handler",
        ),
        pytest.param(
            {f"{PREFIX}scram-sha-512.sasl.login.class": "com.example.Login"},
            f"Invalid value com.example.Login for configuration {PREFIX}scram-sha-512.sasl.login.class",
            id="login-class",
        ),
        pytest.param(
            {f"{PREFIX}principal.builder.class": "com.example.Builder"},
            f"Invalid value com.example.Builder for configuration {PREFIX}principal.builder.class",
            id="principal-builder",
        ),
        pytest.param(
            {"sasl.server.max.receive.size": "0"},
            "Invalid value 0 for configuration sasl.server.max.receive.size: it must be at least 1",
            id="no-bytes",
        ),
    ],
)
def test_what_is_wrong_is_named(properties: dict[str, str | None], error: str) -> None:
    _, (found,) = read({key: value for key, value in (BOTH | properties).items() if value is not None})
    assert error in found
    assert SECRET not in found


def test_everything_wrong_is_reported_together() -> None:
    _, errors = read(
        {
            "sasl.enabled.mechanisms": "PLAIN,GSSAPI,SCRAM-SHA-256",
            f"{PREFIX}plain.sasl.jaas.config": "x",
            f"{PREFIX}plain.connections.max.reauth.ms": "soon",
        }
    )
    assert [error.partition("for configuration ")[2].partition(":")[0] for error in errors] == [
        f"{PREFIX}plain.sasl.jaas.config",
        f"{PREFIX}plain.connections.max.reauth.ms",
        "sasl.enabled.mechanisms",
        "",
    ]


def test_kafkas_own_classes_are_accepted() -> None:
    package = "org.apache.kafka.common.security."
    good(
        BOTH
        | {
            f"{PREFIX}plain.sasl.server.callback.handler.class": package
            + "plain.internals.PlainServerCallbackHandler",
            f"{PREFIX}plain.sasl.login.class": package + "authenticator.DefaultLogin",
            "sasl.server.callback.handler.class": "com.example.IgnoredByKafka",
            "principal.builder.class": package + "authenticator.DefaultKafkaPrincipalBuilder",
        }
    )


def test_controllers_use_the_credentials_of_their_listener() -> None:
    config, errors = controller(BOTH | {"sasl.mechanism.controller.protocol": "SCRAM-SHA-512"})
    assert errors == []
    assert config is not None
    assert (config.mechanism, config.options) == (
        "SCRAM-SHA-512",
        {"username": "admin", "password": SECRET},
    )


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        pytest.param(
            {}, "configuration sasl.mechanism.controller.protocol: Kerberos, which is", id="default"
        ),
        pytest.param(
            {
                "sasl.mechanism.controller.protocol": "PLAIN",
                f"{PREFIX}plain.sasl.jaas.config": f'{PLAIN} required username="admin" user_a="{SECRET}";',
            },
            f"configuration {PREFIX}plain.sasl.jaas.config: without password this side of a connection cannot"
            " authenticate by PLAIN",
            id="no-password",
        ),
        pytest.param(
            {
                "sasl.mechanism.controller.protocol": "PLAIN",
                f"{PREFIX}sasl.client.callback.handler.class": "com.example.Client",
            },
            f"Invalid value com.example.Client for configuration {PREFIX}sasl.client.callback.handler.class",
            id="class",
        ),
    ],
)
def test_what_is_wrong_for_connections_to_other_controllers_is_named(
    properties: dict[str, str], error: str
) -> None:
    _, (found,) = controller(BOTH | properties)
    assert error in found
    assert SECRET not in found


def test_what_a_listener_and_controllers_use_is_reported_once() -> None:
    values = ConfigValues(
        {"sasl.enabled.mechanisms": "PLAIN", "sasl.mechanism.controller.protocol": "PLAIN"}
        | {f"{PREFIX}plain.sasl.login.class": "com.example.Login"}
    )
    read_listener_sasl_config(values, "CONTROLLER", None)
    read_controller_sasl_config(values, "CONTROLLER", None)
    assert len(values.errors) == 2


def test_clients_use_the_property_or_the_section_of_clients() -> None:
    config, errors = client({"sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN_ENTRY}, file())
    assert errors == []
    assert config is not None
    assert config.options["username"] == "admin"
    config, errors = client({"sasl.mechanism": "SCRAM-SHA-256"}, file())
    assert errors == []
    assert config is not None
    assert config.options["username"] == "c"


@pytest.mark.parametrize(
    ("properties", "error"),
    [
        pytest.param(
            {}, "configuration sasl.mechanism: Kerberos, which is the default, is not", id="default"
        ),
        pytest.param(
            {"sasl.mechanism": "PLAIN"},
            'Missing required configuration "sasl.jaas.config": mechanism PLAIN needs the login module '
            f"{PLAIN}. Set it, or a section KafkaClient in a file",
            id="no-jaas",
        ),
        pytest.param(
            {"sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN_ENTRY, "sasl.login.class": "com.example.X"},
            "Invalid value com.example.X for configuration sasl.login.class",
            id="class",
        ),
    ],
)
def test_what_is_wrong_for_a_client_is_named(properties: dict[str, str], error: str) -> None:
    _, (found,) = client(properties)
    assert error in found
    assert SECRET not in found


def test_an_error_in_the_file_names_the_file_and_the_section() -> None:
    module = "com.sun.security.auth.module.LdapLoginModule"
    other = file(f'KafkaServer {{ {module} required x="{SECRET}"; }};')
    _, (found,) = read({"sasl.enabled.mechanisms": "PLAIN"}, other)
    assert f"section KafkaServer of jaas.conf: the login module {module} is not supported" in found
    assert SECRET not in found


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        pytest.param("", None, id="none"),
        pytest.param(
            "-Xmx1g -Djava.security.auth.login.config=/etc/jaas.conf -Dx=y", "/etc/jaas.conf", id="one"
        ),
        pytest.param(
            "-Djava.security.auth.login.config=a -Djava.security.auth.login.config=b", "b", id="last"
        ),
        pytest.param(
            "-Djava.security.auth.login.config==only.conf", "only.conf", id="instead-of-the-defaults"
        ),
        pytest.param("-Djava.security.auth.login.config=file:/etc/jaas.conf", "/etc/jaas.conf", id="url"),
        pytest.param("-Djava.security.auth.login.config=", None, id="empty"),
    ],
)
def test_the_file_is_what_the_options_of_a_jvm_name(options: str, expected: str | None) -> None:
    assert login_configuration_file(options) == expected
