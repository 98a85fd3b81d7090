"""The undo journal: when old values are dropped, and metadata transactions that span commits (KIP-868)."""

from __future__ import annotations

import pytest

from kraftctl.image.metadata_image import MetadataImage
from kraftctl.image.replay import replay
from kraftctl_protocol.generated.abort_transaction_record import AbortTransactionRecord
from kraftctl_protocol.generated.begin_transaction_record import BeginTransactionRecord
from kraftctl_protocol.generated.config_record import ConfigRecord
from kraftctl_protocol.generated.end_transaction_record import EndTransactionRecord
from kraftctl_protocol.generated.remove_topic_record import RemoveTopicRecord
from kraftctl_protocol.generated.topic_record import TopicRecord
from kraftctl_protocol.message import Message
from tests.support.image_records import image_of

BEGIN, END, ABORT = BeginTransactionRecord, EndTransactionRecord, AbortTransactionRecord


def config(value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=4, resource_name="", name="k", value=value)


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
    assert image.configurations.config_in_view(view, (4, "")) == [("k", "a")]
    image.journal.close_view(view)
    replay(image, config("d"), 3)
    image.journal.commit_to(4)
    assert image.journal.entry_count == 0


def named(name: str, value: str | None) -> ConfigRecord:
    return ConfigRecord(resource_type=2, resource_name="foo", name=name, value=value)


def test_each_config_is_journaled_by_itself() -> None:
    """A copy of all configs of the broker for each record took seconds on the loop."""
    image = MetadataImage()
    replay(image, config("a"), 0)
    configs = image.configurations.config(4, "")
    for offset in range(1, 1_000):
        record = ConfigRecord(resource_type=4, resource_name="", name=f"k{offset}", value="a")
        replay(image, record, offset)
    assert image.configurations.config(4, "") is configs
    image.journal.rollback_to(1)
    assert configs == {"k": "a"}
    assert image.configurations.config(4, "") is configs


def test_a_view_has_the_configs_of_a_topic_that_was_removed_and_made_anew() -> None:
    image = image_of(
        TopicRecord(name="foo", topic_id=b"1" * 16), named("kept", "1"), named("changed", "2"), config("a")
    )
    image.journal.commit_to(4)
    view = image.journal.open_view(4)
    changes = [
        named("changed", "3"),
        RemoveTopicRecord(topic_id=b"1" * 16),
        config(None),
        TopicRecord(name="foo", topic_id=b"2" * 16),
        named("changed", "4"),
        named("new", "5"),
    ]
    for offset, record in enumerate(changes, 4):
        replay(image, record, offset)
    image.journal.commit_to(10)
    configurations = image.configurations
    assert configurations.config(2, "foo") == {"changed": "4", "new": "5"}
    in_view = [
        (resource, configurations.config_in_view(view, resource))
        for resource in sorted(configurations.resources_in_view(view))
    ]
    assert in_view == [((2, "foo"), [("changed", "2"), ("kept", "1")]), ((4, ""), [("k", "a")])]


def test_a_transaction_is_unstable_until_its_end_is_committed() -> None:
    journal = image_of(config("a"), BEGIN(), config("b"), END()).journal
    assert [journal.unstable_start(committed_end) for committed_end in (1, 3, 4)] == [1, 1, None]


def test_the_last_change_of_a_key_is_found_from_its_own_offset_on() -> None:
    image = image_of(config("a"), config("b"), config("c"))
    key = ((4, ""), "k")
    assert [image.journal.last_change([image.configurations], key, start) for start in (1, 2, 3)] == [
        2,
        2,
        None,
    ]
