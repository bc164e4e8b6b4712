"""Textual is an extra: only `kohort top` needs it, and says how to get it."""

import re
from pathlib import Path

import pytest

from tests.cli.command import Kohort, imported, running
from tests.cli.verbs.top.pages import SAMPLE
from tests.shipping.dist import PACKAGES, ROOT

MODULES = ("textual", "textual_serve", "aiohttp")
IMPORT = re.compile(rf"^\s*(?:from|import) (?:{'|'.join(MODULES)})\b", re.MULTILINE)


def test_only_top_imports_the_packages_of_its_extra() -> None:
    files = [file.relative_to(ROOT) for package in PACKAGES for file in (ROOT / package).rglob("*.py")]
    importing = {
        file.parents[-4] for file in files if IMPORT.search((ROOT / file).read_text(encoding="utf-8"))
    }
    assert importing == {Path("cli/verbs/top")}


@pytest.mark.parametrize("line", ["--help", "top --help", "describe billing", "watch billing --for 0"])
def test_other_commands_do_not_load_them(line: str) -> None:
    source = [] if "--help" in line else ["--snapshot", str(SAMPLE)]
    loaded, answer = imported(MODULES, running(*line.split(), *source))
    assert (loaded, answer.status) == ([], 0)


@pytest.mark.parametrize("line", ["top", "top --web"])
def test_without_the_extra_the_command_that_installs_it_is_named(
    kohort: Kohort, monkeypatch: pytest.MonkeyPatch, line: str
) -> None:
    monkeypatch.setattr("wire.extras._is_found", lambda module: module not in MODULES)
    kohort.quick(line, "--snapshot", SAMPLE).assert_refused("packages that are not installed", "[top]")
