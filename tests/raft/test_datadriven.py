"""Runs the transcripts in testdata/, of a fresh node each, and those in testdata/conversations, of several.

REWRITE=1 accepts what they print.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.datadriven import run_file
from tests.support.simulator.cluster.raft_conversation import RaftConversation
from tests.support.simulator.cluster.raft_transcript import RaftTranscript

TESTDATA = Path(__file__).parent / "testdata"
TRANSCRIPTS = sorted(TESTDATA.glob("*.txt"))
CONVERSATIONS = sorted(TESTDATA.glob("conversations/*.txt"))


@pytest.mark.prevents("observer-behind-the-log")
@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_transcript(path: Path) -> None:
    run_file(path, RaftTranscript().run)


@pytest.mark.parametrize("path", CONVERSATIONS, ids=lambda path: path.stem)
def test_conversation(path: Path) -> None:
    run_file(path, RaftConversation().run)
