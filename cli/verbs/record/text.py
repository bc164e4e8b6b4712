"""What `kohort record` prints: a line for each rebalance and finding, and its status on a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from groups.counts import counted, first_names
from groups.history.causes import RebalanceCause
from groups.history.events import MemberRecord, PastRebalance, Protocol
from groups.history.processes import process_of
from groups.times import duration_text, format_moment

if TYPE_CHECKING:
    from cli.sources.journal.writer import JournalWriter
    from cli.verbs.record.recorder import LogRecorder


def rebalance_line(rebalance: PastRebalance, members: Mapping[str, MemberRecord]) -> str:
    at = rebalance.start if rebalance.end is None else rebalance.end
    moment = "unknown time" if at is None else format_moment(at // 1000)
    kind = "generation" if rebalance.protocol is Protocol.CLASSIC else "epoch"
    parts = [f"{rebalance.causes[0].value}{_who(rebalance, members)}"]
    parts.append(f"{rebalance.members_before} → {counted(rebalance.members, 'member')}")
    parts.append(f"{rebalance.moved} of {counted(rebalance.partitions, 'partition')} moved")
    if rebalance.start is not None and rebalance.end is not None:
        parts.append(duration_text((rebalance.end - rebalance.start) / 1000))
    return f"{moment} {rebalance.group}: {kind} {rebalance.epoch}: {', '.join(parts)}\n"


def _who(rebalance: PastRebalance, members: Mapping[str, MemberRecord]) -> str:
    known = dict(members) | {gone.member: gone.record for gone in rebalance.departures}
    cause, why = rebalance.causes[0], ""
    gone = [verdict for verdict in rebalance.verdicts if verdict.cause is cause]
    ids = [verdict.member for verdict in gone]
    if gone:
        why = f" ({gone[0].why})"
    elif cause is RebalanceCause.JOIN:
        ids = list(rebalance.joined)
    names = [process_of(known[member]).name if member in known else member for member in ids]
    return f" of {first_names(names)}{why}" if names else ""


def finding_line(document: Mapping[str, object]) -> str:
    at = document["at"]
    return f"{at} {document['group']}: {document['level']} {document['rule']}: {document['message']}\n"


def status_text(recorder: LogRecorder, rate: float, journal: JournalWriter) -> str:
    readings = recorder.progress.values()
    left = sum(max((reading.end or 0) - reading.position, 0) for reading in readings)
    unread = f"{counted(left, 'record')} not read yet" if left else "every record read"
    return (
        f"{counted(len(recorder.progress), 'partition')}, {unread}, {rate:,.0f} commits/s, "
        f"{counted(len(journal.groups), 'group')}, {journal.size / 1e6:,.1f} MB"
    )
