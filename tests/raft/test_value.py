"""Effects and events compare by their fields and print them: what a failing test shows is readable."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from kraftctl.apis.api_table import API_TABLE
from kraftctl.controller.audit.audit_trail import AuditEntry
from kraftctl.controller.audit.change_list import ChangeList
from kraftctl.controller.results.noted_refusal import NotedRefusal
from kraftctl.controller.results.request_context import RequestContext
from kraftctl.node import events as node_events
from kraftctl.node.events import NodeEffect, NodeEvent, WriteSnapshot
from kraftctl.raft import effects, events
from kraftctl.raft.effects import AppendBatch, FlushLog, Notice, RaftEffect, Respond, TruncateLog
from kraftctl.raft.election_state import ElectionState
from kraftctl.raft.events import LogFlushed, RaftEvent, SnapshotDownloaded, Started
from kraftctl.raft.value import Value
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.fetch_response import FetchResponse
from kraftctl_protocol.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftctl_protocol.generated.request_header import RequestHeader
from kraftctl_protocol.generated.vote_request import VoteRequest
from kraftctl_protocol.generated.vote_response import VoteResponse
from kraftctl_protocol.offset_and_epoch import OffsetAndEpoch
from kraftctl_protocol.principal import ANONYMOUS
from kraftctl_protocol.record_batch import encode_batch
from kraftctl_protocol.requests import decode_request_head, encode_request

CLASSES = {each for union in (RaftEffect, RaftEvent, NodeEffect, NodeEvent) for each in get_args(union)}

CONTEXT = RequestContext(
    api=API_TABLE[VoteRequest.API_KEY],
    version=2,
    client_id=None,
    principal=ANONYMOUS,
    listener="CONTROLLER",
    client_address=b"",
)

HEAD = decode_request_head(
    encode_request(RequestHeader(request_api_key=VoteRequest.API_KEY, request_api_version=2), VoteRequest())
)


REFUSALS = {n: NotedRefusal("token", "User:alice", f"{n}") for n in (1, 2)}
"""Compared by identity."""


def examples(n: int) -> list[Value]:
    """One of each effect and event, with `n` in a field if it has any."""
    snapshot_id = OffsetAndEpoch(n, 1)
    return [
        effects.WriteQuorumState(ElectionState(epoch=n)),
        effects.AppendBatch(n, n, 1, b"batch", False),
        effects.FlushLog(n),
        effects.TruncateLog(n),
        effects.SaveSnapshotSlice(snapshot_id, 0, b"data", 4),
        effects.FinishSnapshot(snapshot_id),
        effects.StartOver(snapshot_id),
        effects.Respond(n, VoteResponse()),
        effects.RespondFetch([n], FetchResponse(), 0, 1, 1),
        effects.RespondFetchSnapshot(n, FetchSnapshotResponse(), snapshot_id, 0, 1),
        effects.HighWatermarkUpdated(n),
        effects.BecameLeader(n, 1),
        effects.LeadershipConfirmed(n),
        effects.LeadershipLost(n),
        effects.LeaderChanged(n, 1),
        effects.SendRequest(n, 1, "host", 9093, VoteRequest.API_KEY, VoteRequest()),
        effects.NoteRecovered(),
        effects.Halt(f"{n}"),
        effects.Notice(effects.RAFT, effects.INFO, f"{n}"),
        events.Started(),
        events.DeadlineReached(),
        events.RequestReceived(n, "CONTROLLER", VoteRequest.API_KEY, 2, VoteRequest()),
        events.RequestCancelled(n),
        events.ResponseReceived(n, None),
        events.LogFlushed(n),
        events.SnapshotCreated(snapshot_id, 1),
        events.SnapshotDownloaded(snapshot_id, 1),
        events.LogStartChanged(n, [snapshot_id]),
        events.LoadingChanged(n % 2 == 0),
        events.ResignRequested(n),
        events.ShutdownRequested(),
        node_events.ClientRequest(n, CONTEXT, VoteRequest()),
        node_events.UndecodedRequest(n, CONTEXT, HEAD),
        node_events.DecodeBody(n, CONTEXT, HEAD),
        node_events.NodeConfigsChanged({"max.connections": f"{n}"}, {}),
        node_events.LogLevelsChanged({f"kraftctl.{n}": None}),
        node_events.BodyRefused(n, Errors.INVALID_REQUEST, "damaged"),
        node_events.LogRead(b"" if n == 1 else encode_batch(0, 1, 0, [b"record"]), "a file"),
        node_events.SnapshotRead(snapshot_id, n, b"batches", -1),
        node_events.ReadLog(n, 1, 1),
        node_events.ReadSnapshot(snapshot_id, n, 1),
        node_events.WriteSnapshotPart(snapshot_id, [b"batch"], 0),
        node_events.WriteSnapshot(snapshot_id, [b"batch"]),
        node_events.AbandonSnapshot(snapshot_id),
        node_events.CloseConnection(n),
        node_events.RequestFailed("kafka", f"{n}"),
        node_events.TakeTurn("SNAPSHOT", n),
        node_events.TurnTaken("SNAPSHOT", n),
        node_events.Audited(audit_entry(n)),
        node_events.AuthorizerLines([], n),
        node_events.RefusalNoted(REFUSALS[n]),
    ]


ENTRIES: dict[int, AuditEntry] = {}
"""Entries change until they are complete, and are compared by identity."""


def audit_entry(n: int) -> AuditEntry:
    return ENTRIES.setdefault(
        n,
        AuditEntry(CONTEXT, received_wall_ms=n, leader_epoch=1, validate_only=False, described=ChangeList()),
    )


def test_the_examples_hold_every_effect_and_event() -> None:
    assert {type(each) for each in examples(1)} == CLASSES


@pytest.mark.parametrize("at", range(len(examples(1))), ids=[type(each).__name__ for each in examples(1)])
def test_every_effect_and_event_compares_and_prints(at: int) -> None:
    one, same, other = examples(1)[at], examples(1)[at], examples(2)[at]
    assert one == same
    assert repr(one) == repr(same)
    assert repr(one).startswith(f"{type(one).__name__}(")
    has_fields = not repr(one).endswith("()")
    assert (one != other) is has_fields
    unhashable: Any = one
    with pytest.raises(TypeError):
        hash(unhashable)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param(Started(), "Started()", id="no-fields"),
        pytest.param(
            AppendBatch(5, 6, 2, b"abc", False),
            "AppendBatch(base_offset=5, last_offset=6, epoch=2, batch=b'abc', is_control=False)",
            id="short-bytes",
        ),
        pytest.param(
            AppendBatch(5, 6, 2, bytes(1000), True),
            "AppendBatch(base_offset=5, last_offset=6, epoch=2, batch=<1000 bytes>, is_control=True)",
            id="long-bytes",
        ),
        pytest.param(
            Notice("kafka", "INFO", "text"), "Notice(source='kafka', level='INFO', text='text')", id="text"
        ),
        pytest.param(
            SnapshotDownloaded(OffsetAndEpoch(7, 3), 9),
            "SnapshotDownloaded(snapshot_id=OffsetAndEpoch(offset=7, epoch=3), size_bytes=9, "
            "kraft_version=0, voters=None)",
            id="defaults",
        ),
        pytest.param(
            WriteSnapshot(OffsetAndEpoch(1, 1), [bytes(100), b"a"]),
            "WriteSnapshot(snapshot_id=OffsetAndEpoch(offset=1, epoch=1), batches=[<100 bytes>, b'a'], "
            "position=0)",
            id="bytes-in-lists",
        ),
    ],
)
def test_a_value_prints_its_fields_in_the_order_of_its_constructor(value: Value, text: str) -> None:
    assert repr(value) == text


def test_long_fields_are_shortened() -> None:
    text = repr(Notice("kafka", "INFO", "x" * 100_000))
    assert len(text) < 1000
    assert text.endswith("...)")


def test_messages_in_values_compare_by_their_fields() -> None:
    assert Respond(1, FetchResponse(error_code=3)) == Respond(1, FetchResponse(error_code=3))
    assert Respond(1, FetchResponse(error_code=3)) != Respond(1, FetchResponse(error_code=4))


def test_values_of_two_classes_differ_though_their_fields_are_equal() -> None:
    assert FlushLog(5) != TruncateLog(5)
    assert FlushLog(5) != LogFlushed(5)
    assert FlushLog(5) != 5
