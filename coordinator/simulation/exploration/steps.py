"""The members and messages of a small world, and the steps that can be taken in it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, NamedTuple

GROUP = "g"
NODE = 1
LONG_MS = 2**30
"""Sessions and timeouts: longer than any sequence of steps. Expiry is a separate step."""
NO_PROCESS = -1
"""The process of a message whose connection the process has lost."""
START_MS = 1_000_000


class Verb(Enum):
    """A step's effect as text, with `{who}` and `{what}` (a request, an answer, a member or a timer)."""

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
    """A step of a member (its name) or of the coordinator, and the message or timer if there are several."""

    verb: Verb
    who: str
    which: Any = None


class Message(NamedTuple):
    """A message in flight between a process and the coordinator."""

    member: str
    process: int
    """The number of the member's process; messages of an earlier process are not delivered."""
    number: int
    is_answer: bool
    content: Any
    print: int
    """The fingerprint of the content."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SmallMember:
    """A member's configuration; `next` is its configuration after a restart, None if it is not restarted."""

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
    """The number of steps in `perturb` that are allowed."""
    perturb: frozenset[Verb]
    settings: Mapping[str, str] = field(default_factory=dict)
    starts_settled: bool = False
    """Whether the members have joined and settled when the exploration starts."""
