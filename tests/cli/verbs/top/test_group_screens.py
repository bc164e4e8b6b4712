"""The screens of a group, and those that its rows open."""

from dataclasses import replace
from pathlib import Path

from cli.options import SourceOptions
from groups.model import Cluster, Node
from tests.cli.verbs.top.driving import AT_MS, Driven, drive, saved

FLEET = SourceOptions(snapshot=Path(__file__).parents[3] / "golden" / "screens" / "fleet.yaml")


def test_rows_open_members_partitions_topics_and_findings() -> None:
    async def course(top: Driven) -> None:
        await top.read()
        await top.type("/audit")
        await top.press("enter", "enter")
        await top.wait_for("must revoke payments:1")
        await top.press("enter")
        await top.wait_for("member QwEr")
        assert "to be revoked" in top.line_of("payments           1")
        await top.press("enter")
        await top.wait_for("200 offsets before the log start")
        await top.press("escape", "escape", "b", "enter")
        await top.wait_for("1 group with members that read it")
        assert "assigned" in top.line_of("payments-audit")
        await top.press("o", "down", "enter")
        await top.wait_for("committed ")
        await top.press("escape", "escape", "f", "enter")
        await top.wait_for("Evidence:")
        await top.press("escape", "v")
        await top.wait_for("A=QwErTyUiOpAsDfGhJkLzXc")
        assert top.line_of("payments:0,1").split()[1:] == ["A", "QwErTyUiOpAsDfGhJkLzXc"]

    drive(course, FLEET, at_ms=AT_MS)


def test_the_past_of_a_group_has_its_story_owners_and_commits(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        top.app.open_screen("group", "fraud")
        await top.press("left_square_bracket", "left_square_bracket")
        await top.wait_for("no rebalance was in progress")
        assert "No problem found" not in top.text
        await top.press("left_square_bracket", "v")
        await top.wait_for("A=consumer-fraud-1 on 10.0.0.39")
        assert set(top.line_of("payments:0-2").split()[1]) == {*"A·B"}
        await top.press("o", "enter")
        await top.wait_for("STEP")
        assert all(" 25 " in line for line in top.lines[4:8])
        await top.press("l")  # What was read of the past stays there
        await top.wait_for(lambda: top.app.sight.past_ms is None and " 25 " in top.lines[6])

    drive(course, SourceOptions(embedded=sample))


def test_a_broker_of_the_cluster_opens_the_groups_it_coordinates(tmp_path: Path) -> None:
    groups = {
        f"g{broker}": {
            "type": "classic",
            "state": "Empty",
            "coordinator": {"id": broker, "host": "h", "port": 9092 + broker},
        }
        for broker in (1, 2)
    }

    async def course(top: Driven) -> None:
        await top.read()
        idle = Cluster(id="c", brokers=(Node(id=3, host="h", port=9095, rack="r"),))
        top.app.sight = replace(top.app.sight, cluster=idle)
        await top.press("C")
        await top.wait_for("cluster c")
        assert [line.split()[:3] for line in top.lines[5:8]] == [
            ["h:9093", "1", "1"],
            ["h:9094", "2", "1"],
            ["h:9095", "3", "0"],
        ]
        await top.press("down", "enter")
        await top.wait_for("coordinator:h:9094")
        await top.wait_for(lambda: "g1" not in top.text)
        assert "g2" in top.text

    drive(course, saved(tmp_path, groups))
