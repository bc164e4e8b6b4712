"""What a terminal shows, against tests/golden/screens. `KOHORT_WRITE_GOLDEN=1 pytest tests/cli/render/test_screens.py`
writes the files; `make pictures SCREENS=DIR` draws them on dark and light terminals. Look at the pictures before you
commit a difference."""

import os
import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from tests.cli.command import Kohort
from tests.cli.render.screens import DIRECTORY, SCREENS, WIDTHS, screen

CODE = re.compile(r"\x1b\[[0-9;]*m")
COMMAND = re.compile(r"^    \S")


@pytest.mark.parametrize("columns", WIDTHS)
@pytest.mark.parametrize("name", SCREENS)
def test_a_screen_is_as_before_and_fits(kohort: Kohort, tmp_path: Path, name: str, columns: int) -> None:
    text, file = screen(kohort, name, columns, tmp_path), DIRECTORY / f"{name}-{columns}.txt"
    if os.environ.get("KOHORT_WRITE_GOLDEN") == "1":
        file.write_text(text)
    assert text == file.read_text()
    # Commands and settings are not broken: they are copied.
    lines = [line for line in CODE.sub("", text).splitlines() if not COMMAND.match(line)]
    assert max(map(cell_len, lines)) <= columns
