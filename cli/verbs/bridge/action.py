"""The loop of `kohort bridge`: observe, decide (`migration.bridge`) and act until nothing is left to do."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from functools import partial

from cli.errors import UsageError
from cli.output import notice, write_line
from cli.render.document import Document
from cli.selection import with_close_names
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.stopping import ignoring, raising
from cli.verbs.bridge.membership import SESSION_MS, Membership
from cli.verbs.bridge.view import BridgeEvent, BridgeReport, bridge_document, line_of
from groups.model import Cause, Group, Problem
from groups.times import duration_text
from migration.bridge import (
    LONGEST_WAIT_MS,
    BridgeProgress,
    Move,
    Step,
    bridge_plan,
    comes_first,
    objection,
    unsettled,
)
from wire.client.errors import WireError
from wire.client.security import ConnectionSettings

OBSERVE_S = 0.5
"""Time between two observations of the group."""


class BridgeStopped(Exception):
    """The bridge has stopped without a conversion; the message contains the reason."""


@dataclass(slots=True, kw_only=True)
class Bridge:
    """A `Change`: the planned actions of the bridge in a group, and their outcome."""

    source: Source
    name: str
    group: Group | None
    problems: tuple[Problem, ...]
    is_watched: bool = False
    events: list[BridgeEvent] = field(default_factory=list)
    is_converted: bool | None = None
    """Whether the group has been converted with the bridge; None means that nothing was done."""
    why_not: str | None = None

    @classmethod
    def planned(cls, source: Source, name: str, *, is_watched: bool) -> Bridge:
        """The plan for a group in its present state."""
        read = source.describe([name], offsets=False)
        found = source.with_leaders(read.items)
        return cls(
            source=source,
            name=name,
            group=found[0] if found else None,
            problems=with_close_names(source, read.problems),
            is_watched=is_watched,
        )

    @property
    def question(self) -> str:
        return f"join the group {self.name} with a member that owns nothing, to lead it"

    @property
    def objection(self) -> str | None:
        """Why nothing can be done; also None if the group could not be read."""
        return None if self.group is None else unsettled(self.group) or objection(self.group)

    @property
    def is_empty(self) -> bool:
        return self.group is None or self.objection is not None

    @property
    def refused(self) -> bool:
        return self.objection is not None or self.is_converted is False

    @property
    def done(self) -> str | None:
        return f"the group {self.name} has been converted; the bridge has left" if self.is_converted else None

    def document(self) -> Document:
        objection = self.objection if self.is_converted is None else None
        reasons = filter(None, (objection, self.why_not))
        problems = [*self.problems, *(Problem(subject=self.name, message=why) for why in reasons)]
        report = BridgeReport(
            group=self.group,
            name=self.name,
            bridge_plan=None if self.group is None or self.is_empty else bridge_plan(self.group),
            is_converted=self.is_converted,
            events=tuple(self.events),
            problems=tuple(problems),
        )
        return bridge_document(report)

    def check_again(self, *, was_asked: bool) -> None:
        """Each step of the bridge reads the group."""

    def apply(self) -> None:
        source = self.source
        if not isinstance(source, LiveSource) or source.client is None:
            raise UsageError(
                f"the bridge cannot log in to {source.name}: it uses Kohort's own client, and only librdkafka "
                "supports that login; use kafka-console-consumer.sh (the plan shows the command)"
            )
        with raising():
            self._run(source, source.settings)

    def _run(self, source: LiveSource, settings: ConnectionSettings) -> None:
        """Be a member of the group as long as the bridge has something to do."""
        progress, began = BridgeProgress(), time.monotonic()
        member: Membership | None = None
        self.is_converted = False
        try:
            step = Step(move=Move.REJOIN, why="the bridge joins")
            while step.move not in (Move.CONVERTED, Move.LEAVE):
                self._note(began, step)
                if step.move is Move.REJOIN:
                    _left(member)
                    member = self._joined(settings)
                time.sleep(OBSERVE_S)
                step = self._observed(source, progress, member)
            self._note(began, step)
            if step.move is Move.CONVERTED:
                self.is_converted = True
            else:
                self.why_not = step.why
        except (BridgeStopped, WireError) as error:
            self.why_not = str(error)
        finally:
            with ignoring():
                self._leave(member)

    def _joined(self, settings: ConnectionSettings) -> Membership:
        """Start a member that joins the group; first wait until the group is Stable, and check it again."""
        group = self._settled_group()
        why_not = objection(group)
        if why_not is not None:
            raise BridgeStopped(why_not)
        member = Membership(settings, self.name, group.protocol or "", partial(comes_first, group))
        member.start()
        return member

    def _observed(self, source: LiveSource, progress: BridgeProgress, member: Membership | None) -> Step:
        """The next step."""
        standing = member.standing if member else None
        if standing is None or standing.lost is not None:
            raise BridgeStopped("it has not joined" if standing is None else str(standing.lost))
        if standing.member is None:
            return Step(move=Move.WAIT, why="the bridge is joining")
        read = source.describe([self.name], offsets=False)
        gone = not read.items and all(each.cause is Cause.ABSENT for each in read.problems)
        if not read.items and not gone:
            raise BridgeStopped("; ".join(each.message for each in read.problems))
        group = replace(read.items[0], leader=standing.leader) if read.items else None
        now_ms = time.monotonic_ns() // 1_000_000
        return progress.next_step(group, standing.member, now_ms, withheld=standing.withheld)

    def _settled_group(self) -> Group:
        """The group, once it is Stable: a bridge that leaves for a better position starts a rebalance."""
        began = time.monotonic()
        while True:
            read = self.source.describe([self.name], offsets=False)
            if not read.items:
                raise BridgeStopped("; ".join(each.message for each in read.problems))
            why_not = unsettled(read.items[0])
            if why_not is None:
                return self.source.with_leaders(read.items)[0]
            if time.monotonic() - began > LONGEST_WAIT_MS / 1000:
                raise BridgeStopped(why_not)
            time.sleep(OBSERVE_S)

    def _note(self, began: float, step: Step) -> None:
        """Record and print a step, unless it equals the previous one."""
        if self.events and self.events[-1].step == step:
            return
        event = BridgeEvent(at_s=time.monotonic() - began, step=step)
        self.events.append(event)
        if self.is_watched:
            write_line(line_of(event))
        elif step.move in (Move.RESTART, Move.LEAD):
            notice(line_of(event))

    def _leave(self, member: Membership | None) -> None:
        why_not = member.leave() if member else None
        if why_not is not None:
            rest = f"LeaveGroup failed ({why_not}); its session expires within {duration_text(SESSION_MS)}"
            self.why_not = f"{self.why_not}. {rest}" if self.why_not else rest


def _left(member: Membership | None) -> None:
    """Leave, to rejoin with another id. :raises BridgeStopped: leaving failed"""
    why_not = member.leave() if member else None
    if why_not is not None:
        raise BridgeStopped(why_not)
