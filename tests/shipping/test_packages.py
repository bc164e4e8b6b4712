"""What `make dist`, `make man` and `make release-notes` rest on; the packages themselves are built in a long run."""

import io
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest

from tests.cli.command import command_names
from tests.shipping import dist, man, release_notes
from tests.support.long import LONG


def test_a_page_for_every_command_and_family() -> None:
    pages = man.pages()
    commands = {f"kohort-{name.replace(' ', '-')}.1" for name in command_names()}
    assert commands | {"kohort.1", "kohort-offsets.1"} <= pages.keys()
    described = pages["kohort-describe.1"]
    assert re.search(
        r'^\.TH "KOHORT-DESCRIBE" "1" "\d{4}-\d\d-\d\d" "kohort [\d.]+" "Kohort"$', described, re.M
    )
    assert r"\-\-members" in described
    assert r"\fBkohort\-offsets\fP(1)" in pages["kohort-offsets-reset.1"]


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_man_pages_are_set_without_a_warning() -> None:
    text = "".join(man.pages().values())
    assert "\b" not in text
    done = subprocess.run(
        ["groff", "-K", "utf8", "-man", "-T", "utf8", "-ww", "-z"],
        input=text.encode(),
        capture_output=True,
        check=True,
    )
    assert done.stderr == b""


def test_text_that_roff_would_obey_is_escaped() -> None:
    assert man.escaped(".so /etc/passwd") == r"\&.so /etc/passwd"
    assert man.escaped(r"a\b --c") == r"a\eb \-\-c"


def test_a_package_without_a_data_file_or_with_tests_is_refused() -> None:
    names = dist.sources() | dist.BESIDES | {"man/kohort.1", "completions/kohort.bash"}
    assert dist.faults_of_sdist(names) == []
    assert "cli/py.typed" in names
    faults = dist.faults_of_sdist(names - {"cli/py.typed"} | {"tests/test_imports.py"})
    assert faults == ["sdist: lacks cli/py.typed", "sdist: tests/test_imports.py does not belong there"]
    assert "wheel: lacks cli/verbs/demo/sample.yaml" in dist.faults_of_wheel(set())


def test_an_sdist_does_not_contain_user_and_time() -> None:
    def packed(mtime: int, owner: str) -> bytes:
        archive = io.BytesIO()
        with tarfile.open(fileobj=archive, mode="w:gz") as tar:
            entry = tarfile.TarInfo("kohort/a.py")
            entry.size, entry.mtime, entry.uname = 3, mtime, owner
            tar.addfile(entry, io.BytesIO(b"abc"))
        return archive.getvalue()

    first, second = (dist.normalized(packed(*pair), 1000) for pair in ((5, "a"), (7, "b")))
    assert first == second
    with tarfile.open(fileobj=io.BytesIO(first)) as tar:
        (entry,) = tar.getmembers()
    assert (entry.mtime, entry.uname, entry.size) == (1000, "", 3)


@LONG
def test_packages_are_built_checked_and_run_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(dist, "DIST", tmp_path)
    assert dist.main() == 0


CHANGES = """# Changelog

## Unreleased

### Added
- c

## [0.2.0] - 2026-11-30

### Fixed
- b

## 0.1.0 - 2026-01-01
- a
"""


@pytest.mark.parametrize(
    ("version", "text"),
    [("Unreleased", "### Added\n- c\n"), ("v0.2.0", "### Fixed\n- b\n"), ("0.1.0", "- a\n")],
)
def test_notes_are_the_section_of_the_version(version: str, text: str) -> None:
    assert release_notes.notes(CHANGES, version) == text


def test_a_version_without_notes_is_named() -> None:
    with pytest.raises(LookupError, match=r"0\.3\.0 is not there, but Unreleased, 0\.2\.0, 0\.1\.0"):
        release_notes.notes(CHANGES, "0.3.0")
    with pytest.raises(LookupError, match="Unreleased is empty"):
        release_notes.notes("## Unreleased\n", "Unreleased")


def test_the_changelog_has_notes_of_what_is_not_released() -> None:
    assert "### Changed" in release_notes.notes(release_notes.CHANGELOG.read_text(), "Unreleased")
