"""What each key of Kafka's that a controller obeys means here, but for those of SSL and SASL."""

from __future__ import annotations

from typing import Final

Meanings = dict[str, str]

IDENTITY: Final[Meanings] = {
    "process.roles": "The roles of the process. It has no other one here.",
    "node.id": "The id of this node, which no other node of the cluster has.",
    "broker.id": "An older name of `node.id`. Where both are set, they have to be equal.",
    "log.dirs": "The directories of the node. The first one has the metadata log, unless `metadata.log.dir`"
    " is set.",
    "log.dir": "Has effect where `log.dirs` is not set. Kafka's default is refused here: name a directory.",
    "metadata.log.dir": "The directory of the metadata log.",
    "config.providers": "Names of providers, which look up values that are written as variables:"
    " [security](../security.md#values-that-are-kept-elsewhere).",
}

QUORUM: Final[Meanings] = {
    "controller.quorum.voters": "All voters of a static quorum, as id@host:port. A dynamic quorum has none"
    " here.",
    "controller.quorum.bootstrap.servers": "Where a node of a dynamic quorum looks for the leader, as"
    " host:port.",
    "controller.quorum.auto.join.enable": "Whether this controller adds itself to the voters of a dynamic"
    " quorum.",
    "controller.quorum.election.timeout.ms": "How long a candidate waits for votes. Each wait is longer by"
    " a random"
    " time of up to as much.",
    "controller.quorum.fetch.timeout.ms": "After so long without a response of the leader, a voter asks for"
    " an election. A leader that a majority has not fetched from for half as long again resigns.",
    "controller.quorum.election.backoff.max.ms": "The longest pause of a candidate that lost.",
    "controller.quorum.request.timeout.ms": "The time of one request to another controller, with its"
    " connection.",
    "controller.quorum.retry.backoff.ms": "The pause after a request to another controller that failed.",
    "controller.quorum.fetch.max.bytes": "The most of the log that one fetch of this controller asks for.",
    "controller.quorum.fetch.snapshot.max.bytes": "The most of a snapshot that one request of it asks for.",
}

LISTENERS: Final[Meanings] = {
    "listeners": "The addresses that are bound, as NAME://host:port. All of them are of the controller.",
    "advertised.listeners": "The addresses that other nodes are given, if they differ from those that are"
    " bound.",
    "controller.listener.names": "Which listeners it has; controllers reach each other over the first one.",
    "listener.security.protocol.map": "The security protocol of each listener, as NAME:PROTOCOL.",
    "early.start.listeners": "With an authorizer, the listeners that are bound before ACLs are loaded;"
    " without the key, all.",
    "socket.send.buffer.bytes": "SO_SNDBUF of connections; -1 leaves it to the operating system.",
    "socket.receive.buffer.bytes": "SO_RCVBUF of connections; -1 leaves it to the operating system.",
    "socket.request.max.bytes": "The largest request. A connection that begins a larger one is closed.",
    "socket.listen.backlog.size": "How many connections the operating system holds until they are accepted.",
    "max.connections": "The most connections, of a listener where it has the prefix of one.",
    "max.connections.per.ip": "The most connections of one address.",
    "max.connections.per.ip.overrides": "Other limits for single addresses, as address:count.",
    "max.connection.creation.rate": "New connections in a second, of a listener where it has the prefix of"
    " one.",
    "connections.max.idle.ms": "A connection without requests is closed after this time.",
    "connection.failed.authentication.delay.ms": "The response to a failed authentication waits so long.",
    "queued.max.request.bytes": "Bytes of requests that are held together; -1: two of the largest size.",
    "unstable.api.versions.enable": "ApiVersions offers levels of features that Kafka has not released, as"
    " in Kafka.",
}

METADATA_LOG: Final[Meanings] = {
    "metadata.log.segment.bytes": "A new file of the log begins at this size.",
    "internal.metadata.log.segment.bytes": "Replaces `metadata.log.segment.bytes`, and may be smaller: for"
    " tests.",
    "metadata.log.segment.ms": "A new file of the log begins when the present one is this old.",
    "metadata.log.max.record.bytes.between.snapshots": "A snapshot is written after so much of the log.",
    "metadata.log.max.snapshot.interval.ms": "A snapshot is written after this time; 0: only by size.",
    "metadata.max.retention.bytes": "Old snapshots and files of the log are deleted beyond this size"
    " together.",
    "metadata.max.retention.ms": "Old snapshots and files of the log are deleted at this age.",
    "metadata.max.idle.interval.ms": "A leader without changes writes a NoOpRecord in each such time; 0:"
    " never.",
}

CLUSTER: Final[Meanings] = {
    "broker.session.timeout.ms": "A broker is fenced after so long without a heartbeat.",
    "broker.heartbeat.interval.ms": "How often brokers send heartbeats: after a stall of the controller,"
    " none is"
    " fenced before it could send some.",
    "num.partitions": "The partitions of a new topic whose request leaves the number open.",
    "default.replication.factor": "The replicas of a new topic whose request leaves the number open.",
    "min.insync.replicas": "The replicas that must be in sync for a partition to take `acks=all`, where a"
    " topic has"
    " no value of its own. With `eligible.leader.replicas.version` 1, the cluster's default is in the"
    " metadata log and cannot be removed, and a dynamic one of a node is refused (KIP-966).",
    "unclean.leader.election.enable": "Whether a replica out of sync may lead when no other one can. Data"
    " is lost.",
    "unclean.leader.election.interval.ms": "How often the controller looks for partitions that may elect so.",
    "delete.topic.enable": "Without it, requests to delete topics are refused.",
    "auto.leader.rebalance.enable": "Whether leadership goes back to the first replica of a partition by"
    " itself.",
    "leader.imbalance.check.interval.seconds": "How often the controller looks for leaders to move back.",
    "controller.quota.window.num": "Windows over which `controller_mutation_rate` is measured (KIP-599).",
    "controller.quota.window.size.seconds": "The length of one of these windows.",
    "unstable.feature.versions.enable": "Allows levels of features that Kafka has not released: for tests.",
    "controller.performance.sample.period.ms": "How often a line about requests and their times is logged.",
    "remote.log.storage.system.enable": "Without it, a topic may not set `remote.storage.enable`.",
    "group.streams.assignors": "The assignors that `streams.assignor.name` of a group may choose from.",
}

AUTHORIZATION: Final[Meanings] = {
    "authorizer.class.name": "Without it, every client may do everything: [rights](../security.md#rights).",
    "super.users": "Principals that may do everything, as Type:name, separated by semicolons.",
    "allow.everyone.if.no.acl.found": "Whether all may use a resource that no ACL names.",
    "principal.builder.class": "How principals are named. Only Kafka's default is built in, another is"
    " refused.",
    "delegation.token.secret.key": "The key that delegation tokens are signed with, the same on all nodes."
    " Without"
    " it there are none.",
    "delegation.token.max.lifetime.ms": "The longest life of a token, renewed or not.",
    "delegation.token.expiry.time.ms": "A token expires after so long, unless it is renewed.",
    "delegation.token.expiry.check.interval.ms": "How often tokens that have expired are removed.",
    "create.topic.policy.class.name": "Refused where it is set: a rule in a Java class would not be in"
    " force.",
    "alter.config.policy.class.name": "Refused where it is set: a rule in a Java class would not be in"
    " force.",
    "client.quota.callback.class": "Refused where it is set: a rule in a Java class would not be in force.",
}
