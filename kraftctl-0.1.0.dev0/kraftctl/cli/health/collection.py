"""Collects what all controllers say: first those of the arguments, then those that these name."""

from __future__ import annotations

import http.client
import json
import ssl
import urllib.error
import urllib.request
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Final

from kraftctl.cli.admin.node_answers import NodeAnswers, NodeInquiry, ask_all
from kraftctl.cli.operate_access import is_header_text
from kraftctl.cli.quorum.quorum_info import QuorumInfo
from kraftctl.explain.commit_watch import LOOK_AGAIN_MS, CommitWatch
from kraftctl.server.process.clock import Clock
from kraftctl_admin.client_config import ClientConfig
from kraftctl_protocol.peer_limits import is_address
from kraftctl_security.blocking_connection import Endpoint

STATUS_PATH: Final = "/status.json"
METRICS_PATH: Final = "/metrics"

PAGE_BYTES_MAX: Final = 64 * 1024 * 1024
"""A status has an entry for each broker, and metrics have some thousand lines."""

HOPS_MAX: Final = 2
"""A follower names its leader, and that names all voters."""


@dataclass
class OperatePages:
    """What a listener for probes has served; `problem` says why it has not."""

    url: str
    status: Mapping[str, object] | None = None
    metrics: str = ""
    problem: str | None = None


@dataclass
class Collected:
    """Everything that one verdict follows from."""

    nodes: Mapping[Endpoint, NodeAnswers]
    pages: Sequence[OperatePages] = ()
    to_controllers: bool = True
    asked: Sequence[Endpoint] = field(default=())
    """The addresses of the arguments; others were named by nodes."""
    uncommitted_ms: int = 0
    """For how long the leader was seen with records that are not committed."""

    def quorum(self) -> QuorumInfo | None:
        """Returns the description by the leader with the highest epoch."""
        found = [each.quorum for each in self.nodes.values() if each.quorum is not None]
        return max(found, key=lambda each: each.leader_epoch, default=None)

    def addresses(self, node_id: int) -> list[Endpoint]:
        """Returns the addresses that the leader, or a registration, has for a voter."""
        quorum = self.quorum()
        listeners = () if quorum is None else quorum.endpoints.get(node_id, ())
        found = [(each.host, each.port) for each in listeners]
        for answers in self.nodes.values():
            found += [(each.host, each.port) for each in answers.registered or [] if each.node_id == node_id]
        return list(dict.fromkeys(found))


class HealthCollector:
    """Asks the same nodes again and again; each round ends by its deadline."""

    def __init__(
        self,
        bootstrap: Sequence[Endpoint],
        urls: Sequence[str],
        *,
        to_controllers: bool,
        config: ClientConfig,
        clock: Clock,
        round_ms: int,
        token: str | None,
        context: ssl.SSLContext | None,
    ) -> None:
        """Takes a `token` and a `context` for the listeners for probes at `urls`."""
        self._bootstrap = bootstrap
        self._urls = urls
        self._to_controllers = to_controllers
        self._config = config
        self._clock = clock
        self._round_ms = round_ms
        self._token = token
        self._context = context
        self._commits = CommitWatch()
        self._named: list[Endpoint] = []
        """The controllers that were named in an earlier round: the next one asks them with the others."""

    def collect(self) -> Collected:
        deadline_ms = self._clock.now_ms() + self._round_ms
        pages: SimpleQueue[OperatePages] = SimpleQueue()
        for url in self._urls:
            Thread(target=self._read, args=(url, pages, self._round_ms / 1000), daemon=True).start()
        nodes = self._ask([*self._bootstrap, *self._named], deadline_ms)
        if self._to_controllers:
            later_ms = max(deadline_ms, self._clock.now_ms() + self._round_ms // 2)
            for _ in range(HOPS_MAX):
                self._named = [each for each in _named_by(nodes.values()) if each not in self._bootstrap]
                further = [each for each in self._named if each not in nodes]
                if not further:
                    break
                nodes |= self._ask(further, later_ms)
        uncommitted_ms = self._watch_commits(nodes)
        found = self._pages(pages, deadline_ms)
        return Collected(nodes, found, self._to_controllers, self._bootstrap, uncommitted_ms)

    def _watch_commits(self, nodes: dict[Endpoint, NodeAnswers]) -> int:
        """Asks the leader again until it is seen whether it commits what it has written; returns for how long
        it has not.
        """
        while (quorum := Collected(nodes).quorum()) is not None:
            uncommitted_ms = quorum.uncommitted_ms(self._commits, self._clock.now_ms())
            if not self._commits.is_open:
                return uncommitted_ms
            Event().wait(LOOK_AGAIN_MS / 1000)
            describing = [each for each, answers in nodes.items() if answers.quorum is not None]
            nodes |= self._ask(describing, self._clock.now_ms() + self._round_ms)
        return 0

    def _ask(self, endpoints: Sequence[Endpoint], deadline_ms: int) -> dict[Endpoint, NodeAnswers]:
        return ask_all(
            endpoints,
            lambda endpoint: NodeInquiry(
                endpoint,
                config=self._config,
                clock=self._clock,
                deadline_ms=deadline_ms,
                to_controllers=self._to_controllers,
            ),
            self._clock,
            deadline_ms,
        )

    def _pages(self, pages: SimpleQueue[OperatePages], deadline_ms: int) -> list[OperatePages]:
        found: dict[str, OperatePages] = {}
        while len(found) < len(self._urls):
            left_s = max(0.1, (deadline_ms - self._clock.now_ms()) / 1000)
            try:
                page = pages.get(timeout=left_s)
            except Empty:
                break
            found[page.url] = page
        return [
            found.get(url) or OperatePages(url, problem="it has not answered in time") for url in self._urls
        ]

    def _read(self, url: str, pages: SimpleQueue[OperatePages], timeout_s: float) -> None:
        pages.put(read_pages(url, token=self._token, context=self._context, timeout_s=timeout_s))


def read_pages(
    url: str, *, token: str | None, context: ssl.SSLContext | None, timeout_s: float
) -> OperatePages:
    """Reads the pages of one listener; it never raises what the listener can cause."""
    page = OperatePages(url)
    try:
        status = json.loads(_get(url + STATUS_PATH, token, context, timeout_s))
        if not isinstance(status, dict):
            raise ValueError(f"{STATUS_PATH} is no JSON object")
        page.status = status
        page.metrics = _get(url + METRICS_PATH, token, context, timeout_s)
    except (OSError, ValueError, RecursionError, http.client.HTTPException) as error:
        path = STATUS_PATH if page.status is None else METRICS_PATH
        page.problem = f"{path}: {_reason(error)}"
    return page


def _reason(error: Exception) -> str:
    """Returns the reason without the text of a header, of the request or the response: one is the token."""
    if isinstance(error, urllib.error.HTTPError):
        return f"HTTP Error {error.code}"
    if isinstance(error, http.client.HTTPException):
        return f"the response is not of HTTP ({type(error).__name__})"
    return str(error) or type(error).__name__


def _get(url: str, token: str | None, context: ssl.SSLContext | None, timeout_s: float) -> str:
    if token is not None and not is_header_text(token):
        raise ValueError("the token is not one line of visible characters")
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(url, headers=headers)
    # Neither a proxy of the environment nor a redirection gets the token.
    opener = urllib.request.build_opener(
        urllib.request.ProxyHandler({}), NoRedirection, urllib.request.HTTPSHandler(context=context)
    )
    with opener.open(request, timeout=timeout_s) as response:
        content: bytes = response.read(PAGE_BYTES_MAX)
    return content.decode(errors="replace")


class NoRedirection(urllib.request.HTTPRedirectHandler):
    """Refuses to follow a redirection: a listener for probes sends none."""

    def redirect_request(self, *_: object) -> None:
        return None


def _named_by(answers: Iterable[NodeAnswers]) -> list[Endpoint]:
    """Returns the addresses of voters and registered controllers."""
    found: list[Endpoint] = []
    for each in answers:
        if each.quorum is not None:
            voters = {voter.replica_id for voter in each.quorum.voters}
            for node_id, listeners in each.quorum.endpoints.items():
                if node_id in voters:
                    found += [(listener.host, listener.port) for listener in listeners[:1]]
        if each.quorum is None or not each.quorum.endpoints:
            found += [(node.host, node.port) for node in each.registered or []]
        if each.leader_endpoint is not None:
            found.append(each.leader_endpoint)
    return [each for each in dict.fromkeys(found) if is_address(*each)]
