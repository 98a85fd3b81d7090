"""Every command that a page of docs/operations shows is run: by a test here, or by the test of its page."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from kraftctl.dev.polling import await_result
from tests.operate.operated_quorum import OperatedQuorum
from tests.support.processes.called_command import CalledCommand, call_command
from tests.support.processes.kafka import tools

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs/operations"

PROGRAMS = ("kraftctl", "kraftctl-export", "kafka-configs", "curl", "mv")

OF_PAGES = {
    "explain.md": "tests/cli/test_explain.py",
    "health-and-doctor.md": "tests/cli/test_health_page.py",
    "tools.md": "tests/cli/test_tools_page.py",
}
"""The tests that read a page and run all of its commands."""

ELSEWHERE = {
    "mv DIR/__cluster_metadata-0 /somewhere/else/": "tests/server/controllers/test_lost_disk.py",
    "kraftctl start FILE": "tests/server/controllers/test_lost_disk.py",
    "kraftctl quorum --bootstrap-controller HOST:PORT,... --command-config FILE replace-voter": (
        "tests/interop/test_quorum_command.py"
    ),
    'kraftctl quorum --bootstrap-controller HOST:PORT remove-controller -i "$ID" -d DIRECTORY_ID': (
        "tests/interop/test_quorum_command.py"
    ),
    "kraftctl console --bootstrap-controllers controller-1:9093": "tests/console/test_lost_leader.py",
    "kraftctl console --bootstrap-controllers c1:9093,c2:9093 --operate http://c1:9099 http://c2:9099": (
        "tests/console/test_beside_brokers.py"
    ),
    (
        "kraftctl console --bootstrap-controllers c1:9093 --listen https://0.0.0.0:8443"
        " --token-file token --certificate chain.pem --key key.pem"
    ): "tests/console/test_command.py",
}
"""The tests that do the same as a step of a longer repair, or with what does not end by itself."""

STATUS = "kraftctl quorum --bootstrap-controller HOST:PORT describe --status"
STATUS_OF_ALL = "kraftctl quorum --bootstrap-controller HOST:PORT,... describe --status"
REPLICATION = "kraftctl quorum --bootstrap-controller HOST:PORT describe --replication"
READY = "curl -s http://127.0.0.1:9099/readyz"
UNTIL_READY = "curl -s --fail --retry 300 --retry-delay 1 --retry-all-errors http://127.0.0.1:9099/readyz"
MAY_STOP = "kraftctl quorum --bootstrap-controller c1:9093 may-stop --controller-id 3"
MAY_THIS_STOP = 'kraftctl quorum --bootstrap-controller HOST:PORT may-stop -i "$ID"'


def commands(page: Path) -> list[str]:
    """What an operator types: lines of blocks that begin with the name of a program, or with `$ `."""
    found: list[str] = []
    kind: str | None = None
    for line in page.read_text().replace("\\\n", " ").splitlines():
        if line.startswith("```"):
            kind = line.removeprefix("```") if kind is None else None
        elif kind in ("", "sh", "console"):
            words = line.removeprefix("$ ").removesuffix(" &&").split()
            if words and words[0] in PROGRAMS:
                found.append(" ".join(words))
    return found


KAFKA_CONFIGS = [each for each in commands(PAGES / "dynamic-configs.md") if each.startswith("kafka-configs")]


def test_every_command_of_every_page_is_run() -> None:
    asked = {STATUS, STATUS_OF_ALL, REPLICATION, READY, UNTIL_READY, MAY_STOP, MAY_THIS_STOP}
    run = {*asked, *KAFKA_CONFIGS, *ELSEWHERE}
    shown: set[str] = set()
    for page in sorted(PAGES.glob("*.md")):
        if page.name in OF_PAGES:
            assert page.name in (ROOT / OF_PAGES[page.name]).read_text()
        else:
            shown.update(commands(page))
    assert shown == run
    assert all((ROOT / test).exists() for test in ELSEWHERE.values())


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_a_quorum_is_described_and_asked_what_may_be_stopped(tmp_path: Path) -> None:
    with OperatedQuorum(tmp_path) as quorum:
        first, second, _ = quorum.controllers
        for each in quorum.controllers:
            each.await_ready()
        addresses = [
            each.properties["listeners"].removeprefix("CONTROLLER://") for each in quorum.controllers
        ]

        def typed(command: str) -> CalledCommand:
            there = command.replace("HOST:PORT,...", ",".join(addresses)).replace("HOST:PORT", addresses[0])
            return call_command(*shlex.split(there.replace("c1:9093", addresses[0]))[1:])

        for command, expected in ((STATUS, "LeaderId"), (STATUS_OF_ALL, "LeaderId"), (REPLICATION, "Leader")):
            called = typed(command)
            assert (called.status, called.errors) == (0, "")
            assert expected in called.output
        assert typed(MAY_STOP).status == typed(MAY_THIS_STOP.replace('"$ID"', "3")).status == 0
        curl = shutil.which("curl")
        assert curl is not None
        for command in (READY, UNTIL_READY):
            asked = command.replace("127.0.0.1:9099", f"127.0.0.1:{first.operate_port}").split()
            answer = subprocess.run([curl, *asked[1:]], capture_output=True, text=True, check=True).stdout
            assert answer.startswith('{"ready": true')
        second.process.kill()
        refused = await_result(
            lambda: found if (found := typed(MAY_STOP)).status == 1 else None, "3 may not stop", 30.0
        )
        assert refused.errors.startswith(
            "Of the voters 1, 2, 3, 2 are needed, and without controller 3 only 1 have everything"
        )


@pytest.mark.interop
@pytest.mark.slow
def test_kafka_configs_alters_and_describes_a_controller(tmp_path: Path) -> None:
    assert len(KAFKA_CONFIGS) == 5
    kafka = tools()
    with OperatedQuorum(tmp_path, 1) as alone:
        (node,) = alone.controllers
        node.await_ready()
        address = node.properties["listeners"].removeprefix("CONTROLLER://")
        for command in KAFKA_CONFIGS:
            there = command.replace("localhost:9093", address).replace(
                "--entity-name 3000", "--entity-name 1"
            )
            name, *arguments = shlex.split(there)
            said = kafka.output(name, *arguments)
            assert said, command
