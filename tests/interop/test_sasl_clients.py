"""The client of kraftctl and of its exporter against Kafka's own controller, by SASL over SSL."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.dev.settings import CONTROLLER_LISTENER, random_id, write_properties
from kraftctl_observer.observer import QuorumObserver
from kraftctl_spark.log.client_config import read_command_config
from kraftctl_spark.log.log_location import QuorumLocation, parse_endpoints
from tests.support.certificates import Authority, properties_of
from tests.support.processes.kafka import JavaController, kafka

pytestmark = pytest.mark.interop

MODULES = "org.apache.kafka.common.security"
PASSWORD = 'a word, with "quotes" and = signs'
SESSION_MS = 1_300


def jaas(module: str, **options: str) -> str:
    values = {name: value.replace('"', '\\"') for name, value in options.items()}
    return f"{MODULES}.{module} required " + " ".join(f'{key}="{text}"' for key, text in values.items()) + ";"


def plain(**options: str) -> str:
    return jaas("plain.PlainLoginModule", **options)


def scram(**options: str) -> str:
    return jaas("scram.ScramLoginModule", **options)


class Controller(JavaController):
    """With a user in its log."""

    def format_flags(self) -> list[str]:
        return [*super().format_flags(), "--add-scram", "SCRAM-SHA-512=[name=ada,password=lovelace]"]


class Secured:
    """The controller, and the properties of clients."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        authority = Authority()
        self.trust = {"ssl.truststore.type": "PEM", "ssl.truststore.location": str(directory / "ca.pem")}
        (directory / "ca.pem").write_text(authority.pem)
        prefix = "listener.name.controller."
        listener = {
            "listener.security.protocol.map": f"{CONTROLLER_LISTENER}:SASL_SSL",
            **properties_of(authority.issue("CN=controller"), authority, directory / "c", prefix),
            f"{prefix}sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-512",
            "sasl.mechanism.controller.protocol": "PLAIN",
            f"{prefix}plain.sasl.jaas.config": plain(
                username="controller", password=PASSWORD, user_controller=PASSWORD, user_bob=PASSWORD
            ),
            f"{prefix}scram-sha-512.sasl.jaas.config": scram(),
            f"{prefix}connections.max.reauth.ms": str(SESSION_MS),
        }
        self.controller = Controller(kafka(), 3000, directory / "node", random_id(), properties=listener)

    def client(self, mechanism: str, jaas_config: str, **changes: str) -> Path:
        keys = {
            "security.protocol": "SASL_SSL",
            "sasl.mechanism": mechanism,
            "sasl.jaas.config": jaas_config,
            "request.timeout.ms": "4000",
            **self.trust,
            **{key.replace("__", "."): value for key, value in changes.items()},
        }
        file = self.directory / "client.properties"
        write_properties(file, keys)
        return file

    def location(self, file: Path) -> QuorumLocation:
        return QuorumLocation(parse_endpoints(self.controller.address), read_command_config(file))


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    found = Secured(tmp_path_factory.mktemp("sasl"))
    found.controller.format()
    found.controller.start()
    yield found
    found.controller.kill()


BOB = ("PLAIN", plain(username="bob", password=PASSWORD))
ADA = ("SCRAM-SHA-512", scram(username="ada", password="lovelace"))


@pytest.mark.parametrize("user", [BOB, ADA], ids=["plain", "scram"])
def test_a_quorum_is_described_and_read(
    user: tuple[str, str], secured: Secured, capsys: pytest.CaptureFixture[str]
) -> None:
    """A reader outlives its session, and does not need another connection for that (KIP-368)."""
    file = secured.client(*user)
    flags = ["--bootstrap-controller", secured.controller.address, "--command-config", str(file)]
    assert main(["quorum", *flags, "describe", "--status"]) == 0, capsys.readouterr().err
    assert re.search("LeaderId: +3000", capsys.readouterr().out)
    reader = secured.location(file).open(None)
    assert isinstance(reader, QuorumObserver)
    before = reader.position(0, 0).high_watermark
    connection = reader._connection
    threading.Event().wait(SESSION_MS / 1000 + 0.2)
    assert reader.position(0, 0).high_watermark >= before > 0
    assert reader._connection is connection
    reader.close()


@pytest.mark.parametrize(
    ("user", "changes", "expected"),
    [
        pytest.param(
            ("PLAIN", plain(username="bob", password="bad-word")),
            {},
            "refused with SASL_AUTHENTICATION_FAILED: .*check sasl.jaas.config of --command-config",
            id="wrong-password",
        ),
        pytest.param(
            ("SCRAM-SHA-512", scram(username="ada", password="bad-word")),
            {},
            "refused with SASL_AUTHENTICATION_FAILED: .*check sasl.jaas.config of --command-config",
            id="wrong-scram-password",
        ),
        pytest.param(
            ("SCRAM-SHA-256", scram(username="ada", password="bad-word")),
            {},
            "SASL SCRAM-SHA-256 is not enabled there, PLAIN, SCRAM-SHA-512 is.*check sasl.mechanism",
            id="another-mechanism",
        ),
        pytest.param(
            BOB,
            {"security.protocol": "SSL"},
            "the node has closed the connection.*check security.protocol of --command-config",
            id="no-sasl",
        ),
        pytest.param(
            BOB,
            {"security.protocol": "SASL_PLAINTEXT"},
            "the node answers with SSL.*check security.protocol of --command-config",
            id="no-ssl",
        ),
    ],
)
def test_who_is_not_accepted_learns_which_key_to_check(
    user: tuple[str, str],
    changes: dict[str, str],
    expected: str,
    secured: Secured,
    capsys: pytest.CaptureFixture[str],
) -> None:
    file = secured.client(*user, default__api__timeout__ms="1500", **changes)
    flags = ["--bootstrap-controller", secured.controller.address, "--command-config", str(file)]
    assert main(["quorum", *flags, "describe", "--replication"]) == 1
    printed = capsys.readouterr().err
    assert re.search(expected, printed, re.DOTALL), printed
    assert not any(secret in printed for secret in ("bad-word", PASSWORD))
