"""`kraftctl console`: a page about a running quorum, of kraftctl or Kafka, trouble first. It only reads."""

from __future__ import annotations

import argparse
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Final

from kraftctl import SOFTWARE
from kraftctl.cli.admin.bootstrap import parse_bootstrap
from kraftctl.cli.config_file import read_config_file
from kraftctl.cli.console.listen_address import ListenAddress, check_access, parse_listen_address
from kraftctl.cli.console.quorum_round import QuorumRounds
from kraftctl.cli.operate_access import check_operate_urls, read_token_file, trust_in
from kraftctl.cli.parser import Parser
from kraftctl.cli.unknown_keys import unknown_keys_of_client
from kraftctl.console.live_log import LiveLog
from kraftctl.console.painter import Painter
from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.explain.evidence import connection_of
from kraftctl.server.process.clock import Clock
from kraftctl.storage.errors import StorageError
from kraftctl_admin.client_config import ClientConfig, parse_client_config
from kraftctl_admin.errors import AdminError
from kraftctl_observer.directory_reader import DirectoryReader
from kraftctl_observer.log_reader import LogReader, ObserverError
from kraftctl_observer.metadata_directory import MetadataDirectory
from kraftctl_observer.observer import QuorumObserver
from kraftctl_protocol.escaped_text import escaped
from kraftctl_protocol.extra_packages import install_command
from kraftctl_protocol.file_errors import unplaced_error
from kraftctl_protocol.java_properties import PropertiesError
from kraftctl_protocol.primitives import DecodeError
from kraftctl_security.config_values import ConfigException
from kraftctl_security.resolved_properties import ResolvedProperties
from kraftctl_security.small_files import mode_against_others

NAME = "console"
PRINTS_ONLY = False

LISTEN: Final = "http://127.0.0.1:8080"
LOG_SECONDS: Final = 5.0
TOKEN_BYTES_MIN: Final = 16
"""A shorter one could be guessed: nothing slows down who tries."""

NO_LEADER_ASKED: Final = "The page is of a directory: which controllers run, lag or are ghosts is not known"

HELD_BACK: Final = ". The log behind its snapshot is left out, {}. --assume-committed shows it"

MISSING: Final = "the package {} is missing. Next step: {}"


def add_arguments(parser: Parser) -> None:
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument(
        "--bootstrap-controllers",
        metavar="HOST:PORT,...",
        help="controllers of a running quorum, those of Kafka as well",
    )
    source.add_argument(
        "--directory", type=Path, metavar="DIR", help="metadata.log.dir of a controller, running or not"
    )
    parser.add_argument(
        "--assume-committed",
        action="store_true",
        help="with --directory: also what is behind the last snapshot, in a quorum of several voters",
    )
    parser.add_argument(
        "--command-config", type=Path, metavar="FILE", help="client properties: ssl.*, sasl.*, ..."
    )
    parser.add_argument(
        "--operate",
        nargs="+",
        default=[],
        metavar="URL",
        help="listeners for probes of controllers of kraftctl: they know disks, certificates and heartbeats",
    )
    parser.add_argument("--operate-token", type=Path, metavar="FILE", help="a file with their token")
    parser.add_argument("--operate-ca", type=Path, metavar="FILE", help="certificates to trust with https")
    parser.add_argument(
        "--listen", default=LISTEN, metavar="URL", help="where the page is; default: %(default)s"
    )
    parser.add_argument(
        "--token-file", type=Path, metavar="FILE", help="a file with the token that the page asks for"
    )
    parser.add_argument("--certificate", type=Path, metavar="FILE", help="for https: a chain in PEM")
    parser.add_argument("--key", type=Path, metavar="FILE", help="its private key in PEM, without a password")


def run(args: argparse.Namespace) -> int:
    """Returns 0 after a signal, or 1 with the reason on standard error."""
    properties: ResolvedProperties | None = None
    try:
        if args.command_config is not None:
            properties = read_config_file(args.command_config)
            for sentence in unknown_keys_of_client(properties).values():
                print(f"{args.command_config}: {sentence}", file=sys.stderr)
        return _serve(args, parse_client_config({} if properties is None else properties))
    except (AdminError, ConfigException, DecodeError, ObserverError, PropertiesError, StorageError) as error:
        text = str(error) if properties is None else properties.hide(str(error))
        print(f"kraftctl console: {escaped(text, keep=chr(10))}", file=sys.stderr)
    except OSError as unplaced:
        print(f"kraftctl console: {unplaced_error(unplaced)}", file=sys.stderr)
    return 1


def _serve(args: argparse.Namespace, config: ClientConfig) -> int:
    try:
        # Only this command needs them, and only users of it install them.
        from kraftctl.cli.console.serving import ConsoleServer
        from kraftctl.console.page_drawing import PageDrawing
    except ModuleNotFoundError as error:
        if error.name is None or error.name.startswith("kraftctl"):
            raise
        raise AdminError(MISSING.format(error.name, install_command(NAME, [error.name]))) from error
    address = parse_listen_address(args.listen)
    if (args.certificate is None) != (args.key is None):
        raise AdminError("--certificate and --key belong together.")
    check_access(address, has_token=args.token_file is not None, has_certificate=args.certificate is not None)
    token = b"" if args.token_file is None else _token(args.token_file)
    _warn_of_plain_text(address)
    if args.directory is not None and args.operate:
        raise AdminError("--operate is for --bootstrap-controllers: a directory has no controllers to ask.")
    if args.assume_committed and args.directory is None:
        raise AdminError("--assume-committed is for --directory: a leader says what is committed.")
    clock = Clock()
    rounds = None if args.bootstrap_controllers is None else _rounds(args, config, clock)
    reader, drawing = _reader(args, config), PageDrawing()
    live = LiveLog(reader)
    painter = Painter(
        live,
        (lambda: reading_of_directory(reader)) if rounds is None else rounds.ask,
        drawing.parts,
        clock,
        is_directory=rounds is None,
        static_voters=() if rounds is not None else MetadataDirectory(args.directory).static_voters() or (),
        connection=None if rounds is None else connection_of(args.bootstrap_controllers, args.command_config),
    )
    server = ConsoleServer(
        live,
        painter,
        drawing,
        address=address,
        token=token,
        certificate=None if args.certificate is None else str(args.certificate),
        key=None if args.key is None else str(args.key),
    )
    try:
        server.run()
    finally:
        if rounds is not None:
            rounds.close()
    return 0


def _reader(args: argparse.Namespace, config: ClientConfig) -> LogReader:
    if args.directory is not None:
        return DirectoryReader(args.directory, assume_committed=args.assume_committed)
    return QuorumObserver(
        parse_bootstrap(args.bootstrap_controllers),
        client_id=config.client_id,
        software=SOFTWARE,
        timeout_s=LOG_SECONDS,
        say_after_s=2 * LOG_SECONDS,  # The page says the same.
        read_security=lambda: config.security,
    )


def reading_of_directory(reader: LogReader) -> QuorumReading:
    """Returns that nothing is known but what the directory has, and what of that is held back."""
    held_back = reader.held_back if isinstance(reader, DirectoryReader) else ""
    return QuorumReading(problem=f"{NO_LEADER_ASKED}{HELD_BACK.format(held_back) if held_back else ''}")


def _rounds(args: argparse.Namespace, config: ClientConfig, clock: Clock) -> QuorumRounds:
    token, ca = args.operate_token, args.operate_ca
    return QuorumRounds(
        parse_bootstrap(args.bootstrap_controllers),
        check_operate_urls(args.operate),
        config=config,
        clock=clock,
        token=None if token is None else read_token_file("--operate-token", token),
        context=None if ca is None else trust_in("--operate-ca", ca),
    )


def _token(file: Path) -> bytes:
    with suppress(OSError):  # the next line says what is wrong
        mode = mode_against_others(os.stat(file))
        if mode is not None:
            print(f"Other accounts may read {file}. Next step: chmod {mode} {file}", file=sys.stderr)
    return read_token_file("--token-file", file, bytes_min=TOKEN_BYTES_MIN).encode()


def _warn_of_plain_text(address: ListenAddress) -> None:
    if address.scheme == "http" and not address.is_loopback:
        print(
            f"{address} shows the token to who listens on the network. Next step: use https, or a proxy that"
            " does",
            file=sys.stderr,
        )
