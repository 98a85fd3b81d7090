"""`kraftctl doctor` and `kraftctl start --check` on properties files, without other controllers."""

from __future__ import annotations

import datetime
import errno
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.cli.doctor import directory_checks
from kraftctl.cli.doctor.configuration_checks import concerns_security
from kraftctl.cli.doctor.directory_checks import judged_flushes, judged_limit, judged_room
from kraftctl.storage.directory_lock import DirectoryLock, is_in_use
from kraftctl.storage.errors import StorageError
from kraftctl.storage.meta_properties import write_meta_properties
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_protocol.uuids import random_uuid
from tests.support.certificates import Authority
from tests.support.controller_properties import controller_properties

CLUSTER_ID = "q1Sh-9_ISia_zwGINzRvyQ"
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"

Row = dict[str, str]


class Doctor:
    """A formatted directory, its properties file, and what the command says of both."""

    def __init__(self, directory: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.capsys = capsys
        self.properties: dict[str, str | None] = {
            **controller_properties(self.data, node_id=1, address="127.0.0.1:1", static=True)
        }
        self.flags = ["--offline"]
        self.command = ["doctor"]
        meta = MetaProperties(CLUSTER_ID, 1, random_uuid(random.Random(1)))
        write_meta_properties(self.data, meta, wall_ms=0)
        self.data.chmod(0o700)
        self.file = directory / "controller.properties"
        self.printed = ""

    def write(self, text: str | None = None) -> None:
        lines = [f"{key}={value}\n" for key, value in self.properties.items() if value is not None]
        self.file.write_text("".join(lines) if text is None else text)
        self.file.chmod(0o600)

    def run(self) -> int:
        status = main([*self.command, str(self.file), *self.flags])
        self.printed = "".join(self.capsys.readouterr())
        return status

    def rows(self) -> list[Row]:
        """All results, with the status that belongs to them."""
        self.flags.append("--output=json")
        status = self.run()
        found: list[Row] = json.loads(self.printed)["findings"]
        levels = {each["level"] for each in found}
        assert status == (10 if "ERROR" in levels else 1 if "UNKNOWN" in levels else 0)
        return found

    def bad(self) -> list[tuple[str, str, str]]:
        """Level, check and key of everything that is not well, but for how fast this disk is."""
        return [
            (each["level"], each["check"], each["key"])
            for each in self.rows()
            if each["level"] != "OK" and (each["check"] != "flushes" or each["level"] == "UNKNOWN")
        ]


@pytest.fixture
def doctor(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Doctor:
    monkeypatch.setattr(directory_checks, "FSYNCS_COUNT", 1)  # hundreds of them take long on a busy disk
    return Doctor(tmp_path, capsys)


MAP = "listener.security.protocol.map"

CASES = [
    pytest.param({}, [], id="nothing-is-wrong"),
    pytest.param({"node.id": "x"}, [("ERROR", "configuration", "node.id")], id="a-number-that-is-none"),
    pytest.param({"num.partitions": "0"}, [("ERROR", "configuration", "num.partitions")], id="out-of-range"),
    pytest.param({"process.roles": None}, [("ERROR", "configuration", "process.roles")], id="no-roles"),
    pytest.param(
        {"process.roles": "broker,controller"}, [("ERROR", "configuration", "process.roles")], id="a-broker"
    ),
    pytest.param(
        {"controller.quorum.voters": None},
        [("ERROR", "configuration", "controller.quorum.bootstrap.servers")],
        id="no-voters",
    ),
    pytest.param(
        {"controller.quorum.voters": "2@127.0.0.1:1"},
        [("ERROR", "configuration", "controller.quorum.voters")],
        id="not-a-voter",
    ),
    pytest.param(
        {"controller.listener.names": "OTHER"},
        [("ERROR", "listeners", "listeners")],
        id="a-name-that-is-no-listener",
    ),
    pytest.param({MAP: "CONTROLLER:TLS"}, [("ERROR", "listeners", MAP)], id="an-unknown-protocol"),
    pytest.param(
        {"listeners": "CONTROLLER://:1", "controller.quorum.voters": None,
         "controller.quorum.bootstrap.servers": "h:1"},
        [("WARN", "listeners", "advertised.listeners")],
        id="all-addresses-and-none-advertised",
    ),
    pytest.param({"num.partitons": "3"}, [("WARN", "keys", "num.partitons")], id="a-near-miss"),
    pytest.param({"super.user": "User:a"}, [("ERROR", "keys", "super.user")], id="a-near-miss-of-security"),
    pytest.param(
        {"listener.name.controller.ssl.client.auht": "required"},
        [("ERROR", "keys", "listener.name.controller.ssl.client.auht")],
        id="a-near-miss-of-a-listener",
    ),
    pytest.param({"my.plugin": "x"}, [("WARN", "keys", "my.plugin")], id="an-unknown-key"),
    pytest.param({"security.protocol": "SSL"}, [("WARN", "keys", "security.protocol")], id="of-clients"),
    pytest.param(
        {"kraftctl.node.principal": "User:{id}"},
        [("ERROR", "configuration", "kraftctl.node.principal")],
        id="a-near-miss-of-ours",
    ),
    pytest.param(
        {"listener.name.controler.ssl.key.password": "x"},
        [("ERROR", "configuration", "listener.name.controler.ssl.key.password")],
        id="a-listener-that-does-not-exist",
    ),
    pytest.param(
        {"broker.session.timeout.ms": "3000"},
        [("WARN", "configuration", "broker.session.timeout.ms")],
        id="a-warning-of-a-start",
    ),
    pytest.param({"super.users": "User:a"}, [("WARN", "principals", "super.users")], id="no-authorizer"),
    pytest.param(
        {"authorizer.class.name": STANDARD, "super.users": "User:a"},
        [("WARN", "principals", "super.users")],
        id="the-own-principal-is-no-super-user",
    ),
    pytest.param(
        {"authorizer.class.name": STANDARD, "super.users": "User:ANONYMOUS"},
        [("WARN", "principals", "super.users")],
        id="anyone-is-a-super-user",
    ),
    pytest.param(
        {"authorizer.class.name": STANDARD, "super.users": "User:ANONYMOUS;User:a,User:b"},
        [("ERROR", "principals", "super.users"), ("WARN", "principals", "super.users")],
        id="commas-between-super-users",
    ),
    pytest.param(
        {"authorizer.class.name": STANDARD, "super.users": "User:ANONYMOUS;user:a"},
        [("WARN", "principals", "super.users"), ("WARN", "principals", "super.users")],
        id="a-type-that-no-client-has",
    ),
    pytest.param(
        {"authorizer.class.name": STANDARD, "super.users": "User:ANONYMOUS",
         "kraftctl.node.principals": "User:node-{id}", "kraftctl.envelope.allowed.principals": ""},
        [("ERROR", "principals", "kraftctl.node.principals")],
        id="the-own-principal-is-no-node",
    ),
    pytest.param(
        {"log.dirs": "/nonexistent/data"},
        [("ERROR", "identity", "metadata.log.dir")],
        id="no-directory",
    ),
    pytest.param(
        {"node.id": "2", "controller.quorum.voters": "2@127.0.0.1:1"},
        [("ERROR", "identity", "metadata.log.dir")],
        id="the-directory-of-another-node",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "expected"), CASES)
def test_what_is_found(
    doctor: Doctor, changes: dict[str, str | None], expected: list[tuple[str, str, str]]
) -> None:
    doctor.properties.update(changes)
    doctor.write()
    assert doctor.bad() == expected


def test_each_finding_has_a_next_step(doctor: Doctor) -> None:
    doctor.properties.update({"num.partitons": "1", "node.id": "x", "super.user": "User:a"})
    doctor.write()
    steps = {each["key"]: each["next_step"] for each in doctor.rows() if each["level"] != "OK"}
    assert steps["num.partitons"] == "rename it to num.partitions"
    assert steps["super.user"] == "rename it to super.users"
    assert all(step != "-" for step in steps.values())


def test_the_text_has_columns(doctor: Doctor) -> None:
    doctor.properties["num.partitons"] = "1"
    doctor.write()
    assert doctor.run() == 0
    head, *lines = doctor.printed.splitlines()
    assert head.split() == ["LEVEL", "CHECK", "KEY", "FOUND", "NEXT-STEP"]
    assert next(line.split()[1] for line in lines if line.startswith("WARN")) == "keys"


def test_a_file_that_is_not_there_cannot_be_judged(doctor: Doctor) -> None:
    assert doctor.run() == 1
    assert "there is no file" in doctor.printed or "cannot read" in doctor.printed


def test_a_file_that_does_not_parse_is_an_error(doctor: Doctor) -> None:
    doctor.write("node.id=\\u12\n")
    assert [each[:2] for each in doctor.bad()] == [("ERROR", "configuration")]


def test_wrong_arguments_have_another_status(doctor: Doctor) -> None:
    doctor.flags.append("--no-such-flag")
    with pytest.raises(SystemExit) as ended:
        doctor.run()
    assert ended.value.code == 2


def test_a_file_that_others_read_and_a_halt(doctor: Doctor) -> None:
    doctor.properties["ssl.key.password"] = "secret-of-a-key"
    doctor.write()
    doctor.file.chmod(0o644)
    doctor.data.chmod(0o755)
    (doctor.data / "metadata-halted").write_text("version=1\n")
    assert doctor.bad() == [
        ("WARN", "secrets", "ssl.key.password"),
        ("ERROR", "identity", "metadata.log.dir"),
        ("WARN", "access", "metadata.log.dir"),
    ]


def test_files_of_another_account(doctor: Doctor) -> None:
    os.chown(doctor.data / "meta.properties", 4242, -1)
    doctor.write()
    (row,) = [each for each in doctor.rows() if each["level"] != "OK" and each["check"] != "flushes"]
    assert (row["check"], row["level"]) == ("access", "WARN")
    assert row["next_step"].startswith(f"chown {os.geteuid()} ")


def test_nothing_is_written_and_no_lock_is_taken(doctor: Doctor) -> None:
    """A running controller has the lock."""
    doctor.write()
    before = sorted((path.name, path.read_bytes()) for path in doctor.data.rglob("*") if path.is_file())
    doctor.run()
    after = sorted((path.name, path.read_bytes()) for path in doctor.data.rglob("*") if path.is_file())
    assert before == after
    lock = DirectoryLock.acquire(doctor.data)
    try:
        assert doctor.bad() == []
    finally:
        lock.release()


def flushes(doctor: Doctor) -> str:
    (row,) = [each for each in doctor.rows() if each["check"] == "flushes"]
    return row["found"]


def test_the_disk_of_a_running_controller_is_not_measured(doctor: Doctor) -> None:
    """A process of its own has the lock, as a controller has it."""
    doctor.write()
    assert flushes(doctor).startswith("fsync of 1 write:")
    program = (
        "import sys; from pathlib import Path; from kraftctl.storage.directory_lock import DirectoryLock;"
        " lock = DirectoryLock.acquire(Path(sys.argv[1])); print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(doctor.data)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"\n"
        assert flushes(doctor).startswith("not measured: a controller runs; see its metrics")
        with pytest.raises(StorageError, match="another process"):
            DirectoryLock.acquire(doctor.data)
        holder.communicate()
    assert flushes(doctor).startswith("fsync of 1 write:")


def test_the_lock_of_this_process_is_kept(doctor: Doctor) -> None:
    """To close a descriptor of the file would end it."""
    lock = DirectoryLock.acquire(doctor.data)
    try:
        assert is_in_use(doctor.data)
        program = (
            "import sys; from pathlib import Path; from kraftctl.storage.directory_lock import is_in_use;"
            " print(is_in_use(Path(sys.argv[1])))"
        )
        asked = [sys.executable, "-c", program, str(doctor.data)]
        assert subprocess.run(asked, capture_output=True, check=True).stdout == b"True\n"
    finally:
        lock.release()
    assert not is_in_use(doctor.data)


def test_nothing_is_measured_by_a_file_with_a_name(doctor: Doctor, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = os.open

    def refuse(path: str, flags: int, mode: int = 0o777) -> int:
        if flags & os.O_TMPFILE == os.O_TMPFILE:
            raise OSError(errno.EOPNOTSUPP, "no such files")
        assert not (flags & os.O_CREAT and Path(path).parent == doctor.data), path
        return opened(path, flags, mode)

    doctor.write()
    monkeypatch.setattr(os, "open", refuse)
    assert flushes(doctor) == "not measured: this file system has no files without a name"


def with_ssl(doctor: Doctor, valid: datetime.timedelta, password: str = "key-password") -> None:
    authority = Authority(valid=datetime.timedelta(days=1000))
    identity = authority.issue("CN=controller-1", valid=valid)
    keystore = doctor.directory / "keystore.pem"
    keystore.touch(0o600)
    keystore.write_text(identity.pem("key-password"))
    doctor.properties |= {
        MAP: "CONTROLLER:SSL",
        "listener.name.controller.ssl.keystore.type": "PEM",
        "listener.name.controller.ssl.keystore.location": str(doctor.directory / "keystore.pem"),
        "listener.name.controller.ssl.key.password": password,
        "listener.name.controller.ssl.truststore.type": "PEM",
        "listener.name.controller.ssl.truststore.certificates": authority.pem.strip().replace("\n", " "),
        "listener.name.controller.ssl.client.auth": "required",
        "authorizer.class.name": STANDARD,
        "super.users": "User:CN=controller-1",
    }
    doctor.write()


DATES: list[tuple[datetime.timedelta, list[str]]] = [
    (datetime.timedelta(days=90), []),
    (datetime.timedelta(days=20), ["WARN"]),
    (datetime.timedelta(hours=-1), ["ERROR"]),
]


@pytest.mark.parametrize(("valid", "levels"), DATES, ids=["long", "for-20-days", "expired"])
def test_dates_of_certificates(doctor: Doctor, valid: datetime.timedelta, levels: list[str]) -> None:
    with_ssl(doctor, valid)
    key = "listener.name.controller.ssl.*"
    assert doctor.bad() == [(level, "certificates", key) for level in levels]


def test_a_keystore_that_does_not_open(doctor: Doctor) -> None:
    with_ssl(doctor, datetime.timedelta(days=90), password="another")
    assert ("ERROR", "certificates", "listener.name.controller.ssl.*") in doctor.bad()
    assert "another" not in doctor.printed.replace("another account", "")


def test_a_principal_by_certificate_that_is_no_super_user(doctor: Doctor) -> None:
    with_ssl(doctor, datetime.timedelta(days=90))
    doctor.properties["super.users"] = "User:CN=controller-2"
    doctor.write()
    (row,) = [each for each in doctor.rows() if each["level"] != "OK" and each["check"] != "flushes"]
    assert row["next_step"] == "add User:CN=controller-1 to super.users of every controller"


STARTS: list[tuple[list[str], int]] = [([], 0), (["--strict"], 10)]


@pytest.mark.parametrize(("flags", "status"), STARTS, ids=["lenient", "strict"])
def test_start_check_starts_nothing(doctor: Doctor, flags: list[str], status: int) -> None:
    doctor.command = ["start", "--check"]
    doctor.flags += flags
    doctor.properties["num.partitons"] = "1"
    doctor.write()
    assert doctor.run() == status
    assert "num.partitons" in doctor.printed
    assert not (doctor.data / "__cluster_metadata-0").exists()


def test_flags_of_the_check_start_nothing_without_it(doctor: Doctor) -> None:
    doctor.command = ["start"]
    doctor.write()
    assert doctor.run() == 2
    assert "--check" in doctor.printed


def test_an_override_replaces_what_the_file_has(doctor: Doctor) -> None:
    doctor.write()
    doctor.flags.append("--override=num.partitions=0")
    assert ("ERROR", "configuration", "num.partitions") in doctor.bad()


SECRET_KEYS = (
    "ssl.keystore.password",
    "ssl.key.password",
    "ssl.truststore.password",
    "ssl.keystore.key",
    "delegation.token.secret.key",
    "sasl.jaas.config",
    "listener.name.controller.ssl.key.password",
    "listener.name.controller.plain.sasl.jaas.config",
    "listener.name.controler.ssl.key.password",
    "my.plugin.secret",
    "my.plugin.api.token",
    "ssl.keystore.pasword",
    "kraftctl.secret.password",
)


def plant(doctor: Doctor) -> list[str]:
    secrets: list[str] = []
    for number, key in enumerate(SECRET_KEYS):
        secret = f"planted{number}x{'q' * 8}"
        secrets.append(secret)
        is_jaas = key.endswith("jaas.config")
        value = f'{PLAIN} required username="u" password="{secret}";' if is_jaas else secret
        doctor.properties[key] = value
    return secrets


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("protocol", ["PLAINTEXT", "SSL", "SASL_PLAINTEXT"])
def test_no_secret_is_printed(doctor: Doctor, protocol: str, output: str) -> None:
    """Whatever is wrong with these values: none of them is what its key needs."""
    secrets = plant(doctor)
    doctor.properties |= {MAP: f"CONTROLLER:{protocol}", "sasl.enabled.mechanisms": "PLAIN"}
    doctor.write()
    doctor.file.chmod(0o644)
    doctor.flags.append(f"--output={output}")
    assert doctor.run() == 10
    assert [each for each in secrets if each in doctor.printed] == []


def test_no_secret_of_a_provider_is_printed(doctor: Doctor) -> None:
    (doctor.directory / "secrets.properties").write_text("roles=planted-by-a-provider\n")
    doctor.properties |= {
        "config.providers": "file",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "process.roles": f"${{file:{doctor.directory}/secrets.properties:roles}}",
    }
    doctor.write()
    assert doctor.run() == 10
    assert "process.roles" in doctor.printed
    assert "planted" not in doctor.printed


FLUSHES: list[tuple[list[float], str]] = [
    ([1.0] * 50, "OK"),
    ([1.0] * 49 + [49.0], "OK"),
    ([1.0] * 49 + [51.0], "WARN"),
    ([1.0] * 49 + [999.0], "WARN"),
    ([1.0] * 49 + [1000.0], "ERROR"),
    ([6000.0], "ERROR"),
]


@pytest.mark.parametrize(("taken_ms", "level"), FLUSHES)
def test_how_long_a_flush_may_take(taken_ms: list[float], level: str) -> None:
    assert judged_flushes(taken_ms, fetch_timeout_ms=2000).level == level


ROOM: list[tuple[int, str]] = [(2**30, "OK"), (2**30 - 1, "WARN"), (2**20, "WARN"), (2**20 - 1, "ERROR")]


@pytest.mark.parametrize(("free_bytes", "level"), ROOM)
def test_how_much_room_there_has_to_be(free_bytes: int, level: str) -> None:
    assert judged_room("data", free_bytes).level == level


LIMITS: list[tuple[int, str]] = [(-1, "OK"), (1024, "OK"), (600, "WARN"), (112, "ERROR"), (64, "ERROR")]


@pytest.mark.parametrize(("hard", "level"), LIMITS)
def test_how_many_files_may_be_open(hard: int, level: str) -> None:
    assert judged_limit(hard).level == level


def test_a_line_that_does_not_parse_is_not_printed(doctor: Doctor) -> None:
    doctor.write("ssl.key.password=planted\\u12\n")
    assert doctor.run() == 10
    assert "planted" not in doctor.printed


KEYS: list[tuple[str, bool]] = [
    ("ssl.client.auth", True),
    ("listener.name.controller.sasl.enabled.mechanisms", True),
    ("super.users", True),
    ("listener.security.protocol.map", True),
    ("num.partitions", False),
    ("listeners", False),
]


@pytest.mark.parametrize(("key", "expected"), KEYS)
def test_which_keys_concern_security(key: str, expected: bool) -> None:
    assert concerns_security(key) is expected
