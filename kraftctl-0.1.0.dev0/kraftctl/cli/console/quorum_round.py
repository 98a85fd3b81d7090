"""QuorumRounds asks the leader for its quorum, and the listeners for probes for statuses of controllers."""

from __future__ import annotations

import ssl
from collections.abc import Sequence
from dataclasses import replace
from threading import Event, Thread
from typing import Final

from kraftctl import SOFTWARE
from kraftctl.cli.explain.leader_view import leader_view_of
from kraftctl.cli.health.collection import read_pages
from kraftctl.cli.quorum.quorum_info import QuorumInfo, describe_quorum
from kraftctl.cli.quorum.quorum_survey import LEADER_WAIT_MS, NoLeaderError, QuorumSurvey
from kraftctl.console.node_status import NodeStatus, node_status
from kraftctl.console.quorum_reading import QuorumReading
from kraftctl.explain.commit_watch import CommitWatch
from kraftctl.explain.evidence import NoLeaderView
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import AdminClient
from kraftctl_admin.client_config import ClientConfig
from kraftctl_admin.errors import AdminError
from kraftctl_protocol.escaped_text import escaped
from kraftctl_security.blocking_connection import Endpoint

ASK_MS: Final = 2_500
"""The leader has this long to describe the quorum; then all controllers are asked who leads."""

PAGES_SECONDS: Final = 3.0
PAUSE_SECONDS: Final = 1.0


class QuorumRounds:
    """One round after the other, with a connection that is kept. Not thread-safe."""

    def __init__(
        self,
        bootstrap: list[Endpoint],
        urls: Sequence[str],
        *,
        config: ClientConfig,
        clock: Clock,
        token: str | None,
        context: ssl.SSLContext | None,
    ) -> None:
        """Takes a `token` and a `context` for the listeners for probes at `urls`."""
        self._bootstrap = bootstrap
        self._urls = urls
        self._config = config
        self._clock = clock
        self._token = token
        self._context = context
        self._stop = Event()
        self._commits = CommitWatch()
        self._threads: list[Thread] = []
        self._statuses: dict[str, NodeStatus] = {}
        short = replace(config, default_api_timeout_ms=min(ASK_MS, config.default_api_timeout_ms))
        self._client = AdminClient(
            bootstrap, to_controllers=True, config=short, clock=clock, software=SOFTWARE
        )

    def ask(self) -> QuorumReading:
        """Returns what was said in one round."""
        if not self._threads:
            self._threads = [Thread(target=self._read, args=(each,), daemon=True) for each in self._urls]
            for thread in self._threads:
                thread.start()
        reading = self._quorum()
        found = [self._statuses.get(url) for url in self._urls]
        return replace(reading, statuses=tuple(each for each in found if each is not None))

    def close(self) -> None:
        """Ends the threads, and closes the connections."""
        self._stop.set()
        self._client.close()

    def _quorum(self) -> QuorumReading:
        try:
            return self._reading_of(describe_quorum(self._client))
        except AdminError:
            self._client.close()
        survey = QuorumSurvey(
            self._bootstrap,
            to_controllers=True,
            config=self._config,
            clock=self._clock,
            wait_ms=LEADER_WAIT_MS,
            with_cluster_id=False,
        )
        try:
            return self._reading_of(survey.run().quorum)
        except NoLeaderError as error:
            return QuorumReading(no_leader=no_leader_view(error))
        except AdminError as error:
            return QuorumReading(
                problem=f"What the leader knows of replicas is left out: {escaped(str(error))}"
            )

    def _reading_of(self, quorum: QuorumInfo) -> QuorumReading:
        addresses = {
            node_id: f"{listeners[0].host}:{listeners[0].port}"
            for node_id, listeners in quorum.endpoints.items()
            if listeners
        }
        uncommitted_ms = quorum.uncommitted_ms(self._commits, self._clock.now_ms())
        return QuorumReading(leader_view_of(quorum, uncommitted_ms), addresses=addresses)

    def _read(self, url: str) -> None:
        """Reads the pages of one listener again and again; one that does not answer delays no other."""
        while not self._stop.is_set():
            page = read_pages(url, token=self._token, context=self._context, timeout_s=PAGES_SECONDS)
            self._statuses[url] = node_status(page.url, page.status, page.metrics, page.problem)
            self._stop.wait(PAUSE_SECONDS)


def no_leader_view(error: NoLeaderError) -> NoLeaderView:
    """Returns what an explanation uses of a survey that found no leader."""
    lines = [escaped(line) for line in error.lines]
    return NoLeaderView(error.asked_count, error.answered_count, lines, error.unreached_leader_id)
