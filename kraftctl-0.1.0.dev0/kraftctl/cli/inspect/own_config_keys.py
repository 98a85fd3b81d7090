"""The keys of kraftctl, and those of Kafka's that its definition of a node does not have."""

from __future__ import annotations

from typing import Final

from kraftctl.cli.inspect.config_meanings import Meanings
from kraftctl.config.audit_config import LEVELS
from kraftctl.metadata.config_definitions.config_key import BOOLEAN, INT, LIST, LONG, STRING, ConfigKey
from kraftctl.metadata.config_definitions.validators import OneOf, Range

MIB: Final = 1024 * 1024

OWN_CONFIG_KEYS: Final = (
    ConfigKey("kraftctl.operate.listeners", LIST, ""),
    ConfigKey("kraftctl.operate.token.path", STRING, ""),
    ConfigKey("kraftctl.audit.log.path", STRING, ""),
    ConfigKey("kraftctl.audit.log.max.bytes", LONG, str(100 * MIB), Range(MIB)),
    ConfigKey("kraftctl.audit.log.max.files", INT, "10", Range(1)),
    ConfigKey("kraftctl.audit.log.internal.apis", LIST, ""),
    ConfigKey("kraftctl.authorizer.log.level", STRING, "info", OneOf(list(LEVELS))),
    ConfigKey("kraftctl.authorizer.log.path", STRING, ""),
    ConfigKey("kraftctl.authorizer.log.max.bytes", LONG, str(100 * MIB), Range(MIB)),
    ConfigKey("kraftctl.authorizer.log.max.files", INT, "10", Range(1)),
    ConfigKey("kraftctl.node.principals", STRING, ""),
    ConfigKey("kraftctl.envelope.allowed.principals", STRING, None),
    ConfigKey("kraftctl.dynamic.trust", BOOLEAN, "false"),
    ConfigKey("kraftctl.scram.users.path", STRING, None),
    ConfigKey("kraftctl.delegation.tokens.max.per.owner", INT, "5000", Range(0)),
    ConfigKey("kraftctl.delegation.tokens.max", INT, "20000", Range(0)),
    ConfigKey("kraftctl.observer.fetch.interval.ms", INT, "1", Range(0)),
)

OTHER_KEYS_OF_KAFKA: Final = (
    ConfigKey("super.users", STRING, ""),
    ConfigKey("allow.everyone.if.no.acl.found", BOOLEAN, "false"),
    ConfigKey("org.apache.kafka.sasl.oauthbearer.allowed.urls", LIST, ""),
    ConfigKey("org.apache.kafka.sasl.oauthbearer.allowed.files", LIST, ""),
    ConfigKey("sasl.oauthbearer.header.urlencode", BOOLEAN, "false"),
)
"""Keys of the StandardAuthorizer, of clients, and properties of the JVM that are keys here."""

OWN_MEANINGS: Final[Meanings] = {
    "kraftctl.operate.listeners": "Where [probes and metrics](../operations/probes-and-metrics.md) are"
    " served, as"
    " http://host:port or https://host:port.",
    "kraftctl.operate.token.path": "A file with the token that requests for them need.",
    "kraftctl.audit.log.path": "The file of the [audit log](../operations/audit.md). Without it there is"
    " none.",
    "kraftctl.audit.log.max.bytes": "Before the file becomes longer, it is renamed, and a new one begins.",
    "kraftctl.audit.log.max.files": "How many of these files are kept, with the present one.",
    "kraftctl.audit.log.internal.apis": "What brokers change in the course of their work and has lines, too:"
    " AllocateProducerIds, AlterPartition, AssignReplicasToDirs.",
    "kraftctl.authorizer.log.level": "Which decisions of the authorizer are logged: denials with info,"
    " grants with"
    " debug.",
    "kraftctl.authorizer.log.path": "A file for these lines. Without it they are in the controller's log.",
    "kraftctl.authorizer.log.max.bytes": "As that of the audit log.",
    "kraftctl.authorizer.log.max.files": "As that of the audit log.",
    "kraftctl.node.principals": "Binds each node to a principal, as Type:name with `{id}` for its id:"
    " [rights](../security.md#rights).",
    "kraftctl.envelope.allowed.principals": "Super users and nodes in whose name a broker may forward"
    " requests.",
    "kraftctl.dynamic.trust": "Whether dynamic configs may replace the truststores of this node.",
    "kraftctl.scram.users.path": "A file of users that this node knows before it has read the metadata log:"
    " [users](../security.md#users-of-sasl).",
    "kraftctl.delegation.tokens.max.per.owner": "The most delegation tokens of one owner.",
    "kraftctl.delegation.tokens.max": "The most delegation tokens of all owners.",
    "kraftctl.observer.fetch.interval.ms": "A broker has news at most once in this time; 0: after each"
    " commit.",
}
