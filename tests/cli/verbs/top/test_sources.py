"""What is shown of each source of groups."""

from pathlib import Path

from cli.options import SourceOptions
from tests.cli.verbs.top.driving import AT_MS, Driven, drive, many_groups, saved


def test_the_sample_fleet(sample: Path) -> None:
    async def course(top: Driven) -> None:
        await top.read()
        assert top.lines[0].split() == ["10", "groups", top.app.sight.source, "2026-03-01T03:07:00.000Z"]
        assert "Reconciling" in top.line_of("fraud")
        await top.press("enter")
        await top.wait_for("audit-eu:2,3")

    drive(course, SourceOptions(embedded=sample), at_ms=AT_MS)


def test_a_snapshot(tmp_path: Path) -> None:
    groups, topics = many_groups(50)

    async def course(top: Driven) -> None:
        await top.read()
        assert top.line_of("group-0003").split()[1:4] == ["Empty", "0", "3910"]

    drive(course, saved(tmp_path, groups, topics=topics))
