"""Documents of several clusters as one: tables, fields and texts with the names of the clusters."""

from cli.render.document import Block, Document, Heading, Item, Table, Text, columns
from cli.render.merge import merged
from groups.listing import Cause, Problem


def document(*blocks: Block, **data: object) -> Document:
    return Document(command="list", data=data, blocks=blocks)


def table(names: str, *rows: tuple[object, ...]) -> Table:
    return Table(columns=columns(*names.split()), rows=rows)  # type: ignore[arg-type]


def shown(*blocks: Block) -> list[object]:
    """Tables as their headings and rows, other blocks as their texts."""
    texts: list[object] = []
    for block in blocks:
        if isinstance(block, Table):
            texts.append([" ".join(column.name for column in block.columns), *map(tuple, block.rows)])
        else:
            texts.append(block.lead if isinstance(block, Item) else getattr(block, "text", block))
    return texts


def test_rows_follow_the_order_of_the_clusters() -> None:
    one = merged({name: document(table("GROUP #LAG", ("g", lag))) for name, lag in (("b", 1), ("a", None))})
    assert shown(*one.blocks) == [["CLUSTER GROUP LAG", ("b", "g", 1), ("a", "g", None)]]


def test_a_column_that_one_cluster_has_is_unknown_in_the_others() -> None:
    short, long = (
        table("GROUP MEMBER HOST", ("g", "m", "h")),
        table("GROUP MEMBER RACK HOST", ("f", "n", "r", "i")),
    )
    expected = ["CLUSTER GROUP MEMBER RACK HOST", ("a", "g", "m", None, "h"), ("b", "f", "n", "r", "i")]
    assert shown(*merged({"a": document(short), "b": document(long)}).blocks) == [expected]


def test_tables_meet_those_of_their_kind() -> None:
    offsets, totals = table("GROUP TOPIC #OFFSET", ("g", "t", 1)), table("GROUP #TOPICS", ("g", 1))
    sums = table("GROUP TOPIC #LAG", ("g", "t", 9))
    one = merged({"a": document(offsets, sums, totals), "b": document(totals), "c": document(offsets)})
    assert shown(*one.blocks) == [
        ["CLUSTER GROUP TOPIC OFFSET", ("a", "g", "t", 1), ("c", "g", "t", 1)],
        ["CLUSTER GROUP TOPIC LAG", ("a", "g", "t", 9)],
        ["CLUSTER GROUP TOPICS", ("a", "g", 1), ("b", "g", 1)],
    ]


def test_what_follows_a_heading_stays_with_its_cluster() -> None:
    blocks = (
        Text("2 groups."),
        table("GROUP", ("g",)),
        Text("Sum."),
        Heading("g"),
        table("GROUP", ("h",)),
        Item(lead="x"),
    )
    assert shown(*merged({"a": document(*blocks), "b": document(*blocks)}).blocks) == [
        *("a: 2 groups.", "b: 2 groups."),
        ["CLUSTER GROUP", ("a", "g"), ("b", "g")],
        *("a: Sum.", "b: Sum."),
        *("a: g", ["CLUSTER GROUP", ("a", "h")], "x", "b: g", ["CLUSTER GROUP", ("b", "h")], "x"),
    ]


def test_fields_that_are_no_lists_belong_to_their_cluster() -> None:
    one = merged({name: document(groups=[{"group": "g"}], source=name.upper()) for name in "ab"})
    assert one.data["groups"] == [{"cluster": "a", "group": "g"}, {"cluster": "b", "group": "g"}]
    assert one.data["clusters"] == [{"cluster": "a", "source": "A"}, {"cluster": "b", "source": "B"}]


def test_problems_and_remarks_name_their_cluster() -> None:
    problem = Problem(subject="g", message="is gone", cause=Cause.ABSENT, group="g")
    of_a = Document(command="list", data={}, blocks=(), errors=(problem,), remarks=("empty",))
    one = merged({"a": of_a, "b": document()})
    assert [(error.subject, error.cause) for error in one.errors] == [("a: g", Cause.ABSENT)]
    assert one.remarks == ("a: empty",)
    assert merged({"a": of_a, "b": of_a}).remarks == ("a, b: empty",)
