"""Users in a file: known before the metadata log; a bad file is named, and no password is shown."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.server.security.credential_lookup import CredentialsUnavailableError
from kraftctl.server.security.local_users import FILE_BYTES_MAX, read_local_users
from kraftctl_protocol.java_properties import parse_properties
from kraftctl_protocol.scram import MECHANISM_NUMBERS, ScramCredential
from kraftctl_security.sasl.scram_client import ScramClient
from kraftctl_security.sasl.scram_server import ScramServer, TokenCredential
from kraftctl_security.sasl.scram_users import USERS_MAX, LocalUsersFirst, ScramUsers
from tests.security.sasl.known_users import SHA_256, SHA_512, KnownUsers, made
from tests.server.serving import PROPERTIES

PAGE = Path(__file__).parents[3] / "docs" / "security.md"

SECRET = "hunter2"
MODULE = "org.apache.kafka.common.security.scram.ScramLoginModule"
TWO_NODES = {"controller.quorum.bootstrap.servers": "one:9093,two:9093", "controller.quorum.voters": ""}
SASL = {
    **TWO_NODES,
    "listener.security.protocol.map": "CONTROLLER:SASL_PLAINTEXT",
    "sasl.enabled.mechanisms": "SCRAM-SHA-512",
    "sasl.mechanism.controller.protocol": "SCRAM-SHA-512",
    "listener.name.controller.scram-sha-512.sasl.jaas.config": (
        f'{MODULE} required username="controller" password="{SECRET}";'
    ),
}
TEXT = f"""
# Those by which controllers authenticate to each other.
SCRAM-SHA-512=[name=controller,password={SECRET}]
SCRAM-SHA-256=[name=controller,password={SECRET},iterations=8192]
"""


class UnreadLog:
    """The metadata log of a node that has no leader."""

    unknown_secret = b"of a node"

    def examples(self, mechanism: int) -> dict[str, ScramCredential]:
        return {}

    def user(self, mechanism: int, name: str) -> ScramCredential | None:
        raise CredentialsUnavailableError("not read yet")

    def token(self, mechanism: int, token_id: str) -> TokenCredential | None:
        raise CredentialsUnavailableError("not read yet")


def read(path: Path, text: str | bytes = TEXT, mode: int = 0o600, **properties: str) -> ScramUsers:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    path.chmod(mode)
    named = {"kraftctl.scram.users.path": str(path)}
    return read_local_users(ControllerConfig({**PROPERTIES, **SASL, **named, **properties}))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "users"


def authenticate(server: ScramServer, client: ScramClient) -> str:
    challenge = server.evaluate(client.evaluate(b"") or b"", 0)
    assert client.evaluate(server.evaluate(client.evaluate(challenge) or b"", 0)) is None
    assert server.authenticated is not None
    return str(server.authenticated.principal)


@pytest.mark.parametrize("mechanism", [SHA_256, SHA_512])
def test_a_user_of_the_file_authenticates_before_the_log_is_read(path: Path, mechanism: int) -> None:
    known = LocalUsersFirst(read(path), UnreadLog())
    server = ScramServer(mechanism, known, nonce="servers")
    client = ScramClient(mechanism, "controller", SECRET, nonce="clients", token_auth=False)
    assert authenticate(server, client) == "User:controller"


def test_others_are_asked_to_come_back(path: Path) -> None:
    known = LocalUsersFirst(read(path), UnreadLog())
    with pytest.raises(CredentialsUnavailableError):
        known.user(SHA_512, "alice")
    with pytest.raises(CredentialsUnavailableError):
        known.token(SHA_512, "controller")


def test_the_file_precedes_the_log(path: Path) -> None:
    log = KnownUsers()
    log.add(SHA_512, "controller", "of the log")
    log.add(SHA_512, "alice", "of the log")
    users = read(path)
    known = LocalUsersFirst(users, log)
    assert known.user(SHA_512, "controller") is users[SHA_512, "controller"]
    assert known.user(SHA_512, "alice") == made(SHA_512, "of the log")
    assert known.user(SHA_512, "bob") is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param(f"{TEXT}{SECRET}", "line 5: There is no equals sign", id="no-equals"),
        pytest.param(
            f"SCRAM-SHA-1=[name=a,password={SECRET}]", "line 1: The mechanism is not", id="mechanism"
        ),
        pytest.param(f"SCRAM-SHA-256=[password={SECRET}]", "line 1: You must supply 'name'", id="no-name"),
        pytest.param(f"SCRAM-SHA-256=[name=a,password=x,{SECRET}]", "no comma in a value", id="comma"),
        pytest.param(
            f"SCRAM-SHA-256=[name=a,{SECRET}=x]", "Unknown SCRAM configuration; known are", id="key"
        ),
        pytest.param(f"{TEXT}{TEXT}", "line 7: the user is there twice with this mechanism", id="twice"),
        pytest.param(
            f"SCRAM-SHA-256=[name=a,password=${{env:{SECRET}}}]",
            "has ${env:...}, which is not",
            id="variable",
        ),
        pytest.param(b"# \xff", "is not UTF-8", id="not-utf-8"),
        pytest.param(b"#" * (FILE_BYTES_MAX + 1), "has more than 1,048,576 bytes", id="long"),
    ],
)
def test_a_file_that_is_not_understood_is_refused(path: Path, text: str | bytes, reason: str) -> None:
    with pytest.raises(ConfigException) as caught:
        read(path, text)
    (error,) = caught.value.errors
    assert error.startswith(f"kraftctl.scram.users.path: {path}")
    assert reason in error
    assert SECRET not in error


def test_a_file_has_a_bounded_number_of_users(path: Path) -> None:
    salted = 'salt="YQ==",saltedpassword="YQ=="'
    lines = [f"SCRAM-SHA-256=[name=u{number},{salted}]" for number in range(USERS_MAX + 1)]
    assert USERS_MAX == 1_000, "all of them are read before the one that is too many"
    with pytest.raises(ConfigException, match="line 1001: there may be 1,000 users"):
        read(path, "\n".join(lines))


def test_a_file_that_is_missing_is_named(path: Path) -> None:
    config = ControllerConfig({**PROPERTIES, **SASL, "kraftctl.scram.users.path": str(path)})
    with pytest.raises(ConfigException, match=f"cannot read {path}: No such file or directory"):
        read_local_users(config)


def test_a_file_that_others_may_read_is_reported(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    read(path)
    assert [each for each in caplog.records if each.levelno >= logging.WARNING] == []
    read(path, mode=0o640)
    (warning,) = caplog.messages
    assert warning == f"Other accounts may read the passwords in {path}. Next step: chmod 600"


@pytest.mark.parametrize(
    ("properties", "warned"),
    [
        pytest.param({}, True, id="several-controllers"),
        pytest.param({"controller.quorum.bootstrap.servers": "one:9093"}, False, id="one-controller"),
        pytest.param({"sasl.mechanism.controller.protocol": "PLAIN"}, False, id="plain"),
    ],
)
def test_a_quorum_that_cannot_form_again_is_announced(
    caplog: pytest.LogCaptureFixture, properties: dict[str, str], warned: bool
) -> None:
    plain = MODULE.replace("scram.Scram", "plain.Plain")
    key = "listener.name.controller.plain.sasl.jaas.config"
    entry = {key: f'{plain} required username="a" password="b";'}
    config = ControllerConfig({**PROPERTIES, **SASL, **entry, **properties})
    assert read_local_users(config) == {}
    text = "User:controller, as which controllers connect to each other by SCRAM-SHA-512, is only in the"
    assert [message.startswith(text) for message in caplog.messages] == ([True] if warned else [])


def test_the_controllers_of_the_page_know_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The properties of docs/security.md, with its file of users, before the log is read."""
    section = PAGE.read_text().partition("\n## Users of SASL\n")[2].partition("\n## ")[0]
    kinds = re.findall(r"^```(\w+)\n(.*?)^```", section, re.MULTILINE | re.DOTALL)
    (properties,) = [parse_properties(text) for kind, text in kinds if kind == "properties"]
    (users,) = [text for kind, text in kinds if kind == "text"]
    monkeypatch.chdir(tmp_path)
    config = ControllerConfig(properties)
    Path(config.scram_users_path or "").write_text(users)
    Path(config.scram_users_path or "").chmod(0o600)
    known = LocalUsersFirst(read_local_users(config), UnreadLog())
    assert not caplog.messages
    assert config.controller_sasl is not None
    number = MECHANISM_NUMBERS[config.controller_sasl.mechanism]
    name, password = (config.controller_sasl.options[key] for key in ("username", "password"))
    assert f"User:{name}" in config.super_users
    server = ScramServer(number, known, nonce="servers")
    client = ScramClient(number, name, password, nonce="clients", token_auth=False)
    assert authenticate(server, client) == f"User:{name}"
