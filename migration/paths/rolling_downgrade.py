"""Consumer → classic online: all members but one, then the last one, whose departure reverts the group.

KIP-848, "Downgrade"; the field study, section 4: the only problem occurs when the last member of the consumer protocol
leaves before the classic ones have rejoined. So the last member is restarted alone, in a separate step, from a Stable
group.
"""

from __future__ import annotations

from collections.abc import Sequence

from groups.model import GroupType, Member, MemberProtocol
from migration.model import (
    Alternative,
    Deviation,
    MemberCount,
    ProtocolIs,
    Replaced,
    Risk,
    Speaking,
    Step,
    TypeIs,
)
from migration.paths import configuration
from migration.paths import path as dangers
from migration.paths.path import STABLE, Path, PathContext, all_back, in_rounds, restart_actions
from migration.paths.stop_and_start import classic_assignor
from migration.rollout import MemberStart, RoundAction

BUT_ONE, LAST = "all-but-one", "last-member"
CONSUMER = TypeIs(type=GroupType.CONSUMER)


def rolling_downgrade(context: PathContext) -> Path:
    """Restart the members that speak the consumer protocol, the last one by itself."""
    left = context.ordered(context.speaking(MemberProtocol.CONSUMER))
    before = [_all_but_one(context, left)] if len(left) > 1 else []
    return Path(
        name="rolling downgrade",
        steps=(*before, _last(context, left)),
        alternatives=(
            Alternative(
                title="Stop all members, start all members",
                why_not="Nothing is consumed meanwhile. Use it if the brokers' group.consumer.migration.policy allows "
                "no downgrade.",
            ),
        ),
    )


def _all_but_one(context: PathContext, left: Sequence[Member]) -> Step:
    rounds = in_rounds(context, left[:-1])
    keeper = context.names[left[-1].id]
    settled = (CONSUMER, *all_back(context))
    return Step(
        id=BUT_ONE,
        title=f"Restart all members but {keeper} with the classic protocol",
        actions=(
            f"Do not restart {keeper}: as long as one member speaks the consumer protocol, the group keeps its type.",
            *restart_actions(context, rounds),
        ),
        rounds=rounds.names,
        config=_lines(context),
        expect="The group stays of type consumer. The broker assigns, to the classic members too.",
        rollout=rounds.rollout(RoundAction.RESTART, MemberStart(assignors=(classic_assignor(context),))),
        complete_when=f"The group is Stable with all its members, and all but {keeper} speak the classic protocol.",
        between=settled,
        gate=(*settled, Speaking(protocol=MemberProtocol.CLASSIC, at_least=context.size - 1)),
        strays=(
            Deviation(
                conditions=(TypeIs(type=GroupType.CLASSIC), STABLE),
                message=f"The group is classic already: {keeper} left too early. Start the missing members with the "
                "classic protocol.",
                back_to=LAST,
            ),
        ),
        dangers=(
            Risk(
                what="Classic members list no assignor in common.",
                symptom=f"A restarted member fails with {dangers.INCONSISTENT}.",
                then="Give all of them the same list.",
            ),
            *_policy(context),
            *_regex(context),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(context),
        ),
        rollback="Restart the changed members with the consumer protocol, one round at a time.",
    )


def _last(context: PathContext, left: Sequence[Member]) -> Step:
    rounds = in_rounds(context, left[-1:])
    assignor = classic_assignor(context)
    return Step(
        id=LAST,
        title="Restart the last member: the group becomes classic",
        actions=(
            "Check again that the group is Stable: classic members that have not rejoined would get "
            "ILLEGAL_GENERATION.",
            *restart_actions(context, rounds),
        ),
        rounds=rounds.names,
        config=_lines(context),
        expect="When the last member leaves (a static one: when its classic successor replaces it), the broker makes "
        "the group classic. All members rejoin at their next heartbeat, and one of them assigns.",
        rollout=rounds.rollout(RoundAction.RESTART, MemberStart(assignors=(assignor,))),
        complete_when=f"The group is of type classic, Stable on {assignor}, with all its members.",
        gate=(TypeIs(type=GroupType.CLASSIC), *all_back(context), ProtocolIs(protocol=assignor)),
        strays=_not_reverted(context),
        dangers=(
            *_policy(context),
            Risk(
                what="The last member is killed instead of stopped.",
                symptom="The group stays of type consumer until the session expires (45 s by default); the member's "
                "partitions wait.",
                then="Wait.",
            ),
            *_regex(context),
            *_user_data(context),
            *dangers.of_statics(context),
        ),
        rollback="`kohort plan … --to consumer` from here: the first member on the consumer protocol converts the "
        "classic group again.",
    )


def _not_reverted(context: PathContext) -> tuple[Deviation, ...]:
    if context.size < 2:
        return ()
    return (
        Deviation(
            conditions=(
                CONSUMER,
                STABLE,
                MemberCount(at_least=context.size),
                Replaced(),
                Speaking(protocol=MemberProtocol.CLASSIC),
            ),
            message="Every member speaks the classic protocol and the group is still of type consumer: the brokers' "
            "migration policy does not allow the downgrade. Set group.consumer.migration.policy=bidirectional, then "
            "start one member with the consumer protocol and repeat this step with it; or stop all members and start "
            "them.",
            back_to=LAST,
        ),
    )


def _lines(context: PathContext) -> tuple[str, ...]:
    return configuration.classic(context.libraries, [classic_assignor(context)])


def _policy(context: PathContext) -> tuple[Risk, ...]:
    if context.policy is not None:
        return ()
    return (
        Risk(
            what="The brokers' migration policy allows no downgrade (it is not known from this source).",
            symptom="The last member has left and the group is still of type consumer; the broker's log: `Cannot "
            "downgrade consumer group … because the online downgrade is disabled.` Under the policy `disabled` the "
            f"classic members cannot even join: {dangers.INCONSISTENT}.",
            then="Check it before the first step: kafka-configs.sh --describe --all --entity-type brokers, "
            "group.consumer.migration.policy.",
        ),
    )


def _regex(context: PathContext) -> tuple[Risk, ...]:
    if not context.has_regex:
        return ()
    return (
        Risk(
            what="Brokers of an early 4.0.x: replacing a member with a regex by a classic one causes no new "
            "assignment (apache/kafka pull 20926).",
            symptom="The group is Stable, and partitions have no owner: `kohort describe --members --verbose` does "
            "not show them, and their lag grows.",
            then="Restart any member of the consumer protocol: that causes a new assignment.",
        ),
        Risk(
            what="The client's regex engine differs from the broker's.",
            symptom="The group owns different topics than before.",
            then="Run `kohort validate-regex PATTERN --from java|librdkafka` before the first step: it lists the "
            "differences.",
        ),
    )


def _user_data(context: PathContext) -> tuple[Risk, ...]:
    if classic_assignor(context) != "cooperative-sticky" or "librdkafka" not in context.libraries:
        return ()
    return (
        Risk(
            what="A librdkafka cooperative-sticky leader writes user data into the assignments again.",
            symptom="The next upgrade is refused with GROUP_ID_NOT_FOUND.",
            then="Use a bridge leader for that upgrade (`kohort plan … --to consumer`), or range in this step.",
        ),
    )
