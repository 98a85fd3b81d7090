"""Reads values of properties as Kafka's ConfigDef does: what Java trims, numbers, booleans, lists."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import Final

BLANKS: Final = "".join([chr(code) for code in range(33)])
"""Java trims the space and the control characters before it."""

WHITESPACE: Final = " \t\n\v\f\r"
"""A regular expression in Java takes these characters for whitespace."""

_INTEGER: Final = re.compile(r"[+-]?\d+")
_DECIMAL: Final = re.compile(r"[+-]?(NaN|Infinity|([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?[fFdD]?)")
_HEXADECIMAL: Final = re.compile(
    r"[+-]?0[xX]([0-9a-fA-F]+\.?|[0-9a-fA-F]*\.[0-9a-fA-F]+)[pP][+-]?[0-9]+[fFdD]?"
)

DIGITS_MAX: Final = 4_000
"""Python reads no longer numbers; Java would read one that begins with this many zeros."""

LAST_OF_ONE_UNIT: Final = "\uffff"
"""Java looks at one unit of UTF-16 at a time: no character after this one is a digit to it."""


def trim(text: str) -> str:
    """Returns `text` without blanks at its ends."""
    return text.strip(BLANKS)


def split_list(text: str) -> list[str]:
    """Returns the items of a LIST value, trimmed; blank text has none."""
    trimmed = trim(text)
    return [item.strip(WHITESPACE) for item in trimmed.split(",")] if trimmed else []


def parse_integer(text: str, bits: int) -> int | None:
    """Returns a decimal number of `bits` bits, in the digits of any script; None if the text is not one."""
    if _INTEGER.fullmatch(text) is None or len(text) > DIGITS_MAX:
        return None
    if not text.isascii() and max(text) > LAST_OF_ONE_UNIT:
        return None
    number = int(text)
    limit = 1 << (bits - 1)
    return number if -limit <= number < limit else None


def parse_double(text: str) -> float | None:
    """Returns a decimal or hexadecimal number with a fraction; None if the text is not one."""
    if _DECIMAL.fullmatch(text) is not None:
        return float(text if text.endswith("Infinity") else text.rstrip("fFdD"))
    if _HEXADECIMAL.fullmatch(text) is None:
        return None
    digits, exponent = text.lower().split("p")
    try:
        return float.fromhex(f"{digits}p{exponent.rstrip('fd')}")
    except OverflowError:
        return float("-inf") if text.startswith("-") else float("inf")


def written_double(value: float) -> str:
    """Returns a number as Java's Double.toString writes it: from 1E-3 to 1E7 without an exponent."""
    if value != value:
        return "NaN"
    if value in (float("inf"), float("-inf")):
        return "Infinity" if value > 0 else "-Infinity"
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        return repr(value)
    sign, digits, exponent = Decimal(repr(value)).as_tuple()
    assert isinstance(exponent, int)
    text = "".join([str(digit) for digit in digits])
    kept = text.rstrip("0") or "0"
    power = exponent + len(text) - 1
    return f"{'-' if sign else ''}{kept[0]}.{kept[1:] or '0'}E{power}"


def parse_boolean(text: str) -> bool | None:
    """Returns True or false in any case; None for everything else."""
    known = text.upper() if len(text) <= 5 else ""
    return known == "TRUE" if known in ("TRUE", "FALSE") else None
