"""One table of APIs: every row has what it needs, nothing else decides the same, and README shows it."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from kraftctl.apis.api import NO_CLUSTER_RIGHT, Api, Owner, WaitsFor
from kraftctl.apis.api_table import API_TABLE, RAFT_API_KEYS, ROWS
from kraftctl.controller import request_handlers as controller
from kraftctl.controller.results.error_responses import error_response
from kraftctl.raft import request_handlers as raft
from kraftctl_codegen import api_table
from kraftctl_protocol.api_keys import ApiKey
from kraftctl_protocol.errors import Errors
from kraftctl_protocol.generated.index import request_class, version_range
from kraftctl_protocol.message import Message
from tests.protocol.golden_cases import build

ROOT = Path(__file__).resolve().parent.parent

MEMBERS_MAX = 2
"""API keys in one literal, outside the table: more of them are a second table."""

TABLES = (
    "kraftctl/apis/api_table.py",
    "kraftctl/controller/request_handlers.py",
    "kraftctl/raft/request_handlers.py",
    "kraftctl/controller/results/error_responses.py",
    "kraftctl/controller/audit/described_change.py",
)
"""The table, what binds its rows to handlers, the shapes of refusals, and what the audit log says of them."""


def owned_by(*owners: int) -> set[int]:
    return {key for key, api in API_TABLE.items() if api.owner in owners}


def test_every_row_of_the_controller_has_a_handler_and_every_handler_a_row() -> None:
    assert set(controller.HANDLERS) == owned_by(Owner.ACTIVE, Owner.EVERY)


def test_every_row_of_raft_has_a_handler_and_every_handler_a_row() -> None:
    assert set(raft.HANDLERS) == owned_by(Owner.RAFT) == RAFT_API_KEYS


def test_the_node_answers_envelopes_alone() -> None:
    assert owned_by(Owner.NODE) == {ApiKey.ENVELOPE}


def test_what_an_answer_reads_is_known_exactly_where_it_waits_for_that() -> None:
    assert set(controller.READS) == {key for key, api in API_TABLE.items() if api.waits_for == WaitsFor.READS}


def test_rows_are_in_the_order_of_their_keys_and_each_is_there_once() -> None:
    keys = [api.key for api in ROWS]
    assert keys == sorted(API_TABLE)


@pytest.mark.parametrize("api", ROWS, ids=lambda api: ApiKey(api.key).name)
def test_a_row_agrees_with_itself_and_with_the_codec(api: Api) -> None:
    known = version_range(api.key)
    assert known is not None
    assert known[0] <= api.lowest <= api.highest <= known[1]
    assert (api.refusal is not None) == (api.owner == Owner.NOBODY)
    if api.owner == Owner.NOBODY:
        assert (api.cluster_operation, api.forwardable) == (NO_CLUSTER_RIGHT, False)
    if api.owner in (Owner.RAFT, Owner.NODE, Owner.NOBODY):
        assert api.waits_for == WaitsFor.NOTHING
    if api.owner == Owner.ACTIVE:
        of_heartbeats = api.key == ApiKey.BROKER_HEARTBEAT
        assert api.waits_for == (WaitsFor.READS if of_heartbeats else WaitsFor.ALL_BEFORE)
    assert not (api.forwardable and api.owner == Owner.EVERY), "a response of a standby may be old"


def codes_in(message: Message, version: int) -> list[int]:
    """All fields of a response that are error codes, at the top level and in its items."""
    found: list[int] = []
    for field in message.FIELDS:
        value = getattr(message, field.name)
        if field.name == "error_code" and field.in_version(version):
            found.append(value)
        elif field.struct is not None and field.in_version(version):
            items = value if field.type.startswith("[]") else [value]
            found += [code for item in items or () for code in codes_in(item, version)]
    return found


@pytest.mark.parametrize("api", ROWS, ids=lambda api: ApiKey(api.key).name)
def test_a_refusal_has_the_error_wherever_the_response_has_a_place_for_one(api: Api) -> None:
    """In each item of the request, if only items have one: `ITEM_SHAPES` makes those."""
    request_type = request_class(api.key)
    assert request_type is not None
    for version in range(api.lowest, api.highest + 1):
        request = build(request_type, version, "high")
        response = error_response(api.key, request, version, Errors.NOT_CONTROLLER)
        decoded = type(response).decode(response.encode(version), version)
        codes = codes_in(decoded, version)
        assert codes, f"version {version}: no place, or no item"
        assert set(codes) == {int(Errors.NOT_CONTROLLER)}, f"version {version}"


def api_keys_in(node: ast.AST) -> int:
    """How many members of ApiKey a literal holds itself, not in literals inside it."""
    if isinstance(node, ast.Dict):
        entries = [*node.keys, *node.values]
    elif isinstance(node, ast.List | ast.Set | ast.Tuple):
        entries = list(node.elts)
    else:
        return 0
    # `int(ApiKey.FETCH)` counts as well.
    entries = [entry.args[0] if isinstance(entry, ast.Call) and entry.args else entry for entry in entries]
    return sum(
        isinstance(entry, ast.Attribute) and isinstance(entry.value, ast.Name) and entry.value.id == "ApiKey"
        for entry in entries
    )


def second_tables(source: str) -> list[int]:
    """The lines where a literal with several API keys begins."""
    if source.count("ApiKey.") <= MEMBERS_MAX:
        return []
    return [node.lineno for node in ast.walk(ast.parse(source)) if api_keys_in(node) > MEMBERS_MAX]


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        pytest.param("{ApiKey.FETCH: 1, ApiKey.VOTE: 2, ApiKey.ENVELOPE: 3}", [1], id="dict"),
        pytest.param("frozenset({ApiKey.FETCH, ApiKey.VOTE, ApiKey.ENVELOPE})", [1], id="frozenset"),
        pytest.param("x = [int(ApiKey.FETCH), int(ApiKey.VOTE), int(ApiKey.ENVELOPE)]", [1], id="list"),
        pytest.param("k in (ApiKey.FETCH, ApiKey.VOTE, ApiKey.ENVELOPE)", [1], id="tuple"),
        pytest.param("(Api(ApiKey.FETCH, 4), Api(ApiKey.VOTE, 0), Api(ApiKey.ENVELOPE, 0))", [1], id="rows"),
        pytest.param("{ApiKey.FETCH: 1, ApiKey.VOTE: 2}", [], id="two-are-no-table"),
    ],
)
def test_a_second_table_is_noticed(source: str, lines: list[int]) -> None:
    assert second_tables(source) == lines


def test_there_is_no_second_table() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line}"
        for root in ("kraftctl", "protocol", "spark")
        for path in sorted((ROOT / root).rglob("*.py"))
        if path.relative_to(ROOT).as_posix() not in TABLES
        for line in second_tables(path.read_text())
    ]
    assert found == []


def test_the_page_shows_the_table() -> None:
    page = (ROOT / "docs/apis.md").read_text()
    assert api_table.with_table(page) == page, "run `make generate`"
