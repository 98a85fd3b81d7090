"""Draws the pages from templates, which escape everything: names come from the log, and from clients."""

from __future__ import annotations

from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from kraftctl.console.picture import Picture
from kraftctl_protocol.counted_text import counted
from kraftctl_protocol.escaped_text import escaped

GIGABYTE = 1_000_000_000


class PageDrawing:
    """The templates of the package, each read once."""

    def __init__(self) -> None:
        environment = Environment(
            loader=PackageLoader("kraftctl.console"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
            auto_reload=False,
        )
        environment.filters.update(counted=counted, plain=_plain, gigabytes=_gigabytes)
        self._environment = environment
        self.style = (files("kraftctl.console") / "static/console.css").read_bytes()
        self.script = (files("kraftctl.console") / "static/console.js").read_bytes()

    def parts(self, picture: Picture) -> bytes:
        """Returns the sections of the page that change."""
        return self.page("parts.html", picture=picture)

    def page(self, template: str, **values: Any) -> bytes:
        """Returns a page in UTF-8."""
        return self._environment.get_template(template).render(**values).encode()


def _plain(text: object) -> str:
    """Makes characters visible that would turn the direction of a text, or not be seen."""
    return escaped(str(text))


def _gigabytes(count: int) -> str:
    return f"{count / GIGABYTE:.1f} GB"
