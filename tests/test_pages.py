"""Pages and docstrings of packages name files: each of these files exists, also after something has moved."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.test_tidy import FILES, OURS, ROOT, name_of

PAGES = [path for path in FILES if path.suffix == ".md"]

PATHS = [f"/{name_of(path)}" for path in FILES]

ROOTS = "kraftctl|protocol|spark|tests|docs|schemas"

FILE = re.compile(rf"`((?:{ROOTS})/[\w./-]+)")
"""Relative to the root of the repository; `*` or `NNN` in a name is a pattern."""

LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)\s]*)?\)")
"""Relative to the page."""

MODULE = re.compile(r"`([\w/-]+\.py)`")
"""A module by its name, or by its name in a package."""

NAME = re.compile(r"`(?:\w+\.)*(\w*_\w*)`")
"""A function or a test; `Class.method` is looked for by its last part."""

CODE_BLOCK = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)

PATTERN = re.compile(r"NNN|nnn|[\w.-]+_\Z|-\Z")

PAGES_ABOUT_THE_PAST = ("CHANGELOG.md",)


def missing(page: Path, text: str) -> Iterator[str]:
    """What `text` names and is not there."""
    prose = CODE_BLOCK.sub("", text)
    for name in FILE.findall(prose):
        if not PATTERN.search(name) and not (ROOT / name).exists():
            yield name
    for name in LINK.findall(prose):
        if not (page.parent / name).exists():
            yield name
    for name in MODULE.findall(prose):
        if not PATTERN.search(name) and not any(path.endswith(f"/{name}") for path in PATHS):
            yield name


def test_what_pages_name_exists() -> None:
    found = {
        f"{name_of(page)}: {name}"
        for page in PAGES
        if name_of(page) not in PAGES_ABOUT_THE_PAST
        for name in missing(page, page.read_text())
    }
    assert found == set()


def unknown(text: str) -> Iterator[str]:
    """Names in `text` that no source has."""
    words: set[str] = set()
    for path in OURS:
        words.update(re.findall(r"\w*_\w*", path.read_text()))
    yield from (name for name in NAME.findall(text) if name not in words)


def test_what_the_pages_about_kips_name_is_in_the_sources() -> None:
    pages = sorted((ROOT / "docs" / "kips").glob("*.md"))
    assert pages
    assert list(unknown("".join(page.read_text() for page in pages))) == []


def unknown_tests(text: str) -> list[str]:
    """The tests in `text`, `file::name`, whose file does not define them."""
    named = re.findall(r"`(tests/[\w./]+\.py)::(?:\w+::)?(\w+)`", text)
    return [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / file).exists() or f"def {test}(" not in (ROOT / file).read_text()
    ]


def test_the_tests_that_pages_name_exist() -> None:
    pages = [path for path in PAGES if name_of(path) not in PAGES_ABOUT_THE_PAST]
    assert {name_of(page): gone for page in pages if (gone := unknown_tests(page.read_text()))} == {}


def test_a_test_that_has_moved_is_noticed() -> None:
    here = "tests/test_pages.py::test_a_test_that_has_moved_is_noticed"
    assert unknown_tests(f"`{here}`, `{here}_too`, `tests/gone.py::test_it`") == [
        f"{here}_too",
        "tests/gone.py::test_it",
    ]


def test_a_name_that_has_changed_is_noticed() -> None:
    gone = "_".join(("settle", "everything", "else"))
    assert list(unknown(f"`unknown`, `name_of`, `Leader.{gone}`, `{gone}`")) == [gone, gone]


def test_a_file_that_has_moved_is_noticed() -> None:
    page = ROOT / "docs" / "style.md"
    good = (
        "`kraftctl/node/` `tests/kips/test_kip_NNN.py` `tests/raft/testdata/voter_*.txt` [a](glossary.md#b)"
    )
    bad = "`kraftctl/gone.py`, `docs/gone/`, [there](gone.md) and [there](../gone.md#part), `raft/gone.py`"
    gone = ["kraftctl/gone.py", "docs/gone/", "gone.md", "../gone.md", "kraftctl/gone.py", "raft/gone.py"]
    assert list(missing(page, good)) == []
    assert list(missing(page, bad)) == gone


def modules_that_are_gone(package: Path) -> list[str]:
    """What the docstring of a package has in code, and is neither in the package nor a word of its code."""
    tree = ast.parse((package / "__init__.py").read_text())
    docstring = ast.get_docstring(tree) or ""
    code = [ast.unparse(ast.Module(tree.body[1:], []))] + [
        path.read_text() for path in package.glob("*.py") if path.stem != "__init__"
    ]
    known = {path.stem for path in package.iterdir()} | set(re.findall(r"\w+", "".join(code)))
    return [name for name in re.findall(r"`(\w+)`", docstring) if name not in known]


def test_the_docstrings_of_packages_name_their_modules() -> None:
    packages = [path.parent for path in OURS if path.name == "__init__.py"]
    assert {name_of(path): gone for path in packages if (gone := modules_that_are_gone(path))} == {}


def test_a_module_that_has_left_its_package_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "__init__.py").write_text(
        '"""A package: `here` decides, `gone` does not, `step` is a word."""'
    )
    (tmp_path / "here.py").write_text("def step() -> None: ...")
    assert modules_that_are_gone(tmp_path) == ["gone"]
