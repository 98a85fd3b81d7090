"""Every text that the product logs at WARN or above, read out of its sources: `…` is where values come."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kraftctl", "protocol", "spark")

ANY = "…"

LOGGING_METHODS = frozenset(("warning", "error", "critical", "exception"))
LEVELS = frozenset(("WARN", "WARNING", "ERROR", "CRITICAL"))
NOTICES = frozenset(("notice", "limited_notice", "Notice", "log"))
"""Functions one of whose arguments is the level, and the one after it the text."""

SERVER = "kraftctl/server/"
LATER = ("kraftctl/config/", "kraftctl/storage/")

PREFIXES = {
    "_refuse": "Closing connection from …: ",
    "leave": "Closing connection from …: ",
    "_note_foreign": "Closing connection from … to listener …: ",
    "_end_foreign": "Closing connection from … to listener …: ",
}
"""Methods of connections whose argument is the end of a line that begins so."""

ALWAYS = frozenset(("Halt",))
"""Functions whose first argument is a text of level ERROR."""


class LoggedText(NamedTuple):
    """`text` is empty where the source does not say it: a value that comes from elsewhere, `expression`."""

    path: str
    line: int
    text: str
    expression: str


@cache
def logged_texts() -> list[LoggedText]:
    return [
        found
        for package in PACKAGES
        for path in sorted((ROOT / package).rglob("*.py"))
        if "generated" not in path.parts
        for found in _of_file(path)
    ]


def texts_of(path: str, function: str) -> list[str]:
    """The texts that a function returns, or the methods of a class."""
    tree = ast.parse((ROOT / path).read_text())
    for node in ast.walk(tree):
        is_named = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        if is_named and node.name == function:
            returned = [each.value for each in ast.walk(node) if isinstance(each, ast.Return) and each.value]
            return [text for value in returned for text in _strings(value) if len(text.replace(ANY, "")) > 8]
    raise AssertionError(f"{path} has no {function}")


def _of_file(path: Path) -> Iterator[LoggedText]:
    tree = ast.parse(path.read_text())
    name = path.relative_to(ROOT).as_posix()
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for node in ast.walk(function):
            if isinstance(node, ast.AugAssign) and _is_list_of_texts(node.target, name):
                yield from (LoggedText(name, node.lineno, text, "") for text in _strings(node.value))
            if not isinstance(node, ast.Call) or (argument := _text_argument(node, name)) is None:
                continue
            prefix = PREFIXES.get(_name(node), "")
            for text in _resolved(argument, function):
                whole = prefix + text if text else ""
                yield LoggedText(name, node.lineno, whole, ast.unparse(_value(node, argument)))


def _text_argument(call: ast.Call, path: str) -> ast.expr | None:
    """The argument that is the text, if this call logs at WARN or above."""
    name = _name(call)
    if not call.args:
        return None
    if name in ALWAYS or (name in PREFIXES and path.startswith(SERVER)):
        return call.args[0]
    if isinstance(call.func, ast.Attribute):
        receiver = call.func.value
        if name == "append":
            return call.args[0] if _is_list_of_texts(receiver, path) else None
        if name in LOGGING_METHODS:
            is_log = re.search(r"log|refusals|failures", ast.unparse(receiver)) is not None
            return call.args[0] if is_log else None
    if name in NOTICES:
        for level, text in pairwise(call.args):
            if ast.unparse(level).rpartition(".")[2] in LEVELS:
                return text
    return None


def _name(call: ast.Call) -> str:
    return call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")


def _is_list_of_texts(receiver: ast.expr, path: str) -> bool:
    """Lines that are logged as warnings later."""
    if not path.startswith(LATER):
        return False
    return ast.unparse(receiver).rpartition(".")[2] in ("warnings", "losses")


def _value(call: ast.Call, argument: ast.expr) -> ast.expr:
    """What is logged, where the text is `%s`."""
    place = call.args.index(argument)
    is_template = isinstance(argument, ast.Constant) and argument.value == "%s"
    return call.args[place + 1] if is_template else argument


def _resolved(argument: ast.expr, function: ast.AST) -> list[str]:
    """Its texts; one that is empty if it comes from elsewhere."""
    if isinstance(argument, ast.Name):
        found = [
            text
            for node in ast.walk(function)
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == argument.id
            for text in _strings(node.value)
        ]
        return found or [""]
    found = [text for text in _strings(argument) if text != ANY]
    return found or [""]


def _strings(node: ast.AST) -> list[str]:
    """The outermost texts in an expression or statement."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [re.sub(r"%(\.\d)?[sdf]", ANY, node.value)]
    if isinstance(node, ast.JoinedStr):
        parts = [str(part.value) if isinstance(part, ast.Constant) else ANY for part in node.values]
        return ["".join(parts)]
    return [text for child in ast.iter_child_nodes(node) for text in _strings(child)]
