"""How large a registration can be: at each limit it is accepted, just above it is not."""

from __future__ import annotations

from kraftctl.metadata import registration_limits as limits

LISTENER = ("CONTROLLER", "localhost")


def named(name: str, host: str = "h") -> list[tuple[str, str]]:
    return [LISTENER, (name, host)]


def test_listeners() -> None:
    assert limits.why_listeners_too_large([LISTENER] * limits.LISTENERS_MAX) is None
    assert limits.why_listeners_too_large([LISTENER] * (limits.LISTENERS_MAX + 1)) is not None


def test_names_of_listeners() -> None:
    assert limits.why_listeners_too_large(named("n" * limits.NAME_BYTES_MAX)) is None
    assert limits.why_listeners_too_large(named("n" * (limits.NAME_BYTES_MAX + 1))) is not None
    assert limits.why_listeners_too_large(named("é" * (limits.NAME_BYTES_MAX // 2 + 1))) is not None


def test_hosts() -> None:
    assert limits.why_listeners_too_large(named("n", "h" * limits.HOST_BYTES_MAX)) is None
    assert limits.why_listeners_too_large(named("n", "h" * (limits.HOST_BYTES_MAX + 1))) is not None


def test_features() -> None:
    assert limits.why_features_too_large(limits.FEATURES_MAX, ["f" * limits.NAME_BYTES_MAX]) is None
    assert limits.why_features_too_large(limits.FEATURES_MAX + 1, []) is not None
    assert limits.why_features_too_large(1, ["f" * (limits.NAME_BYTES_MAX + 1)]) is not None


def test_racks() -> None:
    assert limits.why_rack_too_long(None) is None
    assert limits.why_rack_too_long("r" * limits.RACK_BYTES_MAX) is None
    assert limits.why_rack_too_long("r" * (limits.RACK_BYTES_MAX + 1)) is not None


def test_directories() -> None:
    assert limits.why_directories_too_many(limits.DIRECTORIES_MAX) is None
    assert limits.why_directories_too_many(limits.DIRECTORIES_MAX + 1) is not None
