"""Long answers, read while they are printed: the same text in every format, without holding the rows."""

import io
import json
from collections.abc import Iterator

import pytest

from cli.output import render
from cli.render.csv_tables import shaped
from cli.render.document import Document, Table, columns
from cli.render.output_format import OutputFormat, Shape
from cli.render.streamed import MOST_ROWS, Parts, Streamed

PART = 1_000
PARTS = 12
ROWS = [
    (f"g{at}", None if at % 7 == 0 else at % 10, "é" if at % 11 == 0 else "x") for at in range(PART * PARTS)
]


def parts(read: list[int]) -> Iterator[list[tuple[str, int | None, str]]]:
    for number in range(PARTS):
        read.append(number)
        yield ROWS[number * PART : (number + 1) * PART]


def document(read: list[int], *, whole: bool) -> Document:
    held = Parts(parts(read), None if whole else len)
    entries = Streamed(held, lambda part: ({"group": group, "lag": lag} for group, lag, _ in part))
    table = Table(columns=columns("GROUP", "#LAG", "WORD"), rows=Streamed(held, lambda part: part))
    return Document(command="describe", data={"groups": [*entries] if whole else entries}, blocks=[table])


def text(document: Document, output: OutputFormat) -> str:
    stream = io.StringIO()
    render(document, output, stream)
    return stream.getvalue()


@pytest.mark.parametrize("output", OutputFormat)
def test_the_text_is_that_of_all_rows(output: OutputFormat) -> None:
    streamed, whole = (text(document([], whole=whole), output) for whole in (False, True))
    if output is OutputFormat.TABLE:  # its columns become wider where a row needs it
        assert streamed[:100] != whole[:100]
        streamed, whole = (
            "\n".join(" ".join(line.split()) for line in shown.split("\n")) for shown in (streamed, whole)
        )
    assert streamed == whole


def test_no_more_is_read_than_was_written() -> None:
    read: list[int] = []
    held = document(read, whole=False)
    assert len(read) == MOST_ROWS // PART + 1

    class Pipe(io.StringIO):
        def write(self, written: str) -> int:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        render(held, OutputFormat.TABLE, Pipe())
    assert len(read) == MOST_ROWS // PART + 1


def test_columns_are_chosen_row_by_row_and_sorted_rows_are_held() -> None:
    shape = Shape(columns=("lag", "group"), sort=(), header=False)
    chosen = [text(shaped(document([], whole=whole), shape), OutputFormat.CSV) for whole in (False, True)]
    assert chosen[0] == chosen[1]
    assert chosen[0].startswith(",g0\n1,g1\n")


def test_json_is_indented_on_a_terminal() -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    stream = Terminal()
    held = document([], whole=False)
    render(held, OutputFormat.JSON, stream)
    assert (
        stream.getvalue()
        == json.dumps(document([], whole=True).as_data(), indent=2, ensure_ascii=False) + "\n"
    )
