"""Controllers that are started as Strimzi starts Kafka's: by its script, with its kind of properties file.

The script does what docker-images/kafka-based/kafka/scripts/kafka_run.sh of the operator does with the
directory of a controller: it renders the file, formats with -g at each start, deletes quorum-state, and
executes the controller. The file has one listener named CONTROLPLANE-9090 with keys of its own, certificates
as PEM texts, and values that config providers find.
"""

from __future__ import annotations

import importlib.util
import os
import shlex
import subprocess
from functools import partial
from pathlib import Path

from kraftctl.dev.nodes import kraftctl_command
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import accepts_connections, free_port
from kraftctl.dev.processes import ManagedProcess, ProcessFailedError
from kraftctl.dev.settings import random_id
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.alter_client_quotas_request import (
    AlterClientQuotasRequest,
    EntityData,
    EntryData,
    OpData,
)
from kraftctl_protocol.generated.alter_client_quotas_response import AlterClientQuotasResponse
from kraftctl_protocol.generated.client_quota_record import ClientQuotaRecord
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.server.security.ssl_serving import authority, context_of, identity
from tests.support.processes.quorum import CALL_SECONDS_MAX
from tests.support.wire.controller_client import ControllerClient

LISTENER = "CONTROLPLANE-9090"

RESOLVES_PROVIDERS = importlib.util.find_spec("kraftctl_security.config_providers") is not None
"""Otherwise the variables are replaced here, before the controller reads the file."""

START_SCRIPT = """\
set -e
rm -rf {pod}/rendered/*
cp {pod}/custom-config/server.config {pod}/rendered/strimzi.properties
{kraftctl} format -t={cluster_id} -r=4.2 -c={pod}/rendered/strimzi.properties -g
KRAFT_METADATA_LOG_DIR=$(grep "metadata\\.log\\.dir=" {pod}/rendered/strimzi.properties \
| sed "s/metadata\\.log\\.dir=*//")
if [ -f "$KRAFT_METADATA_LOG_DIR/__cluster_metadata-0/quorum-state" ]; then
  echo "Removing quorum-state file"
  rm -f "$KRAFT_METADATA_LOG_DIR/__cluster_metadata-0/quorum-state"
fi
exec {kraftctl} start {pod}/rendered/strimzi.properties
"""

PROPERTIES = """\
node.id=${{strimzienv:STRIMZI_BROKER_ID}}
process.roles=controller
controller.listener.names={listener}
listeners={listener}://0.0.0.0:{port}
advertised.listeners={listener}://localhost:{port}
listener.security.protocol.map={listener}:SSL
controller.quorum.voters={voters}
log.dirs={pod}/data-0/kafka-log
metadata.log.dir={pod}/data-0/kafka-log
listener.name.{prefix}.ssl.client.auth=required
listener.name.{prefix}.ssl.keystore.type=PEM
listener.name.{prefix}.ssl.keystore.certificate.chain=${{strimzidir:{pod}/certs:tls.crt}}
listener.name.{prefix}.ssl.keystore.key=${{strimzidir:{pod}/certs:tls.key}}
listener.name.{prefix}.ssl.key.password=${{strimzifile:{pod}/certs/secrets.properties:key.password}}
listener.name.{prefix}.ssl.truststore.type=PEM
listener.name.{prefix}.ssl.truststore.certificates=${{strimzidir:{pod}/certs:ca.crt}}
ssl.endpoint.identification.algorithm=HTTPS
config.providers=strimzienv,strimzifile,strimzidir
config.providers.strimzienv.class=org.apache.kafka.common.config.provider.EnvVarConfigProvider
config.providers.strimzienv.param.allowlist.pattern=.*
config.providers.strimzifile.class=org.apache.kafka.common.config.provider.FileConfigProvider
config.providers.strimzifile.param.allowed.paths={pod}/certs
config.providers.strimzidir.class=org.apache.kafka.common.config.provider.DirectoryConfigProvider
config.providers.strimzidir.param.allowed.paths={pod}/certs
"""

KEY_PASSWORD = "key-secret"


class Pod:
    """One controller in a directory of its own."""

    def __init__(
        self, directory: Path, *, cluster_id: str, node_id: int, port: int, voters: dict[int, int]
    ) -> None:
        self.directory = directory
        self.port = port
        self.log_directory = directory / "data-0" / "kafka-log"
        self.process: ManagedProcess | None = None
        self._node_id = node_id
        self._cluster_id = cluster_id
        self._write_certificates()
        self._write_properties(voters)

    def start(self) -> None:
        script = START_SCRIPT.format(
            pod=shlex.quote(str(self.directory)),
            kraftctl=shlex.join(kraftctl_command()),
            cluster_id=self._cluster_id,
        )
        environment = {"STRIMZI_BROKER_ID": str(self._node_id)}
        name = f"pod-{self._node_id}"
        log_file = self.directory / "output.log"
        self.process = ManagedProcess(name, ["bash", "-c", script], log_file, environment)

    def await_ready(self) -> None:
        await_result(self._listens, f"pod {self._node_id} listens", 60.0, 0.05)

    def end_recovery(self) -> str:
        """What the command prints. The process does not run."""
        file = str(self.directory / "rendered" / "strimzi.properties")
        return subprocess.run(
            kraftctl_command("end-recovery", "-c", file),
            check=True,
            capture_output=True,
            text=True,
            timeout=60.0,
            env={**os.environ, "STRIMZI_BROKER_ID": str(self._node_id)},
        ).stdout

    def quotas(self) -> set[str]:
        """The users that have a quota in the log on its disk; the log is read while no process writes it."""
        paths = sorted((self.log_directory / PARTITION_DIRECTORY).glob("*.log"))
        found: set[str] = set()
        for batch in read_batches(b"".join(path.read_bytes() for path in paths), partial_tail=True):
            if batch.header.is_control:
                continue
            records = [decode_metadata_record(entry.value or b"").record for entry in batch.records]
            found |= {
                entity.entity_name or ""
                for record in records
                if isinstance(record, ClientQuotaRecord)
                for entity in record.entity
            }
        return found

    def _listens(self) -> bool:
        assert self.process is not None
        if not self.process.running:
            raise ProcessFailedError(f"pod {self._node_id} has ended\n{self.process.tail()}")
        return accepts_connections(self.port)

    def _write_certificates(self) -> None:
        own = authority().issue(f"CN=controller-{self._node_id}", ("localhost",))
        certificates = self.directory / "certs"
        certificates.mkdir(parents=True)
        (certificates / "tls.crt").write_text(own.certificates_pem)
        (certificates / "tls.key").write_text(own.key_pem(KEY_PASSWORD))
        (certificates / "ca.crt").write_text(authority().pem)
        (certificates / "secrets.properties").write_text(f"key.password={KEY_PASSWORD}\n")
        for name in ("custom-config", "rendered"):
            (self.directory / name).mkdir()

    def _write_properties(self, voters: dict[int, int]) -> None:
        text = PROPERTIES.format(
            pod=self.directory,
            listener=LISTENER,
            prefix=LISTENER.lower(),
            port=self.port,
            voters=",".join(f"{node_id}@localhost:{port}" for node_id, port in voters.items()),
        )
        if not RESOLVES_PROVIDERS:
            text = self._resolved(text)
        (self.directory / "custom-config" / "server.config").write_text(text)

    def _resolved(self, text: str) -> str:
        certificates = self.directory / "certs"
        found = {
            "${strimzienv:STRIMZI_BROKER_ID}": str(self._node_id),
            f"${{strimzifile:{certificates}/secrets.properties:key.password}}": KEY_PASSWORD,
        }
        for name in ("tls.crt", "tls.key", "ca.crt"):
            content = (certificates / name).read_text()
            found[f"${{strimzidir:{certificates}:{name}}}"] = content.replace("\n", "\\n")
        for variable, value in found.items():
            text = text.replace(variable, value)
        return "".join(line for line in text.splitlines(True) if not line.startswith("config.providers"))


class Pods:
    """Three controllers and a client that knows what was acknowledged; all are killed at the end."""

    def __init__(self, directory: Path) -> None:
        voters = {node_id: free_port() for node_id in range(3)}
        cluster_id = random_id()
        self.acknowledged: set[str] = set()
        self.pods = [
            Pod(
                directory / f"pod-{node_id}", cluster_id=cluster_id, node_id=node_id, port=port, voters=voters
            )
            for node_id, port in voters.items()
        ]
        self._context = context_of(identity("CN=client"))

    def __enter__(self) -> Pods:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()

    def start(self) -> None:
        """Returns when all of them listen."""
        for pod in self.pods:
            pod.start()
        for pod in self.pods:
            pod.await_ready()

    def stop(self) -> None:
        """SIGTERM for all, as a scale to 0 does."""
        for pod in self.pods:
            assert pod.process is not None
            pod.process.terminate()

    def kill(self) -> None:
        """As close to simultaneous as kill -9 allows."""
        for pod in self.pods:
            if pod.process is not None:
                pod.process.kill_group()
        for pod in self.pods:
            if pod.process is not None:
                pod.process.wait(30.0)

    def set_quota(self, user: str, timeout_s: float) -> None:
        """Returns when a leader has acknowledged it; TimeoutError without one in that time."""
        await_result(partial(self._set_quota, user), f"the quota of {user} is acknowledged", timeout_s, 0.1)
        self.acknowledged.add(user)

    def _set_quota(self, user: str) -> bool:
        return any(self._is_set_by(pod, user) for pod in self.pods)

    def _is_set_by(self, pod: Pod, user: str) -> bool:
        entry = EntryData(
            entity=[EntityData(entity_type="user", entity_name=user)],
            ops=[OpData(key="producer_byte_rate", value=1024.0)],
        )
        request = AlterClientQuotasRequest(entries=[entry])
        try:
            with ControllerClient(pod.port, timeout_s=CALL_SECONDS_MAX, ssl_context=self._context) as client:
                answer = client.call(request, 1, AlterClientQuotasResponse)
        except OSError:
            return False
        error = answer.entries[0].error_code
        assert error in (Errors.NONE, Errors.NOT_CONTROLLER), answer
        return error == Errors.NONE
