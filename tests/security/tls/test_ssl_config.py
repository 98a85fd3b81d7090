"""The keys `ssl.*`: Kafka's defaults, a prefix per listener, and errors that name the key and no secret."""

from __future__ import annotations

import ssl
import time

import pytest

from kraftctl_security.config_values import ConfigValues
from kraftctl_security.tls.cipher_suites import OPENSSL_NAMES
from kraftctl_security.tls.ssl_config import SslConfig, read_client_ssl_config, read_listener_ssl_config
from kraftctl_security.tls.ssl_principal_mapper import NoMatchingRuleError, RuleError, SslPrincipalMapper

STORES = {
    "ssl.keystore.type": "PEM",
    "ssl.keystore.location": "key.pem",
    "ssl.truststore.type": "PEM",
    "ssl.truststore.location": "trust.pem",
}
SECRET = "hunter2"
PREFIX = "listener.name.controller."


def read(properties: dict[str, str]) -> tuple[SslConfig, list[str]]:
    values = ConfigValues({**STORES, **properties})
    return read_listener_ssl_config(values, "CONTROLLER"), values.errors


def good(properties: dict[str, str]) -> SslConfig:
    config, errors = read(properties)
    assert errors == []
    return config


def test_defaults_are_those_of_kafka() -> None:
    config = good({})
    assert config.server_protocols == config.client_protocols == ["TLSv1.2", "TLSv1.3"]
    assert config.cipher_suites == []
    assert config.client_auth == "none"
    assert config.verifies_host
    assert config.principal_mapper.name("CN=a,O=b") == "CN=a,O=b"


def test_a_key_with_the_name_of_the_listener_precedes_the_plain_one() -> None:
    config = good(
        {
            "ssl.client.auth": "required",
            f"{PREFIX}ssl.client.auth": "requested",
            f"{PREFIX}ssl.endpoint.identification.algorithm": "",
            "listener.name.external.ssl.client.auth": "none",
        }
    )
    assert (config.client_auth, config.verifies_host) == ("requested", False)
    assert config.keystore is not None
    assert config.keystore.location == "key.pem"


def test_what_is_read_is_not_reported_as_unused() -> None:
    values = ConfigValues(
        {**STORES, f"{PREFIX}ssl.client.auth": "none", "ssl.client.auth": "none", "ssl.provider": "x"}
    )
    read_listener_ssl_config(values, "CONTROLLER")
    assert values.unread() == ["ssl.provider"]


@pytest.mark.parametrize(
    ("properties", "server", "client"),
    [
        pytest.param({"ssl.enabled.protocols": "TLSv1.3"}, ["TLSv1.3"], ["TLSv1.3"], id="one"),
        pytest.param(
            {"ssl.enabled.protocols": ""}, ["TLSv1.2", "TLSv1.3"], ["TLSv1.2", "TLSv1.3"], id="none"
        ),
        pytest.param({"ssl.protocol": "TLSv1.2"}, ["TLSv1.2", "TLSv1.3"], ["TLSv1.2"], id="of-clients"),
        pytest.param(
            {"ssl.cipher.suites": "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"},
            ["TLSv1.2"],
            ["TLSv1.2"],
            id="suites",
        ),
    ],
)
def test_versions(properties: dict[str, str], server: list[str], client: list[str]) -> None:
    config = good(properties)
    assert (config.server_protocols, config.client_protocols) == (server, client)


@pytest.mark.parametrize(
    ("key", "value", "expected"),
    [
        pytest.param("ssl.client.auth", "maybe", "it must be one of required, requested, none", id="auth"),
        pytest.param("ssl.enabled.protocols", "TLSv1.1", "each must be TLSv1.2 or TLSv1.3", id="old-version"),
        pytest.param("ssl.protocol", "SSLv3", "it must be one of TLS, TLSv1.2, TLSv1.3", id="old-protocol"),
        pytest.param(
            "ssl.endpoint.identification.algorithm", "ldap", "must be https, or empty", id="endpoint"
        ),
        pytest.param(
            "ssl.cipher.suites", "TLS_NULL", "'TLS_NULL' is none of TLS_ECDHE_ECDSA_WITH", id="suite"
        ),
        pytest.param(
            "ssl.cipher.suites", "TLS_AES_128_GCM_SHA256", "cannot be chosen here", id="suite-of-1.3"
        ),
        pytest.param("ssl.principal.mapping.rules", "RULE:x", "'RULE:x' is neither DEFAULT nor", id="rule"),
        pytest.param("ssl.keystore.type", "BKS", "it must be one of PEM, PKCS12, JKS", id="type"),
        pytest.param("ssl.truststore.type", "JCEKS", "it must be one of PEM, PKCS12, JKS", id="trust"),
        pytest.param("ssl.keystore.type", "JCEKS", "it must be one of PEM, PKCS12, JKS", id="jceks"),
        pytest.param("ssl.engine.factory.class", "com.x.Y", "a Java class cannot be loaded", id="engine"),
    ],
)
def test_a_bad_value_is_refused_with_key_value_and_what_is_allowed(
    key: str, value: str, expected: str
) -> None:
    for name in (key, PREFIX + key):
        _, errors = read({name: value})
        assert [f"Invalid value {value} for configuration {name}: " in each for each in errors] == [True]
        assert expected in errors[0]


@pytest.mark.parametrize("kind", ["JCEKS", "BKS", "pem", "PKCS11", "DKS"])
@pytest.mark.parametrize("store", ["keystore", "truststore"])
def test_a_type_that_is_not_read_is_one_error(store: str, kind: str) -> None:
    """What the other keys of the store mean depends on the type: nothing is said of them."""
    _, errors = read({f"ssl.{store}.type": kind, f"ssl.{store}.password": SECRET, "ssl.key.password": SECRET})
    assert [f"Invalid value {kind} for configuration ssl.{store}.type: " in each for each in errors] == [True]


@pytest.mark.parametrize(
    ("properties", "key"),
    [
        pytest.param({"ssl.keystore.password": SECRET}, "ssl.keystore.password", id="pem-has-none"),
        pytest.param({"ssl.truststore.password": SECRET}, "ssl.truststore.password", id="nor-trust"),
        pytest.param(
            {
                "ssl.keystore.type": "PKCS12",
                "ssl.keystore.password": "other",
                "ssl.key.password": SECRET,
            },
            "ssl.key.password",
            id="pkcs12-has-one",
        ),
        pytest.param(
            {"ssl.keystore.location": "", "ssl.keystore.key": SECRET}, "ssl.keystore.key", id="key-alone"
        ),
        pytest.param(
            {"ssl.keystore.location": "", "ssl.keystore.password": SECRET},
            "ssl.keystore.password",
            id="password-alone",
        ),
    ],
)
def test_no_error_shows_a_secret(properties: dict[str, str], key: str) -> None:
    _, errors = read(properties)
    assert any(f"Invalid value [hidden] for configuration {key}: " in each for each in errors)
    assert not any(SECRET in each for each in errors)


@pytest.mark.parametrize(
    ("properties", "expected"),
    [
        pytest.param({"ssl.keystore.type": None}, "ssl.keystore.password must be set with it", id="password"),
        pytest.param({"ssl.keystore.location": None}, "needs a private key and certificates", id="keystore"),
        pytest.param(
            {"ssl.truststore.location": None, "ssl.client.auth": "required"},
            "with ssl.client.auth=required a client needs a certificate",
            id="truststore",
        ),
    ],
)
def test_what_is_missing_is_named(properties: dict[str, str | None], expected: str) -> None:
    changed = {key: value for key, value in {**STORES, **properties}.items() if value is not None}
    values = ConfigValues(changed)
    read_listener_ssl_config(values, "CONTROLLER")
    (error,) = values.errors
    assert expected in error


def test_a_client_needs_no_stores() -> None:
    values = ConfigValues({})
    config = read_client_ssl_config(values)
    assert (values.errors, config.keystore, config.truststore) == ([], None, None)


def test_every_suite_is_one_of_openssl() -> None:
    """And of the strength that its name in Java says."""
    for java, openssl in OPENSSL_NAMES.items():
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.set_ciphers(f"{openssl}:@SECLEVEL=0")
        (chosen,) = [each for each in context.get_ciphers() if each["protocol"] != "TLSv1.3"]
        assert chosen["name"] == openssl
        assert chosen["auth"] in ("auth-ecdsa" if "ECDSA" in java else "auth-rsa")
        assert str(chosen["alg_bits"]) in java or "CHACHA20" in java
        assert chosen["aead"] == ("GCM" in java or "CHACHA20" in java)


@pytest.mark.parametrize(
    ("rules", "name"),
    [
        pytest.param("DEFAULT", "CN=Duke,OU=Ops,O=Org", id="default"),
        pytest.param("RULE:^CN=(.*?),OU=(.*?),.*$/$1@$2/L", "duke@ops", id="groups-in-lower-case"),
        pytest.param("RULE:^OU=.*$/x/,RULE:^CN=(.*?),.*$/$1/U", "DUKE", id="the-first-that-matches"),
        pytest.param("RULE:Duke/x/,DEFAULT", "CN=Duke,OU=Ops,O=Org", id="a-part-is-no-match"),
    ],
)
def test_rules(rules: str, name: str) -> None:
    assert SslPrincipalMapper(rules).name("CN=Duke,OU=Ops,O=Org") == name


def test_a_subject_that_no_rule_applies_to_has_no_name() -> None:
    with pytest.raises(NoMatchingRuleError, match="no rule"):
        SslPrincipalMapper("RULE:^OU=(.*)$/$1/").name("CN=a")
    with pytest.raises(NoMatchingRuleError, match="no rule"):
        SslPrincipalMapper("RULE:^CN=(.*)$/admin/").name("CN=a\rb")


@pytest.mark.parametrize(
    "pattern", ["[a-z&&[^b]]", "(?x)a", "[a[bc]]", "\\\\p{Lu}", "\\\\Qa\\\\E", "a\\\\Z", "("]
)
def test_patterns_that_mean_something_else_in_java_are_refused(pattern: str) -> None:
    with pytest.raises(RuleError, match="pattern"):
        SslPrincipalMapper(f"RULE:{pattern}/x/".replace("\\\\", "\\"))


KAFKAS_RULE = "RULE:^CN=(.*?),OU=(.*?),O=(.*?),L=(.*?),ST=(.*?),C=(.*?)$/$1@$2/L"


@pytest.mark.parametrize("count", [48, 2_000])
def test_a_long_subject_is_matched_in_a_moment(count: int) -> None:
    """The rule of Kafka's documentation. An engine that backtracks takes seconds for the first."""
    attributes = [f"{keyword}=a" for keyword in ("OU", "O", "L", "ST") for _ in range(count)]
    began = time.process_time()
    with pytest.raises(NoMatchingRuleError):
        SslPrincipalMapper(KAFKAS_RULE).name(",".join(["CN=x", *attributes]))
    assert time.process_time() - began < 1
    subject = ",".join(["CN=Duke", *attributes, "C=de"])
    assert SslPrincipalMapper(KAFKAS_RULE).name(subject).startswith("duke@a")


@pytest.mark.parametrize(
    "rules",
    [
        "RULE:(.?)*/x/",
        "RULE:(a|aa)*/$1/",
        "RULE:(?:(?:a*)*)*b/x/",
        "RULE:a?/x/,RULE:.{0,900}b/x/",
        "RULE:[^,]*?/x/",
    ],
)
def test_no_rule_takes_long(rules: str) -> None:
    mapper = SslPrincipalMapper(rules)
    began = time.process_time()
    for subject in ("a" * 1_024, "a," * 512, "=" * 1_024):
        try:
            mapper.name(subject)
        except NoMatchingRuleError:
            continue
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    "pattern",
    [
        "(?=CN)CN=.*",
        "CN=(?!a).*",
        "(?<=C)N=.*",
        "(a)\\1",
        "a++",
        "(?>a)b",
        "a{1001}",
        "(?:a{600}){3}",
        "\\u0041",
    ],
)
def test_what_would_backtrack_is_refused_at_start(pattern: str) -> None:
    with pytest.raises(RuleError, match="Next step: write it without"):
        SslPrincipalMapper(f"RULE:{pattern}/x/")


@pytest.mark.parametrize("subject", ["CN=admın", "CN=ad\u017fmin", "CN=\u212aafka"])
def test_ignoring_case_is_for_ascii_as_in_java(subject: str) -> None:
    with pytest.raises(NoMatchingRuleError):
        SslPrincipalMapper("RULE:(?i)^CN=.*$/admin/").name(subject)
    assert SslPrincipalMapper("RULE:(?i)^cn=.*$/admin/").name("CN=Admin") == "admin"
