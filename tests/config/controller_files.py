"""Properties files of controllers, as operators, charts and playbooks write them. Keys and values only."""

from __future__ import annotations

from typing import Final

EVERY_PROTOCOL: Final = (
    "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL"
)
THREE_VOTERS: Final = "1@controller-1:9093,2@controller-2:9093,3@controller-3:9093"
PLAIN_ENTRY: Final = (
    "org.apache.kafka.common.security.plain.PlainLoginModule required "
    'username="controller" password="secret" user_controller="secret";'
)
SCRAM_ENTRY: Final = (
    'org.apache.kafka.common.security.scram.ScramLoginModule required username="c" password="secret";'
)

KAFKAS_OWN: Final = f"""
process.roles=controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=CONTROLLER://:9093
advertised.listeners=CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map={EVERY_PROTOCOL}
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=/var/kraft-controller-logs
num.partitions=1
num.recovery.threads.per.data.dir=2
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""

COMPOSE: Final = f"""
node.id=1
process.roles=controller
listeners=CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
controller.listener.names=CONTROLLER
controller.quorum.voters={THREE_VOTERS}
group.initial.rebalance.delay.ms=0
log.dirs=/var/kraft-combined-logs
"""

STRIMZI: Final = """
node.id=3
process.roles=controller
controller.listener.names=CONTROLPLANE-9090
controller.quorum.bootstrap.servers=c-controllers-3.c.ns.svc.cluster.local:9090,c-controllers-4.c.ns.svc.cluster.local:9090
listener.name.controlplane-9090.ssl.keystore.type=PEM
listener.name.controlplane-9090.ssl.keystore.location=/opt/kafka/cluster.keystore.pem
listener.name.controlplane-9090.ssl.truststore.type=PEM
listener.name.controlplane-9090.ssl.truststore.location=/opt/kafka/cluster.truststore.pem
listener.name.controlplane-9090.ssl.client.auth=required
listeners=CONTROLPLANE-9090://0.0.0.0:9090
advertised.listeners=CONTROLPLANE-9090://c-controllers-3.c.ns.svc:9090
listener.security.protocol.map=CONTROLPLANE-9090:SSL,REPLICATION-9091:SSL,TLS-9093:SSL
sasl.enabled.mechanisms=
ssl.endpoint.identification.algorithm=HTTPS
ssl.principal.mapping.rules=RULE:^CN=(.*?),(.*)$/CN=$1/
authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer
super.users=User:CN=c-kafka,O=io.strimzi;User:CN=c-cluster-operator,O=io.strimzi
log.dirs=/var/lib/kafka/data/kafka-log3
default.replication.factor=3
min.insync.replicas=2
offsets.topic.replication.factor=3
transaction.state.log.min.isr=2
transaction.state.log.replication.factor=3
metadata.log.dir=/var/lib/kafka/data-0/kafka-log3
"""

BITNAMI: Final = f"""
listeners=CONTROLLER://:9093
listener.security.protocol.map=CLIENT:SASL_PLAINTEXT,INTERNAL:SASL_PLAINTEXT,CONTROLLER:SASL_PLAINTEXT
node.id=1
process.roles=controller
controller.listener.names=CONTROLLER
controller.quorum.voters={THREE_VOTERS}
log.dir=/bitnami/kafka/data
logs.dir=/opt/bitnami/kafka/logs
inter.broker.listener.name=INTERNAL
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512
sasl.mechanism.controller.protocol=PLAIN
listener.name.controller.sasl.enabled.mechanisms=PLAIN
listener.name.controller.plain.sasl.jaas.config={PLAIN_ENTRY}
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.internal.plain.sasl.jaas.config={PLAIN_ENTRY}
listener.name.internal.scram-sha-256.sasl.jaas.config={SCRAM_ENTRY}
tls.type=PEM
"""

CONFLUENT: Final = f"""
node.id=9991
process.roles=controller
controller.quorum.voters=9991@kraft-1:9093,9992@kraft-2:9093
controller.listener.names=CONTROLLER
inter.broker.listener.name=BROKER
listener.security.protocol.map=CONTROLLER:SASL_SSL,BROKER:SASL_SSL
listeners=CONTROLLER://:9093
advertised.listeners=CONTROLLER://kraft-1:9093
log.dirs=/var/lib/controller/data
sasl.enabled.mechanisms=PLAIN
sasl.mechanism.controller.protocol=PLAIN
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.controller.sasl.enabled.mechanisms=PLAIN
listener.name.controller.plain.sasl.jaas.config={PLAIN_ENTRY}
listener.name.controller.ssl.keystore.type=PEM
listener.name.controller.ssl.keystore.location=/var/ssl/private/controller.pem
listener.name.controller.ssl.truststore.type=PEM
listener.name.controller.ssl.truststore.location=/var/ssl/private/ca.pem
listener.name.broker.ssl.client.auth=requested
ssl.client.auth=requested
confluent.license.topic.replication.factor=3
confluent.metadata.server.listeners=http://0.0.0.0:8090
transaction.state.log.min.isr=2
zookeeper.connect=
"""

ANSIBLE: Final = """
node.id=100
process.roles=controller
cluster.id=h6EwvA-jRU6omVykKrSg1w
controller.quorum.voters=100@10.0.0.1:9093,101@10.0.0.2:9093,102@10.0.0.3:9093
controller.quorum.election.timeout.ms=1500
controller.quorum.fetch.timeout.ms=2500
controller.quorum.election.backoff.max.ms=1000
controller.quorum.request.timeout.ms=2000
controller.listener.names=CONTROLLER
listeners=CONTROLLER://10.0.0.1:9093
listener.security.protocol.map=CONTROLLER:PLAINTEXT,BROKER:PLAINTEXT
inter.broker.listener.name=BROKER
log.dirs=/data/kafka/a,/data/kafka/b
metadata.log.dir=/data/kafka/metadata
metadata.log.segment.bytes=67108864
metadata.max.retention.bytes=1073741824
broker.session.timeout.ms=18000
broker.heartbeat.interval.ms=3000
auto.create.topics.enable=false
delete.topic.enable=true
unclean.leader.election.enable=false
log.retention.hours=72
log.cleanup.policy=delete
compression.type=producer
"""

HELM: Final = """
process.roles=controller
node.id=0
controller.quorum.voters=0@kafka-controller-0.kafka-controller-headless:9093
controller.listener.names=SSL
listeners=SSL://:9093
ssl.keystore.type=PEM
ssl.keystore.location=/certs/tls.pem
ssl.truststore.type=PEM
ssl.truststore.location=/certs/ca.crt
ssl.client.auth=required
ssl.enabled.protocols=TLSv1.2,TLSv1.3
security.inter.broker.protocol=SSL
log.dirs=/var/lib/kafka
"""

DUAL_STACK: Final = """
process.roles=controller
node.id=7
controller.quorum.bootstrap.servers=[2001:db8::7]:9093,198.51.100.7:9093
controller.quorum.auto.join.enable=true
controller.listener.names=FOUR,SIX
listeners=FOUR://198.51.100.7:9093,SIX://[2001:db8::7]:9093
advertised.listeners=FOUR://198.51.100.7:9093,SIX://[2001:db8::7]:9093
listener.security.protocol.map=FOUR:PLAINTEXT,SIX:PLAINTEXT
early.start.listeners=FOUR
max.connections.per.ip=1000
max.connections.per.ip.overrides=198.51.100.8:2000,localhost:1
log.dirs=/srv/kafka
"""

BARE: Final = """
process.roles=controller
broker.id=1
controller.listener.names=PLAINTEXT
listeners=PLAINTEXT://localhost:9092
controller.quorum.voters=1@localhost:9092
log.dirs=data
"""

GROUPS: Final = """
process.roles=controller
node.id=2
controller.listener.names=C
listeners=C://h:1
controller.quorum.bootstrap.servers=h:1
log.dirs=data
group.coordinator.rebalance.protocols=classic,consumer,share
group.consumer.session.timeout.ms=50000
group.consumer.max.session.timeout.ms=120000
group.consumer.heartbeat.interval.ms=6000
group.consumer.assignors=uniform,range
group.share.record.lock.duration.ms=45000
group.share.delivery.count.limit=6
group.share.max.size=300
group.streams.num.standby.replicas=1
offsets.topic.compression.codec=2
log.cleanup.policy=compact,delete
log.roll.ms=3600000
log.retention.minutes=600
log.cleaner.threads=2
replica.lag.time.max.ms=20000
"""

CONTROLLER_FILES: Final[dict[str, str]] = {
    "kafkas-own": KAFKAS_OWN,
    "compose": COMPOSE,
    "strimzi": STRIMZI,
    "bitnami": BITNAMI,
    "confluent": CONFLUENT,
    "ansible": ANSIBLE,
    "helm": HELM,
    "dual-stack": DUAL_STACK,
    "bare": BARE,
    "groups": GROUPS,
}


def lines_of(text: str) -> list[tuple[str, str]]:
    """Key and value of each line."""
    pairs = [line.partition("=") for line in text.strip().splitlines()]
    return [(key, value) for key, _, value in pairs]


def escaped(text: str) -> str:
    """`text` as a properties file has it, with escapes beyond ASCII: Java reads Latin-1."""
    return "".join(map(_escape, text.replace("\\", "\\\\").replace("\t", "\\t")))


def _escape(character: str) -> str:
    if character.isascii():
        return character
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
