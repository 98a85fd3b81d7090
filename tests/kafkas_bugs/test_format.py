"""Ways of formatting that Kafka's tool once took, and that end in two quorums; each test names the issue."""

from __future__ import annotations

from pathlib import Path

import pytest

from kraftctl.cli import main
from kraftctl.storage.checkpoint_reader import CheckpointReader
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, checkpoint_file_name
from kraftctl_protocol.offset_and_epoch import BOOTSTRAP_SNAPSHOT_ID

CLUSTER_ID = "V50AZlDfQ6SyNYSsdWVE0A"
VOTERS = "1@one:9093:bGzDaR4ySNmJaPXzonU2CA,2@two:9093:TzUHEs1aSdqvjJVJ7jWF2w"

STATIC = "controller.quorum.voters=1@one:9093,2@two:9093"
DYNAMIC = "controller.quorum.bootstrap.servers=one:9093,two:9093"
FLAGS = {"none": [], "alone": ["-s"], "first": ["-I", VOTERS], "joins": ["-N"]}

Formatted = tuple[int, list[int]]
"""(kraft.version, ids of the voters) on the disk; without a checkpoint (0, [])."""

REFUSED = None
NO_VOTERS: Formatted = (0, [])

TABLE: dict[tuple[str, str, str], Formatted | None] = {
    ("static", "none", "default"): NO_VOTERS,
    ("static", "none", "0"): NO_VOTERS,
    ("static", "joins", "default"): NO_VOTERS,
    ("static", "joins", "0"): NO_VOTERS,
    ("dynamic", "alone", "default"): (1, [1]),
    ("dynamic", "alone", "1"): (1, [1]),
    ("dynamic", "first", "default"): (1, [1, 2]),
    ("dynamic", "first", "1"): (1, [1, 2]),
    ("dynamic", "joins", "default"): NO_VOTERS,
    ("dynamic", "joins", "1"): NO_VOTERS,
}
"""(quorum, flag, kraft.version) of all that is accepted, by kafka-storage 4.3.1 as well, with this result."""


@pytest.mark.prevents("KAFKA-17794", "KAFKA-19489")
@pytest.mark.parametrize("level", ["default", "0", "1"])
@pytest.mark.parametrize("flag", FLAGS)
@pytest.mark.parametrize("kind", ["static", "dynamic"])
def test_no_node_is_formatted_for_two_kinds_of_quorums(
    tmp_path: Path, kind: str, flag: str, level: str
) -> None:
    """KAFKA-19489: voters on the disk of one node, and others in the configuration that the rest goes by.

    KAFKA-17794: nor is a node formatted for a dynamic quorum that does not say which voters it begins with.
    """
    config = tmp_path / "controller.properties"
    config.write_text(
        "process.roles=controller\nnode.id=1\ncontroller.listener.names=CONTROLLER\n"
        f"listeners=CONTROLLER://one:9093\nlog.dirs={tmp_path / 'a'}\n"
        f"{STATIC if kind == 'static' else DYNAMIC}\n"
    )
    level_flags = [] if level == "default" else ["-f", f"kraft.version={level}"]
    status = main(["format", "-t", CLUSTER_ID, "-c", str(config), *FLAGS[flag], *level_flags])
    expected = TABLE.get((kind, flag, level), REFUSED)
    assert status == (1 if expected is REFUSED else 0)
    if expected is REFUSED:
        assert not (tmp_path / "a").exists()
    else:
        assert formatted(tmp_path / "a") == expected


def formatted(log_dir: Path) -> Formatted:
    """What the first checkpoint of the metadata log says."""
    path = log_dir / PARTITION_DIRECTORY / checkpoint_file_name(BOOTSTRAP_SNAPSHOT_ID)
    if not path.exists():
        return NO_VOTERS
    header = CheckpointReader(path).header()
    voters = [] if header.voters is None else [voter.voter_id for voter in header.voters.voters]
    return header.kraft_version, voters
