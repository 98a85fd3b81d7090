"""Replaces a name in all batches and in the history, by one commit; then everything that had it is deleted.

The history is computed again, or, where records have expired, its own rows are changed. A process that is
killed before the commit has changed nothing: the next one deletes its files. Behind the commit, nothing that
is left to do needs the name, except the search.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from kraftctl_spark.forgetting.history_without_name import HistoryWithoutName
from kraftctl_spark.forgetting.wanted_name import WantedName
from kraftctl_spark.forgetting.without_name import BatchWithoutName, records_with
from kraftctl_spark.history.history_tables import HistoryTables
from kraftctl_spark.tables.commit import FORGOTTEN, Commit
from kraftctl_spark.tables.commit_log import commit_name
from kraftctl_spark.tables.decoding_again import decode_again
from kraftctl_spark.tables.file_schemas import has_files, is_later
from kraftctl_spark.tables.forgot import Forgot, ForgottenName
from kraftctl_spark.tables.manifest import ExportRefusedError, Manifest
from kraftctl_spark.tables.output import Output

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Planned:
    """What has the name: batches with the number of their records that change, and files to delete."""

    batches: tuple[tuple[Manifest, int], ...]
    computes_history: bool
    """Whether the history is computed again."""
    losing: int
    """Records of which bytes are removed that are not understood."""
    removed_files: int
    """Files that were replaced before, and are kept for a while."""
    history: HistoryWithoutName | None = None
    """What changes the rows of a history that cannot be computed again."""
    history_rows: dict[str, int] = field(default_factory=dict)
    """How many rows of its files change."""

    @property
    def records(self) -> int:
        return sum(records for _, records in self.batches)

    @property
    def is_needed(self) -> bool:
        return bool(self.batches or self.history_rows)


def plan(output: Output, name: WantedName) -> Planned:
    """Returns what would change; ExportRefusedError where a history cannot be read."""
    found = output.read(lambda live: _planned(output, live, name))
    if not output.raw_start or output.log.state().history is None:
        return found
    history = HistoryWithoutName(name)
    return replace(
        found,
        computes_history=False,
        history=history,
        history_rows=HistoryTables.beside(output).changes(history.change),
    )


def _planned(output: Output, live: list[Manifest], name: WantedName) -> Planned:
    state = output.log.state()
    found = [(one, *records_with(output, one, name)) for one in live]
    return Planned(
        tuple((one, records) for one, records, _ in found if records),
        state.history is not None,
        sum(losing for _, _, losing in found),
        sum(output.log.store.size(path) is not None for one in state.removed for path in one.paths),
    )


def unfinished(output: Output) -> list[ForgottenName]:
    """Returns the names of which something is left to do."""
    return [one for one in output.log.state().forgotten if not one.finished_at_ms]


def replace_name(output: Output, name: WantedName) -> Commit | None:
    """Replaces the name, and deletes every file that was ever replaced. Returns the commit, None if no record
    has the name.

    ExportRefusedError while another process writes, or for files of a later release.
    """
    with ExitStack() as locks:
        locks.enter_context(output.all_locked())
        history = locks.enter_context(_history(output))
        _remove_leftovers(output, history)
        decode_again(output)
        found = plan(output, name)
        for batch, _ in found.batches:
            if has_files(output, batch, is_later):
                raise ExportRefusedError(f"{batch.name} was written by a later release: use that one")
        commit = _replaced(output, name, found, history) if found.is_needed else None
        output.remove_replaced(0, even_published=True)
        if history is not None:
            history.remove_unnamed()
        return commit


@contextmanager
def _history(output: Output) -> Iterator[HistoryTables | None]:
    """Locks the history that the commits have, and gives it."""
    if output.log.state().history is None:
        yield None
        return
    history = HistoryTables.beside(output, 0)
    with history.locked(0):
        yield history


def _remove_leftovers(output: Output, history: HistoryTables | None) -> None:
    output.remove_merge_leftovers()
    output.remove_leftovers()
    if history is not None:
        history.remove_unnamed()


def _replaced(output: Output, name: WantedName, found: Planned, history: HistoryTables | None) -> Commit:
    """Commits the batches without the name, together with the history of them."""
    with ExitStack() as failed:
        failed.callback(output.remove_merge_leftovers)
        new = {one.start: BatchWithoutName(output, one, name).written() for one, _ in found.batches}
        removed = tuple(file for one, _ in found.batches for file in one.files)
        made: list[Commit] = []

        def append(change: Commit) -> None:
            of_history = () if change.history is None else change.history.removed
            forgot = Forgot(name.kind, name.pseudonym, found.records, len(removed) + len(of_history))
            made.append(output.apply(replace(change, forgot=forgot)))

        change = Commit(FORGOTTEN, tuple(new.values()), removed)

        def append_with(of_history: Commit) -> None:
            append(replace(change, history=of_history.history))

        if history is not None and found.history is not None and found.history_rows:
            history.rewrite_within(found.history.change, found.history_rows, append_with)
        elif history is not None and found.computes_history:
            raw = [new.get(one.start, one) for one in output.manifests()]
            history.rebuild_within(raw, append_with)
        else:
            append(change)
        failed.pop_all()
    return made[0]


def finish(output: Output, name: WantedName) -> None:
    """Notes that nothing is left to do for the name. Other pseudonyms may be of other names."""
    for pseudonym in {one.pseudonym for one in unfinished(output)} & {name.pseudonym}:
        forgot = Forgot(name.kind, pseudonym, is_finished=True)
        output.log.append(Commit(FORGOTTEN, forgot=forgot))


def tables_with_old_files(output: Output) -> set[str]:
    """Returns the locations of the tables of which files were replaced for names that are not finished."""
    found: set[str] = set()
    root = output.where if output.is_stored else str(output.directory.absolute())
    for one in unfinished(output):
        commit = Commit.from_bytes(output.log.store.read(commit_name(one.number)))
        history = () if commit.history is None else commit.history.removed
        found.update(f"{root}/{file.path.rpartition('/')[0]}" for file in (*commit.removed, *history))
    return found
