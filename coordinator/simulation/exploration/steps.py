"""What a small world is made of, and the steps that can be taken in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

GROUP = "g"
NODE = 1
LONG_MS = 2**30
"""Of sessions and timeouts: longer than any number of steps. What ends then ends by a step of its own."""
NOBODY = -1
"""The process of a message that is not its connection's any more."""
START_MS = 1_000_000


class Verb(Enum):
    """What a step does: the words for it, with `{who}`, `{what}` (a request, an answer, a member or timer)."""

    START = "{who} starts"
    WAKE = "{who} heartbeats, or retries"
    POLL = "{who} polls again"
    CALLED_BACK = "the listener of {who} returns"
    REQUEST = "the coordinator handles {what} of {who}"
    ANSWER = "{who} receives {what}"
    LOSE = "{what} of {who} is lost"
    DUPLICATE = "{what} of {who} will arrive a second time"
    LEAVE = "{who} closes"
    CRASH = "{who} crashes and starts again"
    KILL = "{who} is killed"
    ROLL = "{who} restarts with its next settings"
    EXPIRE = "the coordinator ends {what}"
    FAIL_OVER = "the coordinator fails over"


class Step(NamedTuple):
    """A step: of whom (a member's name, or the coordinator), and which message or timer where there are several."""

    verb: Verb
    who: str
    which: Any = None


class Message(NamedTuple):
    """On its way between a process and the coordinator."""

    member: str
    process: int
    """Which of the member's processes; messages of one that is gone reach nobody."""
    number: int
    is_answer: bool
    content: Any
    print: int
    """What the content has in common with an equal one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallMember:
    """How a member is configured; `next` after its roll, None where it is not rolled."""

    protocol: str = "consumer"
    assignors: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    instance: str | None = None
    subscription_version: int = 3
    next: SmallMember | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """A group to explore."""

    name: str
    summary: str
    topics: Mapping[str, int]
    members: Mapping[str, SmallMember]
    perturbations: int
    """How many steps of `perturb` there may be."""
    perturb: frozenset[Verb]
    settings: Mapping[str, str] = field(default_factory=dict)
    starts_settled: bool = False
    """Whether the members are in the group, at rest, when the exploration begins."""
