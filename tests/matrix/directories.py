"""One directory of a controller is started by Kafka's releases and by kraftctl, in every order of two.

Each of them changes metadata, and writes snapshots. Kafka's own image says that each snapshot equals the
log before it.
"""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import pytest

from kraftctl.dev.nodes import (
    Controller,
    JavaController,
    KraftctlController,
    kraftctl_command,
    run_to_the_end,
)
from kraftctl.dev.polling import await_result
from kraftctl.dev.ports import free_port
from kraftctl.dev.settings import random_id
from kraftctl_protocol.log_file_names import parse_checkpoint_file_name
from tests.matrix.changes import change
from tests.matrix.releases import NAMES, latest, raise_to, release_of
from tests.matrix.results import keep
from tests.support.processes.kafka import kafka, run_java_source
from tests.support.processes.mixed_quorum import KRAFTCTL
from tests.support.processes.quorum import topics_known_to

pytestmark = [pytest.mark.interop, pytest.mark.timeout(1800)]

PART = "directories"

KINDS = (KRAFTCTL, "3.9.2", "4.1.2", "4.3.1", "4.4.0")
"""A kind is KRAFTCTL, or the release of Kafka's own."""

NEWEST = KINDS[-1]

RISING = (
    (KRAFTCTL, 7),
    ("3.9.2", 21),
    (KRAFTCTL, 26),
    ("4.1.2", 27),
    (KRAFTCTL, 29),
    ("4.3.1", 30),
    (KRAFTCTL, 32),
    ("4.4.0", 33),
    (KRAFTCTL, 33),
)
"""The one that starts it raises metadata.version to this level."""

SETTINGS = {
    "metadata.log.max.record.bytes.between.snapshots": "3000",
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}

NODE_ID = 3000

MODES = {"static": False, "dynamic": True}


def every_transition() -> list[str]:
    """Each kind after each other one, once: steps of 1, of 2, ... around a circle of five."""
    order = [KINDS[0]]
    for step in range(1, len(KINDS)):
        order += [KINDS[step * turn % len(KINDS)] for turn in range(1, len(KINDS) + 1)]
    return order


class Directory:
    """What several controllers use, one after the other."""

    def __init__(self, home: Path, *, dynamic: bool) -> None:
        self.home = home
        self.dynamic = dynamic
        self.port = free_port()
        self.cluster_id = random_id()

    def controller(self, kind: str, release_version: str | None = None) -> Controller:
        if kind == KRAFTCTL:
            return KraftctlController(
                NODE_ID,
                self.home,
                self.cluster_id,
                dynamic=self.dynamic,
                release_version=release_version,
                port=self.port,
                properties=SETTINGS,
            )
        return JavaController(
            kafka(kind),
            NODE_ID,
            self.home,
            self.cluster_id,
            dynamic=self.dynamic,
            release_version=release_version,
            port=self.port,
            properties=SETTINGS,
        )

    def checkpoints(self) -> set[str]:
        """Those which end after records of the log."""
        names = {path.name for path in (self.home / "data" / "__cluster_metadata-0").glob("*.checkpoint")}
        return {name for name in names if getattr(parse_checkpoint_file_name(name), "offset", 0) > 0}


def has_more(directory: Directory, before: set[str]) -> bool:
    return bool(directory.checkpoints() - before)


def stage(
    directory: Directory, kind: str, name: str, level: int, raised: int | None, old: str | None
) -> None:
    """One controller starts, loads what is there, changes it, writes a snapshot, and ends."""
    controller = directory.controller(kind)
    before = directory.checkpoints()
    try:
        controller.start()
        created = change(directory.port, directory.cluster_id, name, level=level, delete=old)
        if raised is not None:
            raise_to(directory.port, raised)
            created += change(directory.port, directory.cluster_id, f"{name}-raised", level=raised)
        await_result(partial(has_more, directory, before), f"{controller.name} writes a snapshot", 60.0)
        assert set(created) <= topics_known_to(controller)
        controller.stop()
    finally:
        controller.kill()


def verdicts(directory: Directory) -> list[str]:
    """What Kafka's newest release says of each snapshot."""
    source = Path(__file__).with_name("SnapshotsAndLog.java")
    metadata = directory.home / "data" / "__cluster_metadata-0"
    return run_java_source(source, str(metadata), version=NEWEST).splitlines()


def check(directory: Directory) -> int:
    """Every snapshot equals its log, and kraftctl reads every file; returns how many snapshots."""
    told = verdicts(directory)
    assert [line for line in told if not line.startswith("equal ")] == []
    assert len(told) == len(directory.checkpoints())
    metadata = directory.home / "data" / "__cluster_metadata-0"
    for kind, pattern in (("log", "*.log"), ("snapshot", "*.checkpoint")):
        files = [str(path) for path in sorted(metadata.glob(pattern))]
        read = subprocess.run(
            kraftctl_command("dump", kind, *files), capture_output=True, text=True, timeout=120
        )
        assert (read.returncode, read.stderr) == (0, "")
    return len(told)


@pytest.mark.parametrize("mode", MODES)
def test_every_transition(mode: str, tmp_path: Path) -> None:
    directory = Directory(tmp_path / "controller", dynamic=MODES[mode])
    directory.controller(KRAFTCTL, "3.9").format()
    old = None
    order = every_transition()
    for number, kind in enumerate(order):
        stage(directory, kind, f"stage-{number}", 21, None, old)
        old = f"stage-{number}-0"
        print(f"{mode}: {number} {kind}, {len(directory.checkpoints())} snapshots")
    compared = check(directory)
    assert compared >= len(order)
    keep(PART, f"{mode}, every kind after every other, at 3.9", str(len(order)), str(compared))


def test_rising_levels(tmp_path: Path) -> None:
    directory = Directory(tmp_path / "controller", dynamic=False)
    level = RISING[0][1]
    directory.controller(KRAFTCTL, NAMES[level]).format()
    old = None
    for number, (kind, raised) in enumerate(RISING):
        stage(directory, kind, f"stage-{number}", level, raised if raised > level else None, old)
        level, old = raised, f"stage-{number}-0"
        print(f"rising: {number} {kind} {level}, {len(directory.checkpoints())} snapshots")
    compared = check(directory)
    assert compared >= len(RISING)
    text = f"static, from {NAMES[RISING[0][1]]} to {NAMES[level]}"
    keep(PART, text, str(len(RISING)), str(compared))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("release", KINDS[1:])
def test_formatted_by_one_and_started_by_the_other(release: str, mode: str, tmp_path: Path) -> None:
    """Kafka's tool with its defaults; kraftctl with the release of the other."""
    level = latest(release)
    for formats, starts, version in (
        (release, KRAFTCTL, None),
        (KRAFTCTL, release, release_of(level)),
    ):
        directory = Directory(tmp_path / formats, dynamic=MODES[mode])
        format_with(directory.controller(formats, version))
        stage(directory, starts, "first", level, None, None)
        stage(directory, formats, "second", level, None, "first-0")
        assert check(directory) >= 2
        keep(f"{PART}-formats", formats, starts, mode, NAMES[level])


def format_with(controller: Controller) -> None:
    """Always with the tool: a static voter would do without."""
    if isinstance(controller, JavaController):
        controller.write_configuration()
        command = controller.kafka.command("kafka.tools.StorageTool", "format", *controller.format_flags())
        run_to_the_end(command, f"formatting {controller.log_directory}")
    else:
        controller.format()
