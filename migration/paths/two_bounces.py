"""Eager → cooperative, and back, online: every member is restarted twice, or once.

A group uses an assignor that all its members list; among several, the one that most prefer
(ClassicGroup.selectProtocol). The first bounce's list puts the new assignor first, so the group changes to it when
the last member has the list: the only sign of a complete first bounce. A member that lists both stays eager
(KIP-429).
"""

from dataclasses import replace

from migration import model
from migration.clients import LIBRARIES, version_text
from migration.paths import configuration
from migration.paths import path as dangers
from migration.paths.path import (
    EAGER,
    STABLE,
    Path,
    PathContext,
    all_back,
    in_rounds,
    new_release,
    restart_actions,
)

COOPERATIVE = "cooperative-sticky"
FIRST, SECOND, ONLY = "first-bounce", "second-bounce", "only-bounce"


def to_cooperative(context: PathContext, old: str) -> Path:
    """Two bounces from the assignor `old`, with cooperative-sticky first in the list."""
    return Path(
        name="two bounces",
        steps=(
            _first(
                context,
                old=old,
                new=COOPERATIVE,
                title="First bounce: every member gets a newer client and lists both assignors"
                if context.outdated
                else "First bounce: every member lists both assignors",
                expect=f"The group stays on {old}. Every stop and every start of a member causes a rebalance in which "
                f"all members revoke all their partitions for a moment. The protocol changes to {COOPERATIVE} with "
                "the last restart.",
            ),
            _second(
                context,
                old=old,
                new=COOPERATIVE,
                title="Second bounce: every member lists only the cooperative assignor",
                expect="A restarted member keeps its partitions in later rebalances; members with both assignors "
                "still revoke all of theirs.",
            ),
        ),
        alternatives=(
            model.Alternative(
                title="One bounce, straight to cooperative-sticky alone",
                why_not="Possible only if every member lists cooperative-sticky already, as Java does since 3.0 "
                "unless partition.assignment.strategy is set. This source does not show the members' lists; if one of "
                f"them lacks it, the first restarted member fails with {dangers.INCONSISTENT}.",
            ),
            *((_CLIENT_FIRST,) if context.outdated else ()),
            _STRAIGHT_TO_CONSUMER,
            _OFFLINE,
        ),
    )


def one_bounce(context: PathContext, old: str) -> Path:
    """Every member lists both already: the eager assignor `old` is removed."""
    step = _alone(
        context,
        id=ONLY,
        new=COOPERATIVE,
        title="The only bounce: every member lists only the cooperative assignor",
        expect=(
            f"The protocol is {COOPERATIVE} already."
            if context.old_assignor == COOPERATIVE
            else f"The protocol changes to {COOPERATIVE} with the first restart, as all members list it."
        )
        + " Restarted members keep their partitions in later rebalances; the others still revoke all of theirs.",
        stray=model.Deviation(
            conditions=(STABLE, model.ProtocolIs(protocol=old), model.Replaced()),
            message=f"The group is on {old} again: it has a member that does not list {COOPERATIVE}, and none that "
            f"lists {COOPERATIVE} alone.",
            back_to=ONLY,
        ),
        danger=model.Risk(
            what=f"A member does not list {COOPERATIVE}, contrary to the plan.",
            symptom=f"The first restarted member cannot join and fails with {dangers.INCONSISTENT}; the check of "
            "round 1 does not open.",
            then="Start that member with its old configuration, and plan two bounces.",
        ),
        rollback=f"Restart the changed members with the list they had ({old} and {COOPERATIVE}).",
    )
    return Path(
        name="one bounce",
        steps=(step,),
        alternatives=(
            model.Alternative(
                title="Two bounces",
                why_not=f"The first one would change nothing: every member lists {COOPERATIVE} already.",
            ),
            _STRAIGHT_TO_CONSUMER,
        ),
    )


def to_eager(context: PathContext) -> Path:
    """The two bounces in reverse, with the eager assignor first in the list; only the second if the first is done."""
    if context.old_assignor in EAGER:
        return _eager_again(context, context.old_assignor)
    old, new = context.old_assignor or COOPERATIVE, context.case.request.assignor or "range"
    return Path(
        name="two bounces in reverse",
        steps=(
            _first(
                context,
                old=old,
                new=new,
                title="First bounce: every member lists both assignors",
                expect=f"The group stays on {old} until the last restart, then it is on {new}. A restarted member is "
                "eager: it revokes all its partitions in each rebalance.",
            ),
            _second(
                context,
                old=old,
                new=new,
                title="Second bounce: every member lists only the eager assignor",
                expect=f"The group stays on {new}; every rebalance revokes all partitions for a moment.",
            ),
        ),
        alternatives=(
            model.Alternative(
                title=f"One bounce, straight to {new} alone",
                why_not=f"The first restarted member would fail with {dangers.INCONSISTENT}: no other member lists "
                f"{new}.",
            ),
            model.Alternative(
                title=f"{old} first in the list of the first bounce",
                why_not="It works too, but the broker does not show when the first bounce is complete: the protocol "
                f"would stay {old} until the second one starts.",
            ),
            _OFFLINE,
        ),
    )


def _eager_again(context: PathContext, new: str) -> Path:
    """All members list the eager assignor already, and use it: cooperative-sticky is removed."""
    step = _second(
        context,
        old=COOPERATIVE,
        new=new,
        title="The only bounce: every member lists only the eager assignor",
        expect=f"The group stays on {new}; every rebalance revokes all partitions for a moment, as it does now.",
    )
    strays = tuple(replace(stray, back_to=ONLY) for stray in step.strays)
    return Path(
        name="one bounce in reverse",
        steps=(replace(step, id=ONLY, strays=strays),),
        alternatives=(
            model.Alternative(
                title="No change",
                why_not=f"The group already uses {new}. But as long as members list {COOPERATIVE} too, a restart with "
                "another list may change it back.",
            ),
        ),
    )


def _first(context: PathContext, *, old: str, new: str, title: str, expect: str) -> model.Step:
    rounds = in_rounds(context, context.members)
    # Unless the vote changes (KIP-345).
    static = (
        " The restart of a static member causes no rebalance: its partitions wait for it. Only the last restart does, "
        f"as the protocol changes to {new}."
    )
    return model.Step(
        id=FIRST,
        title=title,
        actions=(*new_release(context), *restart_actions(context, rounds)),
        rounds=rounds.names,
        config=configuration.assignors(context.libraries, [new, old]),
        expect=expect + (static if context.has_static else ""),
        rollout=rounds.rollout(model.RoundAction.RESTART, model.MemberStart(assignors=(new, old))),
        complete_when=f"The group is Stable and its protocol is {new}: the last member has the new list.",
        between=all_back(context),
        gate=(*all_back(context), model.ProtocolIs(protocol=new)),
        dangers=(
            dangers.skipped_bounce(old, new),
            *((dangers.OLD_CLIENT_WITH_NEW_LIST,) if context.outdated else ()),
            model.Risk(
                what=f"The list is in the wrong order: {old} first.",
                symptom=f"All members are restarted and Stable, and the protocol is still {old}: the gate does not "
                "open. The same happens when a member was not restarted.",
                then="Check the list of each member (its log prints partition.assignment.strategy at the start). Put "
                f"{new} first and restart the members that differ.",
            ),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(context),
        ),
        rollback=f"Restart the changed members with {old} alone, one round at a time: every member lists it.",
    )


def _second(context: PathContext, *, old: str, new: str, title: str, expect: str) -> model.Step:
    return _alone(
        context,
        id=SECOND,
        new=new,
        actions=_older_clients(context) if new in EAGER else (),
        title=title,
        expect=expect,
        stray=model.Deviation(
            conditions=(STABLE, model.ProtocolIs(protocol=old), model.MemberCount(at_least=1)),
            message=f"The group is on {old} again: it has a member that does not list {new} (the first bounce was not "
            f"complete, or an old member was started), and none that lists {new} alone.",
            back_to=FIRST,
        ),
        danger=model.Risk(
            what=f"A member that lists {old} alone is started: one that was missed, an old image, a second deployment.",
            symptom=f"It fails with {dangers.INCONSISTENT} as soon as one member lists {new} alone; before that, it "
            f"changes the whole group back to {old}.",
            then=f"Start it with {new} alone.",
        ),
        rollback=f"Restart the members with both assignors, {old} first, until the protocol changes to {old}; then "
        f"with {old} alone.",
    )


def _alone(
    context: PathContext,
    *,
    id: str,
    new: str,
    title: str,
    expect: str,
    stray: model.Deviation,
    danger: model.Risk,
    rollback: str,
    actions: tuple[str, ...] = (),
) -> model.Step:
    """A bounce after which every member lists the new assignor alone."""
    rounds = in_rounds(context, context.members)
    settled = (*all_back(context), model.ProtocolIs(protocol=new))
    return model.Step(
        id=id,
        title=title,
        actions=(
            *((dangers.READ_LISTENERS,) if new == COOPERATIVE else ()),
            *restart_actions(context, rounds),
            *actions,
        ),
        rounds=rounds.names,
        config=configuration.assignors(context.libraries, [new]),
        expect=expect,
        rollout=rounds.rollout(model.RoundAction.RESTART, model.MemberStart(assignors=(new,))),
        complete_when=f"The group is Stable on {new} and every member has rejoined under a new id.",
        between=settled,
        gate=settled,
        strays=(stray,),
        dangers=(
            danger,
            *(dangers.read_while_rebalancing(context) if new == COOPERATIVE else ()),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(context),
        ),
        rollback=rollback,
    )


def _older_clients(context: PathContext) -> tuple[str, ...]:
    """KIP-429, Downgrade: the second bounce may also bring back an old release, the first may not."""
    libraries = [LIBRARIES[name] for name in context.libraries if LIBRARIES[name].replaced_in_first_bounce]
    return tuple(
        f"Start older clients without cooperative-sticky ({library.name} before "
        f"{version_text(library.cooperative)}) only from this step on."
        for library in libraries
        if library.cooperative
    )


_OFFLINE = model.Alternative(
    title="Stop all members, start all members",
    why_not="Nothing is consumed meanwhile. It needs one restart of each member instead of two.",
)
_CLIENT_FIRST = model.Alternative(
    title="The newer client first, in a separate rolling restart",
    why_not="It works too, but needs a third restart of each member.",
)
_STRAIGHT_TO_CONSUMER = model.Alternative(
    title="Straight to the consumer protocol (--to consumer)",
    why_not="It needs one restart of each member, and rebalances are incremental too, but it needs brokers and "
    "clients of 4.0 or later and moves the assignment to the broker. If that is the goal, plan it instead.",
)
