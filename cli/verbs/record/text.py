"""What `kohort record` prints: a line for each rebalance and finding, and its status on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from groups.counts import counted, first_names
from groups.history.events import PastRebalance, Protocol
from groups.times import duration_text, format_moment

if TYPE_CHECKING:
    from cli.sources.journal.writer import JournalWriter
    from cli.verbs.record.recorder import LogRecorder

_NAMED = 3


def rebalance_line(rebalance: PastRebalance) -> str:
    at = rebalance.start if rebalance.end is None else rebalance.end
    moment = "unknown time" if at is None else format_moment(at // 1000)
    kind = "generation" if rebalance.protocol is Protocol.CLASSIC else "epoch"
    parts = [f"{rebalance.causes[0].value}{_who(rebalance)}"]
    parts.append(f"{rebalance.members_before} → {counted(rebalance.members, 'member')}")
    parts.append(f"{rebalance.moved} of {counted(rebalance.partitions, 'partition')} moved")
    if rebalance.start is not None and rebalance.end is not None:
        parts.append(duration_text((rebalance.end - rebalance.start) / 1000))
    return f"{moment} {rebalance.group}: {kind} {rebalance.epoch}: {', '.join(parts)}\n"


def _who(rebalance: PastRebalance) -> str:
    gone = [verdict for verdict in rebalance.verdicts if verdict.cause is rebalance.causes[0]]
    if gone:
        return f" of {first_names([verdict.member for verdict in gone], _NAMED)} ({gone[0].why})"
    if rebalance.joined and rebalance.causes[0].value == "join":
        return f" of {first_names(list(rebalance.joined), _NAMED)}"
    return ""


def finding_line(document: Mapping[str, object]) -> str:
    at = document["at"]
    return f"{at} {document['group']}: {document['level']} {document['rule']}: {document['message']}\n"


def status_text(recorder: LogRecorder, rate: float, journal: JournalWriter) -> str:
    readings = recorder.progress.values()
    left = sum(max((reading.end or 0) - reading.position, 0) for reading in readings)
    behind = f"{left:,} records behind" if left else "at the end"
    return (
        f"{counted(len(recorder.progress), 'partition')}, {behind}, {rate:,.0f} commits/s, "
        f"{counted(len(journal.groups), 'group')}, {journal.size / 1e6:,.1f} MB"
    )
