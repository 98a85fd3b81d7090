"""No regular expression backtracks over what a peer sends: every one of the product has a verdict.

Linear is proved from the expression itself. An expression that is not, or that is made while the process
runs, has a row: whose text it reads, or what limits the length.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import re
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kraftctl_security.sasl.oauthbearer.initial_response import InitialResponseError, parse_initial_response
from kraftctl_security.sasl.scram_messages import ScramFormatError, parse_client_final, parse_client_first
from tests.support.ambiguity import why_not_linear

ROOT = Path(__file__).parents[2]
SOURCES = {"kraftctl": ROOT, "protocol/kraftctl_protocol": ROOT / "protocol"}
SOURCES |= {"protocol/kraftctl_security": ROOT / "protocol", "spark/kraftctl_spark": ROOT / "spark"}

MATCHING = [
    f"re.{function}"
    for function in ("compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer")
]

WRAPPED = {"_starts": re.DOTALL}
"""Functions of the product that compile their argument, with these flags."""

PROPERTIES = "reads properties of this host, at start"
DEVELOPMENT = "reads what tools print, in development"

VERDICTS = {
    ("controller/configuration_control/validate_configs.py", "expression"): (
        "is compiled only, never matched; PATTERNS_COST_MAX limits what the expressions of a request take"
    ),
    ("server/connections/foreign_protocols.py", "pattern"): "each of them is proved at its call",
    (
        "forgetting/wanted_name.py",
        "f'(?<!",
    ): "at most two characters on each side of a fixed text: who runs `forget` gives it",
    ("cli/container/environment.py", "'KRAFTCTL_"): "names of environment variables: who starts it has them",
    ("publish/client_error.py", "'"): "reads at most 1,000 characters of an error (READ_MAX)",
    ("commands/publish_flags.py", "'"): "an argument: who publishes gives it",
    ("stores/store_error.py", "pattern"): "each of RULES is a few words; what it searches is one error",
    ("cli/doctor/diagnosis.py", "'[a-z][a-z0-9]*"): PROPERTIES,
    ("cli/hidden_values.py", "'(?P<scheme>"): PROPERTIES,
    (
        "cli/shell/tree_node.py",
        "expression",
    ): "a pattern that is typed into the shell, for the names of one folder",
    ("history/questions/macros.py", "'|'.join(map(re.escape"): (
        "literal names of our own places, in files of our own"
    ),
    ("dev/nodes.py", "'(?m)^directory\\\\.id=(.*)$'"): DEVELOPMENT,
    ("dev/nodes.py", "pattern"): DEVELOPMENT,
    ("dev/processes.py", "pattern"): DEVELOPMENT,
    ("config_providers/provider_files.py", "'/+'"): PROPERTIES,
    ("config_providers/variables.py", "'\\\\$\\\\{"): PROPERTIES,
    ("java_patterns.py", "'&&|"): PROPERTIES,
    ("java_patterns.py", "'\\\\\\\\.|"): PROPERTIES,
    ("java_patterns.py", "_NAMED_GROUP.sub("): (
        "names of variables in properties of this host; subjects of certificates are matched by RE2"
    ),
    ("resolved_properties.py", "'[^\\\\s,;"): PROPERTIES,
    ("resolved_properties.py", "f'(?<!"): PROPERTIES,
    ("tls/ssl_principal_mapper.py", "f'\\\\s*({_RULE})"): PROPERTIES,
    ("tls/pem_blocks.py", "'[\\\\r\\\\n]+"): "never fails once it has begun, so no character is read twice",
    ("history/questions/questions.py", "'(?<!DISTINCT "): "reads the SQL files of the product",
    ("history/questions/questions.py", "'\\\\A(?:--"): "reads the SQL files of the product",
    ("datasource/failure_cause.py", "'^(?:Caused by: )?"): "reads what this host's JVM reports",
}
"""What is not proved: the end of the file's name and the beginning of the expression in it; and why the time
that it takes is no peer's to choose.
"""


class Expression:
    """One call of `re` in the product; `name` is that of the constant it is assigned to, if there is one."""

    def __init__(self, path: Path, call: ast.Call, function: str, name: str | None) -> None:
        self.path = path
        self.call = call
        self.function = function
        self.name = name

    @property
    def key(self) -> tuple[str, str]:
        return str(self.path.relative_to(ROOT)), ast.unparse(self.call.args[0])

    def searches(self, searched: set[str]) -> bool:
        """`searched` has the names of constants of which a method looks for a match anywhere."""
        if self.function != "compile":
            return self.function not in ("match", "fullmatch")
        return self.name is None or self.name in searched

    def pattern(self) -> re.Pattern[Any] | None:
        """None if it is not known before the process runs."""
        root = next(root for folder, root in SOURCES.items() if (ROOT / folder) in self.path.parents)
        module = importlib.import_module(".".join(self.path.relative_to(root).with_suffix("").parts))
        nodes = [self.call.args[0]]
        if self.function == "compile":
            nodes += self.call.args[1:]
        nodes += [each.value for each in self.call.keywords if each.arg == "flags"]
        try:
            values = [eval(ast.unparse(each), vars(module)) for each in nodes]
            return re.compile(values[0], WRAPPED.get(ast.unparse(self.call.func), sum(values[1:])))
        except NameError:
            return None


def files() -> list[Path]:
    return sorted(path for folder in SOURCES for path in (ROOT / folder).rglob("*.py"))


def expressions() -> Iterator[Expression]:
    for path in files():
        text = path.read_text()
        if "import re\n" not in text:
            assert "from re import" not in text, f"{path} imports from re: this test looks for re.compile"
            continue
        names: dict[ast.expr, str] = {}
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
                names[node.value] = node.target.id
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                names[node.value] = node.targets[0].id
            if isinstance(node, ast.Call):
                function = ast.unparse(node.func)
                if function in WRAPPED:
                    yield Expression(path, node, "match", None)
                elif function in MATCHING:
                    yield Expression(path, node, function.removeprefix("re."), names.get(node))


def searched_names() -> set[str]:
    uses = re.compile(r"\b(_?[A-Z][A-Z0-9_]*)\.(?:search|sub|subn|split|findall|finditer|scanner)\(")
    return {name for path in files() for name in uses.findall(path.read_text())}


def why_unproved(expression: Expression, searched: set[str]) -> str | None:
    pattern = expression.pattern()
    if pattern is None:
        return "made while the process runs"
    return why_not_linear(pattern, searches=expression.searches(searched))


def test_every_expression_has_a_verdict() -> None:
    searched = searched_names()
    unused = dict(VERDICTS)
    proved, missing = 0, []
    for each in expressions():
        why = why_unproved(each, searched)
        path, text = each.key
        rows = [row for row in VERDICTS if path.endswith(row[0]) and text.startswith(row[1])]
        if why is None:
            proved += 1
        elif not rows:
            missing.append(f"{path}: {text} is not linear ({why}): rewrite it, or say who chooses its text")
        for row in rows:
            unused.pop(row, None)
    assert not missing, "\n".join(missing)
    assert not unused, "verdicts without an expression that needs them"
    assert proved > 50


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        pytest.param(r"(a+)+", "exponential", id="a-loop-of-loops"),
        pytest.param(r"(a*)*", "exponential", id="a-loop-of-what-may-be-empty"),
        pytest.param(r"(a|aa)*b", "exponential", id="a-branch-twice-another"),
        pytest.param(r"(a|ab|b)*", "exponential", id="a-branch-of-two-others"),
        pytest.param(r"(\w|[a-z]x)*!", "exponential", id="branches-that-overlap"),
        pytest.param(r"(?:[ \t]*[^:]*:)*x", "exponential", id="headers-of-pem"),
        pytest.param(r"a*a*", "polynomial", id="two-loops"),
        pytest.param(r".*?,.*?,", "polynomial", id="lazy-groups"),
        pytest.param(r"^CN=(.*?),OU=(.*?),O=(.*?)$", "polynomial", id="rules-of-kafkas-documentation"),
        pytest.param(r"\d+(?:\.\d*)?\d*", "polynomial", id="a-loop-that-may-be-missing-between"),
        pytest.param(r"(?i)[A-Z]+[a-z]+", "polynomial", id="case-is-ignored"),
        pytest.param(r"(?=(a|aa)*b)a", "exponential", id="within-a-look-ahead"),
        pytest.param(r"a{5,}a{3,}", "polynomial", id="counted-loops"),
        pytest.param(r"(a)\1", "GROUPREF", id="a-reference"),
        pytest.param(r"a++a*b", None, id="a-possessive-loop"),
        pytest.param(r"(?:[^,=]|=2C|=3D)+", None, id="branches-that-differ"),
        pytest.param(r"[a-z]+=[^\x00]+", None, id="a-separator-between"),
        pytest.param(r"[a-z](?:[a-z-]*[a-z])?", None, id="one-loop"),
        pytest.param(r"(?:[a-z]{4})*(?:[a-z]{2}==)?", None, id="base64"),
    ],
)
def test_the_proof_finds_what_backtracks(expression: str, why: str | None) -> None:
    found = why_not_linear(re.compile(expression))
    assert (found is None) == (why is None)
    assert found is None or found.startswith(why or "")


def test_a_search_begins_at_each_character() -> None:
    assert why_not_linear(re.compile("[a-z]+1"), searches=True) is not None
    assert why_not_linear(re.compile("=[a-z]+1"), searches=True) is None


SLOWEST = {
    "scram-attributes": (parse_client_first, b"n,,n=a,r=b" + b",a=b" * 1_000),
    "scram-name": (parse_client_first, b"n,," + b"n=" + b"=2C" * 1_300),
    "scram-nonce": (parse_client_first, b"n,,n=a,r=" + b"a" * 4_000 + b"\x00"),
    "scram-proof": (parse_client_final, b"c=biws,r=a,p=" + b"aaaa" * 1_000 + b"="),
    "oauthbearer-authzid": (parse_initial_response, b"n,a=" + b"=2C" * 21_000),
    "oauthbearer-pairs": (parse_initial_response, b"n,,\x01" + b"a=b\x01" * 16_000 + b"a"),
    "oauthbearer-token": (parse_initial_response, b"n,,\x01auth=Bearer " + b"=" * 65_000 + b"a\x01\x01"),
}


@pytest.mark.parametrize("case", sorted(SLOWEST))
def test_a_token_of_the_largest_size_takes_a_moment_and_little_memory(case: str) -> None:
    """What 512 KiB took before: 67 ms and 88 MB."""
    parse, token = SLOWEST[case]
    tracemalloc.start()
    try:
        with contextlib.suppress(ScramFormatError, InitialResponseError):
            parse(token)
        assert tracemalloc.get_traced_memory()[1] < 4 * 1024 * 1024
    finally:
        tracemalloc.stop()
