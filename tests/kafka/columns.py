"""Read the columns that Kafka's own tools print."""

from collections.abc import Iterator

Row = dict[str, str]


def parse(text: str) -> list[Row]:
    """Return the rows of all tables in `text` as `{header: cell}`.

    A table begins with a line in capitals, a line of text that is not one belongs to no table. Cells hold no
    blanks, with one exception that the tools make: what is left over belongs to the last column.
    """
    return [row for table in _tables(text) for row in table]


def _tables(text: str) -> Iterator[list[Row]]:
    header: list[str] = []
    rows: list[Row] = []
    for line in text.splitlines():
        words = line.split()
        if is_header(words):
            yield rows
            header, rows = words, []
        elif not words:
            yield rows
            header, rows = [], []
        elif header:
            cells = line.split(None, len(header) - 1)
            rows.append(dict(zip(header, (cell.rstrip() for cell in cells), strict=False)))
    yield rows


def is_header(words: list[str]) -> bool:
    """Say whether these are the words of a table's first line: all in capitals, GROUP or TOPIC first."""
    return len(words) > 1 and words[0] in {"GROUP", "TOPIC"} and all(word.upper() == word for word in words)
