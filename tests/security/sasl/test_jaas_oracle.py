"""Kafka's JaasConfig and Java's own parser of JAAS files find the same login modules and options."""

from __future__ import annotations

import base64
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftctl_security.sasl.jaas import LOGIN_MODULES, JaasEntry, JaasError, parse_entries
from kraftctl_security.sasl.login_configuration import parse_login_configuration
from tests.support.effort import FIRST_SEED, scaled
from tests.support.processes.oracle import kafkas_answers

pytestmark = pytest.mark.java

ORACLE = Path(__file__).parent / "JaasOracle.java"

PLAIN, SCRAM, _ = LOGIN_MODULES

CONFIGS = (
    f'{PLAIN} required username="alice" password="alice-secret";',
    f"{PLAIN} required username=alice password=alice-secret user_alice=x user_bob=\"b;o'b\";",
    f'{SCRAM} REQUIRED username="al\\"ice" password="a\\\\b\\101\\400\\n\\q" tokenauth=true;',
    f'{PLAIN} optional\n  // a comment\n  username="x" /* another */ password="y"; # a word',
    f'{PLAIN} required username="x" /* never ends',
    f'{PLAIN} required password="two\nlines";',
    f"{PLAIN} required password=5;",
    f"{PLAIN} required password=a5.5-5$_é;",
    f"{PLAIN} required password=http://a/b;",
    f"{PLAIN} required 5=a;",
    f"{PLAIN} required a=b",
    f"{PLAIN} required a==b;",
    f"{PLAIN} required a b;",
    f"{PLAIN} required;",
    f"{PLAIN}",
    f"{PLAIN} whatever a=b;",
    f"{PLAIN} required a=b; {PLAIN} required a=b;",
    f'"{PLAIN}" "required" "a"="b";',
    f"'{PLAIN}' 'required' 'a'='b\"c';",
    f"{PLAIN} requiſite a=b;",
    f'{PLAIN} required password="\\',
    f'{PLAIN} required password="x\\\ny";',
    f"{PLAIN} required a=b /x\n c=d;",
    f"{PLAIN} required a=b /\n c=d;\n e=f;",
    f"{PLAIN} required /* * \r\n/ **/ a=b;",
    f"{PLAIN} required /*/ a=b; */ c=d;",
    f"{PLAIN} required /*\n/ a=b; */ c=d;",
    f"{PLAIN} required -5=a -a=b;",
    f"{PLAIN} required a=- ;",
    f"{PLAIN} required a=\x7f;",
    f"{PLAIN} required a=\x85;",
    f"{PLAIN} required a=\xa0\u2028日本\U0001f600;",
    f'{PLAIN} required a="1" a="2";',
    "",
    ";",
    " ; required;",
)  # fmt: skip

NAMES = ("a", "user_x", '"b"')
VALUES = (
    *(
        '"s 3"',
        '"\\"x"',
        '"\\12;\\q"',
        "'a\"b'",
        "word",
        "a5.-_$",
        "é",
        '"=;{}"',
        '"//"',
        '"/*"',
        '"a,b"',
        '"\\\\"',
    ),
    *("/* x */ b", "-a", "5", '"open\n', "a/b", "日本", '"${x}"', "a*"),
)

PIECES = (
    *(
        f"{PLAIN} required ",
        f"{SCRAM} sufficient ",
        "a=b ",
        'user_x="p" ',
        "username=",
        'password="s 3"',
        "'q'",
    ),
    *(
        ";",
        "; ",
        "=",
        '"',
        "'",
        "\\",
        "\\7",
        "\\12",
        "\n",
        "\r\n",
        "/",
        "//",
        "/*",
        "*/",
        "*",
        "-",
        "5",
        ".5",
        "$",
    ),
    *("_", " ", "\t", "é", "日", "\x80", "\0", "{", "}", "word", "required"),
)
FILE_PIECES = (*PIECES, "KafkaServer {", "KafkaClient {", "};", "};\n", "controller.KafkaServer {", "${x}")


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def shown(entries: list[JaasEntry]) -> str:
    def one(entry: JaasEntry) -> str:
        options = {unpadded(key): unpadded(value) for key, value in entry.options.items()}
        listed = ",".join(f"{key}={options[key]}" for key in sorted(options))
        return f"{unpadded(entry.login_module)}|{entry.control_flag}|{{{listed}}}"

    return ";".join(map(one, entries))


def unpadded(text: str) -> str:
    return encoded(text).rstrip("=")


def configs() -> Iterator[str]:
    yield from CONFIGS
    rng = random.Random(FIRST_SEED)
    for _ in range(scaled(3_000)):
        text = "".join(rng.choices(PIECES, k=rng.randint(0, 9)))
        yield rng.choice((f"{PLAIN} required ", "")) + text + rng.choice((";", ""))
        yield f"{PLAIN} required {options(rng)};"


def options(rng: random.Random) -> str:
    """Most of them are valid."""
    pairs = [rng.choice(NAMES) + "=" + rng.choice(VALUES) for _ in range(rng.randint(0, 3))]
    return rng.choice((" ", "\n", "/**/", "// x\n")).join(pairs)


def parsed_config(text: str) -> str:
    try:
        entries = parse_entries(text)
    except JaasError:
        return "bad"
    return shown(entries) if len(entries) == 1 else "bad"


def test_a_value_has_the_same_login_module() -> None:
    """An option without a name, which Kafka ignores, is refused here."""
    texts = [text for text in configs() if text]
    theirs = kafkas_answers(ORACLE, [f"config\t{encoded(text)}" for text in texts])
    differences = [
        f"{text!r}: Kafka {answer}, here {found}"
        for text, answer in zip(texts, theirs, strict=True)
        if (found := parsed_config(text)) != answer and not (found == "bad" and unpadded("null") in answer)
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
    assert sum(answer != "bad" for answer in theirs) > scaled(1_000)


FILES = (
    f'KafkaServer {{\n  {PLAIN} required\n  username="a"\n  user_a="p";\n  {SCRAM} required;\n}};\n',
    f"KafkaClient {{ {PLAIN} required a=b; }};\ncontroller.KafkaServer {{ {SCRAM} required c=d*e; }};",
    f"KafkaClient {{ {PLAIN} required a=b; }}; KafkaClient {{ {PLAIN} required a=b; }};",
    f"KafkaServer {{ {PLAIN} required a=b; }}",
    f"KafkaServer {{ {PLAIN} required a=b }};",
    f"KafkaServer {{ {PLAIN} required 'a'=b; }};",
    f"KafkaServer {{ {PLAIN} required a='b'; }};",
    f"KafkaServer {{ {PLAIN} required a=5; }};",
    f'KafkaServer {{ {PLAIN} required a="${{no.such}}"; }};',
    f'"KafkaServer" {{ "{PLAIN}" "required" "a"="b\\"c"; }};',
    f"KafkaServer {{ {PLAIN} never a=b; }};",
    "KafkaServer { };",
    "KafkaServer { }; x",
    "// nothing\n",
)  # fmt: skip

SECTIONS = "KafkaServer,KafkaClient,controller.KafkaServer"


def files() -> Iterator[str]:
    yield from FILES
    rng = random.Random(FIRST_SEED)
    for _ in range(scaled(1_000)):
        text = "".join(rng.choices(FILE_PIECES, k=rng.randint(0, 7)))
        yield f"KafkaServer {{ {PLAIN} required {text}" + rng.choice((";};", "; };", "};", ""))
        yield f"KafkaServer {{ {PLAIN} required {options(rng)}; {SCRAM} required {options(rng)};\n}};"


def parsed_file(text: str) -> str:
    try:
        found = parse_login_configuration("jaas.conf", text).sections
    except JaasError:
        return "bad"
    return "/".join(
        f"{name}:{shown(found[name]) if found.get(name) else 'none'}" for name in SECTIONS.split(",")
    )


def test_a_file_has_the_same_sections() -> None:
    texts = list(files())
    theirs = kafkas_answers(ORACLE, [f"file\t{encoded(text)}\t{SECTIONS}" for text in texts])
    differences = [
        f"{text!r}: Java {answer}, here {found}"
        for text, answer in zip(texts, theirs, strict=True)
        if (found := parsed_file(text)) != answer
    ]
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} in all"
    assert sum(answer != "bad" for answer in theirs) > scaled(300)
