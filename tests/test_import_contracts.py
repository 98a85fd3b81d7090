"""Each import contract of pyproject.toml notices a violation: each is broken once, on purpose."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent

VIOLATIONS = {
    "Layers of the service": ("kraftctl/image/replay.py", "import kraftctl.controller.request_handlers"),
    "Raft knows nothing": ("kraftctl/raft/raft_node.py", "import kraftctl.image.replay"),
    "The pure core does no IO": ("kraftctl/metadata/features.py", "import asyncio"),
    "What a simulation shares": ("kraftctl/server/loop/node_loop.py", "import kraftctl.server.peers.peers"),
    "Causes and the table of metrics": ("kraftctl/operate/readiness.py", "import asyncio"),
    "Explanations are pure": ("kraftctl/explain/evidence.py", "import kraftctl_observer.observer"),
    "What the console decides is pure": ("kraftctl/console/search.py", "import threading"),
    "No controller imports the console": ("kraftctl/server/process/collector.py", "import starlette"),
    "Rooms of the server": ("kraftctl/server/process/collector.py", "import kraftctl.server.logs.log_files"),
    "Rooms of the controller": (
        "kraftctl/controller/state/broker_epoch.py",
        "import kraftctl.controller.cluster_control.stalls",
    ),
    "The protocol stands alone": ("kraftctl_protocol/frames.py", "import kraftctl.config.controller_config"),
    "Security of connections knows neither": (
        "kraftctl_security/sasl/mechanism.py",
        "import kraftctl.config.controller_config",
    ),
    "Layers of the security": ("kraftctl_security/tls/stores.py", "import kraftctl_security.sasl.mechanism"),
    "The exporter knows nothing": (
        "kraftctl_spark/rows/metadata_rows.py",
        "import kraftctl.config.controller_config",
    ),
    "The service does not know": (
        "kraftctl/server/process/clock.py",
        "import kraftctl_spark.rows.metadata_rows",
    ),
    "Nothing that is shipped imports": ("kraftctl/dev/ports.py", "import kraftctl_codegen.api_table"),
    "Reading a metadata log needs neither": ("kraftctl_observer/reading.py", "import pyarrow"),
    "Administering a cluster needs neither": ("kraftctl_admin/errors.py", "import kraftctl_observer.reading"),
    "Layers of the admin client": ("kraftctl_admin/unavailable.py", "import kraftctl_admin.errors"),
    "Layers of the observer": ("kraftctl_observer/log_reader.py", "import kraftctl_observer.segment_file"),
    "Layers of the exporter": ("kraftctl_spark/log/log_range.py", "import kraftctl_spark.rows.metadata_rows"),
    "Rows and tables are made without Spark": ("kraftctl_spark/tables/manifest.py", "import pyspark"),
    "The local engine runs without Spark": ("kraftctl_spark/engines/worker_pool.py", "import pyspark"),
    "The report is made without Spark": ("kraftctl_spark/report/database.py", "import pyspark"),
    "Records are read and decoded without Arrow": ("kraftctl_spark/rows/transactions.py", "import pyarrow"),
    "Versions are computed without files": ("kraftctl_spark/history/versions/versions.py", "import pyarrow"),
    "Questions are written without Arrow": ("kraftctl_spark/history/columns.py", "import pyarrow"),
    "Partitions are computed as columns": (
        "kraftctl_spark/history/partitions/partition_pass.py",
        "import time",
    ),
}

SOURCES = (
    "kraftctl",
    "protocol/kraftctl_admin",
    "protocol/kraftctl_observer",
    "protocol/kraftctl_protocol",
    "protocol/kraftctl_security",
    "spark/kraftctl_spark",
)


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the sources that may be changed."""
    for source in SOURCES:
        target = tmp_path / Path(source).name
        shutil.copytree(ROOT / source, target, ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    return tmp_path


def report(copy: Path) -> list[str]:
    """One line per contract: its name, then KEPT or BROKEN."""
    command = (
        "import sys; from importlinter.cli import lint_imports_command; sys.exit(lint_imports_command())"
    )
    # The changed sources must come before an installed package.
    path = os.pathsep.join([str(copy), *(entry for entry in sys.path if entry)])
    ran = subprocess.run(
        [sys.executable, "-c", command, "--no-cache"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = [line for line in ran.stdout.splitlines() if line.endswith(("KEPT", "BROKEN"))]
    assert lines, ran.stdout + ran.stderr
    return lines


def test_the_sources_keep_every_contract(copy: Path) -> None:
    lines = report(copy)
    assert [line for line in lines if line.endswith("BROKEN")] == []
    assert len(lines) == len(VIOLATIONS)


def test_each_contract_notices_its_violation(copy: Path) -> None:
    for module, statement in VIOLATIONS.values():
        with (copy / module).open("a") as file:
            file.write(f"\n{statement}\n")
    lines = report(copy)
    for name in VIOLATIONS:
        assert [line for line in lines if line.startswith(name) and line.endswith("BROKEN")], (name, lines)
