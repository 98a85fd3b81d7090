"""The tree that the shell shows: directories and files, and the paths that lead to them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

SEPARATOR = "/"
PARENT = ".."


class NodeFile:
    """A leaf with a text."""

    def __init__(self, text: str) -> None:
        self.text = text


class NodeDirectory:
    """A directory whose entries are made when they are looked at: there may be a million partitions."""

    def __init__(self, entries: Mapping[str, Callable[[], TreeNode]]) -> None:
        self._entries = entries

    def names(self) -> list[str]:
        """Returns the names in the order in which they are listed."""
        return sorted(self._entries)

    def entry(self, name: str) -> TreeNode | None:
        make = self._entries.get(name)
        return None if make is None else make()


TreeNode = NodeFile | NodeDirectory


def split_path(path: str, working_directory: str) -> list[str]:
    """Returns the names that lead from the root to `path`, which may be relative."""
    names: list[str] = []
    text = path if path.startswith(SEPARATOR) else f"{working_directory}{SEPARATOR}{path}"
    for name in text.split(SEPARATOR):
        if name == PARENT:
            del names[-1:]
        elif name not in ("", "."):
            names.append(name)
    return names


def joined_path(names: list[str]) -> str:
    return SEPARATOR + SEPARATOR.join(names)


def find_nodes(root: TreeNode, names: list[str]) -> Iterator[tuple[list[str], TreeNode]]:
    """Yields each node at the names, of which each may be a pattern with `*`, `?` and `{a,b}`."""
    if not names:
        yield [], root
        return
    if isinstance(root, NodeFile):
        return
    pattern, rest = names[0], names[1:]
    expression = name_expression(pattern)
    names_here = [pattern] if expression is None else [each for each in root.names() if expression(each)]
    for name in names_here:
        entry = root.entry(name)
        if entry is not None:
            for found, node in find_nodes(entry, rest):
                yield [name, *found], node


def name_expression(pattern: str) -> Callable[[str], object] | None:
    """Returns what matches whole names, None for a name without wildcards or with an open brace."""
    if re.search(r"[*?{]", pattern) is None or pattern.count("{") != pattern.count("}"):
        return None
    parts = {"*": ".*", "?": ".", "{": "(?:", "}": ")"}
    depth, expression = 0, ""
    for character in pattern:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return None
        is_choice = character == "," and depth > 0
        expression += "|" if is_choice else parts.get(character, re.escape(character))
    return re.compile(expression, re.DOTALL).fullmatch
