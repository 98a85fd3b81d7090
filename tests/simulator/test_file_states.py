"""What survives of random changes to a file, compared with all that it held since it was forced."""

from __future__ import annotations

import random

import pytest

from tests.support.effort import seeds
from tests.support.file_states import Aftermath, FileState, Truncate, Write

SEEDS = 100


class History:
    """A file, and what it held after each change since the last fsync."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.file = FileState(rng.randbytes(rng.choice((0, 10, 300))))
        self.contents = [self.file.content()]

    def grow(self) -> None:
        for _ in range(self.rng.randrange(8)):
            if self.rng.random() < 0.7:
                self._write(self.rng.choice((0, 5, len(self.contents[-1]), 700)))
            else:
                self._truncate(self.rng.choice((0, 5, 250, 900)))

    def _write(self, position: int) -> None:
        data = self.rng.randbytes(self.rng.choice((1, 20, 200)))
        self.file.change(Write(position, data))
        last = self.contents[-1]
        self.contents.append(last[:position].ljust(position, b"\0") + data + last[position + len(data) :])

    def _truncate(self, size_bytes: int) -> None:
        self.file.change(Truncate(size_bytes))
        self.contents.append(self.contents[-1][:size_bytes].ljust(size_bytes, b"\0"))

    def force(self) -> None:
        """As an fsync that began some changes ago."""
        covered = self.rng.randrange(len(self.contents))
        self.file.force(self.file.forced_count + covered)
        del self.contents[:covered]


def is_torn(content: bytes, before: bytes, after: bytes) -> bool:
    """Whether it is `before` with a part, from its front, of the write that makes it `after`."""
    return any(content == after[:at] + before[at:] or content == after[:at] for at in range(len(after) + 1))


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_what_survives_was_there(seed: int) -> None:
    history = History(random.Random(seed))
    file = history.file
    for _ in range(4):
        history.grow()
        contents = history.contents
        assert file.content() == contents[-1]
        assert file.forced_content().content() == contents[0]
        assert file.surviving(Aftermath.STRICT, history.rng).content() == contents[0]
        prefix = file.surviving(Aftermath.PREFIX, history.rng).content()
        pairs = zip(contents, [*contents[1:], contents[-1]], strict=True)
        assert any(is_torn(prefix, before, after) for before, after in pairs)
        pages = file.surviving(Aftermath.PAGES, history.rng, 64).content()
        assert len(pages) in {len(content) for content in contents}
        for at in range(0, len(pages), 64):
            page = pages[at : at + 64]
            assert page in {content[at : at + len(page)].ljust(len(page), b"\0") for content in contents}
        assert file.content() == contents[-1], "asking changes nothing"
        history.force()


@pytest.mark.parametrize("seed", seeds(SEEDS))
def test_changes_that_are_held_can_be_dropped(seed: int) -> None:
    history = History(random.Random(seed))
    history.grow()
    kept, file = len(history.contents), history.file
    history.grow()
    file.held_count = len(history.contents) - kept
    if history.rng.random() < 0.5:
        file.force(file.changes_count())
        assert file.forced_content().content() == history.contents[kept - 1]
    file.drop_held()
    assert file.content() == history.contents[kept - 1]
    file.drop_pending()
    assert file.content() in (history.contents[0], history.contents[kept - 1])
