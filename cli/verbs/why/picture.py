"""The picture of what happened: the rebalances by cause, when partitions were not read, and the owners of partitions
over time, as `kohort watch` draws them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from cli.render import lanes as draw
from cli.render.document import Picture
from cli.verbs.watch.event_text import clock_text
from cli.verbs.watch.picture import HEIGHT, LEFT, RIGHT, OwnershipHistory, Run, owner_lanes
from groups.counts import counted
from groups.history.account import Account, Explained
from groups.history.causes import RebalanceCause
from groups.history.events import Place
from groups.history.headline import main_part
from groups.history.pauses import ReadingPause
from groups.history.stories import reasons
from groups.history.storms import begin_of
from groups.times import duration_text, format_moment

STYLE_OF_CAUSE: Mapping[RebalanceCause, str] = {
    RebalanceCause.JOIN: "k1",
    RebalanceCause.LEAVE: "k3",
    RebalanceCause.EXPIRY: "k5",
    RebalanceCause.SUBSCRIPTION: "k2",
    RebalanceCause.METADATA: "k7",
    RebalanceCause.ASSIGNOR: "k4",
    RebalanceCause.CONVERSION: "k6",
    RebalanceCause.UNKNOWN: "k0",
}
_LEAST_WIDTH = 4.0  # of a rebalance
_LEAST_MARGIN_MS = 10_000
MOST_SHOWN = 100


def picture_of(account: Account) -> Picture:
    """The picture of a group's page, and its text."""
    places = {span.place for span in account.holdings}
    shown, count = len(shown_part(account)), len(account.rebalances)
    rebalances = counted(count, "rebalance") if shown == count else f"{shown:,} of {count:,} rebalances"
    text = f"The owners of {counted(len(places), 'partition')}, and {rebalances}."
    return Picture(text=text, drawing=lambda: drawing_of([account]))


def drawing_of(accounts: Sequence[Account]) -> draw.Drawing:
    """The pictures of groups that rebalanced, one below the other, over the same times."""
    drawn = [account for account in accounts if account.rebalances]
    shown = {account.group: shown_part(account) for account in drawn}
    axis = _axis([one for part in shown.values() for one in part])
    causes = {one.rebalance.causes[0] for part in shown.values() for one in part}
    legend = [(style, cause.value) for cause, style in STYLE_OF_CAUSE.items() if cause in causes]
    others = (
        (draw.NONE, "no owner", any(span.member is None for account in drawn for span in account.holdings)),
        (draw.AWAY, "not read", any(one.pauses for part in shown.values() for one in part)),
    )
    lanes = [lane for account in drawn for lane in _lanes(account, shown[account.group], axis)]
    names = ", ".join(account.group for account in drawn)
    when = f"{format_moment(int(axis.start))} to {format_moment(int(axis.end))}"
    return draw.Drawing(
        title=f"{names}: owners and rebalances" if drawn else "no rebalances",
        text=when,
        axis=axis,
        legend=[*legend, *((style, text) for style, text, is_shown in others if is_shown)],
        lanes=lanes or (draw.Lane(height=20, texts=(draw.Label("no rebalances", y=12, style=""),)),),
    )


def shown_part(account: Account) -> Sequence[Explained]:
    """The rebalances that are drawn: those that the headline is about, at most `MOST_SHOWN`."""
    return main_part(account)[:MOST_SHOWN]


def _axis(explained: Sequence[Explained]) -> draw.Axis:
    """From a little before the first rebalance, or the first partition that was not read, until after the last."""
    times = [time for one in explained for time in _times(one)]
    start_ms, end_ms = (min(times) // 1000, max(times) // 1000) if times else (0, 1)
    margin_ms = max((end_ms - start_ms) // 20, _LEAST_MARGIN_MS)
    start_ms, end_ms = start_ms - margin_ms, end_ms + margin_ms
    unit = (draw.WIDTH - LEFT - RIGHT) / (end_ms - start_ms)
    return draw.Axis(left=LEFT, start=start_ms, end=end_ms, unit=unit)


def _times(one: Explained) -> Iterator[int]:
    yield begin_of(one.rebalance)
    yield one.rebalance.end or begin_of(one.rebalance)
    for pause in one.pauses:
        yield pause.since
        yield pause.since if pause.until is None else pause.until


def _lanes(account: Account, explained: Sequence[Explained], axis: draw.Axis) -> Iterator[draw.Lane]:
    yield draw.Lane(
        height=22, texts=(draw.Label(draw.shortened(account.group, draw.WIDTH), y=14, style="strong"),)
    )
    marks = [_mark(one, axis) for one in explained]
    yield draw.Lane(height=HEIGHT, texts=(draw.Label("rebalances", y=13),), spans=marks)
    if pauses := {pause for one in explained for pause in one.pauses}:
        spans = list(_unread(pauses, account.until))
        yield draw.Lane(height=HEIGHT, texts=(draw.Label("not read", y=13),), spans=spans)
    runs = {place: tuple(spans) for place, spans in _runs(account, axis).items()}
    rules = [begin_of(one.rebalance) // 1000 for one in explained]
    yield from owner_lanes(OwnershipHistory.of(runs), axis, rules)
    yield draw.Lane(height=12)


def _mark(one: Explained, axis: draw.Axis) -> draw.Box:
    rebalance = one.rebalance
    start, end = begin_of(rebalance) // 1000, (rebalance.end or begin_of(rebalance)) // 1000
    title = f"{clock_text(start)} UTC, epoch {rebalance.epoch}: {'; '.join(reasons([one]))}"
    width = _LEAST_WIDTH / axis.unit
    style = STYLE_OF_CAUSE[rebalance.causes[0]]
    return draw.Box(
        start=start, end=max(end, start + width), style=style, title=title, top=1, height=HEIGHT - 3
    )


def _unread(pauses: Iterable[ReadingPause], end: int) -> Iterator[draw.Box]:
    """The times in which any partition was not read."""
    merged: list[tuple[int, int, set[Place]]] = []
    for pause in sorted(pauses, key=lambda pause: pause.since):
        until = end if pause.until is None else pause.until
        if merged and pause.since <= merged[-1][1]:
            start, end, places = merged[-1]
            merged[-1] = start, max(end, until), places | {pause.place}
        else:
            merged.append((pause.since, until, {pause.place}))
    for since, until, places in merged:
        title = (
            f"{counted(len(places), 'partition')} not read, for up to {duration_text((until - since) / 1000)}"
        )
        yield draw.Box(
            start=since // 1000, end=until // 1000, style=draw.AWAY, title=title, top=1, height=HEIGHT - 3
        )


def _runs(account: Account, axis: draw.Axis) -> dict[Place, list[Run]]:
    runs: dict[Place, list[Run]] = {}
    for span in account.holdings:
        start = max(span.since // 1000, int(axis.start))
        end = int(axis.end) if span.until is None else min(span.until // 1000, int(axis.end))
        if end > start:
            owner = None if span.member is None else account.name_of(span.member)
            runs.setdefault(span.place, []).append(Run(start, end, owner))
    return runs
