"""The errors of reading and writing messages, and their texts."""

from __future__ import annotations

from mypy_extensions import i64


class DecodeError(Exception):
    """The peer's bytes are not what the protocol allows."""


class OverBudgetError(DecodeError):
    """The message would take more memory than a message of its kind may."""


class EncodeError(Exception):
    """The message cannot be expressed in the requested version."""


def null_decoded() -> DecodeError:
    return DecodeError("null where it is not allowed")


def invalid_tag(name: str, tag: i64, version: i64) -> DecodeError:
    return DecodeError(f"{name}: tag {tag} does not exist in version {version}")


def cannot_read(name: str, version: i64) -> DecodeError:
    return DecodeError(f"{name} has no version {version}")


def cannot_write(name: str, version: i64) -> EncodeError:
    return EncodeError(f"{name} has no version {version}")


def missing_field(name: str, version: i64) -> EncodeError:
    """A field that may not be dropped silently is set, but `version` cannot carry it."""
    return EncodeError(f"{name} is set, but version {version} does not have it")


def null_field(name: str, version: i64) -> EncodeError:
    return EncodeError(f"{name} is null, which version {version} does not allow")
