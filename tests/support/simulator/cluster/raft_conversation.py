"""Commands for transcripts about several raft nodes: what they say to each other, and what each then does.

A message is delivered when a command says so, in the order of its link. Flushes end immediately. Each node
has its own clock, which only commands move.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from functools import partial
from typing import NamedTuple

from kraftctl.metadata.features import KRAFT_VERSION
from kraftctl.metadata.snapshot_batches import SnapshotBatches
from kraftctl.raft.effects import (
    AppendBatch,
    FlushLog,
    LeaderChanged,
    Notice,
    RaftEffect,
    Respond,
    RespondFetch,
    RespondFetchSnapshot,
    SendRequest,
)
from kraftctl.raft.events import DeadlineReached, ResignRequested, ResponseReceived, ShutdownRequested
from kraftctl.raft.peer_failures import CLOSED, NOTHING_CAME, PeerFailure
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.generated.api_versions_response import (
    ApiVersion,
    ApiVersionsResponse,
    SupportedFeatureKey,
)
from kraftctl_protocol.generated.fetch_request import FetchRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from tests.support.raft_names import endpoint
from tests.support.simulator.cluster.brief_messages import brief, brief_records
from tests.support.simulator.cluster.effect_lines import effect_line
from tests.support.simulator.cluster.raft_replica import WALL_MS_AT_START, RaftReplica
from tests.support.simulator.disks.files import SimulatedFiles
from tests.support.wire.raft_requests import REQUESTS

Link = tuple[int, int]

UNPRINTED = (FlushLog, LeaderChanged, Notice, SendRequest, Respond, RespondFetch, RespondFetchSnapshot)
"""A message is printed when it is delivered, a new leader with the state of the node."""

FETCH_VERSION = 18
"""Of Fetch, kraftctl serves no later one."""

VERSIONS = ApiVersionsResponse(
    api_keys=[ApiVersion(api_key=ApiKey.VOTE, max_version=2)],
    supported_features=[SupportedFeatureKey(name=KRAFT_VERSION, max_version=1)],
)

TOOL = -1

DELIVERIES_MAX = 200


class Sent(NamedTuple):
    """A message on its way: who waits for it or for the response to it, and what happens when it arrives."""

    number: int
    text: str
    asked: Asked
    arrive: Callable[[], None]


class Asked(NamedTuple):
    """A request of a node to another one, until its response has arrived: `heard` is how it ends."""

    asker: int
    receiver: int
    heard: Callable[[Message | None, PeerFailure | None], None]


class RaftConversation:
    """The nodes of a quorum, and the messages on their way."""

    def __init__(self) -> None:
        self.files = SimulatedFiles()
        self.replicas: dict[int, RaftReplica] = {}
        self._running: set[int] = set()
        self._links: dict[Link, deque[Sent]] = {}
        self._sent_count = 0
        self._held: set[Link] = set()
        self._waiting: dict[int, Asked] = {}
        """By their ids, the requests that a node has not answered yet."""
        self._requests_count = 0
        self._lives: dict[int, int] = {}
        self._states: dict[int, str] = {}
        self._lines: list[str] = []

    def run(self, command: str) -> str:
        """Returns what the command prints."""
        verb, *words = command.split()
        arguments = {key.replace("-", "_"): value for key, value in (w.split("=") for w in words if "=" in w)}
        positional = [word for word in words if "=" not in word]
        self._lines = []
        with self.files.attach():
            if verb in REQUESTS:
                asked = Asked(TOOL, int(words[0]), lambda response, failure: None)
                self._receive(asked, *REQUESTS[verb](dict(word.split("=") for word in words[1:])))
            else:
                getattr(self, "_" + verb.replace("-", "_"))(*positional, **arguments)
        return "\n".join(self._lines)

    # Nodes.

    def _voters(self, *node_ids: str, observers: str = "") -> None:
        """`voters 1 2 3 observers=4`: replicas with empty disks, the voters in their 0-0 checkpoints."""
        voter_ids = [int(node_id) for node_id in node_ids]
        for node_id in [*voter_ids, *map(int, filter(None, observers.split(",")))]:
            self.replicas[node_id] = RaftReplica(
                node_id,
                voter_ids,
                self.files.disk(str(node_id)),
                dynamic=True,
                watch=partial(self._watch, node_id),
                answered=self._answered,
                bootstrap_servers=None if node_id in voter_ids else [*map(endpoint, voter_ids)],
            )

    def _start(self, *node_ids: str) -> None:
        for node_id in map(int, node_ids):
            self.replicas[node_id].begin()
            self._running.add(node_id)
            self._do(node_id, self.replicas[node_id].start)

    def _led_by(self, node_id: str) -> None:
        """All start, and this one leads epoch 1; all know that its first records are committed."""
        self._start(*map(str, self.replicas))
        self._tick(node_id, "2000")
        self._deliver()
        self._lines.clear()

    def _kill(self, killed: str) -> None:
        """Ends a process without notice. What it sent and what it has not answered is lost."""
        node_id = int(killed)
        self._running.remove(node_id)
        self._lives[node_id] = self._lives.get(node_id, 0) + 1
        self.replicas[node_id].kill()
        for request_id, asked in list(self._waiting.items()):
            if asked.receiver == node_id:
                del self._waiting[request_id]
                asked.heard(None, NOTHING_CAME)
        self._drop(killed)

    def _do(self, node_id: int, action: Callable[[], object]) -> None:
        """Lets one node act, ends the flushes that follow, and prints its state if it is another one."""
        replica = self.replicas[node_id]
        action()
        while replica.is_flushing:
            replica.end_flush()
        node = replica.node
        state = f"{node.state_name} epoch={node.epoch} leader={node.leader_id}"
        if self._states.get(node_id) != state:
            self._states[node_id] = state
            self._lines.append(f"  {node_id} is {state}")

    def _propose(self, node_id: str, count: str) -> None:
        replica = self.replicas[int(node_id)]
        self._do(int(node_id), lambda: replica.append([b"record"] * int(count)))

    def _resign(self, node_id: str) -> None:
        replica = self.replicas[int(node_id)]
        self._do(int(node_id), lambda: replica.step(ResignRequested(replica.node.epoch)))

    def _shutdown(self, node_id: str) -> None:
        self._do(int(node_id), lambda: self.replicas[int(node_id)].step(ShutdownRequested()))

    def _snapshot(self, node_id: str, text: str) -> None:
        """`snapshot 1 7-1`: a checkpoint file, which takes the place of the log before it."""
        offset, epoch = map(int, text.split("-"))
        replica = self.replicas[int(node_id)]
        node = replica.node
        batches = SnapshotBatches(epoch, WALL_MS_AT_START)
        voters = node.voters_at(offset).to_record()
        header = batches.header(WALL_MS_AT_START, node.kraft_version_at(offset), voters)
        replica.write_snapshot(OffsetAndEpoch(offset, epoch), [header, batches.footer()])
        replica.clean()
        self._lines.append(f"  {node_id} has its log from {replica.partition.log.start_offset}")

    def _state(self, *node_ids: str) -> None:
        for node_id in map(int, node_ids) if node_ids else sorted(self._running):
            node = self.replicas[node_id].node
            self._lines.append(
                f"{node_id} {node.state_name} epoch={node.epoch} leader={node.leader_id} "
                f"hw={node.high_watermark} end={node.end_offset} voters={node.voter_set.voter_ids()}"
            )

    # Time.

    def _tick(self, *words: str) -> None:
        """`tick 1 500`, or `tick 500` for all nodes: time passes, and what is sent stays on its way."""
        *node_ids, duration_ms = map(int, words)
        for node_id in node_ids or sorted(self._running):
            replica = self.replicas[node_id]
            until_ms = replica.now_ms + duration_ms
            while (deadline_ms := replica.node.next_deadline_ms) is not None and deadline_ms <= until_ms:
                replica.pass_time(max(0, deadline_ms - replica.now_ms))
                self._do(node_id, partial(replica.step, DeadlineReached()))
            replica.pass_time(until_ms - replica.now_ms)

    # Messages.

    def _deliver(self, *links: str) -> None:
        """`deliver 1->2`: what is on this link; `deliver`: all but what is held, until nothing is sent."""
        for link in map(_link, links):
            for _ in range(len(self._links.get(link, ()))):
                self._deliver_first(link)
        deliveries = 0
        while not links and (ready := self._ready()):
            deliveries += 1
            assert deliveries <= DELIVERIES_MAX, "the nodes do not stop talking"
            self._deliver_first(min(ready, key=lambda link: self._links[link][0].number))

    def _ready(self) -> list[Link]:
        return [link for link, queue in self._links.items() if queue and link not in self._held]

    def _hold(self, *links: str) -> None:
        """`hold 1->2`, or `hold 1` for all links of a node."""
        self._held.update(self._named(links))

    def _release(self, *links: str) -> None:
        self._held.difference_update(self._named(links))

    def _drop(self, *links: str) -> None:
        """Loses what is on these links: a sender that waits learns that no response comes."""
        for link in self._named(links):
            self._lose(link)

    def _named(self, words: tuple[str, ...]) -> list[Link]:
        links = [(one, other) for one in self.replicas for other in self.replicas if one != other]
        named = {_link(word) if ">" in word else int(word) for word in words}
        return [link for link in links if link in named or not named.isdisjoint(link)]

    def _lose(self, link: Link) -> None:
        for sent in self._links.pop(link, ()):
            self._lines.append(f"{link[0]}->{link[1]} lost: {sent.text}")
            sent.asked.heard(None, NOTHING_CAME)

    def _deliver_first(self, link: Link) -> None:
        sent = self._links[link].popleft()
        self._lines.append(f"{link[0]}->{link[1]} {sent.text}")
        sent.arrive()

    def _put(self, link: Link, message: Message, asked: Asked, arrive: Callable[[], None]) -> None:
        self._sent_count += 1
        sent = Sent(self._sent_count, brief(message), asked, arrive)
        self._links.setdefault(link, deque()).append(sent)

    def _watch(self, node_id: int, effect: RaftEffect) -> None:
        if isinstance(effect, SendRequest):
            self._send(node_id, effect)
        if not isinstance(effect, UNPRINTED):
            self._lines.append(f"  {node_id} {effect_line(effect).splitlines()[0]}")
            if isinstance(effect, AppendBatch) and effect.is_control:
                self._lines.extend(f"      {record}" for record in brief_records(effect.batch))

    def _send(self, node_id: int, effect: SendRequest) -> None:
        life = self._lives.get(node_id)

        def heard(response: Message | None, failure: PeerFailure | None) -> None:
            if node_id in self._running and self._lives.get(node_id) == life:
                refused = failure is CLOSED
                event = ResponseReceived(effect.send_id, response, refused=refused, failure=failure)
                self._do(node_id, lambda: self.replicas[node_id].step(event))

        receiver = int(effect.host.removeprefix("host-"))
        asked = Asked(node_id, receiver, heard)
        self._put((node_id, receiver), effect.request, asked, partial(self._arrive, asked, effect.request))

    def _arrive(self, asked: Asked, request: Message) -> None:
        if asked.receiver not in self._running:
            self._lines.append(f"  {asked.receiver} refuses connections")
            asked.heard(None, CLOSED)
        elif isinstance(request, ApiVersionsRequest):
            self._respond(asked, VERSIONS)
        else:
            version = FETCH_VERSION if isinstance(request, FetchRequest) else type(request).HIGHEST_VERSION
            self._receive(asked, request, version)

    def _receive(self, asked: Asked, request: Message, version: int) -> None:
        self._requests_count += 1
        self._waiting[self._requests_count] = asked
        replica = self.replicas[asked.receiver]
        self._do(asked.receiver, lambda: replica.request(request, version, self._requests_count))

    def _respond(self, asked: Asked, response: Message) -> None:
        link = (asked.receiver, asked.asker)
        self._put(link, response, asked, lambda: asked.heard(response, None))

    def _answered(self, request_id: int, response: Message) -> None:
        asked = self._waiting.pop(request_id)
        if asked.asker == TOOL:
            self._lines.append(f"{asked.receiver}->tool {brief(response)}")
        else:
            self._respond(asked, response)


def _link(word: str) -> Link:
    sender, _, receiver = word.partition("->")
    return int(sender), int(receiver)
