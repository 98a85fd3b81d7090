"""Kafka's CamelCase names in Python's spelling."""

from __future__ import annotations

import keyword
import re

_WORDS_OF_THEIR_OWN = {"KRaft": "Kraft", "OAuth": "Oauth"}
"""The inner capitals of these do not start a word."""


def snake_case(name: str) -> str:
    """A name of a module, field or local variable.

    >>> snake_case("NewIsrWithEpochs"), snake_case("KRaftVersionRecord"), snake_case("ISR")
    ('new_isr_with_epochs', 'kraft_version_record', 'isr')
    >>> snake_case("SaslHandshakeRequest"), snake_case("IsKRaftController"), snake_case("From")
    ('sasl_handshake_request', 'is_kraft_controller', 'from_')
    >>> snake_case("maxRecordSize"), snake_case("CurrentISRList")
    ('max_record_size', 'current_isr_list')
    """
    for word, plain in _WORDS_OF_THEIR_OWN.items():
        name = name.replace(word, plain)
    name = re.sub(r"([A-Z]+)([A-Z][a-z])", r"\1_\2", name)
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", name)
    name = name.lower()
    return name + "_" if keyword.iskeyword(name) else name


def constant_case(name: str) -> str:
    """A name of an enum member.

    >>> constant_case("AlterPartition"), constant_case("DescribeUserScramCredentials")
    ('ALTER_PARTITION', 'DESCRIBE_USER_SCRAM_CREDENTIALS')
    """
    return snake_case(name).upper()
