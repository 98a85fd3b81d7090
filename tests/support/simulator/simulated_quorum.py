"""Three whole controller nodes on one virtual clock, with delays, lost messages and power failures."""

from __future__ import annotations

import random

from kraftctl.apis.api_table import RAFT_API_KEYS
from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl.raft import effects, events
from kraftctl_protocol.generated.api_versions_request import ApiVersionsRequest
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import decode_metadata_record
from kraftctl_protocol.record_batch import read_batches
from tests.support.image_records import image_records
from tests.support.simulator.raft_faults import DiskSpeed
from tests.support.simulator.simulated_node import SimulatedNode

NODE_IDS = (3000, 3001, 3002)
VOTERS = {node_id: (f"host-{node_id}", 9093) for node_id in NODE_IDS}
API_VERSIONS = ApiVersionsRequest(client_software_name="kraftctl", client_software_version="1")
TICK_MS = 5
FLUSH_CHANCE = 0.7


class Connection:
    """A connection between nodes. It begins with ApiVersions; requests wait until that is answered."""

    def __init__(self, greeting_id: int) -> None:
        self.greeting_id = greeting_id
        self.open = False
        self.waiting: list[effects.SendRequest] = []


class Member:
    """A node while its power is on. `asked` maps its requests' ids to (sender, its life, send id).

    `send_ids` holds (life, send id) of every request it sent. `connections` are those to it, by sender, the
    sender's life and whether they carry raft's requests.
    """

    def __init__(self, node: SimulatedNode) -> None:
        self.node = node
        self.on = True
        self.life = 0
        self.asked: dict[int, tuple[int, int, int]] = {}
        self.send_ids: set[tuple[int, int]] = set()
        self.flushed_at_ms: int | None = None
        self.connections: dict[tuple[int, int, bool], Connection] = {}


class SimulatedQuorum:
    """Everything is decided by the seed. A message is lost with probability `loss`.

    Nodes whose disk is not among `disks` flush within a few ticks.
    """

    def __init__(self, seed: int, *, snapshot_bytes: int = 1 << 40) -> None:
        self.rng = random.Random(seed)
        self.loss = 0.0
        self.disks: dict[int, DiskSpeed] = {}
        self.now_ms = 1_000_000
        self.members = {
            node_id: Member(
                SimulatedNode(
                    seed=seed * 10_000_000 + node_id * 1_000,
                    node_id=node_id,
                    voters=VOTERS,
                    snapshot_bytes=snapshot_bytes,
                )
            )
            for node_id in NODE_IDS
        }

    def running(self) -> list[Member]:
        return [member for member in self.members.values() if member.on]

    def active(self) -> SimulatedNode | None:
        """The active controller of the highest epoch."""
        nodes = [member.node for member in self.running() if member.node.controller.active]
        return max(nodes, key=lambda node: node.raft.epoch, default=None)

    def await_active(self) -> SimulatedNode:
        for _ in range(60_000 // TICK_MS):
            node = self.active()
            if node is not None:
                return node
            self.tick()
        raise AssertionError("no controller became active")

    def crash(self, node_id: int) -> None:
        member = self.members[node_id]
        if member.on:
            self._end(member)
            member.node.crash()

    def crash_between_effects(self, node_id: int, effects_left: int) -> None:
        """After `effects_left` more effects, within a step; what was not flushed may survive in part."""
        if self.members[node_id].on:
            self.members[node_id].node.effects_left = effects_left

    def _end(self, member: Member) -> None:
        member.on = False
        member.life += 1
        member.asked.clear()
        member.connections.clear()
        member.node.sent.clear()
        member.flushed_at_ms = None

    def _lose_power_between_effects(self, member: Member) -> None:
        unflushed = member.node.disk.unflushed_count()
        self._end(member)
        member.node.crash_with_tail(self.rng.randint(0, unflushed))

    def restart(self, node_id: int) -> None:
        member = self.members[node_id]
        if not member.on:
            member.on = True
            member.node.now_ms = self.now_ms
            member.node.start()

    def run_for(self, milliseconds: int) -> None:
        for _ in range(milliseconds // TICK_MS):
            self.tick()

    def tick(self) -> None:
        """Some milliseconds pass: deadlines, disks, and every message that was sent."""
        self.now_ms += TICK_MS
        for member in self.running():
            node = member.node
            node.now_ms = self.now_ms
            deadline_ms = node.node.next_deadline_ms
            if deadline_ms is not None and deadline_ms <= self.now_ms:
                node.offer(events.DeadlineReached())
            node.take_turns()
            self._flush_if_due(member)
        for node_id, member in self.members.items():
            self._deliver_answers(member)
            self._deliver_requests(node_id, member)
        for member in self.running():
            self._deliver_waiting(member)
        for member in self.running():
            if member.node.has_ended:
                self._lose_power_between_effects(member)

    def _flush_if_due(self, member: Member) -> None:
        speed = self.disks.get(member.node.node_id)
        if speed is None:
            if self.rng.random() < FLUSH_CHANCE:
                member.node.flush()
        elif not member.node.is_flushing:
            member.flushed_at_ms = None
        elif member.flushed_at_ms is None:
            member.flushed_at_ms = self.now_ms + speed(self.rng)
        elif member.flushed_at_ms <= self.now_ms:
            member.flushed_at_ms = None
            member.node.flush()

    def _deliver_requests(self, sender_id: int, sender: Member) -> None:
        sent, sender.node.sent = sender.node.sent, []
        for effect in sent:
            sending = (sender.life, effect.send_id)
            assert sending not in sender.send_ids, "two requests of one process share a send id"
            sender.send_ids.add(sending)
            receiver = self.members[
                next(id_ for id_, at in VOTERS.items() if at == (effect.host, effect.port))
            ]
            if not receiver.on:
                sender.node.offer(events.ResponseReceived(effect.send_id, None))
                continue
            key = (sender_id, sender.life, effect.api_key in RAFT_API_KEYS)
            connection = receiver.connections.get(key)
            if connection is None:
                connection = Connection(receiver.node.send(API_VERSIONS))
                receiver.connections[key] = connection
            connection.waiting.append(effect)

    def _deliver_waiting(self, receiver: Member) -> None:
        for (sender_id, life, _), connection in list(receiver.connections.items()):
            if receiver.node.answers.pop(connection.greeting_id, None) is not None:
                connection.open = True
            if connection.open:
                waiting, connection.waiting = connection.waiting, []
                for effect in waiting:
                    if self.rng.random() >= self.loss:
                        request_id = receiver.node.send(_copy(effect))
                        receiver.asked[request_id] = (sender_id, life, effect.send_id)

    def _deliver_answers(self, receiver: Member) -> None:
        for request_id in [id_ for id_ in receiver.asked if id_ in receiver.node.answers]:
            sender_id, life, send_id = receiver.asked.pop(request_id)
            response = receiver.node.answers.pop(request_id)
            sender = self.members[sender_id]
            if sender.on and sender.life == life and self.rng.random() >= self.loss:
                version = type(response).HIGHEST_VERSION
                copy = type(response).decode(response.encode(version), version)
                sender.node.offer(events.ResponseReceived(send_id, copy))


def _copy(effect: effects.SendRequest) -> Message:
    request = effect.request
    version = type(request).HIGHEST_VERSION
    return type(request).decode(request.encode(version), version)


def image_of_log(node: SimulatedNode, end_offset: int) -> list[str]:
    """The image built from the node's own disk alone."""
    image = MetadataImage()
    image.journal.enabled = False
    for entry in node.disk.batches:
        for batch in read_batches(entry.batch):
            if not batch.header.is_control and batch.header.last_offset < end_offset:
                for record in batch.records:
                    replay(image, decode_metadata_record(record.value or b"").record, record.offset)
    return [repr(entry.record) for entry in image_records(image)]


def check_images(quorum: SimulatedQuorum) -> None:
    """The image of every running node matches its own log."""
    for member in quorum.running():
        controller = member.node.controller
        image = [repr(entry.record) for entry in image_records(controller.image)]
        assert image == image_of_log(member.node, controller.next_replay_offset), member.node.node_id
