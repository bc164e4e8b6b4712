"""Read the columns that Kafka's own tools print."""

import re
from collections.abc import Iterator
from itertools import pairwise

Row = dict[str, str]

# One blank or more parts two words, but `COORDINATOR (ID)` and `localhost:9092  (1)` are one cell each.
GAP = re.compile(r"\s+(?![\s(])")
FIRST = {"GROUP", "TOPIC"}


def parse(text: str) -> list[Row]:
    """Rows of all tables in `text` as `{header: cell}`. A table begins with a line of headers, the first of them GROUP
    or TOPIC, and ends with an empty line. A cell may be empty, and the last one may hold blanks."""
    rows: list[Row] = []
    header = ""
    for line in text.splitlines():
        if is_header(line):
            header = line
        elif not line.strip():
            header = ""
        elif header:
            rows.append(dict(zip(GAP.split(header.strip()), cells(header, line), strict=True)))
    return rows


def is_header(line: str) -> bool:
    words = line.split()
    return len(words) > 1 and words[0] in FIRST and line == line.upper()


def cells(header: str, line: str) -> list[str]:
    """Return the cells of `line`, as many as `header` has: by words where that fits, else by the places."""
    names = GAP.split(header.strip())
    words = GAP.split(line.strip())
    if len(words) == len(names):
        return words
    if len(words) > len(names):
        return GAP.split(line.strip(), len(names) - 1)
    starts = [*_starts(header, names), max(len(header), len(line))]
    return [line[start:stop].strip() for start, stop in pairwise(starts)]


def _starts(header: str, names: list[str]) -> Iterator[int]:
    position = 0
    for name in names:
        position = header.index(name, position)
        yield position
        position += len(name)
