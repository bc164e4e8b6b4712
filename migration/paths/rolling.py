"""Classic → consumer online, member by member, and back (KIP-848, "Compatibility, Deprecation, and Migration Plan").

In the rollback the last member, whose departure reverts the group, is restarted alone, from a Stable group: the only
problem occurs when it leaves before the classic members have rejoined (the field study, section 4). A sarama group on
sticky, whose leader writes user data, is restarted with [range, sticky] first (section 7), then its members are
replaced by another library: sarama does not speak the consumer protocol.
"""

from collections.abc import Sequence
from dataclasses import replace

from groups.model import GroupType, Member, MemberProtocol
from migration import model
from migration.clients import LIBRARIES
from migration.paths import configuration
from migration.paths import path as dangers
from migration.paths.path import STABLE, Path, PathContext, all_back, in_rounds, restart_actions
from migration.paths.stop_and_start import callbacks_change, classic_assignor, regex_change

FIRST, OTHERS = "first-member", "other-members"
COOPERATIVE = "cooperative-sticky"
CONSUMER = model.TypeIs(type=GroupType.CONSUMER)


def rolling_upgrade(context: PathContext) -> Path:
    """Restart each member once; a group in the middle of a migration continues with the remaining members."""
    left = context.speaking(MemberProtocol.CLASSIC)
    begun = context.case.group.type is GroupType.CONSUMER
    steps = (other_members(context, left, fallen_back_to=OTHERS),) if begun else convert(context, left)
    return Path(name="rolling upgrade", steps=steps, alternatives=(offline(),))


def convert(context: PathContext, left: Sequence[Member]) -> tuple[model.Step, ...]:
    ordered = context.ordered(left)
    first, rest = first_member(context, ordered[:1]), ordered[1:]
    return (first, other_members(context, rest, fallen_back_to=FIRST)) if rest else (first,)


def first_member(context: PathContext, first: Sequence[Member]) -> model.Step:
    rounds = in_rounds(context, first)
    return model.Step(
        id=FIRST,
        title="Convert the group with one member" if context.size > 1 else "Restart the only member",
        actions=(*_code(context), *restart_actions(context, rounds)),
        rounds=rounds.names,
        config=configuration.consumer(context.libraries, context.old_assignor, context.offered),
        expect=_conversion(context, first),
        rollout=rounds.rollout(model.RoundAction.RESTART, _start(context)),
        complete_when="The group is of type consumer and Stable, with all its members, and one of them speaks the "
        "consumer protocol.",
        gate=(CONSUMER, *all_back(context), model.Speaking(protocol=MemberProtocol.CONSUMER, at_least=1)),
        dangers=(dangers.refused_upgrade(context), dangers.leftovers(context), *dangers.of_statics(context)),
        rollback="Wait for Stable, stop the new member, and start it with its old configuration. The group is classic "
        "again when the last member of the consumer protocol has left (a static one: when a classic one has replaced "
        "it); not under group.consumer.migration.policy=upgrade.",
    )


def other_members(context: PathContext, left: Sequence[Member], *, fallen_back_to: str) -> model.Step:
    rounds = in_rounds(context, left)
    settled: tuple[model.Condition, ...] = (CONSUMER, *all_back(context))
    return model.Step(
        id=OTHERS,
        title="Restart the other members",
        actions=(*(_code(context) if fallen_back_to == OTHERS else ()), *restart_actions(context, rounds)),
        rounds=rounds.names,
        config=configuration.consumer(context.libraries, context.old_assignor, context.offered),
        expect="Members of both protocols share the group. Only the partitions of stopped members, and those that "
        "move for balance, wait. Committed offsets are kept.",
        rollout=rounds.rollout(model.RoundAction.RESTART, _start(context)),
        complete_when="The group is Stable, has all its members, and every one speaks the consumer protocol.",
        between=settled,
        gate=(*settled, model.Speaking(protocol=MemberProtocol.CONSUMER)),
        strays=(
            model.Deviation(
                conditions=(model.TypeIs(type=GroupType.CLASSIC), STABLE),
                message="The group is classic again: the last member of the consumer protocol has left, or a classic "
                "static member replaced it.",
                back_to=fallen_back_to,
            ),
            model.Deviation(
                conditions=(
                    CONSUMER,
                    STABLE,
                    model.Replaced(),
                    model.Speaking(protocol=MemberProtocol.CLASSIC, at_least=1),
                ),
                message="All members were restarted, and a member still speaks the classic protocol: it was started "
                "with its old configuration, or an old member was started.",
                back_to=OTHERS,
            ),
        ),
        dangers=(
            model.Risk(
                what="All members of the consumer protocol leave at once while classic ones remain.",
                symptom="The group is of type classic again; the broker's log: `Converted the consumer group to a "
                "classic group.`",
                then="Wait for Stable, and start again with one member.",
            ),
            *dangers.between_rounds(rounds),
            dangers.leftovers(context),
            *dangers.of_statics(context),
        ),
        rollback="Make a plan for it: `kohort plan … --to classic`. In short: restart the members with their old "
        "configuration, one round at a time, and wait for Stable after each.",
    )


def _conversion(context: PathContext, first: Sequence[Member]) -> str:
    """The effect of the conversion; the field study, sections 2 and 5."""
    static = all(member.instance for member in first)
    if context.size == 1 and not static:
        return (
            "The group is Empty while its only member is stopped. It restarts as a consumer group and continues from "
            "the committed offsets."
        )
    if static:
        return (
            "The first member on the consumer protocol converts the group. It is static: it gets the same partitions "
            "again, and the other members are not affected. Its partitions wait while it is stopped."
        )
    return (
        "The first member on the consumer protocol converts the group. The classic members stay in it and rejoin "
        "once; from then on the broker's assignor serves them. Partitions that move to the new member wait for one of "
        "its heartbeats (5 s by default)."
    )


def offline() -> model.Alternative:
    return model.Alternative(
        title="Stop all members, start all members",
        why_not="Nothing is consumed meanwhile. Use it if the online path is refused (migration policy, user data in "
        "the assignments); converting an empty group is always allowed.",
    )


def _code(context: PathContext) -> tuple[str, ...]:
    """Preparations before a member is started: a release with other callbacks, or another program."""
    unable = [name for name in context.libraries if LIBRARIES[name].consumer is None]
    replaced = (
        f"{' and '.join(unable)} does not speak the consumer protocol. Do not restart a member here, replace it: "
        "start a program of another library that does the same work in the same group (the lines below are for Java "
        "and librdkafka).",
    )
    return (
        *(replaced if unable else ()),
        *(callbacks_change(context.libraries) if context.old_assignor != COOPERATIVE else ()),
        *regex_change(context),
    )


def _start(context: PathContext) -> model.MemberStart:
    return model.MemberStart(protocol=MemberProtocol.CONSUMER, remote_assignor=context.remote_assignor)


SHED = "shed-user-data"


def remove_user_data(context: PathContext) -> Path:
    """One rolling restart to range, then one rolling replacement by another library."""
    group = replace(context.case.group, protocol="range")
    on_range = replace(context, case=replace(context.case, group=group))
    return Path(
        name="range first, then another library",
        steps=(_to_range(context), *map(_with_user_data_check, convert(on_range, context.members))),
        alternatives=(
            offline(),
            model.Alternative(
                title="[sticky, range], in that order",
                why_not="It changes nothing: the group stays on sticky with its user data, and the upgrade is refused.",
            ),
            model.Alternative(
                title="A bridge leader with Java's StickyAssignor",
                why_not="It works (2 of 2 trials), with a temporary member and a restart of the leader; the list of "
                "two assignors needs neither. Never with kafka-python's sticky: sarama cannot read its assignments "
                "(`kafka: insufficient data to decode packet`).",
            ),
        ),
    )


def _with_user_data_check(step: model.Step) -> model.Step:
    """The step with a deviation for returning user data: it returns as soon as the group is on sticky again."""
    back = model.Deviation(
        conditions=(model.TypeIs(type=GroupType.CLASSIC), STABLE, model.ProtocolIs(protocol="sticky")),
        message="The group is on sticky again, with user data in its assignments: it has a member that does not list "
        "range.",
        back_to=SHED,
    )
    return replace(step, strays=(back, *step.strays))


def _to_range(context: PathContext) -> model.Step:
    rounds = in_rounds(context, context.members)
    return model.Step(
        id=SHED,
        title="Restart the members with [range, sticky], which removes the user data",
        actions=restart_actions(context, rounds),
        rounds=rounds.names,
        config=configuration.assignors(context.libraries, ["range", "sticky"]),
        expect="The group stays on sticky until the last member is restarted, then it is on range. Every rebalance "
        "revokes all partitions for a moment.",
        rollout=rounds.rollout(model.RoundAction.RESTART, model.MemberStart(assignors=("range", "sticky"))),
        complete_when="The group is Stable on range, and no member's assignment carries user data.",
        between=all_back(context),
        gate=(*all_back(context), model.ProtocolIs(protocol="range"), model.NoUserData()),
        dangers=(
            model.Risk(
                what="sticky is first in the list of a member, or a member was not restarted.",
                symptom="All are restarted and the group is still on sticky: the gate does not open.",
                then="Put range first, and restart the members that differ.",
            ),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(context),
        ),
        rollback="Restart the members with sticky alone.",
    )


BUT_ONE, LAST = "all-but-one", "last-member"


def rolling_downgrade(context: PathContext) -> Path:
    """Restart the members that speak the consumer protocol, the last one by itself."""
    left = context.ordered(context.speaking(MemberProtocol.CONSUMER))
    before = [_all_but_one(context, left)] if len(left) > 1 else []
    return Path(
        name="rolling downgrade",
        steps=(*before, _last(context, left)),
        alternatives=(
            model.Alternative(
                title="Stop all members, start all members",
                why_not="Nothing is consumed meanwhile. Use it if the brokers' group.consumer.migration.policy allows "
                "no downgrade.",
            ),
        ),
    )


def _all_but_one(context: PathContext, left: Sequence[Member]) -> model.Step:
    rounds = in_rounds(context, left[:-1])
    keeper, assignor = context.names[left[-1].id], classic_assignor(context)
    settled = (CONSUMER, *all_back(context))
    return model.Step(
        id=BUT_ONE,
        title=f"Restart all members but {keeper} with the classic protocol",
        actions=(
            f"Do not restart {keeper}: as long as one member speaks the consumer protocol, the group keeps its type.",
            *restart_actions(context, rounds),
        ),
        rounds=rounds.names,
        config=configuration.classic(context.libraries, [assignor]),
        expect="The group stays of type consumer. The broker assigns, to the classic members too.",
        rollout=rounds.rollout(model.RoundAction.RESTART, model.MemberStart(assignors=(assignor,))),
        complete_when=f"The group is Stable with all its members, and all but {keeper} speak the classic protocol.",
        between=settled,
        gate=(*settled, model.Speaking(protocol=MemberProtocol.CLASSIC, at_least=context.size - 1)),
        strays=(
            model.Deviation(
                conditions=(model.TypeIs(type=GroupType.CLASSIC), STABLE),
                message=f"The group is classic already: {keeper} left too early. Start the missing members with the "
                "classic protocol.",
                back_to=LAST,
            ),
        ),
        dangers=(
            model.Risk(
                what="Classic members list no assignor in common.",
                symptom=f"A restarted member fails with {dangers.INCONSISTENT}.",
                then="Give all of them the same list.",
            ),
            *((_POLICY,) if context.policy is None else ()),
            *(_REGEX if context.has_regex else ()),
            *dangers.between_rounds(rounds),
            *dangers.of_statics(context),
        ),
        rollback="Restart the changed members with the consumer protocol, one round at a time.",
    )


def _last(context: PathContext, left: Sequence[Member]) -> model.Step:
    rounds = in_rounds(context, left[-1:])
    assignor = classic_assignor(context)
    return model.Step(
        id=LAST,
        title="Restart the last member: the group becomes classic",
        actions=(
            "Check again that the group is Stable: classic members that have not rejoined would get "
            "ILLEGAL_GENERATION.",
            *restart_actions(context, rounds),
        ),
        rounds=rounds.names,
        config=configuration.classic(context.libraries, [assignor]),
        expect="When the last member leaves (a static one: when its classic successor replaces it), the broker makes "
        "the group classic. All members rejoin at their next heartbeat, and one of them assigns.",
        rollout=rounds.rollout(model.RoundAction.RESTART, model.MemberStart(assignors=(assignor,))),
        complete_when=f"The group is of type classic, Stable on {assignor}, with all its members.",
        gate=(model.TypeIs(type=GroupType.CLASSIC), *all_back(context), model.ProtocolIs(protocol=assignor)),
        strays=_not_reverted(context),
        dangers=(
            *((_POLICY,) if context.policy is None else ()),
            model.Risk(
                what="The last member is killed instead of stopped.",
                symptom="The group stays of type consumer until the session expires (45 s by default); the member's "
                "partitions wait.",
                then="Wait.",
            ),
            *(_REGEX if context.has_regex else ()),
            *((_USER_DATA,) if assignor == COOPERATIVE and "librdkafka" in context.libraries else ()),
            *dangers.of_statics(context),
        ),
        rollback="`kohort plan … --to consumer` from here: the first member on the consumer protocol converts the "
        "classic group again.",
    )


def _not_reverted(context: PathContext) -> tuple[model.Deviation, ...]:
    if context.size < 2:
        return ()
    return (
        model.Deviation(
            conditions=(
                CONSUMER,
                STABLE,
                model.MemberCount(at_least=context.size),
                model.Replaced(),
                model.Speaking(protocol=MemberProtocol.CLASSIC),
            ),
            message="Every member speaks the classic protocol and the group is still of type consumer: the brokers' "
            "migration policy does not allow the downgrade. Set group.consumer.migration.policy=bidirectional, then "
            "start one member with the consumer protocol and repeat this step with it; or stop all members and start "
            "them.",
            back_to=LAST,
        ),
    )


_POLICY = model.Risk(
    what="The brokers' migration policy allows no downgrade (it is not known from this source).",
    symptom="The last member has left and the group is still of type consumer; the broker's log: `Cannot downgrade "
    "consumer group … because the online downgrade is disabled.` Under the policy `disabled` the classic members "
    f"cannot even join: {dangers.INCONSISTENT}.",
    then="Check it before the first step: kafka-configs.sh --describe --all --entity-type brokers, "
    "group.consumer.migration.policy.",
)
_REGEX = (
    model.Risk(
        what="Brokers of an early 4.0.x: replacing a member with a regex by a classic one causes no new assignment "
        "(apache/kafka pull 20926).",
        symptom="The group is Stable, and partitions have no owner: `kohort describe --members --verbose` does not "
        "show them, and their lag grows.",
        then="Restart any member of the consumer protocol: that causes a new assignment.",
    ),
    model.Risk(
        what="The client's regex engine differs from the broker's.",
        symptom="The group owns different topics than before.",
        then="Run `kohort validate-regex PATTERN --from java|librdkafka` before the first step: it lists the "
        "differences.",
    ),
)
_USER_DATA = model.Risk(
    what="A librdkafka cooperative-sticky leader writes user data into the assignments again.",
    symptom="The next upgrade is refused with GROUP_ID_NOT_FOUND.",
    then="Use a bridge leader for that upgrade (`kohort plan … --to consumer`), or range in this step.",
)
