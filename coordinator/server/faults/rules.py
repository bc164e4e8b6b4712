"""The active rules. A Fetch session names no partitions: if a rule matches partitions, it is refused first."""

from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from itertools import count
from random import Random
from typing import Any
from uuid import UUID

from coordinator.faults import AnswerError, Delay, Drop, Lasting
from coordinator.server.faults.error_answers import OF_PARTITIONS
from wire.errors import ErrorCode
from wire.messages.definition import Api
from wire.messages.layout import Array, Struct
from wire.messages.reader import snake

NO_SESSION = AnswerError(error=ErrorCode.FETCH_SESSION_ID_NOT_FOUND.name)
"""Makes a client name all partitions in its next Fetch, as if its session had been evicted."""
_GROUPS = frozenset({"groupId", "groupIds", "groupsNames", "groups"})
_TOPICS = frozenset({"topic", "topicNames", "subscribedTopicNames"})
_ARRAYS_OF_TOPICS = frozenset({"topics", "topicData"})  # Arrays in which `name` is a topic's
_COORDINATED = frozenset({"key", "coordinatorKeys"})  # groups if the key type is 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedResources:
    groups: set[str] = field(default_factory=set)
    topics: set[str] = field(default_factory=set)
    members: set[str] = field(default_factory=set)


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingRequest:
    api: Api
    version: int
    client_id: str
    message: Any
    name_of: Callable[[UUID], str | None] = field(repr=False)  # Returns the name of a topic by its id

    @property
    def hides_its_partitions(self) -> bool:
        """Whether it is a Fetch within a session, which names only changed partitions (KIP-227)."""
        return self.api.name == "Fetch" and self.message.session_epoch > 0

    def names(self) -> NamedResources:
        names = NamedResources()
        _collect(self, names, self.api.request.struct, self.message)
        return names


@dataclass(frozen=True, slots=True)
class FaultEffect:
    """The effect on a request: it waits `delay_ms` before anything else; `end` replaces its handling."""

    delay_ms: int = 0
    end: AnswerError | Drop | None = None


@dataclass(slots=True, kw_only=True, eq=False)
class ActiveRule:
    id: int
    rule: Lasting
    added_ms: int
    applied: int = 0  # how many requests it has affected
    random: Random = field(repr=False)

    @property
    def times_left(self) -> int | None:
        return None if self.rule.times is None else self.rule.times - self.applied

    def left_ms(self, now_ms: int) -> int | None:
        if self.rule.for_s is None:
            return None
        return max(0, self.added_ms + int(self.rule.for_s * 1000) - now_ms)

    def is_over(self, now_ms: int) -> bool:
        return self.times_left == 0 or self.left_ms(now_ms) == 0

    @property
    def wants_partitions(self) -> bool:
        rule = self.rule
        return rule.topic is not None or (isinstance(rule, AnswerError) and rule.code in OF_PARTITIONS)

    def fits_sender(self, request: IncomingRequest) -> bool:
        rule = self.rule
        return (not rule.api or request.api.name in rule.api) and (
            rule.client is None or fnmatchcase(request.client_id, rule.client)
        )

    def fits(self, request: IncomingRequest) -> bool:
        rule = self.rule
        if not self.fits_sender(request):
            return False
        if rule.group is rule.topic is rule.member is None:
            return True
        names = request.names()
        return (
            _is_among(rule.group, names.groups)
            and _is_among(rule.topic, names.topics)
            and (rule.member is None or rule.member in names.members)
        )


def _is_among(pattern: str | None, names: Collection[str]) -> bool:
    return pattern is None or any(fnmatchcase(name, pattern) for name in names)


class Rules:
    """See the module. `active` is empty while there is no rule: every request checks it."""

    def __init__(self) -> None:
        self._ids = count(1)
        self.active: list[ActiveRule] = []

    def add(self, rule: Lasting, now_ms: int) -> int:
        chance = Random(rule.seed)  # noqa: S311  (the same seed must decide the same)
        active = ActiveRule(id=next(self._ids), rule=rule, added_ms=now_ms, random=chance)
        self.active.append(active)
        return active.id

    def clear(self, ids: Iterable[int] | None = None) -> int:
        before = len(self.active)
        gone = None if ids is None else set(ids)
        self.active = [] if gone is None else [rule for rule in self.active if rule.id not in gone]
        return before - len(self.active)

    def in_force(self, now_ms: int) -> tuple[ActiveRule, ...]:
        self.active = [rule for rule in self.active if not rule.is_over(now_ms)]
        return tuple(self.active)

    def judge(self, request: IncomingRequest, now_ms: int) -> FaultEffect | None:
        delay_ms, is_met = 0, False
        for active in self.in_force(now_ms):
            rule = active.rule
            if request.hides_its_partitions and active.wants_partitions and active.fits_sender(request):
                return FaultEffect(delay_ms, NO_SESSION)
            if not active.fits(request) or (rule.chance < 1 and active.random.random() >= rule.chance):
                continue
            active.applied += 1
            is_met = True
            if isinstance(rule, Delay):
                least, greatest = rule.bounds_s
                delay_ms += round(1000 * (least + (greatest - least) * active.random.random()))
            else:
                return FaultEffect(delay_ms, rule)
        return FaultEffect(delay_ms) if is_met else None


def _collect(
    request: IncomingRequest, names: NamedResources, layout: Struct, message: Any, inside: str = ""
) -> None:
    for part in layout.fields:
        value = getattr(message, snake(part.name)) if part.in_version(request.version) else None
        if not value:
            continue
        if isinstance(part.type, Array) and isinstance(part.type.of, Struct):
            for element in value:
                _collect(request, names, part.type.of, element, part.name)
            continue
        texts = {value} if isinstance(value, str) else value if isinstance(value, tuple) else ()
        if part.name in _GROUPS or (part.name in _COORDINATED and not message.key_type):
            names.groups.update(texts)
        elif part.name in _TOPICS or (part.name == "name" and inside in _ARRAYS_OF_TOPICS):
            names.topics.update(texts)
        elif part.name == "topicId":
            names.topics.update({request.name_of(value) or ""} - {""})
        elif part.name == "memberId":
            names.members.update(texts)
