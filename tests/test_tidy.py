"""The rules of this repository as tests: sizes, first lines, visible KIPs, banned words, closed matches."""

from __future__ import annotations

import ast
import gc
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.support.compiled_rim import compiled_rim

ROOT = Path(__file__).resolve().parent.parent

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 60

KIPS = (497, 704, 841, 853)
"""The KIPs that the project is about; each is visible in four places."""

TOOLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]
CONTRACTS = TOOLS["importlinter"]["contracts"]
COMPILED_RIM = compiled_rim()
(PURE_CONTRACT,) = [contract for contract in CONTRACTS if contract["name"].startswith("The pure core")]
(LAYERS_CONTRACT,) = [contract for contract in CONTRACTS if contract.get("containers") == ["kraftctl"]]

LOWEST_LAYER_WITH_IO = "storage"

VAGUE_NAMES = frozenset(("utils", "util", "helpers", "helper", "common", "misc", "base"))

BANNED = re.compile(
    # Machine paths, words of the workshop, work left for others. Written so as not to match itself.
    # Kafka's images have a mounted folder of such a name, and files in a scratch directory.
    r"/(?:work|root|home)/|/tm[p]/(?!kafka-logs|server\.properties|strimzi\.properties)[a-z]|(?<!/mnt/)shared[/]"
    r"|\b(?:TO[D]O|FIX[M]E|XX[X])\b|NotImplemented[E]rror|house[.]md"
    r"|kafka-fact[s]|py[p]i\.org|pythonhoste[d]|maven[.]org|repo1[.]maven"
)
BANNED_IN_TESTS = re.compile(
    r"time\.slee[p]\(|@pytest\.mark\.(?:ski[p]|xfai[l])|pytest\.ski[p]\(|pytest\.xfai[l]\("
)

QUAINT = re.compile(
    # Words for which Kafka or plain English has a better one. Written so as not to match itself.
    r"\b(?:tel[l](?:s|ing)?|tol[d]|stretc[h](?:es)?|whoeve[r]|nobod[y]|men[d](?:s|ed)?|g[o](?:es|ing)?\s+on|goodby[e]"
    r"|patienc[e]|dies\s+o[f]|in\s+the\s+mids[t]|does\s+no\s+mor[e]|stands\s+fo[r]|at\s+onc[e])\b",
    re.IGNORECASE,
)

DIALECT = re.compile(r"\b(?:ane[w]|so man[y]|as long as no[t])\b", re.IGNORECASE)
"""Words of no one's English: "again", "that many", "until". Written so as not to match itself."""

WORDS_MIN = 4
"""A docstring of fewer words has no subject and verb, or repeats the name above it."""

PRODUCT = ("kraftctl/", "kraftctl_codegen/", "protocol/", "spark/")

TEXT_SUFFIXES = frozenset(
    (".py", ".md", ".toml", ".yml", ".yaml", ".sh", ".cfg", ".properties", ".java", ".xml")
)


def tracked_files() -> list[Path]:
    """Every file of the project that git tracks or would add."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT,
            check=True,
            capture_output=True,
        ).stdout.decode()
        names = [name for name in listed.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [
            str(path.relative_to(ROOT))
            for root in ("kraftctl", "kraftctl_codegen", "protocol", "spark", "tests", "docs")
            for path in (ROOT / root).rglob("*.*")
        ]
    return sorted(ROOT / name for name in names if (ROOT / name).is_file())


FILES = tracked_files()
PYTHON_FILES = [path for path in FILES if path.suffix == ".py"]
OURS = [path for path in PYTHON_FILES if "generated" not in path.parts]


def name_of(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


@cache
def parse(path: Path) -> ast.Module:
    return ast.parse(path.read_text(), str(path))


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes: to walk through a tree takes longer than to parse it."""
    return tuple(ast.walk(parse(path)))


@pytest.fixture(autouse=True, scope="module")
def trees_are_kept_here_only() -> Iterator[None]:
    """The collector would look at millions of nodes again and again, and later tests need their memory."""
    gc.disable()
    yield
    gc.enable()
    parse.cache_clear()
    nodes.cache_clear()


def functions(path: Path) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in nodes(path):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def imported_modules(path: Path) -> Iterator[str]:
    """Top-level names of what a module imports, at any depth of the file."""
    for node in nodes(path):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]


def test_files_hold_one_idea() -> None:
    too_long = {name_of(path): n for path in OURS if (n := path.read_text().count("\n")) > FILE_LINES_MAX}
    assert too_long == {}


def test_functions_fit_on_a_screen() -> None:
    too_long = [
        f"{name_of(path)}:{function.lineno} {function.name}: {lines} lines"
        for path in OURS
        for function in functions(path)
        if (lines := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES_MAX
    ]
    assert too_long == []


def test_modules_say_what_and_why_in_their_first_line() -> None:
    silent = [
        name_of(path)
        for path in PYTHON_FILES
        if path.read_text().strip() and not (ast.get_docstring(parse(path)) or "").strip()
    ]
    assert silent == []


def test_modules_are_named_after_the_thing() -> None:
    assert [name_of(path) for path in PYTHON_FILES if path.stem in VAGUE_NAMES] == []


def test_all_that_lies_below_storage_is_pure_and_compiled() -> None:
    """One list decides: the contract on purity checks it, and `setup.py` compiles it."""
    layers = LAYERS_CONTRACT["layers"]
    below = layers[layers.index(LOWEST_LAYER_WITH_IO) + 1 :]
    expected = {f"kraftctl.{name.strip()}" for layer in below for name in layer.split("|")}
    assert set(PURE_CONTRACT["source_modules"]) == {*expected, "kraftctl_protocol"}


def test_no_module_imports_a_source_root() -> None:
    found = [name_of(path) for path in OURS if {"protocol", "spark"} & set(imported_modules(path))]
    assert found == []


def test_only_the_clock_reads_a_clock() -> None:
    allowed = (
        "kraftctl/server/process/clock.py",
        "kraftctl/server/logs/logging.py",
        "kraftctl/dev/",
        "kraftctl/cli/dev",
    )
    readers = [
        name_of(path)
        for path in OURS
        if name_of(path).startswith("kraftctl/") and not name_of(path).startswith(allowed)
        if "time" in set(imported_modules(path))
    ]
    assert readers == []


CONTAINING = (
    "kraftctl/controller/audit/audit_trail.py",
    "kraftctl/controller/envelope_responses.py",
    "kraftctl/controller/failed_requests.py",
    "kraftctl/controller/quorum_controller.py",
    "kraftctl/node/controller_node.py",
    "kraftctl/node/snapshot_generation.py",
    "kraftctl/operate/listener.py",
    "kraftctl/operate/watch.py",
    "kraftctl/server/connections/connection.py",
    "kraftctl/server/connections/encoded_response.py",
    "kraftctl/server/logs/log_handler.py",
    "kraftctl/server/loop/node_loop.py",
    "kraftctl/server/peers/peers.py",
    "kraftctl/console/painter.py",
    "kraftctl/server/security/sasl_connection.py",
    "kraftctl/server/security/ssl_reloading.py",
    "kraftctl/server/process/worker_thread.py",
    "protocol/kraftctl_security/issuer/jwks_endpoint.py",
    "protocol/kraftctl_security/issuer/token_login.py",
)
"""Where all exceptions may be caught: one request, task or connection, and the loop, which then ends."""


def test_nothing_is_caught_blindly() -> None:
    """Handlers of all exceptions raise them again, except in the places that docs/adr/0005 names."""
    blind = [
        f"{name_of(path)}:{node.lineno}"
        for path in OURS
        for node in nodes(path)
        if isinstance(node, ast.ExceptHandler)
        and (node.type is None or getattr(node.type, "id", "") in ("Exception", "BaseException"))
        and not isinstance(node.body[-1], ast.Raise)
        and name_of(path) not in CONTAINING
    ]
    assert blind == []


CLOSED_MATCHES = ("kraftctl/raft/", "kraftctl/node/", "kraftctl/server/", "tests/support/simulator/")
"""Where effects and events are matched: a new one must not type-check until all of these handle it."""


def matches_classes(match: ast.Match) -> bool:
    return any(isinstance(node, ast.MatchClass) for case in match.cases for node in ast.walk(case.pattern))


def is_closed(match: ast.Match) -> bool:
    """Whether the last case is `case _: assert_never(...)`."""
    last = match.cases[-1]
    is_wildcard = isinstance(last.pattern, ast.MatchAs) and last.pattern.pattern is None
    return is_wildcard and last.guard is None and ast.unparse(last.body[0]).startswith("assert_never(")


def test_matches_over_effects_and_events_are_closed() -> None:
    matches = [
        (f"{name_of(path)}:{match.lineno}", match)
        for path in OURS
        if name_of(path).startswith(CLOSED_MATCHES)
        for match in nodes(path)
        if isinstance(match, ast.Match) and matches_classes(match)
    ]
    assert matches
    assert [place for place, match in matches if not is_closed(match)] == []


REPLACED_FROM_SOURCE = {("tests/image/test_partition_encoding.py", "LISTS_MAX")}
"""Tests that prove less of compiled code, and all of the sources: the lane `sources` runs them, too."""


def compiled_constants() -> set[tuple[str, str]]:
    """Module and name of what `setup.py` compiles as `Final`: its value is copied to where it is used."""
    pure = tuple(f"{name}." for name in PURE_CONTRACT["source_modules"])
    modules = {
        ".".join(path.relative_to(ROOT / root).with_suffix("").parts): path
        for root in (".", "protocol")
        for path in OURS
        if path.is_relative_to(ROOT / root)
    }
    return {
        (module, node.target.id)
        for module, path in modules.items()
        if module.startswith(pure) or module in COMPILED_RIM
        for node in parse(path).body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and ast.unparse(node.annotation).startswith("Final")
    }


def called(call: ast.Call) -> str:
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def replaced_attributes(path: Path) -> Iterator[tuple[str, str]]:
    """Module and name of each `setattr(module, "NAME", ...)` and `setattr("module.NAME", ...)`."""
    modules = {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes(path)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
    for node in nodes(path):
        if isinstance(node, ast.Call) and len(node.args) > 1 and called(node).endswith("setattr"):
            owner, name = node.args[:2]
            if isinstance(owner, ast.Name) and isinstance(name, ast.Constant):
                yield modules.get(owner.id, ""), str(name.value)
            elif isinstance(owner, ast.Constant):
                module, _, attribute = str(owner.value).rpartition(".")
                yield module, attribute


def test_no_test_replaces_what_compiled_code_has_copied() -> None:
    """Nothing would fail: the compiled code continues with the value that it was compiled with."""
    constants = compiled_constants()
    assert ("kraftctl.metadata.partition_encoding", "LISTS_MAX") in constants
    found = {
        (name_of(path), name)
        for path in OURS
        if name_of(path).startswith("tests/")
        for module, name in replaced_attributes(path)
        if (module, name) in constants
    }
    assert found == REPLACED_FROM_SOURCE


@pytest.mark.parametrize("kip", KIPS)
def test_a_kip_is_visible_in_four_places(kip: int) -> None:
    pattern = re.compile(rf"KIP-{kip}\b")
    modules = [path for path in OURS if name_of(path).startswith("kraftctl/")]
    assert [
        path for path in modules if pattern.search((ast.get_docstring(parse(path)) or "").partition("\n")[0])
    ]
    assert (ROOT / f"tests/kips/test_kip_{kip}.py").is_file()
    assert (ROOT / f"docs/kips/kip-{kip}.md").is_file()
    invariants = [path for path in OURS if "tests" in path.parts and path.stem.endswith("invariants")]
    assert [path for path in invariants if pattern.search(path.read_text())]


def test_no_banned_word_is_left() -> None:
    found = [
        f"{name_of(path)}:{number}: {line.strip()[:80]}"
        for path in FILES
        if path.suffix in TEXT_SUFFIXES or path.name == "Makefile" or path.suffix == ".lock"
        if BANNED.search(text := path.read_text()) or BANNED_IN_TESTS.search(text)
        for number, line in enumerate(text.splitlines(), 1)
        if BANNED.search(line) or (name_of(path).startswith("tests/") and BANNED_IN_TESTS.search(line))
    ]
    assert found == []


def private_docstrings(path: Path) -> set[ast.Constant]:
    """Docstrings of what starts with an underscore: they are read with the code, not instead of it."""
    return {
        node.body[0].value
        for node in nodes(path)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
        and node.name.startswith("_")
        and isinstance(node.body[0], ast.Expr)
        and isinstance(node.body[0].value, ast.Constant)
    }


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of all docstrings, private ones and those of fields and constants, too."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        for place, statement in enumerate(node.body):
            follows_a_name = place > 0 and isinstance(node.body[place - 1], ast.Assign | ast.AnnAssign)
            if (
                (place == 0 or follows_a_name)
                and isinstance(statement, ast.Expr)
                and isinstance(statement.value, ast.Constant)
                and isinstance(statement.value.value, str)
            ):
                yield statement.lineno, statement.value.value


def is_no_sentence(text: str) -> bool:
    """Whether a docstring continues the name above it, or has too few words to be a sentence."""
    return text.lstrip().startswith("Of ") or len(text.split()) < WORDS_MIN


def worded(path: Path) -> bool:
    return name_of(path).startswith(PRODUCT)


def test_docstrings_of_the_product_are_sentences() -> None:
    found = [
        f"{name_of(path)}:{line}: {text.strip()[:60]}"
        for path in PYTHON_FILES
        if worded(path)
        for line, text in docstrings(parse(path))
        if is_no_sentence(text)
    ]
    assert found == []


@pytest.mark.parametrize("text", ["Of all kinds.", "In any order.", "Never raises.", " Of a broker, its id."])
def test_what_is_no_sentence_is_noticed(text: str) -> None:
    found = [line for line, each in docstrings(ast.parse(f'A = 1\n"""{text}"""')) if is_no_sentence(each)]
    assert found == [2]


def test_texts_have_no_words_of_a_dialect() -> None:
    found = [
        f"{name_of(path)}:{first + text.count(chr(10), 0, match.start())}: {match[0]}"
        for path in FILES
        if (path.suffix == ".md" and path.name != "CHANGELOG.md") or (path.suffix == ".py" and worded(path))
        for first, text in texts_for_readers(path)
        for match in DIALECT.finditer(text)
    ]
    assert found == []


SHARED_NAMES = frozenset(
    (
        # A protocol beside what implements it, and pairs of one meaning in the service and in the exporter.
        *("Clock", "Driver", "Endpoint", "LogFiles", "Node", "ScramCredential", "TokenCredential"),
        *("Outcome", "RefusedError", "Session", "Step", "Versions", "VoterChange"),
    )
)
"""Names that two public classes of the product have. Nothing is added here."""


def test_a_class_has_a_name_of_its_own() -> None:
    """A reader who searches for a name finds one class."""
    names = Counter(
        node.name
        for path in OURS
        if name_of(path).startswith(PRODUCT)
        for node in parse(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name for name, count in names.items() if count > 1} == SHARED_NAMES


def texts_for_readers(path: Path) -> Iterator[tuple[int, str]]:
    """First line and text of what is read outside of the code: pages, docstrings, messages."""
    if path.suffix == ".md":
        yield 1, path.read_text()
    elif path in OURS:
        private = private_docstrings(path)
        for node in nodes(path):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in private:
                yield node.lineno, node.value


def test_texts_for_readers_are_in_plain_english() -> None:
    found = [
        f"{name_of(path)}:{first + text.count(chr(10), 0, match.start())}: {match[0]}"
        for path in FILES
        for first, text in texts_for_readers(path)
        for match in QUAINT.finditer(text)
    ]
    assert found == []


def test_a_fresh_interpreter_imports_the_core_without_the_rim() -> None:
    """The import contracts, checked at run time."""
    code = "import sys; import kraftctl.node.controller_node; "
    code += "print(sorted({'asyncio', 'ssl', 'uvloop'} & set(sys.modules)))"
    path = ":".join(entry for entry in sys.path if entry)
    ran = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True, env={"PYTHONPATH": path}
    )
    assert ran.stdout.strip() == "[]"
