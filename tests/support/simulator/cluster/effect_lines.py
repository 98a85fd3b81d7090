"""Events and effects of a node as lines of text."""

from __future__ import annotations

from typing import Any, assert_never

from kraftctl.node.events import (
    AbandonSnapshot,
    Audited,
    AuthorizerLines,
    ClientRequest,
    CloseConnection,
    DecodeBody,
    LogLevelsChanged,
    NodeConfigsChanged,
    NodeEffect,
    NodeEvent,
    ReadLog,
    ReadSnapshot,
    RefusalNoted,
    RequestFailed,
    TakeTurn,
    WriteSnapshot,
    WriteSnapshotPart,
)
from kraftctl.raft import events
from kraftctl.raft.effects import (
    AppendBatch,
    BecameLeader,
    FinishSnapshot,
    FlushLog,
    Halt,
    HighWatermarkUpdated,
    LeaderChanged,
    LeadershipConfirmed,
    LeadershipLost,
    NoteRecovered,
    Notice,
    RaftEffect,
    Respond,
    RespondFetch,
    RespondFetchSnapshot,
    SaveSnapshotSlice,
    SendRequest,
    StartOver,
    TruncateLog,
    WriteQuorumState,
)
from kraftctl_protocol.control_record import decode_control_key, decode_control_value
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.message import Message
from kraftctl_protocol.record_batch import read_batches


def effect_line(effect: RaftEffect | NodeEffect) -> str:
    match effect:
        case WriteQuorumState():
            state = effect.state
            voted = "" if state.voted_id < 0 else f" voted={state.voted_id}"
            election = f"epoch={state.epoch} leader={state.leader_id}{voted}"
            return f"write quorum-state v{state.data_version} {election}"
        case AppendBatch():
            text = f"append {effect.base_offset}-{effect.last_offset} epoch={effect.epoch}"
            return text + (_control_records(effect.batch) if effect.is_control else "")
        case FlushLog():
            return f"flush {effect.end_offset}"
        case TruncateLog():
            return f"truncate {effect.end_offset}"
        case SaveSnapshotSlice():
            return f"save {effect.position}+{len(effect.data)} of {effect.snapshot_id}"
        case FinishSnapshot():
            return f"finish {effect.snapshot_id}"
        case StartOver():
            return f"start over at {effect.snapshot_id}"
        case Respond():
            return f"respond {effect.request_id} {render(effect.response)}"
        case RespondFetch():
            return (
                f"respond {', '.join(map(str, effect.request_ids))} {render(effect.response)}\n"
                f"  records {effect.read_offset}..{effect.end_offset} up to {effect.max_bytes} bytes"
            )
        case RespondFetchSnapshot():
            return (
                f"respond {effect.request_id} {render(effect.response)}\n"
                f"  bytes {effect.position}+{effect.size_bytes} of {effect.snapshot_id}"
            )
        case NoteRecovered():
            return "note recovered"
        case Halt():
            return f"halt: {effect.text}"
        case HighWatermarkUpdated():
            return f"high watermark {effect.offset}"
        case BecameLeader():
            return f"became leader of {effect.epoch} at {effect.epoch_start_offset}"
        case LeadershipConfirmed():
            return f"confirmed round {effect.round}"
        case LeadershipLost():
            return f"lost leadership of {effect.epoch}"
        case LeaderChanged():
            return f"leader of {effect.epoch} is {effect.leader_id}"
        case Notice():
            return f"{effect.level} {effect.text}"
        case SendRequest():
            return f"send {effect.send_id} to {effect.destination_id}@{effect.host}: {render(effect.request)}"
        case DecodeBody():
            return f"decode {effect.request_id} of {effect.head.size_bytes} bytes"
        case Audited() | AuthorizerLines() | RefusalNoted() | NodeConfigsChanged() | LogLevelsChanged():
            return _line_beside_the_log(effect)
        case WriteSnapshotPart() | WriteSnapshot() | AbandonSnapshot():
            return _line_of_a_snapshot(effect)
        case ReadLog() | ReadSnapshot() | TakeTurn() | CloseConnection() | RequestFailed():
            return _line_of_the_nodes_own(effect)
        case _:
            assert_never(effect)


def _line_beside_the_log(
    effect: Audited | AuthorizerLines | RefusalNoted | NodeConfigsChanged | LogLevelsChanged,
) -> str:
    match effect:
        case Audited():
            return f"audit {effect.entry.context.api.name}: {effect.entry.outcome}"
        case AuthorizerLines():
            return "\n".join(line.text for line in effect.lines)
        case RefusalNoted():
            return effect.refusal.text
        case NodeConfigsChanged() | LogLevelsChanged():
            return repr(effect)
        case _:
            assert_never(effect)


def _line_of_a_snapshot(effect: WriteSnapshotPart | WriteSnapshot | AbandonSnapshot) -> str:
    match effect:
        case WriteSnapshotPart():
            return f"write snapshot {effect.snapshot_id} from byte {effect.position}"
        case WriteSnapshot():
            return f"write snapshot {effect.snapshot_id} from byte {effect.position} to its end"
        case AbandonSnapshot():
            return f"abandon snapshot {effect.snapshot_id}"
        case _:
            assert_never(effect)


def _line_of_the_nodes_own(
    effect: ReadLog | ReadSnapshot | TakeTurn | CloseConnection | RequestFailed,
) -> str:
    match effect:
        case ReadLog():
            return f"read {effect.offset}..{effect.end_offset}"
        case ReadSnapshot():
            return f"read snapshot {effect.snapshot_id}"
        case TakeTurn():
            return f"take a turn of {effect.work} after {effect.spent} units"
        case CloseConnection():
            return f"close the connection of {effect.request_id}"
        case RequestFailed():
            return f"request failed: {effect.text}"
        case _:
            assert_never(effect)


def event_line(event: NodeEvent) -> str:
    """Its kind, and the request, response or offset it brings."""
    name = type(event).__name__
    if isinstance(event, ClientRequest):
        return f"{name} {event.request_id} {render(event.request)}"
    if isinstance(event, events.ResponseReceived):
        no_answer = "refused" if event.refused else "none"
        answer = no_answer if event.response is None else render(event.response)
        return f"{name} {event.send_id} {answer}"
    if isinstance(event, events.LogFlushed):
        return f"{name} {event.end_offset}"
    return name


def render(message: Message) -> str:
    """Fields that differ from their defaults, on one line."""
    return f"{type(message).__name__}({_render_fields(message)})"


def _render_fields(message: Message) -> str:
    parts = []
    # A struct that is encoded when it is made cannot be made without its values; the schema's class can.
    schema_class = next(each for each in type(message).__mro__ if "FIELDS" in vars(each))
    defaults = schema_class()
    for field in schema_class.FIELDS:
        value = getattr(message, field.name)
        if value == getattr(defaults, field.name) or value in (b"", []):
            continue
        parts.append(f"{field.name}={_render_value(field.name, value)}")
    return " ".join(parts)


def _render_value(name: str, value: Any) -> str:
    if name == "error_code":
        return Errors(value).name
    if isinstance(value, Message):
        return f"({_render_fields(value)})"
    if isinstance(value, list):
        return "[" + ", ".join(_render_value("", item) for item in value) + "]"
    if isinstance(value, bytes):
        return f"{value[0]}..{value[-1]}" if len(value) == 16 else f"{len(value)} bytes"
    return str(value)


def _control_records(batch: bytes) -> str:
    return "".join(
        f"\n  {render(decode_control_value(decode_control_key(record.key), record.value))}"
        for record in read_batches(batch)[0].records
    )
