"""No secret of a running controller is in what it prints, answers or exports.

Secrets are planted in every place that may have one: keys and passwords of the listener and of others, the
key of delegation tokens and the tokens, SCRAM credentials, configs that are secret or unknown. The metadata
log has some of them, as Kafka's; nothing that is made from it may.
"""

from __future__ import annotations

import signal
import ssl
from collections.abc import Iterator
from pathlib import Path
from types import GetSetDescriptorType

import pytest

from kraftctl.cli import main
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.dev.nodes import KraftctlController, kraftctl_command, run_to_the_end
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ProcessFailedError
from kraftctl.dev.settings import random_id, write_meta_properties, write_properties
from kraftctl_protocol import config_resource
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated import alter_configs_request as legacy
from kraftctl_protocol.generated import alter_user_scram_credentials_request as scram
from kraftctl_protocol.generated import incremental_alter_configs_request as incremental
from kraftctl_protocol.generated.create_delegation_token_request import CreateDelegationTokenRequest
from kraftctl_protocol.generated.create_delegation_token_response import CreateDelegationTokenResponse
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.describe_configs_response import DescribeConfigsResponse
from kraftctl_protocol.generated.expire_delegation_token_request import ExpireDelegationTokenRequest
from kraftctl_protocol.generated.renew_delegation_token_request import RenewDelegationTokenRequest
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.requests import encode_request
from kraftctl_security.config_providers.providers import ENV_VAR
from kraftctl_spark.log.log_location import DirectoryLocation
from kraftctl_spark.rows.tables import table_schemas
from kraftctl_spark.tables.reader import read_table
from tests.spark.typed_export import exporting
from tests.support.certificates import Authority, Identity
from tests.support.corrupt_directory import properties_file
from tests.support.planted_secrets import PlantedSecrets
from tests.support.wire.controller_client import ControllerClient

BROKER, TOPIC = config_resource.BROKER, config_resource.TOPIC

PLAIN = "org.apache.kafka.common.security.plain.PlainLoginModule"
SCRAM = "org.apache.kafka.common.security.scram.ScramLoginModule"

SECRET_CONFIGS = (
    "listener.name.external.ssl.keystore.password",
    "listener.name.external.plain.sasl.jaas.config",
    "ssl.truststore.password",
    "sasl.jaas.config",
    "my.plugin.api.token",
)
"""Of brokers: passwords, and one that Kafka does not know."""


class TalkativeController(KraftctlController):
    """Logs whatever it can log."""

    def command(self) -> list[str]:
        return kraftctl_command("start", str(self.properties_file), "--log-level", "debug")


def escaped(pem: str) -> str:
    return pem.strip().replace("\n", " ")


class Planted:
    """A controller whose secrets are known, and what has been said about it."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.secrets = PlantedSecrets()
        self.authority = Authority()
        self.answers: list[str] = []
        key_password = self.secrets.text("key-password")
        own = self.authority.issue("CN=controller")
        admin_password = self.secrets.text("admin-key-password")
        self.admin = self.authority.issue("CN=admin")
        self.keystore = self._keystore("controller-key", own, key_password)
        self.port, self.people_port = free_port(), free_port()
        self.password = self.secrets.text("password-of-a-person")
        self.wrong_password = self.secrets.text("wrong-password")
        self.properties = {
            "listeners": f"CONTROLLER://localhost:{self.port},PEOPLE://localhost:{self.people_port}",
            "controller.listener.names": "CONTROLLER,PEOPLE",
            "listener.security.protocol.map": "CONTROLLER:SSL,PEOPLE:SASL_SSL,OTHER:SASL_SSL",
            **{f"listener.name.controller.{key}": value for key, value in self.keystore.items()},
            **{f"listener.name.people.{key}": value for key, value in self.keystore.items()},
            "listener.name.controller.ssl.client.auth": "requested",
            "listener.name.people.sasl.enabled.mechanisms": "PLAIN,SCRAM-SHA-256",
            "listener.name.people.plain.sasl.jaas.config": self.jaas("own-plain", user_ann=self.password),
            "listener.name.people.scram-sha-256.sasl.jaas.config": self.jaas("own-scram", SCRAM),
            "delegation.token.secret.key": self.secrets.text("token-key"),
            # These no controller reads.
            "listener.name.other.ssl.key.password": self.secrets.text("unused-password"),
            "listener.name.other.plain.sasl.jaas.config": self.jaas("unused-jaas"),
            "my.plugin.secret": self.secrets.text("plugin"),
            "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
            "super.users": "User:CN=admin;User:ann",
            "metadata.log.max.record.bytes.between.snapshots": "1",
            "kraftctl.audit.log.path": str(directory / "audit.log"),
            "kraftctl.authorizer.log.path": str(directory / "authorizer.log"),
            "kraftctl.authorizer.log.level": "trace",
        }
        self.client_keys = {
            "security.protocol": "SSL",
            **self._keystore("admin-key", self.admin, admin_password),
        }
        self.controller = TalkativeController(
            3000, directory / "node", random_id(), port=self.port, properties=self.properties
        )

    def _keystore(self, name: str, identity: Identity, password: str) -> dict[str, str]:
        encrypted = identity.key_pem(password)
        self.secrets.add(name, encrypted.splitlines()[2].encode())
        # What is in it, in clear.
        self.secrets.add(f"{name} in clear", identity.key_pem().splitlines()[1].encode())
        return {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": escaped(encrypted),
            "ssl.keystore.certificate.chain": escaped(identity.certificates_pem),
            "ssl.key.password": password,
            "ssl.truststore.type": "PEM",
            "ssl.truststore.certificates": escaped(self.authority.pem),
        }

    def jaas(self, name: str, module: str = PLAIN, **users: str) -> str:
        options = {"username": "u", "password": self.secrets.text(name), **users}
        return f"{module} required " + " ".join(f'{key}="{value}"' for key, value in options.items()) + ";"

    def command(self, keys: dict[str, str], port: int) -> str:
        """What `kraftctl quorum` says with these keys."""
        file = self.directory / "command.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in keys.items()))
        flags = ("--bootstrap-controller", f"localhost:{port}", "--command-config", str(file))
        output = ""
        for asked in (("describe", "--status"), ("describe", "--replication")):
            try:
                output += run_to_the_end(kraftctl_command("quorum", *flags, *asked), "asking")
            except ProcessFailedError as error:
                return output + str(error)
        return output

    def connect(self) -> ControllerClient:
        context = ssl.create_default_context(cadata=self.authority.pem)
        file = self.directory / "admin.pem"
        file.write_text(self.admin.pem())
        context.load_cert_chain(file)
        return ControllerClient(self.controller.port, ssl_context=context)

    def call(self, client: ControllerClient, request: Message) -> Message:
        answer = client.call(request, request.HIGHEST_VERSION, Message)
        self.answers.append(repr(answer))
        return answer

    def found_in_answers(self) -> list[str]:
        return [line for answer in self.answers for line in self.secrets.in_(answer[:200], answer)]


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Planted]:
    found = Planted(tmp_path_factory.mktemp("planted"))
    found.controller.format()
    found.controller.start()
    found.controller.await_log("Becoming the active controller")
    try:
        with found.connect() as client:
            alter_configs(found, client)
            alter_credentials(found, client)
            use_tokens(found, client)
            describe(found, client)
        send_damaged(found)
        directory = found.controller.metadata_directory
        await_result(lambda: has_secrets(found, directory), "there is a snapshot of what was written", 30.0)
        yield found
    finally:
        found.controller.stop()


def has_secrets(planted: Planted, directory: Path) -> bool:
    """Whether one of the snapshots has any: the first may be older."""
    snapshots = sorted(directory.glob("*.checkpoint"))
    return any(planted.secrets.in_("a snapshot", path.read_bytes()) for path in snapshots)


def alter_configs(planted: Planted, client: ControllerClient) -> None:
    for name in ("", "3000"):
        changed = {key: planted.secrets.text(f"{key} of {name!r}") for key in SECRET_CONFIGS}
        planted.call(client, alteration(BROKER, name, changed))
        found = planted.call(client, alteration(BROKER, name, {SECRET_CONFIGS[0]: "planted"}, operation=2))
        assert str(int(Errors.INVALID_CONFIG)) in repr(found)
    replaced = [legacy.AlterableConfig(name=key, value=planted.secrets.text(key)) for key in SECRET_CONFIGS]
    resource = legacy.AlterConfigsResource(resource_type=BROKER, resource_name="3000", configs=replaced)
    planted.call(client, legacy.AlterConfigsRequest(resources=[resource]))
    for kind in (TOPIC, config_resource.GROUP, config_resource.CLIENT_METRICS):
        unknown = {"unknown.config": planted.secrets.text(f"config of {kind}")}
        planted.call(client, alteration(kind, "x", unknown))


def alteration(
    kind: int, name: str, changed: dict[str, str], operation: int = 0
) -> incremental.IncrementalAlterConfigsRequest:
    configs = [
        incremental.AlterableConfig(name=key, value=value, config_operation=operation)
        for key, value in changed.items()
    ]
    resource = incremental.AlterConfigsResource(resource_type=kind, resource_name=name, configs=configs)
    return incremental.IncrementalAlterConfigsRequest(resources=[resource])


def alter_credentials(planted: Planted, client: ControllerClient) -> None:
    for name, iterations in (("good", 4_096), ("refused", 1)):
        credential = scram.ScramCredentialUpsertion(
            name=name,
            mechanism=1,
            iterations=iterations,
            salt=planted.secrets.data(f"salt of {name}"),
            salted_password=planted.secrets.data(f"password of {name}"),
        )
        planted.call(client, scram.AlterUserScramCredentialsRequest(upsertions=[credential]))


def use_tokens(planted: Planted, client: ControllerClient) -> None:
    created = client.call(CreateDelegationTokenRequest(), 3, CreateDelegationTokenResponse)
    assert created.error_code == 0
    planted.secrets.add("token", created.hmac)
    wrong = planted.secrets.data("wrong-token", 64)
    for secret in (created.hmac, wrong):
        planted.call(client, RenewDelegationTokenRequest(hmac=secret, renew_period_ms=-1))
        planted.call(client, ExpireDelegationTokenRequest(hmac=secret, expiry_time_period_ms=60_000))


def describe(planted: Planted, client: ControllerClient) -> None:
    for name in ("", "3000"):
        wanted = DescribeConfigsResource(resource_type=BROKER, resource_name=name, configuration_keys=None)
        request = DescribeConfigsRequest(
            resources=[wanted], include_synonyms=True, include_documentation=True
        )
        answer = planted.call(client, request)
        assert isinstance(answer, DescribeConfigsResponse)
        hidden = {config.name for config in answer.results[0].configs if config.is_sensitive}
        # The default of the cluster has no keys of single nodes, as in Kafka.
        assert hidden >= (
            {"ssl.truststore.password", "sasl.jaas.config"} if name else {"my.plugin.api.token"}
        )


def send_damaged(planted: Planted) -> None:
    """Requests with secrets that cannot be read: the connection ends."""
    secret = planted.secrets.text("damaged")
    header = RequestHeader(request_api_key=44, request_api_version=1, correlation_id=1, client_id="damaged")
    intact = encode_request(header, alteration(BROKER, "3000", {"ssl.key.password": secret}))
    for data in (intact[:-3], intact[:3] + b"\x63" + intact[4:]):
        with planted.connect() as client:
            assert client.is_closed_after(data)


def test_answers(planted: Planted) -> None:
    assert len(planted.answers) > 10
    assert planted.found_in_answers() == []


def test_what_is_made_of_the_metadata_log(planted: Planted, tmp_path: Path) -> None:
    directory = planted.controller.metadata_directory
    segments = sorted(directory.glob("*.log"))
    checkpoints = sorted(directory.glob("*.checkpoint"))
    assert planted.secrets.in_("the log", segments[0].read_bytes()) != []
    for kind, files in (("log", segments), ("snapshot", checkpoints)):
        for flags in ((), ("--batches-only",)):
            command = kraftctl_command("dump", kind, *map(str, files), *flags)
            assert planted.secrets.in_(f"dump {kind} {flags}", run_to_the_end(command, "dumping")) == []
        shown = run_to_the_end(kraftctl_command("dump", kind, *map(str, files), "--show-secrets"), "dumping")
        assert planted.secrets.in_("dump", shown) != []
    dumped = run_to_the_end(
        kraftctl_command("dump", "directory", str(planted.controller.log_directory)), "dumping"
    )
    assert planted.secrets.in_("dump directory", dumped) == []
    for path in (*segments, *checkpoints, planted.controller.log_directory):
        command = kraftctl_command("shell", "-s", str(path))
        assert planted.secrets.in_("shell", run_to_the_end([*command, "tree", "/"], "looking around")) == []
    shown = run_to_the_end([*command, "--show-secrets", "tree", "/"], "looking around")
    assert planted.secrets.in_("shell", shown) != []


def test_tables_of_the_exporter(planted: Planted, tmp_path: Path) -> None:
    location = DirectoryLocation(planted.controller.log_directory)
    reader = location.open(None)
    try:
        place = reader.position(0, 0)
        cluster_id = reader.cluster_id()
    finally:
        reader.close()
    for include_secrets in (False, True):
        output = tmp_path / str(include_secrets)
        with exporting(output, location, include_secrets=include_secrets, cluster_id=cluster_id) as exporter:
            exporter.export_to(place.high_watermark, place.leader_epoch)
        rows = [read_table(output, table).to_pylist() for table in table_schemas()]
        found = planted.secrets.in_("tables", repr(rows))
        found += [
            line
            for path in output.rglob("*")
            if path.is_file()
            for line in planted.secrets.in_(path.name, path.read_bytes())
        ]
        assert bool(found) == include_secrets, found


@pytest.mark.parametrize(
    "changed",
    [
        pytest.param({}, id="nothing"),
        pytest.param({"ssl.key.password": "planted-wrong"}, id="password"),
        pytest.param({"ssl.keystore.key": "planted-wrong"}, id="key"),
        pytest.param({"ssl.keystore.type": "planted-wrong"}, id="type"),
        pytest.param({"ssl.truststore.certificates": "planted-wrong"}, id="truststore"),
    ],
)
def test_a_command(planted: Planted, changed: dict[str, str]) -> None:
    output = planted.command({**planted.client_keys, **changed}, planted.port)
    assert ("LeaderId" in output) == (not changed), output
    assert planted.secrets.in_("the output", output) == []
    assert "Traceback" not in output


@pytest.mark.parametrize(
    ("mechanism", "module"),
    [
        pytest.param("PLAIN", PLAIN, id="plain"),
        pytest.param("SCRAM-SHA-256", SCRAM, id="scram"),
        pytest.param("PLAIN", "Plain", id="bad-module"),
    ],
)
@pytest.mark.parametrize("is_right", [True, False], ids=["right", "wrong"])
def test_a_command_with_a_password(planted: Planted, mechanism: str, module: str, is_right: bool) -> None:
    """What the controller logs about it is looked at with its other lines."""
    password = planted.password if is_right else planted.wrong_password
    keys = {
        "security.protocol": "SASL_SSL",
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": planted.client_keys["ssl.truststore.certificates"],
        "sasl.mechanism": mechanism,
        "sasl.jaas.config": f'{module} required username="ann" password="{password}";',
    }
    output = planted.command(keys, planted.people_port)
    assert ("LeaderId" in output) == (is_right and module == PLAIN), output
    assert planted.secrets.in_("the output", output) == []
    assert "Traceback" not in output


KEYSTORE = "listener.name.controller.ssl.keystore."

BAD_STARTS = {
    "key-password": {"listener.name.controller.ssl.key.password": "{secret}"},
    "private-key": {f"{KEYSTORE}key": "{secret}"},
    "framed-key": {f"{KEYSTORE}key": "-----BEGIN PRIVATE KEY----- {secret} -----END PRIVATE KEY-----"},
    "type": {f"{KEYSTORE}type": "JKS", f"{KEYSTORE}password": "{secret}"},
    "password-of-pem": {f"{KEYSTORE}password": "{secret}"},
    "location-and-key": {f"{KEYSTORE}location": "nowhere.pem"},
    "truststore-password": {"listener.name.controller.ssl.truststore.password": "{secret}"},
    "protocol": {"listener.security.protocol.map": "CONTROLLER:planted"},
    "jaas": {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": 'Plain required password="{secret}',
    },
    "jaas-module": {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
        "listener.name.controller.sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": 'com.sun.Unknown required password="{secret}";',
    },
    "oauth": {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL",
        "listener.name.controller.sasl.enabled.mechanisms": "OAUTHBEARER",
        "sasl.mechanism.controller.protocol": "OAUTHBEARER",
        "listener.name.controller.oauthbearer.sasl.jaas.config": (
            "org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required"
            ' clientId="c" clientSecret="{secret}";'
        ),
        "listener.name.controller.oauthbearer.sasl.oauthbearer.token.endpoint.url": "http://issuer",
    },
    "super-users": {"super.users": "admin"},
}


@pytest.mark.parametrize("name", BAD_STARTS)
@pytest.mark.parametrize("provided", [False, True], ids=["in-the-file", "provided"])
def test_a_start_that_is_refused(
    planted: Planted,
    tmp_path: Path,
    name: str,
    provided: bool,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It names the key."""
    secrets = PlantedSecrets()
    secret = secrets.text(name)
    monkeypatch.setenv("PLANTED", secret)
    written = "${env:PLANTED}" if provided else secret
    changed = {key: value.replace("{secret}", written) for key, value in BAD_STARTS[name].items()}
    file = tmp_path / "controller.properties"
    data = tmp_path / "data"
    write_meta_properties(data, cluster_id=planted.controller.cluster_id, node_id=3000)
    properties = {**planted.controller.properties, "log.dirs": str(data), **changed}
    properties |= {"config.providers": "env", "config.providers.env.class": ENV_VAR}
    write_properties(file, properties)
    assert main(["start", str(file)]) == 1
    printed = capsys.readouterr()
    output = printed.out + printed.err
    assert any(key.removeprefix("listener.name.controller.") in output for key in changed), output
    assert secrets.in_("the output", output) + planted.secrets.in_("the output", output) == []
    assert "Traceback" not in output


@pytest.mark.parametrize(
    "argument",
    [
        "SCRAM-SHA-256=[name=alice,password={secret}]",
        'SCRAM-SHA-256=[name=alice,password="{secret}"]',
        "SCRAM-SHA-256=[name=alice,pasword={secret}]",
        "SCRAM-SHA-256=[name=alice,password=a,{secret}]",
        "SCRAM-SHA-256=[name=alice,password=a,{secret}=]",
        "SCRAM-SHA-256=name=alice,password={secret}",
        "SCRAM-SHA-1=[name=alice,password={secret}]",
        "name=alice,password={secret}",
        "{secret}",
        "{secret}=",
        "SCRAM-SHA-256=[name=alice,saltedpassword={secret}]",
        "SCRAM-SHA-256=[name=alice,salt={secret},password=a]",
        "SCRAM-SHA-256=[name=alice,password={secret},iterations=1]",
        "SCRAM-SHA-256=[password={secret}]",
    ],
)
def test_credentials_of_a_format(tmp_path: Path, argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    secrets = PlantedSecrets()
    given = argument.replace("{secret}", secrets.text("scram"))
    file = properties_file(tmp_path, tmp_path / "data")
    main(["format", "-t", random_id(), "-c", str(file), "--standalone", "--add-scram", given])
    printed = capsys.readouterr()
    output = printed.out + printed.err
    assert output
    assert secrets.in_("the output", output) == []


def test_configurations_as_text(planted: Planted) -> None:
    """What a debugger or a message would show of them."""
    config = ControllerConfig({**planted.controller.properties, "log.dirs": "unused"})
    seen = [type(value).__name__ for value in parts_of(config)]
    assert {"ControllerConfig", "SslConfig"} <= set(seen)
    for value in parts_of(config):
        assert planted.secrets.in_(type(value).__name__, repr(value) + str(value)) == []


def parts_of(value: object) -> Iterator[object]:
    """The objects of our own classes in it, and itself."""
    if isinstance(value, dict):
        for item in value.values():
            yield from parts_of(item)
    elif type(value).__module__.startswith("kraftctl"):
        yield value
        for name in fields_of(value):
            yield from parts_of(getattr(value, name))


def fields_of(value: object) -> list[str]:
    """Compiled classes keep their fields as descriptors."""
    if hasattr(value, "__dict__"):
        return list(vars(value))
    return [name for name, item in vars(type(value)).items() if isinstance(item, GetSetDescriptorType)]


def test_logs(planted: Planted) -> None:
    """After all of the above, at their most talkative levels, with the stacks of all threads."""
    process = planted.controller.process
    assert process is not None
    process.signal(signal.SIGQUIT)
    planted.controller.await_log("End of the stacks")
    own = [planted.directory / f"{name}.log" for name in ("audit", "authorizer")]
    for log in (planted.controller.log_file, *own):
        content = log.read_bytes()
        assert content
        assert planted.secrets.in_(log.name, content) == []
