"""`kraftctl start server.properties`: check everything that can be checked, then run until a signal.

An error in the file, the directory or the port is one line on standard error with the next step, and exit
status 1. SIGTERM or SIGINT is a clean stop: status 0. Other signals are in `signals`.
"""

from __future__ import annotations

import argparse
import asyncio
import difflib
import logging
import random
import sys
from pathlib import Path

import uvloop

import kraftctl
from kraftctl.cli import signals
from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.metadata.config_definitions.generated.broker_config_data import BROKER_CONFIG_KEYS
from kraftctl.server.bound_sockets import ListenError
from kraftctl.server.clock import Clock
from kraftctl.server.collector import Collector
from kraftctl.server.controller_server import run_controller
from kraftctl.server.descriptors import raise_limit
from kraftctl.server.driver import turn_probe
from kraftctl.server.interpreter_lock import released_between_turns
from kraftctl.server.log_files import LogFiles
from kraftctl.server.logging import LEVELS, configure_logging
from kraftctl.storage.data_directory_note import write_data_directory_note
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.errors import StorageError
from kraftctl.storage.log_directories import LogDirectories, check_directories, log_directories
from kraftctl.storage.meta_properties import load_meta_properties
from kraftctl.storage.properties_file import read_properties
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_security.sasl.jaas_file import read_jaas_file
from kraftctl_security.tls.store_error import StoreError

NAME = "start"
ALMOST_THE_SAME = 0.9
"""A ratio of difflib: one or two letters differ in a key of Kafka's usual length."""

logger = logging.getLogger("kraftctl.server")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the controller's properties file")
    parser.add_argument(
        "--override",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="a property that replaces the one in the file; may be given many times",
    )
    parser.add_argument("--log-level", choices=sorted(LEVELS), default="info", help="default: info")


def run(args: argparse.Namespace) -> int:
    try:
        config = load_config(args.file, args.override)
        configure_logging(config.node_id, args.log_level)
        with signals.survived():
            _start(config)
    except ConfigException as error:
        return _refuse(*error.errors)
    except (StorageError, ListenError, StoreError, PropertiesError) as error:
        return _refuse(str(error))
    except OSError as unplaced:
        return _refuse(unplaced_error(unplaced))
    logger.info("Stopped")
    return 0


def _start(config: ControllerConfig) -> None:
    meta, lock = open_directory(config)
    try:
        announce(config, meta)
        raise_limit()
        with released_between_turns(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run_until_signal(config, meta))
    finally:
        lock.release()


def load_config(file: Path, overrides: list[str]) -> ControllerConfig:
    """The configuration of the file with `KEY=VALUE` overrides; raises the errors of either."""
    properties = read_properties(file)
    for override in overrides:
        key, equals, value = override.partition("=")
        if not equals or not key.strip():
            raise ConfigException([f"--override {override}: expected KEY=VALUE"])
        properties[key.strip()] = value.strip()
    return ControllerConfig(properties, read_jaas_file())


def open_directory(config: ControllerConfig) -> tuple[MetaProperties, DirectoryLock]:
    """Check all directories, then lock the one of the metadata log; raises StorageError."""
    directories = log_directories(config.originals, config.metadata_log_dir, config.log_dirs)
    check_directories(directories, config.node_id)
    lock = DirectoryLock.acquire(directories.metadata_log_dir)
    try:
        # Seeds the directory id that an old file lacks: it must differ between machines.
        meta, directory_id = load_meta_properties(
            directories.metadata_log_dir, config.node_id, random.SystemRandom(), Clock().wall_ms()
        )
    except StorageError:
        lock.release()
        raise
    note_data_directories(directories, directory_id)
    return meta, lock


def note_data_directories(directories: LogDirectories, directory_id: bytes) -> None:
    """They remember the directory of the log. The log itself needs none of them."""
    for log_dir in directories.others():
        try:
            write_data_directory_note(log_dir, directories.metadata_log_dir, directory_id)
        except StorageError as error:
            logger.warning("%s", error)


async def _run_until_signal(config: ControllerConfig, meta: MetaProperties) -> None:
    stop, reload = asyncio.Event(), asyncio.Event()
    assert meta.cluster_id is not None
    log_files = LogFiles(config.audit, meta.cluster_id, config.node_id, Clock())
    probe = turn_probe()
    collector = Collector(Clock().thread_ns)
    with collector.deciding(), signals.handled(stop, reload, probe, collector), log_files as audit_log:
        await run_controller(config, meta, stop, reload, audit_log, probe)


def announce(config: ControllerConfig, meta: MetaProperties) -> None:
    """Write the first log lines: the identity of this node, and warnings about its configuration."""
    logger.info(
        "Starting kraftctl %s: node.id=%d cluster.id=%s metadata.log.dir=%s listeners=%s",
        kraftctl.__version__,
        config.node_id,
        meta.cluster_id,
        config.metadata_log_dir,
        config.listeners,
    )
    for warning in config.warnings:
        logger.warning("%s", warning)
    if config.unused_keys:
        logger.info("Configuration keys that a controller does not use: %s", ", ".join(config.unused_keys))
    for key in config.unused_keys:
        if (meant := _misspelt(key)) is not None:
            logger.warning("Kafka has no configuration %s: did you mean %s?", key, meant)


def _misspelt(key: str) -> str | None:
    """The key of Kafka that `key` is probably meant to be."""
    if key in BROKER_CONFIG_KEYS:
        return None
    return next(iter(difflib.get_close_matches(key, BROKER_CONFIG_KEYS, n=1, cutoff=ALMOST_THE_SAME)), None)


def _refuse(*reasons: str) -> int:
    for reason in reasons:
        print(f"kraftctl start: {reason}", file=sys.stderr)
    return 1
