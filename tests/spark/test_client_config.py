"""Kafka's client keys: which ones are supported, and which ones must not be ignored silently."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from kraftctl_spark.commands.location_flags import add_location_flags, location_of
from kraftctl_spark.datasource.source_options import KraftOptions
from kraftctl_spark.log.client_config import ClientConfig, parse_client_config
from kraftctl_spark.log.log_location import DirectoryLocation, LogLocation, QuorumLocation


def test_what_is_honoured() -> None:
    given = {"security.protocol": "PLAINTEXT", "client.id": "audit", "request.timeout.ms": "1500"}
    assert parse_client_config(given) == ClientConfig("audit", 1500)
    assert parse_client_config({}) == ClientConfig()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        pytest.param(
            "security.protocol", "SASL_SSL", "security.protocol=SASL_SSL .* only PLAINTEXT", id="tls"
        ),
        pytest.param("sasl.mechanism", "PLAIN", "sasl.mechanism is not .* PLAINTEXT only", id="sasl"),
        pytest.param("ssl.truststore.location", "/x.jks", "ssl.truststore.location is not", id="ssl"),
        pytest.param("ssl.truststore.password", "word", "password is not supported", id="password"),
        pytest.param("sasl.jaas.config", "word", "sasl.jaas.config is not supported", id="jaas"),
        pytest.param(
            "request.timeout.ms", "1 s", "request.timeout.ms=1 s .* whole number above 0", id="text"
        ),
        pytest.param("request.timeout.ms", "0", "request.timeout.ms=0 .* whole number above 0", id="zero"),
        pytest.param("security.protcol", "SSL", "security.protcol is not known: .* client.id", id="misspelt"),
    ],
)
def test_what_is_refused(key: str, value: str, message: str) -> None:
    for parse in (parse_client_config, lambda given: _of_options(kafka_keys=given)):
        with pytest.raises(ValueError, match=message) as raised:
            parse({key: value})
        assert "word" not in str(raised.value).replace("password", "")


def _of_options(kafka_keys: dict[str, str]) -> KraftOptions:
    options = {f"kafka.{key}": value for key, value in kafka_keys.items()}
    return KraftOptions.parse({"bootstrapControllers": "a:1", **options})


def _of_flags(*arguments: str) -> LogLocation:
    parser = argparse.ArgumentParser(exit_on_error=False)
    add_location_flags(parser)
    return location_of(parser.parse_args(arguments))


def test_flags_and_options_say_the_same(tmp_path: Path) -> None:
    config = tmp_path / "client.properties"
    config.write_text("client.id=audit\nrequest.timeout.ms=1500\n")
    quorum = _of_flags("--bootstrap-controllers", "a:1,[::1]:2", "--command-config", str(config))
    assert quorum == QuorumLocation((("a", 1), ("::1", 2)), ClientConfig("audit", 1500))
    sooner = ("--request-timeout-ms", "700")
    assert _of_flags("--bootstrap-controllers", "a:1", *sooner, "--command-config", str(config)) == (
        QuorumLocation((("a", 1),), ClientConfig("audit", 700))
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
            ["--directory", "d", "--command-config", "none"], "--command-config none: ", id="no-file"
        ),
    ],
)
def test_flags_that_cannot_work(arguments: list[str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _of_flags(*arguments)
