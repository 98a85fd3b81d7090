"""The level of each line about what a start finds in the directory of the log."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from kraftctl.config.controller_config import ControllerConfig
from kraftctl.raft.election_state import ElectionState
from kraftctl.server.controller_server import run_controller
from kraftctl.storage.witness import FILE_NAME as WITNESS
from kraftctl_protocol.log_file_names import PARTITION_DIRECTORY, QUORUM_STATE
from kraftctl_protocol.meta_properties import MetaProperties
from tests.storage.batches import batch
from tests.support.partitions import DIRECTORY_ID, NODE_ID, open_partition

CLUSTER_ID = "MkU3OEVBNTcwNTJENDM2Qg"
OTHERS = "2@localhost:1,3@localhost:2"


def delete_quorum_state(partition: Path) -> None:
    (partition / QUORUM_STATE).unlink()


def delete_quorum_state_and_witness(partition: Path) -> None:
    delete_quorum_state(partition)
    (partition / WITNESS).unlink()


def leave_unfinished_snapshot(partition: Path) -> None:
    (partition / "00000000000000000003-0000000004.checkpoint.part").write_bytes(b"x")


def leave_deleted_segment(partition: Path) -> None:
    (partition / "00000000000000000003.log.deleted").write_bytes(b"x")


def append_half_a_batch(partition: Path) -> None:
    with (partition / "00000000000000000000.log").open("ab") as file:
        file.write(batch(10, epoch=4)[:-1])


def lose_everything(partition: Path) -> None:
    for path in partition.iterdir():
        path.unlink()


def nothing(partition: Path) -> None:
    """A clean stop."""


@pytest.mark.parametrize(
    ("damage", "voters", "level", "text"),
    [
        pytest.param(delete_quorum_state, OTHERS, "INFO", "It is written again", id="votes-are-proven"),
        pytest.param(leave_unfinished_snapshot, OTHERS, "INFO", "removed unfinished", id="snapshot"),
        pytest.param(leave_deleted_segment, OTHERS, "INFO", "removed leftover", id="leftover"),
        pytest.param(
            delete_quorum_state_and_witness, OTHERS, "WARNING", "does not vote", id="votes-are-not-proven"
        ),
        pytest.param(lose_everything, OTHERS, "WARNING", "does not vote", id="log-is-gone"),
        pytest.param(delete_quorum_state_and_witness, None, "WARNING", "the only voter", id="only-voter"),
        pytest.param(append_half_a_batch, OTHERS, "WARNING", "of an unfinished write", id="torn-tail"),
        pytest.param(nothing, OTHERS, None, "", id="nothing"),
    ],
)
async def test_it_warns_only_where_an_operator_must_know(
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
    damage: Callable[[Path], None],
    voters: str | None,
    level: str | None,
    text: str,
) -> None:
    partition = open_partition(tmp_path)
    partition.write_quorum_state(ElectionState(epoch=4, voted_id=NODE_ID, data_version=0))
    for offset in range(10):
        partition.log.append(batch(offset, epoch=3))
    partition.close()
    damage(tmp_path / PARTITION_DIRECTORY)
    config = ControllerConfig(
        {
            "process.roles": "controller",
            "node.id": str(NODE_ID),
            "controller.listener.names": "CONTROLLER",
            "listeners": "CONTROLLER://localhost:0",
            "controller.quorum.voters": ",".join(
                [f"{NODE_ID}@localhost:9093", *([voters] if voters else [])]
            ),
            "log.dirs": str(tmp_path),
        }
    )
    caplog.set_level(logging.INFO, "kraftctl")

    async def start_and_stop() -> None:
        stop = asyncio.Event()
        stop.set()
        await run_controller(config, MetaProperties(CLUSTER_ID, NODE_ID, DIRECTORY_ID), stop)

    await start_and_stop()
    lines = [record for record in caplog.records if record.name == "kraftctl.storage"]
    assert [record.levelname for record in lines] == ([] if level is None else [level])
    assert all(text in record.getMessage() for record in lines)
    others = [record.getMessage() for record in caplog.records if record.name != "kraftctl.storage"]
    assert not [line for line in others if "log is empty" in line or "quorum-state" in line]
