"""The undo journal: when old values are dropped, and metadata transactions that span commits (KIP-868)."""

from __future__ import annotations

import pytest

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.message import Message

BEGIN, END, ABORT = BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord


def config(value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=4, resource_name="", name="k", value=value)


def image_of(*records: Message) -> MetadataImage:
    image = MetadataImage()
    for offset, record in enumerate(records):
        replay(image, record, offset)
    return image


def value(image: MetadataImage) -> str | None:
    return image.configurations.config(4, "").get("k")


def test_rollback_undoes_newest_first() -> None:
    image = image_of(config("a"), config("b"), config(None), config("c"))
    seen = []
    for end in (4, 3, 2, 1, 0):
        image.journal.rollback_to(end)
        seen.append(value(image))
    assert seen == ["c", None, "b", "a", None]
    assert image.journal.entry_count == 0


def test_committed_changes_are_forgotten_and_final() -> None:
    image = image_of(config("a"), config("b"), config("c"))
    image.journal.commit_to(2)
    assert image.journal.entry_count == 1
    image.journal.rollback_to(2)
    assert value(image) == "b"
    with pytest.raises(AssertionError):
        image.journal.rollback_to(1)


def test_an_aborted_transaction_is_taken_back_even_if_it_was_committed() -> None:
    image = image_of(config("a"), BEGIN(), config("b"), config("c"))
    image.journal.commit_to(4)
    assert (image.journal.transaction_start, value(image)) == (1, "c")
    replay(image, ABORT(), 4)
    assert (image.journal.transaction_start, value(image)) == (None, "a")
    image.journal.commit_to(5)
    assert image.journal.entry_count == 0


def test_an_abort_that_never_commits_is_undone() -> None:
    """The leader that wrote it has lost its leadership; the next one may end the transaction instead."""
    image = image_of(config("a"), BEGIN(), config("b"), ABORT())
    image.journal.commit_to(3)
    image.journal.rollback_to(3)
    assert (image.journal.transaction_start, value(image)) == (1, "b")
    replay(image, END(), 3)
    assert (image.journal.transaction_start, value(image)) == (None, "b")


def test_an_end_that_never_commits_can_be_followed_by_an_abort() -> None:
    image = image_of(config("a"), BEGIN(), config("b"), END())
    image.journal.commit_to(3)
    image.journal.rollback_to(3)
    replay(image, ABORT(), 3)
    assert value(image) == "a"


def test_transactions_follow_each_other() -> None:
    image = image_of(BEGIN(), config("a"), END(), BEGIN(), config("b"), ABORT())
    assert value(image) == "a"
    image.journal.commit_to(4)
    image.journal.rollback_to(4)
    assert image.journal.transaction_start == 3
    image.journal.rollback_to(4)
    replay(image, END(), 4)
    image.journal.commit_to(5)
    assert (value(image), image.journal.entry_count) == ("a", 0)


@pytest.mark.parametrize("records", [(BEGIN(), BEGIN()), (END(),), (ABORT(),), (BEGIN(), END(), END())])
def test_transactions_neither_nest_nor_end_twice(records: tuple[Message, ...]) -> None:
    with pytest.raises(AssertionError):
        image_of(*records)


def test_loading_remembers_only_what_an_abort_may_need() -> None:
    image = MetadataImage()
    image.journal.enabled = False
    log = [config("a"), BEGIN(), config("b"), ABORT(), config("c")]
    counts = []
    for offset, record in enumerate(log):
        replay(image, record, offset)
        counts.append(image.journal.entry_count)
    assert (counts, value(image)) == ([0, 1, 2, 0, 0], "c")


def test_a_view_keeps_the_values_of_its_offset() -> None:
    image = image_of(config("a"), config("b"))
    image.journal.commit_to(1)
    view = image.journal.open_view(1)
    replay(image, config("c"), 2)
    image.journal.commit_to(3)
    assert dict(view.items(image.configurations.resources)) == {(4, ""): {"k": "a"}}
    image.journal.close_view(view)
    replay(image, config("d"), 3)
    image.journal.commit_to(4)
    assert image.journal.entry_count == 0
