"""A picture of ownership before (left) and after (right): a bar per member, colored by the owner before, white without
one; a ribbon connects the owners of partitions that move.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

from assignors.rebalance import owners_in
from cli.errors import UsageError
from cli.output import write_file
from cli.render.page import COLORS
from groups.counts import share
from groups.dry_run import DryRun
from groups.model import TopicPartition, each_partition

WIDTH = 960
BAR = 200
LEFT, RIGHT = 220, WIDTH - 220 - BAR
ROW, GAP, TOP = 18, 6, 86
MOST_MEMBERS = 200  # bars; more are unreadable: the picture shows the number of omitted ones

_STYLE = (
    COLORS
    + """\
svg .paper { fill: #ffffff; fill: var(--paper); }
svg text { fill: #222222; fill: var(--ink); }
svg .count { paint-order: stroke; stroke-width: 3px; stroke: #ffffff; stroke: var(--paper); }
"""
)  # of a light or dark screen; programs that ignore it show the attributes


@dataclass(frozen=True, slots=True)
class _Bar:
    """A member's partitions on one side, in the order in which they are drawn."""

    member: str
    y: int
    places: Sequence[TopicPartition]


def write_ownership(file: Path | None, runs: Sequence[DryRun]) -> None:
    """Write the picture of the only run, if there is a file for it; UsageError if there are several or none."""
    if file is None:
        return
    if len(runs) != 1:
        raise UsageError(f"--svg draws one group under one assignor; this is {len(runs)}")
    write_file(file, [ownership_svg(runs[0])])


def ownership_svg(run: DryRun) -> str:
    """The SVG text; deterministic."""
    members = run.members[:MOST_MEMBERS]
    colors = {
        member.id: f"hsl({360 * position / max(len(members), 1):.0f}, 62%, {68 if position % 2 else 58}%)"
        for position, member in enumerate(members)
    }
    origin = owners_in({member.id: member.before for member in run.members})
    before = _bars([(member.id, sorted(each_partition(member.before))) for member in members], origin)
    after = _bars([(member.id, sorted(each_partition(member.after))) for member in members], origin)
    height = TOP + len(members) * (ROW + GAP) + 40
    most = max([1, *(len(bar.places) for bar in (*before, *after))])
    body = [*_heading(run), *_ribbons(before, after, origin, colors, most)]
    for bars, x, anchor in ((before, LEFT, "end"), (after, RIGHT, "start")):
        for bar in bars:
            body += _bar(bar, x, anchor, origin, colors, most)
    if len(run.members) > MOST_MEMBERS:
        more = f"{len(run.members) - MOST_MEMBERS} more members"
        body.append(_text(WIDTH // 2, height - 12, more, "middle", 11))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
        f'width="{WIDTH}" height="{height}" font-family="sans-serif">\n'
        f'<style>{_STYLE}</style>\n<rect class="paper" width="{WIDTH}" height="{height}" fill="#ffffff"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


def _heading(run: DryRun) -> Iterator[str]:
    side = "broker" if run.leader is None else f"{run.leader.library.value} leader"
    yield _text(24, 30, f"{run.group}: {run.assignor} ({side})", "start", 18, weight="bold")
    moved = share(run.moved, run.owned, "partition", ("moves", "move"))
    percent = f" ({100 * run.moved / run.owned:.0f} %)" if run.owned else ""
    count = len(run.rebalances)
    rebalances = "one rebalance" if count == 1 else f"{count} rebalances"
    yield _text(24, 50, f"{moved}{percent} in {rebalances}", "start", 12)
    yield _text(LEFT + BAR, 74, "before", "end", 12, weight="bold")
    yield _text(RIGHT, 74, "after", "start", 12, weight="bold")


def _bars(
    sides: Sequence[tuple[str, Sequence[TopicPartition]]], origin: Mapping[TopicPartition, Sequence[str]]
) -> list[_Bar]:
    """The bars of one side: partitions that a member keeps are next to the middle of the picture."""
    order = {member: position for position, (member, _) in enumerate(sides)}
    bars = []
    for member, partitions in sides:
        owners = {partition: _from(member, partition, origin) for partition in partitions}
        ranks = [(owner != member, order.get(owner, -1), partition) for partition, owner in owners.items()]
        places = [partition for _, _, partition in sorted(ranks)]
        bars.append(_Bar(member, TOP + order[member] * (ROW + GAP), places))
    return bars


def _from(member: str, partition: TopicPartition, origin: Mapping[TopicPartition, Sequence[str]]) -> str:
    """The previous owner of a member's partition: the member itself if it was one of several; empty for none."""
    owners = origin.get(partition, ())
    return member if member in owners else next(iter(owners), "")


def _bar(
    bar: _Bar,
    x: int,
    anchor: str,
    origin: Mapping[TopicPartition, Sequence[str]],
    colors: Mapping[str, str],
    most: int,
) -> Iterator[str]:
    label_x = LEFT - 8 if anchor == "end" else x + BAR + 8
    label = bar.member if len(bar.member) <= 30 else f"{bar.member[:12]}…{bar.member[-17:]}"
    yield _text(label_x, bar.y + 13, label, anchor, 11)
    width = BAR * len(bar.places) / most
    start = x + BAR - width if anchor == "end" else float(x)
    for owner, offset, length in _runs(bar, origin):
        left = start + offset * BAR / most
        if anchor == "end":
            left = start + (len(bar.places) - offset - length) * BAR / most
        fill, title = colors.get(owner, "#ffffff"), escape(_title(bar, owner, length))
        yield (
            f'<rect x="{left:.1f}" y="{bar.y}" width="{length * BAR / most:.1f}" height="{ROW}" '
            f'fill="{fill}" stroke="#555555" stroke-width="0.5"><title>{title}</title></rect>'
        )
    count_x = x + BAR - 4 if anchor == "end" else x + 4
    yield _text(count_x, bar.y + 13, f"{len(bar.places)}", anchor, 10, style="count")


def _ribbons(
    before: Sequence[_Bar],
    after: Sequence[_Bar],
    origin: Mapping[TopicPartition, Sequence[str]],
    colors: Mapping[str, str],
    most: int,
) -> Iterator[str]:
    """Ribbons from each old owner to each new one; their thickness shows the number of partitions."""
    rows = {bar.member: bar.y + ROW / 2 for bar in before}
    for bar in after:
        for owner, _, length in _runs(bar, origin):
            if owner != bar.member and owner in rows:
                x1, y1, x2, y2 = LEFT + BAR, rows[owner], RIGHT, bar.y + ROW / 2
                middle = (x1 + x2) / 2
                thick = max(1.0, ROW * length / most)
                yield (
                    f'<path d="M{x1} {y1:.1f} C{middle} {y1:.1f} {middle} {y2:.1f} {x2} {y2:.1f}" fill="none" '
                    f'stroke="{colors.get(owner, "#999999")}" stroke-opacity="0.7" stroke-width="{thick:.1f}"/>'
                )


def _runs(bar: _Bar, origin: Mapping[TopicPartition, Sequence[str]]) -> Iterator[tuple[str, int, int]]:
    """The previous owner, index and length of each run of partitions that came from the same owner."""
    owners = [_from(bar.member, partition, origin) for partition in bar.places]
    start = 0
    for owner, run in groupby(owners):
        length = len(list(run))
        yield owner, start, length
        start += length


def _title(bar: _Bar, owner: str, count: int) -> str:
    if owner == bar.member:
        return f"{bar.member}: {count} kept"
    return f"{bar.member}: {count} {f'from {owner}' if owner else 'without an owner before'}"


def _text(
    x: float, y: float, text: str, anchor: str, size: int, weight: str = "normal", style: str = ""
) -> str:
    classes = f' class="{style}"' if style else ""
    return (
        f'<text{classes} x="{x:.0f}" y="{y:.0f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}" '
        f'fill="#222222">{escape(text)}</text>'
    )
