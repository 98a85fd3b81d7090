"""What Kafka's tools of two releases answered to the calls of `tool_cases`; and what kraftctl answers.

`make_recording` runs all calls in one JVM; `tests/data/kafka-RELEASE/tools.json` is what it has written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

from kraftctl_protocol.generated.describe_cluster_request import DescribeClusterRequest
from kraftctl_protocol.generated.metadata_request import MetadataRequest
from kraftctl_protocol.json_converter import to_json
from kraftctl_protocol.message import Message
from tests.cli.tool_cases import CASES, ToolCase
from tests.support.processes.called_command import call_command
from tests.support.processes.java_tools import JavaTools
from tests.support.processes.kafka import kafka
from tests.support.wire.scripted_node import ScriptedNode

DATA = Path(__file__).parent.parent / "data"
RELEASES = ("4.3.1", "4.4.0")

TO_FIND_NODES = (DescribeClusterRequest, MetadataRequest)
"""Each client looks for nodes in its own way."""

UNTIMED = "timeoutMs"


@dataclass(frozen=True)
class Answer:
    """The exit status, the standard output, and the requests that changed something."""

    status: int
    output: str
    requests: list[dict[str, object]]


def recording(release: str) -> dict[str, Answer]:
    """Case -> answer."""
    stored = json.loads(recording_file(release).read_text())
    return {name: Answer(**answer) for name, answer in stored.items()}


def recording_file(release: str) -> Path:
    return DATA / f"kafka-{release}" / "tools.json"


def stored_text(answers: dict[str, Answer]) -> str:
    return json.dumps({name: asdict(answer) for name, answer in answers.items()}, indent=1) + "\n"


def make_recording(release: str, folder: Path, node: ScriptedNode) -> dict[str, Answer]:
    """Runs all calls with the tools of a release."""
    answers = {}
    with JavaTools(kafka(release)) as java_tools:
        for case in CASES:
            node.requests.clear()
            status, output = java_tools.run(case.tool, *case.placed(folder, node.address))
            answers[case.name] = _answer(status, STACK_TRACE.sub("", output), folder, node)
    return answers


def our_answer(case: ToolCase, folder: Path, node: ScriptedNode) -> Answer:
    node.requests.clear()
    called = call_command(case.ours, *case.placed(folder, node.address))
    assert called.status == 0 or called.errors or "Found problem" in called.output, "it gives no reason"
    return _answer(called.status, called.output, folder, node)


def _answer(status: int, output: str, folder: Path, node: ScriptedNode) -> Answer:
    """Puts words of the same length in place of the port, and of the folder."""
    port = str(node.port)
    neutral = output.replace(str(folder), "DIR").replace(port, "PORT".ljust(len(port)))
    return Answer(status, neutral, [dict(_changes(request)) for request in _kept(node.requests)])


def _kept(requests: Iterable[Message]) -> list[Message]:
    return [request for request in requests if not isinstance(request, TO_FIND_NODES)]


def _changes(request: Message) -> Iterator[tuple[str, object]]:
    """Yields the fields; a map of Kafka's decides the order of features."""
    yield "request", request.NAME
    fields = to_json(request, request.HIGHEST_VERSION)
    for name, value in fields.items():
        if name != UNTIMED:
            yield name, sorted(value, key=str) if isinstance(value, list) else value


SENTENCES = (
    (r"Mismatched cluster IDs between storage directories\.", r"\S+ is of the cluster \S+, not of \S+\."),
    (r"Mismatched node IDs between storage directories\.", r"\S+ is of the node \S+, not of \S+\."),
    (r"Error loading (\S+): .*", r"(\S+) cannot be used: .*"),
    (r"The kafka configuration file appears .* legacy mode\.", r"meta\.properties is of version 0, .*"),
)
"""What is said in other words, by Kafka and by kraftctl."""

STACK_TRACE = re.compile(r"(?:^(?:java\.|\tat |Caused by: |\t\.\.\. ).*\n)+", re.MULTILINE)
"""kafka-storage info prints one to its standard output for each file that it cannot use."""

DEPRECATION = re.compile(r"^(?: `metadata` flag|Option --config) .*deprecated .*\n", re.MULTILINE)
"""kraftctl says so on standard error."""

ENDPOINT_ROW = re.compile(r"\d+ .*(?:broker|controller) *\n")
"""A map of Kafka's decides the order of nodes; kraftctl sorts them."""


def comparable(answer: Answer) -> Answer:
    """Returns the answer with numbers in place of sentences that Kafka and kraftctl word differently."""
    output = DEPRECATION.sub("", answer.output)
    rows = iter(sorted(ENDPOINT_ROW.findall(output)))
    output = ENDPOINT_ROW.sub(lambda _: next(rows), output)
    for number, either in enumerate(SENTENCES):
        for sentence in either:
            output = re.sub(rf"(?m)^  {sentence}$", partial(_numbered, number), output)
    return Answer(answer.status, output, answer.requests)


def _numbered(number: int, found: re.Match[str]) -> str:
    return " ".join(("  sentence", str(number), *found.groups()))
