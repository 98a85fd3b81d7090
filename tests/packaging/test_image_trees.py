"""The images of deploy/image, built and run without an engine: format, start, brokers, restart, signals.

With KRAFTCTL_ARTEFACTS_PAGE, a page with a table of artefacts, a row of each image is written there.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from confluent_kafka import Consumer, Producer
from confluent_kafka.admin import AdminClient, NewTopic

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS, resolve_kafka
from kraftctl.dev.nodes import BROKER_READY
from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl.dev.settings import BROKER_SETTINGS, SMALL_BROKER_SETTINGS, write_properties
from tests.supply_chain.artefact_table import Artefact, write_rows
from tests.supply_chain.dist_check import only
from tests.supply_chain.release import RUN_LOCK, release
from tests.support.image_tree import BuiltImage, ImageTrees, execute, first_process, stages, stop

ROOT = Path(__file__).resolve().parents[2]
IMAGES = ROOT / "deploy/image"
CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
ACTIVE = "Becoming the active controller"
DATA = "/var/lib/kafka/data"
UID = 1000

pytestmark = [pytest.mark.long, pytest.mark.slow, pytest.mark.timeout(1200)]

KAFKA_BASE = """\
mkdir -p etc/kafka/docker etc/kafka/secrets ./mnt/shared/config
mkdir -p opt/kafka/bin opt/kafka/config var/lib/kafka/data
cat > etc/kafka/docker/run << 'END'
#!/bin/bash
set -o nounset -o errexit
. /etc/kafka/docker/launch
END
cat > etc/kafka/docker/launch << 'END'
{java} kafka.docker.KafkaDockerWrapper setup --default-configs-dir /etc/kafka/docker \
--mounted-configs-dir /mnt/shared/config --final-configs-dir /opt/kafka/config
exec /opt/kafka/bin/kafka-server-start.sh /opt/kafka/config/server.properties
END
printf '#!/bin/sh\\nexec {java} kafka.Kafka "$@"\\n' > opt/kafka/bin/kafka-server-start.sh
printf '#!/bin/sh\\nexec {java} kafka.tools.StorageTool "$@"\\n' > opt/kafka/bin/kafka-storage.sh
printf '#!/bin/sh\\necho a process of Java\\n' > opt/kafka/kafka_liveness.sh
chmod 755 etc/kafka/docker/* opt/kafka/bin/* opt/kafka/*.sh
"""
"""What Kafka's images have where, as far as ours change it: with Maven's jars, in words of this test."""


@pytest.fixture(scope="module")
def trees(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageTrees]:
    with ImageTrees(tmp_path_factory.mktemp("image") / "trees") as entered:
        yield entered


@pytest.fixture(scope="module")
def context(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of what is committed, for all Pythons, and the start scripts."""
    directory = tmp_path_factory.mktemp("context")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KRAFTCTL_PURE", "1")
        release("HEAD", directory / "dist")
    shutil.copytree(IMAGES / "start", directory / "deploy/image/start")
    return directory


def reachable() -> str:
    """What lets another account than root reach this Python and Maven's jars below a closed home."""
    return (
        f"install -d -m 755 {' '.join(f'.{path}' for path in list(Path(sys.base_prefix).parents)[-2::-1])}\n"
    )


@pytest.fixture(scope="module")
def slim(trees: ImageTrees, context: Path) -> BuiltImage:
    dockerfile = IMAGES / "slim/Dockerfile"
    trees.add_base(stages(dockerfile, {})[""].base, reachable())
    return build(trees, "slim", dockerfile, context, {})


@pytest.fixture(scope="module")
def dropin(trees: ImageTrees, context: Path) -> BuiltImage:
    kafka = resolve_kafka()
    java = f"{kafka.java} -Xmx256m {' '.join(QUICK_JAVA_OPTIONS)} -cp {kafka.classpath}"
    java += f" -Dlog4j2.configurationFile={kafka.directory}/log4j2.properties"
    trees.add_base("kafka", reachable() + KAFKA_BASE.format(java=java))
    built = build(trees, "dropin", IMAGES / "dropin/Dockerfile", context, {"KAFKA_IMAGE": "kafka"})
    built.user = f"{UID}:{UID}"
    return built


def build(
    trees: ImageTrees, name: str, dockerfile: Path, context: Path, arguments: Mapping[str, str]
) -> BuiltImage:
    began = time.monotonic()
    built = trees.build(name, dockerfile, context, arguments)
    built.seconds = time.monotonic() - began
    return built


def write_row(built: BuiltImage, name: str, context: Path, leader_seconds: float) -> None:
    """What the image adds to its base, in time and in bytes."""
    version = only(context / "dist", f"kraftctl-*-{RUN_LOCK}").name.split("-")[1]
    size = built.size()
    row = Artefact(
        f"{name}, without its base", f"{version}, uncompiled", size, size, built.seconds, leader_seconds
    )
    print(row.line())
    if page := os.environ.get("KRAFTCTL_ARTEFACTS_PAGE"):
        write_rows(ROOT / page, [row])


def volume(directory: Path) -> Path:
    directory.mkdir(mode=0o700)
    os.chown(directory, UID, UID)
    return directory


def controller_variables(port: int, probes: int) -> dict[str, str]:
    return {
        "CLUSTER_ID": CLUSTER_ID,
        "KAFKA_PROCESS_ROLES": "controller",
        "KAFKA_NODE_ID": "3001",
        "KAFKA_CONTROLLER_LISTENER_NAMES": "CONTROLLER",
        "KAFKA_LISTENERS": f"CONTROLLER://localhost:{port}",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": f"3001@localhost:{port}",
        "KAFKA_LOG_DIRS": DATA,
        "KRAFTCTL_OPERATE_LISTENERS": f"http://127.0.0.1:{probes}",
    }


def documented_variables(port: int, probes: int) -> dict[str, str]:
    """Those of the page, at ports of this test."""
    found = dict(re.findall(r"-e (\w+)=(\S+)", (ROOT / "docs/operations/containers.md").read_text()))
    here = {name: value.replace("9093", str(port)) for name, value in found.items()}
    assert here != found
    probed = {"KRAFTCTL_OPERATE_LISTENERS": f"http://127.0.0.1:{probes}"}
    return {**here, **probed, "KAFKA_LISTENERS": f"CONTROLLER://:{port}"}


def test_slim(slim: BuiltImage, context: Path, tmp_path: Path) -> None:
    """Two starts on one volume; the root is read only, and the user is not root."""
    assert slim.user == f"{UID}:{UID}"
    data = volume(tmp_path / "data")
    variables = documented_variables(free_port(), free_port())
    identities = set()
    for number in range(2):
        log = tmp_path / f"log-{number}"
        began = time.monotonic()
        container = slim.run("slim", log, {DATA: data}, variables)
        container.await_line(ACTIVE, 60.0)
        if number == 0:
            write_row(slim, "slim image", context, time.monotonic() - began)
        status = Path(f"/proc/{first_process(container)}/status").read_text()
        assert re.search(rf"^Uid:\t{UID}\t", status, re.MULTILINE)
        assert re.search(r"^NSpid:\t\d+\t1$", status, re.MULTILINE), "the first process"
        assert execute(container, slim.user, slim.healthcheck)[0] == 0
        for place in ("/", "/etc", "/opt/kraftctl", "/var/lib/kafka"):
            touched = execute(container, "0", ["touch", f"{place}/written"])
            assert "Read-only file system" in touched[1], place
        assert stop(container) == 0, container.tail()
        identities.add((data / "meta.properties").read_text())
    assert len(identities) == 1
    assert (data / "__cluster_metadata-0/quorum-state").read_text().count('"leaderEpoch":2') == 1


def test_slim_ends_with_the_status_of_the_controller(slim: BuiltImage, tmp_path: Path) -> None:
    variables = controller_variables(free_port(), free_port()) | {"KAFKA_NODE_ID": "x"}
    container = slim.run("wrong", tmp_path / "log", {DATA: volume(tmp_path / "data")}, variables)
    assert container.wait(60.0) == 1
    assert "node.id" in container.tail()


@pytest.mark.interop
@pytest.mark.java
def test_three_brokers_of_the_drop_in_image(dropin: BuiltImage, context: Path, tmp_path: Path) -> None:
    """One start script makes kraftctl of the controller, and Java of the brokers. Data outlives a restart."""
    port = free_port()
    command = ["/etc/kafka/docker/run"]
    config = {"/opt/kafka/config": volume(tmp_path / "config"), DATA: volume(tmp_path / "data")}
    variables = controller_variables(port, free_port())
    began = time.monotonic()
    controller = dropin.run("controller", tmp_path / "controller.log", config, variables, command)
    controller.await_line(ACTIVE, 60.0)
    write_row(dropin, "drop-in image", context, time.monotonic() - began)
    ports = [free_port() for _ in range(3)]
    brokers = [start_broker(dropin, tmp_path, id_, each, port) for id_, each in enumerate(ports, 1)]
    for broker in brokers:
        broker.await_line(BROKER_READY, 180.0)
    servers = ",".join(f"localhost:{each}" for each in ports)
    produce(servers, 100)
    assert stop(controller) == 0, controller.tail()
    controller = dropin.run("again", tmp_path / "again.log", config, variables, command)
    controller.await_line(ACTIVE, 60.0)
    assert "Formatted metadata directory" not in controller.tail()
    assert consumed(servers) == 100
    for broker in brokers:
        assert stop(broker, 90.0) in (0, 143), broker.tail()
    assert stop(controller) == 0


def test_the_scripts_that_strimzi_calls(dropin: BuiltImage, tmp_path: Path) -> None:
    """They have the files of the drop-in image: format with its flags, metrics by its switch, its probe."""
    port = free_port()
    data, given = volume(tmp_path / "data"), volume(tmp_path / "given")
    lines = {
        "process.roles": "controller",
        "node.id": "3",
        "controller.listener.names": "CONTROLPLANE-9090",
        "listeners": f"CONTROLPLANE-9090://localhost:{port}",
        "listener.security.protocol.map": "CONTROLPLANE-9090:PLAINTEXT",
        "controller.quorum.voters": f"3@localhost:{port}",
        "metadata.log.dir": f"{DATA}/kafka-log3",
        "log.dirs": f"{DATA}/kafka-log3",
    }
    write_properties(given / "strimzi.properties", lines)
    for path in given.iterdir():
        os.chown(path, UID, UID)
    file = "/opt/kafka/config/strimzi.properties"
    calls = f"/opt/kafka/bin/kafka-storage.sh format -t={CLUSTER_ID} -r=4.2 -c={file} -g"
    volumes = {"/opt/kafka/config": given, DATA: data}
    switch = {"KAFKA_JMX_EXPORTER_ENABLED": "true"}
    for number in range(2):
        removed = f"rm -f {DATA}/kafka-log3/__cluster_metadata-0/quorum-state"
        script = f"set -e; {calls}; {removed}; exec /opt/kafka/bin/kafka-server-start.sh {file}"
        container = dropin.run("pod", tmp_path / f"log-{number}", volumes, switch, ["sh", "-c", script])
        container.await_line(ACTIVE, 60.0)
        assert any("http://:9404 has the probes" in line for line in container.lines())
        liveness = ["sh", "-c", (IMAGES / "start/kafka_liveness.sh").read_text(), "/none/kafka_liveness.sh"]
        assert execute(container, f"{UID}", liveness) == (0, "")
        assert stop(container) == 0
    (given / "strimzi.properties").write_text("process.roles=broker\n")
    refused = dropin.run(
        "java", tmp_path / "java", volumes, {}, ["/opt/kafka/bin/kafka-server-start.sh", file]
    )
    assert refused.wait(60.0) == 1
    assert "KafkaConfig" in refused.tail() or "org.apache.kafka" in refused.tail()


def start_broker(image: BuiltImage, tmp_path: Path, id_: int, port: int, controller: int) -> ManagedProcess:
    settings = {**BROKER_SETTINGS, **SMALL_BROKER_SETTINGS}
    variables = {f"KAFKA_{key.upper().replace('.', '_')}": value for key, value in settings.items()}
    variables |= {
        "CLUSTER_ID": CLUSTER_ID,
        "KAFKA_NODE_ID": str(id_),
        "KAFKA_LISTENERS": f"PLAINTEXT://localhost:{port}",
        "KAFKA_CONTROLLER_QUORUM_VOTERS": f"3001@localhost:{controller}",
        "KAFKA_LOG_DIRS": DATA,
    }
    volumes = {
        "/opt/kafka/config": volume(tmp_path / f"config-{id_}"),
        DATA: volume(tmp_path / f"broker-{id_}"),
    }
    return image.run(f"broker-{id_}", tmp_path / f"{id_}.log", volumes, variables, ["/etc/kafka/docker/run"])


def produce(servers: str, count: int) -> None:
    admin = AdminClient({"bootstrap.servers": servers})
    admin.create_topics([NewTopic("t", 3, 3)])["t"].result(60)
    producer = Producer({"bootstrap.servers": servers, "acks": "all"})
    for number in range(count):
        producer.produce("t", str(number).encode())
    assert producer.flush(60) == 0


def consumed(servers: str) -> int:
    consumer = Consumer({"bootstrap.servers": servers, "group.id": "g", "auto.offset.reset": "earliest"})
    consumer.subscribe(["t"])
    try:
        return len(consumer.consume(100, 60))
    finally:
        consumer.close()
