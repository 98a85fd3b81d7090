"""A copy of a simulated directory that does not change: to start many runs from one, or to restore it."""

from __future__ import annotations

from pathlib import Path

from tests.support.file_states import DirectoryState, FileState


class Backup:
    """Files as (content without the hole at its end, size, mode), directories as backups."""

    __slots__ = ("_entries",)

    def __init__(self, entries: dict[str, Backup | tuple[bytes, int, int]]) -> None:
        self._entries = entries

    @classmethod
    def of(cls, directory: DirectoryState) -> Backup:
        entries: dict[str, Backup | tuple[bytes, int, int]] = {}
        for name, state in directory.names.items():
            if isinstance(state, FileState):
                entries[name] = bytes(state.data), state.size_bytes, state.mode
            else:
                entries[name] = cls.of(state)
        return cls(entries)

    @classmethod
    def read(cls, directory: Path) -> Backup:
        """Of a directory, simulated or real."""
        entries: dict[str, Backup | tuple[bytes, int, int]] = {}
        for path in sorted(directory.iterdir()):
            if path.is_dir():
                entries[path.name] = cls.read(path)
            else:
                content = path.read_bytes()
                entries[path.name] = content.rstrip(b"\0"), len(content), path.stat().st_mode & 0o777
        return cls(entries)

    def write(self, directory: Path) -> None:
        """Into an empty directory: to look at a simulated one with other tools."""
        for name, entry in self._entries.items():
            if isinstance(entry, Backup):
                (directory / name).mkdir()
                entry.write(directory / name)
            else:
                content, size_bytes, _ = entry
                (directory / name).write_bytes(content.ljust(size_bytes, b"\0"))

    def content(self, path: str) -> bytes | None:
        """Of the file at `path`, None without one."""
        name, _, rest = path.partition("/")
        entry = self._entries.get(name)
        if isinstance(entry, Backup):
            return entry.content(rest)
        return None if entry is None else entry[0].ljust(entry[1], b"\0")

    def tree(self) -> DirectoryState:
        """Fresh states, forced."""
        directory = DirectoryState()
        for name, entry in self._entries.items():
            directory.names[name] = entry.tree() if isinstance(entry, Backup) else FileState(*entry)
        return directory
