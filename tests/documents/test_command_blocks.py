"""The command blocks of README, CONTRIBUTING and docs/testing.md, as a new user types them, in a fresh copy.

What follows `$ ` in a block is run. Ports and directories are replaced, since several tests share a machine.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl.dev.ports import free_port
from kraftctl.dev.processes import ManagedProcess
from kraftctl.dev.settings import random_id
from tests.documents.test_documented_targets import CALLED_BY_CI, ELSEWHERE, ROOT, TARGETS

pytestmark = [pytest.mark.interop, pytest.mark.wheel, pytest.mark.slow, pytest.mark.timeout(280)]

PAGES = ("README.md", "CONTRIBUTING.md", "docs/testing.md")

SECONDS_MAX = 240

BLOCK = re.compile(r"^```console\n(.*?)^```", re.MULTILINE | re.DOTALL)

COMMENT = re.compile(r"\s+#\s.*")

WITH_A_CLUSTER = (
    "kraftctl health --bootstrap-controllers localhost:9093",
    "kraftctl explain quorum --bootstrap-controllers localhost:9093",
    "kraftctl-export run --bootstrap-controllers localhost:9093 --output tables --available-now",
    "kraftctl-export report --output tables --to report.html",
    "kraftctl quorum --bootstrap-server localhost:9092 describe --replication --human-readable",
)

INSTALLED = ("pip install .",)

AS_MAKE_BUILD = ("pip wheel --no-deps --wheel-dir dist .",)
"""`make build` runs it, and tests/packaging/test_wheel.py installs what it makes."""

START = "kraftctl start controller.properties"

ALONE = (
    "cat > controller.properties << END",
    'kraftctl format --standalone -t "$(kraftctl random-uuid)" -c controller.properties',
    START,
    "kraftctl quorum --bootstrap-controller localhost:19093 describe --status",
)

REFUSED = {
    "kraftctl quorum --bootstrap-controller localhost:19093 remove-controller -i 3001 -d DIRECTORY_ID":
        "VOTER_NOT_FOUND",
    "kraftctl quorum --bootstrap-controller localhost:19093 --command-config controller.properties"
    " add-controller": "DUPLICATE_VOTER",
}  # fmt: skip
"""The example has one controller, 3000: what its response says instead."""

FROM_A_CLONE = (
    ".venv/bin/kraftctl start FILE",
    "PYTHONPATH=.:protocol:spark .venv/bin/python -m kraftctl start FILE",
)

NOT_REPEATED = ("PYTHONPATH=.:protocol:spark .venv/bin/pytest tests/raft -k vote",)
"""The lanes of `make test` run these tests; the selection is only collected."""


def commands(page: str) -> dict[str, str]:
    """Each command -> itself with the lines that follow it up to the next one."""
    found: dict[str, str] = {}
    for block in BLOCK.findall((ROOT / page).read_text()):
        for text in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            first, _, rest = text.partition("\n")
            command = COMMENT.sub("", first).strip()
            found[command] = f"{command}\n{rest}"
    return found


def all_commands() -> dict[str, str]:
    return {command: text for page in PAGES for command, text in commands(page).items()}


def test_every_command_is_run() -> None:
    run = {*WITH_A_CLUSTER, *INSTALLED, *AS_MAKE_BUILD, *ALONE, *REFUSED, *FROM_A_CLONE, *NOT_REPEATED}
    others = all_commands().keys() - run
    assert run <= all_commands().keys()
    targets = {command.split()[1] for command in others if command.startswith("make ")}
    assert [command for command in others if not command.startswith("make ")] == []
    assert targets - TARGETS.keys() - ELSEWHERE.keys() - set(CALLED_BY_CI) == set()


def environment(*directories: Path) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KRAFTCTL_", "PYTHON"))}
    return {**kept, "PATH": os.pathsep.join([*map(str, directories), os.environ["PATH"]])}


def run(command: str, directory: Path, variables: dict[str, str], status: int = 0) -> str:
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=directory,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS_MAX,
    )
    assert done.returncode == status, f"{command}\n{done.stdout}"
    return done.stdout


@pytest.fixture(scope="module")
def clone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What is committed or could be, without anything that was built."""
    directory = tmp_path_factory.mktemp("clone") / "kraftctl"
    listed = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(listed, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    for name in filter(None, names.split("\0")):
        if (ROOT / name).exists():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, directory / name)
    return directory


def test_make_dev_runs_from_a_fresh_clone(clone: Path) -> None:
    """Without a compiler: a broker, Kafka's tools and our own; then what README asks of such a cluster."""
    command = ["make", "-C", str(clone), "dev", "DEV_ARGS=--brokers 1", f"PYTHON={sys.executable}"]
    dev = ManagedProcess("make-dev", command, clone.parent / "dev.log", {"CC": "no-such-compiler"})
    try:
        dev.await_line("Ctrl-C stops everything", SECONDS_MAX)
        said = "\n".join(dev.lines())
        assert "kraftctl runs from source" in said
        assert not list(clone.rglob("*.so")) or not list((clone / "build").rglob("*.so"))
        broker, controller = (
            re.findall(rf"^  {name} +(\S+)$", said, re.MULTILINE)[0]
            for name in ("bootstrap.servers", "controller")
        )
        tried = re.findall(r"^  (bin/(?!kafka-console)\S+ .*)$", said, re.MULTILINE)
        assert len(tried) == 5
        for each in tried:
            run(each, clone / "dev-cluster", environment())
        exporter = environment(Path(sys.executable).parent)
        for each in WITH_A_CLUSTER:
            asked = each.replace("localhost:9093", controller).replace("localhost:9092", broker)
            run(asked, clone.parent, exporter if "export" in each else environment(clone / "dev-cluster/bin"))
        assert (clone.parent / "report.html").stat().st_size > 0
    finally:
        dev.signal(signal.SIGTERM)
        status = dev.wait(60.0)
    assert status == -signal.SIGTERM, dev.tail()


@pytest.fixture(scope="module")
def installed(clone: Path) -> Path:
    """The `bin` of an environment that has kraftctl, installed from source as README says."""
    place = clone.parent / "installed"
    subprocess.run([sys.executable, "-m", "venv", place], check=True)
    variables = {**environment(place / "bin"), "KRAFTCTL_PURE": "1"}
    for command in INSTALLED:
        run(command, clone, variables)
    return place / "bin"


def controllers_file(directory: Path, port: int) -> dict[str, str]:
    """README's commands, for a port and a directory of this test."""
    return {
        command: text.replace("localhost:19093", f"localhost:{port}").replace(
            "/var/lib/kraftctl", str(directory / "data")
        )
        for command, text in all_commands().items()
    }


@pytest.fixture
def formatted(installed: Path, tmp_path: Path) -> tuple[dict[str, str], dict[str, str]]:
    """README's commands up to the start, and the environment to run the others in."""
    texts = controllers_file(tmp_path, free_port())
    variables = environment(installed)
    for command in ALONE[:2]:
        run(texts[command], tmp_path, variables)
    return texts, variables


def test_a_controller_is_installed_formatted_started_and_asked(
    formatted: tuple[dict[str, str], dict[str, str]], installed: Path, tmp_path: Path
) -> None:
    texts, variables = formatted
    started = ManagedProcess(
        "start", ["bash", "-c", f"cd {tmp_path} && exec {texts[START]}"], tmp_path / "log", variables
    )
    started.await_line(r"Awaiting socket connections on", 60.0)
    started.await_line(r"Registering controller", 60.0)
    assert "LeaderId" in run(texts[ALONE[3]], tmp_path, variables)
    for command, reason in REFUSED.items():
        asked = texts[command].replace("DIRECTORY_ID", random_id())
        assert reason in run(asked, tmp_path, variables, status=1)
    assert started.terminate() == 0


@pytest.mark.parametrize("command", FROM_A_CLONE)
def test_a_controller_starts_from_a_clone(
    command: str, formatted: tuple[dict[str, str], dict[str, str]], tmp_path: Path
) -> None:
    exact = command.replace("FILE", str(tmp_path / "controller.properties"))
    line = ["bash", "-c", f"cd {ROOT} && {exact.replace('.venv/bin', str(Path(sys.executable).parent))}"]
    started = ManagedProcess("start", line, tmp_path / "log", environment())
    started.await_line(r"Awaiting socket connections on", 60.0)
    started.kill()


@pytest.mark.parametrize("command", NOT_REPEATED)
def test_a_selection_of_tests_is_collected(command: str) -> None:
    asked = command.replace(".venv/bin/pytest", f"{sys.executable} -m pytest")
    assert " deselected" in run(f"{asked} --collect-only -q", ROOT, environment())
