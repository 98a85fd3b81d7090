"""Kafka's client keys: which ones are supported, and which ones must not be ignored silently."""

from __future__ import annotations

import argparse
import pickle
import ssl
import threading
from pathlib import Path

import pytest

from kraftctl_observer.log_reader import ObserverError
from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.describe_cluster_response import DescribeClusterResponse
from kraftctl_spark.commands.location_flags import add_location_flags, location_of
from kraftctl_spark.datasource.source_options import KraftOptions
from kraftctl_spark.log.client_config import ObserverConfig, read_command_config
from kraftctl_spark.log.log_location import DirectoryLocation, LogLocation, QuorumLocation
from tests.server.security.ssl_serving import authority, identity, node_context, stores
from tests.support.certificates import Authority
from tests.support.wire.scripted_node import ScriptedNode


def test_what_is_honoured(tmp_path: Path) -> None:
    given = {"security.protocol": "PLAINTEXT", "client.id": "audit", "request.timeout.ms": "1500"}
    file = written(tmp_path, given)
    assert read_command_config(file) == ObserverConfig("audit", 1500, file)
    assert _of_options(given) == ObserverConfig("audit", 1500)
    assert read_command_config(written(tmp_path, {})) == ObserverConfig(command_config=file)


def written(directory: Path, keys: dict[str, str]) -> Path:
    file = directory / "client.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in keys.items()))
    return file


SSL_CONFIG = {
    "security.protocol": "ssl",
    "client.id": "audit",
    **stores(identity("CN=exporter"), authority()),
    "ssl.key.password": "word",
}


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        pytest.param(
            {"security.protocol": "TLS"}, "TLS for configuration security.protocol: .* PLAINTEXT", id="tls"
        ),
        pytest.param({"sasl.mechanism": "PLAIN"}, "sasl.mechanism is not used with .*=PLAINTEXT", id="sasl"),
        pytest.param({"ssl.truststore.location": "/x.jks"}, "ssl.truststore.location is not used", id="ssl"),
        pytest.param({"ssl.truststore.password": "word"}, "password is not used", id="password"),
        pytest.param(
            {"security.protocol": "SSL", "ssl.truststore.location": "/none", "ssl.truststore.type": "PEM"},
            "cannot read the truststore /none",
            id="no-store",
        ),
        pytest.param(
            {"security.protocol": "SSL", "ssl.keystore.key": "word", "ssl.keystore.type": "PEM"},
            r"ssl\.keystore",
            id="no-chain",
        ),
        pytest.param(
            {"request.timeout.ms": "1 s"}, "request.timeout.ms=1 s .* whole number above 0", id="text"
        ),
        pytest.param({"request.timeout.ms": "0"}, "request.timeout.ms=0 .* whole number above 0", id="zero"),
        pytest.param(
            {"security.protcol": "SSL"},
            r"security.protcol is not known: .* client.id, .* Did you mean security\.protocol\?",
            id="misspelt",
        ),
        pytest.param(
            {"security.protocol": "SSL", "ssl.trustore.location": "/x"},
            r"ssl.trustore.location is not known: .* Did you mean ssl\.truststore\.location\?",
            id="misspelt-store",
        ),
    ],
)
def test_what_a_file_may_not_have(keys: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message) as raised:
        read_command_config(written(tmp_path, keys))
    assert str(tmp_path) in str(raised.value)
    assert "word" not in str(raised.value).replace("password", "")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        pytest.param(
            "security.protocol",
            "SASL_SSL",
            "security.protocol=SASL_SSL needs .* commandConfig",
            id="protocol",
        ),
        pytest.param("sasl.jaas.config", "word", "sasl.jaas.config is not .* commandConfig", id="jaas"),
        pytest.param("ssl.truststore.password", "word", "password is not .* commandConfig", id="password"),
        pytest.param(
            "request.timeout.ms", "1 s", "request.timeout.ms=1 s .* whole number above 0", id="text"
        ),
        pytest.param("security.protcol", "SSL", "security.protcol is not known: .* client.id", id="misspelt"),
    ],
)
def test_what_is_no_option(key: str, value: str, message: str) -> None:
    """Spark shows options in plans and logs."""
    with pytest.raises(ValueError, match=message) as raised:
        _of_options({key: value})
    assert "word" not in str(raised.value).replace("password", "")


def test_spark_gets_the_name_of_the_file_and_nothing_in_it(tmp_path: Path) -> None:
    key = identity("CN=exporter").key_pem("word").replace("\n", "\\n")
    chain = identity("CN=exporter").certificates_pem.replace("\n", "\\n")
    keys = {**SSL_CONFIG, "ssl.keystore.key": key, "ssl.keystore.certificate.chain": chain}
    keys["ssl.truststore.certificates"] = authority().pem.replace("\n", "\\n")
    file = written(tmp_path, keys)
    location = _of_flags("--bootstrap-controllers", "a:1", "--command-config", str(file))
    assert location.options() == {
        "bootstrapControllers": "a:1",
        "commandConfig": str(file),
        "kafka.client.id": "audit",
        "requestTimeoutMs": "60000",
    }
    assert KraftOptions.parse(location.options()).location == location
    shown = f"{location} {location!r} {location.options()} {pickle.dumps(location)!r}"
    assert not any(secret in shown for secret in ("word", "PRIVATE KEY", key[40:80]))
    assert isinstance(location, QuorumLocation)
    security = location.client.read_security()
    assert security.ssl_context is not None
    assert security.ssl_context.verify_mode == ssl.CERT_REQUIRED


def test_a_file_that_is_gone_is_named_where_it_is_missing(tmp_path: Path) -> None:
    file = written(tmp_path, {"client.id": "audit"})
    location = QuorumLocation((("a", 1),), read_command_config(file))
    file.unlink()
    with pytest.raises(ObserverError, match=r"client\.properties: .*No such file"):
        location.open(None)


def test_a_replaced_keystore_is_used_for_the_next_connection(tmp_path: Path) -> None:
    """A stream runs for longer than its certificate is valid; while the file is incomplete it tries again."""
    keys = {"security.protocol": "SSL", "ssl.truststore.type": "PEM"}
    trusted = tmp_path / "ca.pem"
    trusted.write_text(Authority("CN=Former").pem)
    file = written(tmp_path, {**keys, "ssl.truststore.location": str(trusted)})
    answer = DescribeClusterResponse(cluster_id="c1", endpoint_type=2)
    with ScriptedNode({DescribeClusterRequest: lambda _: answer}, ssl_context=node_context()) as node:
        config = ObserverConfig(request_timeout_ms=5_000, command_config=file)
        reader = QuorumLocation((("127.0.0.1", node.port),), config).open(None)
        with pytest.raises(ObserverError, match=r"certificate verify failed: .* check ssl\.truststore"):
            reader.cluster_id()
        trusted.write_text("")
        replaced = threading.Timer(0.2, lambda: trusted.write_text(authority().pem))
        replaced.start()
        assert reader.cluster_id() == "c1"
        replaced.join()
        reader.close()


def _of_options(kafka_keys: dict[str, str]) -> ObserverConfig:
    options = {f"kafka.{key}": value for key, value in kafka_keys.items()}
    location = KraftOptions.parse({"bootstrapControllers": "a:1", **options}).location
    assert isinstance(location, QuorumLocation)
    return location.client


def _of_flags(*arguments: str) -> LogLocation:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_location_flags(parser)
    return location_of(parser.parse_args(arguments))


def test_flags_and_options_say_the_same(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("client.id=audit\nrequest.timeout.ms=1500\n")
    quorum = _of_flags("--bootstrap-controllers", "a:1,[::1]:2", "--command-config", str(config))
    assert quorum == QuorumLocation((("a", 1), ("::1", 2)), ObserverConfig("audit", 1500, config))
    sooner = ("--request-timeout-ms", "700")
    assert _of_flags("--bootstrap-controllers", "a:1", *sooner, "--command-config", str(config)) == (
        QuorumLocation((("a", 1),), ObserverConfig("audit", 700, config))
    )
    directory = _of_flags("--directory", str(tmp_path), "--assume-committed")
    assert directory == DirectoryLocation(tmp_path, assume_committed=True)
    for location in (quorum, directory, _of_flags("--directory", str(tmp_path))):
        assert KraftOptions.parse(location.options()).location == location


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        pytest.param(
            ["--bootstrap-controllers", "a"], "--bootstrap-controllers: expected host:port", id="port"
        ),
        pytest.param(
            ["--bootstrap-controllers", "a:1", "--assume-committed"], "is for --directory", id="assume"
        ),
        pytest.param(["--directory", "d", "--request-timeout-ms", "0"], "above 0", id="timeout"),
        pytest.param(
            ["--directory", "d", "--command-config", "none"], "--command-config .*/none: ", id="no-file"
        ),
    ],
)
def test_flags_that_cannot_work(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _of_flags(*arguments)
