"""All command line tools of Kafka 4.4.0 at its level say the same with kraftctl and with Kafka's controller.

Of refusals, the status and the names of the errors are compared: the sentences are each controller's own.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

import pytest

from kraftctl.dev.cluster import Cluster
from kraftctl.dev.settings import replication_for
from kraftctl.dev.tools import ToolResult
from tests.matrix.releases import latest, release_of
from tests.matrix.results import keep
from tests.matrix.tool_calls import Call, calls, named_loggers
from tests.matrix.tool_server import ToolServer
from tests.support.processes.kafka import kafka

pytestmark = [pytest.mark.interop, pytest.mark.timeout(2400)]

PART = "every_tool"

RELEASE = "4.4.0"

SETTINGS = {
    **replication_for(2),
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}

EXCEPTION = re.compile(r"\b(?:\w+\.)*(\w+Exception)\b")


def unnamed_logger(named: list[str]) -> re.Pattern[str]:
    """Matches a logger at INFO, except these and the root."""
    names = "|".join(re.escape(name) for name in ["root", *named])
    return re.compile(rf"^ ?(?!(?:{names})=)\S+=INFO sensitive=false synonyms=\{{\}}$", re.MULTILINE)


VARIES = (
    (re.compile(r"\b[\w-]{22}\b(?!\.)"), "ID"),
    (re.compile(r"\b1[0-9]{12}\b"), "TIME"),
    (re.compile(r"\d+ ms ago"), "AGO"),
    (re.compile(r"(Epoch: +)\d+"), r"\1N"),
    (re.compile(r"(HighWatermark: +|MaxFollowerLag\w*: +)-?\d+"), r"\1N"),
    (re.compile(r"^(\d+\t\S+\t)\d+\t\d+", re.MULTILINE), r"\1N\tN"),
    (re.compile(r'"size":\d+'), '"size":N'),
    (re.compile(r"[ \t]+"), " "),
    (re.compile(r"^(\d+ ID )\d+ \d+", re.MULTILINE), r"\1N N"),
    (re.compile(r'(Observers: .)(\{"id": 2[^}]*\}), (\{"id": 1[^}]*\})'), r"\1\3, \2"),
    (re.compile(r"perf-consumer-\d+"), "perf-consumer-N"),
    (re.compile(r"localhost:port of broker-\d \(\d\)"), "COORDINATOR"),
    (re.compile(r"^w \d \d+ ", re.MULTILINE), "w COORDINATOR PRODUCER "),
    # Its block of ids is that of the broker that was asked.
    (re.compile(r"^\d+ (\d+ -1 \d+ TIME )", re.MULTILINE), r"PRODUCER \1"),
    (re.compile(r"^\d w \d+ (.*TIME )\d+", re.MULTILINE), r"COORDINATOR w PRODUCER \1DURATION"),
    # Which classes of a broker have asked for a logger by then.
    (unnamed_logger(named_loggers()), ""),
    # What the verifiable producer prints later, into the output of the tools after it.
    (re.compile(r"^.*producer_send_success.*$", re.MULTILINE), ""),
)


def with_values(cluster: Cluster, argument: str) -> str:
    """The argument with what this cluster has in place of the words in capitals."""
    if argument.startswith("JSON:"):
        text = argument.removeprefix("JSON:")
        file = cluster.directory / f"{hashlib.sha256(text.encode()).hexdigest()[:8]}.json"
        file.write_text(text)
        return str(file)
    log = cluster.controller.metadata_directory / f"{0:020d}.log"
    values = {
        "SERVERS": cluster.bootstrap_servers,
        "CONTROLLERS": cluster.bootstrap_controllers,
        "CONTROLLER_FILE": str(cluster.controller.properties_file),
        "CONTROLLER_LOG": str(log),
    }
    return values.get(argument, argument)


def comparable(cluster: Cluster, call: Call, result: ToolResult) -> list[str]:
    """What has to be the same: no addresses, ids and times; of refusals only the names of errors."""
    status = f"status {result.exit_code}"
    if not call.compared:
        return [status]
    errors = sorted(set(EXCEPTION.findall(result.output)))
    if result.exit_code != 0 or errors:
        return [status, *errors]
    text = result.output.replace(str(cluster.directory), "DIRECTORY").replace(cluster.cluster_id, "CLUSTER")
    for name, port in (
        *((broker.name, broker.port) for broker in cluster.brokers),
        ("controller", cluster.controller.port),
    ):
        text = text.replace(str(port), f"port of {name}")
    for pattern, replacement in VARIES:
        text = pattern.sub(replacement, text)
    return [status, *sorted(line.strip() for line in text.splitlines() if line.strip())]


def outcome(directory: Path, *, java: bool) -> list[list[str]]:
    """What each call gave, in order."""
    with (
        ToolServer(kafka(RELEASE)) as tools,
        Cluster(
            kafka(RELEASE),
            directory,
            brokers=2,
            java_controller=java,
            release_version=release_of(latest(RELEASE)),
            controller_settings=SETTINGS,
            broker_settings=SETTINGS,
        ) as cluster,
    ):
        given = []
        for call in calls():
            arguments = [with_values(cluster, argument) for argument in call.arguments]
            result = tools.run(call.tool, *arguments, stdin=call.stdin)
            given.append(comparable(cluster, call, result))
            with open(directory / "calls.log", "a") as log:
                log.write(f"== {call.name}: {result.exit_code}\n{result.output}\n")
        return given


def counted() -> list[tuple[str, str, str]]:
    """The number of calls of each tool, and of those whose output is not compared."""
    found = list(calls())
    return [
        (tool, str(len(made)), str(sum(not call.compared for call in made)))
        for tool in sorted({call.tool for call in found})
        for made in [[call for call in found if call.tool == tool]]
    ]


def test_every_tool_says_the_same(tmp_path: Path) -> None:
    ours = outcome(tmp_path / "kraftctl", java=False)
    theirs = outcome(tmp_path / "java", java=True)
    differences = [
        f"{call.name}\n  kraftctl: {one}\n  Kafka:    {other}"
        for call, one, other in zip(calls(), ours, theirs, strict=True)
        if one != other
    ]
    assert not differences, "\n".join(differences)
    for row in counted():
        keep(PART, *row)
