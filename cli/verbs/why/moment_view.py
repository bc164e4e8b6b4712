"""The state of a group at one moment, as text."""

from collections.abc import Iterator

from cli.render.cells import Cell, partitions_text
from cli.render.document import Block, Bullets, Table, Text, columns
from cli.render.lines import Role
from cli.verbs.why.data import moment_text, partitions_of
from groups.history.account import Account
from groups.history.events import Holding, Protocol
from groups.history.moment import Awaited, Moment, PastWait
from groups.history.stories import reasons
from groups.history.storms import begin_of
from groups.times import duration_text

_EPOCH = {Protocol.CLASSIC: "generation", Protocol.CONSUMER: "epoch"}


def moment_blocks(moment: Moment, account: Account) -> Iterator[Block]:
    """What the group did and waited for, and the owners of its partitions."""
    role = Role.WARNING if moment.in_progress or moment.waits else Role.PLAIN
    yield Text(f"{account.group} at {moment_text(moment.at)}: {_state(moment)}.", role)
    if moment.waits:
        yield Bullets(tuple(_wait(wait, moment, account) for wait in moment.waits))
    spans: dict[tuple[str | None, int, int | None], list[Holding]] = {}
    for span in moment.owners:
        spans.setdefault((span.member, span.since, span.until), []).append(span)
    rows: list[list[Cell]] = []
    for (member, since, until), held in spans.items():
        partitions = partitions_text(partitions_of([span.place for span in held]))
        rows.append(
            [
                None if member is None else account.name_of(member),
                len(held),
                partitions,
                moment_text(since),
                moment_text(until),
            ]
        )
    yield Table(columns=columns("MEMBER", "##PARTITIONS", "CURRENT-ASSIGNMENT", "SINCE", "UNTIL"), rows=rows)


def _state(moment: Moment) -> str:
    if moment.last is None:
        return "no rebalance before is in the records" + ("" if moment.owners else ", and no owner is known")
    rebalance = moment.last.rebalance
    name = f"{_EPOCH[rebalance.protocol]} {rebalance.epoch:,}" if rebalance.epoch else "the last one ended"
    why = "; ".join(reasons([moment.last]))
    begin = begin_of(rebalance)
    if not moment.in_progress:
        since = rebalance.end or begin
        return f"no rebalance was in progress; {name} since {moment_text(since)} ({why})"
    lasted = duration_text(max(moment.at - begin, 0) / 1000)
    ended = (
        "its end is not in the records"
        if rebalance.end is None
        else f"it ended at {moment_text(rebalance.end)}"
    )
    return f"in a rebalance for {lasted}, {name} ({why}); {ended}"


def _wait(wait: PastWait, moment: Moment, account: Account) -> str:
    who = "its next owner" if wait.member is None else account.name_of(wait.member)
    partitions = partitions_text(partitions_of(wait.places))
    after = None if wait.until is None else duration_text(max(wait.until - moment.at, 0) / 1000)
    took = "which is not in the records" if after is None else f"which took another {after}"
    match wait.awaited:
        case Awaited.ASSIGNMENT:
            return f"It waited for the assignment of its leader, {took}."
        case Awaited.REVOCATION:
            return f"It waited for {who} to revoke {partitions}, {took}."
        case Awaited.OWNER:
            return f"{partitions} had no owner: it waited for {who}, {took}."
    silent = duration_text(max(moment.at - wait.since, 0) / 1000)
    return f"{who} owned {partitions} but had not committed for {silent}; it was removed {after} later."
