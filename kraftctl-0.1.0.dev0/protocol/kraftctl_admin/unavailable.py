"""The texts of UnavailableError for conditions that another attempt does not change."""

from __future__ import annotations

from collections.abc import Iterable


def no_node_serves(request: str, reasons: str) -> str:
    """Returns the text for when all nodes are of a release without the request."""
    return f"No node serves {request}: {reasons}. Next step: ask nodes of a later release."


def no_node_was_asked(request: str, reasons: str, keys: Iterable[str]) -> str:
    """Returns the text for when SSL or SASL has failed at all of them; `keys` decide about it."""
    in_doubt = ", ".join(dict.fromkeys(keys))
    return f"No node was asked {request}: {reasons}. Next step: check {in_doubt} of --command-config."
