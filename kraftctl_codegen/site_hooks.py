"""What `mkdocs build` does beyond mkdocs.yml: pages of the whole repository, with their links.

A page keeps its path in the repository, so README.md, spark/ and others are in the site without a copy of
their text. Files that operators copy are in it, too. A link to another source or a folder, which it does
not have, becomes its text.
"""

from __future__ import annotations

import posixpath
import re
import textwrap
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

REPOSITORY = Path(__file__).resolve().parents[1]

OUTSIDE = ("*.md", "examples/*.md", "protocol/*.md", "schemas/*.md", "spark/*.md")
"""These pages are beside docs/, and belong to the site."""

COPIED = (
    *("examples/*.properties", "examples/*.ipynb", "deploy/compose/*.yml", "deploy/grafana/*.json"),
    *("deploy/prometheus/*.yml", "deploy/systemd/*.service"),
    *("deploy/kubernetes/*.yaml", "deploy/kubernetes/chart/values*"),
)
"""Operators begin with copies of these files, so the site has them."""

FOLDERS = {"Decisions": "docs/adr", "KIPs": "docs/kips"}
"""Sections of the navigation that have each page of a folder."""

LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#:\s]+)(#[^)\s]*)?\)")

FENCE = re.compile(r"^    ```.*\n((?:    .*\n|\n)*?)    ```\n", re.MULTILINE)
"""A fence in an item of a list: Python's Markdown knows fences only at a margin."""

CODE = re.compile(r"`[^`\n]*`")


def on_config(config: Any) -> Any:
    """Adds the pages of FOLDERS to the navigation, and names sections as GitHub does."""
    for entry in config.nav:
        for title, pages in entry.items():
            for folder in (FOLDERS[name] for name in FOLDERS if name == title):
                pages += [
                    path.relative_to(REPOSITORY).as_posix()
                    for path in sorted((REPOSITORY / folder).glob("*.md"))
                ]
    config.mdx_configs["toc"] = {"slugify": slug, "permalink": True}
    return config


def on_files(files: Files, config: Any) -> Files:
    """Puts each file at its path in the repository, and adds the pages outside of docs/."""
    paths = [
        Path(file.abs_src_path) for file in files if file.abs_src_path and file.src_uri.partition("/")[0]
    ]
    kept = [file for file in files if not str(file.abs_src_path).startswith(f"{REPOSITORY}/docs/")]
    outside = [path for pattern in (*OUTSIDE, *COPIED) for path in sorted(REPOSITORY.glob(pattern))]
    inside = [path for path in paths if path.is_relative_to(REPOSITORY / "docs")]
    return Files([*kept, *(_file(path, config) for path in [*inside, *outside])])


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Keeps the text of links to what only the repository has; writes as Python's Markdown reads it."""
    folder = posixpath.dirname(page.file.src_uri)

    def kept(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(folder, match[2]))
        is_source = files.get_file_from_path(target) is None and (REPOSITORY / target).exists()
        return match[1] if is_source else match[0]

    return as_python_reads_it(LINK.sub(kept, markdown))


def as_python_reads_it(markdown: str) -> str:
    """Returns what means there what a fence in a list, and a bar in code in a table, mean to GitHub."""
    blocks = FENCE.sub(lambda fence: "\n" + textwrap.indent(fence[1], "    ") + "\n", markdown)
    return "\n".join(
        CODE.sub(lambda code: code[0].replace("\\|", "|"), line) if line.startswith("|") else line
        for line in blocks.split("\n")
    )


def slug(text: str, separator: str) -> str:
    """Returns the id of a heading, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", separator)


def _file(path: Path, config: Any) -> File:
    return File.generated(config, path.relative_to(REPOSITORY).as_posix(), abs_src_path=str(path))
