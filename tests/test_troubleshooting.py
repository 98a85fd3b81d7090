"""`docs/troubleshooting.md` has a row for each text that the product logs at WARN or above, and no other."""

from __future__ import annotations

import ast
import re

import pytest

from kraftctl.raft.peer_failures import NEXT_STEPS
from kraftctl.raft.progress_states import STATES
from tests.support.logged_texts import ANY, ROOT, logged_texts, texts_of

PAGE = (ROOT / "docs" / "troubleshooting.md").read_text()

ROW = re.compile(r"^\| `([^`]+)`", re.MULTILINE)

LITERAL_MIN = 8
"""Characters of a row that are no values: with fewer it would match everything."""

COMES_FROM: dict[tuple[str, str], list[tuple[str, str]]] = {
    ("kraftctl/cli/start.py", "error"): [],  # of the note in other directories: file_errors
    ("kraftctl/cli/start.py", "sentence"): [
        ("kraftctl/cli/unknown_keys.py", "_sentence"),
    ],
    ("kraftctl/cli/start.py", "readable"): [("kraftctl/storage/readable_log.py", "why_readable")],
    ("kraftctl/cli/start.py", "warning"): [],  # where it is added to the warnings of the configuration
    ("kraftctl/node/controller_node.py", "line"): [("kraftctl/controller/results/failures.py", "_line")],
    ("kraftctl/server/logs/notice_log.py", "failure.text"): [
        ("kraftctl/controller/results/failures.py", "_line")
    ],
    ("kraftctl/node/controller_node.py", "unsupported"): [
        ("kraftctl/controller/features/activation.py", "_why_no_abort"),
    ],
    ("kraftctl/node/metadata_loader.py", "str(error)"): [
        ("kraftctl/controller/committed_records.py", "undecodable_batch"),
        ("kraftctl/controller/committed_records.py", "_unusable"),
    ],
    ("kraftctl/raft/download_snapshot.py", "reason"): [
        ("protocol/kraftctl_protocol/snapshot_progress.py", "why_unusable")
    ],
    ("kraftctl/raft/progress.py", "found.line"): [],  # STATES
    ("kraftctl/raft/progress_faults.py", "state.line(fields)"): [],  # STATES
    (
        "kraftctl/server/connections/connection.py",
        "reason",
    ): [],  # what FrameDecoder and receive_request say: see OTHERS
    ("kraftctl/server/connections/connection.py", "foreign"): [
        ("kraftctl/server/connections/foreign_clients.py", "why_foreign")
    ],
    ("kraftctl/server/connections/connection.py", "why_no_sasl(self._owner.security_protocol)"): [
        ("kraftctl/server/connections/foreign_clients.py", "why_no_sasl"),
    ],
    (
        "kraftctl/server/connections/connection.py",
        "why_not_ssl(head, protocol=self._owner.security_protocol)",
    ): [
        ("kraftctl/server/connections/foreign_clients.py", "why_not_ssl"),
        ("kraftctl/server/loop/client_requests.py", "_why_not_served"),
    ],
    ("kraftctl/server/controller_server.py", "warning"): [("kraftctl/storage/recovery.py", "CutTail")],
    ("kraftctl/server/controller_server.py", "loss"): [],  # partition.losses
    ("kraftctl/server/controller_server.py", "observes"): [
        ("kraftctl/storage/own_directory.py", "why_observer"),
    ],
    ("kraftctl/server/security/expiry_lines.py", "_warning(stores, expiry, now_ms)"): [
        ("kraftctl/server/security/expiry_lines.py", "_warning"),
    ],
    ("kraftctl/server/listeners/listener.py", "pressure"): [
        ("kraftctl/server/connections/metrics.py", "take_pressure")
    ],
    ("kraftctl/server/logs/printed_lines.py", "line"): [],  # what a library prints
    ("kraftctl/server/logs/noted_refusals.py", "refusal.text"): [
        ("kraftctl/controller/results/noted_refusal.py", "_envelope_text"),
        ("kraftctl/controller/results/noted_refusal.py", "_node_text"),
        ("kraftctl/controller/results/noted_refusal.py", "_token_text"),
    ],
    ("kraftctl/server/running_settings.py", "each.line()"): [
        ("kraftctl/controller/configuration_control/node_configs.py", "line"),
    ],
    ("kraftctl/server/logs/rate_limited_log.py", "message"): [],  # its callers
    ("kraftctl/server/security/sasl_connection.py", "reason"): [],  # its callers
    ("kraftctl/server/security/sasl_connection.py", "str(error)"): [],  # see OTHERS
    ("kraftctl/server/security/ssl_transport.py", "reason"): [],  # its callers
    ("kraftctl/server/process/snapshot_downloads.py", "error"): [
        ("kraftctl/storage/checkpoint_reader.py", "_damaged"),
    ],
    ("spark/kraftctl_spark/cli.py", "unplaced_error(unplaced)"): [],  # the same
    ("spark/kraftctl_spark/cli.py", "error"): [],  # a refusal at the start: it names its next step
    ("spark/kraftctl_spark/commands/run.py", "change"): [
        ("spark/kraftctl_spark/tables/output.py", "changed_redaction"),
    ],
}
"""Where the text comes from that a call does not have: (file, expression) -> functions that return it."""

OF_FOREIGN_CLIENTS = ("why_foreign", "why_no_sasl", "why_not_ssl", "_why_not_served")
"""Functions whose texts end a line of `_note_foreign`."""

WITHOUT_ROW = {
    "Closing connection from …: …": "the reasons have rows",
    "Closing connection from … to listener …: …": "the reasons have rows",
    "Closing connection from …: …: …": "the reason is that of a closed request: `was not answered`",
    "… similar lines were left out": "counts lines that have rows",
}
"""Texts, and why the page has no row for them."""


def rows() -> list[str]:
    """The texts of log lines that the page explains."""
    found: list[str] = []
    for table in re.split(r"\n\n", PAGE):
        if re.match(r"\| the line says \|", table):
            found += ROW.findall(table)
    return found


def texts() -> list[str]:
    """All that the product logs."""
    found = [re.sub(r"\{\w+\}", ANY, state.text) for state in STATES]
    for each in logged_texts():
        if each.text:
            found.append(each.text)
            continue
        for path, function in COMES_FROM.get((each.path, each.expression), []):
            prefix = "Closing connection from … to listener …: " if function in OF_FOREIGN_CLIENTS else ""
            found += [prefix + text for text in texts_of(path, function)]
    return found


def explains(row: str, text: str) -> bool:
    """Whether the text begins as the row does."""
    pattern = ".*?".join(re.escape(part) for part in row.split(ANY))
    return re.match(pattern, text) is not None


DIRECTORY_ID = "directory.id="
SAFE_ADVICE = ("whole log", "it then recovers before it votes")


def test_a_former_directory_id_is_advised_only_beside_its_log() -> None:
    """A voter that had its former id and an empty log has elected a leader without committed records."""
    advice = []
    for path in (ROOT / "kraftctl").rglob("*.py"):
        if DIRECTORY_ID not in (source := path.read_text()):
            continue
        nodes = list(ast.walk(ast.parse(source)))
        within = {id(part) for node in nodes if isinstance(node, ast.JoinedStr) for part in node.values}
        for node in nodes:
            is_text = isinstance(node, ast.JoinedStr | ast.Constant) and id(node) not in within
            text = ast.unparse(node) if is_text else ""
            if DIRECTORY_ID in text and ("Next step" in text or "restore" in text):
                advice.append((path.name, text))
    assert {name for name, _ in advice} == {"formatter.py", "own_directory.py", "progress_states.py"}
    assert [each for each in advice if not any(safe in each[1] for safe in SAFE_ADVICE)] == []


def test_each_text_has_a_row() -> None:
    known = [*rows(), *WITHOUT_ROW]
    missing = {text for text in texts() if not any(explains(row, text) for row in known)}
    assert missing == set(), "add a row to docs/troubleshooting.md: text, meaning, what to do"


def test_each_row_is_about_a_text() -> None:
    logged = texts()
    assert [row for row in rows() if not any(explains(row, text) for text in logged)] == []


def test_each_value_that_is_logged_comes_from_a_known_place() -> None:
    unknown = {(each.path, each.expression) for each in logged_texts() if not each.text}
    assert unknown == set(COMES_FROM)


def test_rows_say_something() -> None:
    assert [row for row in rows() if len(row.replace(ANY, "")) < LITERAL_MIN] == []
    assert len(rows()) > 90


def test_rows_are_not_repeated() -> None:
    found = rows()
    assert sorted(found) == sorted(set(found))


def test_the_page_is_short_for_the_night() -> None:
    lines = [line for line in PAGE.splitlines() if line.startswith("| `")]
    assert [line for line in lines if len(line) > 420] == []


@pytest.mark.parametrize(
    ("row", "text", "explained"),
    [
        ("Cannot get a token", "Cannot get a token: …. The next attempt is in … ms", True),
        ("Voter … fetches from offset", "Voter … fetches from offset …, although", True),
        ("… lacks files", "… lacks files: it is computed again", True),
        ("a token", "Cannot get a token: …", False),
        ("Cannot get a key", "Cannot get a token: …", False),
    ],
)
def test_what_a_row_explains(row: str, text: str, explained: bool) -> None:
    assert explains(row, text) == explained


def test_each_kind_of_failure_between_controllers_is_on_the_page() -> None:
    """By the words that `kraftctl/server/peers/peer_failure_reasons.py` has for it."""
    words = [
        "connection refused",
        "DNS: ",
        "no response",
        "it closes the connection",
        "does not answer as Kafka",
    ]
    assert [word for word in [*words, "SSL: ", "SASL ", "No route to host"] if word not in PAGE] == []
    assert len(NEXT_STEPS) == 8
