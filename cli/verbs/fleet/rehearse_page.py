"""The report on a fleet's rehearsals: the order of migration, its costs by setting, and unsafe plans."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from cli.render.document import table_of
from cli.render.html import table_html
from cli.render.page import PAGE_END, page_head, shortened_to, text_html
from cli.render.plots import LONGEST_NAME, PLOTS_STYLE, Bar, Share, bars_plot
from groups.counts import counted
from groups.times import duration_text

if TYPE_CHECKING:
    from pipeline.rehearsal import RehearsalRun

Row = Mapping[str, Any]
ROWS_SHOWN = 200
"""Maximum rows of a table, over all settings; the Parquet tables contain all."""
BARS_SHOWN = 20
LINES_SHOWN = 60
"""Maximum lines of a story: the last ones."""
_LONGEST_LINE = 5 * LONGEST_NAME
VERDICTS = {
    "safe": "safe",
    "unsafe": "unsafe",
    "blocked": "blocked",
    "unplayable": "cannot be rehearsed",
    "arrived": "already migrated",
    "threw": "Kohort's own code failed",
}
_DESTINATIONS = {"cooperative": "cooperative rebalancing", "consumer": "the consumer protocol"}
_AS_FOUND = "as found"
"""The name of the settings if none is varied."""
_HOW_READ = (
    "Each figure is the worst of all seeds. Partition-seconds without an owner: two partitions that have no owner for "
    "a second make two seconds. Duration is from the first stop of each round to its open gate, added up."
)


def rehearsal_page(run: RehearsalRun) -> str:
    """The whole page."""
    rows = run.rehearsals
    groups = len({(row["source"], row["group"]) for row in rows})
    by_settings: dict[str, list[Row]] = {}
    for row in rows:
        by_settings.setdefault(row["settings"], []).append(row)
    to = f", to {_DESTINATIONS[rows[0]['destination']]}" if rows else ""
    title = f"Rehearsals of {counted(groups, 'group')}{to}"
    parts = chain(
        _opening(title, rows, len(by_settings)),
        _settings(by_settings) if len(by_settings) > 1 else (),
        *(_order(settings, of_them, len(by_settings)) for settings, of_them in by_settings.items()),
        _not_safe(rows, len(by_settings)),
        _failures(run.failures),
        _not_read(run.quarantined),
    )
    return "".join([page_head(title, PLOTS_STYLE), *parts, PAGE_END])


def _opening(title: str, rows: Sequence[Row], settings: int) -> Iterator[str]:
    counts = Counter(row["verdict"] for row in rows)
    yield f"<h1>{text_html(title)}</h1>\n"
    seeds = max((row["seeds"] for row in rows), default=0)
    under = f" under each of {settings} settings" if settings > 1 else ""
    yield _paragraph(
        f"Every group was planned from its snapshot, and its plan rehearsed with {counted(seeds, 'seed')}{under}."
        f"{' These are counts of plans: one for each group and settings.' if settings > 1 else ''}"
    )
    yield '<ul class="figures">\n'
    for verdict, words in VERDICTS.items():
        yield f"<li><b>{counts[verdict]:,}</b><span>{text_html(words)}</span></li>\n"
    yield "</ul>\n"
    yield f'<p class="note reason">{text_html(_HOW_READ)}</p>\n'


def _settings(by_settings: Mapping[str, Sequence[Row]]) -> Iterator[str]:
    """The costs of each setting for the groups that are safe under every setting with any safe group."""
    safe = {
        settings: {(row["source"], row["group"]): row for row in rows if row["verdict"] == "safe"}
        for settings, rows in by_settings.items()
    }
    compared = [set(rows) for rows in safe.values() if rows]
    common = sorted(set.intersection(*compared)) if compared else []
    yield "<h2>What each setting costs</h2>\n"
    yield _paragraph(
        f"Of {counted(len(common), 'group')}, one after the other: the median of all seeds. Only groups "
        "count that are safe under every setting with any safe group."
    )
    sums = [
        {
            "name": _of_settings(settings),
            "safe": len(rows),
            "unsafe": sum(row["verdict"] == "unsafe" for row in by_settings[settings]),
            **{
                figure: sum(rows[group][f"{figure}_median"] for group in common) if rows else None
                for figure in ("rebalances", "moved", "without_owner_s", "read_twice", "duration_s")
            },
        }
        for settings, rows in safe.items()
    ]
    if common:
        yield "<h3>Partition-seconds without an owner</h3>\n"
        known = [each for each in sums if each["safe"]]
        yield from _bars(known, "without_owner_s", lambda each: each["name"], _seconds)
        yield "<h3>Duration</h3>\n"
        yield from _bars(known, "duration_s", lambda each: each["name"], _duration_cell)
    yield from table_html(
        table_of(
            sums[:ROWS_SHOWN],
            ("Settings", lambda each: each["name"]),
            *_counts("Safe", "Unsafe"),
            *(_figures() if common else ()),
        )
    )


def _order(settings: str, rows: Sequence[Row], of_settings: int) -> Iterator[str]:
    """The safe groups, cheapest first, and their total costs."""
    safe = [row for row in rows if row["verdict"] == "safe"]
    if not safe and of_settings > 1:
        return
    under = f": {_of_settings(settings)}" if of_settings > 1 else ""
    yield f"<h2>Order of migration{text_html(under)}</h2>\n"
    if not safe:
        yield _paragraph("No group is safe.")
        return
    shown = safe[: max(1, ROWS_SHOWN // of_settings)]
    yield _paragraph(
        f"{counted(len(safe), 'group')}, one after the other: "
        f"{_duration_cell(sum(row['duration_s'] for row in safe))} from the first stop to the last open gate, "
        f"{_seconds(sum(row['without_owner_s'] for row in safe))} without an owner over all partitions, "
        f"{counted(sum(row['read_twice'] for row in safe), 'record')} read twice. "
        "Groups whose plans have the fewest warnings come first, of these the cheapest."
    )
    yield from _bars(
        shown[:BARS_SHOWN],
        "without_owner_s",
        lambda row: f"{row['rank']}. {_short(row['group'])}",
        _seconds,
    )
    yield from table_html(
        table_of(
            shown,
            ("#Rank", lambda row: row["rank"]),
            ("Group", lambda row: _short(row["group"])),
            *_clusters(shown),
            ("Path", lambda row: row["path"] and _short(row["path"])),
            *_counts("Warnings", "Members", "Rounds"),
            *_figures(),
        )
    )


def merged(rows: Sequence[Row], settings: int) -> list[Row]:
    """The rows, with a single one for a result that is the same under all settings."""
    alike: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        what = row["source"], row["group"], row["verdict"], tuple(row["why"]), row["seeds"], row["unsafe"]
        alike.setdefault(what, []).append(row)
    every = {"settings": "every"} if settings > 1 else {}
    return [
        row for same in alike.values() for row in ([{**same[0], **every}] if len(same) == settings else same)
    ]


def _not_safe(rows: Sequence[Row], settings: int) -> Iterator[str]:
    others = [row for row in rows if row["verdict"] not in ("safe", "arrived")]
    if not others:
        return
    yield "<h2>Not safe</h2>\n"
    yield _paragraph(
        "A plan is unsafe where, from some seed, a gate opens too early or stays closed, or an invariant is violated. "
        "It is blocked where a rule of the plan forbids it."
    )
    order = ("threw", "unsafe", "unplayable", "blocked")
    others = sorted(merged(others, settings), key=lambda row: order.index(row["verdict"]))
    yield from table_html(
        table_of(
            others[:ROWS_SHOWN],
            ("Group", lambda row: _short(row["group"])),
            *_clusters(others),
            *((("Settings", lambda row: _of_settings(row["settings"])),) if settings > 1 else ()),
            ("Verdict", lambda row: VERDICTS[row["verdict"]]),
            ("#Unsafe seeds", lambda row: f"{row['unsafe']:,} of {row['seeds']:,}" if row["seeds"] else "-"),
            ("Why", _reasons),
        )
    )


def _failures(failures: Sequence[Row]) -> Iterator[str]:
    if not failures:
        return
    yield "<h2>What happened</h2>\n"
    yield _paragraph(
        "The first seed that failed of each group and settings, and the commands that replay it."
    )
    for row in failures:
        settings = _of_settings(row["settings"]) if row["settings"] else ""
        name = ", ".join(filter(None, (_short(row["group"]), settings)))
        yield f"<h3>{text_html(name)}, seed {row['seed']}: {text_html(VERDICTS[row['verdict']])}</h3>\n"
        yield _paragraph(_reasons(row))
        yield _code(row["commands"])
        if row["story"]:
            yield _code([shortened_to(line, _LONGEST_LINE) for line in row["story"][-LINES_SHOWN:]])


def _not_read(quarantined: Sequence[Row]) -> Iterator[str]:
    if quarantined:
        yield "<h2>Not read</h2>\n"
        yield from table_html(
            table_of(
                quarantined[:ROWS_SHOWN],
                ("File", lambda row: _short(row["file"])),
                ("Why", lambda row: shortened_to(row["reason"], _LONGEST_LINE)),
            )
        )


def _clusters(rows: Sequence[Row]) -> list[tuple[str, Callable[[Row], str]]]:
    """A column of clusters if there are several."""

    def cluster(row: Row) -> str:
        return _short(row["cluster"] or row["source"])

    return [("Cluster", cluster)] if len(set(map(cluster, rows))) > 1 else []


def _bars(
    rows: Sequence[Row], figure: str, name: Callable[[Row], str], shown: Callable[[float | None], str]
) -> Iterator[str]:
    most = max((row[figure] for row in rows), default=0) or 1
    return bars_plot(
        [
            Bar(
                name=name(row),
                parts=[
                    Share(share=row[figure] / most, style="k2", title=f"{name(row)}: {shown(row[figure])}")
                ],
                value=shown(row[figure]),
            )
            for row in rows
        ]
    )


def _counts(*headings: str) -> list[tuple[str, Callable[[Row], str]]]:
    """Columns of whole numbers, named after their fields."""

    def column(heading: str) -> tuple[str, Callable[[Row], str]]:
        name = heading.lower().replace(" ", "_")
        return f"#{heading}", lambda row: "-" if row[name] is None else f"{row[name]:,}"

    return [column(heading) for heading in headings]


def _figures() -> list[tuple[str, Callable[[Row], str]]]:
    return [
        *_counts("Rebalances", "Moved"),
        ("#Without owner", lambda row: _seconds(row["without_owner_s"])),
        *_counts("Read twice"),
        ("#Duration", lambda row: _duration_cell(row["duration_s"])),
    ]


def _seconds(seconds: float | None) -> str:
    return "-" if seconds is None else f"{seconds:,.1f} s"


def _duration_cell(seconds: float | None) -> str:
    return "-" if seconds is None else duration_text(round(seconds) * 1000)


def _reasons(row: Row) -> str:
    return shortened_to("; ".join(row["why"]), _LONGEST_LINE)


def _of_settings(settings: str) -> str:
    return shortened_to(settings or _AS_FOUND, 3 * LONGEST_NAME)


def _short(name: str) -> str:
    return shortened_to(name, LONGEST_NAME)


def _paragraph(text: str) -> str:
    return f'<p class="reason">{text_html(text)}</p>\n'


def _code(lines: Sequence[str]) -> str:
    text = "\n".join(map(text_html, lines))
    return f"<pre><code>{text}</code></pre>\n"
