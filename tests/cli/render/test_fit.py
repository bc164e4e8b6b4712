"""Ids lose their middle so that a table fits, and stay unique; texts are folded between words."""

import random

import pytest

from cli.render.cells import text_width
from cli.render.document import Column, Table
from cli.render.fit import LEAST_ID, shortened_ids
from cli.render.layout import table_lines, table_pieces
from cli.render.lines import CUT, plain

IDS = (Column("GROUP"), Column("CONSUMER-ID"), Column("LAG", number=True))


def shown(table: Table, width: int, *, whole: bool = False) -> list[str]:
    return list(map(plain, table_lines(table, table_pieces(table), width, whole=whole)[0]))


@pytest.mark.parametrize("seed", range(20))
def test_shortened_ids_stay_unique(seed: int) -> None:
    rng = random.Random(seed)
    prefix = "consumer-" + "".join(rng.choices("abc-" if seed % 2 else "aß処-", k=rng.randrange(30))) + "-"
    ids = [prefix + "".join(rng.choices("01", k=rng.randrange(1, 40))) for _ in range(rng.randrange(1, 40))]
    rows = [["group", id_, "1"] for id_ in ids]
    for width in (30, 40, 60, 80, 120):
        short = [row[1] for row in shortened_ids(IDS, rows, width)]
        assert len(set(short)) == len(set(ids))
        for whole, shortened in zip(ids, short, strict=True):
            head, mark, tail = shortened.partition(CUT)
            assert whole == shortened if not mark else whole.startswith(head) and whole.endswith(tail)
            assert not mark or text_width(shortened) >= LEAST_ID - 2


def test_an_id_is_as_long_as_the_terminal_allows() -> None:
    ids = [f"consumer-billing-1-3f0c6f9e-5a0b-4c1d-9d55-7c1f0a6b2e0{number}" for number in range(3)]
    table = Table(columns=IDS, rows=[("billing", id_, 7) for id_ in ids])
    assert shown(table, 80)[1] == f"billing  {ids[0]}    7"
    assert shown(table, 44)[1] == "billing  consumer-billing-1-3f0c6f…2e00    7"
    assert max(map(len, shown(table, 44))) == 44
    assert shown(table, 66, whole=True)[2] == f"{ids[0]}    7"


def test_long_targets_are_shortened_rather_than_made_records() -> None:
    columns = (Column("ID"), Column("TARGET"), Column("RESULT"))
    table = Table(columns=columns, rows=[("4F2A91C3", "payments-reconciliation.eu-central-1", "done")])
    assert shown(table, 40) == [
        "ID        TARGET                  RESULT",
        "4F2A91C3  payments-reconcil…al-1  done",
    ]


def test_ids_in_wide_letters_are_shortened_by_columns() -> None:
    table = Table(columns=IDS, rows=[("処理サービス請求書", "consumer-1", 7)])
    assert shown(table, 34) == [
        "GROUP              CONSUMER-   LAG",
        "                   ID",
        "処理サービス…求書  consumer-1    7",
    ]


def test_sentences_are_below_their_rows_rather_than_in_records() -> None:
    columns = (Column("GROUP"), Column("VERDICT"), Column("FIRST-REASON"))
    table = Table(
        columns=columns, rows=[("billing", "blocked", "The version is unknown."), ("jobs", "ready", None)]
    )
    assert shown(table, 25) == [
        "GROUP    VERDICT",
        "  FIRST-REASON",
        "billing  blocked",
        "  The version is unknown.",
        "jobs     ready",
    ]


def test_a_sentence_is_folded_and_an_id_is_not() -> None:
    table = Table(
        columns=(Column("HOLDS"), Column("CHECK"), Column("OBSERVED")),
        rows=[("yes", "rest", "the group has settled"), ("no", "replaced", "2 of 3 members have left " * 4)],
    )
    assert shown(table, 50) == [
        "HOLDS  CHECK     OBSERVED",
        "yes    rest      the group has settled",
        "no     replaced  2 of 3 members have left 2 of 3",
        "                 members have left 2 of 3 members",
        "                 have left 2 of 3 members have",
        "                 left",
    ]
    ids = Table(columns=(Column("NAME"), Column("VALUE")), rows=[(char * 30, char * 30) for char in "abc"])
    assert shown(ids, 40)[:3] == [f"NAME   {'a' * 30}", f"VALUE  {'a' * 30}", ""]
