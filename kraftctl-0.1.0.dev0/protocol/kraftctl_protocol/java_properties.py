"""Java's .properties syntax, used by server.properties, meta.properties and clients' configurations.

Follows the grammar of java.util.Properties: `key=value`, `key:value` or `key value`, comments with `#` or
`!`, a backslash that continues the line or escapes a character, and `\\uXXXX`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

_BLANKS = " \t\f"
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}
_ESCAPED = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\f": "\\f", "\\": "\\\\"}


class PropertiesError(ValueError):
    """The text is not a .properties file; the message carries the line number."""


def decode_properties(data: bytes) -> dict[str, str]:
    """Returns the properties in the content of a file: UTF-8, else Latin-1, which is what Java reads."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    return parse_properties(text)


def parse_properties(text: str) -> dict[str, str]:
    """Returns the properties in `text`. A later line wins over an earlier one with the same key."""
    properties: dict[str, str] = {}
    for line_number, line in _logical_lines(text):
        raw_key, raw_value = _split(line)
        properties[_unescape(raw_key, line_number)] = _unescape(raw_value, line_number)
    return properties


def format_properties(properties: Mapping[str, str], comments: list[str]) -> str:
    """Returns a .properties text that Java and parse_properties read back; each comment on its own line."""
    lines = [f"#{comment}" for comment in comments]
    lines += [
        f"{_escape(key, is_key=True)}={_escape(value, is_key=False)}" for key, value in properties.items()
    ]
    return "\n".join(lines) + "\n"


def _logical_lines(text: str) -> Iterator[tuple[int, str]]:
    """Lines with continuations joined, comments and blank lines dropped; each with its line number."""
    pending: list[str] = []
    first_number = 0
    for number, natural in enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), start=1):
        line = natural.lstrip(_BLANKS)
        if not pending:
            if not line or line[0] in "#!":
                continue
            first_number = number
        if _ends_with_odd_backslashes(line):
            pending.append(line[:-1])
            continue
        pending.append(line)
        yield first_number, "".join(pending)
        pending = []
    if pending:
        yield first_number, "".join(pending)


def _ends_with_odd_backslashes(line: str) -> bool:
    return (len(line) - len(line.rstrip("\\"))) % 2 == 1


def _split(line: str) -> tuple[str, str]:
    """Raw key and raw value: cut at the first unescaped `=`, `:` or blank, blanks around it dropped."""
    end = 0
    while end < len(line) and line[end] not in "=:" and line[end] not in _BLANKS:
        end += 2 if line[end] == "\\" else 1
    end = min(end, len(line))
    rest = line[end:].lstrip(_BLANKS)
    if rest[:1] in ("=", ":"):
        rest = rest[1:].lstrip(_BLANKS)
    return line[:end], rest


def _unescape(raw: str, line_number: int) -> str:
    if "\\" not in raw:
        return raw
    out: list[str] = []
    position = 0
    while position < len(raw):
        character = raw[position]
        position += 1
        if character != "\\":
            out.append(character)
            continue
        if position == len(raw):
            break  # a lone backslash at the very end of the file means nothing
        character = raw[position]
        position += 1
        if character == "u":
            out.append(_unicode_escape(raw[position : position + 4], line_number))
            position += 4
        else:
            out.append(_ESCAPES.get(character, character))
    return _join_surrogates("".join(out))


def _unicode_escape(digits: str, line_number: int) -> str:
    if len(digits) != 4 or any(digit not in "0123456789abcdefABCDEF" for digit in digits):
        raise PropertiesError(
            f"line {line_number}: \\u must be followed by four hexadecimal digits, not {digits!r}"
        )
    return chr(int(digits, 16))


def _join_surrogates(text: str) -> str:
    """Join the two escapes that Java writes for a character beyond U+FFFF."""
    if not any(0xD800 <= ord(character) <= 0xDFFF for character in text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _escape(text: str, is_key: bool) -> str:
    out: list[str] = []
    for position, character in enumerate(text):
        if character in _ESCAPED:
            out.append(_ESCAPED[character])
        elif character in "=:#!" or (character == " " and (is_key or position == 0)):
            out.append("\\" + character)
        elif " " <= character <= "~":
            out.append(character)
        else:
            units = character.encode("utf-16-be")
            out += [f"\\u{units[at]:02X}{units[at + 1]:02X}" for at in range(0, len(units), 2)]
    return "".join(out)
