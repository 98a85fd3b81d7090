"""Asks all nodes at the same time for `kraftctl quorum describe`, until one has the response of the leader.

Kafka's tool asks one node after the other, and reports a timeout after a minute. Here the election of a
leader may take a few seconds; then the error has the state of each node, and which are not reached.
"""

from __future__ import annotations

from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import Final, assert_never

from kraftctl.cli.quorum.node_interview import Described, Finding, Named, NodeInterview, Refused, Statement
from kraftctl.server.process.clock import Clock
from kraftctl_admin.admin_client import NODES_MAX
from kraftctl_admin.client_config import ClientConfig
from kraftctl_admin.errors import UnavailableError
from kraftctl_admin.unavailable import no_node_serves, no_node_was_asked
from kraftctl_security.authentication_failures import SECURITY_PROTOCOL
from kraftctl_security.blocking_connection import Endpoint, endpoint_text

LEADER_WAIT_MS: Final = 3_000
"""An election takes a second or two, and the whole command has to end within five."""

LATE_MS: Final = 300
"""A thread may report this much later than the others."""


class NoLeaderError(UnavailableError):
    """No node had the response of a leader in time; `lines` has the state of each that was asked.

    Where controllers were to be asked, the counts leave out nodes that are brokers.
    """

    def __init__(
        self,
        text: str,
        *,
        asked_count: int,
        answered_count: int,
        lines: list[str],
        unreached_leader_id: int | None,
    ) -> None:
        super().__init__(text)
        self.unreached_leader_id = unreached_leader_id
        self.asked_count = asked_count
        self.answered_count = answered_count
        self.lines = lines


class QuorumSurvey:
    """One survey of one cluster."""

    def __init__(
        self,
        bootstrap: list[Endpoint],
        *,
        to_controllers: bool,
        config: ClientConfig,
        clock: Clock,
        wait_ms: int,
        with_cluster_id: bool,
    ) -> None:
        """Takes `wait_ms`, the time that there may be no leader."""
        self._bootstrap = bootstrap
        self._to_controllers = to_controllers
        self._config = config
        self._with_cluster_id = with_cluster_id
        self._clock = clock
        self._began_ms = clock.now_ms()
        self._deadline_ms = self._began_ms + wait_ms
        self._stop = Event()
        self._findings: SimpleQueue[Finding] = SimpleQueue()
        self._threads: dict[Endpoint, Thread] = {}
        self._said: dict[Endpoint, dict[str, Statement]] = {}
        """The statements by address, where a name has several."""

    def run(self) -> Described:
        """Asks the nodes. Raises AdminError: the first refusal, or each node's state when the time is
        over.
        """
        self._interview(self._bootstrap)
        try:
            while (finding := self._next()) is not None:
                match finding:
                    case Described():
                        return finding
                    case Refused(error):
                        raise error
                    case Named(endpoints):
                        self._interview(endpoints)
                    case Statement():
                        self._said.setdefault(finding.endpoint, {})[finding.address] = finding
                        self._end_if_hopeless()
                    case _:
                        assert_never(finding)
        finally:
            self._stop.set()
        answered = {each.endpoint for each in self._statements() if each.has_answered}
        brokers = {each.endpoint for each in self._statements() if each.is_of_broker}
        raise NoLeaderError(
            self._text(),
            asked_count=len(self._threads.keys() - brokers),
            answered_count=len(answered - brokers),
            lines=self._lines(),
            unreached_leader_id=self._unreached_leader(answered),
        )

    def _interview(self, endpoints: list[Endpoint]) -> None:
        for endpoint in endpoints:
            if endpoint in self._threads or len(self._threads) >= NODES_MAX:
                continue
            interview = NodeInterview(
                endpoint,
                self._findings.put,
                config=self._config,
                to_controllers=self._to_controllers,
                with_cluster_id=self._with_cluster_id,
                clock=self._clock,
                deadline_ms=self._deadline_ms,
                stop=self._stop,
            )
            # Nothing waits for them: one that hangs in the resolver does not delay the end of the process.
            thread = Thread(target=interview.run, name=f"ask {endpoint_text(endpoint)}", daemon=True)
            self._threads[endpoint] = thread
            thread.start()

    def _next(self) -> Finding | None:
        """Returns None when the time is over, or no thread is left that could report."""
        while True:
            is_last = not any(thread.is_alive() for thread in self._threads.values())
            left_s = (self._deadline_ms + LATE_MS - self._clock.now_ms()) / 1000
            try:
                return self._findings.get(timeout=0.0 if is_last else max(0.0, min(left_s, 0.05)))
            except Empty:
                if is_last or left_s <= 0:
                    return None

    def _end_if_hopeless(self) -> None:
        """Ends the survey when all have said that no attempt can have another result."""
        if self._said.keys() != self._threads.keys():
            return
        said = self._statements()
        if all(each.is_unserved for each in said):
            raise UnavailableError(no_node_serves("DescribeQuorumRequest", "; ".join(self._lines())))
        keys = [each.keys_to_check for each in said if each.keys_to_check is not None]
        if len(keys) == len(said):
            raise UnavailableError(no_node_was_asked("DescribeQuorumRequest", "; ".join(self._lines()), keys))

    def _statements(self) -> list[Statement]:
        return [each for said in self._said.values() for each in said.values()]

    def _unreached_leader(self, answered: set[Endpoint]) -> int | None:
        """Returns the leader of the latest epoch that is named and was not reached."""
        said = self._statements()
        epoch = max((each.epoch for each in said), default=-1)
        for each in said:
            if each.epoch == epoch and each.leader_id >= 0 and each.leader_endpoint not in answered:
                return each.leader_id
        return None

    def _lines(self) -> list[str]:
        """Returns a line for each node, in the order in which they were named."""
        seconds = (self._clock.now_ms() - self._began_ms) / 1000
        lines: list[str] = []
        for endpoint in self._threads:
            node = endpoint_text(endpoint)
            said = self._said.get(endpoint)
            if said is None:
                lines.append(f"{node} has said nothing within {seconds:.1f} s")
                continue
            for address, statement in said.items():
                lines.append(f"{node} {f'({address}) ' if address else ''}{statement.text}")
        return lines

    def _text(self) -> str:
        seconds = (self._clock.now_ms() - self._began_ms) / 1000
        lines = [f"  {line}" for line in self._lines()]
        return "\n".join(
            [
                f"The quorum has no leader that answers: none was found within {seconds:.1f} s.",
                *lines,
                f"Next step: {self._next_step()}",
            ]
        )

    def _next_step(self) -> str:
        keys = [each.keys_to_check for each in self._statements() if each.keys_to_check is not None]
        checks = f"check {', '.join(dict.fromkeys(keys))} of --command-config; " if keys else ""
        if any(each.is_closed_early for each in self._statements()):
            checks += f"check {SECURITY_PROTOCOL} of --command-config, where a node closes the connection; "
        if not self._to_controllers:
            return (
                f"{checks}ask the controllers themselves with --bootstrap-controller: brokers only forward"
                " this request to the leader that they know."
            )
        return (
            f"{checks}start the controllers that are not reached: a leader needs a majority of the voters."
            " The log of each controller says why it elects none. default.api.timeout.ms of"
            " --command-config waits longer."
        )
