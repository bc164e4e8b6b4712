"""The report on a simulation: distributions by protocol and library, the costs of each setting, and failures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

from cli.render.document import table_of
from cli.render.html import table_html
from cli.render.page import PAGE_END, page_head, shortened_to, text_html
from cli.render.plots import LONGEST_NAME, PLOTS_STYLE, Bar, Share, bars_plot, legend
from groups.counts import counted

if TYPE_CHECKING:
    from pipeline.simulation import SimulationRun

Row = Mapping[str, Any]
ROWS_SHOWN = 200
"""Maximum rows of a table; the Parquet tables contain all."""
STYLES = {"as-written": "k0", "eager": "k3", "cooperative": "k4", "consumer": "k2"}
FIGURES = {
    "rebalances": "Rebalances",
    "without_owner_s": "Partition-seconds without an owner",
    "read_twice": "Records read twice",
    "converged_s": "Seconds until all groups settled",
}
_VERDICTS = {
    "held": "all invariants held",
    "known": "known weaknesses of Kafka's rules",
    "fallen": "an invariant was violated",
    "stopped": "stopped at --limit",
    "threw": "Kohort's own code failed",
}


def simulation_page(run: SimulationRun) -> str:
    """The whole page."""
    title = f"Simulation of {counted(sum(run.verdicts.values()), 'run')}"
    parts = chain(_opening(title, run), _costs(run.costs), _distributions(run.spans), _failures(run.failures))
    return "".join([page_head(title, PLOTS_STYLE), *parts, PAGE_END])


def _opening(title: str, run: SimulationRun) -> Iterator[str]:
    yield f"<h1>{text_html(title)}</h1>\n"
    yield '<ul class="figures">\n'
    for verdict, words in _VERDICTS.items():
        yield f"<li><b>{run.verdicts[verdict]:,}</b><span>{text_html(words)}</span></li>\n"
    yield "</ul>\n"


def _costs(costs: Sequence[Row]) -> Iterator[str]:
    """The costs of each scenario, protocol and settings; bars are relative to the longest time without an owner."""
    yield "<h2>What it costs</h2>\n"
    known = [row for row in costs if row["without_owner_s_median"] is not None]
    most = max((row["without_owner_s_median"] for row in known), default=0) or 1
    yield '<p class="reason">Partition-seconds without an owner, the median of all seeds:</p>\n'
    yield from _legend(known)
    yield from bars_plot(
        [
            Bar(
                name=_name(row),
                parts=[
                    Share(
                        share=row["without_owner_s_median"] / most,
                        style=STYLES[row["protocol"]],
                        title=f"{_name(row)}: {row['without_owner_s_median']:,.1f} s",
                    )
                ],
                value=f"{row['without_owner_s_median']:,.1f} s",
            )
            for row in known[:ROWS_SHOWN]
        ]
    )
    figures = [
        (f"#{words}, {of}", _figure(f"{name}_{of}"))
        for name, words in FIGURES.items()
        for of in ("median", "p95")
    ]
    yield from table_html(
        table_of(
            costs[:ROWS_SHOWN],
            ("Scenario", lambda row: shortened_to(row["scenario"], LONGEST_NAME)),
            ("Protocol", lambda row: row["protocol"]),
            ("Libraries", lambda row: row["libraries"]),
            ("Settings", lambda row: row["settings"]),
            ("#Seeds", lambda row: f"{row['seeds']:,}"),
            ("#Fell", lambda row: f"{row['fallen']:,}"),
            *figures,
        )
    )


def _distributions(spans: Sequence[Row]) -> Iterator[str]:
    """The distribution of each figure over the seeds, by protocol and library."""
    for figure, words in FIGURES.items():
        of_figure = [row for row in spans if row["figure"] == figure]
        if not of_figure:
            continue
        counts: Counter[tuple[str, str, int | None]] = Counter()
        totals: Counter[tuple[str, str]] = Counter()
        for row in of_figure:
            group = row["protocol"], row["libraries"]
            counts[(*group, row["up_to"])] += row["seeds"]
            totals[group] += row["seeds"]
        yield f"<h2>{text_html(words)}</h2>\n"
        yield from _legend(of_figure)
        limits = sorted({row["up_to"] for row in of_figure}, key=_place)
        yield from bars_plot(
            [
                _bar(group, limit, counts[(*group, limit)], totals[group])
                for limit in limits
                for group in totals
                if counts[(*group, limit)]
            ]
        )


def _bar(group: tuple[str, str], limit: int | None, count: int, total: int) -> Bar:
    span = "more, or never" if limit is None else f"up to {limit:,}"
    name = f"{span}: {group[0]}, {group[1]}"
    part = Share(
        share=count / total, style=STYLES[group[0]], title=f"{name}: {count:,} of {counted(total, 'run')}"
    )
    return Bar(name=name, parts=[part], value=f"{100 * count / total:.1f} %")


def _place(limit: int | None) -> float:
    return float("inf") if limit is None else limit


def _failures(failures: Sequence[Row]) -> Iterator[str]:
    if not failures:
        return
    yield "<h2>Seeds that failed</h2>\n"
    for row in failures:
        yield f"<h3>{text_html(_name(row))}, seed {row['seed']}: {text_html(_VERDICTS[row['verdict']])}</h3>\n"
        fell = f"{row['invariant']}: " if row["invariant"] else ""
        yield f'<p class="reason">{text_html(fell + row["message"])}</p>\n'
        yield f"<pre><code>{text_html(row['command'])}</code></pre>\n"
        if row["story"]:
            lines = "\n".join(text_html(line) for line in row["story"])
            yield f"<pre><code>{lines}</code></pre>\n"


def _legend(rows: Sequence[Row]) -> Iterator[str]:
    protocols = dict.fromkeys(row["protocol"] for row in rows)
    return legend([(STYLES[protocol], protocol, "") for protocol in protocols])


def _name(row: Row) -> str:
    parts = (row["scenario"], row["protocol"], row["libraries"], row["settings"])
    return shortened_to(", ".join(filter(None, parts)), LONGEST_NAME)


def _figure(name: str) -> Any:
    return lambda row: "-" if row[name] is None else f"{row[name]:,.4g}"
