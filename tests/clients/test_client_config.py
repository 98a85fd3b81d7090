"""Kafka's client keys: what a connection is made of, and errors that show no secret."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kraftctl_protocol.java_properties import decode_properties
from kraftctl_security.client_config import ClientSecurity, read_client_security
from kraftctl_security.config_values import ConfigException, ConfigValues
from tests.server.security.ssl_serving import authority, identity, stores

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"
SECRET = "my-word"
PLAIN_JAAS = f'{PLAIN} required username="ada" password="{SECRET}";'
SCRAM_JAAS = f'{SCRAM} required username="ada" password="{SECRET}" tokenauth="TRUE";'
STORES = stores(identity("CN=client"), authority())


def read(keys: dict[str, str], kafka_opts: str = "") -> ClientSecurity:
    return read_client_security(ConfigValues(dict(keys)), {"KAFKA_OPTS": kafka_opts})


@pytest.mark.parametrize(
    ("protocol", "encrypted", "authenticated"),
    [
        ("PLAINTEXT", False, False),
        ("ssl", True, False),
        ("SASL_PLAINTEXT", False, True),
        ("Sasl_SSL", True, True),
    ],
)
def test_what_a_protocol_uses(protocol: str, encrypted: bool, authenticated: bool) -> None:
    keys = {
        "security.protocol": protocol,
        **STORES,
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": PLAIN_JAAS,
    }
    security = read(keys)
    assert (security.ssl_context is not None) == encrypted
    assert (security.new_sasl_client is not None) == authenticated
    assert SECRET not in f"{security!r} {security.new_sasl_client!r}"


def test_the_client_of_the_page(tmp_path: Path) -> None:
    """docs/security.md, with the truststore at another place."""
    page = (Path(__file__).parents[2] / "docs" / "security.md").read_text()
    (block,) = re.findall(
        r"^`admin\.properties`:\n\n```properties\n(.*?)^```", page, re.MULTILINE | re.DOTALL
    )
    assert "=ca.pem" in block
    (tmp_path / "ca.pem").write_text(authority().pem)
    keys = decode_properties(block.replace("=ca.pem", f"={tmp_path}/ca.pem").encode())
    values = ConfigValues(keys)
    security = read_client_security(values, {})
    assert values.unread() == []
    assert security.ssl_context is not None
    assert security.new_sasl_client is not None
    assert security.new_sasl_client().mechanism == "SCRAM-SHA-512"


def test_plain_sends_the_user_of_the_entry() -> None:
    security = read(
        {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", "sasl.jaas.config": PLAIN_JAAS}
    )
    assert security.new_sasl_client is not None
    client = security.new_sasl_client()
    assert (client.mechanism, client.evaluate(b"")) == ("PLAIN", f"\0ada\0{SECRET}".encode())


@pytest.mark.parametrize("mechanism", ["SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_scram_sends_another_nonce_each_time(mechanism: str) -> None:
    """And says if the user is a delegation token (KIP-48)."""
    keys = {
        "security.protocol": "SASL_PLAINTEXT",
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": SCRAM_JAAS,
    }
    new_client = read(keys).new_sasl_client
    assert new_client is not None
    first, second = new_client(), new_client()
    assert first.mechanism == mechanism
    tokens = {first.evaluate(b""), second.evaluate(b"")}
    assert len(tokens) == 2
    assert all(token is not None and token.endswith(b",tokenauth=true") for token in tokens)
    assert all(token is not None and token.startswith(b"n,,n=ada,r=") for token in tokens)


def test_a_jaas_file_replaces_the_key(tmp_path: Path) -> None:
    file = tmp_path / "jaas.conf"
    file.write_text(f"KafkaClient {{ {PLAIN_JAAS} }};")
    keys = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN"}
    assert read(keys, f"-Xmx1g -Djava.security.auth.login.config={file}").new_sasl_client is not None
    with pytest.raises(ConfigException, match=r"cannot read the JAAS file .*none\.conf: .*check KAFKA_OPTS"):
        read(keys, f"-Djava.security.auth.login.config={tmp_path}/none.conf")
    file.write_text(f'KafkaClient {{ {PLAIN} required password="{SECRET}" ')
    with pytest.raises(ConfigException, match=r"jaas\.conf: line 1") as refused:
        read(keys, f"-Djava.security.auth.login.config={file}")
    assert SECRET not in str(refused.value)
    # A key precedes it: the file is not even read.
    own = read({**keys, "sasl.jaas.config": PLAIN_JAAS}, f"-Djava.security.auth.login.config={file}")
    assert own.new_sasl_client is not None


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        pytest.param(
            {}, ["security.protocol: it must be one of PLAINTEXT, SSL, SASL_PLAINTEXT"], id="protocol"
        ),
        pytest.param(
            {"security.protocol": "SASL_SSL"},
            ["GSSAPI for configuration sasl.mechanism: Kerberos, which is the default, is not supported"],
            id="no-mechanism",
        ),
        pytest.param(
            {"security.protocol": "SASL_SSL", "sasl.mechanism": "PLAIN", "ssl.protocol": "SSLv3"},
            ['Missing required configuration "sasl.jaas.config"', "ssl.protocol"],
            id="both-are-named",
        ),
        pytest.param(
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f'{PLAIN} required password="{SECRET}";',
            },
            ["[hidden] for configuration sasl.jaas.config: without username"],
            id="no-username",
        ),
        pytest.param(
            {
                "security.protocol": "SASL_PLAINTEXT",
                "sasl.mechanism": "PLAIN",
                "sasl.jaas.config": f'com.sun.JndiLoginModule required password="{SECRET}";',
            },
            ["[hidden] for configuration sasl.jaas.config", "JndiLoginModule"],
            id="another-module",
        ),
    ],
)
def test_what_is_wrong_is_named_without_secrets(keys: dict[str, str], expected: list[str]) -> None:
    with pytest.raises(ConfigException) as refused:
        read({"security.protocol": "TLS", **keys})
    text = str(refused.value)
    assert [each for each in expected if each not in text] == []
    assert SECRET not in text
