"""Keys that Kafka does not know: each is named, with the key that is meant; some are refused."""

from __future__ import annotations

import csv
import logging
import random
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.doctor.configuration_checks import concerns_security
from kraftctl.cli.start import announce, load_config
from kraftctl.cli.unknown_keys import (
    NODE_KEYS,
    nearest_key_of_node,
    unknown_keys_of_client,
    unknown_keys_of_node,
)
from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.config.own_keys import OWN_KEYS
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.metadata.config_definitions.generated.other_releases import REMOVED_CONFIGS
from kraftctl_protocol.client_config_names import ADMIN_CLIENT_CONFIGS
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_security.config_providers.providers import ENV_VAR
from kraftctl_security.nearest_key import edits
from kraftctl_spark.log.client_config import read_command_config
from tests.support.controller_properties import controller_properties
from tests.support.effort import FIRST_SEED

CONTROLLER = controller_properties(static=True)
WITH_MAP = {**CONTROLLER, "listener.security.protocol.map": "CONTROLLER:PLAINTEXT"}
KEYS_OF_TEST_KITS = Path(__file__).parents[1] / "data" / "controller-properties-seen.csv"

TYPOS_PER_KEY = 4
"""Of each kind that changes a letter there are as many as the key has letters; these are chosen at random."""


def keys_that_a_controller_reads() -> set[str]:
    """Those that its configuration asks for, with a listener that uses all mechanisms."""
    read: set[str] = set()

    class Recording(dict[str, str]):
        def __contains__(self, key: object) -> bool:
            read.add(str(key))
            return super().__contains__(key)

    properties = Recording(
        {
            **CONTROLLER,
            "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
            "sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512,OAUTHBEARER",
            "sasl.mechanism.controller.protocol": "PLAIN",
        }
    )
    with pytest.raises(ConfigException):  # it has no stores
        ControllerConfig(properties)
    return read - {"broker.id"}


def typos(key: str, rng: random.Random) -> Iterator[str]:
    places = rng.sample(range(1, len(key) - 1), k=TYPOS_PER_KEY)
    yield key[: places[0]] + key[places[0] + 1 :]
    yield key[: places[1]] + key[places[1] + 1] + key[places[1]] + key[places[1] + 2 :]
    yield key[: places[2]] + key[places[2]] + key[places[2] :]
    yield key[: places[3]] + rng.choice("abcxyz") + key[places[3] + 1 :]
    dots = [place for place, character in enumerate(key) if character == "."]
    if dots:
        dot = rng.choice(dots)
        yield key[:dot] + key[dot + 1 :]
        yield key[:dot] + "." + key[dot:]
        yield key[:dot] + "_" + key[dot + 1 :]
        yield key.replace(".", "-")
    yield key.upper()
    yield key[:1].upper() + key[1:]


def noticed(properties: dict[str, str]) -> list[str]:
    """What a start says about the keys: errors and warnings."""
    sentences = list(unknown_keys_of_node(properties).values())
    try:
        ControllerConfig(properties)
    except ConfigException as error:
        sentences = [*error.errors, *sentences]
    return sentences


def test_each_typo_is_noticed_with_the_key_that_is_meant() -> None:
    rng = random.Random(FIRST_SEED)
    wrong, count = [], 0
    for at, key in enumerate(sorted(keys_that_a_controller_reads())):
        for typo in list(typos(key, rng))[at % 3 :: 3]:
            if typo in NODE_KEYS or typo in OWN_KEYS or typo == key or typo in ADMIN_CLIENT_CONFIGS:
                continue
            count += 1
            properties = {name: value for name, value in WITH_MAP.items() if name != key}
            found = [each for each in noticed({**properties, typo: "x"}) if typo in each]
            if not any(f"id you mean {key}?" in each for each in found) and not is_as_near(typo, key, found):
                wrong.append(f"{typo} for {key}: {found}")
    assert not wrong, "\n".join(wrong[:20]) + f"\n{len(wrong)} of {count}"
    assert count > 400


def is_as_near(typo: str, key: str, found: list[str]) -> bool:
    """Whether another key was proposed that differs no more."""
    proposed = [each.partition("id you mean ")[2].rstrip("?") for each in found]
    return any(each and edits(typo, each) <= edits(typo, key) for each in proposed)


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("supers.users", "Kafka has no configuration supers.users: did you mean super.users?"),
        (
            "listner.security.protocol.map",
            (
                "Kafka has no configuration listner.security.protocol.map: did you mean"
                " listener.security.protocol.map?"
            ),
        ),
        (
            "listener.name.controller.plian.sasl.jaas.config",
            (
                "Kafka has no configuration listener.name.controller.plian.sasl.jaas.config: did you mean"
                " listener.name.controller.plain.sasl.jaas.config?"
            ),
        ),
        (
            "listener.name.controller.PLAIN.sasl.jaas.config",
            (
                "Kafka has no configuration listener.name.controller.PLAIN.sasl.jaas.config: did you mean"
                " listener.name.controller.plain.sasl.jaas.config?"
            ),
        ),
        (
            "listner.name.controller.ssl.client.auth",
            (
                "Kafka has no configuration listner.name.controller.ssl.client.auth: did you mean"
                " listener.name.controller.ssl.client.auth?"
            ),
        ),
        ("config.provider", "Kafka has no configuration config.provider: did you mean config.providers?"),
        (
            "security.protocol",
            (
                "security.protocol is a configuration of clients: it does not secure a listener. Next step:"
                " set listener.security.protocol.map"
            ),
        ),
        (
            "my.own.key",
            (
                "Kafka has no configuration my.own.key: it has no effect. Next step: check its name,"
                " or remove it"
            ),
        ),
        (
            "inter.broker.protocol.version",
            (
                "Kafka has removed the configuration inter.broker.protocol.version, which 3.9 had: it has no"
                " effect. Next step: remove it"
            ),
        ),
    ],
)
def test_sentences(key: str, sentence: str) -> None:
    assert unknown_keys_of_node({**WITH_MAP, key: "x"}) == {key: sentence}
    ControllerConfig({**WITH_MAP, key: "x"})


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (
            "kraftctl.audit.log.pth",
            "kraftctl has no configuration kraftctl.audit.log.pth: did you mean kraftctl.audit.log.path?",
        ),
        (
            "KRAFTCTL.audit.log.path",
            "kraftctl has no configuration KRAFTCTL.audit.log.path: did you mean kraftctl.audit.log.path?",
        ),
        (
            "kraftctl.x",
            "kraftctl has no configuration kraftctl.x: there are kraftctl.audit.log.internal.apis,",
        ),
        (
            "listener.name.contoller.ssl.client.auth",
            (
                "Configuration listener.name.contoller.ssl.client.auth: there is no listener 'contoller';"
                " there are controller. Did you mean listener.name.controller.ssl.client.auth?"
            ),
        ),
        (
            "listener.name.CONTROLLER.ssl.client.auth",
            (
                "Configuration listener.name.CONTROLLER.ssl.client.auth: there is no listener 'CONTROLLER';"
                " there are controller. Did you mean listener.name.controller.ssl.client.auth?"
            ),
        ),
        (
            "Listener.name.controller.ssl.client.auth",
            (
                "Configuration Listener.name.controller.ssl.client.auth: there is no listener 'controller';"
                " there are controller. Did you mean listener.name.controller.ssl.client.auth?"
            ),
        ),
        (
            "listener.name.controllerssl.client.auth",
            (
                "Configuration listener.name.controllerssl.client.auth: there is no listener 'controllerssl';"
                " there are controller. Did you mean listener.name.controller.ssl.client.auth?"
            ),
        ),
        (
            "listener.name.x.ssl.client.auth",
            "Configuration listener.name.x.ssl.client.auth: there is no listener 'x'; there are controller.",
        ),
    ],
)
def test_refusals(key: str, error: str) -> None:
    assert unknown_keys_of_node({**WITH_MAP, key: "x"}) == {}
    with pytest.raises(ConfigException) as caught:
        ControllerConfig({**WITH_MAP, key: "x"})
    (found,) = caught.value.errors
    assert found.startswith(error)


@pytest.mark.parametrize(
    "given",
    [
        {"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,In-ner:SSL"},
        {
            "listener.security.protocol.map": "CONTROLLER:PLAINTEXT,IN-NER:SSL",
            "inter.broker.listener.name": "IN-NER",
        },
        {"listener.security.protocol.map": "CONTROLLER:PLAINTEXT,in-ner:SSL , "},
    ],
)
def test_listeners_of_brokers_are_known(given: dict[str, str]) -> None:
    """A file may serve brokers as well."""
    ControllerConfig({**CONTROLLER, **given, "listener.name.in-ner.ssl.client.auth": "required"})


SECURITY_KEYS = sorted(key for key in BROKER_CONFIG_KEYS if concerns_security(key))

FIRST = [
    ("kafka.", ""),
    ("node.", ""),
    ("server.", ""),
    ("listener.", ""),
    ("controller.", "listener.name.controller."),
    ("listener.controller.", "listener.name.controller."),
    ("kafka.listener.controller.", "listener.name.controller."),
]


@pytest.mark.parametrize(("first", "meant"), FIRST)
def test_words_before_a_key_of_security_do_not_hide_it(first: str, meant: str) -> None:
    """Without a key that is meant, the doctor only warns, and a listener lets in every client."""
    listener = {"listeners": "CONTROLLER://:1", "listener.security.protocol.map": "CONTROLLER:SSL"}
    assert len(SECURITY_KEYS) > 50
    for key in SECURITY_KEYS:
        assert nearest_key_of_node(f"{first}{key}", listener) == f"{meant}{key}"


@pytest.mark.parametrize("key", ["my.plugin.ssl.keystore.location", "producer.ssl.key.password", "kafka..x"])
def test_keys_of_others_are_no_typos(key: str) -> None:
    assert nearest_key_of_node(key, {"listeners": "CONTROLLER://:1"}) is None


def test_a_listener_may_be_the_beginning_of_another() -> None:
    names = "CONTROLLER:PLAINTEXT,CONTROLLER.SSL:SSL"
    properties = {**CONTROLLER, "listener.security.protocol.map": names}
    assert not unknown_keys_of_node({**properties, "listener.name.controller.ssl.ssl.client.auth": "x"})


def test_known_keys_are_not_named() -> None:
    of_listener = [f"listener.name.controller.{key}" for key in BROKER_CONFIG_KEYS]
    of_mechanism = [
        f"listener.name.controller.{mechanism}.{key}"
        for mechanism in ("plain", "scram-sha-256", "scram-sha-512", "oauthbearer", "gssapi")
        for key in BROKER_CONFIG_KEYS
        if key.startswith("sasl.")
    ]
    plugins = ["confluent.license.topic", "strimzi.authorization.x", "rlmm.config.y", "metrics.jmx.include"]
    providers = {"config.providers": "e", "config.providers.e.class": ENV_VAR}
    clients = ADMIN_CLIENT_CONFIGS - REMOVED_CONFIGS.keys() - {"security.protocol"}
    every = [*BROKER_CONFIG_KEYS, *OWN_KEYS, *of_listener, *of_mechanism, *plugins, *clients]
    assert unknown_keys_of_node({**dict.fromkeys(every, "x"), **CONTROLLER, **providers}) == {}
    assert (
        unknown_keys_of_client({**dict.fromkeys(every, "x"), **providers, "group.id": "x", "acks": "1"}) == {}
    )
    with KEYS_OF_TEST_KITS.open() as file:
        seen = {row["key"]: "x" for row in csv.DictReader(file)}
    assert unknown_keys_of_node(seen) == {}


def test_removed_keys_are_named() -> None:
    found = unknown_keys_of_node({**CONTROLLER, **dict.fromkeys(REMOVED_CONFIGS, "x")})
    assert found.keys() == REMOVED_CONFIGS.keys()
    assert all("Kafka has removed" in sentence for sentence in found.values())
    assert len(found) > 40


def test_a_provider_that_is_not_named() -> None:
    properties = {**CONTROLLER, "config.providers": "env", "config.providers.env.class": ENV_VAR}
    assert "did you mean config.providers.env.class?" in "".join(
        unknown_keys_of_node({**properties, "config.providers.evn.class": ENV_VAR}).values()
    )


def test_own_keys_are_those_that_are_read() -> None:
    read = keys_that_a_controller_reads()
    assert {key for key in read if key.startswith("kraftctl.")} == set(OWN_KEYS)


def test_every_key_that_is_read_is_known() -> None:
    assert unknown_keys_of_node({**WITH_MAP, **dict.fromkeys(keys_that_a_controller_reads(), "x")}) == {}


def test_a_start_that_is_refused_names_unknown_keys(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is missing may be misspelt. They are warnings, as in a start that is not refused."""
    properties = {key: value for key, value in CONTROLLER.items() if key != "listeners"}
    file = written(tmp_path, {**properties, "listner": "CONTROLLER://localhost:9093"})
    assert main(["start", file]) == 1
    printed = capsys.readouterr()
    assert 'Missing required configuration "listeners"' in printed.err
    assert "listner" not in printed.err
    (line,) = [each for each in printed.out.splitlines() if "no configuration listner" in each]
    assert re.search(r"\] WARN .*Kafka has no configuration listner: did you mean listeners\?", line)


def test_strict_refuses_all(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, {**CONTROLLER, "supers.users": "User:a", "log.retention.ms": "1"})
    assert main(["start", file, "--strict", "--override", "my.own=1"]) == 1
    assert capsys.readouterr().err.splitlines() == [
        (
            "kraftctl start: Kafka has no configuration my.own: it has no effect."
            " Next step: check its name, or remove it (--strict)"
        ),
        "kraftctl start: Kafka has no configuration supers.users: did you mean super.users? (--strict)",
    ]
    load_config(Path(written(tmp_path, {**CONTROLLER, "log.retention.ms": "1"})), [], strict=True)


def test_each_has_a_warning_of_its_own(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Keys of brokers are in one line, without the others."""
    file = written(tmp_path, {**CONTROLLER, "supers.users": "User:a", "log.retention.ms": "1", "my.own": "1"})
    with caplog.at_level(logging.INFO):
        announce(load_config(Path(file), []), MetaProperties("q1Sh-9_ISia_zwGINzRvyQ", 3000, None))
    lines = [(record.levelname, record.message) for record in caplog.records]
    assert [message.split(":")[0] for level, message in lines if level == "WARNING"] == [
        "Kafka has no configuration my.own",
        "Kafka has no configuration supers.users",
    ]
    assert ("INFO", "Configuration keys that a controller does not use: log.retention.ms") in lines


def test_a_format_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    properties = {**CONTROLLER, "log.dirs": str(tmp_path / "data"), "supers.users": "User:a"}
    arguments = ["format", "-t", "q1Sh-9_ISia_zwGINzRvyQ", "-c", written(tmp_path, properties)]
    assert main(arguments) == 0
    assert capsys.readouterr().err == "Kafka has no configuration supers.users: did you mean super.users?\n"
    assert main([*arguments[:-1], written(tmp_path, {**properties, "kraftctl.x": "1"})]) == 1
    assert "kraftctl has no configuration kraftctl.x" in capsys.readouterr().err


def test_a_tool_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = written(tmp_path, {**CONTROLLER, "log.dirs": str(tmp_path), "sasl.mechanim": "PLAIN", "x.y": "z"})
    main(["quorum", "--bootstrap-controller", "127.0.0.1:1", "--command-config", file, "add-controller"])
    lines = capsys.readouterr().err.splitlines()
    assert lines[:2] == [
        f"{file}: Kafka has no configuration sasl.mechanim: did you mean sasl.mechanism?",
        f"{file}: Kafka has no configuration x.y: it has no effect. Next step: check its name, or remove it",
    ]


def test_each_typo_in_a_client_file_is_noticed(tmp_path: Path) -> None:
    """`kraftctl-export` refuses all keys that it does not use."""
    rng = random.Random(FIRST_SEED)
    wrong, count = [], 0
    for at, key in enumerate(sorted(ADMIN_CLIENT_CONFIGS)):
        for typo in list(typos(key, rng))[at % 3 :: 3]:
            if typo in ADMIN_CLIENT_CONFIGS or typo in NODE_KEYS:
                continue
            count += 1
            found = list(unknown_keys_of_client({typo: "x"}).values())
            if not any(f"did you mean {key}?" in each for each in found) and not is_as_near(typo, key, found):
                wrong.append(f"{typo} for {key}: {found}")
            with pytest.raises(ValueError, match=r"is not known|is not used"):
                read_command_config(Path(written(tmp_path, {typo: "x"})))
    assert not wrong, "\n".join(wrong[:20]) + f"\n{len(wrong)} of {count}"
    assert count > 150


def written(directory: Path, properties: dict[str, str]) -> str:
    file = directory / "test.properties"
    file.write_text("".join(f"{key}={value}\n" for key, value in properties.items()))
    return str(file)
