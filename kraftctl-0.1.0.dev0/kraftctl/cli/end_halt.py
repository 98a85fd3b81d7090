"""`kraftctl end-halt` lets a controller start again that halted since its leader lacks committed records."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from kraftctl.cli.parser import Parser
from kraftctl.cli.start import open_directory
from kraftctl.cli.stopped_controller import print_result
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.raft.replica_key import ReplicaKey
from kraftctl.server.process.clock import Clock
from kraftctl.storage.end_of_halt import give_up_log, keep_log

NAME = "end-halt"
PRINTS_ONLY = False

EXPLANATION = """\
A controller halts for good when its leader wants it to drop records that it knows to be committed: one of the
two has lost metadata. Each start ends with exit status 65 until this command was run. Before you run it, stop
the leader as well, copy metadata.log.dir of every voter, and compare the logs (kraftctl dump log ...).

--keep-log
  The records are in the log of this controller. It may start with that: this changes nothing in this log.
  The voters that elected the leader lack the records, too: with one of them as leader it halts again. So the
  log has to be copied to each of them first, with all controllers stopped (docs/operations/halted.md).
  EVERYTHING THAT THE OTHERS ACKNOWLEDGED SINCE THIS CONTROLLER HALTED IS LOST by that.

--accept-loss-of-log
  The log of the leader is the right one. This controller gives its own log up, which is renamed and not
  deleted, fetches everything from a leader, and votes after that. Run it only while the other voters are a
  majority without this one and have a leader: it does not vote until it has fetched everything, and
  end-recovery does not change that.
  COMMITTED METADATA IS LOST if no other voter has the records: topics, their data, and configurations that
  were acknowledged are gone.

It refuses a directory that is in use, or of another node.
"""


def add_arguments(parser: Parser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.description = EXPLANATION
    parser.add_argument(
        "-c", "--config", required=True, type=Path, help="the properties file of the controller"
    )
    decision = parser.add_mutually_exclusive_group(required=True)
    decision.add_argument("--keep-log", action="store_true", help="this controller has the committed records")
    decision.add_argument(
        "--accept-loss-of-log",
        action="store_true",
        help="this controller fetches everything again, and what only its log has is lost",
    )


def run(args: argparse.Namespace) -> int:
    return print_result(NAME, args.config, partial(_end_halt, keeps_log=args.keep_log))


def _end_halt(config: ControllerConfig, *, keeps_log: bool) -> str:
    meta, lock = open_directory(config)
    try:
        assert meta.directory_id is not None
        replica = ReplicaKey(config.node_id, meta.directory_id)
        log_dir = Path(config.metadata_log_dir)
        return keep_log(log_dir, replica) if keeps_log else give_up_log(log_dir, replica, Clock().wall_ms())
    finally:
        lock.release()
