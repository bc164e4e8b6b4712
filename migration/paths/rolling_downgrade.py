"""Consumer → classic online: all members but one, then the last, whose leaving reverts the group.

KIP-848, "Downgrade"; the field study, section 4: the only trouble comes when the last member of the consumer protocol
leaves before the classic ones have rejoined. So it is restarted alone, in a separate step, from a Stable group.
"""

from __future__ import annotations

from collections.abc import Sequence

from groups.model import GroupType, Member, MemberProtocol
from migration.course import Manner, Start
from migration.model import (
    Alternative,
    Danger,
    MemberCount,
    ProtocolIs,
    Replaced,
    Speaking,
    Step,
    Stray,
    TypeIs,
)
from migration.paths import configuration
from migration.paths import path as dangers
from migration.paths.path import STABLE, Path, Trip, all_back, in_rounds, restart_actions
from migration.paths.stop_and_start import classic_assignor

BUT_ONE, LAST = "all-but-one", "last-member"
CONSUMER = TypeIs(type=GroupType.CONSUMER)


def rolling_downgrade(trip: Trip) -> Path:
    """The members that speak the consumer protocol, the last of them by itself."""
    left = trip.ordered(trip.speaking(MemberProtocol.CONSUMER))
    before = [_all_but_one(trip, left)] if len(left) > 1 else []
    return Path(
        name="rolling downgrade",
        steps=(*before, _last(trip, left)),
        alternatives=(
            Alternative(
                title="Stop all members, start all members",
                why_not="Nothing is consumed meanwhile. Use it if the brokers' group.consumer.migration.policy allows "
                "no downgrade.",
            ),
        ),
    )


def _all_but_one(trip: Trip, left: Sequence[Member]) -> Step:
    rounds = in_rounds(trip, left[:-1])
    keeper = trip.names[left[-1].id]
    resting = (CONSUMER, *all_back(trip))
    return Step(
        id=BUT_ONE,
        title=f"Restart all members but {keeper} with the classic protocol",
        actions=(
            f"Do not restart {keeper}: as long as one member speaks the consumer protocol, the group keeps its type.",
            *restart_actions(trip, rounds),
        ),
        rounds=rounds.names,
        config=_lines(trip),
        expect="The group stays of type consumer. The broker assigns, to the classic members too.",
        course=rounds.course(Manner.RESTART, Start(assignors=(classic_assignor(trip),))),
        complete_when=f"The group is Stable with all its members, and all but {keeper} speak the classic protocol.",
        between=resting,
        gate=(*resting, Speaking(protocol=MemberProtocol.CLASSIC, at_least=trip.size - 1)),
        strays=(
            Stray(
                conditions=(TypeIs(type=GroupType.CLASSIC), STABLE),
                message=f"The group is classic already: {keeper} left too early. Start the missing members with the "
                "classic protocol.",
                back_to=LAST,
            ),
        ),
        dangers=(
            Danger(
                what="Classic members list no assignor in common.",
                symptom=f"A restarted member fails with {dangers.INCONSISTENT}.",
                then="Give all of them the same list.",
            ),
            *_policy(trip),
            *_regex(trip),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(trip),
        ),
        way_back="Restart the changed members with the consumer protocol, one round at a time.",
    )


def _last(trip: Trip, left: Sequence[Member]) -> Step:
    rounds = in_rounds(trip, left[-1:])
    assignor = classic_assignor(trip)
    return Step(
        id=LAST,
        title="Restart the last member: the group becomes classic",
        actions=(
            "Check again that the group is Stable: classic members that have not rejoined would get "
            "ILLEGAL_GENERATION.",
            *restart_actions(trip, rounds),
        ),
        rounds=rounds.names,
        config=_lines(trip),
        expect="When the last member leaves (a static one: when its classic successor replaces it), the broker makes "
        "the group classic. All members rejoin at their next heartbeat, and one of them assigns.",
        course=rounds.course(Manner.RESTART, Start(assignors=(assignor,))),
        complete_when=f"The group is of type classic, Stable on {assignor}, with all its members.",
        gate=(TypeIs(type=GroupType.CLASSIC), *all_back(trip), ProtocolIs(protocol=assignor)),
        strays=_reverted_not(trip),
        dangers=(
            *_policy(trip),
            Danger(
                what="The last member is killed instead of stopped.",
                symptom="The group stays of type consumer until the session expires (45 s by default); the member's "
                "partitions wait.",
                then="Wait.",
            ),
            *_regex(trip),
            *_user_data(trip),
            *dangers.of_statics(trip),
        ),
        way_back="`kohort plan … --to consumer` from here: the first member on the consumer protocol converts the "
        "classic group again.",
    )


def _reverted_not(trip: Trip) -> tuple[Stray, ...]:
    if trip.size < 2:
        return ()
    return (
        Stray(
            conditions=(
                CONSUMER,
                STABLE,
                MemberCount(at_least=trip.size),
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


def _lines(trip: Trip) -> tuple[str, ...]:
    return configuration.classic(trip.libraries, [classic_assignor(trip)])


def _policy(trip: Trip) -> tuple[Danger, ...]:
    if trip.policy is not None:
        return ()
    return (
        Danger(
            what="The brokers' migration policy allows no downgrade (it is not known from this source).",
            symptom="The last member has left and the group is still of type consumer; the broker's log: `Cannot "
            "downgrade consumer group … because the online downgrade is disabled.` Under the policy `disabled` the "
            f"classic members cannot even join: {dangers.INCONSISTENT}.",
            then="Check it before the first step: kafka-configs.sh --describe --all --entity-type brokers, "
            "group.consumer.migration.policy.",
        ),
    )


def _regex(trip: Trip) -> tuple[Danger, ...]:
    if not trip.has_regex:
        return ()
    return (
        Danger(
            what="Brokers of an early 4.0.x: replacing a member with a regex by a classic one causes no new "
            "assignment (apache/kafka pull 20926).",
            symptom="The group is Stable, and partitions have no owner: `kohort describe --members --verbose` does "
            "not show them, and their lag grows.",
            then="Restart any member of the consumer protocol: that causes a new assignment.",
        ),
        Danger(
            what="The client's regex engine differs from the broker's.",
            symptom="The group owns different topics than before.",
            then="Run `kohort validate-regex PATTERN --from java|librdkafka` before the first step: it lists the "
            "differences.",
        ),
    )


def _user_data(trip: Trip) -> tuple[Danger, ...]:
    if classic_assignor(trip) != "cooperative-sticky" or "librdkafka" not in trip.libraries:
        return ()
    return (
        Danger(
            what="A librdkafka cooperative-sticky leader writes user data into the assignments again.",
            symptom="The next upgrade is refused with GROUP_ID_NOT_FOUND.",
            then="Use a bridge leader for that upgrade (`kohort plan … --to consumer`), or range in this step.",
        ),
    )
