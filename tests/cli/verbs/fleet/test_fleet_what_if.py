"""`kohort fleet what-if`: the sums of a fleet, and on Spark the same figures as `kohort what-if` of each group."""

from pathlib import Path
from typing import Any

import pytest

from cli.verbs.fleet.what_if import fleet_what_if_document
from pipeline.what_if import sums_of
from tests.cli.command import Kohort
from tests.cli.schemas import faults
from tests.incidents.record import recording
from tests.support.long import LONG


def row(group: str, alternative: str | None, unread_s: float, verdict: str = "agrees") -> dict[str, Any]:
    figures = {"rebalances": 3, "moved": 4, "without_owner_s": 5.0, "unread_s": unread_s, "read_twice": 6}
    return {
        "group": group,
        "alternative": alternative,
        "verdict": verdict,
        "why": None if verdict == "agrees" else "rebalances 9 observed, 3 simulated",
        "observed_rebalances": 3,
        **figures,
    }


ROWS = [
    row("payments", None, 72_000.0),
    row("payments", "consumer", 3_600.0),
    row("orders", None, 0.4),
    row("orders", "consumer", 0.0),
    row("audit", None, 900_000.0, "differs"),
    row("audit", "consumer", 1.0, "differs"),
]


def test_only_groups_whose_simulation_agrees_are_added_up() -> None:
    (total,) = sums_of(ROWS)
    assert (total.groups, total.unharmed) == (2, 1)
    assert (total.past_unread_s, total.unread_s) == (72_000.4, 3_600.0)


def test_the_answer_is_a_sentence_for_each_alternative_and_fits_the_schema() -> None:
    document = fleet_what_if_document(ROWS, 5)
    assert faults(document.as_data()) == []
    first = document.blocks[0]
    assert getattr(first, "text", "") == (
        "consumer: of 2 groups, 1 lost nothing; 20 partition-hours without a running owner would have been "
        "3,600 partition-seconds."
    )


@LONG
@pytest.mark.timeout(900)
def test_spark_plays_each_group_as_the_command_does(kohort: Kohort, tmp_path: Path) -> None:
    question = ("--protocol", "cooperative", "--seeds", "3", "--output", "json")
    with recording("deployments") as (logs, stories):
        kohort("fleet", "history", "--log-dir", str(logs), "--out", str(tmp_path / "tables")).succeeded()
        rows = kohort("fleet", "what-if", "--tables", str(tmp_path / "tables"), *question).document["groups"]
        of_fleet = {(row["group"], row["alternative"]): row["rebalances"] for row in rows}
        groups = [story.group for story in stories if "consumer" not in story.group]
        alone = kohort("what-if", *groups, "--log-dir", str(logs), "--since", "3650d", *question)
    for group in alone.document["groups"]:
        assert of_fleet[group["group"], None] == group["simulated"]["rebalances"], group["group"]
        for alternative in group["alternatives"]:
            assert of_fleet[group["group"], alternative["name"]] == alternative["rebalances"]
