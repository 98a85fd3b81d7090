"""The error of a config provider that has no value for a variable."""

from __future__ import annotations


class NoValueError(Exception):
    """The text names the variable of the environment, or path and key. It shows no value."""
