"""The output in the documentation is what Kohort prints: every console block is run again, page by page, in order.
Each page starts in an empty directory and an empty home in which only `kohort demo` has run; the tutorial runs it.
Pictures that a page draws are compared with those in its folder. KOHORT_WRITE_GOLDEN=1 writes output and pictures."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.app import OVERVIEW
from tests.docs.pages import DOCS, ROOT, as_a_reader, blocks, pages, shown

FROM_NOTHING = {DOCS / "tutorial.md"}
"""Pages that run `kohort demo` themselves."""


@pytest.fixture(scope="module")
def home_after_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("reader") / "home"
    home.mkdir()
    subprocess.run(["kohort", "demo"], env=as_a_reader(home), check=True, capture_output=True)
    return home


@pytest.mark.parametrize(
    "page",
    [page for page in pages() if any(blocks(page, "console"))],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_a_page_shows_what_is_printed(page: Path, home_after_demo: Path, tmp_path: Path) -> None:
    home, directory = tmp_path / "home", tmp_path / "work"
    directory.mkdir()
    if page in FROM_NOTHING:
        home.mkdir()
    else:
        shutil.copytree(home_after_demo, home)
    environment = as_a_reader(home)
    console = list(blocks(page, "console"))
    written, printed = [block.text for block in console], shown(console, environment, directory)
    pictures = {picture.name: picture.read_text() for picture in directory.glob("*.svg")}
    if os.environ.get("KOHORT_WRITE_GOLDEN"):
        for name, drawn in pictures.items():
            (page.parent / name).write_text(drawn)
        text = page.read_text()
        for old, new in zip(written, printed, strict=True):
            text = text.replace(old, new)
        page.write_text(text)
        return
    assert printed == written
    assert pictures == {name: (page.parent / name).read_text() for name in pictures}


def test_the_main_job_is_in_the_readme() -> None:
    readme = ROOT / "README.md"
    assert readme.stat().st_size <= 9 * 1024
    commands = [command for block in blocks(readme, "console") for command in block.commands]
    for verb in ("list", "describe", "validate-regex", "dry-run", "plan"):
        assert any(
            command.startswith(f"kohort {verb} ") or command == f"kohort {verb}" for command in commands
        )


def test_the_readme_has_the_jobs_that_kohort_alone_shows() -> None:
    jobs = re.findall(r"^  (\S.*?)  +kohort ", OVERVIEW, re.M)
    headings = re.findall(r"^### (.*)$", (ROOT / "README.md").read_text(), re.M)
    assert len(jobs) == 5
    assert all(heading.startswith(job) for heading, job in zip(headings, jobs, strict=True))
