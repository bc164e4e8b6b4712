"""Tables as Kafka's tools print them, the awkward ones among them."""

from tests.kafka import columns

OFFSETS = """
Consumer group 'idle' has no active members.

GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
idle            orders          0          -               0               -               -               -               -

GROUP           TOPIC           PARTITION  CURRENT-OFFSET  LOG-END-OFFSET  LAG             CONSUMER-ID     HOST            CLIENT-ID
busy            orders          1          5               7               2               c-1             /127.0.0.1      c
"""  # noqa: E501

STATE = """
GROUP                     COORDINATOR (ID)          ASSIGNMENT-STRATEGY  STATE                #MEMBERS
busy                      127.0.0.1:9092  (1)       range                Stable               2
idle                      127.0.0.1:9092  (1)                            Empty                0
"""

STREAMS = """
GROUP           MEMBER                 CLIENT-ID ASSIGNMENTS
app             1jXxMa_VT7WT8su4I1DsJg app-1     ACTIVE: 0:[0,1,2]; TARGET-ACTIVE: 0:[0,1,2];
"""


def test_tables_are_separated_and_sentences_left_out() -> None:
    rows = columns.parse(OFFSETS)
    assert [(row["GROUP"], row["LAG"], row["CLIENT-ID"]) for row in rows] == [
        ("idle", "-", "-"),
        ("busy", "2", "c"),
    ]


def test_an_empty_cell_and_a_cell_with_brackets() -> None:
    busy, idle = columns.parse(STATE)
    assert (busy["ASSIGNMENT-STRATEGY"], idle["ASSIGNMENT-STRATEGY"]) == ("range", "")
    assert busy["COORDINATOR (ID)"] == idle["COORDINATOR (ID)"] == "127.0.0.1:9092  (1)"
    assert (idle["STATE"], idle["#MEMBERS"]) == ("Empty", "0")


def test_the_last_cell_may_hold_blanks() -> None:
    (row,) = columns.parse(STREAMS)
    assert row["ASSIGNMENTS"] == "ACTIVE: 0:[0,1,2]; TARGET-ACTIVE: 0:[0,1,2];"


def test_no_input_gives_no_rows() -> None:
    assert columns.parse("\nError: nothing here\n") == []
