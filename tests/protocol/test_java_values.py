"""Values of properties are read as Java reads them, also in odd digits, and long ones in linear time."""

from __future__ import annotations

import math
import time

import pytest

from kraftctl_protocol.java_values import parse_boolean, parse_double, parse_integer, split_list, trim

LONG = 10_000
"""Characters; a client can send 32,767 as the value of a config."""

SECONDS_MAX = 1.0
"""A hundred times what it takes; in the square of the length it takes five seconds."""


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0), ("-0", 0), ("+5", 5), ("00012", 12), ("2147483647", 2**31 - 1), ("-2147483648", -(2**31)),
        ("\u0663", 3), ("\uff11\uff12", 12), ("-\u0967", -1), ("0" * 3_000 + "7", 7),
        ("2147483648", None), ("-2147483649", None), ("", None), ("+", None), ("--1", None), ("1 ", None),
        ("1_000", None), ("1L", None), ("0x10", None), ("1e3", None), ("1.0", None), ("\u00b2", None),
        ("\U0001d7ce", None), ("\u4e94", None), ("9" * 5_000, None),
    ],
)  # fmt: skip
def test_integers(text: str, number: int | None) -> None:
    assert parse_integer(text, 32) == number


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0.5", 0.5), (".5", 0.5), ("5.", 5.0), ("+1e-3f", 0.001), ("1D", 1.0), ("0x1p3", 8.0),
        ("0X.8P-1", 0.25),
        ("0xAp0d", 10.0), ("1e999", math.inf), ("-0x1p9999", -math.inf), ("-Infinity", -math.inf),
        ("", None), (".", None), ("1e", None), ("0x1", None), ("0x.p1", None), ("1,5", None), ("1L", None),
        ("infinity", None), ("nan", None), ("1_0.0", None), ("\u0663.5", None), ("Infinityf", None),
    ],
)  # fmt: skip
def test_fractions(text: str, number: float | None) -> None:
    assert parse_double(text) == number


def test_no_number_is_one_too() -> None:
    number = parse_double("+NaN")
    assert number is not None
    assert math.isnan(number)


@pytest.mark.parametrize("digits", ["9", "0.", "1.1", "0x9", "9e9", "."])
def test_long_fractions_take_linear_time(digits: str) -> None:
    began = time.process_time()
    parse_double((digits * LONG)[:LONG] + "x")
    assert time.process_time() - began < SECONDS_MAX


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True), ("TRUE", True), ("tRuE", True), ("False", False), ("fal\u017fe", False),
        ("yes", None), ("1", None), ("", None), ("truee", None), ('"true"', None),
    ],
)  # fmt: skip
def test_booleans(text: str, value: bool | None) -> None:
    assert parse_boolean(text) is value


def test_blanks_are_those_of_java() -> None:
    assert trim("\x00\t x\u00a0\r\n") == "x\u00a0"
    assert split_list(" a\t,\v, b\u00a0 ") == ["a", "", "b\u00a0"]
    assert split_list(" \n") == []
