"""The pages make a site without a broken link; it needs no other host, and repeats figures as they are."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kraftctl_codegen.site_hooks import on_page_markdown, slug

ROOT = Path(__file__).resolve().parents[2]

PAGES = [
    path.relative_to(ROOT)
    for folder in ("docs", "examples", "spark")
    for path in sorted((ROOT / folder).rglob("*.md"))
]

ELSEWHERE = re.compile(r"<(?:script|link|img|iframe)\b[^>]*\b(?:src|href)=\"?(?:https?:)?//[^>]*>")

NUMBER = re.compile(r"\d[\d,.-]*(?:IV\d)?\d|\d")

FENCE = re.compile(r"^ *```", re.MULTILINE)

RUN_ON = re.compile(r"<p>(?:(?!</p>).)*?(?:```|\n *(?:\d\.|[-*]) )", re.DOTALL)
"""A paragraph that has a fence, or an item of a list, as its text."""

LINK = re.compile(r"\]\(([^)#]+)[^)]*\)")


SECTIONS = (
    "Start",
    "Operate",
    "Secure",
    "Migrate",
    "Recover",
    "History",
    "Performance",
    "Reliability",
    "References",
)
"""In this order, before what is for those who change kraftctl."""

REFERENCES = (
    "troubleshooting",
    "reference/configs",
    "reference/commands",
    "metrics",
    "apis",
    "support",
    "sizing",
)


def build(config: Path, to: Path) -> subprocess.CompletedProcess[str]:
    """Builds as `make site` does. With --quiet, mkdocs counts no warnings: --strict has no effect."""
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", str(config), "-d", str(to)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    to = tmp_path_factory.mktemp("site")
    built = build(ROOT / "mkdocs.yml", to)
    assert built.returncode == 0, built.stdout + built.stderr
    return to


def test_the_site_has_every_page_of_docs_and_of_the_exporter(site: Path) -> None:
    assert len(PAGES) > 50
    names = [page.with_suffix(".html") for page in PAGES if page.name != "README.md"]
    assert [name for name in names if not (site / name).exists()] == []
    assert "Look at a cluster that you have" in (site / "index.html").read_text()
    assert (site / "spark" / "index.html").exists()


def test_the_navigation_has_each_section() -> None:
    text = (ROOT / "mkdocs.yml").read_text()
    assert tuple(re.findall(r"^  - (\w+):", text, re.MULTILINE))[: len(SECTIONS)] == SECTIONS
    assert [name for name in REFERENCES if f": docs/{name}.md\n" not in text] == []


def test_the_site_needs_no_other_host(site: Path) -> None:
    found = {match[0] for page in site.rglob("*.html") for match in ELSEWHERE.finditer(page.read_text())}
    assert found == set()


def test_each_fence_is_a_block_and_each_step_an_item(site: Path) -> None:
    for page in PAGES:
        target = "index.html" if page.name == "README.md" else f"{page.stem}.html"
        shown = (site / page.with_name(target)).read_text()
        assert RUN_ON.search(shown) is None, page
        assert shown.count("<pre>") == len(FENCE.findall((ROOT / page).read_text())) / 2, page
    steps = (site / "docs/operations/lost-disk.html").read_text()
    assert "end-recovery -c FILE\n</code></pre>\n</li>\n<li>\n<p>Start all of them.</p>" in steps


def test_no_cell_of_a_table_shows_a_backslash_before_a_bar(site: Path) -> None:
    assert [page.name for page in site.rglob("*.html") if "\\|" in page.read_text()] == []


def test_each_link_to_a_file_that_operators_copy_leads_to_it(site: Path) -> None:
    """Without a clone, the site alone has the files that its steps begin with."""
    linked = {
        os.path.normpath(page.parent / match[1]): page.with_name(
            "index.html" if page.name == "README.md" else f"{page.stem}.html"
        )
        for page in PAGES
        for match in LINK.finditer((ROOT / page).read_text())
    }
    files = {name: page for name, page in linked.items() if re.match(r"(deploy|examples)/.*\.(?!md)", name)}
    assert len(files) >= 11
    for name, page in files.items():
        assert (site / name).read_bytes() == (ROOT / name).read_bytes()
        assert f'href="{os.path.relpath(name, page.parent)}"' in (site / page).read_text()


@pytest.mark.parametrize("link", ["there-is-none.md", "a.md#there-is-none", "/a.md"])
def test_a_broken_link_fails_the_build(tmp_path: Path, link: str) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.md").write_text(f"# A\n\n[there]({link})\n")
    config = tmp_path / "mkdocs.yml"
    config.write_text(f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: {docs}\nhooks: []\nplugins: []\nnav: [a.md]\n")
    built = build(config, tmp_path / "site")
    assert built.returncode == 1
    assert link.partition("#")[2] in built.stderr


class PageAt:
    """The page of a path, and files of a site that has none."""

    def __init__(self, path: str) -> None:
        self.src_uri = path
        self.file = self

    def get_file_from_path(self, path: str) -> None:
        return None


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        pytest.param("[the test](../tests/test_tidy.py)", "the test", id="source"),
        pytest.param("[tests](../tests)", "tests", id="folder"),
        pytest.param("[gone](../gone.md)", "[gone](../gone.md)", id="broken"),
        pytest.param("![plot](../tests)", "![plot](../tests)", id="image"),
    ],
)
def test_a_link_to_a_source_is_its_text(text: str, shown: str) -> None:
    page = PageAt("docs/page.md")
    assert on_page_markdown(text, page, None, page) == shown


def test_headings_have_the_ids_that_links_use() -> None:
    assert slug("Nothing changes (`idle`)", "-") == "nothing-changes-idle"
    assert slug("A — b", "-") == "a--b"


def rows() -> list[tuple[str, str]]:
    """Each row of the two pages that repeat figures, and the text of the page that it names."""
    found = []
    for page in (ROOT / "docs/sizing.md", ROOT / "docs/support.md"):
        for line in page.read_text().splitlines():
            *cells, source = line.strip("| ").split(" | ")
            link = LINK.search(source)
            if line.startswith("| ") and cells and link:
                found.append((" ".join(cells), (page.parent / link[1]).read_text()))
    return found


def test_figures_are_those_of_the_pages_that_have_measured_them() -> None:
    assert len(rows()) > 30
    missing = [
        (row, number)
        for row, text in rows()
        for number in NUMBER.findall(row)
        if not re.search(rf"(?<![\d.,]){re.escape(number)}(?!\d|[.,]\d)", text)
    ]
    assert missing == []
