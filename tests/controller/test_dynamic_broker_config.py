"""The broker configs that a node shows are those that are committed, asked before or not.

Of the cluster's default, Kafka keeps num.io.threads where it would become more than twice as large in one
step: so it shows which steps a node has taken.
"""

from __future__ import annotations

import random

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.config.controller_config import ControllerConfig
from kraftctl.controller.quorum_controller import QuorumController
from kraftctl.controller.results.controller_result import ControllerResult
from kraftctl.controller.results.moment import Moment
from kraftctl.controller.results.request_context import RequestContext
from kraftctl_protocol.config_resource import BROKER, CLUSTER_DEFAULT
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.message import Message
from kraftctl_protocol.metadata_record import RecordAndVersion, encode_metadata_record
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.record_batch import encode_batch, read_batch_header
from tests.support.active_controller import (
    BASE_PROPERTIES,
    CLUSTER_ID,
    ENDPOINTS,
    NODE_ID,
    bootstrap_records,
)
from tests.support.metadata_state import UNLIMITED

OWN = str(NODE_ID)
KEY = "num.io.threads"
"""8 in the properties file."""

Batch = list[Message]


def threads(*values: int | None, name: str = CLUSTER_DEFAULT) -> Batch:
    """Records of one batch."""
    return [ConfigRecord(BROKER, name, KEY, None if value is None else str(value)) for value in values]


class Node:
    """A controller that appends, or is given, batches of one log."""

    def __init__(self, *, active: bool, loaded: bool = True) -> None:
        config = ControllerConfig({**BASE_PROPERTIES, KEY: "8"})
        bootstrap = bootstrap_records()
        self.controller = QuorumController(config, CLUSTER_ID, random.Random(1), bootstrap, ENDPOINTS)
        self.controller.follow_quorum(NODE_ID, 1, [NODE_ID])
        self.end_offset = 1
        self.asks_always = False
        self.replay([entry.record for entry in bootstrap])
        if active:
            self.controller.claim(1, self.moment)
        elif loaded:
            self.controller.caught_up()

    @property
    def moment(self) -> Moment:
        return Moment(1, 1, self.end_offset, UNLIMITED)

    def append(self, *batches: Batch) -> None:
        """As the active controller; nothing is committed."""
        for batch in batches:
            records = [RecordAndVersion(record, record.HIGHEST_VERSION) for record in batch]
            prepared = self.controller.prepare(ControllerResult.of(records, None))
            self.controller.begin_append(prepared)
            for each in prepared.batches:
                self.controller.replay(each.records, self.end_offset)
                self.end_offset += len(each.records)
            if self.asks_always:
                self.shown()

    def commit(self) -> None:
        self.controller.committed(self.end_offset)

    def replay(self, *batches: Batch) -> None:
        """As a standby does with committed batches."""
        for batch in batches:
            replay(self.controller.replay_of_log(), batch, self.end_offset)
            self.end_offset += len(batch)
            self.controller.skip_to(self.end_offset)
            if self.asks_always:
                self.shown()

    def load_snapshot(self, *batches: Batch) -> None:
        """Of a log with these batches."""
        offset = self.end_offset + sum(len(batch) for batch in batches)
        replaying = self.controller.replay_of_snapshot(OffsetAndEpoch(offset, 1))
        for batch in batches:
            replay(replaying, batch, 0)
        self.end_offset = offset
        self.controller.use_image(replaying.image, offset)

    def renounce(self) -> None:
        self.controller.renounce()
        self.end_offset = self.controller.next_replay_offset

    def shown(self, key: str = KEY) -> str | None:
        resource = DescribeConfigsResource(resource_type=BROKER, resource_name=OWN, configuration_keys=[key])
        request = DescribeConfigsRequest(resources=[resource], include_synonyms=True)
        context = RequestContext(
            api=API_TABLE[request.API_KEY],
            version=request.HIGHEST_VERSION,
            client_id="test",
            principal=ANONYMOUS,
            listener="CONTROLLER",
            client_address=b"\x7f\0\0\1",
            envelope=False,
        )
        response = self.controller.handle(context, request, self.moment).response
        assert response is not None
        (entry,) = response.results[0].configs
        return entry.value


def replay(replaying, batch: Batch, base_offset: int) -> None:
    values = [encode_metadata_record(record, record.HIGHEST_VERSION) for record in batch]
    encoded = encode_batch(base_offset, 1, 0, values)
    replaying.begin(encoded, 0, read_batch_header(encoded, 0), "the metadata log")
    assert replaying.replay_some(len(batch) + 1)


def test_what_is_undone_leaves_nothing_behind() -> None:
    """A controller that describes uncommitted configs, and loses its leadership, shows what others show."""
    node, other = Node(active=True), Node(active=False)
    for value, shown in ((16, "16"), (32, "32"), (64, "64")):
        node.append(threads(value))
        assert node.shown() == shown, "once all of it is committed"
    node.renounce()
    assert (node.shown(), other.shown()) == ("8", "8")
    for each in (node, other):
        each.replay(threads(12))
    assert (node.shown(), other.shown()) == ("12", "12")


def test_what_is_committed_of_several_changes_is_the_next_step() -> None:
    node, other = Node(active=True), Node(active=False)
    node.append(threads(16))
    end_offset = node.end_offset
    node.append(threads(32))
    assert node.shown() == "32"
    node.controller.committed(end_offset)
    assert node.controller.state.dynamic_config.properties[KEY] == "16"
    node.renounce()
    other.replay(threads(16))
    assert (node.shown(), other.shown()) == ("16", "16")
    for each in (node, other):
        each.replay(threads(32))
    assert (node.shown(), other.shown()) == ("32", "32")


def test_steps_to_what_is_stored_already_are_steps() -> None:
    node = Node(active=True)
    node.append(threads(32))
    node.commit()
    assert node.shown() == "8"
    node.append(threads(16), threads(32))
    assert node.shown() == "32"
    node.commit()
    assert node.shown() == "32"


HISTORIES: list[tuple[list[Batch], str]] = [
    ([threads(16)], "16"),
    ([threads(16), threads(32)], "32"),
    ([threads(16, 32)], "8"),
    ([threads(32)], "8"),
    ([threads(32), threads(16)], "16"),
    ([threads(32), threads(16, 32)], "8"),
    ([threads(16), threads(16, name="7"), threads(32)], "32"),
    ([threads(16), threads(32, name=OWN)], "16"),
    ([[*threads(16), *threads(32, name=OWN)]], "16"),
    ([threads(16), threads(12, name=OWN), threads(32)], "32"),
    ([threads(16), threads(None, 32)], "32"),
    ([threads(16), threads(None), threads(32)], "8"),
]


@pytest.mark.parametrize(("batches", "expected"), HISTORIES)
@pytest.mark.parametrize("asks_always", [False, True])
def test_each_node_shows_the_same(batches: list[Batch], expected: str, asks_always: bool) -> None:
    """One that leads and commits each batch, or all together, and one that replays them."""
    stepwise, together, standby = Node(active=True), Node(active=True), Node(active=False)
    for node in (stepwise, together, standby):
        node.asks_always = asks_always
    for batch in batches:
        stepwise.append(batch)
        stepwise.commit()
    together.append(*batches)
    before = together.shown()
    together.commit()
    standby.replay(*batches)
    shown = (stepwise.shown(), together.shown(), standby.shown())
    assert shown == (expected, expected, expected)
    assert before == expected, "what waits for the commit shows what is shown after it"


@pytest.mark.parametrize("asks_always", [False, True])
def test_what_was_committed_before_the_start_is_one_step(asks_always: bool) -> None:
    """As on a node of Kafka that restarts: of old history only the end counts, asked meanwhile or not."""
    for values, expected in (((16, 32), "8"), ((64, 16), "16"), ((16,), "16")):
        history = [threads(value) for value in values]
        restarted, loading = Node(active=False, loaded=False), Node(active=False)
        restarted.asks_always = loading.asks_always = asks_always
        restarted.replay(*history)
        restarted.controller.caught_up()
        assert restarted.shown() == expected, values
        loading.load_snapshot(*history)
        assert loading.shown() == expected, values
        claiming = Node(active=False, loaded=False)
        claiming.replay(*history)
        claiming.controller.claim(1, claiming.moment)
        assert claiming.shown() == expected, values
        for node in (restarted, loading):
            node.replay(threads(12))
            assert node.shown() == "12"


@pytest.mark.parametrize("asks_always", [False, True])
@pytest.mark.parametrize(
    ("last", "expected"), [(EndTransactionRecord(), "12"), (AbortTransactionRecord(), "8")]
)
def test_a_metadata_transaction_is_one_step(last: Message, expected: str, asks_always: bool) -> None:
    """KIP-868: of an aborted one, nothing was ever there."""
    node = Node(active=False)
    node.asks_always = asks_always
    node.replay([BeginTransactionRecord(name="t")], threads(16), threads(32), threads(12))
    assert node.controller.state.dynamic_config.properties[KEY] == "8"
    node.replay([last])
    assert node.shown() == expected
    node.replay(threads(24))
    assert node.shown() == ("24" if expected == "12" else "8")


def test_only_broker_configs_of_this_node_and_of_the_cluster_are_looked_at() -> None:
    """Nothing is kept for a commit of what others have."""
    node = Node(active=True)
    kept = node.controller.state.dynamic_config
    node.append(threads(9, name="7"))
    node.commit()
    assert kept.own == {}
    node.append(threads(9), [ConfigRecord(BROKER, OWN, "max.connections", "7")])
    node.commit()
    assert (kept.own, kept.cluster) == ({"max.connections": "7"}, {KEY: "9"})
