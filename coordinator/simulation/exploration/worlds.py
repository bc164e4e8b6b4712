"""The groups that are explored: members, messages, and the steps that can be taken."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, NamedTuple

from coordinator.configs.release import RELEASE, Release
from coordinator.simulation.scenario import MemberScript

NODE = 1
LONG_MS = 2**30  # Sessions and timeouts: longer than any sequence of steps. Expiry is a separate step.
NO_PROCESS = -1  # The process of a message whose connection the process has lost
START_MS = 1_000_000


class Verb(Enum):
    """A step's effect as text, with `{who}` and `{what}` (a request, an answer, a member or a timer)."""

    __hash__ = object.__hash__  # faster than that of the name
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
    ENFORCE_REBALANCE = "{who} calls enforceRebalance"
    SUBSCRIBE = "{who} subscribes to {what}"
    UNSUBSCRIBE = "{who} unsubscribes"


class ExplorationStep(NamedTuple):
    """A step of a member (its name) or of the coordinator, and the message, timer or topics if there are several."""

    verb: Verb
    who: str
    which: Any = None


class MessageInFlight(NamedTuple):
    """A message in flight between a process and the coordinator."""

    member: str
    process: int  # The number of the member's process; messages of an earlier process are not delivered
    number: int
    is_answer: bool
    content: Any
    print: int  # The fingerprint of the content


@dataclass(frozen=True, slots=True, kw_only=True)
class WorldSpec:
    """A group to explore."""

    name: str
    summary: str
    members: Mapping[str, MemberScript]
    topics: Mapping[str, int] = field(default_factory=lambda: {"t": 2})
    perturbations: int = 1  # The number of steps in `perturb` that are allowed
    perturb: frozenset[Verb] = frozenset({Verb.LEAVE, Verb.CRASH, Verb.EXPIRE})
    rolled: Mapping[str, MemberScript] = field(default_factory=dict)
    """By member that `Verb.ROLL` restarts: its configuration afterwards."""
    settings: Mapping[str, str] = field(default_factory=dict)
    starts_settled: bool = False  # Whether the members have joined and settled when the exploration starts


def of_release(world: WorldSpec, release: Release | None) -> WorldSpec:
    """The world on brokers of a release; None: of the newest one."""
    return world if release is None else replace(world, settings={**world.settings, RELEASE: release.value})


_CONSUMER = MemberScript(
    protocol="consumer",
    config={
        **dict.fromkeys(("session.timeout.ms", "max.poll.interval.ms", "request.timeout.ms"), str(LONG_MS)),
        "enable.auto.commit": "false",
    },
)
_EAGER = replace(_CONSUMER, protocol="classic", assignors=("range",))
_BOTH = replace(_EAGER, assignors=("cooperative-sticky", "range"))
_COOPERATIVE = replace(_EAGER, assignors=("cooperative-sticky",))
_TWO_TOPICS = {"t1": 1, "t2": 1}
_ROLL = frozenset({Verb.ROLL})
_CALLS = frozenset({Verb.SUBSCRIBE, Verb.UNSUBSCRIBE})

WORLDS = {
    world.name: world
    for world in (
        WorldSpec(
            name="published",
            summary="The published model of KIP-848: two members, two topics of one partition, one perturbation.",
            topics=_TWO_TOPICS,
            members={"c1": _CONSUMER, "c2": _CONSUMER},
        ),
        WorldSpec(
            name="eager",
            summary="Two eager members of a classic group, one perturbation.",
            members={"a": _EAGER, "b": _EAGER},
        ),
        WorldSpec(
            name="cooperative",
            summary="Two cooperative members of a classic group, one perturbation.",
            members={"a": _COOPERATIVE, "b": _COOPERATIVE},
        ),
        WorldSpec(
            name="first-bounce",
            summary="The first bounce of KIP-429: members put cooperative-sticky before range, one by one.",
            members={"a": _EAGER, "b": _EAGER},
            rolled={"a": _BOTH, "b": _BOTH},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="half-way",
            summary="The first bounce of KIP-429 half-way: one member has both assignors, the other crashes.",
            members={"a": _BOTH, "b": _EAGER},
            perturb=frozenset({Verb.CRASH}),
            starts_settled=True,
        ),
        WorldSpec(
            name="second-bounce",
            summary="The second bounce of KIP-429: members drop range from their lists, one by one.",
            members={"a": _BOTH, "b": _BOTH},
            rolled={"a": _COOPERATIVE, "b": _COOPERATIVE},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="upgrade",
            summary="A classic group becomes a consumer group online, member by member.",
            members={"a": _COOPERATIVE, "b": _COOPERATIVE},
            rolled={"a": _CONSUMER, "b": _CONSUMER},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="downgrade",
            summary="A consumer group becomes a classic one again, member by member.",
            members={"a": _CONSUMER, "b": _CONSUMER},
            rolled={"a": _EAGER, "b": _EAGER},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="static",
            summary="A static member of a consumer group crashes and rejoins under its instance id.",
            members={"a": replace(_CONSUMER, instance="i"), "b": _CONSUMER},
        ),
        WorldSpec(
            name="duplicates",
            summary="A request of a consumer group arrives a second time, later, and a member leaves.",
            topics=_TWO_TOPICS,
            members={"c1": _CONSUMER, "c2": _CONSUMER},
            perturbations=2,
            perturb=frozenset({Verb.DUPLICATE, Verb.LEAVE}),
        ),
        WorldSpec(
            name="failover",
            summary="The coordinator of a consumer group fails over and replays its log.",
            members={"a": _CONSUMER, "b": _CONSUMER},
            perturb=frozenset({Verb.FAIL_OVER, Verb.LOSE}),
        ),
        WorldSpec(
            name="subscriptions",
            summary="A member of a consumer group subscribes to fewer topics, or unsubscribes and subscribes again.",
            topics=_TWO_TOPICS,
            members={"a": _CONSUMER, "b": _CONSUMER},
            perturb=_CALLS,
            starts_settled=True,
        ),
        WorldSpec(
            name="calls",
            summary="A cooperative member enforces a rebalance, or changes or ends its subscription.",
            topics=_TWO_TOPICS,
            members={"a": _COOPERATIVE, "b": _COOPERATIVE},
            perturb=_CALLS | {Verb.ENFORCE_REBALANCE},
            starts_settled=True,
        ),
    )
}
"""Worlds by name; the first is the default."""
