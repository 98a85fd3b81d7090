"""Where the page has the story of a subject. Names from the log may have any character."""

from __future__ import annotations

from urllib.parse import quote


def page_path(kind: str, name: object) -> str:
    """Returns `/partition/orders-0`, with what no path may have in it encoded."""
    return f"/{kind}/{quote(str(name), safe='')}"
