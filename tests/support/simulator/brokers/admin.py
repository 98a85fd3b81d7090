"""The model admin: users' requests, retried as Kafka's AdminClient does, and a history of the responses."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial

from kraftctl.apis.api_table import API_TABLE
from kraftctl.metadata import features
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.create_topics_response import CreateTopicsResponse
from kraftctl_protocol.generated.envelope_request import EnvelopeRequest
from kraftctl_protocol.generated.envelope_response import EnvelopeResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.message import Message
from kraftctl_protocol.principal import serialize_principal
from kraftctl_protocol.requests import decode_response, encode_request
from tests.support.simulator.brokers import admin_requests
from tests.support.simulator.brokers.admin_history import AdminHistory, Operation, Outcome
from tests.support.simulator.brokers.broker_world import BrokerWorld
from tests.support.simulator.brokers.brokers import ModelBroker
from tests.support.simulator.brokers.sender import Sender
from tests.support.simulator.brokers.wide_operations import WideOperations
from tests.support.simulator.cluster.users import ADMIN, USERS, principal_of
from tests.support.simulator.coverage import count_response

Answered = Callable[[Message | None, bool], None]
"""(response, is_certain)"""

CHANNELS = 3
TRY_TIMEOUT_US = 3_000_000
TRIES_MAX = 6
BACKOFF_US = 100_000
RETENTION_MS = "retention.ms"
MIN_ISR = "min.insync.replicas"

UNCERTAIN = frozenset({Errors.NOT_CONTROLLER, Errors.REQUEST_TIMED_OUT, Errors.NOT_LEADER_OR_FOLLOWER})
"""The records of such a request may be committed all the same."""

DRAWN_FEATURES = (
    features.TRANSACTION_VERSION,
    features.GROUP_VERSION,
    features.ELIGIBLE_LEADER_REPLICAS_VERSION,
    features.SHARE_VERSION,
    features.STREAMS_VERSION,
)

VoterChange = Callable[[random.Random], tuple[str, Message] | None]
"""Draws an AddRaftVoter or RemoveRaftVoter request, with a name for the history; None if none is due."""


def no_voter_change(rng: random.Random) -> tuple[str, Message] | None:
    """For quorums that do not change."""
    return None


class ModelAdmin:
    """`start` begins, `stop` ends the sending of new operations; `history` has all of them."""

    def __init__(
        self,
        world: BrokerWorld,
        brokers: Sequence[ModelBroker],
        rng: random.Random,
        *,
        draw_voter_change: VoterChange = no_voter_change,
    ) -> None:
        self.history = AdminHistory()
        self.world = world
        self.brokers = brokers
        self.rng = rng
        self._draw_voter_change = draw_voter_change
        self._counts: Counter[str] = world.counts
        self.busy: set[tuple[str, Hashable]] = set()
        self.topics: dict[str, int] = {}
        """Topics that exist as far as the admin knows, and how many partitions it has asked for."""
        self._reassigned: tuple[str, int] | None = None
        self.drawn = 0
        self.requests = 0
        self._stopped = False
        self._node_id = rng.choice(world.bootstrap)
        self._operations = {
            "create_topic": self._create_topic,
            "delete_topic": self._delete_topic,
            "create_partitions": self._create_partitions,
            "alter_configs": self._alter_configs,
            "alter_quotas": self._alter_quotas,
            "alter_scram": self._alter_scram,
            "create_acls": self._create_acls,
            "reassign": self._reassign,
            "reassign_topic": self._reassign_topic,
            "cancel_reassignment": self._cancel_reassignment,
            "elect_everything": self._elect_everything,
            "elect_preferred": self._elect_preferred,
            "elect_unclean": self._elect_unclean,
            "update_features": self._update_features,
            "change_voters": self._change_voters,
            "unregister_broker": self._unregister_broker,
        }
        self._operations |= WideOperations(self).table()

    def start(self) -> None:
        self._later(self.world.mix.admin_interval_us)

    def stop(self) -> None:
        self._stopped = True

    @property
    def is_idle(self) -> bool:
        """Whether nothing waits for a response."""
        return not self.busy

    @property
    def elr_has_changed(self) -> bool:
        """Whether it may have switched KIP-966 on, or have cleared what is eligible by a change of
        min.insync.replicas: partitions could keep an empty ISR for ever.
        """
        operations = self.history.of("update_features", features.ELIGIBLE_LEADER_REPLICAS_VERSION)
        for kind in ("alter_configs", "alter_resource"):
            for subject in self.history.subjects(kind):
                if isinstance(subject, tuple) and subject[-1] == MIN_ISR:
                    operations = operations + self.history.of(kind, subject)
        return any(operation.outcome is not Outcome.REFUSED for operation in operations)

    def _later(self, mean_us: int) -> None:
        self.world.time.call_after(self.rng.randint(mean_us // 4, mean_us * 7 // 4), self._next)

    def _next(self) -> None:
        if self._stopped:
            return
        name = self.world.mix.draw_operation(self.rng)
        if self.world.mix.is_wide and not self.topics and self.running():
            self.create_first_topic()
        elif name is not None:
            self._operations[name]()
        self._later(self.world.mix.admin_interval_us)

    # What it asks for.

    def _create_topic(self) -> None:
        if len(self.topics) >= self.world.mix.topics_max:
            return
        rng = self.rng
        mix = self.world.mix
        broker_ids = [broker.broker_id for broker in self.brokers]
        self.drawn += 1
        partitions = rng.randint(mix.partitions_min, mix.partitions_max)
        replication_factor = rng.randint(mix.replication_factor_min, min(3, len(broker_ids)))
        assignments: list[list[int]] = []
        if rng.random() < 0.2:
            assignments = [rng.sample(broker_ids, replication_factor) for _ in range(partitions)]
        self._create_topic_of(partitions, replication_factor, assignments)

    def _create_topic_of(
        self,
        partitions: int,
        replication_factor: int,
        assignments: list[list[int]],
        sender: Sender | None = None,
    ) -> None:
        rng = self.rng
        name = f"topic-{self.drawn}"
        configs = {"min.insync.replicas": str(rng.randint(1, replication_factor))}
        if rng.random() < self.world.mix.unclean_share:
            configs["unclean.leader.election.enable"] = "true"
        request = admin_requests.create_topic(
            name,
            partitions=partitions,
            replication_factor=replication_factor,
            assignments=assignments,
            configs=configs,
        )

        def created(operation: Operation, response: Message | None) -> None:
            if isinstance(response, CreateTopicsResponse) and operation.outcome is Outcome.ACKNOWLEDGED:
                operation.value = response.topics[0].topic_id.hex()
                self.topics[name] = partitions

        self.perform("create_topic", name, None, request, created, sender)

    def create_first_topic(self) -> bool:
        """Nothing is in the way of it once a broker runs. Whether it is there."""
        if not self.topics and not any(kind == "create_topic" for kind, _ in self.busy) and self.running():
            self.drawn += 1
            self._create_topic_of(
                self.rng.randint(1, 3), self.rng.randint(1, min(3, len(self.running()))), [], Sender(ADMIN)
            )
        return bool(self.topics)

    def topic(self) -> str | None:
        return self.rng.choice(list(self.topics)) if self.topics else None

    def _delete_topic(self) -> None:
        name = self.topic()
        if name is not None:
            del self.topics[name]
            self.perform("delete_topic", name, None, admin_requests.delete_topic(name))

    def _create_partitions(self) -> None:
        name = self.topic()
        if name is not None and self.topics[name] < self.world.mix.partitions_max:
            self.topics[name] += 1
            count = self.topics[name]
            self.perform("create_partitions", name, count, admin_requests.create_partitions(name, count))

    def _alter_configs(self) -> None:
        name = self.topic()
        if name is not None and ("alter_configs", (name, RETENTION_MS)) not in self.busy:
            self.drawn += 1
            request = admin_requests.set_topic_config(name, RETENTION_MS, str(self.drawn))
            self.perform("alter_configs", (name, RETENTION_MS), self.drawn, request)

    def _alter_quotas(self) -> None:
        user = f"user-{self.rng.randint(1, 5)}"
        if ("alter_quotas", user) not in self.busy:
            self.drawn += 1
            self.perform("alter_quotas", user, self.drawn, admin_requests.set_quota(user, self.drawn))

    def _alter_scram(self) -> None:
        self.drawn += 1
        user = f"scram-{self.drawn}"
        self.perform("alter_scram", user, None, admin_requests.create_user(user))

    def _create_acls(self) -> None:
        self.drawn += 1
        name = f"acl-{self.drawn}"
        self.perform("create_acls", name, None, admin_requests.create_acl(name))

    def _reassign(self) -> None:
        name = self.topic()
        if name is not None:
            broker_ids = [broker.broker_id for broker in self.brokers]
            replicas = self.rng.sample(broker_ids, self.rng.randint(1, min(3, len(broker_ids))))
            index = self.rng.randrange(self.topics[name])
            self._reassigned = (name, index)
            request = admin_requests.reassign(name, index, replicas)
            self.perform("reassign", (name, index, self.requests), None, request)

    def _reassign_topic(self) -> None:
        """All of its partitions; some of them move."""
        name = self.topic()
        if name is not None:
            rng = self.rng
            broker_ids = [broker.broker_id for broker in self.brokers]
            replicas = [rng.sample(broker_ids, min(3, len(broker_ids))) for _ in range(self.topics[name])]
            self._reassigned = (name, rng.randrange(self.topics[name]))
            request = admin_requests.reassign_all(name, replicas)
            self.perform("reassign_topic", (name, self.requests), None, request)

    def _elect_everything(self) -> None:
        request = admin_requests.elect_everything()
        self.perform("elect_everything", self.requests, None, request)

    def _cancel_reassignment(self) -> None:
        """Of the newest one: older ones have mostly completed."""
        if self._reassigned is not None:
            name, index = self._reassigned
            request = admin_requests.reassign(name, index, None)
            self.perform("cancel_reassignment", (name, index, self.requests), None, request)

    def _elect_preferred(self) -> None:
        self._elect("elect_preferred", unclean=False)

    def _elect_unclean(self) -> None:
        self._elect("elect_unclean", unclean=True)

    def _elect(self, kind: str, *, unclean: bool) -> None:
        name = self.topic()
        if name is not None:
            request = admin_requests.elect(name, list(range(self.topics[name])), unclean=unclean)
            self.perform(kind, (name, self.requests), None, request)

    def _update_features(self) -> None:
        feature = self.rng.choice(DRAWN_FEATURES)
        if ("update_features", feature) not in self.busy:
            is_elr = feature == features.ELIGIBLE_LEADER_REPLICAS_VERSION
            level = self.rng.randint(is_elr, features.SUPPORTED_FEATURES[feature].max)
            request = admin_requests.update_feature(feature, level, self.rng.choice([1, 2]))
            self.perform("update_features", feature, level, request)

    def _change_voters(self) -> None:
        drawn = self._draw_voter_change(self.rng)
        if drawn is not None:
            name, request = drawn
            self.perform("change_voters", (name, self.requests), None, request)

    def _unregister_broker(self) -> None:
        broker_id = self.rng.choice(self.brokers).broker_id
        request = admin_requests.unregister_broker(broker_id)
        self.perform("unregister_broker", (broker_id, self.requests), None, request)

    # How it asks.

    def perform(
        self,
        kind: str,
        subject: Hashable,
        value: int | str | None,
        request: Message,
        done: Callable[[Operation, Message | None], None] | None = None,
        sender: Sender | None = None,
    ) -> None:
        """As one who is drawn, unless it says as whom."""
        operation = self.history.begin(kind, subject, value, self.world.time.now_us)
        self.busy.add((kind, subject))
        self._counts[f"admin {kind}"] += 1
        _Tries(self, operation, request, done, sender or Sender(self._draw_user())).send()

    def _draw_user(self) -> str:
        share = self.world.mix.users_share
        return self.rng.choice(USERS) if share and self.rng.random() < share else ADMIN

    def next_number(self) -> int:
        """Of something that is new each time."""
        self.drawn += 1
        return self.drawn

    def ask(self, request: Message, sender: Sender, check: Callable[[Message], None] | None = None) -> None:
        """Once, for something that changes nothing; `check` gets the response, if there is one."""
        self._counts["admin asks"] += 1

        def answered(response: Message | None, is_certain: bool) -> None:
            if response is not None and check is not None:
                check(response)

        self.try_once(request, answered, sender)

    def running(self) -> list[ModelBroker]:
        """The brokers that forward requests, and get replicas."""
        return [broker for broker in self.brokers if broker.is_running]

    def finished(self, operation: Operation) -> None:
        """No try of the operation is in flight any more."""
        self.busy.discard((operation.kind, operation.subject))
        self._counts[f"admin {operation.kind} {operation.outcome.value}"] += 1

    def try_once(self, request: Message, answered: Answered, sender: Sender) -> None:
        """Directly or through a broker. `answered` is called once; with None if the outcome is unknown.

        `is_certain` is false if the request may have arrived more than once.
        """
        self.requests += 1
        once = _Once(answered)
        self.world.time.call_after(TRY_TIMEOUT_US, once.time_out)
        running = self.running()
        share = self.world.mix.forwarded_share if sender.forwarded_share is None else sender.forwarded_share
        forwarded = running and self.rng.random() < share
        if forwarded and API_TABLE[request.API_KEY].forwardable:
            self._forward(self.rng.choice(running), request, once, sender.user)
        else:
            channel = f"{sender.user}-{self.requests % CHANNELS}"
            is_certain = not self.world.network.may_duplicate
            answered_once = partial(once.answer, is_certain=is_certain)
            node_id = self._node_id if sender.node_id is None else sender.node_id
            self.world.network.call(sender.user, node_id, request, answered_once, channel=channel)

    def ask_another_node(self) -> None:
        """The one asked is not the active controller, or silent."""
        bootstrap = self.world.bootstrap
        known = {broker.leader_id for broker in self.running()} if self.world.mix.is_wide else set()
        known &= {*bootstrap} - {self._node_id}
        if known:
            self._node_id = self.rng.choice(sorted(known))
            return
        others = [node_id for node_id in bootstrap if node_id != self._node_id]
        self._node_id = self.rng.choice(others or bootstrap)

    def again(self, call: Callable[[], None]) -> None:
        self.world.time.call_after(BACKOFF_US, call)

    @property
    def now_us(self) -> int:
        return self.world.time.now_us

    def _forward(self, broker: ModelBroker, request: Message, once: _Once, user: str) -> None:
        assert broker.process is not None
        forwarding = broker.process.forwarding
        version = min(request.HIGHEST_VERSION, API_TABLE[request.API_KEY].highest)
        header = RequestHeader(
            request_api_key=request.API_KEY,
            request_api_version=version,
            correlation_id=self.requests,
            client_id=user,
        )
        envelope = EnvelopeRequest(
            request_data=encode_request(header, request),
            request_principal=serialize_principal(principal_of(user)),
            client_host_address=b"\x7f\0\0\1",
        )
        self._counts["envelopes"] += 1
        may_duplicate = self.world.network.may_duplicate

        def opened(response: Message | None) -> None:
            if not isinstance(response, EnvelopeResponse):
                once.answer(None)
                return
            assert response.error_code == Errors.NONE, f"envelope: {Errors(response.error_code).name}"
            assert response.response_data is not None
            _, inner = decode_response(response.response_data, request.API_KEY, version)
            count_response(self._counts, inner)
            once.answer(inner, is_certain=not (may_duplicate or forwarding.was_resent))

        forwarding.send(envelope, opened, TRY_TIMEOUT_US)


class _Once:
    """The first answer counts, or that there was none in time."""

    def __init__(self, answered: Answered) -> None:
        self._answered: Answered | None = answered

    def answer(self, response: Message | None, is_certain: bool = True) -> None:
        answered, self._answered = self._answered, None
        if answered is not None:
            answered(response, is_certain)

    def time_out(self) -> None:
        self.answer(None)


class _Tries:
    """One operation until it is answered, or given up."""

    def __init__(
        self,
        admin: ModelAdmin,
        operation: Operation,
        request: Message,
        done: Callable[[Operation, Message | None], None] | None,
        sender: Sender,
    ) -> None:
        self._sender = sender
        self._admin = admin
        self._operation = operation
        self._request = request
        self._done = done
        self._tries = 0
        self._uncertain = False

    def send(self) -> None:
        self._tries += 1
        self._admin.try_once(self._request, self._answered, self._sender)

    def _answered(self, response: Message | None, is_certain: bool) -> None:
        operation = self._operation
        operation.answered_us = self._admin.now_us
        error = None if response is None else Errors(admin_requests.error_of_answer(response))
        operation.error = "" if error is None else error.name
        if error is None or error in UNCERTAIN:
            self._uncertain = operation.may_come_again = True
            self._admin.ask_another_node()
            if self._tries < TRIES_MAX:
                self._admin.again(self.send)
                return
        elif error == Errors.NONE:
            operation.outcome = Outcome.ACKNOWLEDGED
        elif is_certain and not self._uncertain:
            operation.outcome = Outcome.REFUSED
        assert error != Errors.UNKNOWN_SERVER_ERROR, f"a bug in a handler: {operation!r}"
        if self._done is not None:
            self._done(operation, response)
        self._admin.finished(operation)
