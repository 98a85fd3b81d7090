"""Properties files of controllers as charts and playbooks make them, also those that Kafka refuses."""

from __future__ import annotations

from typing import Final

from tests.config.controller_files import THREE_VOTERS

CHART_FILES: Final[dict[str, str]] = {
    "compose without the name of a listener": f"""
node.id=1
process.roles=controller
listeners=CONTROLLER://:9093
controller.quorum.voters={THREE_VOTERS}
log.dirs=/var/lib/kafka/data
""",
    "compose with what brokers have": f"""
node.id=2
process.roles=controller
listeners=CONTROLLER://controller-2:9093
advertised.listeners=PLAINTEXT://broker-2:19092
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,PLAINTEXT_HOST:PLAINTEXT
controller.quorum.voters={THREE_VOTERS}
inter.broker.listener.name=PLAINTEXT
auto.create.topics.enable=true
log.dirs=/var/lib/kafka/data
""",
    "the listener of brokers is not in the map": """
node.id=0
process.roles=controller
controller.listener.names=CONTROLLER
listeners=CONTROLLER://:9093
listener.security.protocol.map=CONTROLLER:PLAINTEXT
inter.broker.listener.name=EXTERNAL
controller.quorum.voters=0@kafka-0:9093
log.dirs=/data
""",
    "a template left a value empty": f"""
node.id=3
process.roles=controller
listeners=CONTROLLER://:9093
advertised.listeners=
controller.listener.names=CONTROLLER
controller.quorum.voters={THREE_VOTERS}
log.dirs=/data
""",
    "a template left many values empty": f"""
node.id=3
process.roles=controller
listeners=CONTROLLER://:9093
controller.listener.names=CONTROLLER
controller.quorum.voters={THREE_VOTERS}
controller.quorum.bootstrap.servers=
log.dirs=/data
broker.rack=
ssl.keystore.location=
ssl.keystore.password=
ssl.truststore.location=
sasl.jaas.config=
sasl.enabled.mechanisms=
super.users=
metric.reporters=
""",
    "leftovers of ZooKeeper": """
broker.id=5
node.id=5
process.roles=controller
zookeeper.connect=zk-0:2181,zk-1:2181/kafka
zookeeper.connection.timeout.ms=18000
zookeeper.metadata.migration.enable=true
inter.broker.protocol.version=3.9
log.message.format.version=3.9
control.plane.listener.name=CONTROLLER
listeners=CONTROLLER://:9093
controller.listener.names=CONTROLLER
controller.quorum.voters=5@kafka-5:9093
log.dirs=/kafka/a, /kafka/b
""",
    "spaces after commas": """
node.id = 1
process.roles = controller
listeners = CONTROLLER://:9093
controller.listener.names = CONTROLLER
controller.quorum.voters = 1@a:9093, 2@b:9093, 3@c:9093
controller.quorum.bootstrap.servers = a:9093, b:9093, c:9093
listener.security.protocol.map = CONTROLLER:PLAINTEXT, BROKER:PLAINTEXT
log.dirs = /kafka/a, /kafka/b
""",
    "quotes of a shell": """
node.id=1
process.roles="controller"
listeners="CONTROLLER://:9093"
controller.listener.names="CONTROLLER"
controller.quorum.voters="1@a:9093"
log.dirs="/kafka"
""",
    "all roles in one template": """
node.id=1
process.roles=broker,controller
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.voters=1@localhost:9093
log.dirs=/kafka
""",
    "names in lower case": """
node.id=1
process.roles=controller
listeners=controller://:9093
controller.listener.names=controller
listener.security.protocol.map=controller:plaintext,broker:plaintext
controller.quorum.voters=1@a:9093
log.dirs=/kafka
""",
    "SASL of brokers without its mechanism": """
node.id=1
process.roles=controller
listeners=CONTROLLER://:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,BROKER:SASL_PLAINTEXT
inter.broker.listener.name=BROKER
sasl.enabled.mechanisms=PLAIN
controller.quorum.voters=1@a:9093
log.dirs=/kafka
""",
    "tuned threads and sizes": """
node.id=1
process.roles=controller
listeners=CONTROLLER://:9093
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=a:9093
num.network.threads=0
num.io.threads=16
socket.send.buffer.bytes=-1
socket.receive.buffer.bytes=-1
socket.request.max.bytes=209715200
queued.max.request.bytes=104857600
log.segment.bytes=1073741824
log.cleaner.threads=4
log.cleaner.dedupe.buffer.size=4194304
log.dirs=/kafka
""",
    "sizes with units": """
node.id=1
process.roles=controller
listeners=CONTROLLER://:9093
controller.listener.names=CONTROLLER
controller.quorum.bootstrap.servers=a:9093
message.max.bytes=10MB
metadata.log.segment.bytes=64m
log.retention.hours=7d
log.dirs=/kafka
""",
}
