"""`kraftctl quorum replace-voter` replaces a voter with a lost disk, in the order of `replacement_steps`."""

from __future__ import annotations

import random
from collections.abc import Callable
from threading import Event
from typing import assert_never

from kraftctl.cli.quorum.controller_properties import ControllerProperties
from kraftctl.cli.quorum.quorum_info import describe_quorum
from kraftctl.cli.quorum.replacement_steps import (
    LOST_DISK_PAGE,
    AddVoter,
    Await,
    Done,
    FormatDirectory,
    LeaderTime,
    Refuse,
    RemoveVoter,
    Situation,
    Step,
    next_step,
)
from kraftctl.cli.quorum.voter_changes import add_voter, added_text, remove_voter, removed_text
from kraftctl.server.process.clock import Clock
from kraftctl.storage.formatter import Formatter
from kraftctl.storage.meta_properties import MetaPropertiesEnsemble
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.errors import AdminError, RefusedError
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.uuids import uuid_to_string

PAUSE_MS = 500
REPORT_MS = 5_000
"""Progress is printed at this interval."""

WILDCARD_HOSTS = ("0.0.0.0", "::")

TRANSIENT = frozenset((Errors.REQUEST_TIMED_OUT, Errors.VOTER_NOT_FOUND, Errors.DUPLICATE_VOTER))
"""After these errors the voters are checked again: the change may be made, or be possible a moment later."""


class VoterReplacement:
    """Checks the quorum and the directory, makes one step, and repeats that until the node is a voter."""

    def __init__(
        self,
        client: AdminClient,
        controller: ControllerProperties,
        *,
        clock: Clock,
        say: Callable[[str], None],
        stall_timeout_ms: int,
    ) -> None:
        """Takes `stall_timeout_ms`, the time to wait without any progress."""
        if controller.has_static_quorum:
            raise AdminError(
                "The properties file has controller.quorum.voters, so this controller starts as a voter of a"
                f" static quorum. Next step: {LOST_DISK_PAGE} says what to do if kraft.version is 0; if it is"
                " 1, replace that key by controller.quorum.bootstrap.servers."
            )
        for endpoint in controller.endpoints:
            if endpoint.host in WILDCARD_HOSTS:
                raise AdminError(
                    f"Other nodes cannot connect to {endpoint}. Next step: set advertised.listeners to the"
                    " address of this controller."
                )
        self._client = client
        self._controller = controller
        self._clock = clock
        self._say = say
        self._stall_timeout_ms = stall_timeout_ms
        self._leader_time = LeaderTime()
        self._removed: bytes | None = None
        self._waiting_for = Await("")
        self._progress_ms = clock.now_ms()
        self._reported_ms = clock.now_ms()

    def run(self, *, dry_run: bool) -> None:
        """Returns when the node is a voter and caught up; with `dry_run` after printing the next step.

        Raises AdminError, StorageError or OSError; the same command then continues where this one ended.
        """
        cluster_id = self._client.cluster_id()
        committed_offset = describe_quorum(self._client).high_watermark
        Event().wait(PAUSE_MS / 1000)
        while True:
            self._check_directories(cluster_id)
            quorum = describe_quorum(self._client)
            directory_id = self._controller.directory_id()
            leader_seen_ms = self._leader_time.seen_ms(quorum, self._clock.now_ms())
            step = next_step(
                Situation(quorum, self._controller.node_id, directory_id, committed_offset, leader_seen_ms)
            )
            if isinstance(step, Refuse):
                raise AdminError(step.reason)
            if dry_run:
                self._say(f"DRY RUN, the next step: {self._description(step)}")
                return
            if isinstance(step, Done):
                self._say(f"{self._description(step)}.")
                return
            try:
                self._make(step, cluster_id)
            except RefusedError as error:
                if error.error not in TRANSIENT:
                    raise
                self._wait(Await(str(error)))
            if isinstance(step, Await):
                committed_offset = quorum.high_watermark

    def _make(self, step: FormatDirectory | Await | RemoveVoter | AddVoter, cluster_id: str) -> None:
        node_id, endpoints = self._controller.node_id, self._controller.endpoints
        match step:
            case FormatDirectory():
                self._say(f"{self._description(step)}.")
                self._format(cluster_id)
            case RemoveVoter(directory_id):
                if self._removed not in (None, directory_id):
                    raise AdminError(
                        f"Controller {node_id} was added again, with directory id"
                        f" {uuid_to_string(directory_id)}, while this command was replacing it. Next step:"
                        " check that no other machine has this node.id."
                    )
                remove_voter(self._client, node_id, directory_id)
                self._removed = directory_id
                self._say(removed_text(node_id, directory_id, dry_run=False))
            case AddVoter(directory_id):
                add_voter(self._client, node_id, directory_id, endpoints)
                self._say(added_text(node_id, directory_id, endpoints, dry_run=False))
            case Await():
                self._wait(step)
            case _:
                assert_never(step)

    def _wait(self, step: Await) -> None:
        now_ms, before = self._clock.now_ms(), self._waiting_for
        if step.mark() != before.mark():
            self._progress_ms = now_ms
            is_another = step.progress is None or before.progress is None
            if is_another or now_ms - self._reported_ms >= REPORT_MS:
                self._say(f"{step.reason}.")
                self._reported_ms = now_ms
        self._waiting_for = step
        if now_ms - self._progress_ms >= self._stall_timeout_ms:
            raise AdminError(
                f"Nothing has changed for {self._stall_timeout_ms} ms: {step.reason}. Next step: the same"
                " command continues from here."
            )
        Event().wait(PAUSE_MS / 1000)

    def _check_directories(self, cluster_id: str) -> None:
        ensemble = MetaPropertiesEnsemble(self._controller.log_dirs)
        ensemble.verify(cluster_id, self._controller.node_id)

    def _format(self, cluster_id: str) -> None:
        """Formats like `kraftctl format --no-initial-controllers --ignore-formatted`."""
        Formatter(
            cluster_id=cluster_id,
            node_id=self._controller.node_id,
            log_dirs=self._controller.log_dirs,
            metadata_log_dir=self._controller.metadata_log_dir,
            has_dynamic_quorum=True,
            ignore_formatted=True,
            log_is_lost=True,
        ).format(random.SystemRandom(), self._clock.wall_ms(), self._say)

    def _description(self, step: Step) -> str:
        node_id = self._controller.node_id
        match step:
            case Refuse(reason) | Await(reason):
                return reason
            case FormatDirectory():
                return (
                    f"Formatting {self._controller.metadata_log_dir}, which is not formatted: it gets a new"
                    " directory id, and joins as another replica than the one that was lost"
                )
            case RemoveVoter(directory_id):
                return f"remove the voter {node_id} with directory id {uuid_to_string(directory_id)}"
            case AddVoter(directory_id):
                return f"add the voter {node_id} with directory id {uuid_to_string(directory_id)}"
            case Done(directory_id):
                name = uuid_to_string(directory_id)
                return f"Controller {node_id} with directory id {name} is a voter, and caught up"
            case _:
                assert_never(step)
