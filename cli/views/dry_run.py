"""The document of `kohort dry-run`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from assignors.diff import Balance, MemberDiff
from assignors.model import Partitions, Undetermined
from assignors.registry import Side
from cli.render.cells import partitions_text
from cli.render.document import Block, Document, Heading, Table, Text, columns
from coordinator.dry_run import DryRun
from coordinator.model import Problem


def dry_run_document(runs: Sequence[DryRun], problems: tuple[Problem, ...]) -> Document:
    """Per group: a sentence, the rebalances, and what changes for each member."""
    blocks = [block for run in runs for block in _blocks(run)]
    return Document(
        command="dry-run", data={"groups": [_data(run) for run in runs]}, blocks=blocks, errors=problems
    )


def _data(run: DryRun) -> dict[str, Any]:
    return {
        "group": run.group,
        "assignor": run.assignor,
        "side": run.side.value,
        "rebalances": [
            {
                "assignment": {member: _plain(owned) for member, owned in rebalance.assignment.items()},
                "moved": rebalance.moved,
                "revoked": rebalance.revoked,
                "without_owner": rebalance.without_owner,
            }
            for rebalance in run.rebalances
        ],
        "minimum_moved": run.minimum_moved,
        "balance": {"before": _balance_data(run.before), "after": _balance_data(run.after)},
        "members": [_member_data(member) for member in run.members],
        "undetermined": [_undetermined_data(run, item) for item in run.undetermined],
    }


def _undetermined_data(run: DryRun, item: Undetermined) -> dict[str, str]:
    is_member = any(member.id == item.subject for member in run.members)
    return {"member" if is_member else "partition": item.subject, "why": item.why}


def _balance_data(balance: Balance) -> dict[str, Any]:
    return {
        "least": balance.least,
        "most": balance.most,
        "spread": balance.spread,
        "standard_deviation": round(balance.standard_deviation, 4),
    }


def _member_data(member: MemberDiff) -> dict[str, Any]:
    return {
        "id": member.id,
        "before": _plain(member.before),
        "after": _plain(member.after),
        "kept": _plain(member.kept),
        "gained": _plain(member.gained),
        "lost": _plain(member.lost),
    }


def _plain(partitions: Partitions) -> dict[str, list[int]]:
    return {topic: list(partitions[topic]) for topic in sorted(partitions) if len(partitions[topic])}


def _blocks(run: DryRun) -> Iterator[Block]:
    where = "on the broker" if run.side is Side.BROKER else "at the leader"
    yield Heading(f"{run.group}: {run.assignor} {where}")
    yield Text(_summary(run))
    rows = [
        (number, rebalance.moved, rebalance.revoked, rebalance.without_owner)
        for number, rebalance in enumerate(run.rebalances, 1)
    ]
    yield Table(columns=columns("#REBALANCE", "#MOVED", "#REVOKED", "#WITHOUT-OWNER"), rows=rows)
    yield Table(
        columns=columns("MEMBER", "#BEFORE", "#AFTER", "#KEPT", "GAINED", "LOST"),
        rows=[
            (
                member.id,
                _count(member.before),
                _count(member.after),
                _count(member.kept),
                partitions_text(member.gained),
                partitions_text(member.lost),
            )
            for member in run.members
        ],
    )
    if run.undetermined:
        yield Table(
            columns=columns("UNDETERMINED", "WHY"),
            rows=[(item.subject, item.why) for item in run.undetermined],
        )


def _summary(run: DryRun) -> str:
    moved = sum(rebalance.moved for rebalance in run.rebalances)
    owned = sum(_count(member.before) for member in run.members)
    share = f" ({100 * moved / owned:.0f} %)" if owned else ""
    fewest = "" if run.minimum_moved is None else f"; no even assignment moves fewer than {run.minimum_moved}"
    return (
        f"{moved} of {owned} partitions change hands{share}{fewest}. "
        f"Partitions per member: {run.before.least} to {run.before.most} before, "
        f"{run.after.least} to {run.after.most} after."
    )


def _count(partitions: Mapping[str, Sequence[int]]) -> int:
    return sum(map(len, partitions.values()))
