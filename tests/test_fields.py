"""A class of the server has at most 15 fields, those of its bases included, or says why it has more."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

SERVER = Path(__file__).parent.parent / "kraftctl" / "server"

FIELDS_MAX = 15

REASON = re.compile(r"It has (\d+) fields, because \S")


def _targets(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.Assign):
        return node.targets
    return [node.target] if isinstance(node, ast.AnnAssign | ast.AugAssign) else []


def _own_fields(found: ast.ClassDef) -> set[str]:
    """Attributes that are set on `self` in any method, and those that the body of the class declares."""
    fields = {
        each.attr
        for node in ast.walk(found)
        for target in _targets(node)
        for each in ast.walk(target)
        if isinstance(each, ast.Attribute) and isinstance(each.value, ast.Name) and each.value.id == "self"
    }
    declared = [node.target for node in found.body if isinstance(node, ast.AnnAssign)]
    return fields | {each.id for each in declared if isinstance(each, ast.Name)}


def _classes(sources: list[str]) -> dict[str, ast.ClassDef]:
    trees = [ast.parse(source) for source in sources]
    return {node.name: node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef)}


def _fields(classes: dict[str, ast.ClassDef], name: str) -> set[str]:
    bases = [base.id for base in classes[name].bases if isinstance(base, ast.Name) and base.id in classes]
    return _own_fields(classes[name]).union(*(_fields(classes, base) for base in bases))


def without_reason(sources: list[str]) -> dict[str, int]:
    """Returns the classes with too many fields, and those whose reason has another number."""
    classes = _classes(sources)
    found: dict[str, int] = {}
    for name, node in classes.items():
        count = len(_fields(classes, name))
        said = REASON.search(" ".join((ast.get_docstring(node) or "").split()))
        if (count > FIELDS_MAX) != (said is not None) or (said is not None and int(said[1]) != count):
            found[name] = count
    return found


def test_no_class_of_the_server_has_more_fields_without_a_reason() -> None:
    assert without_reason([path.read_text() for path in sorted(SERVER.rglob("*.py"))]) == {}


def _class(name: str, count: int, docstring: str = "", base: str = "") -> str:
    fields = "\n".join(f"        self.{name.lower()}{number} = 0" for number in range(count))
    return f'class {name}({base}):\n    """{docstring}"""\n    def __init__(self):\n        pass\n{fields}\n'


@pytest.mark.parametrize(
    ("source", "found"),
    [
        pytest.param(_class("A", 15), {}, id="as-many-as-allowed"),
        pytest.param(_class("A", 16), {"A": 16}, id="one-more"),
        pytest.param(_class("A", 16, "It has 16 fields, because they are one row."), {}, id="with-a-reason"),
        pytest.param(_class("A", 17, "It has 16 fields, because of this."), {"A": 17}, id="an-old-one"),
        pytest.param(_class("A", 2, "It has 2 fields, because of this."), {"A": 2}, id="a-needless-one"),
        pytest.param(_class("A", 16, "It has 16 fields."), {"A": 16}, id="a-number-and-no-reason"),
        pytest.param(_class("A", 9) + _class("B", 7, base="A"), {"B": 16}, id="with-those-of-its-base"),
        pytest.param(
            "class A:\n" + "".join(f"    f{number}: int\n" for number in range(16)), {"A": 16}, id="declared"
        ),
        pytest.param(_class("A", 15) + "    def f(self):\n        self.late = 1\n", {"A": 16}, id="later"),
    ],
)
def test_fields_are_counted(source: str, found: dict[str, int]) -> None:
    assert without_reason([source]) == found
