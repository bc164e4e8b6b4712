"""`--columns`, `--sort` and `--no-header`: the same tables in every format, arranged for a script."""

import csv
import io
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.errors import UsageError
from cli.options import OutputOptions
from cli.output import arranged
from cli.render.cells import Duration
from cli.render.document import Document, Heading, Table, Text, columns, table_of
from cli.render.output_format import OutputFormat
from tests.cli.render.rendered import rendered

ROWS = (
    ("payments", 10, 7, None),
    ("orders", 2, None, Duration(61_000)),
    ("Orders", 1, 7, Duration(9)),
    ("audit", 1, -3, None),
)
DOCUMENT = Document(
    command="example",
    data={},
    blocks=(
        Heading("Offsets"),
        Table(columns=columns("GROUP", "#PARTITION", "#LAG", "#LAG-TIME"), rows=ROWS),
        Table(columns=columns("##GROUPS", "#LAG"), rows=[(4, 11)]),
        Text("That is all."),
    ),
)


def printed(output: OutputFormat = OutputFormat.TABLE, **options: Any) -> str:
    return rendered(arranged(DOCUMENT, OutputOptions(output=output, **options)), output)


def first_table(**options: Any) -> list[list[str]]:
    text = printed(OutputFormat.CSV, **options)
    return list(csv.reader(io.StringIO(text.split("\n\n")[0])))


def test_a_table_without_the_columns_and_what_is_no_table_are_left_out() -> None:
    asked = "LAG  GROUP\n  7  payments\n  -  orders\n  7  Orders\n -3  audit\n\nLAG\n 11\n"
    assert printed(columns="lag, Group") == asked
    groups = "| GROUP |\n| --- |\n| payments |\n| orders |\n| Orders |\n| audit |\n"
    assert printed(columns="GROUP", output=OutputFormat.MARKDOWN) == groups
    # A shell takes what begins with # for a comment.
    assert printed(columns="groups") == printed(columns="#GROUPS") == "#GROUPS\n      4\n"


def test_bare_rows() -> None:
    rows = "Orders     7\naudit     -3\norders     -\npayments   7\n\n11\n"
    assert printed(columns="GROUP,LAG", no_header=True, sort="group") == rows
    assert "PARTITION" not in printed(OutputFormat.HTML, no_header=True)
    assert printed(OutputFormat.MARKDOWN, columns="#GROUPS", no_header=True) == "| 4 |\n"
    assert printed(OutputFormat.CSV, columns="#GROUPS", no_header=True) == "4\n"


@pytest.mark.parametrize(
    ("sort", "order"),
    [
        ("GROUP", ["Orders", "audit", "orders", "payments"]),
        ("partition", ["Orders", "audit", "orders", "payments"]),
        ("PARTITION:desc", ["payments", "orders", "Orders", "audit"]),
        # What is not known comes last, however it is sorted; equal rows stay as they were.
        ("LAG", ["audit", "payments", "Orders", "orders"]),
        ("LAG:desc", ["payments", "Orders", "audit", "orders"]),
        ("lag : DESC , group:asc", ["Orders", "payments", "audit", "orders"]),
        ("LAG-TIME", ["Orders", "orders", "payments", "audit"]),
        ("LAG-TIME-S", ["Orders", "orders", "payments", "audit"]),
    ],
)
def test_sorted(sort: str, order: list[str]) -> None:
    assert [row[0] for row in first_table(sort=sort)[1:]] == order
    # A column that is not shown may be sorted by.
    assert [row[0] for row in first_table(sort=sort, columns="GROUP")[1:]] == order


def test_an_answer_without_a_table_says_so() -> None:
    bare = Document(command="example", data={}, blocks=(Text("Nothing."),))
    with pytest.raises(UsageError, match="this answer has no table"):
        arranged(bare, OutputOptions(columns="GROUP"))
    assert arranged(bare, OutputOptions(no_header=True)).blocks == [Text("Nothing.")]


@settings(deadline=None, suppress_health_check=list(HealthCheck))
@given(
    rows=st.lists(
        st.tuples(st.none() | st.integers(-3, 3) | st.sampled_from("aAbé"), st.integers()), max_size=12
    ),
    descending=st.booleans(),
)
def test_sorting_is_a_stable_permutation(rows: list[tuple[Any, int]], descending: bool) -> None:
    document = Document(command="x", data={}, blocks=(Table(columns=columns("A", "#B"), rows=rows),))
    (table,) = arranged(document, OutputOptions(sort="A:desc" if descending else "A")).blocks
    assert isinstance(table, Table)
    # The obvious way: an insertion behind everything that is not greater.
    expected: list[tuple[Any, int]] = []
    for row in rows:
        at = next((i for i, other in enumerate(expected) if _before(row[0], other[0], descending)), None)
        expected.insert(len(expected) if at is None else at, row)
    assert list(table.rows) == expected


def _before(one: Any, other: Any, descending: bool) -> bool:
    if one is None or other is None:
        return other is None and one is not None
    if isinstance(one, str) != isinstance(other, str):
        return isinstance(one, str) == descending
    return bool(one > other if descending else one < other)


@pytest.mark.parametrize("row", [{"group": "g", "gain_s": 1.5}, SimpleNamespace(group="g", gain_s=1.5)])
def test_a_column_shows_the_field_of_its_heading_by_default(row: object) -> None:
    table = table_of([row], "GROUP", "#GAIN", ("##AGAIN", "gain_s"), ("NONE", lambda _: None))
    assert table.columns == columns("GROUP", "#GAIN", "##AGAIN", "NONE")
    assert table.rows == [["g", Duration(1500), 1.5, None]]
