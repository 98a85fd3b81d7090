"""What Kafka's server refuses of its directories is refused here; what is refused beyond has a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storage.log_dirs_cases import CASES, NODE_ID
from tests.support.processes.oracle import kafkas_verdicts

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "oracle" / "LogDirsOracle.java"


@pytest.mark.prevents("reordered-directories")
def test_same_verdicts(tmp_path: Path) -> None:
    blocks = []
    for number, case in enumerate(CASES):
        root = tmp_path / str(number)
        root.mkdir()
        properties = controller_properties() | case.build(root)
        blocks.append("".join(f"{key}={value}\n" for key, value in properties.items()))
    verdicts = kafkas_verdicts(ORACLE, blocks)
    differences = []
    for case, verdict in zip(CASES, verdicts, strict=True):
        refuses = verdict.startswith("refuses")
        if refuses is not (bool(case.says) and not case.why):
            differences.append(f"{case.name}: {verdict}")
    assert not differences, "\n".join(differences)


def controller_properties() -> dict[str, str]:
    return {
        "process.roles": "controller",
        "node.id": str(NODE_ID),
        "controller.listener.names": "CONTROLLER",
        "listeners": "CONTROLLER://localhost:9093",
        "controller.quorum.bootstrap.servers": "localhost:9093",
    }
