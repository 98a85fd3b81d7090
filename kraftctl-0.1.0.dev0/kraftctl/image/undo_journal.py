"""Undo journal: old values of whatever is not committed yet, for rollback and for consistent snapshots.

The image is changed in place. Losing leadership, or an aborted metadata transaction (KIP-868), plays
the journal back; committing forgets it. All offsets here are exclusive ends, as the high watermark:
`commit_to(n)` makes everything before n final, `rollback_to(n)` undoes everything from n on.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final, cast


class Missing:
    """The type of the constant MISSING."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = Missing()
"""The old value of a key that was not there."""

EVERY_KEY: Final = None
"""A caller passes this in place of a key to ask about all of a container."""


class Restorable:
    """A part of the image that restores its own values, because more than a dict entry hangs on them."""

    def current(self, key: object) -> object:
        """Returns the value under `key` as `restore` would need it; MISSING when there is none."""
        raise AssertionError(f"{type(self).__name__} cannot restore")

    def restore(self, key: object, old: object) -> None:
        """Puts `old` back under `key`; MISSING removes the key. It must not touch the journal."""
        raise AssertionError(f"{type(self).__name__} cannot restore")


class JournalView:
    """The image as it was when the view was opened, while it changes.

    The view keeps the *first* old value of every (container, key) changed since: some 100 bytes and the old
    value itself. Containers are known by identity, so only those that live as long as the image may be
    journaled. Close the view as soon as the snapshot is written.
    """

    def __init__(self) -> None:
        self._changes: dict[int, dict[Any, object]] = {}
        self._groups: dict[int, dict[Any, dict[Any, object]]] = {}

    def note(self, container: object, key: object, old: object) -> None:
        """Notes an old value, oldest change first; later changes of the same key do not count."""
        if isinstance(container, Restorable) and isinstance(key, tuple):
            groups = self.groups(container)
            members = groups.get(key[0])
            if members is None:
                members = {}
                groups[key[0]] = members
            members.setdefault(key[1], old)
        else:
            self.changes(container).setdefault(key, old)

    def value(self, container: object, key: object, current: object) -> object:
        """Returns the value in the view; MISSING when the key did not exist. The key must not be a pair."""
        return self.changes(container).get(key, current)

    def changes(self, container: object) -> dict[Any, object]:
        """Returns old values by key where they may differ from the present: more while the image changes."""
        identity = id(container)
        changes = self._changes.get(identity)
        if changes is None:
            changes = {}
            self._changes[identity] = changes
        return changes

    def groups(self, container: Restorable) -> dict[Any, dict[Any, object]]:
        """Returns the same for keys that are pairs, by their first part, then by the second.

        An example is the partitions of a topic.
        """
        identity = id(container)
        groups = self._groups.get(identity)
        if groups is None:
            groups = {}
            self._groups[identity] = groups
        return groups

    def free_some(self, count_max: int) -> bool:
        """Frees that many old values of a closed view; returns whether any are left.

        Freeing all of a large view in one step takes long.
        """
        for groups in self._groups.values():
            while groups:
                _, members = groups.popitem()
                count_max -= len(members)
                if count_max <= 0:
                    return True
        return False

    def items(self, container: object, entries: dict[Any, Any]) -> Iterator[tuple[Any, Any]]:
        """Yields the entries of a dict as they are in the view, in insertion order, then the removed ones.

        The dict is `container` itself, or a part of one that restores it. It may change in between. The
        first step lists the keys: 36 ms for 500,000 of them.
        """
        changes = self.changes(container)
        removed = [key for key in changes if key not in entries]
        keys = list(entries)
        keys.reverse()
        while keys:  # from the end, so that the list is freed step by step
            key = keys.pop()
            value = changes.get(key, entries.get(key, MISSING))
            if value is not MISSING:
                yield key, value
        for key in removed:
            if changes[key] is not MISSING:
                yield key, changes[key]


class UndoJournal(Restorable):
    """Remembers (container, key, old value) per offset while `enabled`.

    Loading committed records from disk runs with the journal disabled: nothing there is undone.
    A metadata transaction's changes stay in the journal, even when committed, until the record that
    ends it is committed. Begin, end and abort are themselves undoable.
    """

    def __init__(self) -> None:
        self.enabled = True
        self._offset = 0
        self._offsets: list[int] = []
        self._containers: list[object] = []
        self._keys: list[object] = []
        self._olds: list[object] = []
        self._start = 0
        self._transaction_start: int | None = None
        self._ended_transactions: list[tuple[int, int]] = []
        self._committed_end = 0
        self._views: list[JournalView] = []

    @property
    def entry_count(self) -> int:
        """The number of old values; 0 when everything replayed is committed."""
        return len(self._offsets) - self._start

    @property
    def transaction_start(self) -> int | None:
        """The offset of the BeginTransactionRecord that is still open; nothing from there on is stable."""
        return self._transaction_start

    def unstable_start(self, committed_end: int) -> int | None:
        """Returns where the first transaction begins whose end is not below `committed_end`; None without
        one.

        It may have ended in the image: a leader replays the end before it is committed.
        """
        for start, end in self._ended_transactions:
            if end >= committed_end:
                return start
        return self._transaction_start

    @property
    def recording(self) -> bool:
        """Whether changes are remembered at present."""
        return self.enabled or self._transaction_start is not None or len(self._views) > 0

    def start_record(self, offset: int) -> None:
        """Assigns changes from now on to the record at `offset`."""
        self._offset = offset

    def remember(self, container: Restorable, key: object, old: object) -> None:
        """Notes that `key` of `container` had the value `old`, before changing it."""
        if self.enabled or self._transaction_start is not None or self._views:
            self._append(container, key, old)

    def put(self, container: dict[Any, Any], key: Any, value: Any) -> None:
        """Does `container[key] = value`, undoable."""
        if self.enabled or self._transaction_start is not None or self._views:
            self._append(container, key, container.get(key, MISSING))
        container[key] = value

    def remove(self, container: dict[Any, Any], key: Any) -> None:
        """Removes `key` if it is there, undoable."""
        if key in container:
            if self.enabled or self._transaction_start is not None or self._views:
                self._append(container, key, container[key])
            del container[key]

    def _append(self, container: object, key: object, old: object) -> None:
        for view in self._views:
            view.note(container, key, old)
        if self.enabled or self._transaction_start is not None:
            self._offsets.append(self._offset)
            self._containers.append(container)
            self._keys.append(key)
            self._olds.append(old)

    def begin_transaction(self) -> None:
        """Notes that the current record begins a transaction."""
        assert self._transaction_start is None, "metadata transactions do not nest"
        self._transaction_start = self._offset
        self._append(self, None, None)

    def end_transaction(self) -> None:
        """Notes that the current record ends the transaction; its changes stay."""
        start = self._transaction_start
        assert start is not None, "no metadata transaction is open"
        if self.enabled:
            self._append(self, None, start)
            self._ended_transactions.append((start, self._offset))
        self._transaction_start = None
        if not self.enabled:
            self._clear()

    def abort_transaction(self) -> None:
        """Undoes every change since the transaction began, as the current record aborts it.

        This is a change of the current record, so it can be undone as any other.
        """
        start = self._transaction_start
        assert start is not None, "no metadata transaction is open"
        first = len(self._offsets)
        while first > self._start and self._offsets[first - 1] >= start:
            first -= 1
        for index in range(len(self._offsets) - 1, first - 1, -1):
            self._take_back(self._containers[index], self._keys[index], self._olds[index])
        self.end_transaction()

    def _take_back(self, container: object, key: object, old: object) -> None:
        if container is self:
            return
        if isinstance(container, Restorable):
            self._append(container, key, container.current(key))
            container.restore(key, old)
        elif old is MISSING:
            self.remove(cast("dict[Any, Any]", container), key)
        else:
            self.put(cast("dict[Any, Any]", container), key, old)

    def current(self, key: object) -> object:
        return self._transaction_start

    def restore(self, key: object, old: object) -> None:
        if old is not None:
            self._ended_transactions.pop()
        self._transaction_start = cast("int | None", old)

    def commit_to(self, end_offset: int) -> None:
        """Forgets old values of records before `end_offset`: they will never be undone."""
        self._committed_end = max(self._committed_end, end_offset)
        limit = end_offset
        if self._transaction_start is not None:
            limit = min(limit, self._transaction_start)
        while self._ended_transactions and self._ended_transactions[0][1] < end_offset:
            del self._ended_transactions[0]
        if self._ended_transactions:
            limit = min(limit, self._ended_transactions[0][0])
        start = self._start
        count = len(self._offsets)
        while start < count and self._offsets[start] < limit:
            start += 1
        if start == count:
            self._clear()
        elif start > 1024 and start * 2 > count:
            self._cut(start)
        else:
            # Dropped immediately, so that replaced values can be freed before the lists are cut.
            for index in range(self._start, start):
                self._containers[index] = None
                self._keys[index] = None
                self._olds[index] = None
            self._start = start

    def rollback_to(self, end_offset: int) -> None:
        """Undoes all records at or after `end_offset`, newest change first.

        Nothing committed may be undone: `end_offset` is at least the last `commit_to`. Open views stay
        right, because they were opened at a committed offset.
        """
        assert end_offset >= self._committed_end, "committed records cannot be rolled back"
        self._undo_from(end_offset)

    def last_change(self, containers: list[object], key: object, start_offset: int) -> int | None:
        """Returns the last record at `start_offset` or later that changed `key` of one of `containers`.

        EVERY_KEY asks for any key. The cost is a look at each change that is held, and nothing when none is.
        """
        for index in range(len(self._offsets) - 1, self._start - 1, -1):
            offset = self._offsets[index]
            if offset < start_offset:
                return None
            changed = self._containers[index]
            for container in containers:
                if container is changed and (key is EVERY_KEY or self._keys[index] == key):
                    return offset
        return None

    def value_at(self, end_offset: int, container: object, key: object, current: object) -> object:
        """Returns the value of `key` without the records from `end_offset` on; MISSING when there is none.

        The cost is a look at each change that is held, and nothing when none is.
        """
        for index in range(self._start, len(self._offsets)):
            is_later = self._offsets[index] >= end_offset
            if is_later and self._containers[index] is container and self._keys[index] == key:
                return self._olds[index]
        return current

    def open_view(self, end_offset: int) -> JournalView:
        """Returns a view of the image without the records from `end_offset` on."""
        view = JournalView()
        for index in range(self._start, len(self._offsets)):
            if self._offsets[index] >= end_offset:
                view.note(self._containers[index], self._keys[index], self._olds[index])
        self._views.append(view)
        return view

    def close_view(self, view: JournalView) -> None:
        """Ends keeping the view up to date."""
        self._views.remove(view)

    def _undo_from(self, end_offset: int) -> None:
        while len(self._offsets) > self._start and self._offsets[-1] >= end_offset:
            self._offsets.pop()
            container = self._containers.pop()
            key = self._keys.pop()
            old = self._olds.pop()
            if isinstance(container, Restorable):
                container.restore(key, old)
                continue
            entries = cast("dict[Any, Any]", container)
            if old is MISSING:
                del entries[key]
            else:
                entries[key] = old
        if len(self._offsets) == self._start:
            self._clear()

    def _clear(self) -> None:
        self._cut(len(self._offsets))

    def _cut(self, count: int) -> None:
        del self._offsets[:count]
        del self._containers[:count]
        del self._keys[:count]
        del self._olds[:count]
        self._start = 0
