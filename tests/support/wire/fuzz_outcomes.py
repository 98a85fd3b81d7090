"""Outcomes: what became of the frames that a fuzzer fed."""

from __future__ import annotations

from collections import Counter

KIND_BYTES = 4
"""The API key and version, with which a request begins."""


class Outcomes:
    """`counts` is by a word for the outcome, `kinds` by the first bytes of requests that decoded."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.kinds: Counter[bytes] = Counter()
