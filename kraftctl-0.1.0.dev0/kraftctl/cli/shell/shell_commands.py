"""The commands of kafka-metadata-shell: ls, cat, tree, find, cd, pwd, and what ends or explains the shell."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from kraftctl.cli.shell.tree_node import (
    SEPARATOR,
    NodeDirectory,
    NodeFile,
    TreeNode,
    find_nodes,
    joined_path,
    split_path,
)
from kraftctl_protocol.escaped_text import escaped

HELP = """\
ls [PATH...]     list directories
cat PATH...      show files
tree [PATH...]   show everything below
find [PATH...]   list all paths below
cd [PATH]        go to a directory
pwd              show where you are
help             show this
exit             leave the shell
In a path, `..` is the directory above, and `*`, `?` and `{a,b}` match names."""


class ShellError(Exception):
    """The text says which command is wrong, or which paths."""


class MetadataShell:
    """The tree, and the directory in which the shell is."""

    def __init__(self, root: NodeDirectory) -> None:
        self._root = root
        self.working_directory = SEPARATOR
        self._problems: list[str] = []
        self._commands: dict[str, Callable[[list[str]], Iterator[str]]] = {
            "ls": self._ls,
            "cat": self._cat,
            "tree": self._tree,
            "find": self._find,
            "cd": self._cd,
            "pwd": lambda _: iter([self.working_directory]),
            "help": lambda _: iter([HELP]),
        }

    def run(self, words: list[str]) -> Iterator[str]:
        """Yields the lines of a command. Raises ShellError, for paths without a node once all others are
        shown.
        """
        self._problems.clear()
        command = self._commands.get(words[0])
        if command is None:
            known = ", ".join((*self._commands, "exit"))
            raise ShellError(f"There is no command {words[0]}. Known are: {known}.")
        yield from command(words[1:])
        if self._problems:
            raise ShellError("\n".join(self._problems))

    def _found(self, paths: list[str]) -> Iterator[tuple[list[str], TreeNode]]:
        """Yields what there is, and notes what there is not."""
        for path in paths or [self.working_directory]:
            is_found = False
            for names, node in find_nodes(self._root, split_path(path, self.working_directory)):
                is_found = True
                yield names, node
            if not is_found:
                self._problems.append(f"{path}: there is no such file or directory.")

    def _ls(self, paths: list[str]) -> Iterator[str]:
        found = list(self._found(paths))
        files = [_name(names) for names, node in found if isinstance(node, NodeFile)]
        directories = [(names, node) for names, node in found if isinstance(node, NodeDirectory)]
        yield from files
        for position, (names, node) in enumerate(directories):
            if files or position:
                yield ""
            if len(found) > 1:
                yield f"{_name(names)}:"
            yield from map(escaped, node.names())

    def _cat(self, paths: list[str]) -> Iterator[str]:
        if not paths:
            raise ShellError("cat needs a path.")
        for names, node in self._found(paths):
            if isinstance(node, NodeDirectory):
                self._problems.append(f"{joined_path(names)} is a directory.")
            else:
                yield escaped(node.text)

    def _tree(self, paths: list[str]) -> Iterator[str]:
        for _, node in self._found(paths):
            yield from _tree_below(node, "")

    def _find(self, paths: list[str]) -> Iterator[str]:
        for names, node in self._found(paths):
            yield from _paths_below(names, node)

    def _cd(self, paths: list[str]) -> Iterator[str]:
        found = list(self._found(paths[:1] or [SEPARATOR]))
        if len(paths) > 1 or len(found) > 1:
            raise ShellError("cd goes to one directory.")
        for names, node in found:
            if isinstance(node, NodeFile):
                raise ShellError(f"{joined_path(names)} is a file.")
            self.working_directory = joined_path(names)
        yield from ()


def _name(names: list[str]) -> str:
    return escaped(names[-1]) if names else SEPARATOR


def _tree_below(node: TreeNode, indent: str) -> Iterator[str]:
    if isinstance(node, NodeFile):
        yield f"{indent}{escaped(node.text)}"
        return
    for name in node.names():
        entry = node.entry(name)
        assert entry is not None
        yield f"{indent}{escaped(name)}:"
        yield from _tree_below(entry, f"{indent}  ")


def _paths_below(names: list[str], node: TreeNode) -> Iterator[str]:
    yield escaped(joined_path(names))
    if isinstance(node, NodeDirectory):
        for name in node.names():
            entry = node.entry(name)
            assert entry is not None
            yield from _paths_below([*names, name], entry)
