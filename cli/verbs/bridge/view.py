"""The document of `kohort bridge`, and its steps as lines."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cli.render.document import Block, Document, Heading, Table, Text, columns
from groups.model import Group, Problem
from migration.bridge import BridgePlan, Restart, Step


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeEvent:
    """A step, and when it started: seconds since the start of the bridge."""

    at_s: float
    step: Step


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgeReport:
    """The report of a bridge, before its start or after its end."""

    group: Group | None
    name: str
    bridge_plan: BridgePlan | None
    is_converted: bool | None
    events: tuple[BridgeEvent, ...]
    problems: tuple[Problem, ...]


def bridge_document(report: BridgeReport) -> Document:
    """The current leader, and the steps until the bridge leads."""
    return Document(
        command="bridge", data=_data(report), blocks=list(_blocks(report)), errors=report.problems
    )


def _data(report: BridgeReport) -> dict[str, Any]:
    group, found = report.group, report.bridge_plan
    return {
        "group": report.name,
        "type": group and group.type.value,
        "state": group and group.state.value,
        "protocol": group and group.protocol,
        "leader": found and found.leader,
        "members_with_user_data": found and found.with_user_data,
        "places": found and found.places,
        "bins": found and found.bins,
        "restart": None
        if found is None or found.restart is None or group is None
        else [_restart(group, each) for each in found.restart],
        "converted": report.is_converted,
        "steps": [
            {
                "at_s": round(each.at_s, 1),
                "move": each.step.move.value,
                "why": each.step.why,
                "restart": [one.member for one in each.step.restart],
            }
            for each in report.events
        ],
    }


def _restart(group: Group, restart: Restart) -> dict[str, Any]:
    member = next(each for each in group.members if each.id == restart.member)
    return {
        "id": member.id,
        "instance": member.instance,
        "client_id": member.client.id,
        "host": member.client.host,
        "manner": restart.mode.value,
        "why": restart.why,
    }


def _blocks(report: BridgeReport) -> Iterator[Block]:
    group, found = report.group, report.bridge_plan
    if group is None or found is None:
        return
    yield Heading(f"{group.id}: steps until a bridge leads", level=1)
    yield Text(f"{_leader(group, found)} {_user_data(found)}")
    if found.restart is None:
        yield Text(f"The members to restart are shown when the bridge has joined: {found.why}.")
    else:
        rows = [
            (number, *(each[name] for name in ("manner", "client_id", "id", "host", "why")))
            for number, each in enumerate((_restart(group, each) for each in found.restart), 1)
        ]
        names = ("#ORDER", "ACTION", "CLIENT-ID", "CONSUMER-ID", "HOST", "WHY")
        yield Table(columns=columns(*names), rows=rows)
    yield Text(
        "The bridge joins, is assigned nothing, and leads once the members above have restarted. Then start the first "
        "member of the consumer protocol: the bridge leaves when the group is converted and Stable."
    )


def _leader(group: Group, found: BridgePlan) -> str:
    names = {member.id: member.client.id or member.id for member in group.members}
    leader = (
        "The present leader is not known." if found.leader is None else f"{names[found.leader]} leads now."
    )
    if found.bins is None:
        return leader
    return f"{leader} {found.places} of {found.bins} places in the order of succession come before all followers."


def _user_data(found: BridgePlan) -> str:
    if found.with_user_data is None:
        return ""
    return f"Assignments that carry user data: {found.with_user_data}."


def line_of(event: BridgeEvent) -> str:
    """`12.5 s  restart: the bridge leads next (restart app-1-…)`."""
    restarts = ", then ".join(f"{each.mode.value} {each.member}" for each in event.step.restart)
    return f"{event.at_s:6.1f} s  {event.step.move.value}: {event.step.why}{f'. Now {restarts}' if restarts else ''}"
