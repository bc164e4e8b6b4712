"""Mistakes for which no cluster is needed."""

import pytest

from tests.cli.command import Kohort
from tests.cli.mistakes.table import Places, Table

COMMAND_LINES, FILES = Table("command_lines"), Table("files")


@pytest.mark.parametrize("case", COMMAND_LINES.mistakes)
def test_a_mistake_in_a_command_line(kohort: Kohort, here: Places, case: str) -> None:
    COMMAND_LINES.check_command(kohort, case, here)


@pytest.mark.parametrize("case", FILES.mistakes)
def test_a_mistake_with_a_file(kohort: Kohort, here: Places, case: str) -> None:
    FILES.check_command(kohort, case, here)
