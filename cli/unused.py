"""Select the groups that are unused: `--unused-for`."""

import time

from cli.render.cells import Cell
from cli.sources.source import ReadResult, Source
from cli.times import milliseconds
from groups.counts import first_names
from groups.model import Group, Problem
from groups.times import format_moment
from groups.use import LastUse, last_use

LAST_USE = ("LAST-COMMIT", "LAST-MEMBER")  # Headings of `last_use_cells`
SHOWN = 5  # Maximum number of groups named per reason why their last use is not known


def unused_groups(
    source: Source, read: ReadResult[Group], unused_for: str, *, named: bool
) -> ReadResult[Group]:
    """The groups, described with their offsets, that are known to have been unused for this long. A group is a problem
    if this is not known, or if it was named and has been used."""
    before_ms = time.time_ns() // 1_000_000 - milliseconds(unused_for, "--unused-for", unit=None)
    timed = source.with_last_use(read.items)
    kept: list[Group] = []
    problems = [*read.problems, *timed.problems]
    unknown: dict[str, list[str]] = {}
    for group in timed.items:
        use = last_use(group)
        if use.is_before(before_ms):
            kept.append(group)
        elif use.unknown is not None and not use.is_since(before_ms):
            unknown.setdefault(use.unknown, []).append(group.id)
        elif named:
            at_ms = use.latest_ms
            in_use = use.in_use or at_ms is None
            usage = "it is in use" if in_use or at_ms is None else f"it was used at {format_moment(at_ms)}"
            message = f"{usage}, not unused for {unused_for}"
            problems.append(Problem(subject=group.id, message=message, group=group.id))
    for why, groups in sorted(unknown.items()):
        message = f"skipped, as it is not known whether they are unused for {unused_for}: {why}"
        if len(groups) == 1:
            message = message.replace("they are", "it is")
        problems.append(Problem(subject=first_names(groups, SHOWN, "groups"), message=message))
    return ReadResult(tuple(kept), tuple(problems))


def last_use_cells(use: LastUse) -> tuple[Cell, ...]:
    return tuple(None if ms is None else format_moment(ms) for ms in (use.last_commit_ms, use.emptied_ms))


def last_use_data(use: LastUse) -> dict[str, object]:
    return {"last_commit_ms": use.last_commit_ms, "last_member_ms": use.emptied_ms}
