"""The page that `make matrix` writes is that of the checks there are."""

from tests.matrix.checks import CHECKS
from tests.matrix.table import BEGIN, END, PAGE
from tests.matrix.versions import RELEASES


def test_the_page_has_a_column_for_each_release_and_a_row_for_each_check() -> None:
    table = PAGE.read_text(encoding="utf-8").partition(BEGIN)[2].partition(END)[0]
    head, _, *rows = [line for line in table.splitlines() if line.startswith("|")]
    assert head.strip("| ").split(" | ") == [release.version for release in RELEASES]
    assert [row.strip("| ").split(" | ")[0] for row in rows] == [check.name for check in CHECKS]
    assert "FAILED" not in table
