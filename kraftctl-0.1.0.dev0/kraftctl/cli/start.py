"""`kraftctl start server.properties`: check everything that can be checked, then run until a signal.

An error in the file, the directory or the port is one line in the log and on standard error with the next
step, and exit status 1; a controller that has halted for good has status 65. SIGTERM or SIGINT is a clean
stop: status 0. Other signals are in `signals`.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib
import logging
import os
import random
from pathlib import Path
from typing import cast

import uvloop

import kraftctl
from kraftctl.cli import signals
from kraftctl.cli.config_file import add_config_file_arguments, read_config_file
from kraftctl.cli.inspect.config_rows import USED_KEYS
from kraftctl.cli.parser import Parser
from kraftctl.cli.readable_secrets import other_readable_files, readable_secrets
from kraftctl.cli.refused_start import HALTED_STATUS, refuse
from kraftctl.cli.unknown_keys import unknown_keys_of_node
from kraftctl.config.controller_config import ConfigException, ControllerConfig
from kraftctl.node import controller_node
from kraftctl.operate.service import watched
from kraftctl.server.controller_server import run_controller
from kraftctl.server.driver import turn_probe
from kraftctl.server.listeners.bound_sockets import ListenError
from kraftctl.server.listeners.descriptors import raise_limit
from kraftctl.server.logs import printed_lines
from kraftctl.server.logs.log_files import LogFiles
from kraftctl.server.logs.logging import LEVELS, configure_logging, stop_logging
from kraftctl.server.logs.shared_output import occupy_closed_descriptors
from kraftctl.server.process.clock import Clock
from kraftctl.server.process.collector import Collector
from kraftctl.server.process.interpreter_lock import released_between_turns
from kraftctl.server.process.service_manager import service_manager
from kraftctl.storage.data_directory_note import write_data_directory_note
from kraftctl.storage.directory_lock import DirectoryLock
from kraftctl.storage.errors import StorageError
from kraftctl.storage.halt import HaltedError
from kraftctl.storage.log_directories import LogDirectories, check_directories, log_directories
from kraftctl.storage.meta_properties import load_meta_properties
from kraftctl.storage.readable_log import why_readable
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.meta_properties import MetaProperties
from kraftctl_security.resolved_properties import ResolvedProperties
from kraftctl_security.sasl.jaas_file import read_jaas_file
from kraftctl_security.tls.store_error import StoreError

NAME = "start"
PRINTS_ONLY = False
logger = logging.getLogger("kraftctl.server")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_config_file_arguments(parser)
    parser.add_argument(
        "--strict", action="store_true", help="refuse keys that Kafka does not know, instead of a warning"
    )
    parser.add_argument("--log-level", choices=sorted(LEVELS), default="info", help="default: info")
    check = parser.add_argument_group("check only")
    check.add_argument("--check", action="store_true", help="start nothing: do what kraftctl doctor does")
    check.add_argument("--offline", action="store_true", help="with --check: ask no other controller")
    check.add_argument("--output", choices=["text", "json"], help="with --check; default: text")
    parser.epilog = (
        "The status is 0 after SIGTERM or SIGINT, 1 if the controller cannot start or ends by an error,"
        f" {HALTED_STATUS} if it has halted for good, and {Parser.usage_status} for wrong arguments."
    )


def run(args: argparse.Namespace) -> int:
    if args.check:
        # The checks need modules that a controller does not: they are loaded as those of a command.
        doctor = importlib.import_module("kraftctl.cli.doctor.command")
        return cast(int, doctor.examine(args, "start --check", with_upgrade=False, is_strict=args.strict))
    occupy_closed_descriptors()
    configure_logging(None, args.log_level)
    if args.offline or args.output is not None:
        return refuse(["--offline and --output are for --check"], Parser.usage_status)
    try:
        properties = read_config_file(args.file, args.override)
        config = _checked(properties, strict=args.strict)
        configure_logging(config.node_id, args.log_level)
        _warn_of_readable_secrets(args.file, properties, args.override)
        with signals.survived(), printed_lines.logged():
            _start(config)
    except ConfigException as error:
        return refuse(error.errors)
    except HaltedError as halted:
        return refuse([str(halted)], HALTED_STATUS)
    except (StorageError, ListenError, StoreError, PropertiesError) as error:
        return refuse([str(error)])
    except OSError as unplaced:
        return refuse([unplaced_error(unplaced)])
    logger.info("Stopped")
    stop_logging()
    return 0


def _warn_of_readable_secrets(file: Path, properties: ResolvedProperties, overrides: list[str]) -> None:
    overridden = {override.partition("=")[0].strip() for override in overrides}
    mode, keys = readable_secrets(file, properties, properties.provided_keys | overridden)
    if keys:
        logger.warning(
            "Other accounts may read the passwords in %s (%s). Next step: chmod %s, or let a config provider"
            " read them from elsewhere",
            file,
            ", ".join(keys),
            mode,
        )
    for path, (needed, users) in other_readable_files(properties).items():
        logger.warning(
            "Other accounts may read the passwords in %s (%s). Next step: chmod %s",
            path,
            ", ".join(users),
            needed,
        )


def _start(config: ControllerConfig) -> None:
    meta, lock = open_directory(config)
    try:
        announce(config, meta)
        raise_limit()
        with released_between_turns(), asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(_run_until_signal(config, meta))
    finally:
        lock.release()


def load_config(file: Path, overrides: list[str], *, strict: bool = False) -> ControllerConfig:
    """Returns the configuration of the file with `KEY=VALUE` overrides; raises the errors of either."""
    return _checked(read_config_file(file, overrides), strict=strict)


def _checked(properties: ResolvedProperties, *, strict: bool) -> ControllerConfig:
    """Warns of unknown keys beside an error, too: a missing key may be misspelt.

    With `strict` they are errors.
    """
    unknown = list(unknown_keys_of_node(properties).values())
    refused = [f"{sentence} (--strict)" for sentence in unknown]
    try:
        config = ControllerConfig(properties, read_jaas_file())
    except ConfigException as error:
        if strict:
            raise ConfigException([*error.errors, *refused]) from None
        for sentence in unknown:
            logger.warning("%s", sentence)
        raise
    if strict and unknown:
        raise ConfigException(refused)
    return config


def open_directory(config: ControllerConfig) -> tuple[MetaProperties, DirectoryLock]:
    """Checks all directories, then locks the one of the metadata log; raises StorageError."""
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
    """Lets the other directories remember that of the log. The log itself needs none of them."""
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
        async with watched(config, audit_log, service_manager(os.environ)) as operation:
            await run_controller(config, meta, stop, reload, audit_log, probe, operation)


def announce(config: ControllerConfig, meta: MetaProperties) -> None:
    """Writes the first log lines: the identity of this node, and warnings about its configuration."""
    logger.info(
        "Starting kraftctl %s: node.id=%d cluster.id=%s metadata.log.dir=%s listeners=%s",
        kraftctl.__version__,
        config.node_id,
        meta.cluster_id,
        config.metadata_log_dir,
        config.listeners,
    )
    if not (controller_node.__file__ or "").endswith(".so"):
        logger.info(
            "kraftctl is not compiled, and needs several times the processor time. Next step: install it"
            " where there is a C compiler, or install a wheel that was built there"
        )
    for warning in config.warnings:
        logger.warning("%s", warning)
    readable = why_readable(Path(config.metadata_log_dir))
    if readable is not None:
        logger.warning("%s", readable)
    unknown = unknown_keys_of_node(config.originals)
    unused = [key for key in config.unused_keys if key not in USED_KEYS and key not in unknown]
    if unused:
        logger.info("Configuration keys that a controller does not use: %s", ", ".join(unused))
    for sentence in unknown.values():
        logger.warning("%s", sentence)
