"""The rules for requests that are in force, and what they make of one. No I/O; the clock is an argument.

Rules are looked at in the order in which they were added. Delays add up; the first rule that ends the request, with an
error or without an answer, is the last one that counts. A Fetch within a session does not name its partitions: where a
rule is about these, the session is refused first. A rule is over when it has met as many requests as it was to,
or has lasted as long.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

from coordinator.server.faults.error_answers import OF_PARTITIONS
from coordinator.server.faults.events import AnswerError, Delay, Drop, Lasting
from coordinator.server.faults.named_things import NamedThings, named_things
from wire.errors import ErrorCode
from wire.messages.definition import Api

NO_SESSION = AnswerError(error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND.name)
"""Has a client name all partitions with its next Fetch, as when its session has had to give way to another one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A request to be judged."""

    api: Api
    version: int
    client_id: str
    message: Any
    name_of: Callable[[UUID], str | None] = field(repr=False)
    """The name of a topic by its id."""

    @property
    def hides_its_partitions(self) -> bool:
        """Whether it is a Fetch within a session, which names only what has changed (KIP-227)."""
        return self.api.name == "Fetch" and self.message.session_epoch > 0

    def names(self) -> NamedThings:
        return named_things(self.api.request.struct, self.version, self.message, self.name_of)


@dataclass(frozen=True, slots=True)
class Verdict:
    """A request waits `delay_ms` before anything else; `end` is what becomes of it in place of being handled."""

    delay_ms: int = 0
    end: AnswerError | Drop | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class ActiveRule:
    """A rule in force."""

    id: int
    rule: Lasting
    added_ms: int
    applied: int = 0
    """How many requests it has met."""
    random: Random = field(repr=False)

    @property
    def times_left(self) -> int | None:
        """How many requests it will meet; None: any number."""
        return None if self.rule.times is None else self.rule.times - self.applied

    def left_ms(self, now_ms: int) -> int | None:
        """How long it lasts; None: until it is cleared."""
        if self.rule.for_s is None:
            return None
        return max(0, self.added_ms + int(self.rule.for_s * 1000) - now_ms)

    def is_over(self, now_ms: int) -> bool:
        return self.times_left == 0 or self.left_ms(now_ms) == 0

    @property
    def wants_partitions(self) -> bool:
        """Whether a request must name its partitions for the rule to meet it."""
        rule = self.rule
        return rule.topic is not None or (isinstance(rule, AnswerError) and rule.code in OF_PARTITIONS)

    def fits_sender(self, asked: Asked) -> bool:
        """Whether a request fits the conditions that are not about what it names."""
        rule = self.rule
        return (not rule.api or asked.api.name in rule.api) and (
            rule.client is None or fnmatchcase(asked.client_id, rule.client)
        )

    def fits(self, asked: Asked) -> bool:
        """Whether a request fits every condition but chance."""
        rule = self.rule
        if not self.fits_sender(asked):
            return False
        if rule.group is rule.topic is rule.member is None:
            return True
        names = asked.names()
        return (
            _is_among(rule.group, names.groups)
            and _is_among(rule.topic, names.topics)
            and (rule.member is None or rule.member in names.members)
        )


def _is_among(pattern: str | None, names: Collection[str]) -> bool:
    return pattern is None or any(fnmatchcase(name, pattern) for name in names)


class Rules:
    """See the module. `active` is empty while no rule is in force: every request looks at that."""

    def __init__(self) -> None:
        self._ids = count(1)
        self.active: list[ActiveRule] = []

    def add(self, rule: Lasting, now_ms: int) -> int:
        """Put a rule in force. Its id, which no other rule gets."""
        chance = Random(rule.seed)  # noqa: S311  (the same seed is to decide the same)
        active = ActiveRule(id=next(self._ids), rule=rule, added_ms=now_ms, random=chance)
        self.active.append(active)
        return active.id

    def clear(self, ids: Iterable[int] | None = None) -> int:
        """Take rules out of force, by their ids or all; how many there were."""
        before = len(self.active)
        gone = None if ids is None else set(ids)
        self.active = [] if gone is None else [each for each in self.active if each.id not in gone]
        return before - len(self.active)

    def in_force(self, now_ms: int) -> tuple[ActiveRule, ...]:
        """In the order in which they were added."""
        self.active = [each for each in self.active if not each.is_over(now_ms)]
        return tuple(self.active)

    def judge(self, asked: Asked, now_ms: int) -> Verdict | None:
        """What becomes of a request, by the rules that it meets; None: it is handled as always."""
        delay_ms, is_met = 0, False
        for active in self.in_force(now_ms):
            rule = active.rule
            if asked.hides_its_partitions and active.wants_partitions and active.fits_sender(asked):
                return Verdict(delay_ms, NO_SESSION)
            if not active.fits(asked) or (rule.chance < 1 and active.random.random() >= rule.chance):
                continue
            active.applied += 1
            is_met = True
            if isinstance(rule, Delay):
                least, greatest = rule.bounds_s
                delay_ms += round(1000 * (least + (greatest - least) * active.random.random()))
            else:
                return Verdict(delay_ms, rule)
        return Verdict(delay_ms) if is_met else None
