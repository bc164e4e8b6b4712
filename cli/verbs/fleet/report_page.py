"""A report on a fleet as one self-contained page of HTML: no script, no external font or picture.

Each part starts with a summary in words. Names of groups, topics and clients are escaped, and shortened if they are
long: the size of the page does not depend on the size of the fleet.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from cli.errors import UsageError
from cli.output import write_file
from cli.render.document import table_of
from cli.render.html import table_html
from cli.render.lanes import draw
from cli.render.page import PAGE_END, page_head, shortened_to, text_html
from cli.render.plots import LONGEST_NAME, PLOTS_STYLE, Bar, Series, Share, bars_plot, columns_plot, legend
from cli.verbs.fleet.rebalances_svg import CAUSE_STYLES, rebalances_drawing
from groups.counts import counted
from groups.times import duration_text
from pipeline.report.numbers import (
    CAUSES,
    PROTOCOLS,
    SPANS,
    STAGES,
    VERDICTS,
    GroupCost,
    GroupTimeline,
    Period,
    ProtocolCost,
    Readiness,
    Reason,
    ReportNumbers,
    ReportTotals,
)

STAGE_STYLES = ("k3", "k4", "k2")
PROTOCOL_STYLES = ("k3", "k2")
VERDICT_STYLES = ("k2", "k3", "none")
SOURCES_SHOWN = 8
HOW_READ = (
    "Times are UTC. A rebalance is a generation of a classic group, or a group epoch of one of the consumer protocol. "
    "Time rebalancing is the sum of the rebalances whose duration the log contains, and - if it contains none. Time "
    "without owner is partition-time: two partitions that have no owner for a second make two seconds."
)


def history_page(numbers: ReportNumbers) -> str:
    """The whole page, without parts for which the run has no numbers."""
    parts = chain(
        _opening(numbers),
        _rebalances(numbers),
        _worst(numbers.worst),
        *(_timeline(timeline, place) for place, timeline in enumerate(numbers.timelines)),
        _without_owner(numbers.protocols),
        *(_readiness(readiness) for readiness in numbers.readiness),
        _migration(numbers),
    )
    return "".join([page_head(_title(numbers), PLOTS_STYLE), *parts, PAGE_END])


def _title(numbers: ReportNumbers) -> str:
    if numbers.first is None or numbers.last is None:
        return "Consumer groups: readiness" if numbers.readiness else "Consumer groups: no history"
    first, last = _day(numbers.first.date()), _day(numbers.last.date())
    return f"Consumer groups, {first}" if first == last else f"Consumer groups, {first} to {last}"


def _opening(numbers: ReportNumbers) -> Iterator[str]:
    yield f"<h1>{text_html(_title(numbers))}</h1>\n"
    sources = [_name(source) for source in numbers.sources[:SOURCES_SHOWN]]
    if (more := len(numbers.sources) - len(sources)) > 0:
        sources.append(f"{more:,} more")
    origin = f" from {', '.join(sources)}" if sources else ""
    yield _note(f"Created {_time(numbers.made)}{origin}.")
    if numbers.totals is not None:
        yield from _figures(numbers.totals)
    if numbers.quarantined:
        yield _paragraph(
            f"{counted(numbers.quarantined, 'thing')} could not be read: the table quarantine names file and position."
        )
    if numbers.totals is not None:
        yield _note(HOW_READ) if numbers.totals.records else _paragraph("There are no records.")


def _figures(totals: ReportTotals) -> Iterator[str]:
    yield '<ul class="figures">\n'
    for value, name in (
        (f"{totals.records:,}", "records"),
        (f"{totals.groups:,}", "groups"),
        (f"{totals.rebalances:,}", "rebalances"),
        (_seconds(totals.rebalancing_s), "rebalancing"),
        (f"{totals.storms:,}", "storms of rebalances"),
        (f"{totals.commits:,}", "commits of offsets"),
        (f"{totals.resets:,}", "commits that set offsets back"),
        (f"{totals.zombies:,}", "members that commit nothing"),
    ):
        yield f"<li><b>{text_html(value)}</b><span>{text_html(name)}</span></li>\n"
    yield "</ul>\n"


def _rebalances(numbers: ReportNumbers) -> Iterator[str]:
    if numbers.totals is None or not numbers.periods:
        return
    each = "day" if numbers.step_days == 1 else f"{numbers.step_days} days"
    yield f"<h2>Rebalances per {each}</h2>\n"
    if not numbers.totals.rebalances:
        yield _paragraph("There were none.")
        return
    most = max(numbers.periods, key=lambda period: period.rebalances)
    yield _paragraph(
        f"Most rebalances happened {_when(most.day, numbers.step_days)}: "
        f"{most.rebalances:,} of {counted(numbers.totals.rebalances, 'rebalance')}."
    )
    by_cause = list(zip(*(period.causes for period in numbers.periods), strict=True))
    yield from columns_plot(
        f"Rebalances per {each}, by cause",
        [
            Series(name=cause, style=style, values=values, total=f"{sum(values):,}")
            for cause, style, values in zip(CAUSES, CAUSE_STYLES, by_cause, strict=True)
        ],
        [_day(period.day) for period in numbers.periods],
        [_period_title(period, numbers.step_days) for period in numbers.periods],
    )


def _period_title(period: Period, step_days: int) -> str:
    causes = ", ".join(
        f"{cause} {count:,}" for cause, count in zip(CAUSES, period.causes, strict=True) if count
    )
    head = f"{_span(period.day, step_days)}: {counted(period.rebalances, 'rebalance')}"
    return f"{head} ({causes}), {_duration_text(period.rebalancing_s)}" if period.rebalances else head


def _worst(worst: Sequence[GroupCost]) -> Iterator[str]:
    if not worst:
        return
    yield "<h2>The worst groups</h2>\n"
    first = worst[0]
    name, often = _name(first.group), counted(first.rebalances, "rebalance")
    yield _paragraph(
        f"{name} rebalanced longest: {_seconds(first.rebalancing_s)} in {often}."
        if first.rebalancing_s
        else f"The log contains no durations; {name} rebalanced most often: {often}."
        if all(group.rebalancing_s is None for group in worst)
        else f"No rebalance took any time; {name} rebalanced most often: {often}."
    )
    yield from bars_plot(_cost_bars(worst))
    stages = {group.stage for group in worst}
    yield from legend(
        [
            (style, stage or "neither", "")
            for stage, style in zip((*STAGES, None), (*STAGE_STYLES, "k0"), strict=True)
            if stage in stages
        ]
    )
    yield from table_html(
        table_of(
            worst,
            ("Group", lambda group: _name(group.group)),
            ("Type", lambda group: group.type + (f", {group.stage}" if group.stage == "mixed" else "")),
            *_numbers("Rebalances"),
            ("#Rebalancing", lambda group: _seconds(group.rebalancing_s)),
            ("#Without owner", lambda group: _seconds(group.without_owner_s)),
            *_numbers("Joined", "Left", "Storms", "Zombies"),
            ("#Members at most", lambda group: f"{group.members_most:,}"),
        )
    )


def _cost_bars(worst: Sequence[GroupCost]) -> list[Bar]:
    """Bars by time, or by number if no duration is known."""
    timed = bool(worst[0].rebalancing_s)
    lengths = [(group.rebalancing_s or 0.0) if timed else group.rebalances for group in worst]
    bars = []
    for group, length in zip(worst, lengths, strict=True):
        name = _name(group.group)
        title = f"{name}: {counted(group.rebalances, 'rebalance')}, {_duration_text(group.rebalancing_s)}"
        part = Share(
            share=length / max(lengths), style=_style(group.stage, STAGES, STAGE_STYLES), title=title
        )
        value = _seconds(group.rebalancing_s) if timed else f"{group.rebalances:,}"
        bars.append(Bar(name=group.group, parts=[part], value=value))
    return bars


def _numbers(*headings: str) -> list[tuple[str, Callable[[Any], str]]]:
    """Columns of whole numbers, from fields of the same names."""
    return [(f"#{name}", partial(_number, name.lower())) for name in headings]


def _number(field: str, item: Any) -> str:
    return f"{getattr(item, field):,}"


def _timeline(timeline: GroupTimeline, place: int) -> Iterator[str]:
    if not timeline.marks:
        return
    name = _name(timeline.group)
    yield f'<h3 class="reason">{text_html(name)}</h3>\n<figure class="drawing">\n'
    yield from draw(rebalances_drawing(timeline), f"timeline{place}")
    yield "</figure>\n"


def _without_owner(protocols: Sequence[ProtocolCost]) -> Iterator[str]:
    if not protocols:
        return
    yield "<h2>Time without owner under each protocol</h2>\n"
    yield _paragraph(
        "; ".join(
            f"{cost.protocol}: {_seconds(cost.without_owner_s / cost.rebalances)} per rebalance"
            for cost in protocols
        )
        + "."
    )
    interrupted = [cost for cost in protocols if any(cost.interruptions)]
    if interrupted:
        yield _paragraph("How long a partition had no owner, each time:")
        yield from legend(
            [
                (
                    _style(cost.protocol, PROTOCOLS, PROTOCOL_STYLES),
                    cost.protocol,
                    f"{sum(cost.interruptions):,}",
                )
                for cost in interrupted
            ]
        )
        yield from bars_plot(
            [_interruptions(cost, place, name) for place, name in enumerate(SPANS) for cost in interrupted]
        )
    yield from table_html(
        table_of(
            protocols,
            "Protocol",
            *_numbers("Groups", "Rebalances"),
            ("#Median", lambda cost: _seconds(cost.median_s)),
            ("#95th percentile", lambda cost: _seconds(cost.p95_s)),
            ("#Longest", lambda cost: _seconds(cost.longest_s)),
            *_numbers("Moved", "Revoked"),
            ("#Without owner", lambda cost: _seconds(cost.without_owner_s)),
        )
    )


def _interruptions(cost: ProtocolCost, place: int, name: str) -> Bar:
    count, total = cost.interruptions[place], sum(cost.interruptions)
    part = Share(
        share=count / total,
        style=_style(cost.protocol, PROTOCOLS, PROTOCOL_STYLES),
        title=f"{cost.protocol}, {name}: {count:,} of {total:,}",
    )
    return Bar(name=f"{name}, {cost.protocol}", parts=[part], value=f"{count:,}")


def _readiness(readiness: Readiness) -> Iterator[str]:
    yield f"<h2>Readiness for {text_html(_name(readiness.destination))}</h2>\n"
    open_groups = readiness.groups - readiness.arrived
    yield _paragraph(
        f"{counted(readiness.groups, 'group')}, of which {readiness.arrived:,} are already migrated."
        if readiness.arrived
        else f"{counted(readiness.groups, 'group')}."
    )
    if not open_groups:
        return
    verdicts = list(zip(VERDICTS, VERDICT_STYLES, readiness.verdicts, strict=True))
    yield from legend([(style, verdict, f"{count:,}") for verdict, style, count in verdicts])
    parts = [
        Share(share=count / open_groups, style=style, title=f"{verdict}: {count:,} of {open_groups:,}")
        for verdict, style, count in verdicts
    ]
    yield from bars_plot([Bar(name="To be migrated", parts=parts, value=f"{open_groups:,}")])
    yield from _reasons(readiness.reasons)
    if readiness.first:
        yield "<h3>Which to migrate first</h3>\n"
        yield from table_html(
            table_of(
                readiness.first,
                "#Rank",
                ("Group", lambda group: _name(group.group)),
                ("Cluster", lambda group: _name(group.cluster or group.source)),
                "Verdict",
                ("Path", lambda group: group.path and _name(group.path)),
                *("#Restarts", "#Moved"),
                ("#Gain", lambda group: _seconds(group.gain_s)),
                "#Risk",
            )
        )
        yield _note(
            "Gain is the partition-time without owner that a restart of one member costs less at the destination."
        )


def _reasons(reasons: Sequence[Reason]) -> Iterator[str]:
    if not reasons:
        return
    yield "<h3>By reason</h3>\n"
    most = max(reason.groups for reason in reasons)
    styles = {"blocker": "none", "warning": "k3"}
    bars = []
    for reason in reasons:
        title = f"{_name(reason.rule)}: {counted(reason.groups, 'group')}"
        part = Share(share=reason.groups / most, style=styles.get(reason.level, "k0"), title=title)
        name = f"{_name(reason.rule)} ({reason.level})"
        bars.append(Bar(name=name, parts=[part], value=f"{reason.groups:,}"))
    yield from bars_plot(bars)
    yield from table_html(
        table_of(
            reasons,
            ("Reason", lambda reason: _name(reason.rule)),
            "Level",
            *_numbers("Groups"),
            ("For example", lambda reason: _name(reason.example)),
            ("Finding", lambda reason: shortened_to(reason.message, 5 * LONGEST_NAME)),
        )
    )


def _migration(numbers: ReportNumbers) -> Iterator[str]:
    if not any(sum(period.stages) for period in numbers.periods):
        return
    yield "<h2>Migration to the consumer protocol</h2>\n"
    last = numbers.periods[-1]
    arrived, total = last.stages[STAGES.index("consumer")], sum(last.stages)
    yield _paragraph(
        f"At the end {arrived:,} of {counted(total, 'group')} of consumers used the consumer protocol, and "
        f"{last.stages[STAGES.index('mixed')]:,} had members of both protocols."
    )
    by_stage = list(zip(*(period.stages for period in numbers.periods), strict=True))
    yield from columns_plot(
        "Groups by stage of migration",
        [
            Series(name=stage, style=style, values=values, total=f"{values[-1]:,}")
            for stage, style, values in zip(STAGES, STAGE_STYLES, by_stage, strict=True)
        ],
        [_day(period.day) for period in numbers.periods],
        [
            f"{_span(period.day, numbers.step_days)}: "
            + ", ".join(f"{stage} {count:,}" for stage, count in zip(STAGES, period.stages, strict=True))
            for period in numbers.periods
        ],
    )


def _name(text: str) -> str:
    """A shortened name of a group, topic or client."""
    return shortened_to(text, LONGEST_NAME)


def _style(kind: str | None, kinds: Sequence[str], styles: Sequence[str]) -> str:
    return styles[kinds.index(kind)] if kind in kinds else "k0"


def _paragraph(text: str) -> str:
    return f'<p class="reason">{text_html(text)}</p>\n'


def _note(text: str) -> str:
    return f'<p class="note reason">{text_html(text)}</p>\n'


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else duration_text(round(seconds * 1000))


def _duration_text(seconds: float | None) -> str:
    return "duration not known" if seconds is None else _seconds(seconds)


def _day(day: date) -> str:
    return f"{day.day} {day:%b} {day.year}"


def _span(day: date, step_days: int) -> str:
    """The days of a column; the last may be after the end of the log."""
    if step_days == 1:
        return _day(day)
    last = min(step_days - 1, (date.max - day).days)
    return f"{_day(day)} to {_day(day + timedelta(days=last))}"


def _when(day: date, step_days: int) -> str:
    return f"on {_day(day)}" if step_days == 1 else f"from {_span(day, step_days)}"


def _time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def check_writable(option: str, file: Path) -> None:
    """UsageError if a file cannot be written; called before the run, which may take hours."""
    if file.is_dir():
        raise UsageError(f"{option} {file}: is a directory; name a file in it")
    if not file.absolute().parent.is_dir():
        raise UsageError(f"{option} {file}: the directory {file.parent} does not exist")


def write_report(file: Path, page: Callable[[], str], data: Callable[[], Mapping[str, Any]]) -> None:
    """Write a page, or the same as data if the name ends in .json. :raises CommandError: it cannot be written"""
    if file.suffix.lower() == ".json":
        import json

        write_file(file, [json.dumps(data(), indent=2, ensure_ascii=False), "\n"])
    else:
        write_file(file, [page()])
