"""What tests of commands share."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.corrupt_directory import RUNNING, make_directory, properties_file
from tests.support.processes.started_controller import StartedController


@pytest.fixture
def controller(tmp_path: Path) -> Iterator[StartedController]:
    directory = make_directory(tmp_path)
    running = StartedController(properties_file(tmp_path, directory.path))
    try:
        found = re.search(r"\(port (\d+)\)", running.await_text(RUNNING))
        assert found is not None
        running.port = int(found.group(1))
        yield running
    finally:
        running.process.kill()
        running.process.wait()
