"""The groups that are explored."""

from __future__ import annotations

from dataclasses import replace

from coordinator.simulation.exploration.steps import SmallMember, Verb, WorldSpec

_CONSUMER = SmallMember()
_EAGER = SmallMember(protocol="classic", assignors=("range",))
_BOTH = SmallMember(protocol="classic", assignors=("cooperative-sticky", "range"))
_COOPERATIVE = SmallMember(protocol="classic", assignors=("cooperative-sticky",))
_ONE_TOPIC = {"t": 2}
_TROUBLE = frozenset({Verb.LEAVE, Verb.CRASH, Verb.EXPIRE})
_ROLL = frozenset({Verb.ROLL})

WORLDS = {
    world.name: world
    for world in (
        WorldSpec(
            name="published",
            summary="The published model of KIP-848: two members, two topics with a partition each, one perturbation.",
            topics={"t1": 1, "t2": 1},
            members={"c1": _CONSUMER, "c2": _CONSUMER},
            perturbations=1,
            perturb=_TROUBLE,
        ),
        WorldSpec(
            name="eager",
            summary="Two eager members of a classic group, one perturbation.",
            topics=_ONE_TOPIC,
            members={"a": _EAGER, "b": _EAGER},
            perturbations=1,
            perturb=_TROUBLE,
        ),
        WorldSpec(
            name="cooperative",
            summary="Two cooperative members of a classic group, one perturbation.",
            topics=_ONE_TOPIC,
            members={"a": _COOPERATIVE, "b": _COOPERATIVE},
            perturbations=1,
            perturb=_TROUBLE,
        ),
        WorldSpec(
            name="first-bounce",
            summary="The first bounce of KIP-429: members put cooperative-sticky before range, one by one.",
            topics=_ONE_TOPIC,
            members={"a": replace(_EAGER, next=_BOTH), "b": replace(_EAGER, next=_BOTH)},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="half-way",
            summary="The first bounce of KIP-429 half-way: one member has both assignors, the other crashes.",
            topics=_ONE_TOPIC,
            members={"a": _BOTH, "b": _EAGER},
            perturbations=1,
            perturb=frozenset({Verb.CRASH}),
            starts_settled=True,
        ),
        WorldSpec(
            name="second-bounce",
            summary="The second bounce of KIP-429: members drop range from their lists, one by one.",
            topics=_ONE_TOPIC,
            members={"a": replace(_BOTH, next=_COOPERATIVE), "b": replace(_BOTH, next=_COOPERATIVE)},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="upgrade",
            summary="A classic group becomes a consumer group online, member by member.",
            topics=_ONE_TOPIC,
            members={"a": replace(_COOPERATIVE, next=_CONSUMER), "b": replace(_COOPERATIVE, next=_CONSUMER)},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="downgrade",
            summary="A consumer group becomes a classic one again, member by member.",
            topics=_ONE_TOPIC,
            members={"a": replace(_CONSUMER, next=_EAGER), "b": replace(_CONSUMER, next=_EAGER)},
            perturbations=2,
            perturb=_ROLL,
            starts_settled=True,
        ),
        WorldSpec(
            name="static",
            summary="A static member of a consumer group crashes and rejoins under its instance id.",
            topics=_ONE_TOPIC,
            members={"a": replace(_CONSUMER, instance="i"), "b": _CONSUMER},
            perturbations=1,
            perturb=_TROUBLE,
        ),
        WorldSpec(
            name="duplicates",
            summary="A request of a consumer group arrives a second time, later, and a member leaves.",
            topics={"t1": 1, "t2": 1},
            members={"c1": _CONSUMER, "c2": _CONSUMER},
            perturbations=2,
            perturb=frozenset({Verb.DUPLICATE, Verb.LEAVE}),
        ),
        WorldSpec(
            name="failover",
            summary="The coordinator of a consumer group fails over and replays its log.",
            topics=_ONE_TOPIC,
            members={"a": _CONSUMER, "b": _CONSUMER},
            perturbations=1,
            perturb=frozenset({Verb.FAIL_OVER, Verb.LOSE}),
        ),
    )
}
"""Worlds by name; the first is the default."""
