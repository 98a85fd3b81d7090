"""A whole controller from a directory: recover the log, build the pure node, open the listeners, run."""

from __future__ import annotations

import asyncio
import logging
import random
import ssl
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.features.bootstrap_checks import why_bootstrap_unfit
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.metadata import features
from kraftctl.metadata.bootstrap_metadata import BootstrapMetadata, bootstrap_refusal
from kraftctl.node.controller_node import ControllerNode
from kraftctl.node.snapshot_generation import SnapshotPolicy
from kraftctl.raft.raft_config import RaftConfig
from kraftctl.raft.raft_node import RaftNode
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.raft.voter_set import Endpoints, VoterSet, static_voter_set
from kraftctl.server.driver import Driver
from kraftctl.server.listeners.listener import SocketServer
from kraftctl.server.logs.audit_log import AuditLog
from kraftctl.server.logs.log_levels import current_log_levels
from kraftctl.server.loop.turn_probe import TurnProbe
from kraftctl.server.operation import Operation
from kraftctl.server.process.clock import Clock
from kraftctl.server.process.name_lookup import own_name
from kraftctl.server.running_settings import RunningSettings
from kraftctl.server.security.credential_lookup import CredentialLookup
from kraftctl.server.security.local_users import read_local_users
from kraftctl.server.security.peer_authorization_check import PeerAuthorizationCheck
from kraftctl.server.security.unknown_users import unknown_users_secret
from kraftctl.storage.bootstrap_checkpoint import check_bootstrap, read_bootstrap_checkpoint
from kraftctl.storage.control_history import read_control_history
from kraftctl.storage.errors import StorageError
from kraftctl.storage.metadata_partition import MetadataPartition
from kraftctl.storage.own_directory import why_observer
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_security.client_mechanisms import new_sasl_client_of
from kraftctl_security.sasl.scram_users import LocalUsersFirst

logger = logging.getLogger("kraftctl.server")
ssl_logger = logging.getLogger("kraftctl.server.ssl")
storage_logger = logging.getLogger("kraftctl.storage")


async def run_controller(
    config: ControllerConfig,
    meta: MetaProperties,
    stop: asyncio.Event,
    reload: asyncio.Event | None = None,
    audit_log: AuditLog | None = None,
    probe: TurnProbe | None = None,
    operation: Operation | None = None,
) -> None:
    """Serves until `stop` is set. The caller holds the lock of the metadata log directory.

    Keys and certificates are read again when they have changed, and whenever `reload` is set.

    Raises StorageError, OSError, StoreError or ListenError when it cannot start, and the failure that ended
    it early: then nothing that was not on disk has been acknowledged.
    """
    clock = Clock()
    rng = random.Random(random.SystemRandom().getrandbits(64))
    server = SocketServer(config)
    new_sasl_client = None if config.controller_sasl is None else new_sasl_client_of(config.controller_sasl)
    unknown_secret = unknown_users_secret(config, meta.cluster_id or "")
    local_users = read_local_users(config, unknown_secret)
    partition = open_partition(config, meta, clock.now_ms)
    try:
        _log_findings(partition)
        await server.bind()
        own_host = "" if all(each.host for each in config.advertised_listeners) else await own_name()
        driver = Driver(
            build_node(config, meta, partition, server.bound_ports, rng, own_host),
            partition,
            clock,
            retention_bytes=config.metadata_max_retention_bytes,
            retention_ms=config.metadata_max_retention_ms,
            client_id=f"raft-client-{config.node_id}",
            request_timeout_ms=config.controller_quorum_request_timeout_ms,
            retry_backoff_ms=config.controller_quorum_retry_backoff_ms,
            has_room=server.accounts.has_room,
            is_own=server.listens_at,
            ssl_context=peers_context(config),
            new_sasl_client=new_sasl_client,
            audit_log=audit_log,
            probe=probe,
        )
        lookup = CredentialLookup(driver.credentials, clock.wall_ms, unknown_secret)
        credentials = LocalUsersFirst(local_users, lookup)
        await server.accept(driver.requests, driver.has_rules, credentials)
        rights_check = PeerAuthorizationCheck(asyncio.get_running_loop(), config, driver.authorizer)
        driver.start(RunningSettings(server))
        reloading = asyncio.ensure_future(_ssl_reloading(server, driver, clock, reload or asyncio.Event()))
        try:
            with _watched(operation, driver, server):
                await _run_until(stop, driver)
        finally:
            rights_check.stop()
            reloading.cancel()
            await driver.stop()
    except BaseException as error:
        await _close(server, partition, error)
        raise
    await _close(server, partition, None)


@contextmanager
def _watched(operation: Operation | None, driver: Driver, server: SocketServer) -> Iterator[None]:
    if operation is None:
        yield
        return
    operation.started(driver, server)
    try:
        yield
    finally:
        operation.stopping()


def _log_findings(partition: MetadataPartition) -> None:
    for loss in partition.losses:
        storage_logger.error("%s", loss)
    for warning in partition.warnings:
        storage_logger.warning("%s", warning)
    for notice in partition.notices:
        storage_logger.info("%s", notice)


async def _close(server: SocketServer, partition: MetadataPartition, error: BaseException | None) -> None:
    """Closes, and keeps later exceptions from replacing the failure."""
    await server.stop()
    try:
        partition.close()
    except StorageError as second:
        if error is None:
            raise
        storage_logger.error("After %s: %s", type(error).__name__, second)


def peers_context(config: ControllerConfig) -> ssl.SSLContext | None:
    """Makes the context for connections to other controllers, with the keys of their common listener.

    It is None when that is PLAINTEXT. Raises StoreError.
    """
    found = config.ssl.get(config.controller_listener_names[0])
    if found is None:
        return None
    # With the library for certificates: 8 MiB that a controller without SSL has no use for.
    from kraftctl_security.tls.contexts import client_context

    return client_context(found)


def _ssl_reloading(
    server: SocketServer, driver: Driver, clock: Clock, requested: asyncio.Event
) -> Coroutine[object, object, None]:
    """Runs until it is cancelled. It is made here and not in the task, so that a failure ends the start."""
    if not server.security.ssl_stores:
        return _nothing_to_reload(requested)
    from kraftctl.server.security.ssl_reloading import SslReloading

    return SslReloading(server.security, driver, clock.wall_ms).run(requested)


async def _nothing_to_reload(requested: asyncio.Event) -> None:
    while await requested.wait():
        requested.clear()
        ssl_logger.info("No listener uses SSL: there are no keystores and truststores to read again")


async def _run_until(stop: asyncio.Event, driver: Driver) -> None:
    stopping: asyncio.Future[object] = asyncio.ensure_future(stop.wait())
    await asyncio.wait({stopping, driver.failed}, return_when=asyncio.FIRST_COMPLETED)
    stopping.cancel()
    if driver.failed.done():
        driver.failed.result()


def open_partition(
    config: ControllerConfig, meta: MetaProperties, now_ms: Callable[[], int]
) -> MetadataPartition:
    """Recovers the partition. The caller holds the lock. Raises StorageError or OSError."""
    assert meta.directory_id is not None
    return MetadataPartition.open(
        Path(config.metadata_log_dir),
        ReplicaKey(config.node_id, meta.directory_id),
        now_ms=now_ms,
        static_voters=_static_voters(config),
        segment_bytes=config.metadata_log_segment_bytes,
        segment_ms=config.metadata_log_segment_ms,
    )


def build_node(
    config: ControllerConfig,
    meta: MetaProperties,
    partition: MetadataPartition,
    bound_ports: dict[str, int],
    rng: random.Random,
    own_host: str,
) -> ControllerNode:
    """Returns the pure node after recovery; `rng` decides all that is random. Raises StorageError.

    `own_host` is advertised for listeners without a host of their own.
    """
    assert meta.cluster_id is not None
    assert meta.directory_id is not None
    endpoints = advertised_endpoints(config, bound_ports, own_host)
    history = read_control_history(partition.log, partition.snapshots)
    if history.voters:
        replica = ReplicaKey(config.node_id, meta.directory_id)
        observes = why_observer(
            Path(config.metadata_log_dir),
            replica,
            history.voters[-1][1],
            auto_join=config.controller_quorum_auto_join_enable,
        )
        if observes is not None:
            logger.warning("%s", observes)
    raft = RaftNode(
        node_id=config.node_id,
        directory_id=meta.directory_id,
        cluster_id=meta.cluster_id,
        endpoints=endpoints,
        config=raft_config(config),
        rng=rng,
        log=partition.log_state(),
        quorum_state=partition.read_quorum_state(),
        static_voters=_static_voters(config),
        voter_history=history.voters,
        kraft_version_history=history.kraft_versions,
        recovering_epoch=partition.recovering_epoch,
        stored_committed_end=partition.committed_end,
    )
    bootstrap = _bootstrap_metadata(config, partition)
    controller = QuorumController(config, meta.cluster_id, rng, bootstrap.records, endpoints)
    controller.state.log_levels = current_log_levels()
    snapshots = SnapshotPolicy(
        config.metadata_log_max_record_bytes_between_snapshots, config.metadata_log_max_snapshot_interval_ms
    )
    return ControllerNode(raft=raft, controller=controller, snapshots=snapshots)


def _bootstrap_metadata(config: ControllerConfig, partition: MetadataPartition) -> BootstrapMetadata:
    log_dir = Path(config.metadata_log_dir)
    bootstrap = read_bootstrap_checkpoint(log_dir)
    if partition.log.end_offset == 0:
        supported = features.supported_features(config.unstable_feature_versions_enable)
        check_bootstrap(log_dir, bootstrap, supported)
        unfit = why_bootstrap_unfit(bootstrap.records, config.min_insync_replicas)
        if unfit is not None:
            raise StorageError(bootstrap_refusal(bootstrap.source, unfit))
        if partition.recovering_epoch is None:
            _announce_first_records(bootstrap)
    return bootstrap


def _announce_first_records(bootstrap: BootstrapMetadata) -> None:
    logger.info(
        "The metadata log is empty; if this node is its first leader, it begins with %d records from %s",
        len(bootstrap.records),
        bootstrap.source,
    )


def _static_voters(config: ControllerConfig) -> VoterSet:
    return static_voter_set(config.controller_listener_names[0], config.controller_quorum_voters)


def advertised_endpoints(config: ControllerConfig, bound_ports: dict[str, int], own_host: str) -> Endpoints:
    """Returns the address of each listener that others connect to: never a wildcard host, never port 0.

    They are in the order of controller.listener.names: controllers reach each other by the first of them.
    """
    known = {
        endpoint.listener: (
            endpoint.host or own_host,
            endpoint.port or bound_ports[endpoint.listener],
        )
        for endpoint in config.advertised_listeners
    }
    return {name: known[name] for name in config.controller_listener_names if name in known}


def raft_config(config: ControllerConfig) -> RaftConfig:
    """Returns raft's settings, from `controller.quorum.*` and `kraftctl.observer.fetch.interval.ms`."""
    return RaftConfig(
        election_timeout_ms=config.controller_quorum_election_timeout_ms,
        fetch_timeout_ms=config.controller_quorum_fetch_timeout_ms,
        election_backoff_ms_max=config.controller_quorum_election_backoff_max_ms,
        request_timeout_ms=config.controller_quorum_request_timeout_ms,
        retry_backoff_ms=config.controller_quorum_retry_backoff_ms,
        fetch_bytes_max=config.controller_quorum_fetch_max_bytes,
        fetch_snapshot_bytes_max=config.controller_quorum_fetch_snapshot_max_bytes,
        observer_fetch_interval_ms=config.observer_fetch_interval_ms,
        bootstrap_servers=config.controller_quorum_bootstrap_servers,
        auto_join=config.controller_quorum_auto_join_enable,
    )
