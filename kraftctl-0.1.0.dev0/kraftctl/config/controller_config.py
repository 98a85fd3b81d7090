"""ControllerConfig: the keys of a controller's properties file, with Kafka 4.3's defaults.

Kafka's checks, also of keys that only brokers use, are in `kafka_config_checks`.

An attribute is named as its key, with underscores for dots; units are in the name as in Kafka's.
Keys that are not here are kept in `originals` (dynamic config resolution wants broker keys as
well) and named in `unused_keys`, for one line in the log.
"""

from __future__ import annotations

from kraftctl.config.audit_config import AuditConfig
from kraftctl.config.connection_limits import ConnectionLimits
from kraftctl.config.dynamic_keys import DYNAMIC_TRUST
from kraftctl.config.endpoints import (
    DEFAULT_LISTENERS,
    SASL_PROTOCOLS,
    SSL_PROTOCOLS,
    WILDCARD_HOST,
    Endpoint,
    parse_host_port,
    read_bootstrap_servers,
    read_listeners,
    read_security_protocol_map,
    read_voters,
)
from kraftctl.config.kafka_config_checks import check_as_kafka
from kraftctl.config.node_principals import read_allowed_principals, read_node_principals, warn_of_refused
from kraftctl.config.operate_config import OperateConfig
from kraftctl.config.own_keys import refuse_unknown_keys
from kraftctl.config.token_limits import TokenLimits
from kraftctl_security.config_values import ConfigException, ConfigValues
from kraftctl_security.sasl.login_configuration import LoginConfiguration
from kraftctl_security.sasl.sasl_config import (
    SaslListenerConfig,
    SaslMechanismConfig,
    read_controller_sasl_config,
    read_listener_sasl_config,
)
from kraftctl_security.tls.ssl_config import (
    CLIENT_AUTH,
    CLIENT_AUTH_NONE,
    SslConfig,
    listener_prefix,
    read_listener_ssl_config,
)

__all__ = ["ConfigException", "ControllerConfig", "Endpoint", "parse_host_port"]

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS
DAY_MS = 24 * HOUR_MS
MIB = 1024 * 1024

STANDARD_AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
DEFAULT_PRINCIPAL_BUILDER = "org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder"
JAVA_PLUGIN_KEYS = (
    "create.topic.policy.class.name",
    "alter.config.policy.class.name",
    "client.quota.callback.class",
)
"""Rules in a Java class: ignoring one would allow what an operator has forbidden."""


OBSERVER_FETCH_INTERVAL_MS = "kraftctl.observer.fetch.interval.ms"
"""Kafka has no such key: it responds to an observer after each change. See kraftctl.raft.raft_config."""

SCRAM_USERS_PATH = "kraftctl.scram.users.path"
"""Kafka has no such file: see kraftctl.server.security.local_users."""


class ControllerConfig:
    """The properties of one controller; raises ConfigException naming every key that is wrong."""

    node_id: int
    process_roles: list[str]
    controller_listener_names: list[str]
    listener_security_protocol_map: dict[str, str]
    listeners: list[Endpoint]
    advertised_listeners: list[Endpoint]
    early_start_listeners: list[str]
    ssl: dict[str, SslConfig]
    """The SSL keys of each listener that uses SSL, by its name."""
    sasl: dict[str, SaslListenerConfig]
    """The SASL keys of each listener that uses SASL, by its name."""
    scram_users_path: str | None
    """The file of users that are known before the metadata log is read."""
    controller_sasl: SaslMechanismConfig | None
    """The SASL keys for connections to other controllers; None where their listener does not use SASL."""

    controller_quorum_voters: dict[int, tuple[str, int]]
    controller_quorum_bootstrap_servers: list[tuple[str, int]]
    controller_quorum_election_timeout_ms: int
    controller_quorum_fetch_timeout_ms: int
    controller_quorum_election_backoff_max_ms: int
    controller_quorum_request_timeout_ms: int
    controller_quorum_retry_backoff_ms: int
    controller_quorum_auto_join_enable: bool
    controller_quorum_fetch_max_bytes: int
    controller_quorum_fetch_snapshot_max_bytes: int
    observer_fetch_interval_ms: int
    """An observer is woken at most once per interval; 0: after each commit."""

    log_dirs: list[str]
    metadata_log_dir: str
    metadata_log_segment_bytes: int
    metadata_log_segment_ms: int
    metadata_log_max_record_bytes_between_snapshots: int
    metadata_log_max_snapshot_interval_ms: int
    metadata_max_retention_bytes: int
    metadata_max_retention_ms: int
    metadata_max_idle_interval_ms: int

    broker_session_timeout_ms: int
    broker_heartbeat_interval_ms: int
    num_partitions: int
    default_replication_factor: int
    min_insync_replicas: int
    unclean_leader_election_enable: bool
    unclean_leader_election_interval_ms: int
    delete_topic_enable: bool
    auto_leader_rebalance_enable: bool
    leader_imbalance_check_interval_seconds: int
    unstable_api_versions_enable: bool
    unstable_feature_versions_enable: bool
    controller_performance_sample_period_ms: int

    socket_send_buffer_bytes: int
    socket_receive_buffer_bytes: int
    socket_request_max_bytes: int
    socket_listen_backlog_size: int
    max_connections: int
    max_connections_per_ip: int
    max_connections_per_ip_overrides: dict[str, int]
    connection_limits: ConnectionLimits
    """The limits of all listeners and of each. Dynamic configs may replace them while the controller runs."""
    connections_max_idle_ms: int
    connection_failed_authentication_delay_ms: int
    queued_max_request_bytes: int

    authorizer_class_name: str
    super_users: list[str]
    dynamic_trust: bool
    """Whether dynamic configs may change whom the listeners of this node trust."""
    node_principals: list[str]
    """Principals with `{id}` for the id of a node; empty without a rule."""
    envelope_allowed_principals: list[str] | None
    """Super users and nodes whose requests brokers may forward; None if the key is not set."""
    allow_everyone_if_no_acl_found: bool
    delegation_token_secret_key: str | None
    delegation_token_max_lifetime_ms: int
    delegation_token_expiry_time_ms: int
    delegation_token_expiry_check_interval_ms: int
    token_limits: TokenLimits
    controller_quota_window_num: int
    controller_quota_window_size_seconds: int

    audit: AuditConfig
    """The keys of the audit log and the authorizer's log."""
    operate: OperateConfig
    """The keys of the listener for probes and metrics."""

    originals: dict[str, str]
    unused_keys: list[str]
    warnings: list[str]

    def __init__(
        self, properties: dict[str, str], login_configuration: LoginConfiguration | None = None
    ) -> None:
        """Takes the JAAS file of the process, if it has one, as `login_configuration`."""
        values = ConfigValues(properties)
        kafka = check_as_kafka(properties)
        values.adopt(kafka.errors, kafka.refused)
        self._login_configuration = login_configuration
        self.originals = dict(properties)
        self.warnings = []
        self._read_identity(values)
        self._read_quorum(values)
        self._read_listeners(values)
        self._read_log(values)
        self._read_controller(values)
        self._read_sockets(values)
        self._read_security(values)
        self.audit = AuditConfig(values)
        self.operate = OperateConfig(
            values, [name for name in self.controller_listener_names if name in self.ssl]
        )
        self.operate.check_apart(values, self.listeners)
        refuse_unknown_keys(values)
        values.raise_errors()
        self.unused_keys = values.unread()

    def _read_identity(self, values: ConfigValues) -> None:
        self.process_roles = values.names("process.roles")
        node_key = "broker.id" if values.has("broker.id") and not values.has("node.id") else "node.id"
        self.node_id = values.int32(node_key, 0, at_least=0)

    def _read_quorum(self, values: ConfigValues) -> None:
        self.controller_quorum_voters = read_voters(values)
        self.controller_quorum_bootstrap_servers = read_bootstrap_servers(values)
        prefix = "controller.quorum."
        self.controller_quorum_election_timeout_ms = values.int32(prefix + "election.timeout.ms", 1_000, 0)
        self.controller_quorum_fetch_timeout_ms = values.int32(prefix + "fetch.timeout.ms", 2_000, 0)
        self.controller_quorum_election_backoff_max_ms = values.int32(
            prefix + "election.backoff.max.ms", 1_000, 0
        )
        self.controller_quorum_request_timeout_ms = values.int32(prefix + "request.timeout.ms", 2_000, 0)
        self.controller_quorum_retry_backoff_ms = values.int32(prefix + "retry.backoff.ms", 20, 0)
        self.controller_quorum_auto_join_enable = values.boolean(prefix + "auto.join.enable", False)
        self.controller_quorum_fetch_max_bytes = values.int32(prefix + "fetch.max.bytes", MIB, 1)
        self.controller_quorum_fetch_snapshot_max_bytes = values.int32(
            prefix + "fetch.snapshot.max.bytes", MIB, 1
        )
        self.observer_fetch_interval_ms = values.int32(OBSERVER_FETCH_INTERVAL_MS, 1, 0)

    def _read_listeners(self, values: ConfigValues) -> None:
        names = values.names("controller.listener.names")
        protocols = read_security_protocol_map(values, names)
        self.controller_listener_names = names
        self.listener_security_protocol_map = protocols
        self.listeners = read_listeners(values, "listeners", protocols, DEFAULT_LISTENERS)
        self.ssl = {
            endpoint.listener: read_listener_ssl_config(
                values, endpoint.listener, with_sasl=endpoint.security_protocol in SASL_PROTOCOLS
            )
            for endpoint in self.listeners
            if endpoint.security_protocol in SSL_PROTOCOLS
        }
        self._read_sasl(values)
        advertised = read_listeners(values, "advertised.listeners", protocols)
        self.advertised_listeners = self._advertised(advertised)
        self.early_start_listeners = (
            values.names("early.start.listeners") if values.has("early.start.listeners") else names
        )

    def _read_sasl(self, values: ConfigValues) -> None:
        self.sasl = {
            endpoint.listener: read_listener_sasl_config(values, endpoint.listener, self._login_configuration)
            for endpoint in self.listeners
            if endpoint.security_protocol in SASL_PROTOCOLS
        }
        for name in self.sasl:
            if name in self.ssl:
                self._note_unused_client_auth(values, name)
        self.scram_users_path = values.optional_text(SCRAM_USERS_PATH)
        self.controller_sasl = None
        if self.controller_listener_names and self.controller_listener_names[0] in self.sasl:
            self.controller_sasl = read_controller_sasl_config(
                values, self.controller_listener_names[0], self._login_configuration
            )

    def _note_unused_client_auth(self, values: ConfigValues, listener: str) -> None:
        prefixed = listener_prefix(listener) + CLIENT_AUTH
        if values.text(CLIENT_AUTH, CLIENT_AUTH_NONE) != CLIENT_AUTH_NONE and not values.has(prefixed):
            self.warnings.append(
                f"{CLIENT_AUTH} does not concern listener {listener}, which uses SASL_SSL: it asks for no"
                f" certificate. Next step: set {prefixed} if it has to."
            )

    def _advertised(self, advertised: list[Endpoint]) -> list[Endpoint]:
        """Returns one endpoint per controller listener, to which peers and brokers connect.

        A wildcard address cannot be advertised: the entry of this node among the static voters replaces it,
        or the host stays None and the server replaces it by the host's name.
        """
        result: list[Endpoint] = []
        for index, name in enumerate(self.controller_listener_names):
            for endpoint in advertised + self.listeners:
                if endpoint.listener == name:
                    result.append(self._routable(endpoint, endpoint in advertised, index == 0))
                    break
        return result

    def _routable(self, endpoint: Endpoint, explicit: bool, default: bool) -> Endpoint:
        if endpoint.host is not None and endpoint.host != WILDCARD_HOST:
            return endpoint
        own = self.controller_quorum_voters.get(self.node_id)
        if not explicit and default and own is not None:
            return Endpoint(endpoint.listener, endpoint.security_protocol, own[0], own[1])
        return Endpoint(endpoint.listener, endpoint.security_protocol, None, endpoint.port)

    def _read_log(self, values: ConfigValues) -> None:
        self.log_dirs = values.names("log.dirs") or values.names("log.dir")
        for key in ("log.dirs", "log.dir", "metadata.log.dir"):
            if values.properties.get(key, "unset").strip() == "":
                values.missing(key)  # as for Kafka: none of them stands in for another one that is empty
        self.metadata_log_dir = values.text("metadata.log.dir") or (self.log_dirs[0] if self.log_dirs else "")
        if not self.metadata_log_dir:
            values.errors.append(
                "No directory for the metadata log: set metadata.log.dir, or log.dirs or log.dir, "
                "whose first entry is then used."
            )
        self.metadata_log_segment_bytes = values.int32("metadata.log.segment.bytes", 1024 * MIB, 8 * MIB)
        internal_segment_bytes = values.optional_int32("internal.metadata.log.segment.bytes")
        if internal_segment_bytes is not None:
            self.metadata_log_segment_bytes = internal_segment_bytes
        self.metadata_log_segment_ms = values.int64("metadata.log.segment.ms", 7 * DAY_MS)
        self.metadata_log_max_record_bytes_between_snapshots = values.int64(
            "metadata.log.max.record.bytes.between.snapshots", 20 * MIB, 1
        )
        self.metadata_log_max_snapshot_interval_ms = values.int64(
            "metadata.log.max.snapshot.interval.ms", HOUR_MS, 0
        )
        self.metadata_max_retention_bytes = values.int64("metadata.max.retention.bytes", 100 * MIB)
        self.metadata_max_retention_ms = values.int64("metadata.max.retention.ms", 7 * DAY_MS)
        self.metadata_max_idle_interval_ms = values.int32("metadata.max.idle.interval.ms", 500, 0)

    def _read_controller(self, values: ConfigValues) -> None:
        self.broker_session_timeout_ms = values.int32("broker.session.timeout.ms", 9_000)
        self.broker_heartbeat_interval_ms = values.int32("broker.heartbeat.interval.ms", 2_000)
        if self.broker_heartbeat_interval_ms * 2 > self.broker_session_timeout_ms:
            self.warnings.append(
                f"broker.session.timeout.ms ({self.broker_session_timeout_ms}) is less than twice "
                f"broker.heartbeat.interval.ms ({self.broker_heartbeat_interval_ms}): "
                "one late heartbeat fences a broker"
            )
        self.num_partitions = values.int32("num.partitions", 1, 1)
        self.default_replication_factor = values.int32("default.replication.factor", 1)
        self.min_insync_replicas = values.int32("min.insync.replicas", 1, 1)
        self.unclean_leader_election_enable = values.boolean("unclean.leader.election.enable", False)
        self.unclean_leader_election_interval_ms = values.int64(
            "unclean.leader.election.interval.ms", 5 * MINUTE_MS, 1
        )
        self.delete_topic_enable = values.boolean("delete.topic.enable", True)
        self.auto_leader_rebalance_enable = values.boolean("auto.leader.rebalance.enable", True)
        self.leader_imbalance_check_interval_seconds = values.int64(
            "leader.imbalance.check.interval.seconds", 300, 1
        )
        self.unstable_api_versions_enable = values.boolean("unstable.api.versions.enable", False)
        self.unstable_feature_versions_enable = values.boolean("unstable.feature.versions.enable", False)
        self.controller_performance_sample_period_ms = values.int64(
            "controller.performance.sample.period.ms", MINUTE_MS, 100
        )
        self.controller_quota_window_num = values.int32("controller.quota.window.num", 11, 1)
        self.controller_quota_window_size_seconds = values.int32("controller.quota.window.size.seconds", 1, 1)

    def _read_sockets(self, values: ConfigValues) -> None:
        self.socket_send_buffer_bytes = values.int32("socket.send.buffer.bytes", 100 * 1024)
        self.socket_receive_buffer_bytes = values.int32("socket.receive.buffer.bytes", 100 * 1024)
        self.socket_request_max_bytes = values.int32("socket.request.max.bytes", 100 * MIB, 1)
        self.socket_listen_backlog_size = values.int32("socket.listen.backlog.size", 50, 1)
        limits = ConnectionLimits(values, [each.listener for each in self.listeners])
        self.max_connections = limits.max_connections
        self.max_connections_per_ip = limits.max_connections_per_ip
        self.max_connections_per_ip_overrides = limits.max_connections_per_ip_overrides
        self.connection_limits = limits
        self.connections_max_idle_ms = values.int64("connections.max.idle.ms", 10 * MINUTE_MS)
        self.connection_failed_authentication_delay_ms = values.int32(
            "connection.failed.authentication.delay.ms", 100, 0
        )
        self.queued_max_request_bytes = values.int64("queued.max.request.bytes", -1)

    def _read_security(self, values: ConfigValues) -> None:
        self.authorizer_class_name = values.choice("authorizer.class.name", "", ["", STANDARD_AUTHORIZER])
        values.choice("principal.builder.class", DEFAULT_PRINCIPAL_BUILDER, [DEFAULT_PRINCIPAL_BUILDER])
        for key in JAVA_PLUGIN_KEYS:
            if values.text(key):
                values.refuse(
                    key, values.text(key), "a Java class cannot be loaded here, and its rules would not hold"
                )
        self.super_users = [name.strip() for name in values.text("super.users").split(";") if name.strip()]
        for name in self.super_users if self.authorizer_class_name else []:
            if ":" not in name:
                values.refuse(
                    "super.users", values.text("super.users"), f"expected Type:name entries, got '{name}'"
                )
        self.dynamic_trust = values.boolean(DYNAMIC_TRUST, False)
        self.node_principals = read_node_principals(values)
        self.envelope_allowed_principals = read_allowed_principals(values)
        if self.envelope_allowed_principals is None:
            warn_of_refused(self.node_principals, self.super_users, self.warnings)
        self.allow_everyone_if_no_acl_found = values.boolean("allow.everyone.if.no.acl.found", False)
        self.delegation_token_secret_key = values.optional_text("delegation.token.secret.key") or None
        prefix = "delegation.token."
        self.delegation_token_max_lifetime_ms = values.int64(prefix + "max.lifetime.ms", 7 * DAY_MS, 1)
        self.delegation_token_expiry_time_ms = values.int64(prefix + "expiry.time.ms", DAY_MS, 1)
        self.delegation_token_expiry_check_interval_ms = values.int64(
            prefix + "expiry.check.interval.ms", HOUR_MS, 1
        )
        self.token_limits = TokenLimits(values)
