"""A properties file with passwords that other accounts may read: `kraftctl start` says so."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.readable_secrets import other_readable_files, readable_secrets
from kraftctl_security.small_files import mode_against_others

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"

KEYS = [
    ("ssl.keystore.password", "x", True),
    ("ssl.key.password", "x", True),
    ("ssl.truststore.password", "x", True),
    ("ssl.keystore.key", "-----BEGIN", True),
    ("delegation.token.secret.key", "x", True),
    ("listener.name.controller.ssl.keystore.password", "x", True),
    ("sasl.jaas.config", f'{PLAIN} username="a" password="b";', True),
    ("listener.name.controller.plain.sasl.jaas.config", f'{PLAIN} user_a="b";', True),
    ("listener.name.controller.oauthbearer.sasl.jaas.config", 'X required clientSecret="b";', True),
    (
        "sasl.jaas.config",
        "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required;",
        False,
    ),
    ("ssl.keystore.password", "", False),
    ("ssl.keystore.location", "x", False),
    ("ssl.keystore.certificate.chain", "-----BEGIN", False),
    ("ssl.truststore.certificates", "-----BEGIN", False),
    ("node.id", "1", False),
    ("my.password", "x", False),
]


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640, 0o644, 0o604, 0o620], ids=oct)
@pytest.mark.parametrize(("key", "value", "is_secret"), KEYS)
def test_which_keys(tmp_path: Path, key: str, value: str, is_secret: bool, mode: int) -> None:
    file = tmp_path / "controller.properties"
    file.touch(mode)
    file.chmod(mode)
    is_named = is_secret and mode & 0o077 != 0
    assert readable_secrets(file, {key: value}, ()) == (("600", [key]) if is_named else (None, []))
    assert readable_secrets(file, {key: value}, {key}) == (None, []), "a provider or a flag has it"


@pytest.mark.parametrize(
    ("is_own", "mode", "expected"),
    [
        pytest.param(True, 0o600, None, id="own"),
        pytest.param(True, 0o640, "600", id="own-and-its-group"),
        pytest.param(False, 0o640, None, id="of-root-for-the-group-of-the-service"),
        pytest.param(False, 0o644, "o-rwx", id="of-root-for-everyone"),
    ],
)
def test_which_permissions(is_own: bool, mode: int, expected: str | None) -> None:
    """A service that may not change its file keeps the right to read it."""
    owner = os.geteuid() if is_own else os.geteuid() + 1
    assert mode_against_others(os.stat_result((stat.S_IFREG | mode, 0, 0, 1, owner, *[0] * 5))) == expected


def test_what_is_no_file_is_not_looked_at(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere", tmp_path, Path("/dev/null")):
        assert readable_secrets(path, {"ssl.key.password": "x"}, ()) == (None, [])


@pytest.mark.parametrize(
    ("mode", "value", "is_said"),
    [
        pytest.param(0o644, "planted", True, id="readable"),
        pytest.param(0o600, "planted", False, id="not-readable"),
        pytest.param(0o644, "${env:KRAFTCTL_TEST_SECRET}", False, id="of-a-provider"),
    ],
)
def test_the_line(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    mode: int,
    value: str,
    is_said: bool,
) -> None:
    """Before the start is refused, since nothing is formatted here."""
    monkeypatch.setenv("KRAFTCTL_TEST_SECRET", "planted")
    file = tmp_path / "controller.properties"
    file.write_text(
        "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        "listeners=CONTROLLER://localhost:0\ncontroller.quorum.bootstrap.servers=localhost:9093\n"
        f"log.dirs={tmp_path / 'data'}\ndelegation.token.secret.key={value}\n"
        "config.providers=env\n"
        "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
    )
    file.chmod(mode)
    assert main(["start", str(file)]) == 1
    output, error = capsys.readouterr()
    line = (
        f"Other accounts may read the passwords in {file} (delegation.token.secret.key). Next step: chmod 600"
    )
    assert (line in output) == is_said
    assert "planted" not in output + error


PROVIDERS = (
    "config.providers=file,dir,env\n"
    "config.providers.file.class=org.apache.kafka.common.config.provider.FileConfigProvider\n"
    "config.providers.dir.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider\n"
    "config.providers.env.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider\n"
)


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o644, 0o604], ids=oct)
@pytest.mark.parametrize(
    ("line", "users"),
    [
        pytest.param(
            "delegation.token.secret.key=${file:DIR/secrets:key}", "delegation.token.secret.key", id="file"
        ),
        pytest.param("ssl.key.password=${dir:DIR:secrets}", "ssl.key.password", id="directory"),
        pytest.param("ssl.key.password=a${file:DIR/secrets:key}b", "ssl.key.password", id="in-a-value"),
        pytest.param(
            "ssl.key.password=${file:DIR/secrets:key}\nssl.keystore.password=${file:DIR//secrets:key}",
            "ssl.key.password, ssl.keystore.password",
            id="of-two-keys",
        ),
        pytest.param("broker.rack=${file:DIR/secrets:key}", None, id="no-secret"),
        pytest.param("ssl.key.password=${env:HOME}", None, id="environment"),
        pytest.param("", "KAFKA_OPTS", id="jaas-file"),
    ],
)
def test_which_other_files(tmp_path: Path, line: str, users: str | None, mode: int) -> None:
    secrets = tmp_path / "secrets"
    secrets.write_text("key=planted\n")
    secrets.chmod(mode)
    file = tmp_path / "controller.properties"
    file.write_text(PROVIDERS + line.replace("DIR", str(tmp_path)))
    options = f"-Djava.security.auth.login.config={secrets}" if users == "KAFKA_OPTS" else ""
    found = other_readable_files(read_config_file(file), {"KAFKA_OPTS": options})
    expected = {} if users is None or mode == 0o600 else {str(secrets): ("600", users.split(", "))}
    assert found == expected


def test_a_start_names_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Beside a properties file that is readable, and has none itself."""
    secrets = tmp_path / "secrets"
    secrets.write_text("key=planted\n")
    secrets.chmod(0o644)
    file = tmp_path / "controller.properties"
    file.write_text(
        PROVIDERS + "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        "listeners=CONTROLLER://localhost:0\ncontroller.quorum.bootstrap.servers=localhost:9093\n"
        f"log.dirs={tmp_path / 'data'}\ndelegation.token.secret.key=${{file:{secrets}:key}}\n"
    )
    assert main(["start", str(file)]) == 1
    output, error = capsys.readouterr()
    assert f"in {secrets} (delegation.token.secret.key). Next step: chmod 600" in output
    assert f"in {file}" not in output
    assert "planted" not in output + error
