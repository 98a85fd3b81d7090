"""Java's .properties syntax: the grammar of java.util.Properties, line by line."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftctl_protocol.java_properties import (
    PropertiesError,
    decode_properties,
    format_properties,
    parse_properties,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("a=b", {"a": "b"}, id="equals"),
        pytest.param("a:b", {"a": "b"}, id="colon"),
        pytest.param("a b", {"a": "b"}, id="blank"),
        pytest.param("  a \t =  b c ", {"a": "b c "}, id="blanks-around-separator-go-trailing-stay"),
        pytest.param("a = = b", {"a": "= b"}, id="only-first-separator-counts"),
        pytest.param("a", {"a": ""}, id="key-only"),
        pytest.param("=v", {"": "v"}, id="empty-key"),
        pytest.param("# c\n! d\n\n  # e\na=1#2", {"a": "1#2"}, id="comments"),
        pytest.param("a=1\\\n   ,2\\\n\t,3\nb=4", {"a": "1,2,3", "b": "4"}, id="continuation"),
        pytest.param("a=1\\\\\nb=2", {"a": "1\\", "b": "2"}, id="escaped-backslash-does-not-continue"),
        pytest.param(
            "a=x\\\n# not a comment", {"a": "x# not a comment"}, id="comment-sign-after-continuation"
        ),
        pytest.param("a\\=b\\:c\\ d=e", {"a=b:c d": "e"}, id="escaped-separators-in-key"),
        pytest.param("a=\\t\\n\\r\\f\\q", {"a": "\t\n\r\fq"}, id="escapes"),
        pytest.param("a=\\u0041\\u00e9", {"a": "Aé"}, id="unicode"),
        pytest.param("a=\\uD83D\\uDE00", {"a": "😀"}, id="surrogate-pair"),
        pytest.param("a=1\r\nb=2\rc=3", {"a": "1", "b": "2", "c": "3"}, id="line-ends"),
        pytest.param("a=1\na=2", {"a": "2"}, id="last-wins"),
        pytest.param("a=1\\", {"a": "1"}, id="backslash-at-end-of-file"),
        pytest.param("a=1\x0b\u20282", {"a": "1\x0b\u20282"}, id="other-separators-end-no-line"),
    ],
)
def test_parse(text: str, expected: dict[str, str]) -> None:
    assert parse_properties(text) == expected


def test_bad_unicode_escape_names_the_line() -> None:
    with pytest.raises(PropertiesError, match="line 2"):
        parse_properties("a=1\nb=\\u12g4")


def test_what_is_not_utf8_is_latin_1() -> None:
    assert decode_properties("name=café".encode()) == {"name": "café"}
    assert decode_properties(b"name=caf\xe9") == {"name": "café"}


@given(
    st.dictionaries(
        st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"]))
    )
)
def test_what_we_write_we_read(properties: dict[str, str]) -> None:
    assert parse_properties(format_properties(properties, ["", "any comment"])) == properties
