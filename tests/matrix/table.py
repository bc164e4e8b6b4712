"""The table of the matrix: on the terminal, and in docs/brokers.md between its two marks."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "brokers.md"
BEGIN, END = "<!-- made by `make matrix` -->\n", "<!-- end -->\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """The result of a check on a release. `works` is None where there is nothing to try; `words`: what Kohort says
    where it does not work; `failed`: it went otherwise than it should."""

    works: bool | None
    words: str
    failed: bool = False


Cells = Mapping[str, Mapping[str, Cell]]
"""By version and check."""


def printed(cells: Cells) -> str:
    notes: dict[str, int] = {}
    versions = list(cells)
    rows = [["", *versions], [":--", *[":-:"] * len(versions)]]
    for name in next(iter(cells.values())):
        row = [name]
        for version in versions:
            cell = cells[version][name]
            mark = {True: "yes", False: "no", None: "–"}[cell.works]
            if cell.words:
                mark += f" ({notes.setdefault(cell.words, len(notes) + 1)})"
            row.append(mark)
        rows.append(row)
    lines = [f"| {' | '.join(row)} |" for row in rows]
    said = [f"{number}. {words}" for words, number in notes.items()]
    return "\n".join([*lines, "", *said, ""])


def write_page(cells: Cells) -> None:
    page = PAGE.read_text(encoding="utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{printed(cells)}\n{END}{after}", encoding="utf-8")
