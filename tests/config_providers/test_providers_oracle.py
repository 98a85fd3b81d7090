"""Kafka's AbstractConfig resolves the same properties to the same values.

Where it refuses, or leaves the text of a variable in place, kraftctl refuses.
"""

from __future__ import annotations

import base64
import os
import random
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from kraftctl.dev.kafka_distribution import QUICK_JAVA_OPTIONS
from kraftctl_security.config_providers.resolve import resolve_properties
from kraftctl_security.config_values import ConfigException
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.kafka import kafka

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "ProvidersOracle.java"

PACKAGE = "org.apache.kafka.common.config.provider"
ENV, FILE, DIRECTORY = (f"{PACKAGE}.{name}ConfigProvider" for name in ("EnvVar", "File", "Directory"))
THREE = {
    "config.providers": "env,file,dir",
    "config.providers.env.class": ENV,
    "config.providers.file.class": FILE,
    "config.providers.dir.class": DIRECTORY,
}
FILE_ALONE = {"config.providers": "file", "config.providers.file.class": FILE}
DIRECTORY_ALONE = {"config.providers": "dir", "config.providers.dir.class": DIRECTORY}
ENV_ALONE = {"config.providers": "env", "config.providers.env.class": ENV}

ALLOWLIST_PATTERN = "config.providers.env.param.allowlist.pattern"


def allowlist(pattern: str, value: str = "${env:ADMIN_PW}") -> dict[str, str]:
    return {**ENV_ALONE, ALLOWLIST_PATTERN: pattern, "k": value}


ENVIRONMENT = {
    "ADMIN_PW": "s3cret",
    "EMPTY": "",
    "BLANKS": "  x ",
    "TWO_LINES": "one\ntwo\n",
    "NESTED": "${env:ADMIN_PW}",
    "DOLLAR": "a$1\\b${c",
    "ADMIN.PW-2": "dotted",
    "WORD": "päss日本\U0001f600",
    "a": "lower",
    "ADMIN_PW2": "another",
}

SECRETS = r"""# a comment
! another
password=p4ss
key.password : k3y
with\:colon=colon
with\ blank = blank
with\=equals=equals
continued=one,\
   two
escapes=a\tb\nc\\d\u00e9\:\=\#
trailing=x  
empty=
novalue
nested=${env:ADMIN_PW}
password=p4ss-again
ünï=ümläut
"""  # noqa: W291


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("world")
    for name in ("d", "allowed/sub", "allowed-not", "outside", "d/sub"):
        (root / name).mkdir(parents=True)
    files: dict[str, str | bytes] = {
        "s.properties": SECRETS,
        "allowed/s.properties": "password=inside\n",
        "allowed/sub/s.properties": "password=below\n",
        "allowed-not/s.properties": "password=beside\n",
        "outside/s.properties": "password=outside\n",
        "outside/password": "outside",
        "bad-escape.properties": "password=x\nother=\\u12z4\n",
        "latin.properties": b"password=\xff\n",
        "bom.properties": b"\xef\xbb\xbfpassword=x\nother=y\n",
        "crlf.properties": b"password=x\r\nother=y\rthird=z",
        "unreadable-name": "x",
        "d/password": "dir-secret\n",
        "d/lines": "one\ntwo\n\n",
        "d/crlf": b"one\r\ntwo\r\n",
        "d/empty": "",
        "d/latin": b"\xff",
        "d/nested": "${env:ADMIN_PW}",
        "d/name.with:colon": "colon",
        "d/sub/password": "deep",
        "with blank.properties": "password=blank\n",
    }
    for name, content in files.items():
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (root / "d" / "link").symlink_to("password")
    (root / "d" / "dangling").symlink_to("nowhere")
    (root / "d" / "to-sub").symlink_to("sub")
    (root / "allowed" / "out").symlink_to("../outside")
    (root / "allowed" / "out.properties").symlink_to("../outside/s.properties")
    (root / "to-allowed").symlink_to("allowed")
    os.mkfifo(root / "d" / "fifo")
    return root


VALUES = {
    "one": "${env:ADMIN_PW}",
    "within-text": 'PlainLoginModule required password="${env:ADMIN_PW}";',
    "several": "${env:ADMIN_PW}/${file:$W/s.properties:password}/${dir:$W/d:password}",
    "one-twice": "${env:ADMIN_PW}${env:ADMIN_PW}",
    "empty-value": "x${env:EMPTY}y",
    "blanks-kept": "${env:BLANKS}",
    "lines-in-the-environment": "${env:TWO_LINES}",
    "value-over-lines": "a\n${env:ADMIN_PW}\nb",
    "missing-variable": "${env:NO_SUCH}",
    "missing-among-others": "${env:ADMIN_PW}${env:NO_SUCH}",
    "another-case": "${env:admin_pw}",
    "another-case-of-the-provider": "${ENV:ADMIN_PW}",
    "not-looked-at-again": "${env:NESTED}",
    "dollar-and-backslash": "${env:DOLLAR}",
    "dots-and-hyphens": "${env:ADMIN.PW-2}",
    "unicode": "${env:WORD}",
    "empty-path": "${env::ADMIN_PW}",
    "path-for-the-environment": "${env:/x:ADMIN_PW}",
    "no-key": "${env:}",
    "colons-only": "${env:::}",
    "blank-in-the-name": "${ env:ADMIN_PW}",
    "blank-behind-the-name": "${env :ADMIN_PW}",
    "blank-in-the-key": "${env: ADMIN_PW}",
    "blank-behind-the-key": "${env:ADMIN_PW }",
    "newline-in-the-key": "${env:ADMIN_PW\n}",
    "no-provider": "${:ADMIN_PW}",
    "unknown-provider": "${vault:secret:password}",
    "unknown-before-known": "${vault:x}${env:ADMIN_PW}",
    "known-before-unknown": "${env:ADMIN_PW}${vault:x}",
    "no-brace": "${env:ADMIN_PW",
    "no-brace-then-another": "${env:ADMIN_PW ${env:ADMIN_PW}",
    "begins-in-a-key": "${env:ADMIN_PW${env:ADMIN_PW}}",
    "begins-in-a-name": "${x${env:ADMIN_PW}",
    "brace-behind": "${env:ADMIN_PW}}",
    "dollar-before": "$${env:ADMIN_PW}",
    "backslash-before": "\\${env:ADMIN_PW}",
    "no-dollar": "{env:ADMIN_PW}",
    "no-braces": "$env:ADMIN_PW",
    "parentheses": "$(env:ADMIN_PW)",
    "opening-alone": "pa${ss",
    "opening-and-brace": "pa${ss}word",
    "opening-in-jaas": 'x required user_a="pa${ss" user_b="y";',
    "opening-before-one": "pa${ss}${env:ADMIN_PW}",
    "mapping-rules": "RULE:^CN=(.*?),.*$/$1/L,DEFAULT",
    "mapping-rules-of-kerberos": "RULE:[1:$1@$0](.*@X)s/@.*//",
    "listener-map": "CONTROLLER:SSL,PLAINTEXT:PLAINTEXT",
    "json": '{"a": {"b": "c:d"}}',
    "empty": "",
    "file": "${file:$W/s.properties:password}",
    "file-other-separator": "${file:$W/s.properties:key.password}",
    "file-colon-in-the-key": "${file:$W/s.properties:with:colon}",
    "file-blank-in-the-key": "${file:$W/s.properties:with blank}",
    "file-equals-in-the-key": "${file:$W/s.properties:with=equals}",
    "file-continued": "${file:$W/s.properties:continued}",
    "file-escapes": "${file:$W/s.properties:escapes}",
    "file-trailing-blanks": "[${file:$W/s.properties:trailing}]",
    "file-empty": "[${file:$W/s.properties:empty}]",
    "file-without-value": "[${file:$W/s.properties:novalue}]",
    "file-nested": "${file:$W/s.properties:nested}",
    "file-umlaut": "${file:$W/s.properties:ünï}",
    "file-missing-key": "${file:$W/s.properties:no.such}",
    "file-missing": "${file:$W/no.properties:password}",
    "file-without-path": "${file:password}",
    "file-without-key": "${file:$W/s.properties:}",
    "file-is-a-directory": "${file:$W/d:password}",
    "file-below-a-file": "${file:$W/s.properties/x:password}",
    "file-slash-behind": "${file:$W/s.properties/:password}",
    "file-slashes": "${file:$W//./s.properties:password}",
    "file-relative": "${file:s.properties:password}",
    "file-relative-up": "${file:d/../s.properties:password}",
    "file-through-a-link-up": "${file:$W/allowed/out/../s.properties:password}",
    "file-bad-escape": "${file:$W/bad-escape.properties:password}",
    "file-not-utf-8": "${file:$W/latin.properties:password}",
    "file-bom": "${file:$W/bom.properties:other}",
    "file-bom-first-key": "${file:$W/bom.properties:password}",
    "file-line-ends": "${file:$W/crlf.properties:password}${file:$W/crlf.properties:third}",
    "file-blank-in-the-path": "${file:$W/with blank.properties:password}",
    "file-nul": "${file:$W/s\0:password}",
    "file-too-long": "${file:$W/" + "x" * 300 + ":password}",
    "directory-last-line": "[${dir:$W/d:password}]",
    "directory-lines": "${dir:$W/d:lines}",
    "directory-line-ends": "${dir:$W/d:crlf}",
    "directory-empty-file": "[${dir:$W/d:empty}]",
    "directory-not-utf-8": "${dir:$W/d:latin}",
    "directory-nested": "${dir:$W/d:nested}",
    "directory-colon-in-the-name": "${dir:$W/d:name.with:colon}",
    "directory-missing-file": "${dir:$W/d:no-such}",
    "directory-missing": "${dir:$W/no:password}",
    "directory-is-a-file": "${dir:$W/s.properties:password}",
    "directory-in-it": "${dir:$W/d:sub}",
    "directory-below": "${dir:$W/d:sub/password}",
    "directory-above": "${dir:$W/d/sub:../password}",
    "directory-link": "${dir:$W/d:link}",
    "directory-dangling": "${dir:$W/d:dangling}",
    "directory-through-a-link": "${dir:$W/d/to-sub:password}",
    "directory-fifo": "${dir:$W/d:fifo}",
    "directory-slash-behind": "${dir:$W/d/:password}",
    "directory-relative": "${dir:d:password}",
    "directory-without-path": "${dir:password}",
    "directory-without-name": "${dir:$W/d:}",
    "directory-dot": "${dir:$W/d:.}",
}

SETTINGS: dict[str, dict[str, str]] = {
    "none": {"k": "${env:ADMIN_PW}"},
    "none-plain": {"k": "plain"},
    "empty-list": {"config.providers": "", "k": "${env:ADMIN_PW}"},
    "without-class": {"config.providers": "env", "k": "${env:ADMIN_PW}"},
    "class-not-listed": {"config.providers.env.class": ENV, "k": "${env:ADMIN_PW}"},
    "class-of-another-package": {
        "config.providers": "env",
        "config.providers.env.class": "com.example.Vault",
        "k": "x",
    },
    "class-with-a-blank": {**ENV_ALONE, "config.providers.env.class": ENV + " ", "k": "x"},
    "class-is-a-variable": {**ENV_ALONE, "config.providers.env.class": "${env:ADMIN_PW}", "k": "x"},
    "list-is-a-variable": {**ENV_ALONE, "config.providers": "${env:ADMIN_PW}", "k": "x"},
    "blank-before-a-name": {**THREE, "config.providers": "env, file", "k": "${file:s.properties:password}"},
    "blank-behind-a-name": {**ENV_ALONE, "config.providers": "env ", "k": "${env:ADMIN_PW}"},
    "a-name-with-a-blank": {
        "config.providers": " env",
        "config.providers. env.class": ENV,
        "k": "${ env:ADMIN_PW}",
    },
    "a-name-with-dots": {
        "config.providers": "my.env.class",
        "config.providers.my.env.class.class": ENV,
        "k": "${my.env.class:ADMIN_PW}",
    },
    "a-name-of-umlauts": {
        "config.providers": "Umgebungsgröße",
        "config.providers.Umgebungsgröße.class": ENV,
        "k": "${Umgebungsgröße:ADMIN_PW}",
    },
    "two-names": {
        "config.providers": "a,b",
        "config.providers.a.class": ENV,
        "config.providers.b.class": ENV,
        "config.providers.b.param.allowlist.pattern": "EMPTY",
        "k": "${a:ADMIN_PW}[${b:EMPTY}]",
    },
    "twice": {**ENV_ALONE, "config.providers": "env,env", "k": "${env:ADMIN_PW}"},
    "comma-behind": {**ENV_ALONE, "config.providers": "env,", "k": "${env:ADMIN_PW}"},
    "comma-before": {**ENV_ALONE, "config.providers": ",env", "k": "${env:ADMIN_PW}"},
    "an-empty-name": {
        **ENV_ALONE,
        "config.providers": ",env",
        "config.providers..class": ENV,
        "k": "${:ADMIN_PW}",
    },
    "allowlist": allowlist("ADMIN_.*"),
    "allowlist-forbids": allowlist("X.*"),
    "allowlist-of-a-part": allowlist("ADMIN"),
    "allowlist-empty": allowlist(""),
    "allowlist-alternatives": allowlist("X|ADMIN_PW"),
    "allowlist-bad": allowlist("(", "x"),
    "allowlist-is-a-variable": allowlist("${env:a}", "x"),
    "allowlist-of-an-intersection": allowlist("[A-Z_&&[^X]]*", "x"),
    "allowed-paths-are-a-variable": {
        **FILE_ALONE,
        "config.providers.file.param.allowed.paths": "${env:a}",
        "k": "x",
    },
}  # fmt: skip

ALLOWED = {
    "one": "$W/allowed",
    "two": "$W/d,$W/allowed",
    "slash-behind": "$W/allowed/",
    "not-normalized": "$W/d/../allowed/./sub/..",
    "a-link": "$W/to-allowed",
    "relative": "allowed",
    "missing": "$W/no",
    "missing-among-others": "$W/allowed,$W/no",
    "blank": "$W/d, $W/allowed",
    "empty": "",
    "comma": ",",
    "a-file": "$W/allowed/s.properties",
    "root": "/",
    "above-the-root": "/../..",
    "double-slash": "/$W/allowed",
}
"""Of FileConfigProvider and DirectoryConfigProvider."""

PATHS = (
    "$W/allowed/s.properties",
    "$W/allowed/sub/s.properties",
    "$W/allowed-not/s.properties",
    "$W/outside/s.properties",
    "$W/allowed/../outside/s.properties",
    "$W/allowed/sub/../../outside/s.properties",
    "$W/outside/../allowed/s.properties",
    "$W/allowed/out/s.properties",
    "$W/allowed/out/../s.properties",
    "$W/allowed/out.properties",
    "$W/to-allowed/s.properties",
    "$W//allowed///s.properties",
    "/../../$W/allowed/s.properties",
    "allowed/s.properties",
    "$W/allowed",
    "$W/allowed/no.properties",
)

DIRECTORIES = (
    "$W/d",
    "$W/d/",
    "$W/d/sub",
    "$W/allowed/out",
    "$W/allowed/../d",
    "$W/d/sub/..",
    "d",
    "$W/outside",
)

PIECES = (
    *("${env:", "${file:", "${dir:", "${", "$", "{", "}", ":", "::", "ADMIN_PW", "EMPTY", "a", "env", "file"),
    *("$W/s.properties", "$W/d", "password", "with:colon", " ", "\n", "x", "/", ".."),
    *("${env:ADMIN_PW}", "${file:$W/s.properties:password}", "${dir:$W/d:password}", "${vault:x}", "${x}"),
)

PATTERN_PIECES = (
    *("ADMIN", "_", "PW", "A", "a", "B", ".", ".*", ".+", "*", "+", "?", "|", "(", ")", "(?:", "(?i)", "(?="),
    *("[A-Z]", "[^a]", "[A-Z_]*", "[", "]", "^", "$", "\\w", "\\w*", "\\W", "\\d", "\\.", "\\S+", "{2}", "{"),
    *("{1,3}", "(?!"),
    *("&&", "\\Q", "\\E", "\\p{Lu}", "*+", "*?", "\\b", "(?<n>", "\\1", "-", "2", "[a-z&&[^b]]", "\\x41"),
)  # fmt: skip


def settings() -> Iterator[tuple[str, dict[str, str]]]:
    for name, value in VALUES.items():
        yield f"value-{name}", {**THREE, "k": value}
    for name, properties in SETTINGS.items():
        yield name, properties
    for name, allowed in ALLOWED.items():
        for path in PATHS:
            parameter = {"config.providers.file.param.allowed.paths": allowed}
            yield f"allowed-{name}-{path}", {**FILE_ALONE, **parameter, "k": f"${{file:{path}:password}}"}
        for path in DIRECTORIES:
            parameter = {"config.providers.dir.param.allowed.paths": allowed}
            yield f"allowed-{name}-{path}", {**DIRECTORY_ALONE, **parameter, "k": f"${{dir:{path}:password}}"}


def random_settings() -> Iterator[tuple[str, dict[str, str]]]:
    rng = random.Random(FIRST_SEED)
    for number in range(scaled(1_500)):
        yield f"random-{number}", {**THREE, "k": "".join(rng.choices(PIECES, k=rng.randint(1, 8)))}


def patterns() -> list[str]:
    rng = random.Random(FIRST_SEED)
    return ["".join(rng.choices(PATTERN_PIECES, k=rng.randint(1, 6))) for _ in range(scaled(500))]


def encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decoded(text: str) -> str:
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)).decode()


def ask(world: Path, cases: list[dict[str, str]], *options: str) -> list[dict[str, str] | None]:
    """What Kafka makes of each; None where it refuses."""
    lines = ["\t".join(f"{encoded(key)}={encoded(case[key])}" for key in case) for case in cases]
    command = [kafka().java, *options, *QUICK_JAVA_OPTIONS, "-Xmx256m", "-Dkraftctl.log.level=OFF"]
    command += [
        f"-Dlog4j2.configurationFile={kafka().directory / 'log4j2.properties'}",
        "-cp",
        kafka().classpath,
    ]
    done = subprocess.run(
        [*command, str(ORACLE)],
        input="\n".join(lines) + "\n",
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=world,
        env={**os.environ, **ENVIRONMENT, "LC_ALL": "C.UTF-8", "KAFKA_OPTS": ""},
    )
    answers = done.stdout.splitlines()
    assert len(answers) == len(cases)
    return [None if line == "bad" else answer(line) for line in answers]


def answer(line: str) -> dict[str, str]:
    return {decoded(key): decoded(value) for key, value in (pair.split("=") for pair in line.split("\t"))}


def here(properties: Mapping[str, str], kafka_opts: str = "") -> dict[str, str] | None:
    try:
        return dict(resolve_properties(properties, {**ENVIRONMENT, "KAFKA_OPTS": kafka_opts}))
    except ConfigException:
        return None


def placed(world: Path, properties: Mapping[str, str]) -> dict[str, str]:
    return {key: value.replace("$W", str(world)) for key, value in properties.items()}


LEFT_AS_TEXT = {"value-not-looked-at-again", "value-file-nested", "value-directory-nested"}
"""What a provider gives may look like a variable."""

REFUSED_EARLIER = {"without-class", "blank-before-a-name", "blank-behind-a-name", "list-is-a-variable"}
"""Kafka ignores a provider of which it has no class, used or not."""

UNSUPPORTED_PATTERNS = {"allowlist-of-an-intersection"}


def test_as_kafka_resolves_them(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(world)
    named = [(name, placed(world, case)) for name, case in [*settings(), *random_settings()]]
    counts = {"resolved": 0, "refused by both": 0, "left as text by Kafka": 0}
    differences = []
    for (name, properties), theirs in zip(named, ask(world, [case for _, case in named]), strict=True):
        found = here(properties)
        if found is not None:
            counts["resolved"] += found != properties
            if found != theirs:
                differences.append(f"{name} {properties['k']!r}: Kafka {theirs}, here {found}")
        elif theirs is None:
            counts["refused by both"] += 1
        elif is_left(theirs["k"]) or name in REFUSED_EARLIER | UNSUPPORTED_PATTERNS:
            counts["left as text by Kafka"] += 1
        else:
            differences.append(f"{name} {properties['k']!r}: Kafka {theirs['k']!r}, here it is refused")
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
    assert min(counts.values()) > scaled(15), counts


def is_left(value: str) -> bool:
    """A variable, or the beginning of one."""
    return any(":" in part.partition("}")[0] for part in value.split("${")[1:])


def test_what_each_case_comes_to(world: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable is text in the end, unless a provider gave it."""
    monkeypatch.chdir(world)
    for name, case in settings():
        found = here(placed(world, case))
        if found is not None and is_left(found["k"]):
            assert name in LEFT_AS_TEXT, f"{name}: {found['k']}"


def test_an_allowlist_matches_what_java_matches(world: Path) -> None:
    """What Python's expressions lack is refused."""
    names = sorted(ENVIRONMENT)
    cases = [allowlist(pattern, f"${{env:{name}}}") for pattern in patterns() for name in names]
    differences, resolved_count = [], 0
    for case, theirs in zip(cases, ask(world, cases), strict=True):
        found = here(case)
        if found is not None:
            resolved_count += 1
            if found != theirs:
                pattern = case[ALLOWLIST_PATTERN]
                differences.append(f"{pattern} {case['k']}: Kafka {theirs and theirs['k']!r}")
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
    assert resolved_count > scaled(150)


@pytest.mark.parametrize("allowed", ["none", "", f"{FILE},{ENV}"])
def test_classes_that_the_jvm_allows(world: Path, allowed: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A property of the JVM, which Kafka's scripts take from KAFKA_OPTS."""
    monkeypatch.chdir(world)
    option = f"-Dorg.apache.kafka.automatic.config.providers={allowed}"
    cases = [{**ENV_ALONE, "k": "${env:ADMIN_PW}"}, {**FILE_ALONE, "k": "x"}, {**THREE, "k": "x"}, {"k": "x"}]
    assert [here(case, f"-Da=b {option}") for case in cases] == ask(world, cases, option)
