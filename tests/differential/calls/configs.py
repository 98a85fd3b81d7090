"""Calls about configurations."""

from __future__ import annotations

from tests.differential.call import Call
from tests.differential.calls.chooser import Chooser
from tests.differential.codec import Body

TOPIC, BROKER, BROKER_LOGGER, CLIENT_METRICS, GROUP = 2, 4, 8, 16, 32

TOPIC_CONFIGS = {
    "cleanup.policy": ("delete", "compact", "compact,delete", "", "none", " delete "),
    "retention.ms": ("1000", "-1", "-2", "x", "9223372036854775807"),
    "retention.bytes": ("100", "-1", "-2"),
    "min.insync.replicas": ("1", "2", "3", "0"),
    "unclean.leader.election.enable": ("true", "false", "TRUE", "no"),
    "max.message.bytes": ("1000", "0", "-1", "1e3", "2147483648"),
    "segment.bytes": ("1048576", "13", "1073741824"),
    "compression.type": ("gzip", "zstd", "producer", "GZIP", "bogus"),
    "min.cleanable.dirty.ratio": ("0.5", "1", "1.1", "NaN", ".1"),
    "preallocate": ("true", "false"),
    "message.timestamp.type": ("CreateTime", "LogAppendTime", "bogus"),
    "leader.replication.throttled.replicas": ("*", "0:1,1:2", "none", "0-1", ""),
    "follower.replication.throttled.replicas": ("*", "0:1", "x"),
    "delete.retention.ms": ("0", "100", "-1"),
    "remote.storage.enable": ("true", "false"),
    "local.retention.ms": ("-2", "1", "-1"),
    "flush.messages": ("1", "0"),
    "no.such.config": ("1",),
    "": ("1",),
}
BROKER_CONFIGS = {
    "log.retention.ms": ("1000", "-1", "x"),
    "min.insync.replicas": ("1", "2", "x"),
    "unclean.leader.election.enable": ("true", "false"),
    "log.cleaner.threads": ("2", "0"),
    "leader.replication.throttled.rate": ("1000", "x"),
    "max.connections": ("10",),
    "node.id": ("7",),
    "zzz": ("1", ""),
    "listeners": ("PLAINTEXT://:1",),
    "ssl.keystore.password": ("secret",),
    "message.max.bytes": ("1000", " 1000 "),
}
GROUP_CONFIGS = {
    "consumer.session.timeout.ms": ("45000", "1", "60000", "x", "46000"),
    "consumer.heartbeat.interval.ms": ("5000", "15000", "1"),
    "share.session.timeout.ms": ("45000", "60000"),
    "share.heartbeat.interval.ms": ("5000",),
    "share.record.lock.duration.ms": ("15000", "30000", "1"),
    "share.auto.offset.reset": ("latest", "earliest", "by_duration:PT1H", "bogus"),
    "streams.num.standby.replicas": ("0", "1", "9"),
    "no.such": ("1",),
}
METRICS_CONFIGS = {
    "interval.ms": ("1000", "99", "100", "3600001", "x"),
    "metrics": ("org.apache.", "a,b", "", "*"),
    "match": ("client_id=a", "client_id=[", "bogus=1", "", "client_software_name=x,client_id=.*"),
    "no.such": ("1",),
}
DEFINED = {
    TOPIC: TOPIC_CONFIGS,
    BROKER: BROKER_CONFIGS,
    GROUP: GROUP_CONFIGS,
    CLIENT_METRICS: METRICS_CONFIGS,
}


def topic_config(pick: Chooser) -> tuple[str, str | None]:
    return config_of(pick, TOPIC)


def config_of(pick: Chooser, resource_type: int) -> tuple[str, str | None]:
    known = DEFINED.get(resource_type, TOPIC_CONFIGS)
    name = pick.one(list(known))
    if pick.often(0.5):
        return name, known[name][0]
    return name, pick.one(known[name])


def resource(pick: Chooser) -> tuple[int, str]:
    kind = pick.one((TOPIC, TOPIC, TOPIC, BROKER, BROKER, GROUP, CLIENT_METRICS))
    if pick.often(0.02):
        kind = pick.one((0, 1, 3, BROKER_LOGGER, 64, -1, 127))
    if kind == TOPIC:
        return kind, pick.topic()
    if kind in (BROKER, BROKER_LOGGER):
        return kind, pick.one(("", "", "3000", str(pick.broker()), str(pick.broker()), "x", "-1"))
    return kind, pick.one(("g", "h", "g", "", "é"))


def altered_resource(pick: Chooser) -> tuple[int, str]:
    """Leaves the controller's own configs alone: docs/differences.md says which are not shown here."""
    kind, name = resource(pick)
    return kind, "" if name == "3000" else name


def incremental_alter_configs(pick: Chooser) -> list[Call]:
    def one() -> Body:
        kind, name = altered_resource(pick)

        def config() -> Body:
            key, value = config_of(pick, kind)
            operation = pick.one((0, 0, 0, 0, 1, 1, 2, 3))
            held = sorted(pick.picture.configs.get((kind, name), {}))
            if held and operation and pick.often(0.7):
                key = pick.one(held)
            return {"Name": key, "ConfigOperation": operation, "Value": None if operation == 1 else value}

        return {"ResourceType": kind, "ResourceName": name, "Configs": pick.some(config, 4)}

    body = {"Resources": pick.some(one, 3), "ValidateOnly": pick.often(0.1)}
    return [Call("IncrementalAlterConfigs", pick.version("IncrementalAlterConfigs"), body)]


def alter_configs(pick: Chooser) -> list[Call]:
    def one() -> Body:
        kind, name = altered_resource(pick)

        def config() -> Body:
            key, value = config_of(pick, kind)
            return {"Name": key, "Value": value}

        return {"ResourceType": kind, "ResourceName": name, "Configs": pick.some(config, 4)}

    body = {"Resources": pick.some(one, 2), "ValidateOnly": pick.often(0.1)}
    return [Call("AlterConfigs", pick.version("AlterConfigs"), body)]


def describe_configs(pick: Chooser) -> list[Call]:
    def one() -> Body:
        kind, name = resource(pick)
        keys = None
        if pick.often(0.5):
            keys = pick.some(lambda: config_of(pick, kind)[0], 5)
        return {"ResourceType": kind, "ResourceName": name, "ConfigurationKeys": keys}

    body = {
        "Resources": pick.some(one, 2),
        "IncludeSynonyms": pick.often(0.5),
        "IncludeDocumentation": pick.often(0.2),
    }
    return [Call("DescribeConfigs", pick.version("DescribeConfigs"), body)]
