"""What `kohort bridge` does: observe, decide (`migration.bridge`), act, until there is nothing left to do."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial

from cli.errors import UsageError
from cli.output import notice, write_line
from cli.render.document import Document
from cli.selection import with_close_names
from cli.sources.live import LiveSource
from cli.sources.source import Source
from cli.verbs.bridge.membership import SESSION_MS, Membership
from cli.verbs.bridge.view import Account, Noted, bridge_document, line_of
from groups.model import Cause, Group, Problem
from migration.bridge import LONGEST_WAIT_MS, Crossing, Move, Step, comes_first, objection, outlook, unrest
from wire.client.errors import WireError
from wire.client.security import ConnectionSettings

OBSERVE_S = 0.5
"""How often the group is observed."""
_ENDINGS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))


class Ended(Exception):
    """The bridge is over; the message says why it did not do what it is for."""


@dataclass(slots=True, kw_only=True)
class Bridge:
    """A `Change`: what the bridge would do to a group, and what became of it."""

    source: Source
    name: str
    group: Group | None
    problems: tuple[Problem, ...]
    is_watched: bool = False
    noted: list[Noted] = field(default_factory=list)
    is_converted: bool | None = None
    """Whether the group has been converted with the bridge; None: nothing was done."""
    why_not: str | None = None

    @classmethod
    def planned(cls, source: Source, name: str, *, is_watched: bool) -> Bridge:
        """Of the group as it is."""
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
        """Why nothing can be done; None where the group could not be read, too."""
        return None if self.group is None else unrest(self.group) or objection(self.group)

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
        account = Account(
            group=self.group,
            name=self.name,
            outlook=None if self.group is None or self.is_empty else outlook(self.group),
            is_converted=self.is_converted,
            noted=tuple(self.noted),
            problems=tuple(problems),
        )
        return bridge_document(account)

    def apply(self) -> None:
        source = self.source
        if not isinstance(source, LiveSource) or source.client is None:
            raise UsageError(
                f"the bridge cannot log in to {source.name}: it uses Kohort's own client, and only librdkafka "
                "supports that login; use kafka-console-consumer.sh (the plan shows the command)"
            )
        with heeding_endings():
            self._cross(source, source.settings)

    def _cross(self, source: LiveSource, settings: ConnectionSettings) -> None:
        """Be a member of the group for as long as the bridge has something to do there."""
        crossing, began = Crossing(), time.monotonic()
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
                step = self._observed(source, crossing, member)
            self._note(began, step)
            if step.move is Move.CONVERTED:
                self.is_converted = True
            else:
                self.why_not = step.why
        except (Ended, WireError) as error:
            self.why_not = str(error)
        finally:
            with ignoring_signals():
                self._leave(member)

    def _joined(self, settings: ConnectionSettings) -> Membership:
        """A member that is joining the group, once the group is settled and as expected."""
        group = self._at_rest()
        why_not = objection(group)
        if why_not is not None:
            raise Ended(why_not)
        member = Membership(settings, self.name, group.protocol or "", partial(comes_first, group))
        member.start()
        return member

    def _observed(self, source: LiveSource, crossing: Crossing, member: Membership | None) -> Step:
        """What comes next."""
        standing = member.standing if member else None
        if standing is None or standing.lost is not None:
            raise Ended("it has not joined" if standing is None else str(standing.lost))
        if standing.member is None:
            return Step(move=Move.WAIT, why="the bridge is joining")
        read = source.describe([self.name], offsets=False)
        gone = not read.items and all(each.cause is Cause.ABSENT for each in read.problems)
        if not read.items and not gone:
            raise Ended("; ".join(each.message for each in read.problems))
        group = replace(read.items[0], leader=standing.leader) if read.items else None
        now_ms = time.monotonic_ns() // 1_000_000
        return crossing.next_step(group, standing.member, now_ms, withheld=standing.withheld)

    def _at_rest(self) -> Group:
        """The group as it is now, once it is Stable; a bridge that has left for a better place began a rebalance."""
        began = time.monotonic()
        while True:
            read = self.source.describe([self.name], offsets=False)
            if not read.items:
                raise Ended("; ".join(each.message for each in read.problems))
            why_not = unrest(read.items[0])
            if why_not is None:
                return self.source.with_leaders(read.items)[0]
            if time.monotonic() - began > LONGEST_WAIT_MS / 1000:
                raise Ended(why_not)
            time.sleep(OBSERVE_S)

    def _note(self, began: float, step: Step) -> None:
        """Print a step that is another one than the last."""
        if self.noted and self.noted[-1].step == step:
            return
        noted = Noted(at_s=time.monotonic() - began, step=step)
        self.noted.append(noted)
        if self.is_watched:
            write_line(line_of(noted))
        elif step.move in (Move.RESTART, Move.LEAD):
            notice(line_of(noted))

    def _leave(self, member: Membership | None) -> None:
        why_not = member.leave() if member else None
        if why_not is not None:
            rest = f"LeaveGroup failed ({why_not}); its session expires within {SESSION_MS // 1000} s"
            self.why_not = f"{self.why_not}. {rest}" if self.why_not else rest


def _left(member: Membership | None) -> None:
    """Leave for another id. :raises Ended: that failed"""
    why_not = member.leave() if member else None
    if why_not is not None:
        raise Ended(why_not)


@contextmanager
def heeding_endings() -> Iterator[None]:
    """SIGTERM and a terminal that is closed end the bridge as Ctrl-C does."""
    before = {each: signal.signal(each, signal.default_int_handler) for each in _ENDINGS}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def ignoring_signals() -> Iterator[None]:
    """While the bridge leaves, which takes a bounded time."""
    before = {each: signal.signal(each, signal.SIG_IGN) for each in (signal.SIGINT, *_ENDINGS)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)
