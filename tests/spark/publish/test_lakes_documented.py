"""Every block of LAKES.md about Delta and Iceberg runs, in the order of the page."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.spark.fake_controller import FakeController, FakeQuorum
from tests.spark.metadata_histories import generate
from tests.spark.publish.published_tables import assert_published

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

PAGE = (Path(__file__).parents[3] / "spark" / "LAKES.md").read_text()
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
SECTION = PAGE[PAGE.index("## Delta and Iceberg") :]


def test_each_block_runs(controller: FakeController, quorum: FakeQuorum, tmp_path: Path) -> None:
    """Those of the ten minutes come first: they make the tables that the others publish."""
    quorum.append(*generate(5, 120, snapshots=()).batches)
    others, ten_minutes = SECTION.split("### Ten minutes")
    host, port = controller.endpoint
    environment = {**os.environ, "PYICEBERG_HOME": str(tmp_path)}
    answers = []
    for kind, text in BLOCK.findall(ten_minutes) + BLOCK.findall(others):
        placed = text.replace("/data", str(tmp_path)).replace("localhost:9093", f"{host}:{port}")
        if kind == "yaml" and "type: rest" in text:
            continue  # The tests of REST catalogs have it.
        if kind == "yaml":
            (tmp_path / ".pyiceberg.yaml").write_text(placed)
        elif kind == "python":
            answers.append(ran([sys.executable, "-c", placed], environment))
        else:
            for line in placed.splitlines():
                command, _, rest = line.partition(" ")
                if command == "kraftctl-export":
                    command_line = [sys.executable, "-m", "kraftctl_spark.cli", *rest.split()]
                    if rest.startswith("run") and "--available-now" not in rest:
                        command_line.append("--available-now")
                    ran(command_line, environment)
                else:
                    assert line == "KRAFTCTL_PURE=1 pip install '.[export,iceberg]'"
    assert len(answers) == 1
    assert "topic: string" in answers[0]
    assert_published(tmp_path, "delta", tmp_path / "metadata")


def ran(command: list[str], environment: dict[str, str]) -> str:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout
