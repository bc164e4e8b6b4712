"""What is shown of each source of groups, and the keys of time in it."""

from dataclasses import replace
from pathlib import Path

import pytest

from cli.options import SourceOptions
from cli.verbs.top.options import TopOptions
from tests.cli.command import Kohort
from tests.cli.verbs.record.test_incidents import record
from tests.cli.verbs.top.driving import ONCE, Driven, drive, many_groups, saved

BEFORE, AFTER = "left_square_bracket", "right_square_bracket"
WIDE = (140, 24)


async def go(top: Driven, key: str) -> int:
    """To another moment; which."""
    before_ms = top.app.sight.past_ms
    await top.press(key)
    await top.wait_for(lambda: top.app.sight.past_ms != before_ms, f"another moment after {key}")
    await top.wait_for(lambda: top.app.sight.groups, "a group is read")
    return top.app.sight.past_ms or 0


async def walk(top: Driven) -> None:
    """Back through two rebalances and forth again, of the list and of a group; a time; and the present."""
    first = await go(top, BEFORE)
    second = await go(top, BEFORE)
    assert second < first
    assert "THE PAST" in top.text
    assert "ok" not in top.line_of("billing").split()
    assert "Its last rebalance: " in top.text
    assert await go(top, AFTER) == first
    top.app.open_screen("group", "billing")
    await top.wait_for("group billing")
    assert await go(top, BEFORE) <= first
    assert "No problem" not in top.text
    await top.press("escape", "t")
    await top.type("20m")
    await top.press("enter")
    await top.wait_for(lambda: top.app.sight.past_ms not in (None, first, second), "the time that was typed")


def test_the_sample_fleet(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        assert "Reconciling" in top.line_of("fraud")
        # A single observation is judged, and rebalances before the start are known from the log.
        await top.wait_for(lambda: top.line_of("billing").split()[8:9] == ["6"], "the rebalances of the hour")
        assert top.line_of("billing").split()[5] == "ok"
        await walk(top)
        await go(top, "l")
        assert "THE PAST" not in top.text
        assert top.line_of("billing").split()[5] == "ok"

    drive(course, SourceOptions(embedded=sample), size=WIDE)


def test_a_log_as_of_a_moment(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        as_of_ms = top.app.sight.past_ms
        assert "THE PAST" in top.text
        await walk(top)
        await top.press("l")
        await top.wait_for(lambda: top.app.sight.past_ms == as_of_ms, "the moment of --as-of")

    drive(course, SourceOptions(log_dirs=[sample], as_of="1m"), size=WIDE)


@pytest.mark.parametrize("kind", ["journal", "replay"])
def test_a_file_of_the_past_alone(kohort: Kohort, sample: Path, tmp_path: Path, kind: str) -> None:
    file = tmp_path / kind
    if kind == "journal":
        record(sample, file)
    else:
        kohort.quick("watch billing fraud --for 0.5 --embedded", sample, "--record", file).succeeded()

    async def course(top: Driven) -> None:
        await top.read()
        end_ms = top.app.sight.past_ms
        assert "THE PAST" in top.text
        assert top.line_of("billing").split()[1:3] == ["Stable", "3"]
        if kind == "journal":
            await walk(top)
            await top.press("l")
            await top.wait_for(lambda: top.app.sight.past_ms == end_ms, "the end again")
        else:
            assert "Reconciling" in top.line_of("fraud")
            await top.press("down", "enter")
            await top.wait_for("waits")  # of the observation, with targets

    options = replace(ONCE, journal=file) if kind == "journal" else replace(ONCE, replay=file)
    drive(course, SourceOptions(), options, size=WIDE)


def test_a_snapshot_is_read_again_when_it_is_replaced(tmp_path: Path) -> None:
    groups, topics = many_groups(50)

    async def course(top: Driven) -> None:
        await top.read()
        assert top.line_of("group-0003").split()[1:4] == ["Empty", "0", "3910"]
        polled = dict(top.app.sight.groups)
        await top.pilot.pause(0.5)
        assert all(top.app.sight.groups[name] is seen for name, seen in polled.items())
        assert top.line_of("group-0000").split()[5] == "warning"  # It was never stable without members
        await top.press(BEFORE)
        await top.wait_for("a snapshot shows one moment")
        saved(tmp_path, {**groups, "group-0003": {"state": "Empty", "type": "share"}}, topics=topics)
        await top.wait_for(lambda: "share" in top.line_of("group-0003"), "the new snapshot")
        (tmp_path / "groups.json").unlink()
        await top.wait_for("NO ANSWER since")
        assert "cannot be read" in top.text
        saved(tmp_path, groups, topics=topics)
        await top.wait_for(lambda: "share" not in top.text, "the snapshot is there again")

    drive(course, saved(tmp_path, groups, topics=topics), TopOptions(every=0.2), size=WIDE)


def test_groups_that_cannot_be_read_are_not_hidden(tmp_path: Path) -> None:
    groups = {"good": {}, "bad": {"state": 7}, "worse": {"type": 8}, "worst": {"members": 9}}

    async def course(top: Driven) -> None:
        await top.read()
        assert "1 group" in top.lines[0]
        assert "groups.bad.state" in top.text
        assert "1 more" in top.text

    drive(course, saved(tmp_path, groups), size=WIDE)
