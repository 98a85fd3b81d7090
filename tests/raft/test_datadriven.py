"""Runs the transcripts in testdata/, a fresh node for each file. REWRITE=1 accepts what they print."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.datadriven import run_file
from tests.support.simulator.cluster.raft_transcript import RaftTranscript

TRANSCRIPTS = sorted((Path(__file__).parent / "testdata").glob("*.txt"))


@pytest.mark.prevents("observer-behind-the-log")
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    run_file(path, RaftTranscript().run)
