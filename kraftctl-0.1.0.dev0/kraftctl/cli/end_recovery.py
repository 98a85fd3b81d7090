"""`kraftctl end-recovery` lets a controller vote again that has lost its votes, but not its log.

It is needed where all voters are recovering, so that no leader is there to recover from.
"""

from __future__ import annotations

import argparse
import sys
from functools import partial
from pathlib import Path

from kraftctl.cli.parser import Parser
from kraftctl.cli.start import open_directory
from kraftctl.cli.stopped_controller import print_result
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.server.controller_server import open_partition
from kraftctl.server.process.clock import Clock
from kraftctl.storage.directory_entries import exists
from kraftctl.storage.end_of_recovery import EPOCHS_PASSED, end_recovery
from kraftctl.storage.errors import StorageError
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY

NAME = "end-recovery"
PRINTS_ONLY = False

EXPLANATION = f"""\
A controller whose quorum-state is gone no longer knows how it has voted. Where its other files do not prove
it, "This replica is recovering and does not vote" is logged until it has everything that a leader has
committed. This command lets it vote without that. It is for one case only: all controllers of the quorum
are stopped, and when they run no leader is elected, because too many of them are recovering. Run it for
each of these, then start all.

Where the other voters elect a leader, do not run it: start this controller, it recovers by itself. After
this command it would follow no leader before the next election.

DATA CAN BE LOST if another controller than kraftctl, such as Kafka's own, has used this directory since
kraftctl did, and has voted in an epoch that no log shows: given again, that vote may elect a second leader
of the same epoch, and records that one of the two has acknowledged are lost. To make that unlikely, the
epoch is raised by {EPOCHS_PASSED}. If only kraftctl has used the directory, nothing can be lost.

It refuses a directory that is in use, that is of another node, and whose log has lost records.
"""


def add_arguments(parser: Parser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = EXPLANATION
    parser.add_argument(
        "-c", "--config", required=True, type=Path, help="the properties file of the controller"
    )
    parser.add_argument(
        "--log-is-whole",
        action="store_true",
        help="__cluster_metadata-0 was never moved away, emptied or restored from a backup; asked for where"
        " an earlier release began to recover and did not note what was lost",
    )


def run(args: argparse.Namespace) -> int:
    return print_result(NAME, args.config, partial(_end_recovery, log_is_whole=args.log_is_whole))


def _end_recovery(config: ControllerConfig, *, log_is_whole: bool) -> str:
    """Locks, checks and recovers the directory like a start, and prints the findings."""
    meta, lock = open_directory(config)
    try:
        directory = Path(config.metadata_log_dir) / PARTITION_DIRECTORY
        if not exists(directory):
            raise StorageError(
                f"{directory} does not exist: without a log this controller must not vote. Next step: start"
                " it while the other voters have a leader (docs/operations/lost-disk.md)."
            )
        partition = open_partition(config, meta, Clock().now_ms)
        try:
            for line in partition.losses + partition.warnings + partition.notices:
                print(line, file=sys.stderr)
            return end_recovery(partition, log_is_whole=log_is_whole)
        finally:
            partition.close()
    finally:
        lock.release()
