"""What Kafka's classes say of a value, in our own words: kraftctl repeats none of Kafka's sentences.

An oracle compares reasons, not only codes: that the same rule refuses, with the same bounds.
"""

from __future__ import annotations

import re
from typing import Final

OUR_WORDS: Final = (
    (r"Value must be at least (\S+)", r"it must be at least \1"),
    (r"Not a number of type (\w+)", r"it is no \1"),
    (r"Expected value to be either true or false", "it is neither true nor false"),
    (r"String must be one of \(case insensitive\): ", "it must be one of, in any case, "),
    (r"Configuration '(\S+)' must not be empty\. Valid values include: ", r"\1 must have an item: "),
    (r"Configuration '(\S+)' values must not be empty\.", r"\1 has an empty item."),
    (r'configuration "(\S+)" which has no default value\.', r'configuration "\1": it has no default.'),
    (r"(?:Node|Broker) id must be an integer, but it is: ([^\t\n]*)", r"\1 is no node id"),
    (r"Broker id must not be empty", "loggers are those of a node: give its id"),
    (
        r"Removing the log level of the (\S+) logger is not allowed",
        r"the logger \1 needs a level: set another one",
    ),
    (
        (
            r"Cannot set the log level of (\S*) to ([^\t]*) as it is not a supported log level\."
            r" Valid log levels are "
        ),
        r"\2 is no level for the logger \1. Levels are ",
    ),
)


def in_our_words(text: str) -> str:
    """Returns `text` with each sentence that kraftctl says in another way."""
    for kafkas, ours in OUR_WORDS:
        text = re.sub(kafkas, ours, text)
    return text
